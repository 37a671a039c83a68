/**
 * The returns inside turns. Between two tokens of one turn, GAE with R = A + V says
 * `R[t] = gamma (1 - lambda) V[t+1] + gamma lambda R[t+1] + r[t]`, whatever the rule for masked tokens (Schulman et al. 2015,
 * arXiv 1506.02438). The rows of that relation become a form; where a sample does not follow it, or is too short to tell, the
 * rows of its known alternatives too: values off by one, rewards off by one, values of a neighbouring sample.
 */
import type { SampleNumbers } from '../../../schema/samples.js'
import { type Form, Rows } from './form.js'
import { SINGLE } from './precision.js'
import type { View } from './view.js'

/** Residuals up to this many roundings are rounding: an estimate is made of about eight operations. */
export const ROUNDINGS = 16
/** A sample with fewer rows says little by itself. */
const ENOUGH_ROWS = 16

/** Values of the samples before and behind a sample in canonical order; null at the ends of the dump. */
export interface NeighbourValues {
  readonly before: SampleNumbers | null
  readonly behind: SampleNumbers | null
}

export interface ReturnForms {
  /** R[t] - r[t] on V[t+1], R[t+1], -kl[t] */
  readonly plain: Form | null
  /** R[t] on V[t], V[t+1], V[t+2], R[t+1], r[t], r[t-1], r[t+1], -kl[t], -kl[t-1], -kl[t+1] */
  readonly wide: Form | null
  /** R[t] - r[t] on V'[t+1], R[t+1], V[t+1], -kl[t], V' of the sample before, and of the one behind */
  readonly before: Form | null
  readonly behind: Form | null
}

/**
 * Transitions inside turns, as indices k of their first token. The one in front of the last token is left out, and the first of
 * a longer sample: a reward that is off by one lies there.
 */
export function insideTransitions(view: View): number[] {
  const n = view.positions.length
  const found: number[] = []
  for (let k = n >= 16 ? 1 : 0; k < n - (n >= 4 ? 2 : 1); k++) if (view.positions[k + 1] === view.positions[k] + 1) found.push(k)
  return found
}

/** A value beside a token: of the response where masked tokens are known, else of the next retained one. */
function valueAt(view: View, values: SampleNumbers, i: number): number {
  return i >= 0 && i < view.length ? values[i] : Number.NaN
}

function plainRows(view: View, values: SampleNumbers, returns: SampleNumbers, inside: readonly number[]): Rows {
  const rows = new Rows(3, inside.length)
  const { rewards, kl } = view
  const data = rows.data
  for (const k of inside) {
    const i = view.at[k]
    const o = rows.offset
    data[o] = returns[i] - (rewards === null ? 0 : rewards[i])
    data[o + 1] = values[i + 1]
    data[o + 2] = returns[i + 1]
    data[o + 3] = kl === null ? 0 : -kl[i]
    rows.commit(view.positions[k])
  }
  return rows
}

function wideRows(view: View, values: SampleNumbers, returns: SampleNumbers, inside: readonly number[]): Rows {
  const rows = new Rows(10, inside.length)
  const { rewards, kl } = view
  for (const k of inside) {
    const i = view.at[k]
    // whether rewards of masked tokens count is not known here
    if (k > 0 && view.positions[k - 1] !== view.positions[k] - 1) continue
    // a trace has no value behind the end of a turn
    if (!view.whole && view.positions[k + 2] !== view.positions[k] + 2) continue
    const row = [returns[i], values[i], values[i + 1], valueAt(view, values, i + 2), returns[i + 1]]
    const around = (array: SampleNumbers | null, sign: number): void => {
      for (const step of [0, -1, 1]) row.push(array === null ? 0 : sign * (array[i + step] ?? 0))
    }
    around(rewards, 1)
    around(kl, -1)
    rows.data.set(row, rows.offset)
    rows.commit(view.positions[k])
  }
  return rows
}

function foreignForm(
  view: View,
  values: SampleNumbers,
  returns: SampleNumbers,
  inside: readonly number[],
  other: SampleNumbers | null
): Form | null {
  if (other === null) return null
  const rows = new Rows(4, inside.length)
  for (const k of inside) {
    const i = view.at[k]
    if (i + 1 >= other.length) continue
    const reward = view.rewards === null ? 0 : view.rewards[i]
    const kl = view.kl === null ? 0 : -view.kl[i]
    rows.data.set([returns[i] - reward, other[i + 1], returns[i + 1], values[i + 1], kl], rows.offset)
    rows.commit(view.positions[k])
  }
  return rows.form()
}

export function returnForms(view: View, scale: number, neighbours: NeighbourValues): ReturnForms {
  const { values, returns } = view
  if (values === null || returns === null) return { plain: null, wide: null, before: null, behind: null }
  const inside = insideTransitions(view)
  const plain = plainRows(view, values, returns, inside).form()
  const proven = plain === null || (plain.n >= ENOUGH_ROWS && plain.max <= ROUNDINGS * SINGLE * scale)
  if (proven) return { plain, wide: null, before: null, behind: null }
  return {
    plain,
    wide: wideRows(view, values, returns, inside).form(),
    before: view.whole ? foreignForm(view, values, returns, inside, neighbours.before) : null,
    behind: view.whole ? foreignForm(view, values, returns, inside, neighbours.behind) : null
  }
}
