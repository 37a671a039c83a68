/** The claims file field by field: what is taken at each bound, and what is refused beyond it. Checks between fields: claims.test.ts. */
import t from 'tap'
import { Failures, Fault } from '../src/core/errors.js'
import { CLAIMS_KIND } from '../src/schema/claims.js'

const CLAIM = { id: 'a', value: 1, kind: 'quoted', definition: 'A.' }
const SAME = { id: 'a', definition: 'A.', sources: { one: 'x.json#/a', two: 'x.json#/b' } }
const DISCREPANCY = { id: 'a', sources: { one: 1, two: 2 }, decision: 'B.', disclosure: 'C.' }

type Members = Readonly<Record<string, unknown>>

function readingOf(file: Members): unknown {
  try {
    return CLAIMS_KIND.read({ schema_version: 1, claims: [], ...file }, '', { format: 'claims', place: {}, paths: [] })
  } catch (error) {
    if (error instanceof Fault || error instanceof Failures) return error.message
    throw error
  }
}

/** What is read of one claim, quantity or contradiction with these fields, or why it is refused. */
function one(list: 'claims' | 'same' | 'discrepancies', whole: Members, fields: Members): unknown {
  const read = readingOf({ [list]: [{ ...whole, ...fields }] })
  return typeof read === 'string' ? read : (read as Readonly<Record<string, readonly unknown[]>>)[list][0]
}
const claim = (fields: Members): unknown => one('claims', CLAIM, fields)
const same = (sources: unknown): unknown => one('same', SAME, { sources })
const discrepancy = (sources: unknown): unknown => one('discrepancies', DISCREPANCY, { sources })

const labelled = (count: number, value: unknown): Members => Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, value]))
const values = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)
const long = (length: number): string => 'a '.repeat(length).slice(0, length)

t.test('a value is a finite number, a text, true, false or a list of them', async t => {
  for (const value of [0, -1e300, long(1), long(1000), true, false, [], ['a', 1, false], values(1000)]) t.match(claim({ value }), { value })
  const expected = 'expected a finite number, a text of 1 to 1000 characters, true, false, or a list of at most 1000 such'
  for (const [value, found] of [
    ['', '""'],
    [null, 'null'],
    [{}, 'an object'],
    [Infinity, 'Infinity'],
    [values(1001), 'a list of 1001']
  ] as const) {
    t.equal(claim({ value }), `claims wrong field: claims[0].value is ${found}, ${expected}`)
  }
  t.match(claim({ value: long(1001) }), /^claims wrong field: claims\[0\]\.value is "a a .*… \(1003 characters\), expected a finite number/)
  for (const [value, found] of [
    [[1, [2]], 'claims[0].value[1] is a list of 1'],
    [[1, ''], 'claims[0].value[1] is ""'],
    [[NaN], 'claims[0].value[0] is NaN']
  ] as const) {
    t.equal(claim({ value }), `claims wrong field: ${found}, expected a finite number, a text, true or false`)
  }
})

t.test('a claim refers to one place or to several, a unit may be empty', async t => {
  const reference = 'x.json#/a'
  t.match(claim({}), { decimals: null, unit: '', section: '', from: null, elements: null, scale: 1 })
  t.match(claim({ from: reference }), { from: [reference] })
  t.match(claim({ from: Array(100).fill(reference) }), { from: Array(100).fill(reference) })
  t.equal(claim({ from: [] }), 'claims wrong field: claims[0].from is a list of 0, expected a list of 1 to 100')
  t.equal(claim({ from: Array(101).fill(reference) }), 'claims wrong field: claims[0].from is a list of 101, expected a list of 1 to 100')
  t.equal(
    claim({ from: 'x.json' }),
    'claims wrong field: claims[0].from is "x.json", expected a reference, or a list of references, or null'
  )
  t.match(claim({ elements: Array(1000).fill(reference) }), { elements: Array(1000).fill(reference) })
  t.match(claim({ elements: Array(1001).fill(reference) }), /elements is a list of 1001, expected a list of 1 to 1000/)
  t.match(claim({ unit: long(100), section: long(100) }), { unit: long(100), section: long(100) })
  t.match(claim({ unit: long(101) }), /claims\[0\]\.unit is .*expected a text of at most 100 characters/)
  t.equal(claim({ unit: 5 }), 'claims wrong field: claims[0].unit is 5, expected a text of at most 100 characters')
  t.match(claim({ decimals: 20 }), { decimals: 20 })
  t.equal(claim({ decimals: 21 }), 'claims wrong field: claims[0].decimals is 21, expected an integer from 0 to 20, or null')
})

t.test('the sources of a contradiction: a value, a reference, or both', async t => {
  t.match(discrepancy({ one: 1, two: 'x.json#/a', three: 'a text', four: { value: 2, decimals: 1 } }), {
    sources: [
      { label: 'one', value: 1, decimals: null, reference: null },
      { label: 'two', value: null, decimals: null, reference: 'x.json#/a' },
      { label: 'three', value: 'a text', decimals: null, reference: null },
      { label: 'four', value: 2, decimals: 1, reference: null }
    ]
  })
  t.match(discrepancy(labelled(20, 1)), { average_forbidden: true })
  const expected = 'expected an object of at most 20 sources by label'
  t.equal(discrepancy(labelled(21, 1)), `claims wrong field: discrepancies[0].sources is an object, ${expected}`)
  t.equal(discrepancy([1]), `claims wrong field: discrepancies[0].sources is a list of 1, ${expected}`)
  t.match(discrepancy({ [long(200)]: 1 }), { sources: [{ label: long(200) }] })
  t.match(
    discrepancy({ [long(201)]: 1 }),
    /^claims wrong field: a label of discrepancies\[0\]\.sources is .*, expected a text of 1 to 200 characters$/
  )
  t.match(
    discrepancy({ '': 1 }),
    /^claims wrong field: a label of discrepancies\[0\]\.sources is "", expected a text of 1 to 200 characters$/
  )
  t.match(discrepancy({ one: null }), /^claims wrong field: discrepancies\[0\]\.sources\["one"\] is null, expected a finite number/)
})

t.test('the sources of one quantity: two references or more', async t => {
  t.match(same({ one: 'x.json#/a', two: { reference: 'x.json#/b', scale: 100 }, three: { reference: 'x.json#/c' } }), {
    sources: [
      { label: 'one', reference: 'x.json#/a', scale: 1 },
      { label: 'two', reference: 'x.json#/b', scale: 100 },
      { label: 'three', reference: 'x.json#/c', scale: 1 }
    ]
  })
  const expected = 'expected an object of 2 to 20 references by label'
  t.match(same(labelled(2, 'x.json#/a')), { id: 'a' })
  t.match(same(labelled(20, 'x.json#/a')), { id: 'a' })
  for (const count of [0, 1, 21])
    t.equal(same(labelled(count, 'x.json#/a')), `claims wrong field: same[0].sources is an object, ${expected}`, `${count}`)
  t.equal(same(['x', 'y']), `claims wrong field: same[0].sources is a list of 2, ${expected}`)
  t.match(same({ one: 'x.json#/a', [long(200)]: 'x.json#/b' }), { id: 'a' })
  t.match(same({ one: 'x.json#/a', [long(201)]: 'x.json#/b' }), /^claims wrong field: a label of same\[0\]\.sources is /)
  t.equal(
    same({ one: 'x.json#/a', '': 'x.json#/b' }),
    'claims wrong field: a label of same[0].sources is "", expected a text of 1 to 200 characters'
  )
})

t.test('a secret is refused wherever a text may stand', async t => {
  const key = `ghp_${'A1b2C3d4E5'.repeat(3)}`
  for (const [read, at] of [
    [claim({ value: key }), 'claims[0].value'],
    [claim({ value: [1, key] }), 'claims[0].value[1]'],
    [claim({ unit: key }), 'claims[0].unit'],
    [discrepancy({ one: key }), 'discrepancies[0].sources["one"]'],
    [discrepancy({ [key]: 1 }), 'discrepancies[0].sources["[withheld]"]']
  ] as const) {
    t.equal(read, `claims secret refused: ${at} holds what looks like a secret, expected a text without one`)
  }
})
