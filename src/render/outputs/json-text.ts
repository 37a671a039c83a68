/**
 * JSON text of plain data, in the layout of `JSON.stringify(value, null, 2)`, with a line end. Unlike JSON.stringify it
 * drops and rounds nothing: NaN, infinities, undefined, typed arrays, functions and bigints are refused with their JSON
 * pointer, and -0 keeps its sign. Keys keep their order. Text is plain JSON: U+2028 and `<` are not escaped. A page
 * that embeds a document must escape it for its own syntax.
 */
import { Fault } from '../../core/errors.js'
import { refuseSecretsInJson } from './json-secrets.js'

function notJson(found: string, pointer: string): Fault {
  return new Fault({
    format: 'output',
    problem: 'not JSON',
    found,
    expected: 'null, true, false, a finite number, a text, an array or a plain object',
    place: { member: pointer === '' ? '/' : pointer }
  })
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function text(value: unknown, pointer: string, indent: string): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw notJson(String(value), pointer)
    return Object.is(value, -0) ? '-0' : String(value)
  }
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    // `map()` would skip holes
    const items = Array.from<unknown, string>(value, (item, i) => inner + text(item, `${pointer}/${i}`, inner))
    return items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n${indent}]`
  }
  if (typeof value !== 'object') throw notJson(typeof value, pointer)
  if (!isPlain(value)) throw notJson(`a ${value.constructor.name}`, pointer)
  const members = Object.entries(value).map(([key, item]) => {
    const member = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return `${inner}${JSON.stringify(key)}: ${text(item, member, inner)}`
  })
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`
}

/** @throws Fault for a value that JSON cannot hold exactly, and for a text that looks like a secret */
export function jsonText(value: unknown): string {
  refuseSecretsInJson(value)
  return `${text(value, '', '')}\n`
}
