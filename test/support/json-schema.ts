/**
 * The part of JSON Schema 2020-12 that docs/schemas uses. Any other keyword is an error, never ignored: a schema that
 * this cannot check does not count as checked. The answers are JSON pointers with what is wrong there.
 */
import { isDeepStrictEqual } from 'node:util'

type Members = { readonly [key: string]: unknown }

/** Say nothing about the instance. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['$schema', '$id', '$defs', 'title', 'description', 'default'])

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asObject(value: unknown, what: string): Members {
  if (!isObject(value)) throw new Error(`${what} is not an object`)
  return value
}

function asArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${what} is not an array`)
  return value
}

function typeMatches(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'boolean':
      return typeof value === 'boolean'
    case 'string':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number'
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    default:
      throw new Error(`unknown type ${String(type)}`)
  }
}

/** Problems of `value` under `schema`; empty when it is valid. `root` resolves `#/$defs/…`. */
export function schemaProblems(root: unknown, value: unknown, schema: unknown = root, at = ''): string[] {
  if (schema === true) return []
  if (schema === false) return [`${at}: nothing is allowed here`]
  const s = asObject(schema, `schema at ${at}`)
  const problems: string[] = []
  const need = (ok: boolean, what: string): void => {
    if (!ok) problems.push(`${at}: ${what}`)
  }
  const into = (v: unknown, sub: unknown, place: string): void => {
    problems.push(...schemaProblems(root, v, sub, place))
  }
  for (const [keyword, wanted] of Object.entries(s)) {
    if (ANNOTATIONS.has(keyword)) continue
    switch (keyword) {
      case '$ref': {
        const name = /^#\/\$defs\/(\w+)$/.exec(String(wanted))?.[1]
        const target = name === undefined ? undefined : asObject(asObject(root, 'root').$defs, '$defs')[name]
        if (target === undefined) throw new Error(`unresolved ${String(wanted)}`)
        into(value, target, at)
        break
      }
      case 'type':
        need(
          (Array.isArray(wanted) ? wanted : [wanted]).some(type => typeMatches(value, type)),
          `is not ${String(wanted)}`
        )
        break
      case 'const':
        need(isDeepStrictEqual(value, wanted), `is not ${JSON.stringify(wanted)}`)
        break
      case 'enum':
        need(
          asArray(wanted, 'enum').some(one => isDeepStrictEqual(value, one)),
          'is not in the enum'
        )
        break
      case 'anyOf':
        need(
          asArray(wanted, 'anyOf').some(one => schemaProblems(root, value, one, at).length === 0),
          'matches no alternative'
        )
        break
      case 'minimum':
        if (typeof value === 'number') need(value >= Number(wanted), `is below ${String(wanted)}`)
        break
      case 'maximum':
        if (typeof value === 'number') need(value <= Number(wanted), `is above ${String(wanted)}`)
        break
      case 'minLength':
        if (typeof value === 'string') need([...value].length >= Number(wanted), 'is too short')
        break
      case 'maxLength':
        if (typeof value === 'string') need([...value].length <= Number(wanted), 'is too long')
        break
      case 'exclusiveMinimum':
        if (typeof value === 'number') need(value > Number(wanted), `is not above ${String(wanted)}`)
        break
      case 'minProperties':
        if (isObject(value)) need(Object.keys(value).length >= Number(wanted), 'has too few members')
        break
      case 'maxProperties':
        if (isObject(value)) need(Object.keys(value).length <= Number(wanted), 'has too many members')
        break
      case 'uniqueItems':
        if (Array.isArray(value) && wanted === true) {
          need(
            value.every((item, i) => !value.slice(0, i).some(earlier => isDeepStrictEqual(earlier, item))),
            'has an item twice'
          )
        }
        break
      case 'patternProperties':
        if (isObject(value)) {
          for (const [pattern, sub] of Object.entries(asObject(wanted, keyword))) {
            for (const [key, item] of Object.entries(value)) if (new RegExp(pattern, 'u').test(key)) into(item, sub, `${at}/${key}`)
          }
        }
        break
      case 'pattern':
        if (typeof value === 'string') need(new RegExp(String(wanted), 'u').test(value), `does not match ${String(wanted)}`)
        break
      case 'minItems':
        if (Array.isArray(value)) need(value.length >= Number(wanted), 'has too few items')
        break
      case 'maxItems':
        if (Array.isArray(value)) need(value.length <= Number(wanted), 'has too many items')
        break
      case 'prefixItems':
        if (Array.isArray(value)) {
          asArray(wanted, 'prefixItems').forEach((sub, i) => {
            if (i < value.length) into(value[i], sub, `${at}/${i}`)
          })
        }
        break
      case 'items':
        if (s.prefixItems !== undefined) throw new Error('items beside prefixItems is not supported')
        if (Array.isArray(value)) value.forEach((item, i) => into(item, wanted, `${at}/${i}`))
        break
      case 'properties':
        if (isObject(value)) {
          for (const [key, sub] of Object.entries(asObject(wanted, keyword))) {
            if (Object.hasOwn(value, key)) into(value[key], sub, `${at}/${key}`)
          }
        }
        break
      case 'required':
        if (isObject(value)) {
          for (const key of asArray(wanted, keyword)) need(Object.hasOwn(value, String(key)), `lacks ${String(key)}`)
        }
        break
      case 'additionalProperties':
        if (isObject(value)) {
          const known = asObject(s.properties ?? {}, 'properties')
          const patterns = Object.keys(asObject(s.patternProperties ?? {}, 'patternProperties')).map(pattern => new RegExp(pattern, 'u'))
          for (const [key, item] of Object.entries(value)) {
            if (!Object.hasOwn(known, key) && !patterns.some(pattern => pattern.test(key))) into(item, wanted, `${at}/${key}`)
          }
        }
        break
      case 'propertyNames':
        if (isObject(value)) for (const key of Object.keys(value)) into(key, wanted, `${at}/${key}`)
        break
      default:
        throw new Error(`keyword ${keyword} is not supported (schema at ${at})`)
    }
  }
  return problems
}

/** JSON pointers of all nulls in a document. */
export function nullPointers(value: unknown, at = ''): string[] {
  if (value === null) return [at]
  if (Array.isArray(value)) return value.flatMap((item, i) => nullPointers(item, `${at}/${i}`))
  if (!isObject(value)) return []
  const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
  return Object.entries(value).flatMap(([key, item]) => nullPointers(item, `${at}/${escaped(key)}`))
}
