/**
 * The advantages inside turns. A_raw[t] = delta[t] + gamma lambda_A A_raw[t+1] with delta[t] = r[t] + gamma V[t+1] - V[t], and
 * stored ones may be whitened, A = (A_raw - mean) / sigma. So inside turns
 * `A[t] = delta[t] / sigma + gamma lambda_A A[t+1] + constant` holds, with one sigma and constant in each group that was whitened.
 */
import type { SampleNumbers } from '../../../schema/samples.js'
import { type Form, RelationRows } from './form.js'
import { insideTransitions, ROUNDINGS } from './inside.js'
import { SINGLE } from './precision.js'
import type { AuditView } from './view.js'

/**
 * A sample is cut by position, to see groups inside it: halves and quarters end where eighths end. A short one is cut into
 * quarters, which have more rows.
 */
const SEGMENTS = 8
const SHORT_SEGMENTS = 4
const SHORT = 128

/** Columns: V[t+1], V[t], A[t+1], 1, r[t], -kl[t]; y = A[t]. */
export interface AdvantageForms {
  readonly total: Form | null
  /** eighths or quarters, where the sample as a whole does not follow one relation or is short */
  readonly segments: readonly (Form | null)[] | null
  /** with V[t+2], V[t+1] in place of V[t+1], V[t], and with V[t], V[t-1]: values off by one */
  readonly late: Form | null
  readonly early: Form | null
}

function rowsOf(view: AuditView, values: SampleNumbers, advantages: SampleNumbers, inside: Int32Array, shift: number): RelationRows {
  const rows = new RelationRows(6, inside.length)
  const { rewards, kl } = view
  const data = rows.data
  for (const k of inside) {
    const i = view.at[k]
    // a value beside the turn may belong to a masked token
    if (shift > 0 && view.positions[k + 2] !== view.positions[k] + 2) continue
    if (shift < 0 && view.positions[k - 1] !== view.positions[k] - 1) continue
    const o = rows.offset
    data[o] = advantages[i]
    data[o + 1] = values[i + 1 + shift]
    data[o + 2] = values[i + shift]
    data[o + 3] = advantages[i + 1]
    data[o + 4] = 1
    data[o + 5] = rewards === null ? 0 : rewards[i]
    data[o + 6] = kl === null ? 0 : -kl[i]
    rows.commit(view.positions[k])
  }
  return rows
}

/** Rows beside a cut would join two groups, and trainers round it down or up: rows that touch it are left out. */
function segmentForms(view: AuditView, rows: RelationRows): (Form | null)[] {
  const T = view.positions.length === 0 ? 1 : view.whole ? view.length : view.positions[view.positions.length - 1] + 1
  const beside = Math.max(1, Math.min(3, Math.floor(T / 64)))
  const parts = T < SHORT ? SHORT_SEGMENTS : SEGMENTS
  return Array.from({ length: parts }, (_, segment) => {
    const from = Math.ceil((segment * T) / parts)
    const to = Math.floor(((segment + 1) * T) / parts)
    return rows.form(row => {
      const t = rows.token(row)
      return t >= from + beside - 1 && t + beside < to
    })
  })
}

export function advantageForms(view: AuditView, scale: number): AdvantageForms {
  const { values, advantages } = view
  if (values === null || advantages === null || !view.whole) return { total: null, segments: null, late: null, early: null }
  const inside = insideTransitions(view)
  const rows = rowsOf(view, values, advantages, inside, 0)
  const total = rows.form()
  const proven = total === null || (total.n >= 32 && total.max <= ROUNDINGS * SINGLE * scale * Math.max(1, Math.abs(total.own[1])))
  if (proven) return { total, segments: null, late: null, early: null }
  return {
    total,
    segments: segmentForms(view, rows),
    late: rowsOf(view, values, advantages, inside, 1).form(),
    early: rowsOf(view, values, advantages, inside, -1).form()
  }
}
