/**
 * Statistics of one trace: one pass over its full arrays, all differences in float64 (float32 arithmetic misses the tenth
 * decimal). A transition goes from values[i] to values[i + 1]; it is a boundary when the response positions of the two
 * tokens differ by more than one (text that the policy did not generate lies between), internal otherwise.
 *
 * Expects arrays that `checks.ts` has passed: equal lengths >= 1, finite, positions strictly increasing.
 */
import { Fault, EXIT } from '../errors.js'
import type { Outcome } from '../schema.js'
import type { ChangeStatistics, Jump, TraceStatistics } from './contract.js'
import { addPairs, meanOf, pairValue, sumRange, type SumPair } from './sums.js'

export interface StatisticsOptions {
  /** a change counts as a jump when its absolute value is strictly greater */
  readonly jumpThreshold: number
  readonly outcome: Outcome | null
}

/** Everything that is measured on one trace. Throws a Fault (exit 1) where a sum leaves the double range. */
export function traceStatistics(
  values: Float64Array,
  returns: Float64Array,
  positions: Float64Array,
  options: StatisticsOptions
): TraceStatistics {
  const tokens = values.length
  const half = tokens >> 1
  const firstHalf = sumRange(values, 0, half)
  const secondHalf = sumRange(values, half, tokens)
  const mean = meanOf(addPairs(firstHalf, secondHalf), tokens)
  const rmse = Math.sqrt(meanOf(squaredErrors(values, returns), tokens))
  const { boundary, internal, maxBoundaryJump } = changes(values, positions, options.jumpThreshold)
  const statistics: TraceStatistics = {
    tokens,
    firstValue: values[0],
    lastValue: values[tokens - 1],
    delta: values[tokens - 1] - values[0],
    mean,
    rmse,
    firstHalfMean: half === 0 ? null : meanOf(firstHalf, half),
    secondHalfMean: meanOf(secondHalf, tokens - half),
    boundary,
    internal,
    maxBoundaryJump,
    boundaryExceedsInternal:
      boundary.meanAbs === null || internal.meanAbs === null ? null : boundary.meanAbs > internal.meanAbs,
    returnsEqualOutcome: options.outcome === null ? null : allEqual(returns, options.outcome === 'success' ? 1 : 0)
  }
  refuseOverflow(statistics)
  return statistics
}

/** Indexes i of the boundary transitions values[i] -> values[i + 1], increasing. */
export function boundaryIndexes(positions: Float64Array): Int32Array {
  let count = 0
  for (let i = 1; i < positions.length; i++) if (positions[i] - positions[i - 1] !== 1) count++
  const indexes = new Int32Array(count)
  for (let i = 1, k = 0; i < positions.length; i++) if (positions[i] - positions[i - 1] !== 1) indexes[k++] = i - 1
  return indexes
}

function squaredErrors(values: Float64Array, returns: Float64Array): SumPair {
  let high = 0
  let low = 0
  for (let i = 0; i < values.length; i++) {
    const d = values[i] - returns[i]
    const v = d * d
    const s = high + v
    const t = s - high
    low += high - (s - t) + (v - t)
    high = s
  }
  return { high, low }
}

function changes(values: Float64Array, positions: Float64Array, threshold: number) {
  let boundaries = 0
  let boundaryHigh = 0
  let boundaryLow = 0
  let boundaryJumps = 0
  let internalHigh = 0
  let internalLow = 0
  let internalJumps = 0
  let maxFrom = -1
  let maxAbs = -1
  for (let i = 1; i < values.length; i++) {
    const change = Math.abs(values[i] - values[i - 1])
    if (positions[i] - positions[i - 1] !== 1) {
      boundaries++
      if (change > threshold) boundaryJumps++
      if (change > maxAbs) {
        maxAbs = change
        maxFrom = i - 1
      }
      const s = boundaryHigh + change
      const t = s - boundaryHigh
      boundaryLow += boundaryHigh - (s - t) + (change - t)
      boundaryHigh = s
    } else {
      if (change > threshold) internalJumps++
      const s = internalHigh + change
      const t = s - internalHigh
      internalLow += internalHigh - (s - t) + (change - t)
      internalHigh = s
    }
  }
  const internals = values.length - 1 - boundaries
  return {
    boundary: changeStatistics(boundaries, { high: boundaryHigh, low: boundaryLow }, boundaryJumps),
    internal: changeStatistics(internals, { high: internalHigh, low: internalLow }, internalJumps),
    maxBoundaryJump: maxFrom < 0 ? null : jumpAt(values, maxFrom)
  }
}

function changeStatistics(transitions: number, sum: SumPair, jumps: number): ChangeStatistics {
  return {
    transitions,
    sumAbs: sum.high,
    sumAbsLow: sum.low,
    jumps,
    meanAbs: transitions === 0 ? null : pairValue(sum) / transitions
  }
}

function jumpAt(values: Float64Array, i: number): Jump {
  return { from_index: i, to_index: i + 1, from: values[i], to: values[i + 1], delta: values[i + 1] - values[i] }
}

function allEqual(x: Float64Array, expected: number): boolean {
  for (let i = 0; i < x.length; i++) if (x[i] !== expected) return false
  return true
}

function refuseOverflow(s: TraceStatistics): void {
  const sums: ReadonlyArray<readonly [string, number | null]> = [
    ['mean', s.mean],
    ['rmse', s.rmse],
    ['delta', s.delta],
    ['mean |change| at boundaries', s.boundary.meanAbs],
    ['mean |change| inside spans', s.internal.meanAbs]
  ]
  for (const [name, value] of sums) {
    if (value !== null && !Number.isFinite(value)) {
      throw new Fault({
        format: 'trace',
        problem: `${name} overflows`,
        found: 'a sum beyond the double range',
        expected: 'smaller values',
        exitCode: EXIT.checkFailed
      })
    }
  }
}
