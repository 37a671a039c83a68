/**
 * A small declarative checker for JSON values. A kind is plain data: what it accepts (in words and as JSON Schema) and how
 * it reads a value. An object's fields carry their documentation and default, so the checker, the JSON Schema in `docs/`
 * and the field table in `docs/study.md` have one source. Every wrong field is reported, with its path, in the order
 * in which the file has them; a value that only its fields together make wrong is looked at once each of them is right.
 */
import { Fault, nearest, printable, printableId, type Place } from './errors.js'
import { readEach } from './read-each.js'
import { secretFault } from './secret-guard.js'
import { isIdentityName, isSecretName, isSecretText } from './secrets.js'

export type JsonSchema = { readonly [keyword: string]: unknown }

/** What a check knows of the value's place. */
export interface CheckContext {
  /** first word of every message: `study`, `manifest` */
  readonly format: string
  readonly place: Place
  /** every relative path that was read; a later check holds them against the file system */
  readonly paths: { readonly at: string; readonly path: string }[]
}

export interface Kind<T> {
  /** what a message says after "expected" */
  readonly expected: string
  readonly schema: JsonSchema
  /** the checked value; `at` is the field's path, '' at the top */
  readonly read: (value: unknown, at: string, context: CheckContext) => T
}

export interface Field<T> {
  readonly kind: Kind<T>
  /** one sentence for the docs */
  readonly doc: string
  /** absent: the field is required */
  readonly default?: T
  /** the field may be absent, and then is absent in what was read */
  readonly optional?: true
}

export type Fields = { readonly [name: string]: Field<unknown> }
type Optional<F extends Fields> = { [K in keyof F]: F[K] extends { readonly optional: true } ? K : never }[keyof F]
export type FieldValues<F extends Fields> = { readonly [K in Exclude<keyof F, Optional<F>>]: Infer<F[K]['kind']> } & {
  readonly [K in Optional<F>]?: Infer<F[K]['kind']>
}

/** What a kind reads. */
export type Infer<K> = K extends Kind<infer T> ? T : never

/** Each default is a value that its field's kind can read. */
export type Defaults<F extends Fields> = {
  readonly [K in keyof F]: 'default' extends keyof F[K] ? { readonly default?: Infer<F[K]['kind']> } : unknown
}

export interface ObjectKind<F extends Fields> extends Kind<FieldValues<F>> {
  readonly fields: F
}

/** A value from a file, as text for a message. @param name name of its field: in a field of ids, digits alone are not taken for a secret */
export function describeValue(value: unknown, name = ''): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  const shown = isIdentityName(name) ? printableId : printable
  return shown(typeof value === 'string' ? JSON.stringify(value) : String(value))
}

/** @param problem what is wrong with the value, beside that it is not what was expected */
export function wrong(value: unknown, at: string, expected: string, context: CheckContext, problem = 'wrong field'): Fault {
  const found = `${at === '' ? 'the file' : at} is ${describeValue(value, nameAt(at))}`
  return new Fault({ format: context.format, problem, found, expected, place: context.place })
}

/** A kind whose values pass one test. */
export function simple<T>(expected: string, schema: JsonSchema, test: (value: unknown) => value is T): Kind<T> {
  return {
    expected,
    schema,
    read: (value, at, context) => {
      if (!test(value)) throw wrong(value, at, expected, context)
      return value
    }
  }
}

export const flag: Kind<boolean> = simple('true or false', { type: 'boolean' }, v => typeof v === 'boolean')

/** Non-empty text of at most `max` UTF-16 units that does not look like a secret. */
export function text(max = 1000): Kind<string> {
  return refine(rawText(max), refuseSecret)
}

/** The same without the refusal of secrets: for a field that is withheld where it looks like one. */
export function rawText(max = 1000): Kind<string> {
  return simple(
    `a text of 1 to ${max} characters`,
    { type: 'string', minLength: 1, maxLength: max },
    (v): v is string => typeof v === 'string' && v.length >= 1 && v.length <= max
  )
}

/** Text that matches a pattern, described in words. */
export function pattern(expected: string, regex: RegExp): Kind<string> {
  return refine(
    simple(expected, { type: 'string', pattern: regex.source }, (v): v is string => typeof v === 'string' && regex.test(v)),
    refuseSecret
  )
}

/**
 * Refuses a text that looks like a secret, because any text of a file that is read field by field may be copied into an
 * output.
 *
 * @throws Fault that names the field and does not repeat the text
 */
export function refuseSecret(value: string, at: string, { format, place }: CheckContext, name = nameAt(at)): string {
  if (isSecretText(value, name)) throw secretFault(format, at, place)
  return value
}

/** The last name in a path: `sha256` in `files[3].sha256`. */
function nameAt(at: string): string {
  return /([^.[\]]*)(?:\[[^\]]*\])*$/.exec(at)?.[1] ?? ''
}

/** A finite number of at least `min`. 1e999 is valid JSON and reads as Infinity; it is refused. */
export function number(min: number): Kind<number> {
  return simple(
    `a number >= ${min}`,
    { type: 'number', minimum: min },
    (v): v is number => typeof v === 'number' && Number.isFinite(v) && v >= min
  )
}

/** Any finite number. 1e999, which reads as Infinity, is refused. */
export const finite: Kind<number> = simple('a finite number', { type: 'number' }, isFiniteNumber)

/** A number from `min` to `max`. */
export function between(min: number, max: number): Kind<number> {
  return simple(
    `a number from ${min} to ${max}`,
    { type: 'number', minimum: min, maximum: max },
    (v): v is number => isFiniteNumber(v) && v >= min && v <= max
  )
}

export const positive: Kind<number> = simple(
  'a number > 0',
  { type: 'number', exclusiveMinimum: 0 },
  (v): v is number => isFiniteNumber(v) && v > 0
)

/** A factor or divisor of values: not 0, and neither so large nor so small that the result overflows. */
export const factor: Kind<number> = simple(
  'a number other than 0, its absolute value from 1e-15 to 1e15',
  {
    anyOf: [
      { type: 'number', minimum: 1e-15, maximum: 1e15 },
      { type: 'number', minimum: -1e15, maximum: -1e-15 }
    ]
  },
  (v): v is number => isFiniteNumber(v) && Math.abs(v) >= 1e-15 && Math.abs(v) <= 1e15
)

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/** An integer from `min` to `max`. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Kind<number> {
  const expected = max === Number.MAX_SAFE_INTEGER ? `an integer >= ${min}` : `an integer from ${min} to ${max}`
  return simple(
    expected,
    { type: 'integer', minimum: min, maximum: max },
    (v): v is number => Number.isSafeInteger(v) && Number(v) >= min && Number(v) <= max
  )
}

export function oneOf<const T extends string | number | boolean>(...values: readonly T[]): Kind<T> {
  const expected = values.map(v => JSON.stringify(v)).join(' or ')
  return simple(expected, values.length === 1 ? { const: values[0] } : { enum: values }, (v): v is T =>
    values.some(allowed => allowed === v)
  )
}

export function nullable<T>(kind: Kind<T>): Kind<T | null> {
  return {
    expected: `${kind.expected}, or null`,
    schema: { anyOf: [kind.schema, { type: 'null' }] },
    read: (value, at, context) => {
      if (value === null) return null
      // For a wrong scalar the message adds that null is allowed. For an object the message of the inner field stays: it says more.
      if (typeof value !== 'object') return relabel(kind, `${kind.expected}, or null`).read(value, at, context)
      return kind.read(value, at, context)
    }
  }
}

/** The same kind with another `expected`, for a place where it is one of several allowed kinds. */
export function relabel<T>(kind: Kind<T>, expected: string): Kind<T> {
  return {
    ...kind,
    expected,
    read: (value, at, context) => {
      try {
        return kind.read(value, at, context)
      } catch (error) {
        // The message of a refinement stays: it says more exactly what is wrong.
        throw error instanceof Fault && error.details.expected === kind.expected ? new Fault({ ...error.details, expected }) : error
      }
    }
  }
}

/** Exactly two values of one kind. */
export function pair<T>(kind: Kind<T>): Kind<readonly [T, T]> {
  const expected = `a list of two, each ${kind.expected}`
  return {
    expected,
    schema: { type: 'array', items: kind.schema, minItems: 2, maxItems: 2 },
    read: (value, at, context) => {
      if (!Array.isArray(value) || value.length !== 2) throw wrong(value, at, expected, context)
      const [first, second] = readEach(value, (element, i) => kind.read(element, `${at}[${i}]`, context))
      return [first, second]
    }
  }
}

export function list<T>(kind: Kind<T>, min = 0, max = Infinity): Kind<readonly T[]> {
  const expected = max < Infinity ? `a list of ${min} to ${max}` : min > 0 ? `a list of at least ${min}` : 'a list'
  return {
    expected,
    schema: {
      type: 'array',
      items: kind.schema,
      ...(min === 0 ? {} : { minItems: min }),
      ...(max === Infinity ? {} : { maxItems: max })
    },
    read: (value, at, context) => {
      if (!Array.isArray(value) || value.length < min || value.length > max) throw wrong(value, at, expected, context)
      return readEach(value, (element: unknown, i) => kind.read(element, `${at}[${i}]`, context))
    }
  }
}

export const anyObject: Kind<{ readonly [name: string]: unknown }> = simple('an object', { type: 'object' }, isJsonObject)

/** A JSON object with content of the author's choice. It is kept as it is and only searched for secrets. */
export const freeObject: Kind<{ readonly [name: string]: unknown }> = refine(anyObject, (value, at, context) => {
  refuseSecretsWithin(value, at, context)
  return value
})

function refuseSecretsWithin(value: unknown, at: string, context: CheckContext): void {
  if (typeof value === 'string') refuseSecret(value, at, context)
  else if (Array.isArray(value)) value.forEach((element: unknown, i) => refuseSecretsWithin(element, `${at}[${i}]`, context))
  else if (isJsonObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const shown = shownPath(name, at)
      if (isSecretName(name) || isSecretText(name, 'name')) throw secretFault(context.format, shown, context.place)
      refuseSecretsWithin(inner, shown, context)
    }
  }
}

/** An object with names of the author's choice. Each name matches the pattern, and all values are of one kind. Comments are left out. */
export function record<T>(names: RegExp, nameExpected: string, kind: Kind<T>, max: number): Kind<{ readonly [name: string]: T }> {
  const expected = `an object of at most ${max}`
  return {
    expected,
    schema: {
      type: 'object',
      patternProperties: { [names.source]: kind.schema, [`^${COMMENT}`]: COMMENT_SCHEMA },
      additionalProperties: false,
      maxProperties: max
    },
    read: (value, at, context) => {
      if (!isJsonObject(value) || Object.keys(value).length > max) throw wrong(value, at, expected, context)
      const entries = readEach(Object.keys(value), (name): [string, T] | null => {
        const shown = shownPath(name, at)
        if (name.startsWith(COMMENT)) {
          readComment(value[name], shown, context)
          return null
        }
        if (isSecretText(name, 'name')) throw secretFault(context.format, shown, context.place)
        if (names.test(name)) return [name, kind.read(value[name], shown, context)]
        throw new Fault({ format: context.format, problem: 'wrong name', found: shown, expected: nameExpected, place: context.place })
      })
      return Object.fromEntries(entries.filter(entry => entry !== null))
    }
  }
}

/**
 * An object with content of the author's choice in which every number is finite. 1e999 reads as Infinity, which no JSON
 * output can hold.
 */
export const finiteObject: Kind<{ readonly [name: string]: unknown }> = refine(anyObject, (value, at, context) => {
  refuseInfinite(value, at, context)
  return value
})

function refuseInfinite(value: unknown, at: string, context: CheckContext): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw wrong(value, at, finite.expected, context)
  if (Array.isArray(value)) value.forEach((element: unknown, i) => refuseInfinite(element, `${at}[${i}]`, context))
  else if (isJsonObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      refuseInfinite(inner, /^[A-Za-z_$][\w$]*$/.test(name) ? `${at}.${name}` : `${at}[${describeValue(name)}]`, context)
    }
  }
}

/** A kind with one more step. `convert` refuses the value with a Fault of its own, or changes its form; `schema` adds keywords. */
export function refine<T, U>(kind: Kind<T>, convert: (value: T, at: string, context: CheckContext) => U, schema: JsonSchema = {}): Kind<U> {
  return {
    expected: kind.expected,
    schema: { ...kind.schema, ...schema },
    read: (value, at, context) => convert(kind.read(value, at, context), at, context)
  }
}

/** One of several kinds of objects. `choose` decides by the value which kind reads it, or refuses the value with a Fault of its own. */
export function alternatives<K extends Kind<unknown>>(
  expected: string,
  kinds: readonly K[],
  choose: (value: { readonly [name: string]: unknown }, at: string, context: CheckContext) => K
): Kind<Infer<K>> {
  return {
    expected,
    schema: { anyOf: kinds.map(kind => kind.schema) },
    read: (value, at, context) => {
      if (!isJsonObject(value)) throw wrong(value, at, expected, context)
      // Sound: what K reads is Infer<K>.
      return choose(value, at, context).read(value, at, context) as Infer<K>
    }
  }
}

/** JSON has no comments. In an object of known fields, a field whose name begins with this text is a comment. */
const COMMENT = '//'

const COMMENT_SCHEMA: JsonSchema = {
  description: 'A comment; not read.',
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }]
}

/**
 * An object of known fields. An unknown field is refused with the nearest known name, unless it is a comment or
 * `unknown` says `skip`; `exact`: a comment is refused too. The result has every field, defaults filled in, and no
 * prototype trickery: it is built from the known names only.
 */
export function object<F extends Fields>(fields: F & Defaults<F>, unknown: 'refuse' | 'skip' | 'exact' = 'refuse'): ObjectKind<F> {
  const names = Object.keys(fields)
  const required = names.filter(name => !('default' in fields[name] || fields[name].optional === true))
  return {
    expected: 'an object',
    fields,
    schema: {
      type: 'object',
      properties: Object.fromEntries(names.map(name => [name, fieldSchema(fields[name])])),
      ...(required.length === 0 ? {} : { required }),
      ...(unknown === 'refuse' ? { patternProperties: { [`^${COMMENT}`]: COMMENT_SCHEMA } } : {}),
      ...(unknown === 'skip' ? {} : { additionalProperties: false })
    },
    read: (value, at, context) => {
      if (!isJsonObject(value)) throw wrong(value, at, 'an object', context)
      const read = new Map<string, unknown>()
      readEach([...Object.keys(value), ...names.filter(name => !Object.hasOwn(value, name))], name => {
        if (!Object.hasOwn(fields, name)) {
          if (unknown !== 'skip') refuseUnknown(value, name, names, at, context, unknown === 'refuse')
          return
        }
        const field = fields[name]
        const path = at === '' ? name : `${at}.${name}`
        if (Object.hasOwn(value, name)) read.set(name, field.kind.read(value[name], path, context))
        else if (field.optional === true) return
        else if ('default' in field) read.set(name, field.default)
        else throw missing(field, path, context)
      })
      const values: { [name: string]: unknown } = {}
      for (const name of names) if (read.has(name)) values[name] = read.get(name)
      // The cast is sound: the object has exactly the names of F, each read by its own kind or set to its own default.
      return values as FieldValues<F>
    }
  }
}

function fieldSchema(field: Field<unknown>): JsonSchema {
  return { description: field.doc, ...field.kind.schema, ...('default' in field ? { default: field.default } : {}) }
}

export function isJsonObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function missing({ kind }: Field<unknown>, path: string, { format, place }: CheckContext): Fault {
  return new Fault({ format, problem: 'missing field', found: path, expected: kind.expected, place })
}

function refuseUnknown(
  value: { readonly [name: string]: unknown },
  name: string,
  names: readonly string[],
  at: string,
  context: CheckContext,
  comments: boolean
): void {
  const shown = shownPath(name, at)
  if (comments && name.startsWith(COMMENT)) {
    readComment(value[name], shown, context)
    return
  }
  const near = nearest(name, names)
  throw new Fault({
    format: context.format,
    problem: 'unknown field',
    found: shown,
    expected: `one of ${names.join(', ')}${near === null ? '' : `; did you mean ${near}?`}`,
    place: context.place
  })
}

/** Path of a member whose name comes from the file. */
function shownPath(name: string, at: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${at === '' ? '' : `${at}.`}${printable(name)}` : `${at}[${describeValue(name)}]`
}

function readComment(value: unknown, at: string, context: CheckContext): void {
  const isComment = typeof value === 'string' || (Array.isArray(value) && value.every(line => typeof line === 'string'))
  if (!isComment) throw wrong(value, at, 'a comment: a text or a list of texts', context)
}
