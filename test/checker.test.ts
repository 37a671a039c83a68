/** The kinds of the checker by themselves: which values each takes at its bounds, what its schema says, and what a refusal says. */
import t from 'tap'
import {
  between,
  describeValue,
  factor,
  finite,
  finiteObject,
  freeObject,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  pair,
  pattern,
  positive,
  rawText,
  record,
  text,
  type Kind
} from '../src/core/checker.js'
import { Failures, Fault } from '../src/core/errors.js'
import { outputPath, relativePath, writtenPath } from '../src/core/path-kinds.js'
import { anyOf, anyText, closed, define, map, matching, natural, someText, whole } from '../src/schema/outputs/kinds.js'

const context = () => ({ format: 'study', place: {}, paths: [] })

/** What the kind makes of the value of the field `at`, or the text of its refusal. */
function reading(kind: Kind<unknown>, value: unknown, at = 'a'): unknown {
  try {
    return kind.read(value, at, context())
  } catch (error) {
    if (error instanceof Fault || error instanceof Failures) return { refused: error.message }
    throw error
  }
}

const name = /^[a-z]$/
const KINDS: readonly (readonly [what: string, kind: Kind<unknown>, taken: readonly unknown[], refused: readonly unknown[]])[] = [
  ['text(3)', text(3), ['a', 'abc'], ['', 'abcd', 5, null, ['a']]],
  ['rawText()', rawText(), ['a', 'a'.repeat(1000)], ['', 'a'.repeat(1001)]],
  ['number(2)', number(2), [2, 2.5, 1e300], [1.9999, -2, Infinity, NaN, '3', null]],
  ['finite', finite, [0, -1e300], [Infinity, -Infinity, NaN, '1']],
  ['between(1, 2)', between(1, 2), [1, 1.5, 2], [0.9999, 2.0001, Infinity, '1', null]],
  ['positive', positive, [5e-324, 1e300], [0, -1, Infinity, NaN, '1']],
  ['factor', factor, [1e-15, -1e-15, 1e15, -1e15, 1], [0, 9.9e-16, -9.9e-16, 1.1e15, -1.1e15, Infinity, NaN, '1']],
  ['integer(1, 3)', integer(1, 3), [1, 2, 3], [0, 4, 1.5, '2', Infinity]],
  ['integer(0)', integer(0), [0, 2 ** 53 - 1], [-1, 2 ** 53]],
  ['oneOf(1, "x", true)', oneOf<string | number | boolean>(1, 'x', true), [1, 'x', true], ['1', false, null, 'y']],
  ['nullable(positive)', nullable(positive), [null, 1], [0, [], {}]],
  ['pair(positive)', pair(positive), [[1, 2]], [[1], [1, 2, 3], [1, 0], 'ab', null]],
  ['list(positive)', list(positive), [[], [1, 2, 3]], [[0], { length: 0 }, 'a']],
  ['list(positive, 1, 2)', list(positive, 1, 2), [[1], [1, 2]], [[], [1, 2, 3]]],
  [
    'record of at most 2',
    record(name, 'a letter', positive, 2),
    [{}, { a: 1, b: 2 }],
    [{ a: 1, b: 2, c: 3 }, { aa: 1 }, { a: 0 }, [], null]
  ],
  ['finiteObject', finiteObject, [{}, { a: [1, { b: 2 }] }], [{ a: [1, { b: Infinity }] }, { a: NaN }, [], null]],
  ['freeObject', freeObject, [{}, { a: [1, 'x', { b: null }] }], [[], null, 'x']]
]

const OUTPUT_KINDS: typeof KINDS = [
  ['anyText', anyText, ['', 'a'.repeat(2000)], [null, 5]],
  ['someText', someText, ['a'], ['', null]],
  ['matching', matching('an a', /^a$/), ['a'], ['b', '', ['a']]],
  ['whole()', whole(), [0, -5, 2 ** 60], [0.5, Infinity, '1', null]],
  ['whole(2)', whole(2), [2, 3], [1, -2]],
  ['natural', natural, [0, 1], [-1, 0.5]],
  ['map', map(natural), [{}, { a: 1, '- -': 2 }], [[], null, { a: -1 }]],
  ['map of names', map(natural, /^a/), [{}, { a: 1, ab: 2 }], [{ b: 1 }, { a: 1, ba: 1 }, { a: -1 }]],
  ['anyOf', anyOf(natural, someText), [0, 'a'], [-1, '', null]],
  ['define', define('b', () => natural), [0], [-1]]
]

t.test('each kind takes the values at its bounds and refuses those beyond', async t => {
  for (const [what, kind, taken, refused] of [...KINDS, ...OUTPUT_KINDS]) {
    for (const value of taken) t.strictSame(reading(kind, value), value, `${what} takes ${describeValue(value)}`)
    for (const value of refused) {
      t.throws(() => kind.read(value, 'a', context()), { message: /^study / }, `${what} refuses ${describeValue(value)}`)
    }
  }
})

t.test('the schema of each kind states the same bounds', async t => {
  const schemas: readonly (readonly [Kind<unknown>, unknown])[] = [
    [text(3), { type: 'string', minLength: 1, maxLength: 3 }],
    [number(2), { type: 'number', minimum: 2 }],
    [between(1, 2), { type: 'number', minimum: 1, maximum: 2 }],
    [positive, { type: 'number', exclusiveMinimum: 0 }],
    [integer(1, 3), { type: 'integer', minimum: 1, maximum: 3 }],
    [integer(0), { type: 'integer', minimum: 0, maximum: 9007199254740991 }],
    [oneOf('x'), { const: 'x' }],
    [oneOf<string | number>('x', 1), { enum: ['x', 1] }],
    [nullable(oneOf('x')), { anyOf: [{ const: 'x' }, { type: 'null' }] }],
    [pair(oneOf('x')), { type: 'array', items: { const: 'x' }, minItems: 2, maxItems: 2 }],
    [list(oneOf('x')), { type: 'array', items: { const: 'x' } }],
    [list(oneOf('x'), 1), { type: 'array', items: { const: 'x' }, minItems: 1 }],
    [list(oneOf('x'), 0, 2), { type: 'array', items: { const: 'x' }, maxItems: 2 }]
  ]
  for (const [kind, schema] of schemas) t.strictSame(kind.schema, schema)
})

t.test('a refusal says where the value stands, what it is and what was expected', async t => {
  const one = object({ b: { kind: positive, doc: '' } })
  const cases: readonly (readonly [Kind<unknown>, unknown, string, string])[] = [
    [positive, 'x', '', 'study wrong field: the file is "x", expected a number > 0'],
    [positive, [1, 2], 'a', 'study wrong field: a is a list of 2, expected a number > 0'],
    [positive, {}, 'a', 'study wrong field: a is an object, expected a number > 0'],
    [positive, null, 'a', 'study wrong field: a is null, expected a number > 0'],
    [integer(0), -1, 'a', 'study wrong field: a is -1, expected an integer >= 0'],
    [integer(1, 3), 4, 'a', 'study wrong field: a is 4, expected an integer from 1 to 3'],
    [oneOf<string | number>('x', 1), 2, 'a', 'study wrong field: a is 2, expected "x" or 1'],
    [nullable(positive), 0, 'a', 'study wrong field: a is 0, expected a number > 0, or null'],
    [nullable(one), { b: 0 }, 'a', 'study wrong field: a.b is 0, expected a number > 0'],
    [nullable(one), {}, 'a', 'study missing field: a.b, expected a number > 0'],
    [list(positive), 1, 'a', 'study wrong field: a is 1, expected a list'],
    [list(positive, 1), [], 'a', 'study wrong field: a is a list of 0, expected a list of at least 1'],
    [list(positive, 0, 1), [1, 1], 'a', 'study wrong field: a is a list of 2, expected a list of 0 to 1'],
    [list(positive), [1, 0], 'a', 'study wrong field: a[1] is 0, expected a number > 0'],
    [pair(positive), [1, 0], 'a', 'study wrong field: a[1] is 0, expected a number > 0'],
    [record(name, 'a letter', positive, 1), { AA: 1 }, 'a', 'study wrong name: a.AA, expected a letter'],
    [record(name, 'a letter', positive, 1), { a: 0 }, '', 'study wrong field: a is 0, expected a number > 0'],
    [record(name, 'a letter', positive, 1), { '- -': 1 }, 'a', 'study wrong name: a["- -"], expected a letter'],
    [map(natural), { '- -': -1 }, 'a', 'study wrong field: a["- -"] is -1, expected an integer >= 0'],
    [map(natural, /^a/), { b: 1 }, 'a', 'study wrong field: a is an object, expected an object whose names match ^a'],
    [map(natural), 1, 'a', 'study wrong field: a is 1, expected an object'],
    [whole(), 'x', 'a', 'study wrong field: a is "x", expected an integer'],
    [anyOf(natural, someText, whole(0)), '', 'a', 'study wrong field: a is "", expected an integer >= 0 or a text that is not empty'],
    [closed({ b: { kind: natural, doc: '' } }), { b: 1, '//': '' }, 'a', 'study unknown field: a["//"], expected one of b'],
    [finiteObject, { b: { 'c d': [Infinity] } }, 'a', 'study wrong field: a.b["c d"][0] is Infinity, expected a finite number']
  ]
  for (const [kind, value, at, refused] of cases) t.strictSame(reading(kind, value, at), { refused }, refused)
})

t.test('a path is relative, stays in its folder and is kept for the look at the file system', async t => {
  const read = (kind: Kind<string>, path: unknown): unknown => {
    const paths: { at: string; path: string }[] = []
    try {
      return [kind.read(path, 'a', { format: 'study', place: {}, paths }), paths]
    } catch (error) {
      return error instanceof Fault ? error.message : error
    }
  }
  t.strictSame(read(writtenPath, './b//c'), ['./b//c', [{ at: 'a', path: './b//c' }]])
  t.strictSame(read(relativePath, './b//c'), ['b/c', [{ at: 'a', path: './b//c' }]])
  t.strictSame(read(outputPath, 'b/'), ['b', [{ at: 'a', path: 'b/' }]])
  const expected = 'expected a relative path inside the study ("/" between names, no "..")'
  t.equal(read(relativePath, '../b'), `study unsafe path: a is "../b", ${expected}`)
  t.equal(read(relativePath, 5), `study wrong field: a is 5, ${expected}`)
  t.equal(read(outputPath, '/b'), `study unsafe path: a is "/b", ${expected.replace('the study', 'the folder of outputs')}`)
  t.equal(
    read(relativePath, `b/ghp_${'A1b2C3d4E5'.repeat(3)}`),
    'study secret refused: a holds what looks like a secret, expected a text without one'
  )
})

t.test('comments, unknown fields and defaults of an object', async t => {
  const fields = { a: { kind: positive, doc: '', default: 7 }, b: { kind: positive, doc: '', optional: true } } as const
  t.strictSame(reading(object(fields), {}, ''), { a: 7 })
  t.strictSame(
    Object.entries(object(fields).read({ b: 2, a: 1 }, '', context())),
    Object.entries({ a: 1, b: 2 }),
    'in the order of the kind'
  )
  t.strictSame(reading(object(fields), { '//': 'x', '// y': ['x', 'y'] }, ''), { a: 7 })
  t.strictSame(reading(object(fields, 'skip'), { c: 1, '//': 5 }, ''), { a: 7 })
  const comment = 'expected a comment: a text or a list of texts'
  for (const [value, unknown, refused] of [
    [{ '// y': 5 }, 'refuse', `study wrong field: ["// y"] is 5, ${comment}`],
    [{ '// y': ['x', 5] }, 'refuse', `study wrong field: ["// y"] is a list of 2, ${comment}`],
    [{ '//': 'x' }, 'exact', 'study unknown field: ["//"], expected one of a, b'],
    [{ aaa: 1 }, 'refuse', 'study unknown field: aaa, expected one of a, b'],
    [{ '/a': 1 }, 'refuse', 'study unknown field: ["/a"], expected one of a, b'],
    [[], 'refuse', 'study wrong field: the file is a list of 0, expected an object']
  ] as const) {
    t.strictSame(reading(object(fields, unknown), value, ''), { refused }, refused)
  }
  t.strictSame(object(fields).schema['required'], undefined)
  t.strictSame(object({ ...fields, c: { kind: positive, doc: '' } }).schema['required'], ['c'])
  t.strictSame(
    record(name, 'a letter', positive, 5).read({ '// c': 'x', a: 1 }, 'a', context()),
    { a: 1 },
    'a comment of a record is left out'
  )
})

t.test('a secret is refused in any text, and under a name that means one', async t => {
  const key = `ghp_${'A1b2C3d4E5'.repeat(3)}`
  const hex = '0123456789abcdef0123456789abcdef01234567'
  const anything = pattern('anything', /./)
  const cases: readonly (readonly [Kind<unknown>, unknown, string, string])[] = [
    [text(), key, 'a', 'a'],
    [text(), hex, 'files[3].note[1]', 'files[3].note[1]'],
    [anything, key, 'a', 'a'],
    [freeObject, { b: [1, key] }, 'a', 'a.b[1]'],
    [freeObject, { b: { api_key: 5 } }, 'a', 'a.b.api_key'],
    [freeObject, { [key]: 5 }, 'a', 'a.[withheld]'],
    [freeObject, { b: { '- -': key } }, '', 'b["- -"]'],
    [record(/./, 'a name', positive, 1), { [key]: 5 }, 'a', 'a.[withheld]']
  ]
  for (const [kind, value, at, shown] of cases) {
    const refused = `study secret refused: ${shown} holds what looks like a secret, expected a text without one`
    t.strictSame(reading(kind, value, at), { refused }, refused)
  }
  t.equal(reading(rawText(), key), key, 'whoever withholds it reads it first')
  t.equal(reading(text(), hex, 'files[3].sha1'), hex, 'forty digits are no key in a field of hashes')
  t.equal(reading(text(), hex, 'files.sha1[3]'), hex)
})
