/**
 * Statistics of a whole snapshot: the statistics of its traces, reduced in canonical order. Means are over transitions
 * or tokens, never over traces. An undefined quantity is null, with its reason under the same JSON pointer.
 */
import { EXIT, Fault } from '../../core/errors.js'
import type { Outcome } from '../../schema/traces.js'
import type { ChangeStatistics, ExampleStatistics, PooledChanges, SnapshotStatistics, TraceResult } from './contract.js'
import { byStep, meanValues } from './by-step.js'
import { sanityNotes } from './sanity.js'
import type { ChosenExample, ChosenExamples } from './examples.js'
import { countStages, countStated, outcomesPerStep, outcomeSources, scoreAgrees, stepRange } from './stated.js'
import { addPairs, pairValue, ZERO_SUM } from '../../core/sums.js'
import { whyNoMarked } from '../../schema/end-marker.js'

/** A page of traces, a folder with an NPZ file for each, or a trainer's dump. */
export type TraceSourceKind = 'html' | 'npz-folder' | 'dump'

const NO_TIME: Readonly<Record<TraceSourceKind, string>> = {
  html: 'the snapshot states no time',
  'npz-folder': 'NPZ files without a snapshot',
  dump: 'a dump states no time'
}

const ONE_SOURCE: Readonly<Record<TraceSourceKind, string>> = {
  html: 'the page names no NPZ file',
  'npz-folder': 'NPZ files without a page',
  dump: 'a dump without a second one'
}

export interface PooledOptions {
  readonly synthetic: boolean
  /** what states the traces */
  readonly source: TraceSourceKind
  readonly snapshotTime: string | null
  readonly threshold: number
  readonly successThreshold: number
  readonly examples: ChosenExamples
  /** the marker that the study names; without a study, the usual one */
  readonly endMarker: string | null
}

/** @param results in canonical order */
export function snapshotStatistics(results: readonly TraceResult[], options: PooledOptions): SnapshotStatistics {
  const reasons: Record<string, string> = {}
  /** Returns the value. For null it notes the reason. */
  const known = <T>(pointer: string, value: T | null, why: string): T | null => {
    if (value === null) reasons[pointer] = why
    return value
  }
  /** Number of traces for which `holds` is true. Null where there is no trace to look at. */
  const among = (pointer: string, some: readonly TraceResult[], holds: (r: TraceResult) => boolean, why: string): number | null =>
    known(pointer, some.length === 0 ? null : some.filter(holds).length, why)
  const { successThreshold } = options
  const boundary = pool(
    results.map(r => r.statistics.boundary),
    'boundary',
    'no boundary transition',
    reasons
  )
  const internal = pool(
    results.map(r => r.statistics.internal),
    'internal',
    'no internal transition',
    reasons
  )
  const stated = countStated(results)
  const outcomeFrom = outcomeSources(results)
  const compared = results.filter(r => r.compared)
  const outcome = (name: Outcome) => {
    const traces = results.filter(r => r.fields.outcome === name)
    const unknown = results.length > 0 && outcomeFrom.unknown === results.length
    return {
      traces,
      count: known(`/${name}/traces`, unknown ? null : traces.length, NO_OUTCOME),
      none: unknown ? NO_OUTCOME : `no ${name}`
    }
  }
  const success = outcome('success')
  const failure = outcome('failure')
  const bothKinds = results.filter(r => r.statistics.boundaryExceedsInternal !== null)
  return {
    synthetic: options.synthetic,
    verified: compared.length > 0 && compared.length === results.length,
    snapshot_time: known('/snapshot_time', options.snapshotTime, NO_TIME[options.source]),
    traces: results.length,
    tokens: results.reduce((sum, r) => sum + r.statistics.tokens, 0),
    distinct_uids: known(
      '/distinct_uids',
      stated.uid === 0 ? null : new Set(results.flatMap(r => r.fields.uid ?? [])).size,
      'no trace states a uid'
    ),
    steps: known('/steps', stepRange(results), 'no trace states its step'),
    per_step: known(
      '/per_step',
      outcomesPerStep(results),
      stated.step === 0 ? 'no trace states its step' : 'no step at which every outcome is known'
    ),
    threshold: options.threshold,
    success_threshold: successThreshold,
    outcome_from: outcomeFrom,
    stated,
    one_source: results.length - compared.length,
    boundary,
    internal,
    jump_rate_ratio: rateRatio(boundary, internal, reasons),
    traces_with_both_kinds: bothKinds.length,
    traces_boundary_exceeds_internal: among(
      '/traces_boundary_exceeds_internal',
      bothKinds,
      r => r.statistics.boundaryExceedsInternal === true,
      'no trace has both boundary and internal transitions'
    ),
    success: {
      traces: success.count,
      positive_delta: among('/success/positive_delta', success.traces, r => r.statistics.delta > 0, success.none)
    },
    failure: {
      traces: failure.count,
      negative_delta: among('/failure/negative_delta', failure.traces, r => r.statistics.delta < 0, failure.none)
    },
    examples: {
      success: exampleStatistics('success', options.examples.success, reasons),
      failure: exampleStatistics('failure', options.examples.failure, reasons)
    },
    examples_rule: { success: options.examples.success.rule, failure: options.examples.failure.rule },
    mean_values: meanValues(results),
    by_step: byStep(results),
    checks: {
      npz_exactly_equal: known(
        '/checks/npz_exactly_equal',
        compared.length === 0 ? null : compared.length,
        `one source: ${ONE_SOURCE[options.source]}, so nothing was compared`
      ),
      stored_statistics_equal: among(
        '/checks/stored_statistics_equal',
        results.filter(r => r.fields.valueMean !== null && r.fields.valueRmse !== null),
        () => true,
        'no trace stores both its mean and its RMSE'
      ),
      returns_equal_outcome: among(
        '/checks/returns_equal_outcome',
        results.filter(r => r.statistics.returnsEqualOutcome !== null),
        r => r.statistics.returnsEqualOutcome === true,
        NO_OUTCOME
      ),
      score_agrees_with_outcome: among(
        '/checks/score_agrees_with_outcome',
        results.filter(r => scoreAgrees(r, successThreshold) !== null),
        r => scoreAgrees(r, successThreshold) === true,
        'no trace states both its outcome and its score'
      ),
      prediction_stages: known('/checks/prediction_stages', countStages(results), 'no trace states its prediction stage'),
      boundaries_with_end_marker: markedOfAll(results, boundary.transitions, options.endMarker, known)
    },
    notes: sanityNotes(results.map(r => ({ tokens: r.statistics.tokens, boundaries: r.statistics.boundary.transitions, signs: r.signs }))),
    undefined_reasons: reasons
  }
}

const NO_OUTCOME = 'no trace states an outcome or a score'

/** The count covers all boundaries, so it exists only where every trace has texts. */
function markedOfAll(
  results: readonly TraceResult[],
  boundaries: number,
  marker: string | null,
  known: (pointer: string, value: number | null, why: string) => number | null
): number | null {
  const why = whyNoMarked({ marker, traces: results.length, withTexts: results.filter(r => r.spans !== null).length, boundaries })
  const marked = why === null ? results.reduce((sum, r) => sum + (r.boundariesWithMarker ?? 0), 0) : null
  return known('/checks/boundaries_with_end_marker', marked, why ?? '')
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
    boundary.jump_rate === null
      ? 'no boundary transition'
      : internal.jump_rate === null
        ? 'no internal transition'
        : internal.jump_rate === 0
          ? 'no internal jump'
          : null
  if (why !== null) {
    reasons['/jump_rate_ratio'] = why
    return null
  }
  return (boundary.jump_rate as number) / (internal.jump_rate as number)
}

function exampleStatistics(outcome: Outcome, chosen: ChosenExample, reasons: Record<string, string>): ExampleStatistics | null {
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
