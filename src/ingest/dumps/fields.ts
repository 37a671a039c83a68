/** Scalar fields of every row of a dump: step, outcome, score, uid, truncated. Each column is small: one entry a row. */
import { Fault, printable, type Place } from '../../core/errors.js'
import type { SampleFields } from '../../schema/samples.js'
import { OUTCOME_FORMS, outcomeOfNumber } from '../traces/outcome.js'
import type { Outcome } from '../../schema/traces.js'

/** One entry a row, or one entry for all rows. Null: the dump does not have it. */
export type FieldColumn = ArrayLike<number> | readonly string[] | null

export interface FieldColumns {
  readonly step: FieldColumn
  readonly outcome: FieldColumn
  readonly score: FieldColumn
  readonly uid: FieldColumn
  readonly truncated: FieldColumn
}

/** @param place names the file; a fault gets the row and the field */
export function rowFields(columns: FieldColumns, row: number, format: string, place: Place): SampleFields {
  const at = (field: keyof FieldColumns): number | string | null => {
    const column = columns[field]
    if (column === null) return null
    return column[column.length === 1 ? 0 : row]
  }
  const wrong = (field: string, found: string | number, expected: string): Fault =>
    new Fault({
      format,
      problem: `wrong ${field}`,
      found: printable(String(found)),
      expected,
      place: { ...place, trace: row, array: field }
    })
  const numberAt = (field: 'step' | 'score' | 'truncated', expected: string, holds: (x: number) => boolean): number | null => {
    const x = at(field)
    if (x === null) return null
    if (typeof x === 'string' || !holds(x)) throw wrong(field, x, expected)
    return x
  }
  const uid = at('uid')
  const truncated = numberAt('truncated', '0 or 1', x => x === 0 || x === 1)
  return {
    step: numberAt('step', 'an integer', Number.isSafeInteger),
    outcome: outcomeAt(at('outcome'), wrong),
    score: numberAt('score', 'a finite number', Number.isFinite),
    uid: uid === null ? null : String(uid),
    truncated: truncated === null ? null : truncated === 1,
    rank: null
  }
}

function outcomeAt(x: number | string | null, wrong: (field: string, found: string | number, expected: string) => Fault): Outcome | null {
  if (x === null) return null
  if (x === 'success' || x === 'failure') return x
  const outcome = typeof x === 'number' ? outcomeOfNumber(x) : null
  if (outcome === null) throw wrong('outcome', x, OUTCOME_FORMS)
  return outcome
}
