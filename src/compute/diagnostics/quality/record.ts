/**
 * What the quality statistics keep of one trajectory: sums over its retained tokens (those with mask 1), of a size that does
 * not depend on their number. Every statistic, and every resample of it, follows from these records, so nobody reads tokens
 * twice.
 *
 * The numbers are made with float64 arithmetic from the stored ones, in one order: the same bits in every thread.
 */
import { EXIT, Fault, type Place } from '../../../core/errors.js'
import { addPairs, meanOf, ZERO_SUM } from '../../../core/sums.js'
import { retainedIndexes, type Sample, type SampleNumbers } from '../../../schema/samples.js'
import type { Outcome } from '../../../schema/traces.js'
import { changeSumsOf, type ChangeSums } from './changes.js'
import { histogramOf, type ValueHistogram } from './histogram.js'
import { mergeMoments, MOMENTS, sliceMoments } from './moments.js'
import { turnRecords, turnStarts, type TurnSums } from './turn-record.js'

export const DECILES = 10

export interface QualityRecord {
  /** 0-based canonical position of the trajectory: the order of every reduction */
  readonly index: number
  readonly step: number | null
  readonly uid: string | null
  readonly outcome: Outcome | null
  /** n: retained tokens, >= 1 */
  readonly tokens: number
  /** false: the dump has no values, and all sums below are empty */
  readonly hasValues: boolean
  /** false: the dump has no returns; where moments hold those of returns and errors, they are then meaningless */
  readonly hasReturns: boolean
  /** [6] moments over all retained tokens (`moments.ts`) */
  readonly whole: Float64Array
  /** [10 × 6] the same in each decile of progress: decile floor(10 i / n) of token i; n = 0 where a short trace has no token there */
  readonly deciles: Float64Array
  /** [10] mean value in each decile, for ranks: sum of an exact pair, divided once, so that equal means are equal; 0 without a token */
  readonly decileValues: Float64Array
  readonly turns: TurnSums
  readonly changes: ChangeSums
  readonly histogram: ValueHistogram
}

/** A trajectory as its retained tokens alone, in their order. */
export interface RetainedTrace {
  readonly index: number
  readonly place: Place
  readonly step: number | null
  readonly uid: string | null
  readonly outcome: Outcome | null
  /** [n] */
  readonly values: Float64Array | null
  /** [n] */
  readonly returns: Float64Array | null
  /** [n] indices in the response, increasing; a gap is a boundary between turns */
  readonly positions: ArrayLike<number>
}

export interface QualityRecordOptions {
  /** a sample that states no outcome is a success when its score is strictly above this */
  readonly successThreshold: number
  /** thresholds of the sweep over |change|, increasing: `sweepThresholds` */
  readonly thresholds: readonly number[]
}

/**
 * The record of a sample.
 * @param kept indexes of its retained tokens, where they are known
 * @throws Fault where a retained number is not finite, or a sum leaves the double range
 */
export function qualityRecord(
  sample: Sample,
  { successThreshold, thresholds }: QualityRecordOptions,
  kept = retainedIndexes(sample.mask)
): QualityRecord {
  const { index, place, arrays, fields } = sample
  const retained = (all: SampleNumbers | undefined) => (all === undefined ? null : retainedNumbers(all, kept))
  const byScore = fields.score === null ? null : fields.score > successThreshold ? 'success' : 'failure'
  const { step, uid } = fields
  const outcome = fields.outcome ?? byScore
  const trace = { index, place, step, uid, outcome, values: retained(arrays.values), returns: retained(arrays.returns), positions: kept }
  return traceQualityRecord(trace, thresholds)
}

function retainedNumbers(all: SampleNumbers, kept: Int32Array): Float64Array {
  const numbers = new Float64Array(kept.length)
  for (let i = 0; i < kept.length; i++) numbers[i] = all[kept[i]]
  return numbers
}

/** The record of a trace whose other tokens are unknown, as in a snapshot of a study. */
export function traceQualityRecord(trace: RetainedTrace, thresholds: readonly number[]): QualityRecord {
  const { index, step, uid, outcome, place, positions } = trace
  const tokens = positions.length
  if (tokens === 0) throw new Error('a trace without retained tokens has no record')
  refuseNonFinite('values', trace.values, place)
  refuseNonFinite('returns', trace.returns, place)
  const hasValues = trace.values !== null
  const values = trace.values ?? new Float64Array(0)
  const returns = trace.returns ?? new Float64Array(values.length)
  const starts = hasValues ? turnStarts(positions) : []
  const { whole, deciles, decileValues, turnMoments } = momentsOf(values, returns, starts)
  const record: QualityRecord = {
    index,
    step,
    uid,
    outcome,
    tokens,
    hasValues,
    hasReturns: trace.returns !== null,
    whole,
    deciles,
    decileValues,
    turns: turnRecords(values, starts, turnMoments),
    changes: changeSumsOf(values, starts, thresholds),
    histogram: histogramOf(values)
  }
  refuseOverflow(record, place)
  return record
}

/** Every token is measured once, in pieces that lie in one decile and one turn; deciles, turns and the whole are merged of them. */
function momentsOf(values: Float64Array, returns: Float64Array, starts: readonly number[]) {
  const tokens = values.length
  const whole = new Float64Array(MOMENTS)
  const deciles = new Float64Array(DECILES * MOMENTS)
  const decileValues = new Float64Array(DECILES)
  const turnMoments = new Float64Array(starts.length * MOMENTS)
  const piece = new Float64Array(MOMENTS)
  let turn = 0
  for (let decile = 0; decile < DECILES; decile++) {
    // The first token i with floor(10 i / n) >= d is i = ceil(d n / 10).
    const end = Math.ceil(((decile + 1) * tokens) / DECILES)
    let from = Math.ceil((decile * tokens) / DECILES)
    let sum = ZERO_SUM
    const count = end - from
    while (from < end) {
      while (turn + 1 < starts.length && starts[turn + 1] <= from) turn++
      const to = turn + 1 < starts.length ? Math.min(end, starts[turn + 1]) : end
      sum = addPairs(sum, sliceMoments(values, returns, from, to, piece, 0))
      mergeMoments(whole, 0, piece, 0)
      mergeMoments(deciles, decile * MOMENTS, piece, 0)
      mergeMoments(turnMoments, turn * MOMENTS, piece, 0)
      from = to
    }
    if (count > 0) decileValues[decile] = meanOf(sum, count)
  }
  return { whole, deciles, decileValues, turnMoments }
}

function refuseNonFinite(array: string, numbers: Float64Array | null, place: Place): void {
  if (numbers === null) return
  let index = 0
  while (index < numbers.length && Number.isFinite(numbers[index])) index++
  if (index === numbers.length) return
  throw new Fault({
    format: 'trace',
    problem: 'number that is not finite',
    found: String(numbers[index]),
    expected: 'finite numbers at the retained tokens',
    place: { ...place, array, index },
    exitCode: EXIT.checkFailed
  })
}

function refuseOverflow({ whole, deciles, turns, changes }: QualityRecord, place: Place): void {
  const sums = [whole, deciles, turns.sums, turns.largest, [changes.boundary.sum, changes.internal.sum]]
  if (sums.every(list => list.every(x => Number.isFinite(x)))) return
  throw new Fault({
    format: 'trace',
    problem: 'moments overflow',
    found: 'a sum beyond the double range',
    expected: 'smaller values',
    place,
    exitCode: EXIT.checkFailed
  })
}
