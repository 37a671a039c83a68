/**
 * Every CSV below a folder with its metadata, read as "Metadata Vocabulary for Tabular Data" (W3C, 2015) says, sharing nothing
 * with the writer.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseCsv } from './csv-parse.js'
import { tree } from './folders.js'

export interface ColumnMetadata {
  readonly name: string
  readonly titles: string
  readonly datatype: string
  readonly required: boolean
}

export interface DescribedTable {
  /** of the CSV, relative to the folder */
  readonly path: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly columns: readonly ColumnMetadata[]
  readonly heading: readonly (string | null)[]
  readonly rows: ReadonlyArray<readonly (string | null)[]>
}

/** @throws where a CSV has no metadata at the place that readers try first (Model for Tabular Data, section 5.3) */
export function describedTables(folder: string): DescribedTable[] {
  return tree(folder)
    .filter(path => path.endsWith('.csv'))
    .map(path => {
      const metadata = JSON.parse(readFileSync(join(folder, `${path}-metadata.json`), 'utf8'))
      const [heading, ...rows] = parseCsv(readFileSync(join(folder, path), 'utf8'))
      return { path, metadata, columns: metadata.tableSchema.columns, heading, rows }
    })
}

/** A document with the project's own keys as the other outputs write them. */
export function unprefixed(document: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(document).map(([key, value]: [string, unknown]) => [
      key.replace(/^urn:critic-traces:/, ''),
      typeof value === 'object' && value !== null && !Array.isArray(value) ? unprefixed(value) : value
    ])
  )
}

/** What the vocabulary defines of a table, a dialect, a schema and a column, as far as the outputs may use it (sections 5.4 to 5.9). */
const DEFINED = {
  table: ['@context', 'url', 'dialect', 'tableSchema', 'null'],
  dialect: ['lineTerminators', 'trim', 'commentPrefix', 'delimiter', 'doubleQuote', 'encoding', 'header', 'quoteChar'],
  schema: ['columns', 'null'],
  column: ['name', 'titles', 'datatype', 'required', 'null']
} as const

/** Prefixes of the RDFa 1.1 initial context; the vocabulary knows no others. */
const PREFIXED = /^(?:dc|dcterms|dcat|schema|prov|rdfs|skos|xsd|csvw):\w+$/

/** Keys that are neither defined, nor prefixed, nor absolute URLs: a validator takes the file for broken. */
function strayKeys(object: object, defined: readonly string[], at: string): string[] {
  return Object.keys(object)
    .filter(key => !defined.includes(key) && !PREFIXED.test(key) && !URL.canParse(key))
    .map(key => `${at}/${key}`)
}

/** What a validator of the vocabulary would say of the metadata alone. */
export function vocabularyProblems({ path, metadata, columns }: DescribedTable, folder: string): string[] {
  const problems = strayKeys(metadata, DEFINED.table, '')
  for (const [key, value] of Object.entries(metadata)) {
    const isNote = !(DEFINED.table as readonly string[]).includes(key)
    if (isNote && typeof value === 'object' && value !== null) problems.push(...strayKeys(value, [], `/${key}`))
  }
  if (metadata['@context'] !== 'http://www.w3.org/ns/csvw') problems.push('another context')
  const own = pathToFileURL(join(folder, `${path}-metadata.json`))
  if (new URL(String(metadata['url']), own).href !== pathToFileURL(join(folder, path)).href) problems.push('of another table')
  problems.push(...strayKeys(metadata['dialect'] as object, DEFINED.dialect, '/dialect'))
  problems.push(...strayKeys(metadata['tableSchema'] as object, DEFINED.schema, '/tableSchema'))
  for (const column of columns) {
    problems.push(...strayKeys(column, DEFINED.column, `/${column.name}`))
    // a variable of RFC 6570 that does not begin with "_"
    if (!/^[A-Za-z0-9][A-Za-z0-9_]*$/.test(column.name)) problems.push(`name ${column.name}`)
    if (!Object.hasOwn(LEXICAL, column.datatype)) problems.push(`datatype ${column.datatype}`)
  }
  if (new Set(columns.map(({ name }) => name)).size !== columns.length) problems.push('a name twice')
  return problems
}

/** Lexical forms of XML Schema 1.1, part 2, of finite values: the vocabulary's default formats. */
const LEXICAL: Readonly<Record<string, RegExp | undefined>> = {
  boolean: /^(?:true|false|1|0)$/,
  integer: /^[-+]?[0-9]+$/,
  number: /^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][-+]?[0-9]+)?$/,
  string: /^[\s\S]+$/
}

/** Cells that are not what their column says. The vocabulary tells a quoted empty text from null no more than pandas does: it is neither here. */
export function cellProblems({ path, columns, heading, rows }: DescribedTable): string[] {
  const titles = columns.map(({ titles }) => titles)
  if (JSON.stringify(heading) !== JSON.stringify(titles)) return [`${path}: heading ${String(heading)}, titles ${String(titles)}`]
  return rows.flatMap((row, i) => {
    if (row.length !== columns.length) return [`${path} row ${i}: ${row.length} cells`]
    return columns.flatMap(({ name, datatype, required }, c) => {
      const cell = row[c]
      const fits =
        cell === null ? !required : LEXICAL[datatype]?.test(cell) === true && (datatype !== 'number' || Number.isFinite(Number(cell)))
      return fits ? [] : [`${path} row ${i}: ${name} is ${JSON.stringify(cell)}`]
    })
  })
}
