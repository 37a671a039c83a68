/**
 * Evaluates a plan: the statistics of the sample itself (every unit once), and of each resample. Intervals are percentiles of
 * the resampled statistics (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; method `percentile` of
 * `scipy.stats.bootstrap`), at 2.5 % and 97.5 %, with numpy's linear interpolation.
 *
 * Weighted sums are a product of the matrix of weights [resamples × units] and that of rows [units × columns]. It is cut into
 * parts that the processor's cache holds. Units are added in the order of the plan, eight at a time, by a compiled loop
 * (`kernel/assembly/resampling.ts`): the same bits wherever it runs.
 */
import { formatCount } from '../../../core/counts.js'
import { kernelOfThread } from '../../../kernel/open.js'
import type { QualityPlan } from './plan.js'
import { drawWeights, type ResampleOptions } from './resampling.js'

/** Resamples whose sums are kept at a time: an even number. */
const RESAMPLES = 50
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
  const sums = sumsOf(kernelOfThread().addRows(plan, weights), plan.columns, 0, new Float64Array(plan.columns))
  for (const { of, column, slot } of plan.linear) of.read(sums, column, values, slot)
  for (const { of, slot } of plan.ranked) of.read(weights, 1, values, slot, 1)
  return { sums, values: finiteOrNaN(values) }
}

/** [slots × resamples] every statistic of every resample; NaN where it is undefined. */
export function resampledStatistics(plan: QualityPlan, options: ResampleOptions): Float64Array {
  const { resamples } = options
  const all = new Float64Array(plan.slots * resamples)
  const kernel = kernelOfThread()
  const mark = kernel.used
  try {
    const blocks = { rows: kernel.held(plan.rows), blocks: kernel.held(plan.blocks), order: kernel.held(plan.order), columns: plan.columns }
    const weights = { counts: kernel.held(new Uint16Array(RESAMPLES * plan.units.length)), width: RESAMPLES }
    for (let first = 0; first < resamples; first += RESAMPLES) {
      const part = Math.min(RESAMPLES, resamples - first)
      weights.counts.fill(0)
      for (let b = 0; b < part; b++) drawWeights(plan.units.length, first + b, options, weights, b)
      for (const { of, slot } of plan.ranked) of.read(weights, part, all, slot * resamples + first, resamples)
      readSums(plan, kernel.addRows(blocks, weights), part, all, first, resamples)
    }
  } finally {
    kernel.release(mark)
  }
  return finiteOrNaN(all)
}

/** The statistics of a part of the resamples, written to their places. */
function readSums(
  { linear, columns, slots }: QualityPlan,
  both: Float64Array,
  part: number,
  all: Float64Array,
  first: number,
  resamples: number
): void {
  const sums = new Float64Array(columns)
  const out = new Float64Array(slots)
  for (let b = 0; b < part; b++) {
    sumsOf(both, columns, b, sums)
    for (const { of, column, slot } of linear) {
      of.read(sums, column, out, slot)
      for (let s = slot; s < slot + of.slots; s++) all[s * resamples + first + b] = out[s]
    }
  }
}

/** The sums of one resample, out of those of two that lie together. */
function sumsOf(both: Float64Array, columns: number, b: number, into: Float64Array): Float64Array {
  const lane = b % 2
  const at = (b - lane) * columns + lane
  for (let c = 0; c < columns; c++) into[c] = both[at + 2 * c]
  return into
}

function finiteOrNaN(numbers: Float64Array): Float64Array {
  for (let i = 0; i < numbers.length; i++) if (!Number.isFinite(numbers[i])) numbers[i] = NaN
  return numbers
}

export type PercentileInterval = { readonly low: number; readonly high: number } | { readonly why: string }

/** The percentile interval of resampled statistics; those that are undefined (NaN) are left out where they are few. */
export function percentileInterval(statistics: Float64Array): PercentileInterval {
  const defined = withoutNaN(statistics)
  const resamples = statistics.length
  const missing = resamples - defined.length
  if (defined.length === 0 || missing > MAX_UNDEFINED * resamples)
    return { why: `${formatCount(missing)} of ${formatCount(resamples)} resamples leave it undefined` }
  return { low: percentile(defined, 0.025), high: percentile(defined, 0.975) }
}

function withoutNaN(numbers: Float64Array): Float64Array {
  const kept = new Float64Array(numbers.length)
  let n = 0
  for (let i = 0; i < numbers.length; i++) {
    kept[n] = numbers[i]
    if (!Number.isNaN(numbers[i])) n++
  }
  return kept.subarray(0, n)
}

/** numpy.percentile with its default method, `linear`. Puts the numbers in another order. */
function percentile(numbers: Float64Array, share: number): number {
  const place = share * (numbers.length - 1)
  const below = Math.floor(place)
  placeSmallest(numbers, below)
  const low = numbers[below]
  if (below + 1 === numbers.length) return low
  let high = Infinity
  for (let i = below + 1; i < numbers.length; i++) high = Math.min(high, numbers[i])
  return low + (high - low) * (place - below)
}

/** Puts the k-th smallest number at its place, none larger before it, none smaller behind it: Hoare, "Find" (1961). Sorting all takes three times as long. */
function placeSmallest(numbers: Float64Array, k: number): void {
  let left = 0
  let right = numbers.length - 1
  while (left < right) {
    const pivot = numbers[k]
    let i = left
    let j = right
    while (i <= j) {
      while (numbers[i] < pivot) i++
      while (pivot < numbers[j]) j--
      if (i > j) break
      const moved = numbers[i]
      numbers[i++] = numbers[j]
      numbers[j--] = moved
    }
    if (j < k) left = i
    if (k < i) right = j
  }
}
