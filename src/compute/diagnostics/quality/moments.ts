/**
 * Moments of value and return over a set of tokens, as six numbers:
 *
 *     [n, mean V, mean R, Σ(V - mean V)², Σ(R - mean R)², Σ((R - V) - mean(R - V))²]
 *
 * V: predicted value, R: return, both in units of the return; n: tokens. A slice of tokens is measured in two passes, and
 * slices are merged by Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances"
 * (1979). A difference of sums of squares, E[x²] - E[x]², would lose the variance of returns that are large against their
 * spread.
 *
 * Numbers that do not vary have a sum of squares of exactly 0, in a slice and in every merge: sums are taken from the first
 * number of the slice, and two equal means differ by 0. So "the returns do not vary" is no question of a tolerance here.
 * Where a square underflows the smallest double stands for it, so that tiny numbers are not taken for equal ones;
 * `leavesRange` tells that a sum of squares has lost its digits.
 */
import type { SumPair } from '../../../core/sums.js'

export const MOMENTS = 6

/** The smallest sum of squares of which every digit is kept: 2^-1022, the smallest normal double, times 2^53. */
const LEAST_SQUARES = 2 ** -969

/** Why a statistic is undefined whose sums do. */
export const SUM_LEAVES_RANGE = 'a sum leaves the double range'

/** True for a sum of squares beyond the double range, above or below. */
export function leavesRange(squares: number): boolean {
  return !(squares < Infinity) || (squares > 0 && squares < LEAST_SQUARES)
}

/** A product with x² in it: the smallest double where it underflowed. */
export function neverZero(product: number, x: number): number {
  return product === 0 && x !== 0 ? Number.MIN_VALUE : product
}

/**
 * Moments of the tokens [from, to), to > from, written to `into` from `at` on.
 * @param values [tokens]
 * @param returns [tokens]
 * @returns the sum of the values as an unevaluated pair: exact for float32 values, so that equal means are equal
 */
export function sliceMoments(
  values: Float64Array,
  returns: Float64Array,
  from: number,
  to: number,
  into: Float64Array,
  at: number
): SumPair {
  const n = to - from
  const firstValue = values[from]
  const firstReturn = returns[from]
  let [sumV, sumR, high, low] = [0, 0, 0, 0]
  for (let t = from; t < to; t++) {
    const v = values[t]
    sumV += v - firstValue
    sumR += returns[t] - firstReturn
    // TwoSum, as in core/sums.ts
    const s = high + v
    const part = s - high
    low += high - (s - part) + (v - part)
    high = s
  }
  const meanV = firstValue + sumV / n
  const meanR = firstReturn + sumR / n
  let [v1, r1, v2, r2, e2] = [0, 0, 0, 0, 0]
  for (let t = from; t < to; t++) {
    const v = values[t] - meanV
    const r = returns[t] - meanR
    const e = r - v
    v1 += v
    r1 += r
    v2 += v * v
    r2 += r * r
    e2 += e * e
  }
  // The means are rounded: what is left of the first sums takes their error out of the second ones.
  const e1 = r1 - v1
  into[at] = n
  into[at + 1] = meanV
  into[at + 2] = meanR
  into[at + 3] = v2 === 0 ? underflow(values, meanV, from, to) : Math.max(0, v2 - (v1 * v1) / n)
  into[at + 4] = r2 === 0 ? underflow(returns, meanR, from, to) : Math.max(0, r2 - (r1 * r1) / n)
  into[at + 5] = e2 === 0 ? underflowOfErrors(values, meanV, returns, meanR, from, to) : Math.max(0, e2 - (e1 * e1) / n)
  return { high, low }
}

/** The smallest double where the square of every deviation from the mean underflowed. */
function underflow(numbers: Float64Array, mean: number, from: number, to: number): number {
  for (let t = from; t < to; t++) if (numbers[t] !== mean) return Number.MIN_VALUE
  return 0
}

function underflowOfErrors(values: Float64Array, meanV: number, returns: Float64Array, meanR: number, from: number, to: number): number {
  for (let t = from; t < to; t++) if (returns[t] - meanR !== values[t] - meanV) return Number.MIN_VALUE
  return 0
}

/** Adds the moments at `from[at]` to those at `into[to]`; either may be of no token. */
export function mergeMoments(into: Float64Array, to: number, from: Float64Array, at: number): void {
  const added = from[at]
  if (added === 0) return
  const n = into[to] + added
  const share = added / n
  const v = from[at + 1] - into[to + 1]
  const r = from[at + 2] - into[to + 2]
  const e = r - v
  const weight = into[to] * share
  into[to] = n
  into[to + 1] += v * share
  into[to + 2] += r * share
  into[to + 3] += from[at + 3] + neverZero(v * v * weight, v * weight)
  into[to + 4] += from[at + 4] + neverZero(r * r * weight, r * weight)
  into[to + 5] += from[at + 5] + neverZero(e * e * weight, e * weight)
}
