/**
 * `critic-traces.parquet`: the columns of `token-columns.ts` as Parquet. Row groups hold whole traces in canonical order: as
 * many as fit in ROWS_PER_GROUP, or one longer trace. Memory holds the traces of one row group.
 *
 * Values, returns and positions are one uncompressed page each (PLAIN: the bytes of the array as they are), the trace is a
 * dictionary. Headers and footer are those of hyparquet-writer. Its own writer of columns looks at every number several times:
 * 190 ms of CPU for a million tokens where this takes 20.
 */
import { ByteWriter, type SchemaElement } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import type { TokenArrays } from '../../compute/traces/contract.js'
import type { FileSummary, OutputFile } from './output-file.js'
import { OUTPUT_PATHS } from './output-names.js'
import type { FileOptions, OutputSet } from './output-set.js'
import { blockOf, bytesOf, concatenated, tokensOf, type TokenBlock, type TokenWidths } from './token-columns.js'
import { TokenFile, type Placed, type TokenLayout } from './token-file.js'
import { tokenMetadata, type TokenPartMetadata } from './token-metadata.js'

/** DuckDB's own size of a row group: its threads share a file by row groups. */
export const ROWS_PER_GROUP = 122_880

const MAGIC = Buffer.from('PAR1')

type ParquetRowGroup = Parameters<typeof writeMetadata>[1]['row_groups'][number]
type ChunkMetaData = NonNullable<ParquetRowGroup['columns'][number]['meta_data']>
type ColumnEncoding = 'PLAIN' | 'RLE_DICTIONARY'
type PhysicalType = 'INT32' | 'INT64' | 'FLOAT' | 'DOUBLE'

/** The columns of tokens in their order, without the trace. */
function columnTypes(widths: TokenWidths): ReadonlyArray<readonly [name: string, type: PhysicalType]> {
  return [
    ['value', widths.value === 8 ? 'DOUBLE' : 'FLOAT'],
    ['return', widths.return === 8 ? 'DOUBLE' : 'FLOAT'],
    ['response_position', widths.response_position === 8 ? 'INT64' : 'INT32']
  ]
}

class ParquetTraceLayout implements TokenLayout {
  readonly #file: OutputFile
  readonly #types: ReturnType<typeof columnTypes>
  readonly #groups: ParquetRowGroup[] = []
  #rows = 0
  metadata: ReadonlyArray<readonly [string, string]> = []
  createdBy = ''

  private constructor(file: OutputFile, widths: TokenWidths) {
    this.#file = file
    this.#types = columnTypes(widths)
  }

  static async begin(file: OutputFile, widths: TokenWidths): Promise<ParquetTraceLayout> {
    await file.write(MAGIC)
    return new ParquetTraceLayout(file, widths)
  }

  /** Writes a row group. */
  async append(block: TokenBlock): Promise<Placed> {
    const rows = tokensOf(block)
    const start = this.#file.bytes
    const pages = tracePages(block, rows)
    const chunks = [pages.bytes]
    const columns = [
      columnChunk('trace', 'INT32', {
        rows,
        at: start,
        dictionary: pages.dictionaryBytes,
        bytes: pages.bytes.length,
        range: rangeOfTraces(block)
      })
    ]
    let at = start + pages.bytes.length
    const placed: number[] = []
    for (const [c, data] of bytesOf(block).entries()) {
      const [name, type] = this.#types[c]
      const header = pageHeader(rows, data.length, 'PLAIN')
      columns.push(
        columnChunk(name, type, {
          rows,
          at,
          dictionary: null,
          bytes: header.length + data.length,
          range: name === 'response_position' ? rangeOfPositions(block) : null
        })
      )
      placed.push(at + header.length)
      chunks.push(header, data)
      at += header.length + data.length
    }
    const size = BigInt(at - start)
    this.#groups.push({ columns, total_byte_size: size, total_compressed_size: size, num_rows: BigInt(rows) })
    this.#rows += rows
    await this.#file.write(chunks)
    const [values, returns, positions] = placed
    return [values, returns, positions]
  }

  async finish(): Promise<FileSummary> {
    const footer = new ByteWriter()
    const columns = [['trace', 'INT32'] as const, ...this.#types]
    const schema: SchemaElement[] = [
      { name: 'tokens', num_children: columns.length },
      ...columns.map(([name, type]): SchemaElement => ({ name, type, repetition_type: 'REQUIRED' }))
    ]
    writeMetadata(footer, {
      version: 2,
      schema,
      num_rows: BigInt(this.#rows),
      row_groups: this.#groups,
      key_value_metadata: this.metadata.map(([key, value]) => ({ key, value })),
      created_by: this.createdBy,
      metadata_length: 0
    })
    await this.#file.write([footer.getBytes(), MAGIC])
    return this.#file.end()
  }
}

interface ChunkFacts {
  readonly rows: number
  /** position of its first page in the file */
  readonly at: number
  /** bytes of its dictionary page; null without one */
  readonly dictionary: number | null
  readonly bytes: number
  /** least and greatest number */
  readonly range: readonly [number | bigint, number | bigint] | null
}

function columnChunk(
  name: string,
  type: PhysicalType,
  { rows, at, dictionary, bytes, range }: ChunkFacts
): ParquetRowGroup['columns'][number] {
  const encodings: ColumnEncoding[] = dictionary === null ? ['PLAIN'] : ['PLAIN', 'RLE_DICTIONARY']
  const meta: ChunkMetaData = {
    type,
    encodings,
    path_in_schema: [name],
    codec: 'UNCOMPRESSED',
    num_values: BigInt(rows),
    total_uncompressed_size: BigInt(bytes),
    total_compressed_size: BigInt(bytes),
    data_page_offset: BigInt(at + (dictionary ?? 0)),
    ...(dictionary === null ? {} : { dictionary_page_offset: BigInt(at) }),
    ...(range === null ? {} : { statistics: { null_count: 0n, min_value: range[0], max_value: range[1] } })
  }
  return { file_offset: BigInt(at), meta_data: meta }
}

function pageHeader(rows: number, size: number, encoding: ColumnEncoding): Uint8Array {
  const header = new ByteWriter()
  writePageHeader(header, {
    type: 'DATA_PAGE',
    uncompressed_page_size: size,
    compressed_page_size: size,
    data_page_header: { num_values: rows, encoding, definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' }
  })
  return header.getBytes()
}

/** The dictionary page of the traces' indexes, and the page of runs: for each trace its place in the dictionary and its length. */
function tracePages({ traces }: TokenBlock, rows: number): { readonly bytes: Uint8Array; readonly dictionaryBytes: number } {
  const pages = new ByteWriter()
  writePageHeader(pages, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: 4 * traces.length,
    compressed_page_size: 4 * traces.length,
    dictionary_page_header: { num_values: traces.length, encoding: 'PLAIN' }
  })
  for (const { trace } of traces) pages.appendInt32(trace)
  const dictionaryBytes = pages.offset
  const width = Math.max(1, 32 - Math.clz32(traces.length - 1))
  const runs = new ByteWriter()
  runs.appendUint8(width)
  for (const [place, { tokens }] of traces.entries()) {
    runs.appendVarInt(2 * tokens)
    for (let bits = 0; bits < width; bits += 8) runs.appendUint8((place >> bits) & 0xff)
  }
  pages.appendBytes(pageHeader(rows, runs.offset, 'RLE_DICTIONARY'))
  pages.appendBytes(runs.getBytes())
  return { bytes: pages.getBytes(), dictionaryBytes }
}

function rangeOfTraces({ traces }: TokenBlock): readonly [number, number] {
  return [traces[0].trace, traces[traces.length - 1].trace]
}

/** Positions increase within a trace. */
function rangeOfPositions({ traces, responsePositions }: TokenBlock): readonly [number | bigint, number | bigint] {
  let [least, greatest] = [responsePositions[0], responsePositions[0]]
  let at = 0
  for (const { tokens } of traces) {
    const [first, last] = [responsePositions[at], responsePositions[at + tokens - 1]]
    if (first < least) least = first
    if (last > greatest) greatest = last
    at += tokens
  }
  return [least, greatest]
}

export class ParquetTraceWriter {
  readonly #file: TokenFile<ParquetTraceLayout>
  /** copies of the traces that wait for the rest of their row group */
  #waiting: TokenBlock[] = []
  #waitingRows = 0
  #lastTrace = -1

  private constructor(file: TokenFile<ParquetTraceLayout>) {
    this.#file = file
  }

  static async open(set: OutputSet, path: string = OUTPUT_PATHS.parquet, options: FileOptions = {}): Promise<ParquetTraceWriter> {
    return new ParquetTraceWriter(await TokenFile.open(set, path, (file, widths) => ParquetTraceLayout.begin(file, widths), options))
  }

  /**
   * Writes one trace, or keeps a copy of it for its row group. Calls may overlap; they are carried out in order.
   * @param trace its canonical index, larger than that of the call before
   * @param arrays must not change until the promise resolves
   */
  async write(trace: number, arrays: TokenArrays): Promise<void> {
    if (trace <= this.#lastTrace) throw new Error(`trace ${trace} after trace ${this.#lastTrace}`)
    this.#lastTrace = trace
    const block = blockOf(trace, arrays)
    const rows = tokensOf(block)
    const before = this.#waitingRows + rows > ROWS_PER_GROUP ? this.#flush() : null
    if (rows > ROWS_PER_GROUP) await Promise.all([before, this.#file.write(block)])
    else {
      this.#waiting.push(concatenated([block]))
      this.#waitingRows += rows
      await before
    }
  }

  async finish(metadata: TokenPartMetadata): Promise<FileSummary> {
    const entries = tokenMetadata(metadata)
    await this.#flush()
    return this.#file.finish(layout => {
      layout.metadata = entries
      layout.createdBy = `${metadata.generator.name} ${metadata.generator.version}`
    })
  }

  /** Closes the file, which has ended, before its set is committed. */
  seal(): Promise<void> {
    return this.#file.seal()
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    const block = concatenated(this.#waiting)
    this.#waiting = []
    this.#waitingRows = 0
    await this.#file.write(block)
  }
}
