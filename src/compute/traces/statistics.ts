/**
 * Statistics of one trace over its full arrays. All differences are in float64, because float32 arithmetic is wrong in
 * the tenth decimal. A transition goes from values[i] to values[i + 1]. It is a boundary where the response positions
 * of the two tokens differ by more than one, because text that the policy did not generate lies between them. Otherwise
 * it is internal.
 *
 * The arrays must have passed `checks.ts`: equal lengths >= 1, finite numbers, strictly increasing positions.
 */
import { Fault, EXIT } from '../../core/errors.js'
import { kernelOfThread } from '../../kernel/open.js'
import type { Outcome } from '../../schema/traces.js'
import type { ChangeStatistics, Jump, TraceStatistics } from './contract.js'
import { addPairs, meanOf, pairValue, type SumPair } from '../../core/sums.js'

export interface StatisticsOptions {
  /** a change counts as a jump when its absolute value is strictly greater */
  readonly jumpThreshold: number
  readonly outcome: Outcome | null
}

/**
 * All measurements of one trace.
 * @throws Fault (exit 1) where a sum leaves the double range
 */
export function traceStatistics(
  values: Float64Array,
  returns: Float64Array,
  positions: Float64Array,
  options: StatisticsOptions
): TraceStatistics {
  return statisticsWithin(values, returns, boundaryIndexes(positions), options)
}

/** `traceStatistics` for known boundaries. */
export function statisticsWithin(
  values: Float64Array,
  returns: Float64Array,
  boundaries: Int32Array,
  options: StatisticsOptions
): TraceStatistics {
  const tokens = values.length
  const half = tokens >> 1
  const { jumpThreshold, outcome } = options
  const [
    firstHigh,
    firstLow,
    secondHigh,
    secondLow,
    squaresHigh,
    squaresLow,
    boundaryHigh,
    boundaryLow,
    boundaryJumps,
    internalHigh,
    internalLow,
    internalJumps,
    otherReturns,
    maxFrom
  ] = kernelOfThread().measure(values, returns, boundaries, jumpThreshold, outcome === 'success' ? 1 : 0)
  const firstHalf = { high: firstHigh, low: firstLow }
  const secondHalf = { high: secondHigh, low: secondLow }
  const mean = meanOf(addPairs(firstHalf, secondHalf), tokens)
  const boundary = changeStatistics(boundaries.length, { high: boundaryHigh, low: boundaryLow }, boundaryJumps)
  const internal = changeStatistics(tokens - 1 - boundaries.length, { high: internalHigh, low: internalLow }, internalJumps)
  const statistics: TraceStatistics = {
    tokens,
    firstValue: values[0],
    lastValue: values[tokens - 1],
    delta: values[tokens - 1] - values[0],
    mean,
    rmse: Math.sqrt(meanOf({ high: squaresHigh, low: squaresLow }, tokens)),
    firstHalfMean: half === 0 ? null : meanOf(firstHalf, half),
    secondHalfMean: meanOf(secondHalf, tokens - half),
    boundary,
    internal,
    maxBoundaryJump: maxFrom < 0 ? null : jumpAt(values, maxFrom),
    boundaryExceedsInternal: boundary.meanAbs === null || internal.meanAbs === null ? null : boundary.meanAbs > internal.meanAbs,
    returnsEqualOutcome: outcome === null ? null : otherReturns === 0
  }
  refuseOverflow(statistics)
  return statistics
}

/** Indexes i of the boundary transitions values[i] -> values[i + 1], increasing. */
export function boundaryIndexes(positions: Float64Array): Int32Array {
  return kernelOfThread().boundaries(positions)
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
