/**
 * What a snapshot should look like. Distinct uids are integrity and always fail; the rest is how one study was sampled:
 * failed where the study expects it, only reported elsewhere, so that other people's snapshots load. A study that is not
 * synthetic expects that its snapshot does not say that it is.
 */
import { EXIT, Fault, printable } from '../errors.js'
import type { TraceExpectations } from '../schema.js'
import type { SnapshotStatistics, TraceResult } from './contract.js'
import { outcomesByStep } from './pooled.js'

export interface CheckReport {
  readonly check: string
  /** true: a failure fails the run */
  readonly expected: boolean
  readonly passed: number
  readonly total: number
  readonly faults: readonly Fault[]
}

/** What judges a snapshot. */
export interface Judge {
  readonly expectations: TraceExpectations
  /** false: expectations are reported only (no study was named) */
  readonly enforced: boolean
  /** the study says that its inputs were generated */
  readonly synthetic: boolean
}

/**
 * All checks over the whole snapshot. `results` in canonical order; faults come in that order too.
 * @param labelledBy what of the snapshot says that it is synthetic, for messages; null: nothing
 */
export function checkExpectations(
  results: readonly TraceResult[],
  statistics: SnapshotStatistics,
  { expectations, enforced, synthetic }: Judge,
  labelledBy: string | null
): CheckReport[] {
  const sampling = [
    outcomesPerStep(results, expectations.outcomes_per_step),
    eachTrace(results, 'returns equal outcome', expectations.returns_equal_outcome, r =>
      r.statistics.returnsEqualOutcome === true
        ? null
        : { found: 'a return that differs', expected: 'every return 1 for a success, 0 for a failure' }
    ),
    eachTrace(results, 'prediction stage', expectations.prediction_stage !== null, r => {
      const { predictionStage } = r.fields
      if (expectations.prediction_stage === null) return predictionStage === null ? { found: 'none', expected: 'one' } : null
      return predictionStage === expectations.prediction_stage
        ? null
        : { found: quote(predictionStage), expected: quote(expectations.prediction_stage) }
    }),
    endMarkers(results, statistics, expectations.boundary_end_marker)
  ]
  const label = enforced ? [syntheticLabel(labelledBy, synthetic)] : []
  return [distinctUids(results), ...label, ...sampling.map(r => (enforced ? r : { ...r, expected: false }))]
}

/** The faults that fail a run. */
export function failuresOf(reports: readonly CheckReport[]): Fault[] {
  return reports.flatMap(r => (r.expected ? r.faults : []))
}

function distinctUids(results: readonly TraceResult[]): CheckReport {
  const first = new Map<string, number>()
  const faults: Fault[] = []
  for (const { index, fields } of results) {
    if (fields.uid === null) continue
    const earlier = first.get(fields.uid)
    if (earlier === undefined) first.set(fields.uid, index)
    else {
      faults.push(
        fault('repeated uid', `${quote(fields.uid)} also in trace ${earlier}`, 'distinct uids', { trace: index })
      )
    }
  }
  return report('distinct uids', true, results.length, faults)
}

/** A study may know of generated data that do not say so themselves; one that denies what they say would hide it. */
function syntheticLabel(labelledBy: string | null, study: boolean): CheckReport {
  const denied = labelledBy !== null && !study
  const faults = denied ? [fault('synthetic differs', `true in ${printable(labelledBy, 400)}, false in the study`, 'true in the study too', {})] : []
  return report('synthetic label', true, 1, faults)
}

function outcomesPerStep(results: readonly TraceResult[], expected: readonly [number, number] | null): CheckReport {
  const [successes, failures] = expected ?? [1, 1]
  const steps = outcomesByStep(results)
  const faults: Fault[] = []
  for (const { step, success, failure } of steps) {
    if (success === successes && failure === failures) continue
    faults.push(
      fault(
        'outcomes per step',
        `${success} successes and ${failure} failures`,
        `${successes} and ${failures}`,
        { step }
      )
    )
  }
  for (const { index, fields } of results) {
    if (fields.step === null) faults.push(fault('outcomes per step', 'a trace without step', 'a step', { trace: index }))
  }
  const unplaced = results.filter(r => r.fields.step === null).length
  return report('outcomes per step', expected !== null, steps.length + unplaced, faults)
}

function endMarkers(results: readonly TraceResult[], statistics: SnapshotStatistics, marker: string | null): CheckReport {
  const total = statistics.boundary.transitions
  if (marker === null) return { check: 'end marker', expected: false, passed: 0, total, faults: [] }
  const faults: Fault[] = []
  for (const r of results) {
    const boundaries = r.statistics.boundary.transitions
    if (r.boundariesWithMarker === boundaries) continue
    const span = r.spans === null ? -1 : r.spans.endsWithMarker.indexOf(0)
    faults.push(
      fault(
        'end marker missing',
        r.spans === null ? 'no segment texts' : `span ${span} ends otherwise (${r.boundariesWithMarker} of ${boundaries} end so)`,
        `${quote(marker)} at the end of every span before a boundary`,
        { trace: r.index }
      )
    )
  }
  const passed = results.reduce((sum, r) => sum + (r.boundariesWithMarker ?? 0), 0)
  return { check: 'end marker', expected: true, passed, total, faults }
}

function eachTrace(
  results: readonly TraceResult[],
  check: string,
  expected: boolean,
  inspect: (r: TraceResult) => { found: string; expected: string } | null
): CheckReport {
  const faults: Fault[] = []
  for (const r of results) {
    const difference = inspect(r)
    if (difference !== null) faults.push(fault(check, difference.found, difference.expected, { trace: r.index }))
  }
  return report(check, expected, results.length, faults)
}

function report(check: string, expected: boolean, total: number, faults: readonly Fault[]): CheckReport {
  return { check, expected, passed: total - faults.length, total, faults }
}

function fault(problem: string, found: string, expected: string, place: { trace?: number; step?: number }): Fault {
  return new Fault({ format: 'snapshot', problem, found, expected, place, exitCode: EXIT.checkFailed })
}

function quote(text: string | null): string {
  return text === null ? 'none' : JSON.stringify(printable(text))
}
