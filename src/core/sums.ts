/**
 * Compensated sums. A running total is kept as an unevaluated pair high + low (about 106 bits). Every addition
 * (`kernel/assembly/statistics.ts`) is Knuth's TwoSum, whose rounding error goes into `low`. The sum of two pairs is a pair.
 * Sums of traces, each computed by any of the workers, therefore reduce in canonical order to the same bits at any number of
 * threads.
 *
 * Source: Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005), algorithms 3.1 and 4.4. Error
 * of a sum of n terms x: at most 2^-53 |sum| + n 2^-104 sum(|x|). Sums of |change| and of squares cannot cancel; they are
 * therefore correctly rounded except in ties.
 *
 * Not supported: totals beyond the double range. They become Infinity or NaN; callers check.
 */

export interface SumPair {
  readonly high: number
  readonly low: number
}

export const ZERO_SUM: SumPair = { high: 0, low: 0 }

/** The sum of two pairs, renormalised. */
export function addPairs(a: SumPair, b: SumPair): SumPair {
  const s = a.high + b.high
  const t = s - a.high
  const error = a.high - (s - t) + (b.high - t) + (a.low + b.low)
  const high = s + error
  return { high, low: error - (high - s) }
}

/** The pair as the nearest double. */
export function pairValue(p: SumPair): number {
  return p.high + p.low
}

/** A pair divided by a positive count: the mean as a double. */
export function meanOf(p: SumPair, count: number): number {
  return pairValue(p) / count
}
