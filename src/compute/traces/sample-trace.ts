/**
 * The trace of a sample: its tokens with mask 1, in their order, each with its index in the response as position. The other
 * tokens are dropped here; the diagnostics read them from the sample itself.
 */
import { crc32 } from 'node:zlib'
import { readNpy } from '../../ingest/npz/npy.js'
import type { NpyFile } from '../../ingest/npz/npz.js'
import { encodeNpy } from '../../ingest/npz/write.js'
import type { SampleNumbers } from '../../schema/samples.js'
import type { ParsedTrace, TraceArrayName, TraceFields } from '../../schema/traces.js'

/** What a thread is told of a sample. The arrays have T elements each and lie in one shared buffer. */
export interface PackedSample {
  readonly fields: TraceFields
  readonly mask: Uint8Array
  readonly values: SampleNumbers
  readonly returns: SampleNumbers
  /** positions that the dump states; null: the index in the response */
  readonly positions: Float64Array | null
}

/** The trace, and the same arrays as NPY files in the width of the dump: float32 or float64, int32. */
export function traceOfSample(
  { fields, mask, values, returns, positions }: PackedSample,
  index: number
): { readonly trace: ParsedTrace; readonly members: Readonly<Record<TraceArrayName, NpyFile>> } {
  const kept = indexesOf(mask)
  const [ownValues, ownReturns] = [retained(values, kept), retained(returns, kept)]
  const ownPositions = positions === null ? kept : new Float64Array(retained(positions, kept))
  return {
    trace: {
      index,
      fields,
      values: new Float64Array(ownValues),
      returns: new Float64Array(ownReturns),
      positions: new Float64Array(ownPositions),
      spans: null
    },
    members: { values: memberOf(ownValues), returns: memberOf(ownReturns), response_positions: memberOf(kept) }
  }
}

/** Indexes of the tokens with mask 1, increasing. */
function indexesOf(mask: Uint8Array): Int32Array {
  const indexes = new Int32Array(mask.length)
  let n = 0
  for (let t = 0; t < mask.length; t++) {
    indexes[n] = t
    n += mask[t]
  }
  return indexes.subarray(0, n)
}

function retained<T extends SampleNumbers>(from: T, kept: Int32Array): T {
  const to = new (from.constructor as new (length: number) => T)(kept.length)
  for (let i = 0; i < kept.length; i++) to[i] = from[kept[i]]
  return to
}

function memberOf(data: SampleNumbers | Int32Array): NpyFile {
  const bytes = encodeNpy(data)
  return { array: readNpy(bytes), bytes, crc32: crc32(bytes) }
}
