/**
 * Counts what the traces of a snapshot state about themselves. Every field may be missing. The count of something that
 * no trace states is null, never 0.
 */
import { outcomeOfScore } from '../../ingest/traces/outcome.js'
import type { Outcome } from '../../schema/traces.js'
import type { SnapshotStatistics, TraceResult } from './contract.js'

/** Number of traces that state each optional field. */
export function countStated(results: readonly TraceResult[]): SnapshotStatistics['stated'] {
  const count = (states: (r: TraceResult) => unknown): number => results.filter(r => states(r) !== null).length
  return {
    step: count(r => r.fields.step),
    score: count(r => r.fields.score),
    uid: count(r => r.fields.uid),
    prediction_stage: count(r => r.fields.predictionStage),
    npz: count(r => r.npz),
    value_mean: count(r => r.fields.valueMean),
    value_rmse: count(r => r.fields.valueRmse),
    segment_texts: count(r => r.spans)
  }
}

export function outcomeSources(results: readonly TraceResult[]): SnapshotStatistics['outcome_from'] {
  const count = (source: TraceResult['outcomeFrom']): number => results.filter(r => r.outcomeFrom === source).length
  return { outcome: count('outcome'), score: count('score'), unknown: count(null) }
}

/** Whether the score gives the stated outcome. Null where the trace does not state both. */
export function scoreAgrees({ fields, outcomeFrom }: TraceResult, successThreshold: number): boolean | null {
  if (outcomeFrom !== 'outcome' || fields.score === null) return null
  return outcomeOfScore(fields.score, successThreshold) === fields.outcome
}

interface StepOutcomes {
  readonly step: number
  success: number
  failure: number
  unknown: number
}

/** Number of traces by outcome at each step that occurs, in ascending order of steps. */
export function outcomesByStep(results: readonly TraceResult[]): StepOutcomes[] {
  const counts = new Map<number, StepOutcomes>()
  for (const { fields } of results) {
    if (fields.step === null) continue
    const count = counts.get(fields.step) ?? { step: fields.step, success: 0, failure: 0, unknown: 0 }
    count[fields.outcome ?? 'unknown']++
    counts.set(fields.step, count)
  }
  return [...counts.values()].sort((a, b) => a.step - b.step)
}

/**
 * Fewest and most traces of each outcome at one step, over the steps at which every outcome is known. Null where there
 * is no such step.
 */
export function outcomesPerStep(results: readonly TraceResult[]): SnapshotStatistics['per_step'] {
  const counts = outcomesByStep(results).filter(c => c.unknown === 0)
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

/** First and last step; null where no trace states one. */
export function stepRange(results: readonly TraceResult[]): readonly [number, number] | null {
  let first = Infinity
  let last = -Infinity
  for (const { fields } of results) {
    if (fields.step === null) continue
    first = Math.min(first, fields.step)
    last = Math.max(last, fields.step)
  }
  return first === Infinity ? null : [first, last]
}

/** Number of traces by prediction stage. Null where no trace states one. */
export function countStages(results: readonly TraceResult[]): Record<string, number> | null {
  const counts = new Map<string, number>()
  for (const { fields } of results) {
    if (fields.predictionStage === null) continue
    counts.set(fields.predictionStage, (counts.get(fields.predictionStage) ?? 0) + 1)
  }
  return counts.size === 0 ? null : Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}
