/**
 * The squared residuals of one linear relation over the tokens of a sample, as a quadratic form around the sample's own best
 * coefficients: S(x) = s - 2 gradient . d + d' H d with d = x - own. The own residual s is summed in a second pass over the
 * sample, so that S of other coefficients has no cancellation: residuals of rounding size stay visible. Forms add up.
 */
import { packed, type Solution, solveNormal } from './linear.js'

export interface Form {
  /** tokens */
  readonly n: number
  /** those that are not small beside the largest: where few are, they alone decide the fit */
  readonly weighty: number
  /** own coefficients [k] */
  readonly own: readonly number[]
  /** normal matrix, packed upper triangle [k (k + 1) / 2] */
  readonly h: readonly number[]
  /** X'(y - X own) [k] */
  readonly gradient: readonly number[]
  /** sum of squared residuals at the own coefficients */
  readonly s: number
  /** largest absolute residual there, and its token */
  readonly max: number
  readonly at: number
}

/** Squares of larger numbers may leave the double range once they are summed. */
export const LARGEST = 1e140

/** A row is small beside one that is so many times larger. */
export const SMALL = 1e-4

/** Rows of a relation while a sample is read: y and k columns for each token. */
export class RelationRows {
  readonly k: number
  #data: Float64Array
  #tokens: Int32Array
  #sizes: Float64Array
  #largest = 0
  count = 0

  constructor(k: number, capacity: number) {
    this.k = k
    this.#data = new Float64Array(Math.max(1, capacity) * (k + 1))
    this.#tokens = new Int32Array(Math.max(1, capacity))
    this.#sizes = new Float64Array(Math.max(1, capacity))
  }

  /** The row to fill: y at `offset`, columns behind it. Kept by `commit`. */
  get data(): Float64Array {
    return this.#data
  }

  get offset(): number {
    return this.count * (this.k + 1)
  }

  /** Keeps the row that was filled in; one with a number that is not finite, or whose square may not be, is dropped. */
  commit(token: number): void {
    const from = this.offset
    let sum = 0
    for (let i = from; i <= from + this.k; i++) sum += Math.abs(this.#data[i])
    if (!(sum < LARGEST)) return
    this.#tokens[this.count] = token
    this.#sizes[this.count] = sum
    if (sum > this.#largest) this.#largest = sum
    this.count += 1
  }

  token(row: number): number {
    return this.#tokens[row]
  }

  residual(row: number, x: readonly number[]): number {
    const from = row * (this.k + 1)
    let e = this.#data[from]
    for (let i = 0; i < this.k; i++) e -= x[i] * this.#data[from + 1 + i]
    return e
  }

  /** The form of all rows, or of those that a filter keeps; null where there is none. */
  form(keep: ((row: number) => boolean) | null = null): Form | null {
    const { k, count } = this
    const data = this.#data
    const h = new Float64Array((k * (k + 1)) / 2)
    const g = new Float64Array(k)
    let n = 0
    for (let row = 0; row < count; row++) {
      if (keep !== null && !keep(row)) continue
      n += 1
      const from = row * (k + 1)
      let at = 0
      for (let i = 1; i <= k; i++) {
        const x = data[from + i]
        if (x === 0) {
          at += k - i + 1
          continue
        }
        g[i - 1] += x * data[from]
        for (let j = i; j <= k; j++) h[at++] += x * data[from + j]
      }
    }
    if (n === 0) return null
    const own = solveNormal(h, g, k).x
    const gradient = new Array<number>(k).fill(0)
    let s = 0
    let max = 0
    let at = 0
    const least = SMALL * this.#largest
    let weighty = 0
    for (let row = 0; row < count; row++) {
      if (keep !== null && !keep(row)) continue
      const from = row * (k + 1)
      const e = this.residual(row, own)
      s += e * e
      if (this.#sizes[row] >= least) weighty += 1
      for (let i = 0; i < k; i++) gradient[i] += e * data[from + 1 + i]
      if (Math.abs(e) > max) {
        max = Math.abs(e)
        at = this.#tokens[row]
      }
    }
    return { n, weighty, own, h: Array.from(h), gradient, s, max, at }
  }
}

/** Coefficients of a relation as an affine function of fewer parameters: x = B p + b, B as rows. */
export interface AffineMap {
  readonly b: readonly (readonly number[])[]
  readonly fixed: readonly number[]
}

export function applied(map: AffineMap, p: readonly number[]): number[] {
  return map.b.map((row, i) => row.reduce((sum, c, j) => sum + c * p[j], map.fixed[i]))
}

/** S at given coefficients. */
export function squares(form: Form, x: readonly number[]): number {
  const k = x.length
  const d = x.map((value, i) => value - form.own[i])
  let sum = form.s
  for (let i = 0; i < k; i++) {
    sum -= 2 * form.gradient[i] * d[i]
    for (let j = 0; j < k; j++) sum += d[i] * d[j] * form.h[packed(i, j, k)]
  }
  return Math.max(sum, 0)
}

export interface Weighted {
  readonly form: Form
  readonly map: AffineMap
  readonly weight: number
}

/** Normal equations of parameters shared by several forms. */
export function normalOf(forms: readonly Weighted[], unknowns: number): { readonly h: Float64Array; readonly g: Float64Array } {
  const h = new Float64Array((unknowns * (unknowns + 1)) / 2)
  const g = new Float64Array(unknowns)
  for (const { form, map, weight } of forms) {
    const k = form.own.length
    // right side: H (own - fixed) + gradient
    const side = form.gradient.slice()
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) side[i] += form.h[packed(i, j, k)] * (form.own[j] - map.fixed[j])
    for (let p = 0; p < unknowns; p++) {
      for (let i = 0; i < k; i++) {
        const bip = map.b[i][p]
        if (bip === 0) continue
        g[p] += weight * bip * side[i]
        for (let q = p; q < unknowns; q++) {
          let sum = 0
          for (let j = 0; j < k; j++) if (map.b[j][q] !== 0) sum += form.h[packed(i, j, k)] * map.b[j][q]
          h[packed(p, q, unknowns)] += weight * bip * sum
        }
      }
    }
  }
  return { h, g }
}

export function fitShared(forms: readonly Weighted[], unknowns: number): Solution {
  const { h, g } = normalOf(forms, unknowns)
  return solveNormal(h, g, unknowns)
}
