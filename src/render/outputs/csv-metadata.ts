/**
 * `x.csv-metadata.json` beside every `x.csv`: the metadata for which RFC 4180 has no place. It follows the W3C's
 * "Metadata Vocabulary for Tabular Data" (CSV on the Web) and lies where its readers look for it. Heading, rows and
 * metadata are made from one list of columns. The schema is docs/schemas/csv-metadata.schema.json.
 *
 * The vocabulary requires that every key it does not define is an absolute URL or a name with a known prefix. The keys
 * of the envelope, at any depth, therefore have the prefix `urn:critic-traces:`.
 */
import { csvMetadataPath } from '../../schema/outputs.js'
import type { CsvMetadataDocument } from '../../schema/outputs/csv-metadata.js'
import { csvRow } from './csv.js'
import { envelope } from './documents.js'
import { jsonText } from './json-text.js'
import type { FileSummary } from './output-file.js'
import type { Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

/** Datatypes of the vocabulary: `number` is a double. A boolean is written as 1 or 0. */
type CsvDatatype = 'boolean' | 'integer' | 'number' | 'string'

/** `?`: a cell may be empty, which means null. Any other column is required. */
export type CellType = CsvDatatype | `${CsvDatatype}?`

/** @typeParam Cells the source from which the cells of the column are made */
export type CsvColumn<Cells, Type extends CellType = CellType> = readonly [name: string, type: Type, description: string, cells: Cells]

export interface CsvTable<Cells> {
  readonly title: string
  /** meaning of a row, and the order of the rows */
  readonly description: string
  readonly columns: ReadonlyArray<CsvColumn<Cells>>
}

/** The heading row with its line end. */
export function csvHeading({ columns }: CsvTable<unknown>): string {
  return csvRow(columns.map(([name]) => name))
}

const KEY_PREFIX = 'urn:critic-traces:'

type Prefixed<T> = T extends object ? { readonly [K in keyof T & string as `${typeof KEY_PREFIX}${K}`]: Prefixed<T[K]> } : T

function prefixed<T>(value: T): Prefixed<T> {
  if (typeof value !== 'object' || value === null) return value as Prefixed<T>
  // Sound: every member, its key prefixed at every depth.
  return Object.fromEntries(
    Object.entries(value).map(([key, member]: [string, unknown]) => [KEY_PREFIX + key, prefixed(member)])
  ) as Prefixed<T>
}

/**
 * Differences from the default dialect. The default also accepts LF as a line end. For trimming of cells the vocabulary
 * states both defaults.
 */
const DIALECT = { lineTerminators: '\r\n', trim: false } as const

const TEXTS = 'A text that a spreadsheet would take for a formula has a leading apostrophe.'

/** @param path path of the CSV, relative to the output folder */
export function csvMetadataDocument(path: string, { title, description, columns }: CsvTable<unknown>, origin: Origin): CsvMetadataDocument {
  return {
    '@context': 'http://www.w3.org/ns/csvw',
    url: path.slice(path.lastIndexOf('/') + 1),
    'dc:title': title,
    'dc:description': `${description} ${TEXTS}`,
    ...prefixed(envelope('csv-metadata', origin)),
    dialect: DIALECT,
    tableSchema: {
      null: '',
      columns: columns.map(([name, type, meaning]) => ({
        name,
        titles: name,
        'dc:description': meaning,
        datatype: type.replace('?', '') as CsvDatatype,
        required: !type.endsWith('?')
      }))
    }
  }
}

export function writeCsvMetadata(set: OutputSet, path: string, table: CsvTable<unknown>, origin: Origin): Promise<FileSummary> {
  return set.write(csvMetadataPath(path), jsonText(csvMetadataDocument(path, table, origin)))
}
