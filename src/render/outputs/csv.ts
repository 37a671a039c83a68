/**
 * CSV by RFC 4180: CRLF after every row, quotes around a cell that contains a quote, a comma or a line break, and a
 * doubled quote for a quote. Rules that the RFC leaves open:
 *
 * - null is an empty cell; an empty text is `""`;
 * - a number is the shortest decimal that reads back as the same double (`-0` for negative zero, `1e-7`, `1e+21`);
 *   NaN and infinities are refused;
 * - a text that a spreadsheet would take for a formula (first character = + - @, one of these in fullwidth, tab, carriage
 *   return or line feed) gets a leading apostrophe; numbers never do.
 */
import { Fault } from '../../core/errors.js'

export type CsvCell = number | string | null

const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const NEEDS_QUOTES = /[",\r\n]/

/** @throws Fault for NaN and infinities */
export function numberCell(value: number): string {
  if (!Number.isFinite(value)) {
    const expected = 'a finite number or null'
    throw new Fault({ format: 'csv', problem: 'cell not finite', found: String(value), expected })
  }
  return Object.is(value, -0) ? '-0' : String(value)
}

export function textCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return safe === '' || NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function cellText(cell: CsvCell): string {
  if (cell === null) return ''
  return typeof cell === 'number' ? numberCell(cell) : textCell(cell)
}

/** One row with its line end. */
export function csvRow(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}
