/**
 * Statistics of a whole snapshot: the traces' own, reduced in canonical order. Means are over transitions (or tokens),
 * not over traces. What is undefined is null, with its reason under the same JSON pointer.
 */
import { EXIT, Fault } from '../errors.js'
import type { Outcome } from '../schema.js'
import type {
  ChangeStatistics,
  ExampleStatistics,
  PooledChanges,
  SnapshotStatistics,
  TraceResult
} from './contract.js'
import type { ChosenExample, ChosenExamples } from './examples.js'
import { addPairs, pairValue, ZERO_SUM } from './sums.js'

export interface PooledOptions {
  readonly synthetic: boolean
  readonly verified: boolean
  readonly snapshotTime: string | null
  readonly threshold: number
  readonly examples: ChosenExamples
  /** true when the study names an end marker and the snapshot has texts */
  readonly endMarkerChecked: boolean
}

/** `results` in canonical order. */
export function snapshotStatistics(results: readonly TraceResult[], options: PooledOptions): SnapshotStatistics {
  const reasons: Record<string, string> = {}
  const boundary = pool(results.map(r => r.statistics.boundary), 'boundary', 'no boundary transition', reasons)
  const internal = pool(results.map(r => r.statistics.internal), 'internal', 'no internal transition', reasons)
  const of = (outcome: Outcome) => results.filter(r => r.fields.outcome === outcome)
  const success = of('success')
  const failure = of('failure')
  const steps = stepRange(results)
  if (steps === null) reasons['/steps'] = 'no trace states its step'
  const perStep = outcomesPerStep(results)
  if (perStep === null) reasons['/per_step'] = 'no trace states its step'
  if (options.snapshotTime === null) {
    reasons['/snapshot_time'] = options.verified ? 'the snapshot states no time' : 'NPZ files without a snapshot'
  }
  if (!options.verified) {
    for (const key of ['npz_exactly_equal', 'stored_statistics_equal']) {
      reasons[`/checks/${key}`] = 'NPZ files without a snapshot: there is nothing to compare them with'
    }
  }
  if (!options.endMarkerChecked) {
    reasons['/checks/boundaries_with_end_marker'] = 'no end marker is named, or there are no span texts'
  }
  return {
    synthetic: options.synthetic,
    verified: options.verified,
    snapshot_time: options.snapshotTime,
    traces: results.length,
    tokens: results.reduce((sum, r) => sum + r.statistics.tokens, 0),
    distinct_uids: new Set(results.map(r => r.fields.uid).filter(uid => uid !== null)).size,
    steps,
    per_step: perStep,
    threshold: options.threshold,
    boundary,
    internal,
    jump_rate_ratio: rateRatio(boundary, internal, reasons),
    traces_boundary_exceeds_internal: results.filter(r => r.statistics.boundaryExceedsInternal === true).length,
    success: { traces: success.length, positive_delta: success.filter(r => r.statistics.delta > 0).length },
    failure: { traces: failure.length, negative_delta: failure.filter(r => r.statistics.delta < 0).length },
    examples: {
      success: exampleStatistics('success', options.examples.success, reasons),
      failure: exampleStatistics('failure', options.examples.failure, reasons)
    },
    examples_rule: { success: options.examples.success.rule, failure: options.examples.failure.rule },
    checks: {
      npz_exactly_equal: options.verified ? results.length : null,
      stored_statistics_equal: options.verified ? results.length : null,
      returns_equal_outcome: results.filter(r => r.statistics.returnsEqualOutcome === true).length,
      prediction_stages: countStages(results),
      boundaries_with_end_marker: options.endMarkerChecked
        ? results.reduce((sum, r) => sum + (r.boundariesWithMarker ?? 0), 0)
        : null
    },
    undefined_reasons: reasons
  }
}

function pool(
  changes: readonly ChangeStatistics[],
  name: 'boundary' | 'internal',
  whyUndefined: string,
  reasons: Record<string, string>
): PooledChanges {
  let sum = ZERO_SUM
  let transitions = 0
  let jumps = 0
  for (const c of changes) {
    sum = addPairs(sum, { high: c.sumAbs, low: c.sumAbsLow })
    transitions += c.transitions
    jumps += c.jumps
  }
  if (transitions === 0) {
    reasons[`/${name}/mean_abs_change`] = whyUndefined
    reasons[`/${name}/jump_rate`] = whyUndefined
    return { transitions, mean_abs_change: null, jumps, jump_rate: null }
  }
  const mean = pairValue(sum) / transitions
  if (!Number.isFinite(mean)) {
    throw new Fault({
      format: 'snapshot',
      problem: `pooled ${name} mean |change| overflows`,
      found: 'a sum beyond the double range',
      expected: 'smaller values',
      exitCode: EXIT.checkFailed
    })
  }
  return { transitions, mean_abs_change: mean, jumps, jump_rate: jumps / transitions }
}

function rateRatio(boundary: PooledChanges, internal: PooledChanges, reasons: Record<string, string>): number | null {
  const why =
    boundary.jump_rate === null ? 'no boundary transition'
    : internal.jump_rate === null ? 'no internal transition'
    : internal.jump_rate === 0 ? 'no internal jump'
    : null
  if (why !== null) {
    reasons['/jump_rate_ratio'] = why
    return null
  }
  return (boundary.jump_rate as number) / (internal.jump_rate as number)
}

function stepRange(results: readonly TraceResult[]): readonly [number, number] | null {
  let first = Infinity
  let last = -Infinity
  for (const { fields } of results) {
    if (fields.step === null) continue
    first = Math.min(first, fields.step)
    last = Math.max(last, fields.step)
  }
  return first === Infinity ? null : [first, last]
}

/** Successes and failures of every step that occurs, by ascending step. */
export function outcomesByStep(results: readonly TraceResult[]): Array<{ step: number; success: number; failure: number }> {
  const counts = new Map<number, { step: number; success: number; failure: number }>()
  for (const { fields } of results) {
    if (fields.step === null) continue
    const count = counts.get(fields.step) ?? { step: fields.step, success: 0, failure: 0 }
    if (fields.outcome !== null) count[fields.outcome]++
    counts.set(fields.step, count)
  }
  return [...counts.values()].sort((a, b) => a.step - b.step)
}

function outcomesPerStep(results: readonly TraceResult[]): SnapshotStatistics['per_step'] {
  const counts = outcomesByStep(results)
  if (counts.length === 0) return null
  const range = (outcome: Outcome): readonly [number, number] => {
    let fewest = Infinity
    let most = 0
    for (const c of counts) {
      fewest = Math.min(fewest, c[outcome])
      most = Math.max(most, c[outcome])
    }
    return [fewest, most]
  }
  return { success: range('success'), failure: range('failure') }
}

function countStages(results: readonly TraceResult[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { fields } of results) {
    if (fields.predictionStage === null) continue
    counts.set(fields.predictionStage, (counts.get(fields.predictionStage) ?? 0) + 1)
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function exampleStatistics(
  outcome: Outcome,
  chosen: ChosenExample,
  reasons: Record<string, string>
): ExampleStatistics | null {
  if (chosen.result === null) {
    reasons[`/examples/${outcome}`] = chosen.rule
    return null
  }
  const { index, fields, statistics } = chosen.result
  if (statistics.firstHalfMean === null) {
    reasons[`/examples/${outcome}/first_half_mean`] = 'a trace of one token has an empty first half'
  }
  if (statistics.maxBoundaryJump === null) {
    reasons[`/examples/${outcome}/max_boundary_jump`] = 'no boundary transition'
  }
  return {
    index,
    uid: fields.uid,
    step: fields.step,
    tokens: statistics.tokens,
    mean: statistics.mean,
    first: statistics.firstValue,
    last: statistics.lastValue,
    delta: statistics.delta,
    first_half_mean: statistics.firstHalfMean,
    second_half_mean: statistics.secondHalfMean,
    max_boundary_jump: statistics.maxBoundaryJump
  }
}
