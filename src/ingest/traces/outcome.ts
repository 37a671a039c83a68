/**
 * The outcome of a trace. Trainers state it as a text, a bool or 0 and 1, or state a score alone. A score above the
 * study's threshold is a success, any other a failure. The threshold is 0 unless the study sets one, as in the collector
 * of the traces: a positive score is a success. A trace with neither has an unknown outcome.
 */
import type { Outcome, OutcomeSource, TraceFields } from '../../schema/traces.js'

/** The accepted forms of an outcome, for messages. */
export const OUTCOME_FORMS = '"success", "failure", true, false, 1, 0 or null'

export function outcomeOfScore(score: number, successThreshold: number): Outcome {
  return score > successThreshold ? 'success' : 'failure'
}

/** The outcome of a bool, or of 0 or 1; null for any other number. */
export function outcomeOfNumber(value: number): Outcome | null {
  return value === 1 ? 'success' : value === 0 ? 'failure' : null
}

/** The stated outcome, else the one that the score gives, and which of the two it is. */
export function decideOutcome(
  { outcome, score }: Pick<TraceFields, 'outcome' | 'score'>,
  successThreshold: number
): { readonly outcome: Outcome | null; readonly outcomeFrom: OutcomeSource | null } {
  if (outcome !== null) return { outcome, outcomeFrom: 'outcome' }
  if (score !== null) return { outcome: outcomeOfScore(score, successThreshold), outcomeFrom: 'score' }
  return { outcome: null, outcomeFrom: null }
}
