/**
 * Kinds that outputs need beside those of the checker. What a program writes is not what a person writes: a text may be empty
 * or long, no comment stands anywhere, and names of members may be the study's own.
 */
import { isRefusal } from '../../core/errors.js'
import {
  describeValue,
  isJsonObject,
  object,
  simple,
  wrong,
  type Defaults,
  type Fields,
  type Infer,
  type JsonSchema,
  type Kind,
  type ObjectKind
} from '../../core/checker.js'
import { readEach } from '../../core/read-each.js'

export const anyText: Kind<string> = simple('a text', { type: 'string' }, isText)

export const someText: Kind<string> = simple(
  'a text that is not empty',
  { type: 'string', minLength: 1 },
  (v): v is string => isText(v) && v.length > 0
)

/** Text that matches a pattern, described in words. */
export function matching(expected: string, regex: RegExp): Kind<string> {
  return simple(expected, { type: 'string', pattern: regex.source }, (v): v is string => isText(v) && regex.test(v))
}

export const sha256: Kind<string> = matching('64 hexadecimal digits', /^[0-9a-f]{64}$/)

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Any integer, of at least `min` where that is given. */
export function whole(min = -Infinity): Kind<number> {
  const expected = min === -Infinity ? 'an integer' : `an integer >= ${min}`
  return simple(
    expected,
    { type: 'integer', ...(min === -Infinity ? {} : { minimum: min }) },
    (v): v is number => typeof v === 'number' && Number.isInteger(v) && v >= min
  )
}

/** An integer of at least 0: a number of things, a place counted from 0. */
export const natural: Kind<number> = whole(0)

/** An object with these fields and no other. Fields of outputs have no defaults. */
export function closed<F extends Fields>(fields: F): ObjectKind<F> {
  return object<F>(fields as F & Defaults<F>, 'exact')
}

/** An object whose names are not known here, and whose values are of one kind. */
export function map<T>(kind: Kind<T>, names: RegExp | null = null): Kind<{ readonly [name: string]: T }> {
  const expected = names === null ? 'an object' : `an object whose names match ${names.source}`
  return {
    expected,
    schema: {
      type: 'object',
      ...(names === null ? {} : { propertyNames: { pattern: names.source } }),
      additionalProperties: kind.schema
    },
    read: (value, at, context) => {
      if (!isJsonObject(value)) throw wrong(value, at, expected, context)
      return Object.fromEntries(
        readEach(Object.entries(value), ([name, member]): [string, T] => {
          if (names !== null && !names.test(name)) throw wrong(value, at, expected, context)
          return [name, kind.read(member, `${at}[${describeValue(name)}]`, context)]
        })
      )
    }
  }
}

/** Why each null is null, by its JSON pointer. */
export const reasons = map(someText, /^\//)

/** What the first kind that takes the value reads. */
export function anyOf<const Kinds extends readonly Kind<unknown>[]>(...kinds: Kinds): Kind<Infer<Kinds[number]>> {
  const expected = [...new Set(kinds.map(kind => kind.expected))].join(' or ')
  return {
    expected,
    schema: { anyOf: kinds.map(kind => kind.schema) },
    read: (value, at, context) => {
      for (const kind of kinds) {
        try {
          // Sound: the value is what one of the kinds read.
          return kind.read(value, at, context) as Infer<Kinds[number]>
        } catch (error) {
          if (!isRefusal(error)) throw error
        }
      }
      throw wrong(value, at, expected, context)
    }
  }
}

/** A kind that stands once in a schema, under `$defs`, and by its name wherever it is used: in itself too. */
export interface DefinedKind<T> extends Kind<T> {
  readonly definition: { readonly name: string; readonly kind: () => Kind<T> }
}

export function define<T>(name: string, kind: () => Kind<T>): DefinedKind<T> {
  return {
    expected: `a ${name}`,
    schema: { $ref: `#/$defs/${name}` },
    read: (value, at, context) => kind().read(value, at, context),
    definition: { name, kind }
  }
}

export function definitionsSchema(kinds: readonly DefinedKind<unknown>[]): JsonSchema {
  return Object.fromEntries(kinds.map(({ definition: { name, kind } }) => [name, kind().schema]))
}
