/**
 * The pages of one column of one row group, in order. Each page is checked: sizes before anything is allocated, the CRC-32
 * of its header if there is one, levels and values against the counts in header and footer. Memory holds one page at a
 * time. hyparquet parses the header. Its column reader is not used, because it starts all columns at once (the second that
 * fails is an unhandled rejection) and accepts a short column as complete.
 * Source: parquet-format README.md, "Data Pages" and "Checksumming".
 */
import { crc32 } from 'node:zlib'
import type { DataPageHeader, Encoding, PageHeader } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { EXIT } from '../../core/errors.js'
import { decodeHybrid } from './bits.js'
import { decompress } from './decompress.js'
import { count, toParquetFault, malformedParquet } from './faults.js'
import { describeColumn, type Chunk, type RowGroup } from './footer.js'
import type { ByteSource } from '../../core/byte-source.js'
import { endOfStruct } from './thrift.js'
import { decodePlain, decodeValues, prefixed, type DecodedValues, type ColumnValues } from './values.js'

export interface Page extends DecodedValues {
  /** one level per value, nulls and empty lists included; null if the column's highest level is 0 */
  readonly definition: Uint8Array | null
  readonly repetition: Uint8Array | null
  /** number of levels */
  readonly levels: number
  /** rows that start in this page */
  readonly rows: number
  /** encoding of the values */
  readonly encoding: Encoding | undefined
  /** true if the encoded levels end where their stated length does */
  readonly levelsFill: boolean
  /** number of nulls that the page's header states; null if its version states none */
  readonly statedNulls: number | null
}

export interface PageTally {
  /** dictionary and data pages read */
  pages: number
  /** pages whose header has a CRC-32, which was checked */
  checksummed: number
}

const MIB = 1024 * 1024
/** Largest page. One string can have this size; the largest page that writers choose is about 1 MiB. */
const MAX_DATA_PAGE_BYTES = 256 * MIB
/** Most values of a page. Runs state any number in five bytes; levels and indexes take five bytes a value in memory. */
const MAX_PAGE_VALUES = 2 ** 24
/** Longest header. Its statistics hold whole values. parquet-cpp has the same limit. */
const MAX_HEADER = 16 * MIB
const MAX_HEADER_FIELDS = 10_000
const READ_AHEAD = MIB
/** Some writers count headers in the uncompressed size, others do not. */
const HEADER_ALLOWANCE = 64 * 1024

interface Header extends PageHeader {
  readonly start: number
  /** offset of the first byte behind the header */
  readonly body: number
}

export async function* columnPages(
  source: ByteSource,
  group: RowGroup,
  chunk: Chunk,
  tally: PageTally,
  signal?: AbortSignal
): AsyncGenerator<Page, void, void> {
  if (chunk.values === 0) return
  const window = new Window(source, chunk.end)
  let dictionary: ColumnValues | null = null
  let at = chunk.start
  let values = 0
  let rows = 0
  let inflated = 0
  while (values < chunk.values) {
    signal?.throwIfAborted()
    const place = { member: `row group ${group.index}`, array: describeColumn(chunk.leaf), offset: at }
    let page: Page | null = null
    try {
      const header = await readHeader(window, at)
      const stored = count(header.compressed_page_size, 'page size', chunk.end - header.body)
      inflated += count(header.uncompressed_page_size, 'uncompressed page size', MAX_DATA_PAGE_BYTES)
      if (inflated > chunk.uncompressedBytes + HEADER_ALLOWANCE) {
        throw malformedParquet('pages too large', `${inflated} bytes`, `${chunk.uncompressedBytes} as the footer states`)
      }
      at = header.body + stored
      // A reader may skip pages of other types, such as index pages.
      if (header.type === 'DICTIONARY_PAGE' || header.type === 'DATA_PAGE' || header.type === 'DATA_PAGE_V2') {
        const bytes = (await window.at(header.body, stored)).slice()
        checkCrc(header, bytes)
        tally.pages++
        if (header.crc !== undefined) tally.checksummed++
        if (header.type === 'DICTIONARY_PAGE') dictionary = readDictionary(header, bytes, chunk, dictionary)
        else page = readData(header, bytes, chunk, dictionary)
      }
      if (page !== null) {
        if (values === 0 && page.repetition !== null && page.repetition[0] !== 0) {
          throw malformedParquet('wrong repetition level', `${page.repetition[0]}`, '0 at the start of the first row')
        }
        values += page.levels
        rows += page.rows
        if (values > chunk.values || rows > group.rows) {
          throw malformedParquet('row counts differ', `${values} values in ${rows} rows`, `${chunk.values} in ${group.rows}`)
        }
      }
    } catch (error) {
      throw toParquetFault(error, 'malformed page', place)
    }
    if (page !== null) yield page
  }
  if (rows !== group.rows) {
    throw malformedParquet('row counts differ', `${rows} rows`, `${group.rows} as the footer states`).at({
      member: `row group ${group.index}`,
      array: describeColumn(chunk.leaf)
    })
  }
}

/** A window on the bytes of a column, read in large steps. */
class Window {
  #bytes = new Uint8Array(0)
  #start = 0

  constructor(
    readonly source: ByteSource,
    readonly end: number
  ) {}

  /** Returns `length` bytes at `start`, which lie within the column. They are valid until the next call. */
  async at(start: number, length: number): Promise<Uint8Array> {
    if (start < this.#start || start + length > this.#start + this.#bytes.length) {
      this.#bytes = await this.source.slice(start, Math.min(this.end, start + Math.max(length, READ_AHEAD)))
      this.#start = start
    }
    return this.#bytes.subarray(start - this.#start, start - this.#start + length)
  }
}

async function readHeader(window: Window, start: number): Promise<Header> {
  const room = Math.min(window.end - start, MAX_HEADER)
  for (let size = 1024; ; size *= 16) {
    const length = Math.min(size, room)
    const bytes = await window.at(start, length)
    const end = endOfStruct(bytes, 0, MAX_HEADER_FIELDS)
    if (end !== null) {
      const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, end) as DataView<ArrayBuffer>, offset: 0 }
      return { ...parquetHeader(reader), start, body: start + end }
    }
    if (length === room) throw malformedParquet('missing page', `${room} bytes without a whole page header`, 'the next page')
  }
}

/** Checks the CRC-32 of a page. It covers the page as stored, levels included. */
function checkCrc(header: Header, bytes: Uint8Array): void {
  if (header.crc === undefined) return
  const actual = crc32(bytes)
  const stated = header.crc >>> 0
  if (actual === stated) return
  const hex = (crc: number): string => crc.toString(16).padStart(8, '0')
  throw malformedParquet('wrong checksum', `CRC-32 ${hex(actual)}`, `${hex(stated)} as its header states`, EXIT.checkFailed)
}

function readDictionary(header: Header, stored: Uint8Array, chunk: Chunk, before: ColumnValues | null): ColumnValues {
  const head = header.dictionary_page_header
  if (head === undefined) throw malformedParquet('malformed page', 'no dictionary header', 'one')
  if (before !== null) throw malformedParquet('malformed page', 'a second dictionary', 'one a column')
  if (head.encoding !== 'PLAIN' && head.encoding !== 'PLAIN_DICTIONARY') {
    throw malformedParquet('unsupported encoding', `a dictionary in ${head.encoding}`, 'PLAIN')
  }
  const bytes = decompress(stored, chunk.meta.codec, header.uncompressed_page_size)
  const values = count(head.num_values, 'number of values', MAX_PAGE_VALUES)
  return decodePlain({ bytes, start: 0, encoding: 'PLAIN', count: values }, chunk.leaf.element)
}

function readData(header: Header, stored: Uint8Array<ArrayBuffer>, chunk: Chunk, dictionary: ColumnValues | null): Page {
  const { leaf, meta } = chunk
  if (header.type === 'DATA_PAGE') {
    const head = header.data_page_header
    if (head === undefined) throw malformedParquet('malformed page', 'no data page header', 'one')
    const levels = count(head.num_values, 'number of values', MAX_PAGE_VALUES)
    const bytes = decompress(stored, meta.codec, header.uncompressed_page_size)
    let start = 0
    let levelsFill = true
    const level = (max: number, encoding: DataPageHeader['encoding']): Uint8Array | null => {
      if (max === 0) return null
      if (encoding !== 'RLE') throw malformedParquet('unsupported encoding', `levels in ${encoding}`, 'RLE')
      const encoded = prefixed(bytes, start)
      start += 4 + encoded.length
      const decoded = decodeLevels(encoded, max, levels)
      levelsFill &&= decoded.end === encoded.length
      return decoded.output
    }
    const repetition = level(leaf.repetition, head.repetition_level_encoding)
    const definition = level(leaf.definition, head.definition_level_encoding)
    return {
      ...finish(repetition, definition, levels, null, { bytes, start, encoding: head.encoding }, chunk, dictionary),
      levelsFill,
      statedNulls: null
    }
  }
  const head = header.data_page_header_v2
  if (head === undefined) throw malformedParquet('malformed page', 'no data page header', 'one')
  const levels = count(head.num_values, 'number of values', MAX_PAGE_VALUES)
  const room = Math.min(stored.length, header.uncompressed_page_size)
  const repetitionBytes = count(head.repetition_levels_byte_length, 'size of the repetition levels', room)
  const definitionBytes = count(head.definition_levels_byte_length, 'size of the definition levels', room - repetitionBytes)
  const body = repetitionBytes + definitionBytes
  const level = (max: number, start: number, end: number): ReturnType<typeof decodeLevels> | null =>
    max === 0 ? null : decodeLevels(stored.subarray(start, end), max, levels)
  const repetition = level(leaf.repetition, 0, repetitionBytes)
  const definition = level(leaf.definition, repetitionBytes, body)
  const levelsFill = (repetition?.end ?? 0) === repetitionBytes && (definition?.end ?? 0) === definitionBytes
  const codec = head.is_compressed === false ? 'UNCOMPRESSED' : meta.codec
  const bytes = decompress(stored.slice(body), codec, header.uncompressed_page_size - body)
  const stated = { nulls: count(head.num_nulls, 'number of nulls'), rows: count(head.num_rows, 'number of rows') }
  const encoded = { bytes, start: 0, encoding: head.encoding }
  const page = finish(repetition?.output ?? null, definition?.output ?? null, levels, stated, encoded, chunk, dictionary)
  return { ...page, levelsFill, statedNulls: stated.nulls }
}

function decodeLevels(encoded: Uint8Array, max: number, levels: number): { readonly output: Uint8Array; readonly end: number } {
  const output = new Uint8Array(levels)
  const end = decodeHybrid(encoded, 0, 32 - Math.clz32(max), output)
  const wrong = output.find(level => level > max)
  if (wrong !== undefined) throw malformedParquet('wrong level', `${wrong}`, `at most ${max}`)
  return { output, end }
}

function finish(
  repetition: Uint8Array | null,
  definition: Uint8Array | null,
  levels: number,
  stated: { readonly nulls: number; readonly rows: number } | null,
  encoded: Omit<Parameters<typeof decodeValues>[0], 'count'>,
  { leaf }: Chunk,
  dictionary: ColumnValues | null
): Omit<Page, 'levelsFill' | 'statedNulls'> {
  const values = definition === null ? levels : tally(definition, leaf.definition)
  const rows = repetition === null ? levels : tally(repetition, 0)
  const nulls = levels - values
  // Arrow's writer does not count values that are absent because a list or struct above is empty or null. The levels do.
  const isNested = leaf.repetition > 0 || leaf.definition > 1
  if (stated !== null && (isNested ? nulls < stated.nulls : nulls !== stated.nulls)) {
    throw malformedParquet('wrong number of nulls', `${nulls}`, `${stated.nulls} as its header states`)
  }
  if (stated !== null && rows !== stated.rows) {
    throw malformedParquet('row counts differ', `${rows} rows`, `${stated.rows} as its header states`)
  }
  const decoded = decodeValues({ ...encoded, count: values }, leaf.element, dictionary)
  return { ...decoded, definition, repetition, levels, rows, encoding: encoded.encoding }
}

function tally(levels: Uint8Array, wanted: number): number {
  let found = 0
  for (const level of levels) if (level === wanted) found++
  return found
}
