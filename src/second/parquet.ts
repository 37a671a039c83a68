/**
 * Second reading of Parquet by parquetjs-lite: levels and every physical value of each column of a row group.
 *
 * Of 63 real files it read 15 right and 5 silently wrong (dictionaries of numbers become texts, INT96); on the others it
 * threw. So our reading of footer and page headers decides which columns it judges: plain values, uncompressed, gzip or
 * snappy, without a dictionary. It checks no checksum.
 */
import { createRequire } from 'node:module'
import { Fault, type Place } from '../core/errors.js'
import { comparingWords } from '../core/still.js'
import { openStill } from '../core/still-file.js'
import { refuseBombs } from '../ingest/parquet/audit.js'
import { describeColumn, readFooter, type Chunk, type Footer } from '../ingest/parquet/footer.js'
import { columnPages, type Page } from '../ingest/parquet/pages.js'
import type { Leaf } from '../ingest/parquet/schema.js'
import type { ByteSource } from '../core/byte-source.js'
import { Comparison, thrown, type SecondReading } from './reading.js'

/** Largest file. The second reader holds it in memory. */
export const MAX_PARQUET_BYTES = 256 * 2 ** 20
/** Largest column of a row group, inflated. */
const MAX_COLUMN_BYTES = 64 * 2 ** 20
const MAX_COLUMN_VALUES = 2 ** 22

interface Library {
  readonly ParquetEnvelopeReader: { openBuffer(bytes: Buffer): Promise<{ readFooter(): Promise<LibraryMetadata> }> }
  readonly ParquetReader: {
    openBuffer(bytes: Buffer, options: { readonly metadata: LibraryMetadata; readonly rawStatistics: true }): Promise<LibraryReader>
  }
}

interface LibraryMetadata {
  version: number
  readonly num_rows: { valueOf(): number }
  readonly row_groups: readonly { readonly columns: readonly object[] }[]
}

interface LibraryReader {
  readonly metadata: LibraryMetadata
  readonly schema: object
  readonly envelopeReader: { readColumnChunk(schema: object, column: object): Promise<LibraryColumn> }
}

interface LibraryColumn {
  readonly dlevels: ArrayLike<unknown>
  readonly rlevels: ArrayLike<unknown>
  readonly values: ArrayLike<unknown>
}

/** Reads the pages of one column of a row group with our reader. */
export type OwnPages = (source: ByteSource, footer: Footer, group: number, chunk: Chunk) => AsyncIterable<Page>

const ownPages: OwnPages = (source, footer, group, chunk) => columnPages(source, footer.groups[group], chunk, { pages: 0, checksummed: 0 })

/** @param maxBytes another limit; tests pass a small one */
export async function compareParquet(path: string, pagesOf = ownPages, maxBytes = MAX_PARQUET_BYTES): Promise<SecondReading> {
  const comparison = new Comparison('parquet', 'parquetjs-lite', path)
  return comparison.run(async () => {
    const file = await openStill(path, comparingWords('parquet'))
    try {
      const footer = await readFooter(file)
      // 1. Our reader alone, every page: its refusals count, whatever the second reader can judge of the file.
      refuseBombs(footer.groups.flatMap(({ chunks }) => chunks))
      const unsupported = new Map<Chunk, string>()
      for (const [group, { chunks }] of footer.groups.entries()) {
        for (const chunk of chunks) {
          const reason = await whyUnsupported(pagesOf(file, footer, group, chunk))
          if (reason !== null) unsupported.set(chunk, reason)
        }
      }
      // 2. Both readers.
      if (file.size > maxBytes) {
        comparison.unread(null, `more than ${maxBytes} bytes, which the second reader would hold`)
        return
      }
      const second = await openSecond(await file.slice(0, file.size), comparison)
      if (second === null) return
      comparison.agree(footer.rows, Number(second.metadata.num_rows))
      comparison.agree(footer.groups.length, second.metadata.row_groups.length)
      for (const [group, { chunks }] of footer.groups.entries()) {
        for (const chunk of chunks) {
          const reason = doubtOfColumn(chunk) ?? unsupported.get(chunk) ?? null
          await compareColumn(comparison, pagesOf(file, footer, group, chunk), group, chunk, second, reason)
        }
      }
      await file.assertStill()
    } finally {
      await file.close()
    }
  })
}

/** Reads a column's pages to the end. Legal Parquet that our reader does not support is not a refusal of the file. */
async function whyUnsupported(own: AsyncIterable<Page>): Promise<string | null> {
  try {
    for await (const page of own) void page
    return null
  } catch (error) {
    if (!(error instanceof Fault) || !error.details.problem.startsWith('unsupported')) throw error
    return `our reader refuses it: ${error.message}`
  }
}

async function openSecond(bytes: Uint8Array, comparison: Comparison): Promise<LibraryReader | null> {
  const library = createRequire(import.meta.url)('parquetjs-lite') as Library
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const metadata = await (await library.ParquetEnvelopeReader.openBuffer(buffer)).readFooter()
    // The library refuses version 2, which Arrow's writers state. Page headers, not the version, tell how to read a column.
    metadata.version = 1
    return await library.ParquetReader.openBuffer(buffer, { metadata, rawStatistics: true })
  } catch (error) {
    comparison.unread(null, `parquetjs-lite: ${thrown(error)}`)
    return null
  }
}

async function compareColumn(
  comparison: Comparison,
  own: AsyncIterable<Page>,
  group: number,
  chunk: Chunk,
  second: LibraryReader,
  doubt: string | null
): Promise<void> {
  if (chunk.values === 0) return
  const place = { member: `row group ${group}`, array: describeColumn(chunk.leaf) }
  const leave = (reason: string): void => {
    comparison.unread(`${place.member}, ${place.array}`, reason)
  }
  if (doubt !== null) return leave(doubt)
  const pages: Page[] = []
  for await (const page of own) pages.push(page)
  const doubtful = pages.map(page => doubtOfPage(page, chunk.leaf)).find(reason => reason !== null)
  if (doubtful !== undefined) return leave(doubtful)
  let column: LibraryColumn
  try {
    column = await second.envelopeReader.readColumnChunk(second.schema, second.metadata.row_groups[group].columns[chunk.leaf.index])
  } catch (error) {
    return leave(`parquetjs-lite: ${thrown(error)}`)
  }
  let level = 0
  let value = 0
  for (const page of pages) {
    for (let i = 0; i < page.levels; i++, level++) {
      compareValue(comparison, page.repetition?.[i] ?? 0, column.rlevels[level], place, level)
      compareValue(comparison, page.definition?.[i] ?? 0, column.dlevels[level], place, level)
    }
    const { values } = page
    for (let i = 0; i < values.length; i++, value++) compareValue(comparison, values[i], column.values[value], place, value)
    comparison.add(values.length)
  }
  comparison.agree(level, column.dlevels.length, place)
  comparison.agree(value, column.values.length, place)
}

function compareValue(comparison: Comparison, ours: unknown, second: unknown, place: Place, index: number): void {
  const equal = ours instanceof Uint8Array ? second instanceof Uint8Array && Buffer.compare(ours, second) === 0 : Object.is(ours, second)
  if (!equal) throw comparison.different(ours, second, { ...place, index })
}

/** Columns that parquetjs-lite reads wrongly or cannot read, by the footer. */
function doubtOfColumn({ leaf, meta, values, uncompressedBytes }: Chunk): string | null {
  const { type } = leaf.element
  if (!['UNCOMPRESSED', 'GZIP', 'SNAPPY'].includes(meta.codec)) return `codec ${meta.codec}`
  if (type === 'INT96') return 'INT96, of which it keeps 64 bits'
  if ((meta.dictionary_page_offset ?? 0) > 0) return 'a dictionary, of which it makes texts'
  if (uncompressedBytes > MAX_COLUMN_BYTES || values > MAX_COLUMN_VALUES) {
    return `${values} values in ${uncompressedBytes} bytes; at most ${MAX_COLUMN_VALUES} in ${MAX_COLUMN_BYTES} are read twice`
  }
  return null
}

/** The same by a page's header and levels. */
function doubtOfPage({ encoding, levelsFill, indexes, definition, statedNulls }: Page, leaf: Leaf): string | null {
  if (encoding !== 'PLAIN' || indexes !== null) return `values in ${encoding}; it is asked for PLAIN alone`
  if (!levelsFill) return 'bytes behind the levels, which it takes for values'
  const absent = definition?.filter(level => level < leaf.definition).length ?? 0
  // Arrow's writer does not count values that are absent because a list or struct above them is.
  return statedNulls === null || statedNulls === absent ? null : 'nulls that the page does not count, by which it counts values'
}
