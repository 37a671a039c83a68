/**
 * The settings of a run that may be published: those of an allowlist that also pass the filter for secrets. All other
 * settings are counted and not copied.
 */
import { isSecretName, isSecretValue } from '../../core/secrets.js'
import { isJsonObject } from '../../core/checker.js'

export interface AllowedConfig {
  /** the allowed settings that the run has, by name, in the order of the allowlist */
  readonly config: Readonly<Record<string, unknown>>
  /** allowed settings that the run has and that are not copied, each with the reason */
  readonly withheld: ReadonlyArray<{ readonly name: string; readonly reason: string }>
  /** number of settings that the allowlist does not name */
  readonly unnamed: number
}

const MAX_VALUE_LENGTH = 10_000

/**
 * The allowlisted settings of a run: scalars and lists of scalars. The name `a.b` stands for the key `a.b`, else for `b`
 * within `a`.
 *
 * @param lost the mark in place of a number that JSON or a double cannot hold
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

/** Checks each text of a list, and the list joined as a command line: `["--api-key", "abc"]`. */
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
