/**
 * Lays the columns of one trace into a single SharedArrayBuffer. The parser's arrays are scratch memory that the next
 * trace overwrites, and a shared buffer reaches the main thread without a copy.
 */
import { crc32 } from 'node:zlib'
import { TRACE_ARRAYS, type ParsedTrace, type TraceArrayName } from '../../schema/traces.js'
import { readNpy } from '../../ingest/npz/npy.js'
import type { NpyFile } from '../../ingest/npz/npz.js'
import { encodeNpy, type NumericArray } from '../../ingest/npz/write.js'
import type { TraceColumns } from './contract.js'

const align8 = (n: number): number => (n + 7) & ~7

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
  let total = 3 * 8 * n + align8(4 * boundaries.length)
  for (const array of TRACE_ARRAYS) total += align8(members[array].bytes.length)
  const buffer = room !== null && room.byteLength >= total ? room : new SharedArrayBuffer(total + (total >> 2))
  const values = new Float64Array(buffer, 0, n)
  values.set(trace.values)
  const returns = new Float64Array(buffer, 8 * n, n)
  returns.set(trace.returns)
  const positions = new BigInt64Array(buffer, 16 * n, n)
  const stored = members.response_positions.array.data
  // int64 as stored equals the trace's positions, and the runtime copies it. Other types need a compiled loop.
  if (stored instanceof BigInt64Array) positions.set(stored)
  else writeInt64(new Int32Array(buffer, 16 * n, 2 * n), trace.positions)
  let at = 24 * n
  const boundaryColumn = new Int32Array(buffer, at, boundaries.length)
  boundaryColumn.set(boundaries)
  at += align8(4 * boundaries.length)
  const place = (array: TraceArrayName): { bytes: Uint8Array; crc32: number } => {
    const { bytes, crc32 } = members[array]
    const copy = new Uint8Array(buffer, at, bytes.length)
    copy.set(bytes)
    at += align8(bytes.length)
    return { bytes: copy, crc32 }
  }
  return {
    values,
    returns,
    responsePositions: positions,
    boundaries: boundaryColumn,
    npy: { values: place('values'), returns: place('returns'), response_positions: place('response_positions') }
  }
}

/** NPY files of a trace without an NPZ file. They are float64 and int64, the types into which the page's numbers were read. */
export function membersOf(trace: ParsedTrace): Readonly<Record<TraceArrayName, NpyFile>> {
  const positions = new BigInt64Array(trace.positions.length)
  writeInt64(new Int32Array(positions.buffer), trace.positions)
  const file = (data: NumericArray): NpyFile => {
    const bytes = encodeNpy(data)
    return { array: readNpy(bytes), bytes, crc32: crc32(bytes) }
  }
  return { values: file(trace.values), returns: file(trace.returns), response_positions: file(positions) }
}

/** Writes safe integers as little-endian 64-bit pairs. A BigInt for each integer would make one object per token. */
function writeInt64(pairs: Int32Array, integers: Float64Array): void {
  for (let i = 0; i < integers.length; i++) {
    const high = Math.floor(integers[i] / 4294967296)
    pairs[2 * i] = integers[i] - high * 4294967296
    pairs[2 * i + 1] = high
  }
}
