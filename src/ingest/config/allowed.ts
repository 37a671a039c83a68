/**
 * The settings of a run that may leave: an allowlist, and behind it the filter for secrets. Everything else is counted and
 * stays where it is.
 */
import { isSecretName, isSecretValue } from '../../core/secrets.js'
import { isJsonObject } from '../../core/checker.js'

export interface AllowedConfig {
  /** by the allowlist's name, in its order; those that the run has */
  readonly config: Readonly<Record<string, unknown>>
  /** allowed names that the run has and that are not kept, each with the reason */
  readonly withheld: ReadonlyArray<{ readonly name: string; readonly reason: string }>
  /** settings that no name of the allowlist stands for */
  readonly unnamed: number
}

const MAX_VALUE_LENGTH = 10_000

/**
 * The allowlisted settings of a run: scalars and lists of scalars. `a.b` is that key, else `b` within `a`.
 *
 * @param lost stands for a number that JSON or a double cannot hold
 */
export function allowedConfig(config: Readonly<Record<string, unknown>>, allowed: readonly string[], lost?: string): AllowedConfig {
  const kept: Array<readonly [string, unknown]> = []
  const withheld: Array<{ readonly name: string; readonly reason: string }> = []
  for (const name of allowed) {
    const value = valueAt(config, name)
    if (value === undefined) continue
    if (lost !== undefined && [value].flat().includes(lost)) withheld.push({ name, reason: 'a number that no double of JSON holds' })
    else if (!isPlain(value)) withheld.push({ name, reason: 'no scalar or list of scalars, or very long' })
    else if (isSecretSetting(name, value)) withheld.push({ name, reason: 'looks like a secret' })
    else kept.push([name, value])
  }
  return { config: Object.fromEntries(kept), withheld, unnamed: countUnnamed(config, '', new Set(allowed)) }
}

/** Each text of a list on its own, and the list as a command line: `["--api-key", "abc"]`. */
function isSecretSetting(name: string, value: unknown): boolean {
  if (isSecretName(name)) return true
  const texts = [value].flat().filter(v => typeof v === 'string')
  return [...texts, texts.join(' ')].some(text => isSecretValue(text, name))
}

function countUnnamed(value: unknown, name: string, allowed: ReadonlySet<string>): number {
  if (name !== '' && allowed.has(name)) return 0
  if (!isJsonObject(value)) return 1
  return Object.entries(value).reduce((sum, [key, inner]) => sum + countUnnamed(inner, name === '' ? key : `${name}.${key}`, allowed), 0)
}

function valueAt(config: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(config, name)) return config[name]
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const inner = Object.hasOwn(config, name.slice(0, dot)) ? config[name.slice(0, dot)] : undefined
    if (!isJsonObject(inner)) continue
    const value = valueAt(inner, name.slice(dot + 1))
    if (value !== undefined) return value
  }
  return undefined
}

function isPlain(value: unknown): boolean {
  const isScalar = (v: unknown): boolean => v === null || ['string', 'number', 'boolean'].includes(typeof v)
  const plain = Array.isArray(value) ? value.every(isScalar) : isScalar(value)
  return plain && JSON.stringify(value).length <= MAX_VALUE_LENGTH
}
