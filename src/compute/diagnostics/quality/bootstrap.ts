/**
 * Evaluates a plan: the statistics of the sample itself (every unit once), and of each resample. Intervals are percentiles of
 * the resampled statistics (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; method `percentile` of
 * `scipy.stats.bootstrap`), at 2.5 % and 97.5 %, with numpy's linear interpolation.
 */
import { formatCount } from '../../../core/counts.js'
import type { QualityPlan } from './plan.js'
import { resampleTasks, weightedNumbers, type Resample } from './resample-task.js'
import type { ResampleOptions } from './resampling.js'

/** Of the resamples, this share may leave a statistic undefined; with more there is no interval. */
const MAX_UNDEFINED = 0.05

export interface EvaluatedPlan {
  /** [columns] sums over all units, each once */
  readonly sums: Float64Array
  /** [slots] statistics of the sample; NaN where undefined */
  readonly values: Float64Array
}

export function evaluatedPlan(plan: QualityPlan): EvaluatedPlan {
  const sums = new Float64Array(plan.columns + plan.ranks.length)
  // Of two resamples the first draws every unit once, the second none.
  const weights = { counts: Uint16Array.from({ length: 2 * plan.units.length }, (_, i) => 1 - (i % 2)), width: 2 }
  weightedNumbers(plan, weights, 1, sums, 0)
  const values = new Float64Array(plan.slots)
  readStatistics(plan, sums, values, 0, 1)
  return { sums, values: finiteOrNaN(values) }
}

/** [slots × resamples] every statistic of every resample; NaN where it is undefined. */
export async function resampledStatistics(plan: QualityPlan, draws: ResampleOptions, resample: Resample): Promise<Float64Array> {
  const { resamples } = draws
  const all = new Float64Array(plan.slots * resamples)
  await Promise.all(
    resampleTasks(plan, draws).map(async task => {
      readStatistics(plan, await resample(task), all, task.from, resamples)
    })
  )
  return finiteOrNaN(all)
}

/**
 * Writes statistic s of each resample to `all[s * stride + first]` and behind it.
 * @param numbers [resamples × (columns + ranks)]
 */
function readStatistics(
  { linear, ranked, columns, ranks, slots }: QualityPlan,
  numbers: Float64Array,
  all: Float64Array,
  first: number,
  stride: number
): void {
  const width = columns + ranks.length
  const sums = new Float64Array(width)
  const out = new Float64Array(slots)
  for (let b = 0; (b + 1) * width <= numbers.length; b++) {
    for (let c = 0; c < width; c++) sums[c] = numbers[b * width + c]
    for (const { of, column, slot } of linear) of.read(sums, column, out, slot)
    for (const { of, rank, slot } of ranked) for (let s = 0; s < of.slots; s++) out[slot + s] = sums[columns + rank + s]
    for (let s = 0; s < slots; s++) all[s * stride + first + b] = out[s]
  }
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
