/** What a field may be, in words: `text`, `integer >= 1`, `list of 1 to 12`, `path, or null`. */
import type { JsonSchema } from '../../src/core/checker.js'
import { relativePath } from '../../src/core/path-kinds.js'

type Members = { readonly [name: string]: unknown }

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function valueWords(schema: JsonSchema): string {
  if (Array.isArray(schema['anyOf'])) return anyOfWords(schema['anyOf'].filter(isObject))
  if ('const' in schema) return code(schema['const'])
  if (Array.isArray(schema['enum'])) return joined(schema['enum'].map(code))
  switch (schema['type']) {
    case 'null':
      return '`null`'
    case 'boolean':
      return '`true` or `false`'
    case 'string':
      return textWords(schema)
    case 'integer':
      return rangeWords('integer', schema)
    case 'number':
      return rangeWords('number', schema)
    case 'array':
      return `list${countWords(schema['minItems'], schema['maxItems'])}`
    case 'object':
      return `object${countWords(schema['minProperties'], schema['maxProperties'])}`
    default:
      throw new Error(`no words for ${JSON.stringify(schema)}`)
  }
}

function anyOfWords(kinds: readonly Members[]): string {
  const [one, other] = kinds
  if (kinds.length === 2 && one['minimum'] !== undefined && one['minimum'] === -Number(other['maximum'])) {
    return `number, its absolute value from ${String(one['minimum'])} to ${short(one['maximum'])}`
  }
  const words = [...new Set(kinds.filter(kind => kind['type'] !== 'null').map(valueWords))]
  return `${joined(words)}${kinds.some(kind => kind['type'] === 'null') ? ', or `null`' : ''}`
}

function textWords({ pattern, maxLength }: Members): string {
  if (pattern === relativePath.schema['pattern']) return 'path'
  return maxLength === undefined ? 'text' : `text (at most ${String(maxLength)} characters)`
}

function rangeWords(type: string, { minimum, maximum, exclusiveMinimum }: Members): string {
  if (exclusiveMinimum !== undefined) return `${type} > ${String(exclusiveMinimum)}`
  if (minimum === undefined) return type
  return maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
    ? `${type} >= ${String(minimum)}`
    : `${type} from ${short(minimum)} to ${short(maximum)}`
}

function countWords(min: unknown, max: unknown): string {
  if (min !== undefined && min === max) return ` of ${String(min)}`
  if (min !== undefined) return max === undefined ? ` of at least ${String(min)}` : ` of ${String(min)} to ${String(max)}`
  return max === undefined ? '' : ` of at most ${String(max)}`
}

/** Powers of ten as a person writes them. */
function short(value: unknown): string {
  return String(value).replace(/^1(0{9,})$/, (_, zeros: string) => `1e${zeros.length}`)
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``
}

function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words[words.length - 1]}`
}
