/** Parquet files of one column that say what a writer would not: headers and metadata as the test states them. */
import { ByteWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'

// The writer brings its own, older hyparquet: the types are its.
export type PageHeader = Parameters<typeof writePageHeader>[1]
type FileMetaData = Parameters<typeof writeMetadata>[1]
type ColumnMetaData = NonNullable<FileMetaData['row_groups'][number]['columns'][number]['meta_data']>

export interface Crafted {
  readonly pages: readonly { readonly header: PageHeader; readonly body: Uint8Array }[]
  readonly element?: FileMetaData['schema'][number]
  readonly meta?: Partial<ColumnMetaData>
  readonly rows?: bigint
  /** rows of the file; default those of its row group */
  readonly fileRows?: bigint
  readonly createdBy?: string
}

/** A column `c`, required INT32 unless stated, without compression unless `meta` says so. */
export function craft(crafted: Crafted): Uint8Array {
  const { pages, meta, rows = 4n, fileRows = rows, createdBy = 'nobody' } = crafted
  const element = crafted.element ?? { name: 'c', type: 'INT32', repetition_type: 'REQUIRED' }
  const writer = new ByteWriter()
  writer.appendBytes(Buffer.from('PAR1'))
  for (const { header, body } of pages) {
    writePageHeader(writer, header)
    writer.appendBytes(body)
  }
  const size = BigInt(writer.offset - 4)
  const footerStart = writer.offset
  writeMetadata(writer, {
    version: 2,
    created_by: createdBy,
    schema: [{ name: 'root', num_children: 1 }, element],
    num_rows: fileRows,
    row_groups: [
      {
        columns: [
          {
            file_offset: 4n,
            meta_data: {
              type: element.type!,
              encodings: ['PLAIN'],
              path_in_schema: [element.name],
              codec: 'UNCOMPRESSED',
              num_values: rows,
              total_uncompressed_size: size,
              total_compressed_size: size,
              data_page_offset: 4n,
              ...meta
            }
          }
        ],
        total_byte_size: size,
        num_rows: rows
      }
    ],
    metadata_length: 0
  })
  // hyparquet-writer ends its metadata with the length of the footer; the magic is the caller's.
  if (writer.offset <= footerStart) throw new Error('no footer')
  writer.appendBytes(Buffer.from('PAR1'))
  return new Uint8Array(writer.getBytes())
}

/** A data page (v1) of `count` values in PLAIN, of the sizes of `body` unless stated. */
export function plainPage(body: Uint8Array, count: number, header: Partial<PageHeader> = {}): Crafted['pages'][number] {
  return {
    body,
    header: {
      type: 'DATA_PAGE',
      uncompressed_page_size: body.length,
      compressed_page_size: body.length,
      data_page_header: { num_values: count, encoding: 'PLAIN', definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' },
      ...header
    }
  }
}
