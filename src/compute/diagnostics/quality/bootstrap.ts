/**
 * Evaluates a plan: the statistics of the sample itself (every unit once), and of each resample. Intervals are percentiles of
 * the resampled statistics (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; method `percentile` of
 * `scipy.stats.bootstrap`), at 2.5 % and 97.5 %, with numpy's linear interpolation.
 *
 * Weighted sums are a product of the matrix of weights [resamples × units] and that of rows [units × columns]. It is cut into
 * parts that the processor's cache holds. Units are added in the order of the plan, eight at a time: the same bits wherever it
 * runs.
 */
import { formatCount } from '../../../core/counts.js'
import { ROWS_A_BLOCK, type QualityPlan, type ResampleWeights } from './plan.js'
import { drawWeights, type ResampleOptions } from './resampling.js'

/** Resamples whose sums are kept at a time (an even number), and blocks of rows that they go over together. */
const RESAMPLES = 50
const BLOCKS = 16
/** Of the resamples, this share may leave a statistic undefined; with more there is no interval. */
const MAX_UNDEFINED = 0.05

export interface EvaluatedPlan {
  /** [columns] sums over all units, each once */
  readonly sums: Float64Array
  /** [slots] statistics of the sample; NaN where undefined */
  readonly values: Float64Array
}

export function evaluatedPlan(plan: QualityPlan): EvaluatedPlan {
  const values = new Float64Array(plan.slots)
  // Of two resamples the first draws every unit once, the second none.
  const weights = { counts: Uint16Array.from({ length: 2 * plan.units.length }, (_, i) => 1 - (i % 2)), width: 2 }
  const both = new Float64Array(2 * plan.columns)
  addBlocks(plan, 0, plan.blocks.length - 1, weights, 0, both, 0)
  const sums = both.slice(0, plan.columns)
  for (const { of, column, slot } of plan.linear) of.read(sums, column, values, slot)
  for (const { of, slot } of plan.ranked) of.read(weights, 1, values, slot, 1)
  return { sums, values: finiteOrNaN(values) }
}

/** [slots × resamples] every statistic of every resample; NaN where it is undefined. */
export function resampledStatistics(plan: QualityPlan, options: ResampleOptions): Float64Array {
  const { columns, slots, blocks } = plan
  const { resamples } = options
  const n = plan.units.length
  const all = new Float64Array(slots * resamples)
  const weights = { counts: new Uint16Array(RESAMPLES * n), width: RESAMPLES }
  const sums = new Float64Array(RESAMPLES * columns)
  const out = new Float64Array(slots)
  for (let first = 0; first < resamples; first += RESAMPLES) {
    const part = Math.min(RESAMPLES, resamples - first)
    weights.counts.fill(0)
    sums.fill(0)
    for (let b = 0; b < part; b++) drawWeights(n, first + b, options, weights, b)
    for (let from = 0; from + 1 < blocks.length; from += BLOCKS) {
      const to = Math.min(blocks.length - 1, from + BLOCKS)
      for (let b = 0; b < part; b += 2) addBlocks(plan, from, to, weights, b, sums, b * columns)
    }
    for (const { of, slot } of plan.ranked) of.read(weights, part, all, slot * resamples + first, resamples)
    for (let b = 0; b < part; b++) {
      for (const { of, column, slot } of plan.linear) {
        of.read(sums, b * columns + column, out, slot)
        for (let s = slot; s < slot + of.slots; s++) all[s * resamples + first + b] = out[s]
      }
    }
  }
  return finiteOrNaN(all)
}

function finiteOrNaN(numbers: Float64Array): Float64Array {
  for (let i = 0; i < numbers.length; i++) if (!Number.isFinite(numbers[i])) numbers[i] = NaN
  return numbers
}

/**
 * Adds the blocks [from, to), each row times how often resamples b and b + 1 drew its unit, to their sums at `at` and
 * `at + columns`. Two resamples at a time load each number once for both.
 */
function addBlocks(plan: QualityPlan, from: number, to: number, weights: ResampleWeights, b: number, sums: Float64Array, at: number): void {
  const { rows, blocks, order, columns } = plan
  const { counts, width } = weights
  // Behind the last unit rows are 0, so any weight will do.
  const last = order.length - 1
  for (let block = from; block < to; block++) {
    const u = block * ROWS_A_BLOCK
    const c0 = order[u] * width + b
    const c1 = order[Math.min(u + 1, last)] * width + b
    const c2 = order[Math.min(u + 2, last)] * width + b
    const c3 = order[Math.min(u + 3, last)] * width + b
    const c4 = order[Math.min(u + 4, last)] * width + b
    const c5 = order[Math.min(u + 5, last)] * width + b
    const c6 = order[Math.min(u + 6, last)] * width + b
    const c7 = order[Math.min(u + 7, last)] * width + b
    const v0 = counts[c0]
    const v1 = counts[c1]
    const v2 = counts[c2]
    const v3 = counts[c3]
    const v4 = counts[c4]
    const v5 = counts[c5]
    const v6 = counts[c6]
    const v7 = counts[c7]
    const w0 = counts[c0 + 1]
    const w1 = counts[c1 + 1]
    const w2 = counts[c2 + 1]
    const w3 = counts[c3 + 1]
    const w4 = counts[c4 + 1]
    const w5 = counts[c5 + 1]
    const w6 = counts[c6 + 1]
    const w7 = counts[c7 + 1]
    const end = blocks[block + 1]
    let i = at
    let j = at + columns
    for (let p = blocks[block]; p < end; p += ROWS_A_BLOCK) {
      const r0 = rows[p]
      const r1 = rows[p + 1]
      const r2 = rows[p + 2]
      const r3 = rows[p + 3]
      const r4 = rows[p + 4]
      const r5 = rows[p + 5]
      const r6 = rows[p + 6]
      const r7 = rows[p + 7]
      sums[i++] += v0 * r0 + v1 * r1 + (v2 * r2 + v3 * r3) + (v4 * r4 + v5 * r5 + (v6 * r6 + v7 * r7))
      sums[j++] += w0 * r0 + w1 * r1 + (w2 * r2 + w3 * r3) + (w4 * r4 + w5 * r5 + (w6 * r6 + w7 * r7))
    }
  }
}

export type PercentileInterval = { readonly low: number; readonly high: number } | { readonly why: string }

/** The percentile interval of resampled statistics; those that are undefined (NaN) are left out where they are few. */
export function percentileInterval(statistics: Float64Array): PercentileInterval {
  const sorted = statistics.slice().sort()
  const resamples = sorted.length
  let defined = resamples
  while (defined > 0 && Number.isNaN(sorted[defined - 1])) defined--
  const missing = resamples - defined
  if (defined === 0 || missing > MAX_UNDEFINED * resamples)
    return { why: `${formatCount(missing)} of ${formatCount(resamples)} resamples leave it undefined` }
  return { low: percentile(sorted, defined, 0.025), high: percentile(sorted, defined, 0.975) }
}

/** numpy.percentile with its default method, `linear`. @param sorted its first `count` numbers are sorted */
function percentile(sorted: Float64Array, count: number, share: number): number {
  const place = share * (count - 1)
  const below = Math.floor(place)
  const above = Math.min(below + 1, count - 1)
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below)
}
