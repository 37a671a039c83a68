/**
 * Integrity checks of one trace: the invariants of the canonical table (equal lengths, finite numbers, positions that
 * are strictly increasing integers), exact equality with the NPZ arrays, and stored statistics against recomputed ones.
 * Every failed check is a Fault with exit code 1 that names array, index and both values. `expectations.ts` holds the
 * expectations of a study.
 */
import { formatCount } from '../../core/counts.js'
import { EXIT, Fault, printableId, type Place } from '../../core/errors.js'
import { asFloat64, type NpyArray } from '../../ingest/npz/npy.js'
import type { Comparable } from '../../kernel/kernel.js'
import { kernelOfThread } from '../../kernel/open.js'
import { TRACE_ARRAYS, type ParsedTrace, type TraceArrayName } from '../../schema/traces.js'
import type { TraceStatistics } from './contract.js'
import { equalAsFloat32 } from './float32.js'

/**
 * Stored mean and RMSE may differ from the recomputed ones by this absolute amount, because they were summed in another
 * order.
 */
export const STORED_STATISTIC_TOLERANCE = 1e-12

export type TraceArrays = Readonly<Record<TraceArrayName, Float64Array>>

export function arraysOf(trace: ParsedTrace): TraceArrays {
  return { values: trace.values, returns: trace.returns, response_positions: trace.positions }
}

/** Checks that lengths are equal and at least 1, numbers are finite, and positions are strictly increasing integers. */
export function checkArrays(arrays: TraceArrays): void {
  const tokens = arrays.values.length
  for (const array of TRACE_ARRAYS) {
    const length = arrays[array].length
    if (length !== tokens) {
      throw failed('unequal lengths', `${length} ${array}`, `${tokens} as in values`, { array })
    }
  }
  if (tokens === 0) throw failed('empty arrays', 'no token', 'at least one')
  if (kernelOfThread().sound(arrays.values, arrays.returns, arrays.response_positions)) return
  for (const array of TRACE_ARRAYS) checkFinite(array, arrays[array])
  checkPositions(arrays.response_positions)
}

function checkFinite(array: TraceArrayName, x: Float64Array): void {
  for (let i = 0; i < x.length; i++) {
    if (!Number.isFinite(x[i])) throw failed('not finite', String(x[i]), 'a finite number', { array, index: i })
  }
}

function checkPositions(positions: Float64Array): void {
  const array = 'response_positions'
  let previous = -Infinity
  for (let i = 0; i < positions.length; i++) {
    const p = positions[i]
    if (!Number.isSafeInteger(p)) throw failed('position out of range', String(p), 'an integer within 2^53', { array, index: i })
    if (p <= previous) {
      throw failed('positions not increasing', `${p} after ${previous}`, `more than ${previous}`, { array, index: i })
    }
    previous = p
  }
}

/** @throws Fault (exit 1) where the NPZ array and the embedded one differ in length */
export function checkLength(array: TraceArrayName, embedded: number, stored: number, file: string): void {
  if (stored === embedded) return
  throw failed('NPZ length differs', `${stored} in ${printableId(file, 400)}`, `${embedded} as embedded`, { array })
}

/**
 * Equality as in numpy's array_equal: same length, and every element equal as a number (0 equals -0, NaN equals
 * nothing).
 * @throws Fault (exit 1) at the first difference, with its index and both values
 */
export function checkEqual(array: TraceArrayName, embedded: Float64Array, stored: NpyArray, place: Place): void {
  const file = place.file ?? 'the NPZ'
  const { data } = stored
  checkLength(array, embedded.length, data.length, file)
  if (isComparable(data) && kernelOfThread().difference(embedded, data) < 0) return
  // Throws its own Fault for an int64 that no double holds.
  const numbers = asFloat64(stored, place)
  let index = 0
  while (index < numbers.length && embedded[index] === numbers[index]) index++
  if (index === numbers.length) return
  const cause = equalAsFloat32(embedded, numbers)
    ? `; equal as float32 (all ${formatCount(numbers.length)}): one of the two was rounded, write both from the same array`
    : ''
  throw failed(
    'NPZ value differs',
    `${show(numbers[index])} in ${printableId(file, 400)}`,
    `${show(embedded[index])} as embedded${cause}`,
    {
      array,
      index
    }
  )
}

function isComparable(data: NpyArray['data']): data is Comparable {
  return data instanceof Float32Array || data instanceof BigInt64Array
}

/**
 * Compares the mean or RMSE stored in the snapshot with the recomputed one.
 * @param inFloat32 what single precision gives; called only where the two differ
 */
export function checkStored(
  name: 'value_mean' | 'value_rmse',
  stored: number,
  recomputed: number,
  inFloat32: () => readonly number[] = () => []
): void {
  if (Math.abs(stored - recomputed) <= STORED_STATISTIC_TOLERANCE) return
  const single = Math.fround(stored)
  const cause = [Math.fround(recomputed), ...inFloat32()].includes(single) ? '; equal when computed in float32: compute in float64' : ''
  throw failed(`stored ${name} differs`, show(stored), `${show(recomputed)} as recomputed, within ${STORED_STATISTIC_TOLERANCE}${cause}`)
}

/** Checks that there are as many span texts as spans: one more than there are boundaries. */
export function checkSpanCount(texts: number, statistics: TraceStatistics): void {
  const spans = statistics.boundary.transitions + 1
  if (texts !== spans) throw failed('span count differs', `${texts} segment texts`, `${spans}, one a generated span`)
}

function show(x: number): string {
  return Object.is(x, -0) ? '-0' : String(x)
}

function failed(problem: string, found: string, expected: string, place: { array?: string; index?: number } = {}): Fault {
  return new Fault({ format: 'trace', problem, found, expected, place, exitCode: EXIT.checkFailed })
}
