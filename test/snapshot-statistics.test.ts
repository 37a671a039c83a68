/** What is made of the traces of a snapshot: counts, pooled changes, examples, checks. Every expected value is worked out by hand. */
import t from 'tap'
import type { TraceColumns, TraceResult } from '../src/compute/traces/contract.js'
import { ExampleCollector } from '../src/compute/traces/examples.js'
import { checkExpectations, type CheckReport } from '../src/compute/traces/expectations.js'
import { snapshotStatistics, type PooledOptions } from '../src/compute/traces/pooled.js'
import { countStages, outcomesByStep, outcomesPerStep, stepRange } from '../src/compute/traces/stated.js'
import { signsOf } from '../src/compute/traces/sanity.js'
import { boundaryIndexes, traceStatistics } from '../src/compute/traces/statistics.js'
import type { TraceExpectations, TraceSelector } from '../src/schema/critic-traces.js'
import type { Outcome } from '../src/schema/traces.js'

interface Given {
  readonly values?: readonly number[]
  readonly positions?: readonly number[]
  readonly outcome?: Outcome | null
  readonly step?: number | null
  readonly uid?: string | null
  readonly stage?: string | null
  readonly jumpThreshold?: number
  readonly spans?: readonly number[]
  readonly marked?: number | null
}

function trace(index: number, given: Given): TraceResult {
  const { values = [0, 0.5], outcome = null, jumpThreshold = 0.5, spans } = given
  const positions = Float64Array.from(given.positions ?? values.map((_, i) => i))
  const array = Float64Array.from(values)
  return {
    index,
    fields: {
      step: given.step ?? null,
      outcome,
      score: null,
      uid: given.uid ?? null,
      predictionStage: given.stage ?? null,
      npz: null,
      valueMean: null,
      valueRmse: null
    },
    outcomeFrom: outcome === null ? null : 'outcome',
    statistics: traceStatistics(array, new Float64Array(array.length), positions, { jumpThreshold, outcome }),
    npz: null,
    compared: false,
    synthetic: false,
    spans: spans === undefined ? null : { count: spans.length, endsWithMarker: Uint8Array.from(spans) },
    sample: null,
    signs: signsOf(array, new Float64Array(array.length), boundaryIndexes(positions)),
    boundariesWithMarker: given.marked ?? null
  }
}

const traces = (...given: readonly Given[]): TraceResult[] => given.map((one, i) => trace(i, one))

function columns({ values = [0, 0.5], positions }: Given): TraceColumns {
  const array = Float64Array.from(values)
  const none = { bytes: new Uint8Array(0), crc32: 0 }
  return {
    values: array,
    returns: new Float64Array(array.length),
    responsePositions: BigInt64Array.from(array, (_, i) => BigInt(i)),
    boundaries: boundaryIndexes(Float64Array.from(positions ?? array.map((_, i) => i))),
    npy: { values: none, returns: none, response_positions: none }
  }
}

type Selectors = Readonly<Record<Outcome, TraceSelector | null>>

const BY_RULE: Selectors = { success: null, failure: null }

function collect(given: readonly Given[], selectors: Selectors, required = false): ExampleCollector {
  const collector = new ExampleCollector(selectors, required)
  given.forEach((one, i) => {
    collector.offer(trace(i, one), columns(one))
  })
  return collector
}

function chosen(given: readonly Given[], selectors: Selectors = BY_RULE): readonly [number | undefined, number | undefined] {
  const { success, failure } = collect(given, selectors).choose()
  return [success.result?.index, failure.result?.index]
}

const pooled = (results: readonly TraceResult[], options: Partial<PooledOptions> = {}) =>
  snapshotStatistics(results, {
    synthetic: false,
    source: 'html',
    snapshotTime: null,
    threshold: 0.5,
    successThreshold: 0,
    examples: new ExampleCollector(BY_RULE, false).choose(),
    endMarker: null,
    ...options
  })

const rising: Given = { values: [0.25, 0.75], outcome: 'success' }
const falling: Given = { values: [0.75, 0.25], outcome: 'failure' }
const level = (outcome: Outcome): Given => ({ values: [0.5, 1, 0.5], outcome })

t.test('a trace that ends at its first value counts neither as risen nor as fallen', t => {
  const results = traces(level('success'), rising, { ...falling, outcome: 'success' }, level('failure'), falling, level('failure'), {
    ...rising,
    outcome: 'failure'
  })
  const { success, failure } = pooled(results)
  t.strictSame(success, { traces: 3, positive_delta: 1 })
  t.strictSame(failure, { traces: 4, negative_delta: 1 })
  t.end()
})

t.test('the example is the trace that rises or falls most, the earlier one on a tie', t => {
  t.strictSame(chosen([rising, { ...rising, values: [0, 0.5] }, falling, { ...falling, values: [0.5, 0] }]), [0, 2])
  t.strictSame(chosen([rising, { ...rising, values: [0, 0.75] }, falling, { ...falling, values: [1, 0.25] }]), [1, 3])
  t.strictSame(chosen([{ ...rising, values: [0, 0.75] }, rising, { ...falling, values: [1, 0.25] }, falling]), [0, 2])
  t.strictSame(chosen([{ values: [0, 9] }, rising]), [1, undefined], 'a trace of unknown outcome is no example')
  t.end()
})

t.test('a study names an example by step, outcome or uid, and its words say so', t => {
  const given: Given[] = [
    { ...rising, step: 1, uid: 'a' },
    { ...rising, values: [0, 0.25], step: 1, uid: 'b' },
    { ...rising, values: [0, 0.25], step: 2, uid: 'b' },
    { ...falling, step: 2, uid: 'b' }
  ]
  const select = (success: TraceSelector, failure: TraceSelector | null = null): Selectors => ({ success, failure })
  t.strictSame(chosen(given, select({ step: 1, uid: 'b' })), [1, 3])
  t.strictSame(chosen(given, select({ step: 2 }, { step: 2 })), [2, 3])
  t.strictSame(chosen(given, select({ outcome: 'failure' }, { outcome: 'success', uid: 'a' })), [3, 0])
  const { success, failure } = collect(given, select({ step: 2, outcome: 'success', uid: 'b' }, { uid: 'c' })).choose()
  t.equal(success.rule, 'named by the study: step 2, outcome success, uid b')
  t.equal(
    failure.rule,
    'the study names uid c, which this snapshot does not hold; ' +
      'by rule: the failure whose value falls most from first to last token, the earlier trace on a tie'
  )
  t.throws(() => collect(given, select({ step: 1 })), {
    message:
      'study success example is ambiguous: traces 0 and 1 match step 1, expected exactly one trace: examples.success of the study with more of step, outcome and uid',
    exitCode: 1
  })
  t.throws(() => collect(given, select({ step: 3 }), true).choose(), {
    message:
      'study success example is missing: no trace with step 3, expected exactly one, or no examples.success in the study: the rule then chooses',
    exitCode: 1
  })
  const { success: none } = collect([{}, {}, falling], BY_RULE).choose()
  t.equal(none.rule, 'the snapshot holds no known success; the outcome of 2 traces is unknown')
  t.equal(collect([falling], BY_RULE).choose().success.rule, 'the snapshot holds no success')
  t.end()
})

t.test('changes are pooled over transitions, never over traces', t => {
  // changes of the first trace: 1 inside, -0.5 at a boundary; of the second: 0 inside, 1 at a boundary, -0.25 inside
  const given: Given[] = [
    { values: [0, 1, 0.5], positions: [1, 2, 4] },
    { values: [0.25, 0.25, 1.25, 1], positions: [1, 2, 5, 6] }
  ]
  const { boundary, internal, jump_rate_ratio, undefined_reasons } = pooled(traces(...given))
  t.strictSame(boundary, { transitions: 2, mean_abs_change: 1.5 / 2, jumps: 1, jump_rate: 1 / 2 }, 'a change of the threshold is no jump')
  t.strictSame(internal, { transitions: 3, mean_abs_change: 1.25 / 3, jumps: 1, jump_rate: 1 / 3 })
  t.equal(jump_rate_ratio, 1.5)
  t.notOk('/jump_rate_ratio' in undefined_reasons)

  const lower = pooled(traces(...given.map(one => ({ ...one, jumpThreshold: 0.125 }))))
  t.strictSame([lower.boundary.jumps, lower.internal.jumps, lower.jump_rate_ratio], [2, 2, 1.5])

  const calm = pooled(traces({ values: [0, 0.25, 1.25], positions: [1, 2, 4] }))
  t.equal(calm.jump_rate_ratio, null)
  t.equal(calm.undefined_reasons['/jump_rate_ratio'], 'no internal jump')

  const restless = pooled(traces({ values: [0, 1, 2], positions: [1, 2, 4] }))
  t.equal(restless.jump_rate_ratio, 1, 'every transition of both kinds is a jump')

  const one = pooled(traces({ values: [1], positions: [1] }))
  t.strictSame(one.boundary, { transitions: 0, mean_abs_change: null, jumps: 0, jump_rate: null })
  t.strictSame(one.internal, { transitions: 0, mean_abs_change: null, jumps: 0, jump_rate: null })
  t.equal(one.undefined_reasons['/boundary/mean_abs_change'], 'no boundary transition')
  t.equal(one.undefined_reasons['/internal/jump_rate'], 'no internal transition')
  t.end()
})

t.test('steps are counted in ascending order; those with an unknown outcome give no range', t => {
  const at = (step: number | null, outcome: Outcome | null): Given => ({ step, outcome })
  const results = traces(
    at(30, 'success'),
    at(2, 'failure'),
    at(30, 'failure'),
    at(10, null),
    at(2, 'failure'),
    at(null, 'success'),
    at(30, 'success'),
    at(30, 'success'),
    at(10, 'failure'),
    at(2, 'success')
  )
  t.strictSame(outcomesByStep(results), [
    { step: 2, success: 1, failure: 2, unknown: 0 },
    { step: 10, success: 0, failure: 1, unknown: 1 },
    { step: 30, success: 3, failure: 1, unknown: 0 }
  ])
  t.strictSame(outcomesPerStep(results), { success: [1, 3], failure: [1, 2] })
  t.strictSame(stepRange(results), [2, 30])
  t.equal(outcomesPerStep(traces(at(10, null))), null)
  t.equal(stepRange(traces(at(null, 'success'))), null)
  t.end()
})

t.test('prediction stages are counted in the order of their names', t => {
  const counts = countStages(traces({ stage: 'b' }, { stage: 'c' }, {}, { stage: 'a' }, { stage: 'b' }))
  t.equal(JSON.stringify(counts), '{"a":1,"b":2,"c":1}')
  t.equal(countStages(traces({})), null)
  t.end()
})

const NOTHING: TraceExpectations = {
  distinct_uids: false,
  outcomes_per_step: null,
  score_agrees_with_outcome: false,
  returns_equal_outcome: false,
  prediction_stage: null,
  boundary_end_marker: null
}

/** One check: expected, passed, total, unstated, then the messages of its faults. */
function check(name: string, results: readonly TraceResult[], expectations: Partial<TraceExpectations>): ReadonlyArray<unknown> {
  const judge = { expectations: { ...NOTHING, ...expectations }, enforced: true, synthetic: true }
  const report = checkExpectations(results, pooled(results), judge, 'the page').find(r => r.check === name) as CheckReport
  return [report.expected, report.passed, report.total, report.unstated, ...report.faults().map(fault => fault.message)]
}

t.test('a check counts what it can look at, and says what differs', t => {
  const steps = traces(
    { step: 1, outcome: 'success' },
    { step: 1, outcome: 'failure' },
    { step: 2, outcome: 'success' },
    { step: 3, outcome: null },
    { outcome: 'failure' }
  )
  t.strictSame(check('outcomes per step', steps, { outcomes_per_step: [1, 1] }), [
    true,
    1,
    2,
    2,
    'snapshot outcomes per step: 1 successes and 0 failures, expected 1 and 1 (step 2)',
    'snapshot outcomes per step: 0 successes and 0 failures, 1 of unknown outcome, expected 1 and 1 (step 3)',
    'snapshot outcomes per step: a trace without step, expected a step (trace 4)'
  ])

  const stages = traces({ stage: 'post' }, {}, { stage: 'pre' })
  t.strictSame(check('prediction stage', stages, {}), [false, 2, 2, 1, 'snapshot prediction stage: none, expected one (trace 1)'])
  t.strictSame(check('prediction stage', stages, { prediction_stage: 'post' }), [
    true,
    1,
    2,
    1,
    'snapshot prediction stage: none, expected "post" (trace 1)',
    'snapshot prediction stage: "pre", expected "post" (trace 2)'
  ])

  const turns: Given = { values: [0, 0, 0], positions: [1, 3, 5] }
  const spans = traces({ ...turns, spans: [1, 1, 0], marked: 2 }, { ...turns, spans: [1, 0, 1], marked: 1 }, turns)
  const wanted = 'expected "<end>" at the end of every span before a boundary'
  t.strictSame(check('end marker', spans, { boundary_end_marker: '<end>' }), [
    true,
    3,
    4,
    2,
    `snapshot end marker missing: span 1 ends otherwise (1 of 2 end so), ${wanted} (trace 1)`,
    `snapshot end marker missing: no segment texts, ${wanted} (trace 2)`
  ])
  t.end()
})

t.test('only a study that calls synthetic data real fails for their label', t => {
  const results = traces(rising)
  const label = (labelledBy: string | null, synthetic: boolean): ReadonlyArray<unknown> => {
    const judge = { expectations: NOTHING, enforced: true, synthetic }
    const report = checkExpectations(results, pooled(results), judge, labelledBy).find(r => r.check === 'synthetic label') as CheckReport
    return [report.expected, report.passed, report.total, ...report.faults().map(fault => fault.message)]
  }
  t.strictSame(label('the page', true), [true, 1, 1])
  t.strictSame(label(null, true), [true, 1, 1])
  t.strictSame(label(null, false), [true, 1, 1])
  t.strictSame(label('the page', false), [
    true,
    0,
    1,
    'snapshot synthetic differs: true in the page, false in the study, expected true in the study too'
  ])
  t.end()
})
