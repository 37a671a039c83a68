/**
 * The footer: magic, length, metadata. The length is checked against the file, and the thrift against its own bytes. Then
 * hyparquet parses it, and its statements are checked against each other.
 * Not supported: encrypted files and columns, columns that lie in another file.
 * Source: parquet-format README.md and parquet.thrift.
 */
import { parquetMetadata, type ColumnMetaData, type FileMetaData } from 'hyparquet'
import { printable } from '../../core/errors.js'
import { count, toParquetFault, malformedParquet } from './faults.js'
import { buildSchema, type Leaf, type Schema } from './schema.js'
import type { ByteSource } from '../../core/byte-source.js'
import { endOfStruct } from './thrift.js'

const MAGIC = 0x31524150 // PAR1
const ENCRYPTED = 0x45524150 // PARE
/** Bytes of the footer length and the magic. */
const TAIL = 8
const MAX_FOOTER = 64 * 1024 * 1024
/** Most fields and list elements of a footer. 200 columns in 500 row groups have about 3 million. */
const MAX_FOOTER_FIELDS = 4_000_000

export interface Chunk {
  readonly leaf: Leaf
  readonly meta: ColumnMetaData
  readonly values: number
  /** first byte of the first page, and the byte behind the last page */
  readonly start: number
  readonly end: number
  readonly uncompressedBytes: number
}

export interface RowGroup {
  readonly index: number
  readonly rows: number
  /** one for each leaf, in the order of the leaves */
  readonly chunks: readonly Chunk[]
}

export interface Footer {
  readonly rows: number
  readonly groups: readonly RowGroup[]
  readonly schema: Schema
  readonly metadata: FileMetaData
}

export async function readFooter(source: ByteSource): Promise<Footer> {
  const { size } = source
  if (size < 4 + TAIL) throw malformedParquet('not a Parquet file', `${size} bytes`, `at least ${4 + TAIL}`)
  const head = magicAt(await source.slice(0, 4), 0)
  const tail = await source.slice(size - TAIL, size)
  for (const magic of [magicAt(tail, 4), head]) {
    if (magic === ENCRYPTED) throw malformedParquet('encrypted', 'magic PARE', 'a file without encryption, magic PAR1')
    if (magic !== MAGIC) throw malformedParquet('not a Parquet file', `magic ${magicText(magic)}`, 'PAR1 at start and end')
  }
  const length = new DataView(tail.buffer).getUint32(0, true)
  if (length > size - 4 - TAIL) {
    throw malformedParquet('impossible footer length', `${length}`, `at most ${size - 4 - TAIL}, the rest of the file`)
  }
  if (length > MAX_FOOTER) throw malformedParquet('footer too large', `${length} bytes`, `at most ${MAX_FOOTER}`)
  const footerStart = size - TAIL - length
  const bytes = await source.slice(footerStart, size)
  try {
    if (endOfStruct(bytes.subarray(0, length), 0, MAX_FOOTER_FIELDS) === null) {
      throw malformedParquet('malformed footer', 'its end inside the metadata', 'complete metadata')
    }
    const metadata = parquetMetadata(bytes, { geoparquet: false })
    const schema = buildSchema(metadata.schema)
    const groups = rowGroups(metadata, schema, footerStart)
    const rows = count(metadata.num_rows, 'number of rows')
    const sum = groups.reduce((total, group) => total + group.rows, 0)
    if (sum !== rows) throw malformedParquet('row counts differ', `${sum} in the row groups`, `${rows} as the footer states`)
    return { rows, groups, schema, metadata }
  } catch (error) {
    throw toParquetFault(error, 'malformed footer', { offset: footerStart })
  }
}

/**
 * Bytes that may be read beyond a column. parquet-mr before 1.2.9 left the header of the dictionary page out of a column's
 * size (PARQUET-816). parquet-cpp reads up to 100 bytes further in such files; so does this reader.
 */
function slackOf(createdBy: string | undefined): number {
  const version = /^parquet-mr(?: version (\d+)\.(\d+)\.(\d+))?/.exec(createdBy ?? '')
  if (version === null) return 0
  const [major, minor, patch] = version.slice(1).map(part => Number(part ?? 0))
  return major * 1e6 + minor * 1e3 + patch < 1_002_009 ? 100 : 0
}

function rowGroups(metadata: FileMetaData, schema: Schema, footerStart: number): RowGroup[] {
  const slack = slackOf(metadata.created_by)
  return metadata.row_groups.map((group, index) => {
    const place = { member: `row group ${index}` }
    try {
      const rows = count(group.num_rows, 'number of rows')
      const { leaves } = schema
      if (group.columns.length !== leaves.length) {
        throw malformedParquet('wrong number of columns', `${group.columns.length}`, `${leaves.length} as in the schema`)
      }
      const chunks = group.columns.map((column, i) => {
        try {
          if (column.crypto_metadata !== undefined) throw malformedParquet('encrypted', 'an encrypted column', 'none')
          if (column.file_path !== undefined) throw malformedParquet('unsupported', 'a column in another file', 'its data here')
          if (column.meta_data === undefined) throw malformedParquet('malformed footer', 'no column metadata', 'metadata')
          return chunkOf(leaves[i], column.meta_data, rows, footerStart, slack)
        } catch (error) {
          throw toParquetFault(error, 'malformed footer', { array: describeColumn(leaves[i]) })
        }
      })
      return { index, rows, chunks }
    } catch (error) {
      throw toParquetFault(error, 'malformed footer', place)
    }
  })
}

function chunkOf(leaf: Leaf, meta: ColumnMetaData, rows: number, footerStart: number, slack: number): Chunk {
  const path = meta.path_in_schema.join('.')
  if (path !== leaf.path.join('.')) throw malformedParquet('wrong column', printable(path), 'the columns of the schema in order')
  if (meta.type !== leaf.element.type) throw malformedParquet('wrong column type', String(meta.type), `${leaf.element.type}`)
  if (meta.codec === undefined) throw malformedParquet('unknown codec', 'a number without a name', 'a codec of parquet.thrift')
  const values = count(meta.num_values, 'number of values')
  if (leaf.repetition === 0 && values !== rows) throw malformedParquet('row counts differ', `${values} values`, `${rows} rows`)
  if (leaf.repetition > 0 && values < rows) throw malformedParquet('row counts differ', `${values} values`, `${rows} rows or more`)
  const uncompressedBytes = count(meta.total_uncompressed_size, 'uncompressed size')
  // There is nothing to read, and some writers leave meaningless offsets.
  if (values === 0) return { leaf, meta, values, start: 0, end: 0, uncompressedBytes }
  const data = count(meta.data_page_offset, 'data page offset', footerStart)
  const dictionary = count(meta.dictionary_page_offset ?? 0, 'dictionary page offset', footerStart)
  const start = dictionary > 0 && dictionary < data ? dictionary : data
  const end = start + count(meta.total_compressed_size, 'compressed size', footerStart)
  if (start < 4 || end > footerStart) {
    throw malformedParquet('column outside the data', `bytes ${start} to ${end}`, `bytes from 4 to ${footerStart}`)
  }
  return { leaf, meta, values, start, end: Math.min(footerStart, end + slack), uncompressedBytes }
}

/** The name of a column in messages. */
export function describeColumn(leaf: Leaf): string {
  return `column ${leaf.path.join('.')}`
}

function magicAt(bytes: Uint8Array<ArrayBuffer>, offset: number): number {
  return new DataView(bytes.buffer).getUint32(offset, true)
}

function magicText(magic: number): string {
  const text = String.fromCharCode(...[0, 8, 16, 24].map(shift => (magic >>> shift) & 0xff))
  return printable(JSON.stringify(text))
}
