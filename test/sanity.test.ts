/** Signs of a wrong export: each of the four mistakes is noted, a right export has no note. Expected numbers are by hand. */
import t from 'tap'
import { sanityNotes, signsOf, type SignedTrace } from '../src/compute/traces/sanity.js'
import { boundaryIndexes } from '../src/compute/traces/statistics.js'
import { Random } from './support/random.js'

function signed(values: readonly number[], returns: readonly number[], positions: readonly number[]): SignedTrace {
  const boundaries = boundaryIndexes(Float64Array.from(positions))
  return {
    tokens: values.length,
    boundaries: boundaries.length,
    signs: signsOf(Float64Array.from(values), Float64Array.from(returns), boundaries)
  }
}

t.test('signs of one trace', async t => {
  // Boundaries at 1 -> 2 and at 4 -> 5. Changes: 1, 2, 0, 0, 4, 0.
  const { signs, boundaries } = signed([0, 1, 3, 3, 3, 7, 7], [1, 1, 1, 1, 1, 1, 1], [0, 1, 5, 6, 7, 9, 10])
  t.equal(boundaries, 2)
  t.equal(signs.zeros, 1)
  t.equal(signs.tail, 2, 'the last two tokens have one value and one return')
  t.same(signs.near, [
    { sum: 0, transitions: 1 },
    { sum: 1, transitions: 2 },
    { sum: 6, transitions: 2 },
    { sum: 0, transitions: 2 },
    { sum: 0, transitions: 1 }
  ])
  const other = signed([2, 5, 5], [1, 0, 1], [3, 4, 5]).signs
  t.equal(other.tail, 1, 'a return that differs ends the constant tail')
  t.same(signed([0], [0], [0]).signs.tail, 1)
})

t.test('neighbouring boundaries are in no offset but 0', async t => {
  const { near } = signed([0, 1, 3], [0, 0, 0], [0, 2, 4]).signs
  t.same(
    near.map(cell => [cell.sum, cell.transitions]),
    [
      [0, 0],
      [0, 0],
      [3, 2],
      [0, 0],
      [0, 0]
    ]
  )
})

/** Traces of four turns of ten tokens. The value jumps by 1 at the boundaries, and by `shift` transitions beside them. */
function turns(count: number, shift: number): SignedTrace[] {
  const random = new Random(3)
  return Array.from({ length: count }, () => {
    const positions = Array.from({ length: 40 }, (_, i) => i + 5 * Math.floor(i / 10))
    let value = 0.5
    const values = positions.map((_, i) => {
      if (i > 0 && (i - shift) % 10 === 0) value += 1
      value += 0.01 * (random.below(100) + 1)
      return value
    })
    return signed(values, Array<number>(40).fill(1), positions)
  })
}

t.test('a right export has no note', async t => {
  t.same(sanityNotes(turns(12, 0)), [])
  t.same(sanityNotes([]), [])
})

t.test('values shifted by a token: the change is largest beside the boundaries', async t => {
  const [before, ...others] = sanityNotes(turns(12, -1))
  t.match(
    before,
    /^the mean \|change\| of the value is largest 1 token before the boundaries \(.* at them\): values may be shifted against the mask$/
  )
  t.same(others, [])
  t.match(sanityNotes(turns(12, 2))[0], 'largest 2 tokens after the boundaries')
  t.same(sanityNotes(turns(7, -1)), [], 'fewer than 30 boundaries may do so by chance')
})

t.test('no boundary in any trace', async t => {
  const one = signed([0.1, 0.2, 0.4], [1, 1, 1], [0, 1, 2])
  t.same(sanityNotes([one, one]), [
    'no turn boundary in any of 2 traces of 6 tokens: one turn each, or the mask was lost, or positions were numbered anew'
  ])
  t.match(sanityNotes([one])[0], 'no turn boundary in the one trace of 3 tokens')
  t.same(sanityNotes([one, signed([0.1, 0.2], [1, 1], [0, 2])]), [])
})

t.test('padding kept: equal lengths with constant ends', async t => {
  const padded = (last: number) =>
    signed([0.1, 0.3, ...Array<number>(8).fill(last)], Array<number>(10).fill(0), [0, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  t.same(sanityNotes([padded(0.5), padded(0.25)]), [
    'all 2 traces have 10 tokens, and 2 end in 8 or more equal values and returns: padding may have been kept'
  ])
  t.same(sanityNotes([padded(0.5), signed([0.1, 0.2], [0, 0], [0, 2])]), [], 'other lengths')
})

t.test('many exact zeros', async t => {
  const values = Array.from({ length: 100 }, (_, i) => (i < 2 ? 0 : 0.5 + i / 1000))
  const positions = values.map((_, i) => 2 * i)
  const returns = values.map(() => 1)
  t.same(sanityNotes([signed(values, returns, positions)]), ['2 values of 100 are exactly 0: padding, or masked tokens set to 0'])
  t.same(sanityNotes([signed([0, ...values.slice(2), 0.7], [1, ...returns.slice(2), 1], positions)]), [], 'one in a hundred is no sign')
})

t.test('masked values set to 0 and then shifted: turns begin or end with exact zeros', async t => {
  // Three turns of ten tokens in each of four traces: two boundaries each.
  const positions = Array.from({ length: 30 }, (_, i) => i + 5 * Math.floor(i / 10))
  const returns = positions.map(() => 1)
  const notesOf = (zero: (i: number) => boolean): string[] =>
    sanityNotes(
      Array.from({ length: 4 }, () =>
        signed(
          positions.map((_, i) => (zero(i) ? 0 : 0.5 + i / 1000)),
          returns,
          positions
        )
      )
    )
  const shift = 'a boundary have value exactly 0: values may be shifted against the mask'
  t.same(
    notesOf(() => false),
    []
  )
  t.equal(notesOf(i => i % 10 === 0).at(-1), `8 of 8 first tokens of turns behind ${shift}`)
  t.equal(notesOf(i => i % 10 < 2).at(-1), `8 of 8 first tokens of turns behind ${shift}`, 'by two tokens')
  t.equal(notesOf(i => i % 10 === 9).at(-1), `8 of 8 last tokens of turns before ${shift}`)
  const many = (zeros: number): string => `${zeros} values of 120 are exactly 0: padding, or masked tokens set to 0`
  t.same(
    notesOf(i => i % 2 === 0),
    [many(60)],
    'zeros are common everywhere'
  )
  t.same(notesOf(() => true).at(-1), many(120), 'a critic that always says 0')
  t.same(
    notesOf(i => i % 10 === 5),
    [many(12)],
    'zeros inside turns'
  )
  t.same(
    notesOf(i => i > 25),
    [many(16)],
    'zeros behind the last turn'
  )
  const two = signed(
    positions.map((_, i) => (i % 10 === 0 ? 0 : 0.5 + i / 1000)),
    returns,
    positions
  )
  t.notMatch(sanityNotes([two, two]).join(), 'shifted', 'four zeros may be chance')
})
