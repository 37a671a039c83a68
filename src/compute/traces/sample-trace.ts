/**
 * The trace of a sample: its tokens with mask 1, in their order, each with its index in the response as position. The other
 * tokens are dropped here; the diagnostics read them from the sample itself.
 */
import { crc32 } from 'node:zlib'
import { EXIT, Fault, printable, printableId, type Place } from '../../core/errors.js'
import type { NpyFile } from '../../ingest/npz/npz.js'
import { encodeNpyHeader } from '../../ingest/npz/encode.js'
import { kernelOfThread } from '../../kernel/open.js'
import type { SlicePool } from '../../ingest/json/pool.js'
import {
  retainedIndexes,
  rowOfPlace,
  SAMPLE_ARRAYS,
  type Sample,
  type SampleArray,
  type SampleFields,
  type SampleNumbers
} from '../../schema/samples.js'
import type { TurnTexts } from '../../schema/explorer.js'
import type { ParsedTrace, SpanTexts, TraceArrayName, TraceFields } from '../../schema/traces.js'
import type { SampleSource } from './contract.js'

/** What a thread is told of a sample. Its arrays are views of one shared buffer, so that nothing is copied between threads. */
export interface PackedSample {
  /** without its token ids */
  readonly sample: Sample
  readonly buffer: Uint8Array
  /** null: no texts are known */
  readonly spans: SpanTexts | null
  /** of its turns; absent: not asked for */
  readonly texts?: TurnTexts | undefined
}

/** Copies a sample into a buffer of the pool, which gets it back by `give(packed.buffer)`. */
export function packSample(sample: Sample, buffers: SlicePool, spans: SpanTexts | null = null, texts?: TurnTexts): PackedSample {
  const { index, place, fields, mask, arrays } = sample
  const named = SAMPLE_ARRAYS.flatMap(name => {
    const numbers = arrays[name]
    return numbers === undefined ? [] : [{ name, numbers }]
  })
  // Wider numbers first, so that each array lies at a multiple of its element's size.
  named.sort((a, b) => b.numbers.BYTES_PER_ELEMENT - a.numbers.BYTES_PER_ELEMENT)
  const buffer = buffers.take(named.reduce((sum, { numbers }) => sum + numbers.byteLength, mask.length))
  let at = 0
  const shared: { [name in SampleArray]?: SampleNumbers } = {}
  for (const { name, numbers } of named) {
    shared[name] = sharedCopy(numbers, buffer.buffer, at)
    at += numbers.byteLength
  }
  const ownMask = new Uint8Array(buffer.buffer, at, mask.length)
  ownMask.set(mask)
  return { sample: { index, place, fields, mask: ownMask, arrays: shared, tokenIds: null }, buffer, spans, texts }
}

function sharedCopy(numbers: SampleNumbers, buffer: ArrayBufferLike, at: number): SampleNumbers {
  const to = numbers instanceof Float32Array ? new Float32Array(buffer, at, numbers.length) : new Float64Array(buffer, at, numbers.length)
  to.set(numbers)
  return to
}

/** Where the dump has the sample. */
export function sourceOfSample({ place }: Sample): SampleSource {
  return { file: place.file ?? '', row: rowOfPlace(place) }
}

/** The fields that a trace of a page has too. */
function traceFields({ step, outcome, score, uid }: SampleFields): TraceFields {
  return { step, outcome, score, uid, predictionStage: null, npz: null, valueMean: null, valueRmse: null }
}

/**
 * The trace, and the same arrays as NPY files in the width of the dump: float32 or float64, int32. All lie in the memory of the thread's
 * kernel, which reads them there, and where the next trace takes their place.
 */
export function traceOfSample({ sample, spans, texts }: PackedSample): {
  readonly trace: ParsedTrace
  readonly members: Readonly<Record<TraceArrayName, NpyFile>>
} {
  const { index, fields, mask } = sample
  const { values, returns } = arraysOfTrace(sample)
  const kept = keptMember(mask)
  const own = { values: retainedMember(values, kept.data), returns: retainedMember(returns, kept.data) }
  const doubles = (from: SampleNumbers | Int32Array): Float64Array => {
    const to = takeArray(Float64Array, from.length)
    to.set(from)
    return to
  }
  return {
    trace: {
      index,
      fields: traceFields(fields),
      values: doubles(own.values.data),
      returns: doubles(own.returns.data),
      positions: doubles(kept.data),
      spans,
      texts
    },
    members: { values: fileOf(own.values), returns: fileOf(own.returns), response_positions: fileOf(kept) }
  }
}

function arraysOfTrace({ arrays: { values, returns } }: Sample): { readonly values: SampleNumbers; readonly returns: SampleNumbers } {
  if (values === undefined || returns === undefined) throw new Error('a sample without values or returns has no trace')
  return { values, returns }
}

type ArrayType<T> = new (buffer: ArrayBufferLike, offset: number, length: number) => T

function takeArray<T>(type: ArrayType<T> & { readonly BYTES_PER_ELEMENT: number }, length: number): T {
  const { buffer, byteOffset } = kernelOfThread().take(length * type.BYTES_PER_ELEMENT)
  return new type(buffer, byteOffset, length)
}

/** An NPY file whose elements are not written yet. */
interface NpyMember<T> {
  readonly descr: string
  readonly bytes: Uint8Array
  readonly data: T
}

/** A header is as long as a multiple of 64, so that the elements lie at a multiple of their size. */
function takeMember<T>(type: ArrayType<T> & { readonly BYTES_PER_ELEMENT: number }, descr: string, length: number): NpyMember<T> {
  const header = encodeNpyHeader(descr, [length])
  const bytes = kernelOfThread().take(header.length + length * type.BYTES_PER_ELEMENT)
  bytes.set(header)
  return { descr, bytes, data: new type(bytes.buffer, bytes.byteOffset + header.length, length) }
}

/** What `readNpy` would read of these bytes. */
function fileOf({ descr, bytes, data }: NpyMember<SampleNumbers | Int32Array>): NpyFile {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return { array: { descr, shape: [data.length], fortranOrder: false, data, raw, rawDescr: descr }, bytes, crc32: crc32(bytes) }
}

/** Indexes of the tokens with mask 1, increasing. */
function keptMember(mask: Uint8Array): NpyMember<Int32Array> {
  let count = 0
  for (let t = 0; t < mask.length; t++) count += mask[t]
  const member = takeMember(Int32Array, '<i4', count)
  const { data } = member
  for (let t = 0, n = 0; n < count; t++) if (mask[t] === 1) data[n++] = t
  return member
}

function retainedMember(from: SampleNumbers, kept: Int32Array): NpyMember<SampleNumbers> {
  const member = from instanceof Float32Array ? takeMember(Float32Array, '<f4', kept.length) : takeMember(Float64Array, '<f8', kept.length)
  const { data } = member
  for (let i = 0; i < kept.length; i++) data[i] = from[kept[i]]
  return member
}

/**
 * Checks that a second dump holds the same trace: as many tokens, every position, value and return equal as numbers, and the same
 * fields where both state them.
 *
 * @param file the first dump's file, for the message
 * @throws Fault (exit 1) at the first difference, with its index and both numbers
 */
export function checkSameTrace(trace: ParsedTrace, file: string, second: PackedSample): void {
  const { mask, fields } = second.sample
  const { values, returns } = arraysOfTrace(second.sample)
  const kept = retainedIndexes(mask)
  const other = { response_positions: kept, values: retained(values, kept), returns: retained(returns, kept) }
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
  for (const field of ['uid', 'step', 'outcome', 'score'] as const) {
    const [a, b] = [trace.fields[field], fields[field]]
    if (a === null || b === null || a === b) continue
    throw differs(
      `${field} differs`,
      `${printable(String(b))} in ${named(second)}`,
      `${printable(String(a))} as in ${printableId(file)}`,
      {}
    )
  }
}

function named({ sample }: PackedSample): string {
  const { file, row } = sourceOfSample(sample)
  return `${printableId(file)}${row === null ? '' : `, row ${row}`}`
}

function differs(problem: string, found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'trace', problem, found, expected, place, exitCode: EXIT.checkFailed })
}

function retained<T extends SampleNumbers>(from: T, kept: Int32Array): T {
  const to = new (from.constructor as new (length: number) => T)(kept.length)
  for (let i = 0; i < kept.length; i++) to[i] = from[kept[i]]
  return to
}

export function placeOfSample({ file, row }: SampleSource): Place {
  return { file, ...(row === null ? {} : { trace: row }) }
}
