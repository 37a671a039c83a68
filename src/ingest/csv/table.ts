/**
 * A CSV file as a table of texts: a head and rows of as many cells. Cells are separated by commas; by semicolons or tabs where
 * the head has none. Quotes are as in RFC 4180. Malformed quotes and rows of another length are refused with their line: csv-parse
 * reports both. (papaparse and d3-dsv were tried: the first takes rows of any length, the second turns `"1"x` into two cells.)
 *
 * Not supported: encodings other than UTF-8, comments, decimal commas.
 */
import { CsvError, parse } from 'csv-parse/sync'
import { Fault, printable } from '../../core/errors.js'

/** Largest file. It is held whole, as are its cells. */
export const MAX_CSV_BYTES = 64 * 1024 * 1024

const MAX_COLUMNS = 10_000

export interface TextTable {
  /** names of the columns, each once but for empty ones */
  readonly head: readonly string[]
  readonly rows: ReadonlyArray<readonly string[]>
}

/** @throws Fault exit 3 with the line */
export function readCsv(bytes: Uint8Array, file: string): TextTable {
  const fault = (problem: string, found: string, expected: string, line?: number): Fault =>
    new Fault({ format: 'csv', problem, found, expected, place: { file, ...(line === undefined ? {} : { line }) } })
  const text = decoded(bytes)
  if (text === null) throw fault('wrong encoding', 'bytes that are not UTF-8', 'UTF-8')
  const [head, ...rows] = cellsOf(text, fault)
  if (head === undefined) throw fault('no head', 'an empty file', 'a line with the names of the columns')
  if (head.length > MAX_COLUMNS) throw fault('too many columns', String(head.length), `at most ${MAX_COLUMNS}`)
  const twice = head.find((name, i) => name !== '' && head.indexOf(name) < i)
  if (twice !== undefined) throw fault('column stated twice', printable(JSON.stringify(twice)), 'each name once', 1)
  return { head, rows }
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/** What csv-parse reports, by its code, in words. */
const PROBLEMS: Readonly<Record<string, readonly [found: string, expected: string]>> = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: ['a row of another length', 'as many cells as the head has'],
  CSV_QUOTE_NOT_CLOSED: ['a quoted cell without an end', 'a closing quote'],
  CSV_INVALID_CLOSING_QUOTE: ['text behind a closing quote', 'a separator or the end of the line'],
  INVALID_OPENING_QUOTE: ['a quote inside a cell', 'a cell that is quoted as a whole'],
  CSV_MAX_RECORD_SIZE: ['a row that is too long', 'at most 16 MiB']
}

function cellsOf(
  text: string,
  fault: (problem: string, found: string, expected: string, line?: number) => Fault
): ReadonlyArray<readonly string[]> {
  const line = /^[^\r\n]*/.exec(text)?.[0] ?? ''
  const delimiter = [',', ';', '\t'].find(separator => line.includes(separator)) ?? ','
  try {
    return parse(text, { bom: true, delimiter, skip_empty_lines: true, max_record_size: 16 * 1024 * 1024 })
  } catch (error) {
    // Its message quotes the text.
    if (!(error instanceof CsvError)) throw error
    const [found, expected] = PROBLEMS[error.code] ?? [error.code, 'cells as in RFC 4180']
    throw fault('malformed', found, expected, typeof error['lines'] === 'number' ? error['lines'] : undefined)
  }
}
