/**
 * Files of safetensors: the length of the header in eight bytes, a JSON header, then the elements of all tensors.
 *
 * Source: the format's README and safetensors/src/tensor.rs. As there, the tensors fill the bytes without holes or overlaps.
 * Stricter: no name or field may stand twice. A field that the format does not have is passed over, as there.
 */
import { Fault, printable, type Place } from '../../core/errors.js'
import { parseStrictJson } from '../../core/strict-json.js'
import type { ByteSource } from '../../core/byte-source.js'
import { isTensorDtype, ITEM_SIZE } from '../tensors/dtypes.js'
import { contiguousStride, lengthOf } from '../tensors/strides.js'
import { storedTensor } from '../tensors/stored-tensor.js'
import { Opaque, type Tensor } from '../tensors/tensor.js'

export interface Safetensors {
  /** in the order of their bytes in the file; an Opaque where the dtype is not read (F8_E4M3, C64 …) */
  readonly tensors: ReadonlyMap<string, Tensor | Opaque>
  readonly metadata: ReadonlyMap<string, string>
}

export interface SafetensorsOptions {
  /** name of the file, for faults */
  readonly file?: string
}

const LENGTH_BYTES = 8
/** As safetensors limits it. */
const MAX_HEADER = 100_000_000
const BRACE = 0x7b
const METADATA = '__metadata__'

/** Bits of an element of the dtypes that are not read. */
const UNREAD_BITS: ReadonlyMap<string, number> = new Map([
  ['F4', 4],
  ['F6_E2M3', 6],
  ['F6_E3M2', 6],
  ['F8_E5M2', 8],
  ['F8_E4M3', 8],
  ['F8_E8M0', 8],
  ['F8_E4M3FNUZ', 8],
  ['F8_E5M2FNUZ', 8],
  ['C64', 64]
])

/** What the header says of a tensor. */
interface Entry {
  readonly name: string
  readonly dtype: string
  readonly shape: readonly number[]
  /** bytes behind the header */
  readonly start: number
  readonly end: number
}

function safetensorsFault(problem: string, found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'safetensors', problem, found, expected, place })
}

/** Whether a file begins as safetensors does: a length that fits, then `{`. Reads nine bytes. */
export async function recogniseSafetensors(source: ByteSource): Promise<boolean> {
  if (source.size <= LENGTH_BYTES) return false
  const head = await source.slice(0, LENGTH_BYTES + 1)
  const length = headerLength(head)
  return length <= MAX_HEADER && LENGTH_BYTES + length <= source.size && head[LENGTH_BYTES] === BRACE
}

/** Whether a file, which may be cut, begins with the length of a header and the header's `{`. @param head nine bytes or more */
export function statesHeader(head: Uint8Array): boolean {
  return head.length > LENGTH_BYTES && headerLength(head) <= MAX_HEADER && head[LENGTH_BYTES] === BRACE
}

/** Reads the header. `source` must stay open while tensors of it are read. @throws Fault */
export async function readSafetensors(source: ByteSource, options: SafetensorsOptions = {}): Promise<Safetensors> {
  const place: Place = options.file === undefined ? {} : { file: options.file }
  if (source.size < LENGTH_BYTES) throw safetensorsFault('truncated', `${source.size} bytes`, 'a length of 8 bytes', place)
  const length = headerLength(await source.slice(0, LENGTH_BYTES))
  const most = Math.min(MAX_HEADER, source.size - LENGTH_BYTES)
  if (length > most) throw safetensorsFault('impossible header length', `${length} bytes`, `at most ${most}`, place)
  const bytes = await source.slice(LENGTH_BYTES, LENGTH_BYTES + length)
  if (bytes[0] !== BRACE) {
    throw safetensorsFault('malformed header', `byte ${bytes[0] ?? 'none'}`, 'a JSON object', { ...place, offset: LENGTH_BYTES })
  }
  const { entries, metadata } = parseHeader(bytes, place)
  const base = LENGTH_BYTES + length
  checkExtents(entries, source.size - base, place)
  return { tensors: new Map(entries.map(entry => [entry.name, tensorOf(source, base, entry, place)])), metadata }
}

function headerLength(head: Uint8Array): number {
  return Number(new DataView(head.buffer, head.byteOffset, LENGTH_BYTES).getBigUint64(0, true))
}

interface SafetensorsHeader {
  readonly entries: Entry[]
  readonly metadata: ReadonlyMap<string, string>
}

function parseHeader(bytes: Uint8Array, place: Place): SafetensorsHeader {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    const found = { problem: 'wrong encoding', found: 'bytes that are not UTF-8', expected: 'UTF-8' }
    throw new Fault({ format: 'safetensors', ...found, place, cause })
  }
  const header = parseStrictJson(text, 'safetensors', place, { exactNumbers: true })
  const entries: Entry[] = []
  let metadata: ReadonlyMap<string, string> = new Map()
  for (const [name, value] of Object.entries(objectOf(header, 'header', place))) {
    if (name === METADATA) metadata = metadataOf(value, { ...place, array: METADATA })
    else entries.push(entryOf(name, value, { ...place, array: name }))
  }
  return { entries, metadata }
}

function objectOf(value: unknown, what: string, place: Place): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw safetensorsFault(`malformed ${what}`, kindOf(value), 'an object', place)
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

function metadataOf(value: unknown, place: Place): ReadonlyMap<string, string> {
  const entries = Object.entries(objectOf(value, 'metadata', place))
  return new Map(
    entries.map(([key, text]) => {
      if (typeof text === 'string') return [key, text]
      throw safetensorsFault('malformed metadata', `${kindOf(text)} for ${printable(key)}`, 'a text', place)
    })
  )
}

function entryOf(name: string, value: unknown, place: Place): Entry {
  const { dtype, shape, data_offsets: offsets } = objectOf(value, 'tensor', place)
  if (typeof dtype !== 'string') throw safetensorsFault('malformed dtype', kindOf(dtype), 'a text', place)
  const sizes = countsOf(shape, 'shape', place)
  const [start, end, ...more] = countsOf(offsets, 'data_offsets', place)
  if (end === undefined || more.length > 0 || start > end) {
    throw safetensorsFault('malformed data_offsets', printable(JSON.stringify(offsets)), 'start and end', place)
  }
  const bits = isTensorDtype(dtype) ? 8 * ITEM_SIZE[dtype] : UNREAD_BITS.get(dtype)
  if (bits === undefined) throw safetensorsFault('unknown dtype', printable(dtype), 'a dtype of safetensors', place)
  const bytes = (lengthOf(sizes) * bits) / 8
  if (bytes !== end - start) {
    throw safetensorsFault('wrong size', `${end - start} bytes`, `${bytes} for ${dtype} of shape [${sizes.join(', ')}]`, place)
  }
  return { name, dtype, shape: sizes, start, end }
}

function countsOf(value: unknown, what: string, place: Place): readonly number[] {
  const isCounts = Array.isArray(value) && value.every(n => Number.isSafeInteger(n) && n >= 0)
  if (isCounts) return value as number[]
  const found = Array.isArray(value) ? printable(JSON.stringify(value)) : kindOf(value)
  throw safetensorsFault(`malformed ${what}`, found, 'a list of integers from 0 to 2^53', place)
}

/** Sorts the tensors by place. @throws Fault where they leave a hole, overlap, or do not fill the bytes */
function checkExtents(entries: Entry[], available: number, place: Place): void {
  entries.sort((a, b) => a.start - b.start || a.end - b.end)
  let at = 0
  for (const { name, start, end } of entries) {
    const where = { ...place, array: name }
    if (start > at) throw safetensorsFault('hole in the data', `${start - at} bytes in front of byte ${start}`, 'none', where)
    if (start < at) throw safetensorsFault('overlapping tensors', `a start at byte ${start}`, `byte ${at}`, where)
    if (end > available) throw safetensorsFault('truncated', `${available} bytes of data`, `${end} for this tensor`, where)
    at = end
  }
  if (at < available) throw safetensorsFault('trailing bytes', `${available - at} bytes behind the last tensor`, 'none', place)
}

function tensorOf(source: ByteSource, base: number, entry: Entry, file: Place): Tensor | Opaque {
  const { name, dtype, shape, start, end } = entry
  if (!isTensorDtype(dtype)) return new Opaque('safetensors', dtype, `one of ${Object.keys(ITEM_SIZE).join(', ')}`)
  const storage = {
    name,
    bytes: end - start,
    bigEndian: false,
    slice: (from: number, to: number) => source.slice(base + start + from, base + start + to)
  }
  const layout = { dtype, shape, stride: contiguousStride(shape), offset: 0 }
  return storedTensor(storage, layout, 'safetensors', { ...file, array: name })
}
