/**
 * Evaluates a plan: the statistics of the sample itself (every unit once), and of each resample. Intervals are percentiles of
 * the resampled statistics (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; method `percentile` of
 * `scipy.stats.bootstrap`), at 2.5 % and 97.5 %, with numpy's linear interpolation.
 *
 * Weighted sums are a product of the matrix of weights [resamples × units] and that of rows [units × columns]. It is cut into blocks that the
 * processor's cache holds. Units are added in canonical order, four at a time: the same bits wherever it runs.
 */
import type { Plan } from './plan.js'
import { drawWeights, type ResampleOptions } from './resampling.js'

/** Resamples whose sums are kept at a time, and units whose rows they go over together. */
const RESAMPLES = 50
const UNITS = 128
/** Of the resamples, this share may leave a statistic undefined; with more there is no interval. */
const MAX_UNDEFINED = 0.05

export interface Evaluated {
  /** [columns] sums over all units, each once */
  readonly sums: Float64Array
  /** [slots] statistics of the sample; NaN where undefined */
  readonly values: Float64Array
}

export function evaluate(plan: Plan): Evaluated {
  const weights = new Uint16Array(plan.units.length).fill(1)
  const sums = new Float64Array(plan.columns)
  const values = new Float64Array(plan.slots)
  addRows(plan, weights, 0, 0, plan.units.length, sums, 0)
  readAll(plan, sums, 0, weights, 0, values)
  return { sums, values }
}

/** [slots × resamples] every statistic of every resample; NaN where it is undefined. */
export function resampled(plan: Plan, options: ResampleOptions): Float64Array {
  const { columns, slots } = plan
  const { resamples } = options
  const n = plan.units.length
  const all = new Float64Array(slots * resamples)
  const weights = new Uint16Array(RESAMPLES * n)
  const sums = new Float64Array(RESAMPLES * columns)
  const out = new Float64Array(slots)
  for (let first = 0; first < resamples; first += RESAMPLES) {
    const block = Math.min(RESAMPLES, resamples - first)
    weights.fill(0)
    sums.fill(0)
    for (let b = 0; b < block; b++) drawWeights(n, first + b, options, weights, b * n)
    for (let from = 0; from < n; from += UNITS) {
      const to = Math.min(n, from + UNITS)
      for (let b = 0; b < block; b++) addRows(plan, weights, b * n, from, to, sums, b * columns)
    }
    for (let b = 0; b < block; b++) {
      readAll(plan, sums, b * columns, weights, b * n, out)
      for (let slot = 0; slot < slots; slot++) all[slot * resamples + first + b] = out[slot]
    }
  }
  return all
}

/** Adds the rows of the units [from, to), each times its weight, to `sums`. */
function addRows(
  { rows, starts }: Plan,
  weights: Uint16Array,
  weightsAt: number,
  from: number,
  to: number,
  sums: Float64Array,
  at: number
): void {
  let u = from
  for (; u + 4 <= to; u += 4) {
    const [s0, s1, s2, s3, s4] = [starts[u], starts[u + 1], starts[u + 2], starts[u + 3], starts[u + 4]]
    const w0 = weights[weightsAt + u]
    const w1 = weights[weightsAt + u + 1]
    const w2 = weights[weightsAt + u + 2]
    const w3 = weights[weightsAt + u + 3]
    const shared = Math.min(s1 - s0, s2 - s1, s3 - s2, s4 - s3)
    for (let k = 0; k < shared; k++) {
      sums[at + k] += w0 * rows[s0 + k] + w1 * rows[s1 + k] + (w2 * rows[s2 + k] + w3 * rows[s3 + k])
    }
    addTail(rows, s0 + shared, s1, w0, sums, at + shared)
    addTail(rows, s1 + shared, s2, w1, sums, at + shared)
    addTail(rows, s2 + shared, s3, w2, sums, at + shared)
    addTail(rows, s3 + shared, s4, w3, sums, at + shared)
  }
  for (; u < to; u++) addTail(rows, starts[u], starts[u + 1], weights[weightsAt + u], sums, at)
}

function addTail(rows: Float64Array, from: number, to: number, weight: number, sums: Float64Array, at: number): void {
  if (weight === 0) return
  for (let k = from; k < to; k++) sums[at + k - from] += weight * rows[k]
}

function readAll(plan: Plan, sums: Float64Array, at: number, weights: Uint16Array, weightsAt: number, out: Float64Array): void {
  for (const { of, column, slot } of plan.linear) of.read(sums, at + column, out, slot)
  for (const { of, slot } of plan.ranked) of.read(weights, weightsAt, out, slot)
  for (let slot = 0; slot < out.length; slot++) if (!Number.isFinite(out[slot])) out[slot] = NaN
}

export type Interval = { readonly low: number; readonly high: number } | { readonly why: string }

/** The percentile interval of resampled statistics; those that are undefined (NaN) are left out where they are few. */
export function percentileInterval(statistics: Float64Array): Interval {
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
