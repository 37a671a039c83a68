/**
 * The returns inside turns. Between two tokens of one turn, GAE with R = A + V says
 * `R[t] = gamma (1 - lambda) V[t+1] + gamma lambda R[t+1] + r[t]`, whatever the rule for masked tokens (Schulman et al. 2015,
 * arXiv 1506.02438). The rows of that relation become a form; where a sample does not follow it, or is too short to tell, the
 * rows of its known alternatives too: values off by one, rewards off by one, values of a neighbouring sample.
 */
import type { SampleNumbers } from '../../../schema/samples.js'
import { type Form, LARGEST, RelationRows, SMALL } from './form.js'
import { solveNormal } from './linear.js'
import { SINGLE } from './precision.js'
import type { AuditView } from './view.js'

/** Residuals up to this many roundings are rounding: an estimate is made of about eight operations. */
export const ROUNDINGS = 16
/** A sample with fewer rows says little by itself. */
const ENOUGH_ROWS = 16
/** Rows that a loop goes over at a time. */
const TOGETHER = 1024

/** Values of the samples before and behind a sample in canonical order; null at the ends of the dump. */
export interface NeighbourValues {
  readonly before: SampleNumbers | null
  readonly behind: SampleNumbers | null
}

export interface ReturnForms {
  /** R[t] - r[t] on V[t+1], R[t+1], -kl[t] */
  readonly plain: Form | null
  /** the plain relation without the few tokens that do not follow it, where all others do, and the first of those tokens */
  readonly trimmed: Form | null
  readonly outlier: number | null
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
export function insideTransitions({ positions }: AuditView): Int32Array {
  const n = positions.length
  const found = new Int32Array(n)
  let count = 0
  for (let k = n >= 16 ? 1 : 0; k < n - (n >= 4 ? 2 : 1); k++) if (positions[k + 1] === positions[k] + 1) found[count++] = k
  return found.subarray(0, count)
}

function plainRows(view: AuditView, values: SampleNumbers, returns: SampleNumbers, inside: Int32Array): RelationRows {
  const rows = new RelationRows(3, inside.length)
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

/** Where the plain relation is read: index k of each row's first token. */
interface PlainSource {
  readonly view: AuditView
  readonly values: SampleNumbers
  readonly returns: SampleNumbers
  readonly inside: Int32Array
}

/**
 * The form of the plain rows, number for number as they would give it, without keeping them: most samples follow the relation,
 * and need no more. The loops stand alone and go over parts of the rows, so that the engine compiles each of them once.
 */
function plainForm(source: PlainSource): Form | null {
  const { length } = source.inside
  const products = new Float64Array(11)
  for (let from = 0; from < length; from += TOGETHER) addProducts(source, from, Math.min(from + TOGETHER, length), products)
  const [n, largest] = products
  if (n === 0) return null
  const own = solveNormal(products.subarray(5), products.subarray(2, 5), 3).x
  const sums = new Float64Array(7)
  const given = Float64Array.of(...own, SMALL * largest)
  for (let from = 0; from < length; from += TOGETHER) addResiduals(source, from, Math.min(from + TOGETHER, length), given, sums)
  const [weighty, s, max, at, ...gradient] = sums
  return { n, weighty, own, h: Array.from(products.subarray(5)), gradient, s, max, at }
}

/** Adds rows to: their number, the largest size (a maximum), X'y [3], X'X packed [6]. */
function addProducts({ view, values, returns, inside }: PlainSource, from: number, to: number, into: Float64Array): void {
  const { at, rewards, kl } = view
  let n = into[0]
  let largest = into[1]
  let g0 = into[2]
  let g1 = into[3]
  let g2 = into[4]
  let h00 = into[5]
  let h01 = into[6]
  let h02 = into[7]
  let h11 = into[8]
  let h12 = into[9]
  let h22 = into[10]
  for (let row = from; row < to; row++) {
    const i = at[inside[row]]
    const y = rewards === null ? returns[i] : returns[i] - rewards[i]
    const v = values[i + 1]
    const r = returns[i + 1]
    const p = kl === null ? 0 : -kl[i]
    const size = Math.abs(y) + Math.abs(v) + Math.abs(r) + Math.abs(p)
    if (!(size < LARGEST)) continue
    n += 1
    largest = Math.max(largest, size)
    g0 += v * y
    g1 += r * y
    g2 += p * y
    h00 += v * v
    h01 += v * r
    h02 += v * p
    h11 += r * r
    h12 += r * p
    h22 += p * p
  }
  into.set([n, largest, g0, g1, g2, h00, h01, h02, h11, h12, h22])
}

/**
 * Adds rows to: the number of weighty ones, the squared residuals, the largest residual and its token, X'(y - X own) [3].
 * @param given own coefficients [3], the least size of a weighty row
 */
function addResiduals(
  { view, values, returns, inside }: PlainSource,
  from: number,
  to: number,
  given: Float64Array,
  into: Float64Array
): void {
  const { at, positions, rewards, kl } = view
  const [a, b, c, least] = given
  let weighty = into[0]
  let s = into[1]
  let max = into[2]
  let token = into[3]
  let e0 = into[4]
  let e1 = into[5]
  let e2 = into[6]
  for (let row = from; row < to; row++) {
    const k = inside[row]
    const i = at[k]
    const y = rewards === null ? returns[i] : returns[i] - rewards[i]
    const v = values[i + 1]
    const r = returns[i + 1]
    const p = kl === null ? 0 : -kl[i]
    const size = Math.abs(y) + Math.abs(v) + Math.abs(r) + Math.abs(p)
    if (!(size < LARGEST)) continue
    if (size >= least) weighty += 1
    const e = y - a * v - b * r - c * p
    s += e * e
    e0 += e * v
    e1 += e * r
    e2 += e * p
    if (Math.abs(e) <= max) continue
    max = Math.abs(e)
    token = positions[k]
  }
  into.set([weighty, s, max, token, e0, e1, e2])
}

function wideRows(view: AuditView, values: SampleNumbers, returns: SampleNumbers, inside: Int32Array): RelationRows {
  const rows = new RelationRows(10, inside.length)
  const { rewards, kl } = view
  for (const k of inside) {
    const i = view.at[k]
    // what stands beside a turn is not known to be shifted alike: whether masked tokens count is not known here
    if (k > 0 && view.positions[k - 1] !== view.positions[k] - 1) continue
    if (view.positions[k + 2] !== view.positions[k] + 2) continue
    const row = [returns[i], values[i], values[i + 1], values[i + 2], returns[i + 1]]
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
  view: AuditView,
  values: SampleNumbers,
  returns: SampleNumbers,
  inside: Int32Array,
  other: SampleNumbers | null
): Form | null {
  if (other === null) return null
  const rows = new RelationRows(4, inside.length)
  for (const k of inside) {
    const i = view.at[k]
    // a value that both samples have does not tell whose it is
    if (i + 1 >= other.length || other[i + 1] === values[i + 1]) continue
    const reward = view.rewards === null ? 0 : view.rewards[i]
    const kl = view.kl === null ? 0 : -view.kl[i]
    rows.data.set([returns[i] - reward, other[i + 1], returns[i + 1], values[i + 1], kl], rows.offset)
    rows.commit(view.positions[k])
  }
  return rows.form()
}

/** Share of the rows that may be left out. */
const MOST_LEFT_OUT = 0.3

/** Leaves out the rows with the largest residuals until the others are rounding, again and again half of what stands out. */
function trim(rows: RelationRows, limit: number): Pick<ReturnForms, 'trimmed' | 'outlier'> {
  const nothing = { trimmed: null, outlier: null }
  let kept = Uint8Array.from({ length: rows.count }, () => 1)
  for (let round = 0; round < 20; round++) {
    const now = kept
    const form = rows.form(row => now[row] === 1)
    if (form === null || form.n < ENOUGH_ROWS || form.n < rows.count * (1 - MOST_LEFT_OUT)) return nothing
    const residuals = Float64Array.from({ length: rows.count }, (_, row) => Math.abs(rows.residual(row, form.own)))
    if (form.max <= limit) {
      const first = residuals.findIndex(e => e > limit)
      return first < 0 ? nothing : { trimmed: form, outlier: rows.token(first) }
    }
    kept = Uint8Array.from(residuals, e => Number(e <= Math.max(limit, form.max / 2)))
  }
  return nothing
}

/** `coarse`: returns have fewer digits than singles, so that no row stands out from rounding. */
export function returnForms(view: AuditView, scale: number, coarse: boolean, neighbours: NeighbourValues): ReturnForms {
  const { values, returns } = view
  if (values === null || returns === null) return { plain: null, trimmed: null, outlier: null, wide: null, before: null, behind: null }
  const inside = insideTransitions(view)
  const plain = plainForm({ view, values, returns, inside })
  const limit = ROUNDINGS * SINGLE * scale
  const proven = plain === null || (plain.n >= ENOUGH_ROWS && plain.max <= limit)
  if (proven) return { plain, trimmed: null, outlier: null, wide: null, before: null, behind: null }
  return {
    plain,
    ...(coarse ? { trimmed: null, outlier: null } : trim(plainRows(view, values, returns, inside), limit)),
    wide: wideRows(view, values, returns, inside).form(),
    before: view.whole ? foreignForm(view, values, returns, inside, neighbours.before) : null,
    behind: view.whole ? foreignForm(view, values, returns, inside, neighbours.behind) : null
  }
}
