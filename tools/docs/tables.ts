/**
 * The tables of fields in the documents. Which fields a table has, and their order, stands in the document; what stands
 * beside each field follows from its JSON Schema: what it may be, its sentence, its default.
 */
import type { JsonSchema } from '../../src/core/checker.js'
import { valueWords } from './value-words.js'

export interface DocumentedField {
  readonly schema: JsonSchema
  /** in every alternative that has it */
  readonly required: boolean
  /** of an object that has alternatives, and not in all of them */
  readonly optional: boolean
}

type Members = { readonly [name: string]: unknown }

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Every field by its path: `histories.metrics[].key`, `same[].sources.*.scale`. */
export function documentedFields(schema: unknown): ReadonlyMap<string, DocumentedField> {
  const fields = new Map<string, DocumentedField>()
  collect(schema, '', fields)
  return fields
}

function collect(schema: unknown, prefix: string, fields: Map<string, DocumentedField>): void {
  if (!isObject(schema)) return
  const objects = alternatives(schema).filter(one => one['type'] === 'object')
  const names = new Set(objects.flatMap(one => Object.keys(isObject(one['properties']) ? one['properties'] : {})))
  for (const name of names) {
    const having = objects.flatMap(one =>
      isObject(one['properties']) && isObject(one['properties'][name]) ? [[one, one['properties'][name]] as const] : []
    )
    const path = prefix === '' ? name : `${prefix}.${name}`
    const [[, first], ...others] = having
    fields.set(path, {
      schema: others.length === 0 ? first : { ...first, anyOf: having.map(([, field]) => field) },
      required: having.every(([one]) => Array.isArray(one['required']) && one['required'].includes(name)),
      optional: having.length < objects.length
    })
    collect(first, path, fields)
  }
  for (const one of alternatives(schema)) {
    if (one['type'] === 'array') collect(one['items'], `${prefix}[]`, fields)
    if (one['type'] === 'object') collect(one['additionalProperties'], `${prefix}.*`, fields)
  }
}

function alternatives(schema: Members): Members[] {
  return Array.isArray(schema['anyOf']) && schema['type'] === undefined ? schema['anyOf'].filter(isObject).flatMap(alternatives) : [schema]
}

const HEADING = '| field | value | meaning | default |'

/** Headings of tables whose paths lack the beginning that stands beside them, and which have the meaning alone. */
const SHORT: ReadonlyMap<string, string> = new Map([['| key, and its default name | what it holds |', 'critic_traces.keys.']])

/**
 * The document with the cells of its tables of fields as they follow.
 * @param name of the document, for what is wrong with it
 * @throws Error for a row that is no field, and for a field without a row
 */
export function withTables(markdown: string, fields: ReadonlyMap<string, DocumentedField>, name: string): string {
  const without = new Set(fields.keys())
  let prefix: string | null = null
  const filled = markdown
    .split('\n')
    .map(line => {
      if (line === HEADING) prefix = ''
      else if (SHORT.has(line)) prefix = SHORT.get(line) ?? null
      else if (!line.startsWith('|')) prefix = null
      const path = /^\| `([^`]+)` \|/.exec(line)?.[1]
      if (prefix === null || path === undefined) return line
      const field = fields.get(prefix + path)
      if (field === undefined) throw new Error(`${name}: no field ${prefix}${path}`)
      without.delete(prefix + path)
      const cells = prefix === '' ? [valueWords(field.schema), meaning(field), standard(field)] : [meaning(field)]
      return `| \`${path}\` | ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`.replaceAll(' |  |', ' | |')
    })
    .join('\n')
  if (without.size > 0) throw new Error(`${name}: no row for ${[...without].join(', ')}`)
  return filled
}

/** The sentence, with a link to each document that it names. */
function meaning({ schema }: DocumentedField): string {
  return String(schema['description']).replace(/\bdocs\/([a-z]+\.md)/g, '[$1]($1)')
}

/** What stands there where the field does not. */
function standard({ schema, required, optional }: DocumentedField): string {
  if (optional) return ''
  if (required || !('default' in schema)) return 'required'
  const text = JSON.stringify(schema['default'])
  return isObject(schema['default']) && text !== '{}' ? 'that of its fields' : `\`${text}\``
}
