/**
 * The trace of a sample: its tokens with mask 1, in their order, each with its index in the response as position. The other
 * tokens are dropped here; the diagnostics read them from the sample itself.
 */
import { crc32 } from 'node:zlib'
import { EXIT, Fault, printableId, type Place } from '../../core/errors.js'
import { readNpy } from '../../ingest/npz/npy.js'
import type { NpyFile } from '../../ingest/npz/npz.js'
import { encodeNpy } from '../../ingest/npz/write.js'
import type { SlicePool } from '../../ingest/json/pool.js'
import { rowOfPlace, type Sample, type SampleFields, type SampleNumbers } from '../../schema/samples.js'
import type { ParsedTrace, SpanTexts, TraceArrayName, TraceFields } from '../../schema/traces.js'
import type { SampleSource } from './contract.js'

/** What a thread is told of a sample. Its arrays are views of one shared buffer, so that nothing is copied between threads. */
export interface PackedSample {
  readonly fields: TraceFields
  readonly source: SampleSource
  readonly buffer: Uint8Array
  readonly mask: Uint8Array
  readonly values: SampleNumbers
  readonly returns: SampleNumbers
  /** null: no texts are known */
  readonly spans: SpanTexts | null
}

/** Copies a sample with values and returns into a buffer of the pool, which gets it back by `give(packed.buffer)`. */
export function packSample({ fields, place, mask, arrays }: Sample, buffers: SlicePool, spans: SpanTexts | null = null): PackedSample {
  const { values, returns } = arrays
  if (values === undefined || returns === undefined) throw new Error('a sample without values or returns has no trace')
  const tokens = mask.length
  const buffer = buffers.take(values.byteLength + returns.byteLength + tokens)
  const shared = <T extends SampleNumbers>(from: T, at: number): T => {
    const to = new (from.constructor as SampleNumbersConstructor<T>)(buffer.buffer, at, tokens)
    to.set(from)
    return to
  }
  // Wider numbers first, so that each array lies at a multiple of its element's size.
  const [first, second] = values.BYTES_PER_ELEMENT >= returns.BYTES_PER_ELEMENT ? [values, returns] : [returns, values]
  const a = shared(first, 0)
  const b = shared(second, first.byteLength)
  const ownMask = new Uint8Array(buffer.buffer, first.byteLength + second.byteLength, tokens)
  ownMask.set(mask)
  return {
    fields: traceFields(fields),
    source: { file: place.file ?? '', row: rowOfPlace(place) },
    buffer,
    mask: ownMask,
    values: first === values ? a : b,
    returns: first === values ? b : a,
    spans
  }
}

type SampleNumbersConstructor<T> = new (buffer: ArrayBufferLike, offset: number, length: number) => T

/** The fields that a trace of a page has too. */
function traceFields({ step, outcome, score, uid }: SampleFields): TraceFields {
  return { step, outcome, score, uid, predictionStage: null, npz: null, valueMean: null, valueRmse: null }
}

/** The trace, and the same arrays as NPY files in the width of the dump: float32 or float64, int32. */
export function traceOfSample(
  { fields, mask, values, returns, spans }: PackedSample,
  index: number
): { readonly trace: ParsedTrace; readonly members: Readonly<Record<TraceArrayName, NpyFile>> } {
  const kept = indexesOf(mask)
  const [ownValues, ownReturns] = [retained(values, kept), retained(returns, kept)]
  return {
    trace: {
      index,
      fields,
      values: new Float64Array(ownValues),
      returns: new Float64Array(ownReturns),
      positions: new Float64Array(kept),
      spans
    },
    members: { values: memberOf(ownValues), returns: memberOf(ownReturns), response_positions: memberOf(kept) }
  }
}

/**
 * Checks that a second dump holds the same trace: as many tokens, and every position, value and return equal as numbers.
 *
 * @param file the first dump's file, for the message
 * @throws Fault (exit 1) at the first difference, with its index and both numbers
 */
export function checkSameTrace(trace: ParsedTrace, file: string, second: PackedSample): void {
  const kept = indexesOf(second.mask)
  const other = { response_positions: kept, values: retained(second.values, kept), returns: retained(second.returns, kept) }
  const own = { response_positions: trace.positions, values: trace.values, returns: trace.returns }
  if (kept.length !== own.values.length) {
    throw differs(
      'length differs',
      `${kept.length} retained tokens in ${named(second)}`,
      `${own.values.length} as in ${printableId(file)}`,
      {}
    )
  }
  for (const array of ['response_positions', 'values', 'returns'] as const) {
    const [a, b] = [own[array], other[array]]
    for (let index = 0; index < a.length; index++) {
      if (a[index] === b[index]) continue
      throw differs('value differs', `${b[index]} in ${named(second)}`, `${a[index]} as in ${printableId(file)}`, { array, index })
    }
  }
}

function named({ source: { file, row } }: PackedSample): string {
  return `${printableId(file)}${row === null ? '' : `, row ${row}`}`
}

function differs(problem: string, found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'trace', problem, found, expected, place, exitCode: EXIT.checkFailed })
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

export function placeOfSample({ file, row }: SampleSource): Place {
  return { file, ...(row === null ? {} : { trace: row }) }
}
