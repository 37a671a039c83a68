/**
 * Evaluates a plan: the statistics of the sample itself (every unit once), and of each resample. Intervals are percentiles of
 * the resampled statistics (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; method `percentile` of
 * `scipy.stats.bootstrap`), at 2.5 % and 97.5 %, with numpy's linear interpolation.
 *
 * Weighted sums are a product of the matrix of weights [resamples × units] and that of rows [units × columns]. It is cut into parts that the
 * processor's cache holds. Units are added in the order of the plan, eight at a time: the same bits wherever it runs.
 */
import { ROWS_A_BLOCK, type QualityPlan, type ResampleWeights } from './plan.js'
import { drawWeights, type ResampleOptions } from './resampling.js'

/** Resamples whose sums are kept at a time, and blocks of rows that they go over together. */
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
  const sums = new Float64Array(plan.columns)
  const values = new Float64Array(plan.slots)
  const weights = { counts: new Uint16Array(plan.units.length).fill(1), width: 1 }
  for (let block = 0; block + 1 < plan.blocks.length; block++) addBlock(plan, block, weights, 0, sums, 0)
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
      for (let b = 0; b < part; b++) {
        for (let block = from; block < to; block++) addBlock(plan, block, weights, b, sums, b * columns)
      }
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

/** Adds a block of rows, each times how often resample b drew its unit, to `sums` from `at` on. */
function addBlock(
  { rows, blocks, order }: QualityPlan,
  block: number,
  weights: ResampleWeights,
  b: number,
  sums: Float64Array,
  at: number
): void {
  const { counts, width } = weights
  const p0 = blocks[block]
  const length = (blocks[block + 1] - p0) / ROWS_A_BLOCK
  // Behind the last unit rows are 0, so any weight will do.
  const last = order.length - 1
  const u = block * ROWS_A_BLOCK
  const w0 = counts[order[u] * width + b]
  const w1 = counts[order[Math.min(u + 1, last)] * width + b]
  const w2 = counts[order[Math.min(u + 2, last)] * width + b]
  const w3 = counts[order[Math.min(u + 3, last)] * width + b]
  const w4 = counts[order[Math.min(u + 4, last)] * width + b]
  const w5 = counts[order[Math.min(u + 5, last)] * width + b]
  const w6 = counts[order[Math.min(u + 6, last)] * width + b]
  const w7 = counts[order[Math.min(u + 7, last)] * width + b]
  const p1 = p0 + length
  const p2 = p1 + length
  const p3 = p2 + length
  const p4 = p3 + length
  const p5 = p4 + length
  const p6 = p5 + length
  const p7 = p6 + length
  for (let k = 0; k < length; k++) {
    const low = w0 * rows[p0 + k] + w1 * rows[p1 + k] + (w2 * rows[p2 + k] + w3 * rows[p3 + k])
    const high = w4 * rows[p4 + k] + w5 * rows[p5 + k] + (w6 * rows[p6 + k] + w7 * rows[p7 + k])
    sums[at + k] += low + high
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
  if (defined === 0 || missing > MAX_UNDEFINED * resamples) return { why: `${missing} of ${resamples} resamples leave it undefined` }
  return { low: percentile(sorted, defined, 0.025), high: percentile(sorted, defined, 0.975) }
}

/** numpy.percentile with its default method, `linear`. @param sorted its first `count` numbers are sorted */
function percentile(sorted: Float64Array, count: number, share: number): number {
  const place = share * (count - 1)
  const below = Math.floor(place)
  const above = Math.min(below + 1, count - 1)
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below)
}
