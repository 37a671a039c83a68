/**
 * How far values are from returns over a cell of tokens: the whole trajectory, a decile, a turn. The formulas stand at
 * `ValueErrors` in `contract.ts`.
 *
 * A unit contributes n, Σ(V - c), Σ(R - d), Σ(V - c)², Σ(R - d)² and Σ((R - V) - (d - c))², where c and d are the means of V
 * and R over the cell of the whole sample. Sums about a common centre add up with any weights. A variance from them is
 * Σx² / n - (Σx / n)² and loses no digit, since the second term is small.
 */
import type { ValueErrors } from './contract.js'
import type { TakeEstimate } from './estimate.js'
import { leavesRange, MOMENTS, mergeMoments, neverZero, SUM_LEAVES_RANGE } from './moments.js'
import type { SumFamily, QualityPlanBuilder } from './plan.js'
import type { QualityRecord } from './record.js'

/** Which moments of a record belong to a cell: their array, and where they begin; -1: it has none. */
export interface TokenCell {
  readonly array: (record: QualityRecord) => Float64Array
  readonly at: (record: QualityRecord) => number
  /** why no trajectory has the cell */
  readonly none: string
}

/** true: every trajectory weighs the same, whatever its number of tokens */
type Equal = boolean

export const NO_RETURNS = 'no trajectory has values and returns'
const SLOTS = ['mean_value', 'mean_return', 'explained_variance', 'mse', 'bias', 'correlation'] as const
const MSE = SLOTS.indexOf('mse')

/** A variance below this share of the mean square about the centre is rounding of one that is 0. */
const ROUNDING = 1e-13

/** Adds the statistics of a cell to a plan. */
export function addErrors(
  builder: QualityPlanBuilder,
  cell: TokenCell
): <E>(take: TakeEstimate<E>, refusal: string | null) => ValueErrors<E> {
  const first = builder.add(errorFamily(builder.units.flat(), cell, false))
  return (take, refusal) => ({
    mean_value: take(first, refusal),
    mean_return: take(first + 1, refusal),
    explained_variance: take(first + 2, refusal),
    mse: take(first + 3, refusal),
    bias: take(first + 4, refusal),
    correlation: take(first + 5, refusal)
  })
}

/** Adds the explained variance in which every trajectory weighs the same. */
export function addExplainedByTrajectory(
  builder: QualityPlanBuilder,
  cell: TokenCell
): <E>(take: TakeEstimate<E>, refusal: string | null) => E {
  const first = builder.add(errorFamily(builder.units.flat(), cell, true))
  return (take, refusal) => take(first + 2, refusal)
}

function errorFamily(records: readonly QualityRecord[], cell: TokenCell, equal: Equal): SumFamily {
  // Where no trajectory has returns, the mean value is still known.
  const withReturns = records.some(r => r.hasValues && r.hasReturns)
  const counts = (r: QualityRecord) => r.hasValues && (r.hasReturns || !withReturns) && cell.at(r) >= 0 && cell.array(r)[cell.at(r)] > 0
  const counted = records.filter(counts)
  const centre = new Float64Array(MOMENTS)
  const one = new Float64Array(MOMENTS)
  for (const record of counted) {
    const [moments, at] = [cell.array(record), cell.at(record)]
    for (let k = 0; k < MOMENTS; k++) one[k] = moments[at + k]
    if (equal) one[0] = 1
    mergeMoments(centre, 0, one, 0)
  }
  const [, c, d] = centre
  return {
    columns: MOMENTS,
    slots: SLOTS.length,
    fill(unit, row, at) {
      for (const record of unit) {
        if (!counts(record)) continue
        const m = cell.array(record)
        const i = cell.at(record)
        const scale = equal ? 1 / m[i] : 1
        const v = m[i + 1] - c
        const r = m[i + 2] - d
        const weight = equal ? 1 : m[i]
        row[at] += weight
        row[at + 1] += weight * v
        row[at + 2] += weight * r
        const e = r - v
        row[at + 3] += neverZero(scale * m[i + 3], m[i + 3]) + neverZero(weight * v * v, v)
        row[at + 4] += neverZero(scale * m[i + 4], m[i + 4]) + neverZero(weight * r * r, r)
        row[at + 5] += neverZero(scale * m[i + 5], m[i + 5]) + neverZero(weight * e * e, e)
      }
    },
    read(sums, at, out, to) {
      const n = sums[at]
      const v = sums[at + 1] / n
      const r = sums[at + 2] / n
      const e = r - v
      const varianceV = variance(sums[at + 3] / n, v)
      const varianceR = variance(sums[at + 4] / n, r)
      const varianceE = variance(sums[at + 5] / n, e)
      const meanE = d - c + e
      const covariance = (varianceV + varianceR - varianceE) / 2
      // Where errors underflow beside returns that do not, nothing is lost.
      const lost = leavesRange(sums[at + 4]) || !(sums[at + 5] < Infinity)
      const varies = varianceV > 0 && varianceR > 0 && !lost && !leavesRange(sums[at + 3])
      const mse = neverZero(varianceE, sums[at + 5]) + neverZero(meanE * meanE, meanE)
      out[to] = c + v
      out[to + 1] = d + r
      out[to + 2] = varianceR === 0 || lost ? NaN : 1 - varianceE / varianceR
      out[to + 3] = leavesRange(mse) ? NaN : mse
      out[to + 4] = c - d - e
      out[to + 5] = varies ? Math.max(-1, Math.min(1, covariance / (Math.sqrt(varianceV) * Math.sqrt(varianceR)))) : NaN
      if (!withReturns) out.fill(NaN, to + 1, to + SLOTS.length)
    },
    trajectories: slot => (slot === 0 || withReturns ? counted.length : 0),
    why(sums, at, slot) {
      if (!(sums[at] > 0)) return withReturns || slot === 0 ? cell.none : NO_RETURNS
      if (!withReturns) return NO_RETURNS
      const returnsVary = leavesRange(sums[at + 4]) || variance(sums[at + 4] / sums[at], sums[at + 2] / sums[at]) > 0
      if (slot !== MSE && !returnsVary) return 'the returns do not vary'
      return slot === MSE || [3, 4, 5].some(k => leavesRange(sums[at + k])) ? SUM_LEAVES_RANGE : 'the values do not vary'
    }
  }
}

/** Population variance from the mean square and the mean, both about a centre. */
function variance(square: number, mean: number): number {
  const v = square - mean * mean
  return v <= ROUNDING * square && square < Infinity ? 0 : v
}
