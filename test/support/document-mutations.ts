/**
 * Changes of a JSON document, one at a time, each of which its schema has to refuse: a required field dropped, a field that
 * nobody knows, another type, a number out of range, another word, a text or a list too short.
 */
import { schemaProblems } from './json-schema.js'

type Members = { readonly [name: string]: unknown }
type Path = readonly (string | number)[]

export interface Mutation {
  readonly path: Path
  /** `drop`, `unknown`, `type`, `range`, `word`, `length` */
  readonly change: string
  readonly value: unknown
}

/** Stands for a member that is taken away. */
const NOTHING = Symbol('nothing')

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function resolved(root: Members, schema: unknown): Members {
  if (!isObject(schema)) throw new Error('a schema is an object')
  const name = /^#\/\$defs\/(\w+)$/.exec(String(schema['$ref']))?.[1]
  if (name === undefined) return schema
  return resolved(root, (root['$defs'] as Members)[name])
}

function alternatives(root: Members, schema: Members): Members[] {
  const { anyOf } = schema
  return Array.isArray(anyOf) ? anyOf.flatMap(one => alternatives(root, resolved(root, one))) : [schema]
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value
}

/** JSON types that an alternative takes. */
function typesOf(schema: Members): string[] {
  const values = 'const' in schema ? [schema['const']] : Array.isArray(schema['enum']) ? schema['enum'] : null
  if (values !== null) return values.map(typeOf)
  return schema['type'] === 'number' ? ['number', 'integer'] : [String(schema['type'])]
}

const OF_EACH_TYPE: readonly unknown[] = [null, true, 1.5, 7, 'mutated', [], {}]

/** Every mutation of a valid document. */
export function* mutationsOf(root: unknown, value: unknown, schema: unknown = root, path: Path = []): Generator<Mutation> {
  if (!isObject(root)) throw new Error('a schema is an object')
  const all = alternatives(root, resolved(root, schema))
  const types = all.flatMap(typesOf)
  for (const other of OF_EACH_TYPE) if (!types.includes(typeOf(other))) yield { path, change: 'type', value: other }
  const taken = all.find(one => schemaProblems(root, value, one).length === 0)
  if (taken === undefined) throw new Error(`/${path.join('/')} is not valid`)
  yield* outOfBounds(taken, value, path)
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* mutationsOf(root, item, taken['items'], [...path, i])
  }
  if (isObject(value)) {
    yield* membersAmiss(taken, path)
    const properties = isObject(taken['properties']) ? taken['properties'] : {}
    for (const [name, member] of Object.entries(value)) {
      const of = properties[name] ?? taken['additionalProperties']
      if (of !== undefined) yield* mutationsOf(root, member, of, [...path, name])
    }
  }
}

function* outOfBounds(schema: Members, value: unknown, path: Path): Generator<Mutation> {
  const { minimum, maximum, minLength, minItems, maxItems } = schema
  if (typeof minimum === 'number') yield { path, change: 'range', value: minimum - 1 }
  if (typeof maximum === 'number') yield { path, change: 'range', value: maximum + 1 }
  if (minLength === 1) yield { path, change: 'length', value: '' }
  if (typeof minItems === 'number' && Array.isArray(value)) yield { path, change: 'length', value: value.slice(0, minItems - 1) }
  if (typeof maxItems === 'number' && Array.isArray(value)) {
    yield { path, change: 'length', value: Array.from({ length: maxItems + 1 }, () => value[0]) }
  }
  if (typeof value === 'string' && isWord(schema, `${value} ?`)) yield { path, change: 'word', value: `${value} ?` }
  if (typeof value === 'number' && ('const' in schema || 'enum' in schema)) yield { path, change: 'word', value: value + 1000 }
  if (typeof value === 'boolean' && 'const' in schema) yield { path, change: 'word', value: !value }
}

/** Whether the schema has words or a pattern that refuse this text: a JSON pointer, for one, may end in any text. */
function isWord(schema: Members, other: string): boolean {
  const { pattern } = schema
  return 'const' in schema || 'enum' in schema || (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(other))
}

function* membersAmiss(schema: Members, path: Path): Generator<Mutation> {
  const { required, additionalProperties, propertyNames } = schema
  if (Array.isArray(required)) for (const name of required) yield { path: [...path, String(name)], change: 'drop', value: NOTHING }
  if (additionalProperties === false) yield { path: [...path, 'mutated'], change: 'unknown', value: 1 }
  if (isObject(propertyNames)) yield { path: [...path, 'mutated'], change: 'unknown', value: 'mutated' }
}

/** The changed document; what was not changed is shared. */
export function mutated(document: unknown, { path: [first, ...rest], value }: Pick<Mutation, 'path' | 'value'>): unknown {
  if (first === undefined) return value
  if (Array.isArray(document)) return document.map((item: unknown, i) => (i === first ? mutated(item, { path: rest, value }) : item))
  if (!isObject(document)) throw new Error('no members')
  const { [String(first)]: member, ...others } = document
  const changed = mutated(member, { path: rest, value })
  return changed === NOTHING ? others : { ...others, [String(first)]: changed }
}
