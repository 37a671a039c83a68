/**
 * Reductions over the step view of one curve, and the trailing mean of a displayed series. A position is an index into
 * `curve.steps`; -1 stands for none. A mean is a sum from left to right, divided by the count. The windows are short
 * and hold logged batch means, and the published figures were made with such sums. The mean of finite values is finite:
 * a sum that leaves the double range is repeated with scaled values.
 */
import type { Curve, WindowMean } from './contract.js'
import { PIECE, type Work } from './work.js'

/** Mean over the positions [from, to). */
export function meanOfPositions(curve: Curve, from: number, to: number): WindowMean {
  const { steps, step, value } = curve
  if (to <= from) return { mean: null, count: 0, steps: null }
  let sum = 0
  for (let p = from; p < to; p++) sum += value[steps[p]]
  const mean = Number.isFinite(sum) ? sum / (to - from) : scaledMean(Float64Array.from(steps.subarray(from, to), i => value[i]))
  return { mean, count: to - from, steps: [step[steps[from]], step[steps[to - 1]]] }
}

/**
 * Mean of finite values. Each is divided by a power of two, so that no sum leaves the double range. The division loses
 * no digit.
 */
function scaledMean(values: Float64Array): number {
  const scale = 2 ** (1 + Math.ceil(Math.log2(values.length)))
  let [sum, least, most] = [0, Infinity, -Infinity]
  for (const value of values) {
    sum += value / scale
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  // Rounding of the sum must not move the mean out of the range of the values, which may be that of all doubles.
  return Math.max(least, Math.min(most, (sum / values.length) * scale))
}

/** Mean over the first `count` observations, or over all where there are fewer. */
export function firstMean(curve: Curve, count: number): WindowMean {
  return meanOfPositions(curve, 0, Math.min(count, curve.steps.length))
}

/** Mean over the last `count` observations, or over all where there are fewer. */
export function lastMean(curve: Curve, count: number): WindowMean {
  return meanOfPositions(curve, Math.max(0, curve.steps.length - count), curve.steps.length)
}

/** Mean over the curve's own observations with fromStep <= step <= toStep. */
export function windowMean(curve: Curve, fromStep: number, toStep: number): WindowMean {
  const { steps, step } = curve
  let from = 0
  while (from < steps.length && step[steps[from]] < fromStep) from++
  let to = from
  while (to < steps.length && step[steps[to]] <= toStep) to++
  return meanOfPositions(curve, from, to)
}

/** Position of the highest value; the earliest step on a tie. */
export function bestPosition({ steps, value }: Curve): number {
  let best = -1
  for (let p = 0; p < steps.length; p++) if (best < 0 || value[steps[p]] > value[steps[best]]) best = p
  return best
}

/** Position of the first observation at or above a value. The doubles are compared as logged. */
export function firstAtLeast({ steps, value }: Curve, atLeast: number): number {
  for (let p = 0; p < steps.length; p++) if (value[steps[p]] >= atLeast) return p
  return -1
}

/** Position of the largest absolute value; the earliest step on a tie. */
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
 * Mean of the last `window` values up to each value, fewer at the start (min_periods 1). Each window is summed from its
 * oldest value on. A running sum would keep the rounding errors of values that have left the window.
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
