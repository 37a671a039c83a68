/**
 * Decodes the values of one page by its encoding. They are physical values as stored; no logical type is applied. INT96
 * and INT64 are bigints. BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY are views of the page's memory.
 * Not supported: ALP, BIT_PACKED (deprecated for levels).
 * Source: parquet-format Encodings.md. PLAIN (except INT96) and BYTE_STREAM_SPLIT are decoded by hyparquet, after a check
 * of the page's size.
 */
import { byteStreamSplit } from 'hyparquet/src/encoding.js'
import { readPlain } from 'hyparquet/src/plain.js'
import type { Encoding, SchemaElement } from 'hyparquet'
import { decodeDelta, decodeHybrid } from './bits.js'
import { malformedParquet } from './faults.js'

export type ColumnValues =
  | Int32Array
  | BigInt64Array
  | Float32Array
  | Float64Array
  | readonly boolean[]
  | readonly bigint[]
  | readonly Uint8Array[]

export interface EncodedValues {
  /** a buffer of its own that holds the page and nothing else */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** offset of the values */
  readonly start: number
  readonly encoding: Encoding | undefined
  /** number of values that are not null */
  readonly count: number
}

export interface DecodedValues {
  /** one per value; with `indexes`, the dictionary that they point into */
  readonly values: ColumnValues
  readonly indexes: Uint32Array | null
}

/** Most bytes that DELTA_BYTE_ARRAY may make of one page: each value can repeat any part of the one before. */
const MAX_EXPANDED = 256 * 1024 * 1024

export function decodeValues(page: EncodedValues, element: SchemaElement, dictionary: ColumnValues | null): DecodedValues {
  const { bytes, start, encoding, count } = page
  const { type } = element
  switch (encoding) {
    case 'PLAIN':
      return plain(decodePlain(page, element))
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      return { values: dictionary ?? [], indexes: dictionaryIndexes(page, dictionary) }
    case 'RLE': {
      if (type !== 'BOOLEAN') break
      const bits = new Uint8Array(count)
      if (count > 0) decodeHybrid(prefixed(bytes, start), 0, 1, bits)
      return plain(Array.from(bits, bit => bit === 1))
    }
    case 'DELTA_BINARY_PACKED': {
      if (type !== 'INT32' && type !== 'INT64') break
      const output = type === 'INT32' ? new Int32Array(count) : new BigInt64Array(count)
      decodeDelta(bytes, start, output)
      return plain(output)
    }
    case 'DELTA_LENGTH_BYTE_ARRAY':
      if (type !== 'BYTE_ARRAY') break
      return plain(deltaLengths(bytes, start, count))
    case 'DELTA_BYTE_ARRAY':
      if (type !== 'BYTE_ARRAY' && type !== 'FIXED_LEN_BYTE_ARRAY') break
      return plain(deltaBytes(bytes, start, count, element))
    case 'BYTE_STREAM_SPLIT':
      requireBytes(page, count * width(element))
      if (count === 0) return plain([])
      return plain(byteStreamSplit(readerOf(page), count, type ?? 'BYTE_ARRAY', element.type_length) as ColumnValues)
    default:
      throw malformedParquet('unsupported encoding', String(encoding), 'an encoding of Parquet 2')
  }
  throw malformedParquet('wrong encoding', `${encoding} of ${type}`, 'an encoding of that type')
}

export function decodePlain(page: EncodedValues, element: SchemaElement): ColumnValues {
  const { type } = element
  if (type === undefined) throw malformedParquet('malformed schema', 'a column without a type', 'a physical type')
  requireBytes(page, type === 'BOOLEAN' ? Math.ceil(page.count / 8) : page.count * width(element))
  if (type === 'INT96') return plainInt96(readerOf(page).view, page.start, page.count)
  return readPlain(readerOf(page), type, page.count, element.type_length) as ColumnValues
}

/**
 * Nanoseconds of a day in the lower 64 bits, the Julian day above them. Nanoseconds may be negative. Sign extension, as in
 * hyparquet, would then overwrite the day. `value >> 64n` is the day, `BigInt.asIntN(64, value)` the nanoseconds.
 */
function plainInt96(view: DataView, start: number, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => {
    const at = start + 12 * i
    return BigInt.asIntN(96, (BigInt(view.getUint32(at + 8, true)) << 64n) | view.getBigUint64(at, true))
  })
}

function plain(values: ColumnValues): DecodedValues {
  return { values, indexes: null }
}

function readerOf({ bytes, start }: EncodedValues): { view: DataView<ArrayBuffer>; offset: number } {
  return { view: new DataView(bytes.buffer), offset: start }
}

/** Fewest bytes of one plain value. */
function width({ type, type_length: length }: SchemaElement): number {
  switch (type) {
    case 'INT32':
    case 'FLOAT':
    case 'BYTE_ARRAY':
      return 4
    case 'INT64':
    case 'DOUBLE':
      return 8
    case 'INT96':
      return 12
    case 'FIXED_LEN_BYTE_ARRAY':
      if (length === undefined || !(length > 0)) throw malformedParquet('malformed schema', `a fixed length of ${length}`, '1 or more')
      return length
    default:
      throw malformedParquet('wrong encoding', `bytes of ${type}`, 'a type of whole bytes')
  }
}

function requireBytes({ bytes, start, count }: EncodedValues, needed: number): void {
  const available = bytes.length - start
  if (needed > available) throw malformedParquet('truncated page', `${available} bytes for ${count} values`, `${needed} or more`)
}

/** The bytes behind a length prefix of four bytes. */
export function prefixed(bytes: Uint8Array, start: number): Uint8Array {
  if (bytes.length - start < 4) throw malformedParquet('truncated page', `${bytes.length - start} bytes`, 'a length of 4')
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(start, true)
  if (length > bytes.length - start - 4) {
    throw malformedParquet('truncated page', `${bytes.length - start - 4} bytes`, `${length} as stated`)
  }
  return bytes.subarray(start + 4, start + 4 + length)
}

function dictionaryIndexes({ bytes, start, count }: EncodedValues, dictionary: ColumnValues | null): Uint32Array {
  const indexes = new Uint32Array(count)
  if (count === 0) return indexes
  if (dictionary === null) throw malformedParquet('missing dictionary', 'a page of indexes', 'a dictionary page before it')
  if (start >= bytes.length) throw malformedParquet('truncated page', 'no bit width', 'one byte')
  const bits = bytes[start]
  if (bits > 32) throw malformedParquet('malformed page', `indexes of ${bits} bits`, 'at most 32')
  decodeHybrid(bytes, start + 1, bits, indexes)
  for (const index of indexes) {
    if (index >= dictionary.length) throw malformedParquet('wrong index', `${index}`, `below ${dictionary.length}, the dictionary's size`)
  }
  return indexes
}

function lengthsAt(bytes: Uint8Array, start: number, count: number): { lengths: Int32Array; end: number } {
  const lengths = new Int32Array(count)
  const end = decodeDelta(bytes, start, lengths)
  const negative = lengths.find(length => length < 0)
  if (negative !== undefined) throw malformedParquet('malformed page', `a length of ${negative}`, '0 or more')
  return { lengths, end }
}

function deltaLengths(bytes: Uint8Array, start: number, count: number): Uint8Array[] {
  if (count === 0) return []
  const { lengths, end } = lengthsAt(bytes, start, count)
  let at = end
  return Array.from(lengths, length => {
    if (length > bytes.length - at) throw malformedParquet('truncated page', `${bytes.length - at} bytes`, `${length} of a value`)
    at += length
    return bytes.subarray(at - length, at)
  })
}

function deltaBytes(bytes: Uint8Array, start: number, count: number, element: SchemaElement): Uint8Array[] {
  if (count === 0) return []
  const prefixes = lengthsAt(bytes, start, count)
  const suffixes = deltaLengths(bytes, prefixes.end, count)
  let previous = new Uint8Array(0)
  let expanded = 0
  return suffixes.map((suffix, i) => {
    const prefix = prefixes.lengths[i]
    if (prefix > previous.length) throw malformedParquet('malformed page', `a prefix of ${prefix}`, `at most ${previous.length}`)
    expanded += prefix + suffix.length
    if (expanded > MAX_EXPANDED) throw malformedParquet('page inflates too far', `${expanded} bytes`, `at most ${MAX_EXPANDED}`)
    const value = new Uint8Array(prefix + suffix.length)
    value.set(previous.subarray(0, prefix))
    value.set(suffix, prefix)
    previous = value
    if (element.type === 'FIXED_LEN_BYTE_ARRAY' && value.length !== element.type_length) {
      throw malformedParquet('wrong length', `${value.length} bytes`, `${element.type_length}`)
    }
    return value
  })
}
