/**
 * Statistics of one trace over its full arrays, all differences in float64 (float32 arithmetic misses the tenth
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
  return statisticsWithin(values, returns, boundaryIndexes(positions), options)
}

/** The same where the boundaries are known. */
export function statisticsWithin(
  values: Float64Array,
  returns: Float64Array,
  boundaries: Int32Array,
  options: StatisticsOptions
): TraceStatistics {
  const tokens = values.length
  const half = tokens >> 1
  const firstHalf = sumRange(values, 0, half)
  const secondHalf = sumRange(values, half, tokens)
  const mean = meanOf(addPairs(firstHalf, secondHalf), tokens)
  const { jumpThreshold, outcome } = options
  const { squares, boundary, internal, maxBoundaryJump, otherReturns } =
    eachToken(values, returns, boundaries, jumpThreshold, outcome === 'success' ? 1 : 0)
  const statistics: TraceStatistics = {
    tokens,
    firstValue: values[0],
    lastValue: values[tokens - 1],
    delta: values[tokens - 1] - values[0],
    mean,
    rmse: Math.sqrt(meanOf(squares, tokens)),
    firstHalfMean: half === 0 ? null : meanOf(firstHalf, half),
    secondHalfMean: meanOf(secondHalf, tokens - half),
    boundary,
    internal,
    maxBoundaryJump,
    boundaryExceedsInternal:
      boundary.meanAbs === null || internal.meanAbs === null ? null : boundary.meanAbs > internal.meanAbs,
    returnsEqualOutcome: outcome === null ? null : otherReturns === 0
  }
  refuseOverflow(statistics)
  return statistics
}

/** Indexes i of the boundary transitions values[i] -> values[i + 1], increasing. */
export function boundaryIndexes(positions: Float64Array): Int32Array {
  const indexes: number[] = []
  for (let i = 1; i < positions.length; i++) if (positions[i] - positions[i - 1] !== 1) indexes.push(i - 1)
  return Int32Array.from(indexes)
}

/**
 * Squared errors, changes and returns in one loop: each loop of its own would start in the interpreter and be compiled by
 * itself, which takes longer than its work on the traces of one snapshot.
 */
function eachToken(
  values: Float64Array, returns: Float64Array, boundaries: Int32Array, threshold: number, expectedReturn: number
) {
  let squaresHigh = 0
  let squaresLow = 0
  let boundaryHigh = 0
  let boundaryLow = 0
  let boundaryJumps = 0
  let internalHigh = 0
  let internalLow = 0
  let internalJumps = 0
  let otherReturns = 0
  let maxFrom = -1
  let maxAbs = -1
  let passed = 0
  let nextBoundary = boundaries.length === 0 ? -1 : boundaries[0]
  const last = values.length - 1
  for (let i = 0; i <= last; i++) {
    const value = values[i]
    const error = value - returns[i]
    const square = error * error
    let s = squaresHigh + square
    let t = s - squaresHigh
    squaresLow += squaresHigh - (s - t) + (square - t)
    squaresHigh = s
    if (returns[i] !== expectedReturn) otherReturns++
    if (i === last) break
    const change = Math.abs(values[i + 1] - value)
    if (i === nextBoundary) {
      if (change > threshold) boundaryJumps++
      if (change > maxAbs) {
        maxAbs = change
        maxFrom = i
      }
      s = boundaryHigh + change
      t = s - boundaryHigh
      boundaryLow += boundaryHigh - (s - t) + (change - t)
      boundaryHigh = s
      nextBoundary = ++passed < boundaries.length ? boundaries[passed] : -1
    } else {
      if (change > threshold) internalJumps++
      s = internalHigh + change
      t = s - internalHigh
      internalLow += internalHigh - (s - t) + (change - t)
      internalHigh = s
    }
  }
  return {
    squares: { high: squaresHigh, low: squaresLow },
    boundary: changeStatistics(boundaries.length, { high: boundaryHigh, low: boundaryLow }, boundaryJumps),
    internal: changeStatistics(last - boundaries.length, { high: internalHigh, low: internalLow }, internalJumps),
    maxBoundaryJump: maxFrom < 0 ? null : jumpAt(values, maxFrom),
    otherReturns
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
