/** Scalar fields of a row: step, outcome, score, uid, truncated, lengths. */
import { Fault, printable, type Place } from '../../core/errors.js'
import { secretFault } from '../../core/secret-guard.js'
import { isSecretText } from '../../core/secrets.js'
import type { Outcome } from '../../schema/traces.js'
import { OUTCOME_FORMS, outcomeOfNumber } from '../traces/outcome.js'
import type { FieldOfRow } from './part.js'

/** Where a row stands, and the first word of its messages. */
export interface RowContext {
  readonly format: string
  readonly place: Place
}

export function rowFault({ format, place }: RowContext, problem: string, found: string, expected: string, more: Place = {}): Fault {
  return new Fault({ format, problem, found, expected, place: { ...place, ...more } })
}

function wrong(context: RowContext, what: string, { name, value }: FieldOfRow, expected: string): Fault {
  const found = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return rowFault(context, `wrong ${what}`, printable(found), expected, { array: name })
}

/** null: the row does not state it */
function numberOf(field: FieldOfRow | null): number | null | undefined {
  const value = field?.value ?? null
  if (value === null) return null
  if (typeof value === 'number') return value
  return typeof value === 'bigint' ? Number(value) : undefined
}

export function integerField(context: RowContext, what: string, field: FieldOfRow | null, least = 0): number | null {
  const x = numberOf(field)
  if (x === null) return null
  if (x !== undefined && Number.isSafeInteger(x) && x >= least) return x
  throw wrong(context, what, field as FieldOfRow, least === 0 ? 'an integer from 0 to 2^53' : 'an integer')
}

export function scoreField(context: RowContext, field: FieldOfRow | null): number | null {
  const value = typeof field?.value === 'boolean' ? Number(field.value) : numberOf(field)
  if (value === null) return null
  if (value !== undefined && Number.isFinite(value)) return value
  throw wrong(context, 'score', field as FieldOfRow, 'a finite number')
}

export function outcomeField(context: RowContext, field: FieldOfRow | null): Outcome | null {
  if (field === null || field.value === null) return null
  const { value } = field
  if (value === 'success' || value === 'failure') return value
  const x = typeof value === 'boolean' ? Number(value) : numberOf(field)
  const outcome = typeof x === 'number' ? outcomeOfNumber(x) : null
  if (outcome === null) throw wrong(context, 'outcome', field, OUTCOME_FORMS)
  return outcome
}

export function flagField(context: RowContext, what: string, field: FieldOfRow | null): boolean | null {
  if (field === null || field.value === null) return null
  const x = typeof field.value === 'boolean' ? Number(field.value) : numberOf(field)
  if (x === 0 || x === 1) return x === 1
  throw wrong(context, what, field, 'true, false, 1 or 0')
}

/**
 * A uid: text, or an integer as its digits. Half a surrogate pair is in no file, and outputs repeat the text, so that a secret is refused here, where its row is known.
 */
export function uidField(context: RowContext, field: FieldOfRow | null): string | null {
  if (field === null || field.value === null) return null
  const { value, name } = field
  const expected = 'text or an integer'
  if (typeof value === 'boolean' || (typeof value === 'number' && !Number.isInteger(value))) throw wrong(context, 'uid', field, expected)
  const text = String(value)
  if (!text.isWellFormed()) throw rowFault(context, 'wrong uid', 'half a surrogate pair', expected, { array: name })
  if (isSecretText(text, 'uid')) throw secretFault(context.format, 'a uid', { ...context.place, array: name })
  return text
}
