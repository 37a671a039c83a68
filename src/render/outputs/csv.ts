/**
 * CSV by RFC 4180: CRLF after every row, quotes around a cell that contains a quote, a comma or a line break, and a
 * doubled quote for a quote. Rules that the RFC leaves open:
 *
 * - null is an empty cell; an empty text is `""`;
 * - a number is the shortest decimal that reads back as the same double (`-0` for negative zero, `1e-7`, `1e+21`);
 *   NaN and infinities are refused;
 * - a text that a spreadsheet would take for a formula gets a leading apostrophe (`csv-text.ts`); numbers never do.
 */
import { Fault } from '../../core/errors.js'
import { textCell } from './csv-text.js'

export type CsvCell = number | string | null

/** @throws Fault for NaN and infinities */
export function numberCell(value: number): string {
  if (!Number.isFinite(value)) {
    const expected = 'a finite number or null'
    throw new Fault({ format: 'csv', problem: 'cell not finite', found: String(value), expected })
  }
  return Object.is(value, -0) ? '-0' : String(value)
}

function cellText(cell: CsvCell): string {
  if (cell === null) return ''
  return typeof cell === 'number' ? numberCell(cell) : textCell(cell)
}

/** One row with its line end. */
export function csvRow(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}
