/**
 * What a sampling design makes meaningless. A dump does not carry its design: it is told, or not stated. Where trajectories
 * were chosen by their outcome, whatever depends on the share of outcomes describes the choice, not the critic: error, bias,
 * explained variance, reliability and the success rate. Each is given within an outcome, or refused. Ranks between outcomes
 * (AUC), and changes of the value within a trajectory, stay.
 */
import type { SamplingDesign } from '../../../schema/diagnostics.js'
import type { QualityRecord } from './record.js'

export interface Refusals {
  /** of what depends on the share of outcomes; null: given */
  readonly pooled: string | null
  readonly successRate: string | null
}

export function refusalsOf(design: SamplingDesign, records: readonly QualityRecord[]): Refusals {
  const stratified = design === 'stratified by outcome'
  const oneOfEach = 'refused: a sample of one success and one failure a step cannot estimate a success rate'
  return {
    pooled: stratified ? 'refused: the sample is stratified by outcome; by_outcome has what can be said within one' : null,
    successRate:
      design !== 'every trajectory' && isOneOfEach(records)
        ? oneOfEach
        : stratified
          ? 'refused: a sample stratified by outcome cannot estimate a success rate'
          : null
  }
}

/** Every step has exactly one success and one failure, and nothing else. */
function isOneOfEach(records: readonly QualityRecord[]): boolean {
  const steps = new Map<number, { success: number; failure: number }>()
  for (const { step, outcome } of records) {
    if (step === null || outcome === null) return false
    const count = steps.get(step) ?? { success: 0, failure: 0 }
    count[outcome]++
    steps.set(step, count)
  }
  return steps.size > 0 && [...steps.values()].every(({ success, failure }) => success === 1 && failure === 1)
}
