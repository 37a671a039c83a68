/** Statistics of a trace against math.fsum and numpy; sums, checks, ordering. */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { checkArrays, checkEqual, checkSpanCount, checkStored } from '../src/compute/traces/checks.js'
import type { TraceStatistics } from '../src/compute/traces/contract.js'
import { inOrder } from '../src/compute/traces/ordered.js'
import { boundaryIndexes, traceStatistics } from '../src/compute/traces/statistics.js'
import { addPairs, pairValue, type SumPair } from '../src/core/sums.js'
import { Fault, printable } from '../src/core/errors.js'
import { kernelOfThread } from '../src/kernel/open.js'
import { readNpy } from '../src/ingest/npz/npy.js'
import { encodeNpy, type NumericArray } from '../src/ingest/npz/write.js'
import type { Outcome } from '../src/schema/traces.js'
import { rowsOf } from './support/cases.js'

interface StatisticsCase {
  readonly name: string
  readonly why: string
  readonly outcome: Outcome
  readonly threshold: number
  readonly values: number[]
  readonly returns: number[]
  readonly positions: number[]
  /** given where the sum of values cancels: the mean is then held to the bound that `sums.ts` states */
  readonly sumOfAbsolutes?: number
  readonly expected: { mean: number } & Omit<TraceStatistics, 'boundary' | 'internal' | 'mean'> & {
      readonly boundary: { transitions: number; jumps: number; meanAbs: number | null }
      readonly internal: { transitions: number; jumps: number; meanAbs: number | null }
      readonly boundaryIndexes: number[]
    }
}

t.test('statistics of a trace are those of math.fsum and numpy, to the last bit', t => {
  const cases = rowsOf<StatisticsCase>('statistics/cases')
  t.ok(cases.length >= 9)
  for (const c of cases) {
    const positions = Float64Array.from(c.positions)
    const got = traceStatistics(Float64Array.from(c.values), Float64Array.from(c.returns), positions, {
      jumpThreshold: c.threshold,
      outcome: c.outcome
    })
    const { boundaryIndexes: indexes, ...expected } = c.expected
    if (c.sumOfAbsolutes !== undefined) {
      const bound = 2 ** -53 * Math.abs(expected.mean) + 2 ** -104 * c.sumOfAbsolutes
      t.ok(Math.abs(got.mean - expected.mean) <= bound, `${c.name}: mean within the documented bound`)
      expected.mean = got.mean
    }
    const part = ({ transitions, jumps, meanAbs }: TraceStatistics['boundary']) => ({ transitions, jumps, meanAbs })
    t.same({ ...got, boundary: part(got.boundary), internal: part(got.internal) }, expected, `${c.name}: ${c.why}`)
    t.same([...boundaryIndexes(positions)], indexes, `${c.name}: boundaries`)
  }
  t.end()
})

t.test('every sum of a trace is compensated: thousand ones beside what swallows them one by one', t => {
  const ones = 1000
  // the first change is 2^53, all others are 1; a plain sum of them stays 2^53
  const values = Float64Array.from({ length: ones + 2 }, (_, i) => (i === 0 ? 0 : 2 ** 53 - (i % 2 === 0 ? 1 : 0)))
  const mean = Number(2n ** 53n + BigInt(ones)) / (ones + 1)
  const options = { jumpThreshold: 0.1, outcome: null } as const
  for (const [name, gap] of [
    ['internal', 1],
    ['boundary', 2]
  ] as const) {
    const positions = values.map((_, i) => gap * i)
    t.equal(traceStatistics(values, values, positions, options)[name].meanAbs, mean, name)
    t.not(2 ** 53 / (ones + 1), mean)
  }
  // the first error is 2^27, all others are 1
  const errors = Float64Array.from({ length: ones + 1 }, (_, i) => (i === 0 ? 2 ** 27 : 1))
  const { rmse } = traceStatistics(
    errors,
    new Float64Array(ones + 1),
    errors.map((_, i) => i),
    options
  )
  t.equal(rmse, Math.sqrt(Number(2n ** 54n + BigInt(ones)) / (ones + 1)))
  t.not(rmse, Math.sqrt(2 ** 54 / (ones + 1)))
  t.end()
})

t.test('sums keep what a plain sum loses, and pairs add like one long sum', t => {
  const x = Float64Array.from([1e16, 1, -1e16, 3e-17, 1, 1e300, -1e300])
  const halves = (part: Float64Array): [SumPair, SumPair] => {
    const [high, low, secondHigh, secondLow] = kernelOfThread().measure(part, new Float64Array(part.length), new Int32Array(0), 0.1, 0)
    return [
      { high, low },
      { high: secondHigh, low: secondLow }
    ]
  }
  t.equal(pairValue(addPairs(...halves(x.subarray(0, 5)))), 2)
  t.not(
    x.subarray(0, 5).reduce((a, b) => a + b, 0),
    2
  )
  // the first half of four and what follows it, as one long sum
  t.equal(pairValue(addPairs(halves(x.subarray(0, 4))[0], addPairs(...halves(x.subarray(2, 5))))), 2)
  t.end()
})

t.test('sums that leave the double range are a failed check, not an Infinity', t => {
  const huge = Float64Array.from([1.7e308, 1.7e308])
  t.throws(() => traceStatistics(huge, huge, Float64Array.from([1, 2]), { jumpThreshold: 0.1, outcome: null }), {
    message: 'trace mean overflows: a sum beyond the double range, expected smaller values',
    exitCode: 1
  })
  t.end()
})

t.test('integrity checks name array, index and both values', t => {
  const arrays = (values: number[], returns: number[], positions: number[]) => ({
    values: Float64Array.from(values),
    returns: Float64Array.from(returns),
    response_positions: Float64Array.from(positions)
  })
  const refused: ReadonlyArray<readonly [number[], number[], number[], string]> = [
    [[1, 2], [1], [1, 2], 'trace unequal lengths: 1 returns, expected 2 as in values (returns)'],
    [[1], [1], [1, 2], 'trace unequal lengths: 2 response_positions, expected 1 as in values (response_positions)'],
    [[], [], [], 'trace empty arrays: no token, expected at least one'],
    [[1, NaN], [1, 1], [1, 2], 'trace not finite: NaN, expected a finite number (values, index 1)'],
    [[1, 1], [-Infinity, 1], [1, 2], 'trace not finite: -Infinity, expected a finite number (returns, index 0)'],
    [[1, 1], [1, 1], [1, Infinity], 'trace not finite: Infinity, expected a finite number (response_positions, index 1)'],
    [[1, 1], [1, 1], [2, 2], 'trace positions not increasing: 2 after 2, expected more than 2 (response_positions, index 1)'],
    [[1, 1], [1, 1], [3, 2], 'trace positions not increasing: 2 after 3, expected more than 3 (response_positions, index 1)'],
    [[1], [1], [1.5], 'trace position out of range: 1.5, expected an integer within 2^53 (response_positions, index 0)'],
    [[1], [1], [2 ** 53], 'trace position out of range: 9007199254740992, expected an integer within 2^53 (response_positions, index 0)']
  ]
  for (const [values, returns, positions, message] of refused) {
    t.throws(() => checkArrays(arrays(values, returns, positions)), { message, exitCode: 1 })
  }
  t.doesNotThrow(() => checkArrays(arrays([-0, 1], [0, 5e-324], [-1, 0])))

  const of = (...x: number[]) => Float64Array.from(x)
  const file = { file: 'a.npz' }
  const npy = (data: NumericArray) => readNpy(encodeNpy(data))
  t.doesNotThrow(() => checkEqual('values', of(0, -0, 1), npy(of(-0, 0, 1)), file), '0 equals -0')
  t.doesNotThrow(() => checkEqual('values', of(0.5, -0), npy(Float32Array.of(0.5, 0)), file), 'float32')
  t.doesNotThrow(() => checkEqual('response_positions', of(-1, 2 ** 40 + 3), npy(BigInt64Array.of(-1n, 2n ** 40n + 3n)), file), 'int64')
  t.doesNotThrow(() => checkEqual('response_positions', of(-1, 7), npy(Int32Array.of(-1, 7)), file), 'int32')
  t.throws(() => checkEqual('values', of(0.5, NaN), npy(Float32Array.of(0.5, NaN)), file), /NaN in a.npz/, 'nor as float32')
  t.throws(
    () => checkEqual('values', of(0, 1), npy(Float32Array.of(-0, 2)), file),
    /2 in a.npz, expected 1 as embedded \(values, index 1\)/
  )
  t.throws(() => checkEqual('response_positions', of(0.5), npy(BigInt64Array.of(0n)), file), /0 in a.npz, expected 0.5/)
  t.throws(
    () => checkEqual('values', of(0.1), npy(Float32Array.of(0.1)), file),
    /NPZ value differs: 0.10000000149011612 in a.npz, expected 0.1 as/
  )
  t.throws(() => checkEqual('response_positions', of(3), npy(BigInt64Array.of(2n ** 32n + 3n)), file), /NPZ value differs: 4294967299 in/)
  t.throws(
    () => checkEqual('response_positions', of(2 ** 53 - 1), npy(BigInt64Array.of(2n ** 53n + 1n)), file),
    /npy integer out of range: 9007199254740993/
  )
  for (const kind of [Float32Array, Float64Array, Int32Array, BigInt64Array]) {
    for (const n of [1, 2, 3, 4, 5, 9, 17]) {
      const numbers = Array.from({ length: n }, (_, i) => (i % 2 === 0 ? i : -i))
      const stored = kind === BigInt64Array ? BigInt64Array.from(numbers, BigInt) : (kind as typeof Float64Array).from(numbers)
      const data = npy(stored as NumericArray)
      t.doesNotThrow(() => checkEqual('values', Float64Array.from(numbers), data, file), `${kind.name} of ${n}`)
      for (let i = 0; i < n; i++) {
        const other = Float64Array.from(numbers, (x, k) => (k >= i ? x + 1 : x))
        t.throws(() => checkEqual('values', other, data, file), new RegExp(`\\(values, index ${i}\\)`), `${kind.name} of ${n}, at ${i}`)
      }
    }
  }
  t.throws(() => checkEqual('values', of(1, 0.5), npy(of(1, 0.5000000000000001)), file), {
    message:
      'trace NPZ value differs: 0.5000000000000001 in a.npz, expected 0.5 as embedded; equal as float32 (all 2): one of the two was rounded, ' +
      'write both from the same array (values, index 1)',
    exitCode: 1
  })
  t.throws(() => checkEqual('returns', of(NaN), npy(of(NaN)), file), /NaN in a.npz/, 'NaN equals nothing')
  t.throws(() => checkEqual('returns', of(1), npy(of(1, 1)), file), /NPZ length differs: 2 in a.npz, expected 1/)
  t.doesNotThrow(() => checkStored('value_mean', 0.5, 0.5 + 9e-13))
  t.throws(() => checkStored('value_mean', 0.5, 0.5 + 1.1e-12), /stored value_mean differs: 0.5, expected 0.50000000000/)
  t.throws(() => checkStored('value_rmse', NaN, 1), /stored value_rmse differs: NaN/)
  const two = traceStatistics(of(1, 2), of(1, 1), of(1, 5), { jumpThreshold: 0.1, outcome: null })
  t.doesNotThrow(() => checkSpanCount(2, two))
  t.throws(() => checkSpanCount(1, two), /span count differs: 1 segment texts, expected 2/)
  t.end()
})

t.test('results come in task order, whatever finishes first', async t => {
  async function* tasks(n: number, failAt = -1): AsyncGenerator<number> {
    for (let i = 0; i < n; i++) {
      if (i === failAt) throw new Error('input broke')
      yield i
    }
  }
  let underWay = 0
  let most = 0
  const run = async (i: number): Promise<number> => {
    most = Math.max(most, ++underWay)
    await delay((i * 7) % 5)
    underWay--
    return i
  }
  const collect = async (source: AsyncIterable<number>): Promise<unknown[]> => {
    const seen: unknown[] = []
    try {
      for await (const r of source) seen.push(r)
    } catch (error) {
      seen.push((error as Error).message)
    }
    return seen
  }
  t.same(await collect(inOrder(tasks(20), run, 3)), [...Array(20).keys()])
  t.equal(most, 3, 'no more than the window is under way')
  t.same(await collect(inOrder(tasks(9, 4), run, 3)), [0, 1, 2, 3, 'input broke'], 'results before a broken input come first')
  const dying = async (i: number): Promise<number> => {
    if (i === 2) throw new Error('worker died')
    return run(i)
  }
  t.same(await collect(inOrder(tasks(9), dying, 4)), [0, 1, 'worker died'], 'nothing is given past a rejection')
})

t.test('a message is one line, capped, with its place', t => {
  const fault = new Fault({ format: 'json', problem: 'bad', found: 'x', expected: 'y', place: { offset: 5 } })
  t.equal(fault.at({ file: 'a\nb', trace: 3, offset: 9 }).message, 'json bad: x, expected y (a\\u000ab, trace 3, byte 5)')
  t.equal(printable('a\u202eb\u001b[31m'), 'a\\u202eb\\u001b[31m')
  t.match(printable('x'.repeat(500)), /^x{120}… \(500 characters\)$/)
  t.equal(printable('\n'.repeat(3), 2), '\\u000a\\u000a… (3 characters)')
  t.equal(printable('a\u{e0001}b'), 'a\\u{e0001}b')
  let wrong = 0
  for (let point = 0; point <= 0x10ffff; point++) {
    const character = String.fromCodePoint(point)
    if ((printable(character) !== character) !== /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character)) wrong++
  }
  t.equal(wrong, 0, 'escaped are the characters of four classes of Unicode, and no others')
  const round = Fault.deserialize(
    structuredClone(new Fault({ format: 'npz', problem: 'p', exitCode: 1, cause: new Error('why') }).serialize())
  )
  t.equal(round.exitCode, 1)
  t.equal((round.cause as Error).message, 'why')
  t.end()
})
