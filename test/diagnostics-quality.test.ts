/**
 * Quality statistics of a critic. What is expected of the fixtures was made with scikit-learn, scipy and numpy from the tokens
 * (fixtures/diagnostics/make.py), of each resample anew.
 */
import t, { type Test } from 'tap'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import { compareQuality } from '../src/compute/diagnostics/quality/compare.js'
import type { Estimate, Quality, QualityComparison } from '../src/compute/diagnostics/quality/contract.js'
import type { SamplingDesign } from '../src/schema/diagnostics.js'
import { MOMENTS, sliceMoments } from '../src/compute/diagnostics/quality/moments.js'
import { DEFAULT_RESAMPLING, quality } from '../src/compute/diagnostics/quality/quality.js'
import { qualityRecord, type QualityRecord } from '../src/compute/diagnostics/quality/record.js'
import { resampleIndices } from '../src/compute/diagnostics/quality/resampling.js'
import { mergedQualityRecords, plainQualityRecord, qualityRecordFromPlain } from '../src/compute/diagnostics/quality/serial.js'
import type { Sample, SampleArray, SampleNumbers } from '../src/schema/samples.js'
import type { Outcome } from '../src/schema/traces.js'
import { rowsOf } from './support/cases.js'

interface Trajectory {
  readonly step?: number | null
  readonly uid?: string | null
  readonly outcome?: Outcome | null
  readonly score?: number | null
  readonly positions?: readonly number[]
  readonly values?: readonly number[]
  readonly returns?: readonly number[]
}

type Triple = readonly [number | null, number | null, number | null]

const THRESHOLDS = { successThreshold: 0, thresholds: sweepThresholds(0.1) }

/** A sample whose other tokens hold no number: whoever reads them fails. */
function sampleOf(given: Trajectory, index = 0): Sample {
  const positions = given.positions ?? (given.values ?? given.returns ?? []).map((_, i) => i)
  const tokens = Math.max(...positions) + 2
  const mask = new Uint8Array(tokens)
  for (const p of positions) mask[p] = 1
  const spread = (numbers: readonly number[]) => {
    const array = new Float64Array(tokens).fill(NaN)
    positions.forEach((p, i) => (array[p] = numbers[i]))
    return array
  }
  const arrays: { [name in SampleArray]?: SampleNumbers } = {}
  if (given.values !== undefined) arrays.values = spread(given.values)
  if (given.returns !== undefined) arrays.returns = spread(given.returns)
  const { step = 0, uid = null, outcome = null, score = null } = given
  return {
    index,
    place: { file: 'dump' },
    fields: { step, outcome, score, uid, truncated: null, rank: null },
    mask,
    arrays,
    tokenIds: null
  }
}

const recordsOf = (given: readonly Trajectory[]): QualityRecord[] => given.map((one, i) => qualityRecord(sampleOf(one, i), THRESHOLDS))

const options = (resamples: number, sampling: SamplingDesign = 'not stated') => ({ sampling, jumpThreshold: 0.1, seed: 0, resamples })

const measured = (given: readonly Trajectory[], resamples = 40, sampling: SamplingDesign = 'not stated') =>
  quality(recordsOf(given), options(resamples, sampling))

function at(tree: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((node, key) => (node as Record<string, unknown> | null | undefined)?.[key], tree)
}

function near(actual: number | null, expected: number | null, tolerance = 1e-10): boolean {
  if (actual === null || expected === null) return actual === expected
  return Math.abs(actual - expected) <= tolerance * (1 + Math.abs(expected))
}

/** Every estimate of a tree with its pointer. */
function estimatesIn(tree: unknown, pointer = ''): [string, Estimate][] {
  if (typeof tree !== 'object' || tree === null) return []
  const own: [string, Estimate][] = 'n_trajectories' in tree && 'value' in tree ? [[pointer, tree as Estimate]] : []
  return [...own, ...Object.entries(tree).flatMap(([key, inner]) => estimatesIn(inner, `${pointer}/${key}`))]
}

function compareTriples(t: Test, tree: unknown, expected: Readonly<Record<string, Triple>>): void {
  const wrong = Object.entries(expected).filter(([pointer, [value, low, high]]) => {
    const found = at(tree, pointer) as Estimate | undefined
    return found === undefined || !near(found.value, value) || !near(found.low, low) || !near(found.high, high)
  })
  t.same(
    wrong.slice(0, 5).map(([pointer, triple]) => ({ pointer, expected: triple, found: at(tree, pointer) })),
    [],
    `${Object.keys(expected).length} statistics, ${wrong.length} differ`
  )
}

interface QualityCase {
  readonly name: string
  readonly unit: string
  readonly group: string
  readonly resamples: number
  readonly trajectories: readonly Trajectory[]
  readonly expected: Readonly<Record<string, Triple>>
}

t.test('values and intervals are those of scikit-learn, scipy and numpy on the tokens of each resample', async t => {
  for (const { name, unit, group, resamples, trajectories, expected } of rowsOf<QualityCase>('diagnostics/quality')) {
    await t.test(name, async t => {
      const found = await measured(trajectories, resamples, 'every trajectory')
      t.equal(found.resampling.unit, unit)
      t.equal(found.within_group, group)
      compareTriples(t, found, expected)
      const unexpected = estimatesIn(found).filter(([pointer, { value }]) => value !== null && expected[pointer] === undefined)
      t.same(
        unexpected.map(([pointer]) => pointer),
        [],
        'no estimate that the fixture lacks'
      )
      t.end()
    })
  }
  t.end()
})

t.test('intervals are those of scipy.stats.bootstrap, within the error of drawing', async t => {
  interface Scipy {
    readonly name: string
    readonly trajectories: readonly Trajectory[]
    readonly expected: Readonly<Record<string, { readonly low: number; readonly high: number; readonly standard_error: number }>>
  }
  const [{ trajectories, expected }] = rowsOf<Scipy>('diagnostics/quality-scipy')
  const found = await quality(recordsOf(trajectories), { ...DEFAULT_RESAMPLING, sampling: 'not stated', jumpThreshold: 0.1 })
  t.equal(found.resampling.resamples, 2000)
  for (const [pointer, { low, high, standard_error }] of Object.entries(expected)) {
    const { low: ownLow, high: ownHigh } = at(found, pointer) as Estimate
    // the 2.5 % point of 2,000 normal draws has a standard error of 0.06 standard deviations
    t.ok(Math.abs((ownLow ?? NaN) - low) < 0.25 * standard_error, `${pointer}: ${ownLow}, scipy ${low}`)
    t.ok(Math.abs((ownHigh ?? NaN) - high) < 0.25 * standard_error, `${pointer}: ${ownHigh}, scipy ${high}`)
  }
  t.end()
})

t.test("reliability is scikit-learn's calibration_curve where its quantiles lie between cells", async t => {
  interface Curve {
    readonly name: string
    readonly trajectories: readonly Trajectory[]
    readonly expected: { readonly prob_true: readonly number[]; readonly prob_pred: readonly number[] }
  }
  const [, { trajectories, expected }] = rowsOf<Curve>('diagnostics/quality-scipy')
  const { bins, value } = (await measured(trajectories)).calibration
  t.equal(bins.length, expected.prob_true.length)
  bins.forEach((bin, i) => {
    t.equal(bin.tokens, 100)
    t.ok(near(bin.success_rate.value, expected.prob_true[i]), `bin ${i}, outcomes`)
    t.ok(near(bin.mean_value, expected.prob_pred[i]), `bin ${i}, values`)
    const inBin = (v: number) => v >= (bin.from ?? -Infinity) && v < (bin.to ?? Infinity)
    t.equal(bin.success_rate.n_trajectories, trajectories.filter(one => one.values?.some(inBin)).length)
    t.ok(i === 0 || bin.from === bins[i - 1].to, 'bins touch or leave out only cells without a value')
  })
  const error = expected.prob_true.reduce((sum, y, i) => sum + Math.abs(y - expected.prob_pred[i]) / 10, 0)
  t.ok(near(value, error))
  t.end()
})

t.test('the difference of two critics, paired by uid in any order, or unpaired', async t => {
  interface Pair {
    readonly name: string
    readonly paired: boolean
    readonly resamples: number
    readonly a: readonly Trajectory[]
    readonly b: readonly Trajectory[]
    readonly expected: Readonly<Record<string, Triple>>
  }
  for (const { name, paired, resamples, a, b, expected } of rowsOf<Pair>('diagnostics/quality-pairs')) {
    await t.test(name, async t => {
      const [recordsA, recordsB] = [recordsOf(a), recordsOf(b)]
      const found = await compareQuality(recordsA, recordsB, { ...options(resamples), samplingOfB: 'not stated' })
      t.equal(found.pairing.paired, paired)
      t.equal(found.pairing.pairs, paired ? a.length : 0)
      t.equal(found.mse.paired, paired)
      const inTree = Object.fromEntries(Object.entries(expected).map(([pointer, triple]) => [`${pointer}/difference`, triple]))
      compareTriples(t, found, inTree)
      t.same(found.mse.a, (await quality(recordsA, options(resamples))).mse, 'each side as it is alone')
      t.same(found.mse.b, (await quality(recordsB, options(resamples))).mse)
      t.same(found.by_step, [], 'they have no step in common')
      t.end()
    })
  }
  const [{ a, b }] = rowsOf<Pair>('diagnostics/quality-pairs')
  const width = (e: Estimate) => (e.high ?? NaN) - (e.low ?? NaN)
  const compared = (uids: (i: number) => string | null) =>
    compareQuality(recordsOf(a), recordsOf(b.map((one, i) => ({ ...one, uid: uids(i) }))), { ...options(400), samplingOfB: 'not stated' })
  const [paired, unpaired] = [await compared(i => b[i].uid ?? null), await compared(i => `other ${i}`)]
  t.ok(width(paired.mean_return.difference) < 1e-12, 'the same returns have no difference in any resample')
  t.ok(width(unpaired.mean_return.difference) > 0.1)
  t.equal(unpaired.pairing.rule, 'unpaired: the uids of the two differ')
  t.equal((await compared(() => null)).pairing.rule, 'unpaired: a trajectory states no uid')
  t.end()
})

t.test('resamples: the generator is sfc32, each resample has its stream', t => {
  // computed by fixtures/diagnostics/make.py: indices(10, 0), indices(10, 1), indices(10, 0, 0, 1), indices(10, 0, 7)
  const draws = (resample: number, seed: number, stream: number) => [...resampleIndices(10, resample, { seed, stream, resamples: 1 })]
  t.same(
    [draws(0, 0, 0), draws(1, 0, 0), draws(0, 0, 1), draws(0, 7, 0)],
    [
      [9, 2, 5, 9, 4, 9, 2, 2, 3, 3],
      [4, 4, 3, 6, 9, 1, 1, 6, 1, 2],
      [2, 4, 8, 9, 7, 6, 4, 0, 5, 1],
      [9, 9, 6, 4, 4, 7, 4, 2, 9, 3]
    ]
  )
  const counts = new Float64Array(7)
  for (let b = 0; b < 3000; b++) for (const i of resampleIndices(7, b, { seed: 0, stream: 0, resamples: 3000 })) counts[i]++
  const chi2 = counts.reduce((sum, n) => sum + (n - 3000) ** 2 / 3000, 0)
  t.ok(chi2 < 22.5, `chi-square of seven counts, 6 degrees of freedom: ${chi2}; 22.5 is its 99.9 % point`)
  t.end()
})

t.test('any cut into shards, in any order, through JSON and back: the same bytes', async t => {
  for (const { trajectories } of rowsOf<QualityCase>('diagnostics/quality')) {
    const records = recordsOf(trajectories)
    const whole = JSON.stringify(await quality(records, options(20)))
    for (const shards of [1, 2, 5, records.length]) {
      const parts = Array.from({ length: shards }, (_, shard) => records.filter(r => (r.index * 7) % shards === shard)).reverse()
      const read = parts.map(part =>
        (JSON.parse(JSON.stringify(part.map(plainQualityRecord))) as ReturnType<typeof plainQualityRecord>[]).map(qualityRecordFromPlain)
      )
      t.same(read.flat()[0], parts.flat()[0], 'a record is read as it was')
      t.equal(JSON.stringify(await quality(mergedQualityRecords(read), options(20))), whole, `${shards} shards`)
    }
  }
  const [record] = recordsOf([{ values: [0, 1], returns: [1, 1] }])
  t.throws(() => mergedQualityRecords([[record], [record]]), { message: /quality records trajectory given twice: index 0/ })
  const other = qualityRecord(sampleOf({ values: [0], returns: [0] }, 1), { successThreshold: 0, thresholds: sweepThresholds(0.3) })
  t.throws(() => mergedQualityRecords([[record], [other]]), { message: /quality records other thresholds/ })
  t.end()
})

t.test('the size of a record does not depend on the number of tokens or turns', async t => {
  const long = (tokens: number) => {
    const values = Array.from({ length: tokens }, (_, i) => ((i * 37) % 1000) / 1000)
    return recordsOf([{ values, returns: values, positions: values.map((_, i) => 2 * i) }])[0]
  }
  const size = (record: QualityRecord) => JSON.stringify(plainQualityRecord(record), (_, x) => (Array.isArray(x) ? x.length : x)).length
  t.equal(long(20_000).turns.count, 20_000)
  t.equal(long(20_000).turns.sums.length, long(64).turns.sums.length)
  t.ok(size(long(20_000)) < size(long(2000)) + 100)
  const { by_turn, turns_between } = await quality([long(100)], options(10))
  t.equal(by_turn.from_start.length, 32)
  t.equal(turns_between, 36)
  t.ok(near(by_turn.from_end[0].mean_value.value, ((99 * 37) % 1000) / 1000))
  t.ok(near(by_turn.from_start[31].mean_value.value, ((31 * 37) % 1000) / 1000))
  t.end()
})

/** Every null has its reason, every number is finite, and what has no value has no interval. */
function soundly(t: Test, tree: Quality | QualityComparison, name: string): void {
  const wrong = estimatesIn(tree).filter(([pointer, { value, low, high }]) => {
    const reasons = tree.undefined_reasons
    if (value === null) return low !== null || high !== null || !reasons[`${pointer}/value`]
    if (low === null || high === null) return low !== high || !reasons[`${pointer}/low`]
    return !(low <= high) || ![value, low, high].every(Number.isFinite)
  })
  t.same(wrong, [], `${name}: numbers or reasons`)
  const pointers = Object.keys(tree.undefined_reasons).filter(pointer => at(tree, pointer) !== null)
  t.same(pointers, [], `${name}: every reason is of a null`)
  const text = JSON.stringify(tree, (_, x) => (typeof x === 'number' && !Number.isFinite(x) ? 'not finite' : x))
  t.notMatch(text, 'not finite', name)
}

const reasonOf = (found: Quality, pointer: string) => found.undefined_reasons[pointer]
const flat = (value: number, n = 4) => Array.from({ length: n }, () => value)

t.test('a trace of one token, alone', async t => {
  const found = await measured([{ values: [0.25], returns: [1], outcome: 'success', uid: 'a' }])
  soundly(t, found, 'one token')
  t.same([found.mse.value, found.bias.value, found.mean_value.value, found.success_rate.value], [0.5625, -0.75, 0.25, 1])
  t.equal(reasonOf(found, '/mse/low'), 'one trajectory alone: nothing to resample')
  t.equal(reasonOf(found, '/explained_variance/value'), 'the returns do not vary')
  t.equal(reasonOf(found, '/changes/internal/mean_abs_change/value'), 'no internal transition')
  t.equal(reasonOf(found, '/changes/boundary/jump_rate/value'), 'no boundary transition')
  t.equal(reasonOf(found, '/auc_by_decile/0/value'), 'no pair of a success and a failure with values there')
  t.equal(reasonOf(found, '/by_decile/1/mse/value'), 'no trajectory has a token in this decile with values and returns')
  t.equal(reasonOf(found, '/drift/bias/value'), 'one step alone')
  t.same(found.by_turn.from_start.length, 1)
  t.equal(found.by_turn.from_start[0].change.value, 0)
  t.same(reasonOf(found, '/by_outcome/failure'), 'no failure')
  t.end()
})

t.test('what does not vary, exactly: 0.1 has no finite binary fraction', async t => {
  const constant = [3, 7, 49, 5].map((n, i) => ({ values: flat(0.3, n).map((v, k) => v + k / 64), returns: flat(0.1, n), uid: `${i}` }))
  const found = await measured(constant)
  soundly(t, found, 'constant returns')
  t.equal(reasonOf(found, '/explained_variance/value'), 'the returns do not vary')
  t.equal(reasonOf(found, '/explained_variance_by_trajectory/value'), 'the returns do not vary')
  t.equal(reasonOf(found, '/correlation/value'), 'the returns do not vary')
  t.ok(found.mse.value !== null && found.mse.low !== null)
  const still = await measured([3, 7, 49, 5].map((n, i) => ({ values: flat(0.1, n), returns: flat(i / 3, n), uid: `${i}` })))
  soundly(t, still, 'constant values')
  t.equal(reasonOf(still, '/correlation/value'), 'the values do not vary')
  t.ok(near(still.explained_variance.value, 0), 'a constant explains nothing')
  t.match(reasonOf(still, '/explained_variance/low') ?? '', /^$/, 'resamples without variance are few')
  const two = await measured(
    [0, 1].map(y => ({ values: [0.5, 0.25], returns: flat(y, 2), outcome: y === 1 ? 'success' : 'failure' }) as const)
  )
  soundly(t, two, 'two traces')
  t.match(
    reasonOf(two, '/explained_variance/low'),
    /^\d+ of 40 resamples leave it undefined$/,
    'half of the resamples hold one of them alone'
  )
  t.match(reasonOf(two, '/auc_by_decile/0/low'), /^\d+ of 40 resamples leave it undefined$/)
  t.end()
})

t.test('ties count half, and equal means are equal in any order of the tokens', async t => {
  const values = [0.1, 0.7, 0.2].map(Math.fround)
  const rotated = (k: number) => [...values.slice(k), ...values.slice(0, k)]
  const tied = Array.from({ length: 12 }, (_, i) => ({
    values: Array.from({ length: 10 }, () => rotated(i % 3)).flat(),
    returns: flat(i % 2, 30),
    outcome: i % 2 === 1 ? ('success' as const) : ('failure' as const)
  }))
  const found = await measured(tied)
  soundly(t, found, 'ties')
  for (const estimate of found.auc_by_decile) t.same([estimate.value, estimate.low, estimate.high], [0.5, 0.5, 0.5])
  t.end()
})

t.test('large returns with a small spread: nothing cancels', async t => {
  const [, { trajectories }] = rowsOf<QualityCase>('diagnostics/quality')
  const dyadic = trajectories.map(one => ({ ...one, returns: (one.returns ?? []).map(r => Math.round(r * 1024) / 1024) }))
  // A shift by 2^20 is exact for values and returns of few binary digits, and changes no variance.
  const shift = (numbers: readonly number[] = []) => numbers.map(x => x + 2 ** 20)
  const rounded = dyadic.map(one => ({ ...one, values: (one.values ?? []).map(v => Math.round(v * 2 ** 20) / 2 ** 20) }))
  const plain = await measured(rounded)
  const shifted = await measured(rounded.map(one => ({ ...one, values: shift(one.values), returns: shift(one.returns) })))
  for (const pointer of [
    '/explained_variance',
    '/explained_variance_by_trajectory',
    '/mse',
    '/bias',
    '/correlation',
    '/by_decile/4/explained_variance'
  ]) {
    const [a, b] = [at(plain, pointer) as Estimate, at(shifted, pointer) as Estimate]
    t.ok(near(b.value, a.value, 1e-8) && near(b.low, a.low, 1e-8) && near(b.high, a.high, 1e-8), `${pointer}: ${a.value}, ${b.value}`)
  }
  t.end()
})

t.test('a sample stratified by outcome: error, reliability and explained variance within an outcome, or refused by name', async t => {
  const [{ trajectories }] = rowsOf<QualityCase>('diagnostics/quality')
  const found = await measured(trajectories, 40, 'stratified by outcome')
  soundly(t, found, 'stratified')
  t.equal(found.sampling, 'stratified by outcome')
  for (const name of [
    'explained_variance',
    'explained_variance_by_trajectory',
    'mse',
    'bias',
    'correlation',
    'mean_value',
    'calibration'
  ] as const) {
    t.equal(found[name].value, null)
    t.match(reasonOf(found, `/${name}/value`), /^refused: the sample is stratified by outcome; by_outcome has what can be said/)
    t.match(reasonOf(found, `/by_step/0/${name}/value`), /^refused: /)
  }
  t.same(found.calibration.bins, [])
  for (const pointer of ['/by_decile/3/mse', '/by_turn/from_end/0/bias', '/drift/mse'])
    t.match(reasonOf(found, `${pointer}/value`), /^refused: /)
  t.match(
    reasonOf(found, '/success_rate/value'),
    /^refused: a sample of one success and one failure a step cannot estimate a success rate$/
  )
  for (const pointer of [
    '/auc_by_decile/3',
    '/auc_within_group/3',
    '/changes/boundary/mean_abs_change',
    '/changes/paired/difference',
    '/sweep/2/internal',
    '/by_turn/from_end/0/change',
    '/by_outcome/success/mse',
    '/by_outcome/failure/bias',
    '/by_outcome/failure/by_decile/3/mse',
    '/by_outcome/success/drift/bias',
    '/by_outcome/success/by_step/4/mse'
  ]) {
    t.type((at(found, pointer) as Estimate).value, 'number', pointer)
  }
  const unstated = await measured(trajectories)
  t.equal(unstated.sampling, 'not stated')
  t.match(reasonOf(unstated, '/success_rate/value'), /^refused: a sample of one success and one failure a step/)
  t.type(unstated.explained_variance.value, 'number')
  t.equal((await measured(trajectories, 40, 'every trajectory')).success_rate.value, 0.5, 'told: the steps had no more')
  t.match(
    reasonOf(await measured(trajectories.slice(1), 40, 'stratified by outcome'), '/success_rate/value'),
    /^refused: a sample stratified by/
  )
  const both = await compareQuality(recordsOf(trajectories), recordsOf(trajectories), {
    ...options(20, 'every trajectory'),
    samplingOfB: 'stratified by outcome'
  })
  t.equal(both.mse.difference.value, null, 'refused where one of two is refused')
  const other = await compareQuality(recordsOf(trajectories), recordsOf(trajectories), {
    ...options(20, 'stratified by outcome'),
    samplingOfB: 'every trajectory'
  })
  t.equal(other.mse.difference.value, null)
  const twoOfEach = trajectories.map((one, i) => ({ ...one, step: Math.floor(i / 4) }))
  t.equal((await measured(twoOfEach)).success_rate.value, 0.5, 'two of each may be chance')
  soundly(t, both, 'compared')
  t.end()
})

t.test('without returns, values, outcomes, steps or samples', async t => {
  const [, , { trajectories }] = rowsOf<QualityCase>('diagnostics/quality')
  const without = (...names: readonly (keyof Trajectory)[]) =>
    measured(
      trajectories.map(
        one => Object.fromEntries(Object.entries(one).filter(([name]) => !names.includes(name as keyof Trajectory))) as Trajectory
      )
    )
  const whole = await measured(trajectories)
  const noReturns = await without('returns')
  soundly(t, noReturns, 'no returns')
  t.equal(reasonOf(noReturns, '/mse/value'), 'no trajectory has values and returns')
  t.same(noReturns.mean_value, whole.mean_value)
  t.same([noReturns.auc_by_decile, noReturns.changes, noReturns.calibration], [whole.auc_by_decile, whole.changes, whole.calibration])
  const noValues = await without('values')
  soundly(t, noValues, 'no values')
  t.ok(estimatesIn(noValues).every(([pointer, { value }]) => value === null || pointer.endsWith('/success_rate')))
  const noOutcome = await without('outcome')
  soundly(t, noOutcome, 'no outcome')
  t.equal(reasonOf(noOutcome, '/success_rate/value'), 'no trajectory states an outcome or a score')
  t.equal(reasonOf(noOutcome, '/calibration/value'), 'no trajectory has values and an outcome')
  t.same(noOutcome.by_outcome, { success: null, failure: null })
  const noStep = await measured(trajectories.map(one => ({ ...one, step: null })))
  soundly(t, noStep, 'no step')
  t.same(noStep.by_step, [])
  t.equal(noStep.within_group, null)
  t.equal(reasonOf(noStep, '/drift/mean_value/value'), 'no trajectory states its step')
  const none = await measured([])
  soundly(t, none, 'no sample')
  t.equal(none.n_trajectories, 0)
  t.equal(reasonOf(none, '/success_rate/value'), 'no trajectory states an outcome or a score')
  // some trajectories without returns: errors are of the others
  const some = await measured(
    trajectories
      .map((one, i) => (i < 12 ? one : { ...one, returns: undefined as never }))
      .map(one => (one.returns === undefined ? (({ returns: _, ...rest }) => rest)(one) : one))
  )
  soundly(t, some, 'some returns')
  t.same(some.mse.value, (await measured(trajectories.slice(0, 12))).mse.value)
  t.equal(some.mse.n_trajectories, 12)
  t.equal(some.changes.paired.difference.n_trajectories, whole.changes.paired.difference.n_trajectories)
  t.end()
})

t.test('the outcome is the stated one, else the score against the threshold', t => {
  const outcome = (given: Trajectory, successThreshold = 0) =>
    qualityRecord(sampleOf({ values: [0], ...given }), { ...THRESHOLDS, successThreshold }).outcome
  t.same(
    [outcome({}), outcome({ score: 0.5 }), outcome({ score: 0 }), outcome({ score: 0.5 }, 0.5)],
    [null, 'success', 'failure', 'failure']
  )
  t.equal(outcome({ score: 1, outcome: 'failure' }), 'failure')
  t.end()
})

t.test('numbers that are not finite, and sums beyond the double range', async t => {
  t.throws(() => recordsOf([{ values: [0, NaN], returns: [0, 0] }]), {
    message: /trace number that is not finite: NaN/,
    place: { array: 'values', index: 1 }
  })
  t.throws(() => recordsOf([{ values: [0, 0], returns: [Infinity, 0] }]), { message: /Infinity/, place: { array: 'returns', index: 0 } })
  t.throws(() => recordsOf([{ values: [0, 1e200], returns: [0, 0] }]), { message: /trace moments overflow/ })
  const found = await measured(Array.from({ length: 50 }, (_, i) => ({ values: [0, 3e153], returns: [0, 1], uid: `${i}` })))
  soundly(t, found, 'overflow of the pooled sums')
  t.equal(reasonOf(found, '/mse/value'), 'a sum leaves the double range')
  t.end()
})

t.test('values outside [0, 1] are counted and binned as they are', async t => {
  const values = [-3, -0.5, -0.25, 0, 0.5, 1, 1.25, 1.5, 7]
  const found = await measured([{ values, returns: values, outcome: 'success' }])
  const { below_0, above_1, tokens, bins } = found.calibration
  t.same([below_0, above_1, tokens], [3, 3, 9])
  t.same(
    bins.map(({ from, to, mean_value }) => [from, to, mean_value]),
    values
      .map((v, i) => [i === 0 ? null : i === 8 ? 1.5 : v, i < 7 ? values[i + 1] : null, v])
      .filter((_, i) => i < 7)
      .concat([[1.5, null, 4.25]])
  )
  t.end()
})

t.test('turns: where they begin, what changes over them, which move the value most', async t => {
  const given = [
    { uid: 'a', step: 4, values: [0, 0.5, 0.25, 1, 0.75], returns: flat(0, 5), positions: [2, 3, 7, 8, 9] },
    { uid: 'b', step: 5, values: [1, 0.5, 0.125], returns: flat(0, 3), positions: [0, 4, 5] }
  ]
  const found = await measured(given)
  t.same(
    found.moving_turns.map(({ uid, turn, turns, first_token, tokens, change }) => [uid, turn, turns, first_token, tokens, change]),
    [
      ['a', 0, 2, 0, 2, 0.5],
      ['a', 1, 2, 2, 3, 0.5],
      ['b', 1, 2, 1, 2, -0.375],
      ['b', 0, 2, 0, 1, 0]
    ]
  )
  t.same(
    found.by_turn.from_start.map(({ change, absolute_change }) => [change.value, absolute_change.value]),
    [
      [0.25, 0.25],
      [0.0625, 0.4375]
    ]
  )
  t.same(found.transitions, { boundary: 2, internal: 4 })
  t.equal(found.changes.boundary.mean_abs_change.value, 0.375)
  t.equal(found.changes.internal.mean_abs_change.value, 1.875 / 4)
  t.equal(found.changes.paired.boundary_exceeds.value, 0.5)
  t.end()
})

t.test("the study's own threshold is one of the sweep, and marked", async t => {
  t.same(sweepThresholds(0.1).length, 13)
  t.same(sweepThresholds(0.3), [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10])
  const record = qualityRecord(sampleOf({ values: [0, 0.5, 0.25, 0.5], returns: flat(0) }), {
    successThreshold: 0,
    thresholds: sweepThresholds(0.25)
  })
  const { sweep, changes } = await quality([record], { ...options(10), jumpThreshold: 0.25 })
  t.same(
    sweep.filter(row => row.own).map(row => [row.threshold, row.internal.value]),
    [[0.25, 1 / 3]]
  )
  t.equal(changes.internal.jump_rate.value, 1 / 3, 'strictly above')
  await t.rejects(quality([record], { ...options(10), jumpThreshold: 0.3 }), { message: 'the records have no threshold 0.3' })
  t.end()
})

t.test('float32 arrays give the record of the same numbers in float64', t => {
  const values = Float32Array.of(0.1, 0.2, 0.7)
  const sample = sampleOf({ values: [...values], returns: [0, 1, 1] })
  const narrow = {
    ...sample,
    arrays: { values: Float32Array.from(sample.arrays.values ?? []), returns: Float32Array.from(sample.arrays.returns ?? []) }
  }
  t.same(qualityRecord(narrow, THRESHOLDS), qualityRecord(sample, THRESHOLDS))
  t.end()
})

t.test('the seed moves intervals and no value; a comparison with itself, of one trace and of none', async t => {
  const [, { trajectories }] = rowsOf<QualityCase>('diagnostics/quality')
  const records = recordsOf(trajectories)
  const [a, b] = await Promise.all([0, 1].map(seed => quality(records, { ...options(40), seed })))
  t.equal(a.mse.value, b.mse.value)
  t.not(a.mse.low, b.mse.low)
  t.same(await quality([...records].reverse(), options(40)), a, 'in any order')
  const compared = (left: readonly QualityRecord[], right: readonly QualityRecord[]) =>
    compareQuality(left, right, { ...options(40), samplingOfB: 'not stated' })
  const self = await compared(records, records)
  soundly(t, self, 'itself')
  t.ok(self.pairing.paired)
  t.equal(self.resampling.unit, 'prompt group')
  for (const [pointer, { value, low, high }] of estimatesIn(self).filter(([pointer]) => pointer.endsWith('/difference'))) {
    if (![0, null].includes(value) || ![0, null].includes(low) || ![0, null].includes(high)) t.fail(pointer)
  }
  for (const [left, right] of [
    [records.slice(0, 1), records.slice(0, 1)],
    [records, records.slice(0, 1)],
    [[], records],
    [[], []]
  ]) {
    soundly(t, await compared(left, right), `${left.length} and ${right.length}`)
  }
  const other = qualityRecord(sampleOf({ values: [0], returns: [0] }), { successThreshold: 0, thresholds: sweepThresholds(0.3) })
  await t.rejects(compared(records, [other]), { message: /quality records other thresholds: .* expected one sweep for both critics/ })
  t.equal((await compared(records, records.slice(0, 1))).undefined_reasons['/mse/difference/low'], 'one of the two has nothing to resample')
  t.end()
})

t.test('prompts: a group is of one step, a unit of all; who has no uid is a unit', async t => {
  const one = (uid: string | null, step: number, outcome: Outcome, value: number) => ({
    uid,
    step,
    outcome,
    values: flat(value, 10),
    returns: flat(0, 10)
  })
  const acrossSteps = [one('p', 0, 'success', 0.5), one('p', 1, 'failure', 0.25), one('q', 0, 'success', 0.75), one('q', 1, 'failure', 0.5)]
  const found = await measured(acrossSteps)
  t.same([found.resampling.unit, found.resampling.units], ['prompt group', 2])
  t.equal(found.within_group, 'step', 'no prompt has two trajectories at a step')
  const mixed = [...acrossSteps, one('p', 0, 'failure', 0.5), one(null, 0, 'failure', 0), one(null, 1, 'success', 0)]
  const { within_group, auc_within_group, resampling } = await measured(mixed)
  t.equal(resampling.units, 4)
  t.equal(within_group, 'prompt')
  t.same(auc_within_group[3].value, 0.5, 'the one pair of p at step 0 is tied')
  t.equal(auc_within_group[3].n_trajectories, 2)
  const moved = acrossSteps.map((trajectory, i) => ({ ...trajectory, uid: i === 2 ? 'p' : trajectory.uid }))
  const against = await compareQuality(recordsOf(acrossSteps), recordsOf(moved), { ...options(20), samplingOfB: 'not stated' })
  t.notOk(against.pairing.paired, 'the uids are the same, but not as often')
  t.end()
})

t.test('a mean that rounds to the next whole number takes nothing from a sum of squares', t => {
  const returns = [0, 1, 2, 3].map(x => 2 ** 52 + x)
  const moments = new Float64Array(MOMENTS)
  const same = Float64Array.from(returns)
  sliceMoments(same, same, 0, 4, moments, 0)
  t.same([...moments.subarray(3)], [5, 5, 0])
  t.end()
})

t.test('sums beyond the double range, above and below, leave a statistic undefined', async t => {
  // V = 3 R / 4, so the explained variance is 1 - 1/16 at every scale; of the returns mean R = 1/2, Var R = 3/16
  const scaled = (scale: number) =>
    [
      [1, 1, 0.5, 1],
      [0, 0.5, 0, 0]
    ].flatMap(returns => {
      const one = { returns: returns.map(x => x * scale), values: returns.map(x => 0.75 * x * scale) }
      return [one, one, one, one]
    })
  const undefinedAt = async (scale: number, names: readonly (typeof OF_SQUARES)[number][]) => {
    const found = await measured(scaled(scale))
    for (const name of names) {
      t.same([found[name].value, found[name].low], [null, null], `${name} at ${scale}`)
      t.equal(reasonOf(found, `/${name}/value`), 'a sum leaves the double range', `${name} at ${scale}`)
    }
    t.ok(near((found.mean_return.value ?? 0) / scale, 0.5), 'a mean is in the range')
    return found
  }
  const OF_SQUARES = ['explained_variance', 'explained_variance_by_trajectory', 'correlation', 'mse'] as const
  const { mse } = await undefinedAt(1.3e154, OF_SQUARES.slice(0, 3))
  t.ok(near((mse.value ?? 0) / 1.3e154 / 1.3e154, (1 / 16) * (3 / 16 + 1 / 4)), 'squares of the errors are in the range')
  await undefinedAt(1e-200, OF_SQUARES)
  for (const name of ['explained_variance', 'explained_variance_by_trajectory'] as const)
    t.ok(near((await measured(scaled(1e-100)))[name].value, 15 / 16), name)
  t.end()
})

t.test('drift does not depend on where the steps begin', async t => {
  const [, { trajectories }] = rowsOf<QualityCase>('diagnostics/quality')
  const later = await measured(trajectories.map(one => ({ ...one, step: (one.step ?? 0) + 2 ** 40 })))
  const { drift } = await measured(trajectories)
  for (const name of ['mean_value', 'mean_return', 'bias', 'mse'] as const) t.ok(near(later.drift[name].value, drift[name].value), name)
  t.end()
})

t.test('ratios without a denominator', async t => {
  const still = await measured([{ values: [0.5, 0.5, 0.75], returns: flat(0, 3), positions: [0, 1, 3] }])
  t.equal(reasonOf(still, '/changes/mean_abs_change_ratio/value'), 'the value does not change inside turns')
  t.equal(reasonOf(still, '/changes/jump_rate_ratio/value'), 'no internal jump')
  t.end()
})

t.test('the ten turns that move the value most, the earlier one on a tie', async t => {
  const positions = Array.from({ length: 24 }, (_, i) => 2 * i + (i % 2 === 0 ? 1 : 0))
  const given = [0, 1].map(() => ({ values: positions.map((_, i) => (i % 4 === 1 ? 0.5 : 0)), returns: flat(0, 24), positions }))
  t.same(
    (await measured(given)).moving_turns.map(({ index, turn }) => [index, turn]),
    [0, 2, 4, 6, 8, 10].map(turn => [0, turn]).concat([0, 2, 4, 6].map(turn => [1, turn]))
  )
  t.end()
})
