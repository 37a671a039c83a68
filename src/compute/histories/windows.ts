/**
 * Reductions over the step view of one curve, and the trailing mean of a displayed series. A position counts in
 * `curve.steps`, from 0; -1 says that there is none. Means are sums from left to right divided by the count: short
 * windows of logged batch means, for which the published figures were made that way. Finite values have a finite mean: a
 * sum that leaves the double range is made of scaled values instead.
 */
import type { Curve, WindowMean } from './contract.js'
import { PIECE, type Work } from './work.js'

/** Mean over positions [from, to). */
export function meanOfPositions(curve: Curve, from: number, to: number): WindowMean {
  const { steps, step, value } = curve
  if (to <= from) return { mean: null, count: 0, steps: null }
  let sum = 0
  for (let p = from; p < to; p++) sum += value[steps[p]]
  const mean = Number.isFinite(sum) ? sum / (to - from) : scaledMean(Float64Array.from(steps.subarray(from, to), i => value[i]))
  return { mean, count: to - from, steps: [step[steps[from]], step[steps[to - 1]]] }
}

/** Of finite values, each divided by a power of two, which costs no digit, so that no sum of them leaves the double range. */
function scaledMean(values: Float64Array): number {
  const scale = 2 ** (1 + Math.ceil(Math.log2(values.length)))
  let [sum, least, most] = [0, Infinity, -Infinity]
  for (const value of values) {
    sum += value / scale
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  // The sum's rounding must not take the mean out of the values' range, which may be the doubles' own.
  return Math.max(least, Math.min(most, (sum / values.length) * scale))
}

/** Over the first `count` observations, or as many as there are. */
export function firstMean(curve: Curve, count: number): WindowMean {
  return meanOfPositions(curve, 0, Math.min(count, curve.steps.length))
}

/** Over the last `count` observations, or as many as there are. */
export function lastMean(curve: Curve, count: number): WindowMean {
  return meanOfPositions(curve, Math.max(0, curve.steps.length - count), curve.steps.length)
}

/** Over the curve's own observations with fromStep <= step <= toStep. */
export function windowMean(curve: Curve, fromStep: number, toStep: number): WindowMean {
  const { steps, step } = curve
  let from = 0
  while (from < steps.length && step[steps[from]] < fromStep) from++
  let to = from
  while (to < steps.length && step[steps[to]] <= toStep) to++
  return meanOfPositions(curve, from, to)
}

/** Highest value, earliest step on a tie. */
export function bestPosition({ steps, value }: Curve): number {
  let best = -1
  for (let p = 0; p < steps.length; p++) if (best < 0 || value[steps[p]] > value[steps[best]]) best = p
  return best
}

/** First observation at or above a value: the same double compared as logged. */
export function firstAtLeast({ steps, value }: Curve, atLeast: number): number {
  for (let p = 0; p < steps.length; p++) if (value[steps[p]] >= atLeast) return p
  return -1
}

/** Largest absolute value, earliest step on a tie. */
export function largestAbsolute({ steps, value }: Curve): number {
  let largest = -1
  for (let p = 0; p < steps.length; p++) {
    if (largest < 0 || Math.abs(value[steps[p]]) > Math.abs(value[steps[largest]])) largest = p
  }
  return largest
}

export function countBelowZero({ steps, value }: Curve): number {
  let count = 0
  for (let p = 0; p < steps.length; p++) if (value[steps[p]] < 0) count++
  return count
}

/**
 * Mean of the last `window` values up to each (fewer at the start: min_periods 1). Each window is summed anew, from its
 * oldest value on: a running sum would carry the rounding of values that have left it.
 */
export function* trailingMean(values: Float64Array, window: number): Work<Float64Array> {
  const means = new Float64Array(values.length)
  const piece = Math.ceil(PIECE / window)
  for (let i = 0; i < values.length; i++) {
    if (i % piece === 0) yield
    const from = Math.max(0, i - window + 1)
    let sum = 0
    for (let j = from; j <= i; j++) sum += values[j]
    means[i] = Number.isFinite(sum) ? sum / (i + 1 - from) : scaledMean(values.subarray(from, i + 1))
  }
  return means
}
