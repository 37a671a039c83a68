/** Values of a configuration whose inheritance is resolved. A value that looks like a secret is withheld and null. */
import { printable } from '../../core/errors.js'
import type { ResolvedValue as Setting, ResolvedConfig } from '../../ingest/config/resolve.js'
import type { ConfigSource, ConfigValue } from '../../schema/evidence.js'
import type { FoundConfig, FoundValue, Scalar } from './contract.js'
import { valueUnreadable } from './faults.js'

const WITHHELD = 'withheld: the key or its value looks like a secret'
const STATED_NULL = 'the configuration states null'

/** @param at field of the study: `evidence.configs[2]` */
export function configValues({ name, path, values }: ConfigSource, at: string, config: ResolvedConfig): FoundConfig {
  const found = values.map((request, i) => readConfigValue(request, `${at}.values[${i}]`, path, config))
  return { name, path, chain: config.chain, values: found, withheld: config.withheld }
}

function readConfigValue({ name, key, title, published }: ConfigValue, at: string, path: string, config: ResolvedConfig): FoundValue {
  const common = { name, unit: '', title, published, excluded: null, labels: [] }
  if (config.absent.includes(key)) throw valueUnreadable({ at, name }, 'no setting in it or above it', `the key ${printable(key)}`, path)
  const setting = settingOf(key, config.values)
  if (setting === null) {
    if (Object.keys(config.values).some(own => own.startsWith(`${key}.`))) {
      throw valueUnreadable({ at, name }, 'an object', `a value or a list of values under ${printable(key)}`, path)
    }
    const own = config.chain[config.chain.length - 1]
    const origin = { source: 'config', file: own.path, sha256: own.sha256, key, line: null, raw: null } as const
    return { ...common, value: null, reason: WITHHELD, origin }
  }
  const { value, first } = setting
  const file = config.chain.find(one => one.path === first.from)
  return {
    ...common,
    value,
    reason: value === null ? STATED_NULL : null,
    origin: { source: 'config', file: first.from, sha256: file?.sha256 ?? '', key, line: first.line, raw: setting.raw }
  }
}

interface FoundSetting {
  readonly value: Scalar | readonly Scalar[] | null
  readonly first: Setting
  readonly raw: string
}

/**
 * The setting of a key, or a list of the settings `key.0`, `key.1` and so on. Null where neither exists, or where a
 * part of the list was withheld.
 */
function settingOf(key: string, values: ResolvedConfig['values']): FoundSetting | null {
  if (Object.hasOwn(values, key)) return { value: values[key].value, first: values[key], raw: values[key].text }
  const below = Object.entries(values).filter(([own]) => own.startsWith(`${key}.`))
  const elements = below.flatMap(([own, { value }], i) => (own === `${key}.${i}` && value !== null ? [value] : []))
  if (elements.length === 0 || elements.length < below.length) return null
  return { value: elements, first: below[0][1], raw: below.map(([, { text }]) => text).join(', ') }
}
