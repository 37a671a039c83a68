/**
 * Checks a snapshot against expectations, which say how one study was sampled. A failed check fails the run only where
 * the study expects it. Elsewhere it is only reported, so that the snapshots of other people load. A check without
 * anything to look at has no count: it is not stated as 0, and it fails only where it is expected. A study that is not
 * synthetic expects a snapshot that is not labelled synthetic.
 */
import { EXIT, Fault, printable, type Place } from '../../core/errors.js'
import { outcomeOfScore } from '../../ingest/traces/outcome.js'
import type { TraceExpectations } from '../../schema/critic-traces.js'
import type { SnapshotStatistics, TraceResult } from './contract.js'
import { outcomesByStep, scoreAgrees } from './stated.js'

export interface CheckReport {
  readonly check: string
  /** true: a failure fails the run */
  readonly expected: boolean
  /** number of passed items among `total`; null where `total` is 0 */
  readonly passed: number | null
  /** number of traces, steps or boundaries that could be checked */
  readonly total: number
  /** number of items of the same kind that lack what the check looks at */
  readonly unstated: number
  /** made when they are asked for: of a check that fails no run nobody asks, and it may fail at every trace */
  readonly faults: () => readonly Fault[]
}

/** What a snapshot is checked against. */
export interface Judge {
  readonly expectations: TraceExpectations
  /** false: expectations are reported only (no study was named) */
  readonly enforced: boolean
  /** the study says that its inputs were generated */
  readonly synthetic: boolean
}

/**
 * Runs all checks over the whole snapshot. `results` and the faults are in canonical order.
 * @param labelledBy what in the snapshot says that it is synthetic, for messages; null where nothing does
 */
export function checkExpectations(
  results: readonly TraceResult[],
  statistics: SnapshotStatistics,
  { expectations, enforced, synthetic }: Judge,
  labelledBy: string | null
): CheckReport[] {
  const sampling = [
    outcomesAsExpected(results, expectations.outcomes_per_step),
    scoreAgainstOutcome(results, statistics.success_threshold, expectations.score_agrees_with_outcome),
    returnsEqualOutcome(results, expectations.returns_equal_outcome),
    predictionStage(results, expectations.prediction_stage),
    endMarkers(results, expectations.boundary_end_marker)
  ]
  const label = enforced ? [syntheticLabel(labelledBy, synthetic)] : []
  const reports = [distinctUids(results, expectations.distinct_uids), ...label, ...sampling]
  return reports.map(r => (enforced ? r : { ...r, expected: false }))
}

/** The faults that fail the run. */
export function failuresOf(reports: readonly CheckReport[]): Fault[] {
  return reports.flatMap(r => (r.expected ? r.faults() : []))
}

function distinctUids(results: readonly TraceResult[], expected: boolean): CheckReport {
  const first = new Map<string, number>()
  return eachTrace(results, 'distinct uids', expected, ({ index, fields: { uid } }) => {
    if (uid === null) return { unstated: true, problem: 'uid not stated', found: 'none', expected: 'a uid of its own' }
    const earlier = first.get(uid)
    if (earlier === undefined) first.set(uid, index)
    return earlier === undefined
      ? null
      : { problem: 'repeated uid', found: `${quote(uid)} also in trace ${earlier}`, expected: 'distinct uids' }
  })
}

/** The faults of the label alone, where no other check is made. */
export function labelFaults({ enforced, synthetic }: Pick<Judge, 'enforced' | 'synthetic'>, labelledBy: string | null): readonly Fault[] {
  return enforced ? syntheticLabel(labelledBy, synthetic).faults() : []
}

/**
 * A study may call data synthetic that do not say so themselves. A study may not call data real that say they are
 * synthetic, because it would hide that.
 */
function syntheticLabel(labelledBy: string | null, study: boolean): CheckReport {
  const denied = labelledBy !== null && !study
  const faults = denied
    ? [expectationFault('synthetic differs', `true in ${printable(labelledBy, 400)}, false in the study`, 'true in the study too', {})]
    : []
  return report('synthetic label', true, { total: 1, passed: 1 - faults.length, unstated: 0 }, () => faults)
}

/** Checks each step. A step with a trace of unknown outcome is left out, and so is a trace without a step. */
function outcomesAsExpected(results: readonly TraceResult[], expected: readonly [number, number] | null): CheckReport {
  const [successes, failures] = expected ?? [1, 1]
  const steps = outcomesByStep(results)
  const known = steps.filter(s => s.unknown === 0)
  const stepless = results.filter(r => r.fields.step === null)
  const holds = known.filter(({ success, failure }) => success === successes && failure === failures)
  const wanted = `${successes} and ${failures}`
  const faults = () => [
    ...steps
      .filter(s => !holds.includes(s))
      .map(({ step, success, failure, unknown }) =>
        expectationFault(
          'outcomes per step',
          `${success} successes and ${failure} failures${unknown === 0 ? '' : `, ${unknown} of unknown outcome`}`,
          wanted,
          { step }
        )
      ),
    ...stepless.map(({ index }) => expectationFault('outcomes per step', 'a trace without step', 'a step', { trace: index }))
  ]
  const unstated = steps.length - known.length + stepless.length
  return report('outcomes per step', expected !== null, { total: known.length, passed: holds.length, unstated }, faults)
}

function scoreAgainstOutcome(
  results: readonly TraceResult[],
  successThreshold: number,
  expected: TraceExpectations['score_agrees_with_outcome']
): CheckReport {
  return eachTrace(results, 'score and outcome', expected !== false, r => {
    const { score, outcome } = r.fields
    const agrees = scoreAgrees(r, successThreshold)
    const number = expected !== 'binary' || outcome === null ? null : outcome === 'success' ? 1 : 0
    if (agrees === true && (number === null || score === number)) return null
    const range = number ?? (outcome === 'success' ? `more than ${successThreshold}` : `at most ${successThreshold}`)
    if (score === null || outcome === null) {
      const known = outcome === null ? 'neither' : `no score, outcome ${outcome}`
      return {
        unstated: true,
        problem: 'score and outcome not stated',
        found: known,
        expected: outcome === null ? 'both' : `a score of ${range}`
      }
    }
    if (agrees === null)
      return { unstated: true, problem: 'score and outcome not stated', found: `score ${score}, no outcome`, expected: 'both' }
    return {
      problem: 'score and outcome disagree',
      found: `score ${score}, outcome ${outcome}`,
      expected: agrees ? `a score of ${range}` : `a score of ${range}, or the outcome ${outcomeOfScore(score, successThreshold)}`
    }
  })
}

function returnsEqualOutcome(results: readonly TraceResult[], expected: boolean): CheckReport {
  return eachTrace(results, 'returns equal outcome', expected, ({ statistics: { returnsEqualOutcome: equal } }) => {
    if (equal === true) return null
    const wanted = 'every return 1 for a success, 0 for a failure'
    return equal === null
      ? { unstated: true, problem: 'returns equal outcome', found: 'an unknown outcome', expected: wanted }
      : { problem: 'returns equal outcome', found: 'a return that differs', expected: wanted }
  })
}

/** @param stage null accepts any stage; the check is then reported and never expected */
function predictionStage(results: readonly TraceResult[], stage: string | null): CheckReport {
  return eachTrace(results, 'prediction stage', stage !== null, ({ fields: { predictionStage: found } }) => {
    const problem = 'prediction stage'
    if (found === null) return { unstated: true, problem, found: 'none', expected: stage === null ? 'one' : quote(stage) }
    return stage === null || found === stage ? null : { problem, found: quote(found), expected: quote(stage) }
  })
}

/** Checks each boundary. Without a marker to look for, no boundary is checked. */
function endMarkers(results: readonly TraceResult[], marker: string | null): CheckReport {
  const counts = { total: 0, passed: 0, unstated: 0 }
  const faults: Fault[] = []
  for (const { index, fields, spans, statistics, boundariesWithMarker: marked } of results) {
    const boundaries = statistics.boundary.transitions
    if (marked === null) counts.unstated += boundaries
    else {
      counts.total += boundaries
      counts.passed += marked
    }
    if (marker === null || marked === boundaries) continue
    const found =
      spans === null ? 'no segment texts' : `span ${spans.endsWithMarker.indexOf(0)} ends otherwise (${marked} of ${boundaries} end so)`
    faults.push(
      expectationFault('end marker missing', found, `${quote(marker)} at the end of every span before a boundary`, placeOf(index, fields))
    )
  }
  return report('end marker', marker !== null, counts, () => faults)
}

interface UnmetExpectation {
  readonly problem: string
  readonly found: string
  readonly expected: string
  /** the trace lacks what the check looks at; a check that is only reported then has no fault, and does not count the trace */
  readonly unstated?: true
}

function eachTrace(
  results: readonly TraceResult[],
  check: string,
  expected: boolean,
  inspect: (r: TraceResult) => UnmetExpectation | null
): CheckReport {
  const unmet: { readonly of: TraceResult; readonly difference: UnmetExpectation }[] = []
  let unstated = 0
  for (const of of results) {
    const difference = inspect(of)
    if (difference === null) continue
    if (difference.unstated === true) unstated++
    unmet.push({ of, difference })
  }
  const faults = () =>
    unmet.map(({ of: { index, fields }, difference: { problem, found, expected: wanted } }) =>
      expectationFault(problem, found, wanted, placeOf(index, fields))
    )
  const total = results.length - unstated
  return report(check, expected, { total, passed: results.length - unmet.length, unstated }, faults)
}

function placeOf(trace: number, { uid, step }: TraceResult['fields']): Place {
  return { trace, ...(uid === null ? {} : { uid }), ...(step === null ? {} : { step }) }
}

function report(
  check: string,
  expected: boolean,
  { total, passed, unstated }: { readonly total: number; readonly passed: number; readonly unstated: number },
  faults: CheckReport['faults']
): CheckReport {
  return { check, expected, passed: total === 0 ? null : passed, total, unstated, faults }
}

function expectationFault(problem: string, found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'snapshot', problem, found, expected, place, exitCode: EXIT.checkFailed })
}

function quote(text: string): string {
  return JSON.stringify(printable(text))
}
