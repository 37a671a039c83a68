/**
 * The outcome of a trace. Trainers state it as a text, a bool or 0 and 1, or state a score alone: above the study's
 * threshold it is a success, else a failure. The threshold is 0 unless a study says otherwise, as the collector of the traces
 * has it: positive is a success. Where neither is stated the outcome is unknown, and stays so.
 */
import type { Outcome, OutcomeSource, TraceFields } from '../../schema/traces.js'

/** What may stand where an outcome does, for messages. */
export const OUTCOME_FORMS = '"success", "failure", true, false, 1, 0 or null'

export function outcomeOfScore(score: number, successThreshold: number): Outcome {
  return score > successThreshold ? 'success' : 'failure'
}

/** A bool, or a bool's number; null where the number is no outcome. */
export function outcomeOfNumber(value: number): Outcome | null {
  return value === 1 ? 'success' : value === 0 ? 'failure' : null
}

/** The outcome that is stated, else the one that the score tells, and which of them it was. */
export function decideOutcome(
  { outcome, score }: Pick<TraceFields, 'outcome' | 'score'>, successThreshold: number
): { readonly outcome: Outcome | null; readonly outcomeFrom: OutcomeSource | null } {
  if (outcome !== null) return { outcome, outcomeFrom: 'outcome' }
  if (score !== null) return { outcome: outcomeOfScore(score, successThreshold), outcomeFrom: 'score' }
  return { outcome: null, outcomeFrom: null }
}
