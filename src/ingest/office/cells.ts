/**
 * The types of a cell, and how its stored text becomes a value.
 *
 * Source: ECMA-376 part 1, 18.3.1.4 and 18.18.11. Numbers are the double nearest to the text, which is kept as written.
 */
import { Fault, printable } from '../../core/errors.js'
import { ISO_CELL, serialToIso } from './dates.js'
import { unescapeText } from './strings.js'
import type { NumberFormat } from './styles.js'

/** The formula of a cell. The cell's value is the result that the writer of the file computed last. */
export interface Formula {
  /** without `=`; null for a data table's formula, and for a shared one whose text no cell holds */
  readonly text: string | null
  /** the cell whose formula this is; another cell for a shared formula, whose relative references then shift */
  readonly from: string
}

export type CellContent =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** `#DIV/0!` and the like */
  | { readonly kind: 'error'; readonly value: string }
  /** ISO 8601 text without a zone; `serial` is the stored number, null where the file holds a date as text */
  | { readonly kind: 'date'; readonly value: string; readonly serial: number | null }
  /** a formula without a stored result */
  | { readonly kind: 'empty'; readonly value: null }

/** All fields of a cell except its value. */
export interface CellFrame {
  /** `B7` */
  readonly ref: string
  /** from 1 */
  readonly row: number
  /** from 1 */
  readonly column: number
  /** as stored: a number with its digits; the string itself for text */
  readonly text: string
  readonly formula: Formula | null
  readonly format: NumberFormat
  /** lies in a merged range and is not its top left cell: stored, but not shown */
  readonly covered: boolean
}

export type Cell = CellFrame & CellContent

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/

export interface Workings {
  readonly date1904: boolean
  readonly strings: readonly string[]
}

function bad(problem: string, found: string, expected: string, ref: string): Fault {
  return new Fault({ format: 'xlsx', problem, found: `${found} in cell ${ref}`, expected })
}

function numberValue(text: string, format: NumberFormat, date1904: boolean, ref: string): CellContent {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(value)) throw bad('bad number', `'${printable(text)}'`, 'a finite decimal number', ref)
  const iso = format.date ? serialToIso(value, date1904) : null
  return iso === null ? { kind: 'number', value } : { kind: 'date', value: iso, serial: value }
}

function sharedValue(text: string, strings: readonly string[], ref: string): CellContent {
  const index = /^\d{1,9}$/.test(text) ? Number(text) : -1
  const value = strings[index]
  if (value !== undefined) return { kind: 'text', value }
  const expected = strings.length === 0 ? 'no index: there are no shared strings' : `0 to ${strings.length - 1}`
  throw bad('bad shared string', `index '${printable(text)}'`, expected, ref)
}

/**
 * The value of a cell of type `t`; null for a cell without one. `stored` is the text of its `v` (null: no `v`), or the text
 * of the runs of an inline string.
 */
export function cellContent(type: string, stored: string | null, format: NumberFormat, book: Workings, ref: string): CellContent | null {
  if (stored === null) return null
  if (type === 'str') return { kind: 'text', value: unescapeText(stored) }
  if (type === 'inlineStr') return { kind: 'text', value: stored }
  const text = stored.trim()
  if (text === '') return null
  switch (type) {
    case 'n':
      return numberValue(text, format, book.date1904, ref)
    case 's':
      return sharedValue(text, book.strings, ref)
    case 'e':
      return { kind: 'error', value: text }
    case 'b': {
      if (/^([01]|true|false)$/.test(text)) return { kind: 'boolean', value: text === '1' || text === 'true' }
      throw bad('bad boolean', `'${printable(text)}'`, '0 or 1', ref)
    }
    case 'd': {
      if (ISO_CELL.test(text)) return { kind: 'date', value: text, serial: null }
      throw bad('bad date', `'${printable(text)}'`, 'ISO 8601', ref)
    }
    default:
      throw bad('unknown cell type', `'${printable(type)}'`, 'n, s, str, inlineStr, b, e or d', ref)
  }
}
