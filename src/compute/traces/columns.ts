/**
 * Lays the columns of one trace into a single SharedArrayBuffer. The parser's arrays are scratch memory that the next
 * trace overwrites, and a shared buffer reaches the main thread without a copy.
 *
 * A column is as narrow as loses nothing: float32 where every number of it is one, positions int32 where they fit. Where the
 * NPY file has that type, the column is a view of its elements.
 */
import { crc32 } from 'node:zlib'
import { asInt64 } from '../../core/int64.js'
import { TRACE_ARRAYS, type ParsedTrace, type TraceArrayName } from '../../schema/traces.js'
import { readNpy } from '../../ingest/npz/npy.js'
import type { NpyFile } from '../../ingest/npz/npz.js'
import { encodeNpy, type NumericArray } from '../../ingest/npz/write.js'
import type { TraceColumns } from './contract.js'

const align8 = (n: number): number => (n + 7) & ~7

/** The element types of columns. */
type TokenColumn = TraceColumns['values'] | TraceColumns['responsePositions']
type TokenColumnType = new (buffer: ArrayBufferLike, offset: number, length: number) => TokenColumn

interface ColumnPlan {
  readonly type: TokenColumnType
  readonly itemSize: 4 | 8
  /** the numbers to convert; null: the NPY file's elements are the column */
  readonly from: TokenColumn | Float64Array | null
}

/**
 * @param members NPY files of the three arrays, with the same numbers as the trace
 * @param room buffer to reuse where it is large enough: the page faults of fresh shared memory cost more than the
 *   copies into it
 */
export function layColumns(
  trace: ParsedTrace,
  boundaries: Int32Array,
  members: Readonly<Record<TraceArrayName, NpyFile>>,
  room: SharedArrayBuffer | null
): TraceColumns {
  const n = trace.values.length
  const plans = {
    values: floatPlan(members.values),
    returns: floatPlan(members.returns),
    response_positions: positionPlan(members.response_positions, trace.positions)
  }
  let total = align8(4 * boundaries.length)
  for (const array of TRACE_ARRAYS) {
    total += 8 + align8(members[array].bytes.length) + (plans[array].from === null ? 0 : align8(plans[array].itemSize * n))
  }
  const buffer = room !== null && room.byteLength >= total ? room : new SharedArrayBuffer(total + (total >> 2))
  let at = 0
  const take = (bytes: number): number => {
    const start = at
    at += align8(bytes)
    return start
  }
  const boundaryColumn = new Int32Array(buffer, take(4 * boundaries.length), boundaries.length)
  boundaryColumn.set(boundaries)
  const place = (array: TraceArrayName): { column: TokenColumn; npy: { bytes: Uint8Array; crc32: number } } => {
    const { bytes, crc32, array: stored } = members[array]
    const { type, itemSize, from } = plans[array]
    const header = bytes.length - stored.raw.length
    // The elements lie at a multiple of 8, whatever the length of the header.
    const start = take(bytes.length + 8) + (align8(header) - header)
    const copy = new Uint8Array(buffer, start, bytes.length)
    copy.set(bytes)
    if (from === null) return { column: new type(buffer, start + header, n), npy: { bytes: copy, crc32 } }
    const column = new type(buffer, take(itemSize * n), n)
    // Sound: numbers are converted to numbers, and a BigInt64Array is copied into one.
    ;(column as Float64Array).set(from as Float64Array)
    return { column, npy: { bytes: copy, crc32 } }
  }
  const values = place('values')
  const returns = place('returns')
  const positions = place('response_positions')
  return {
    values: values.column as TraceColumns['values'],
    returns: returns.column as TraceColumns['returns'],
    responsePositions: positions.column as TraceColumns['responsePositions'],
    boundaries: boundaryColumn,
    npy: { values: values.npy, returns: returns.npy, response_positions: positions.npy }
  }
}

/** NPY files of a trace without an NPZ file, each in the narrowest type that holds its numbers. */
export function membersOf(trace: ParsedTrace): Readonly<Record<TraceArrayName, NpyFile>> {
  const file = (data: NumericArray): NpyFile => {
    const bytes = encodeNpy(data)
    return { array: readNpy(bytes), bytes, crc32: crc32(bytes) }
  }
  const floats = (data: Float64Array): NpyFile => file(narrowest(data))
  const { values, returns, positions } = trace
  return {
    values: floats(values),
    returns: floats(returns),
    response_positions: file(isInt32(positions) ? new Int32Array(positions) : asInt64(positions))
  }
}

function floatPlan({ array: { data, descr } }: NpyFile): ColumnPlan {
  if (data instanceof Float32Array) return { type: Float32Array, itemSize: 4, from: isNative(descr) ? null : data }
  if (!(data instanceof Float64Array)) throw new Error(`a column of ${descr}`)
  if (isFloat32(data)) return { type: Float32Array, itemSize: 4, from: data }
  return { type: Float64Array, itemSize: 8, from: isNative(descr) ? null : data }
}

/** @param positions the same numbers as doubles */
function positionPlan({ array: { data, descr } }: NpyFile, positions: Float64Array): ColumnPlan {
  if (data instanceof Int32Array) return { type: Int32Array, itemSize: 4, from: isNative(descr) ? null : data }
  if (!(data instanceof BigInt64Array)) throw new Error(`a column of ${descr}`)
  if (isInt32(positions)) return { type: Int32Array, itemSize: 4, from: positions }
  return { type: BigInt64Array, itemSize: 8, from: isNative(descr) ? null : data }
}

/** Whether the file has the machine's byte order. */
function isNative(descr: string): boolean {
  return !descr.startsWith('>')
}

/** The same numbers in float32 where every one of them is one. */
export function narrowest(numbers: Float64Array): Float32Array | Float64Array {
  return isFloat32(numbers) ? new Float32Array(numbers) : numbers
}

function isFloat32(numbers: Float64Array): boolean {
  for (let i = 0; i < numbers.length; i++) if (Math.fround(numbers[i]) !== numbers[i]) return false
  return true
}

/** Positions increase, so that the first and the last decide. */
function isInt32(positions: Float64Array): boolean {
  return positions[0] >= -2147483648 && positions[positions.length - 1] <= 2147483647
}
