/** Cell references and ranges (`B7`, `A1:C3`). Rows and columns count from 1. */
import { MAX_COLUMN, MAX_ROW } from '../../schema/grid.js'

export interface CellPosition {
  readonly row: number
  readonly column: number
}

export interface CellRange {
  /** `A1:C3`, or `A1` for a single cell */
  readonly ref: string
  readonly top: number
  readonly left: number
  readonly bottom: number
  readonly right: number
}

const REFERENCE = /^\$?([A-Za-z]{1,3})\$?([0-9]{1,7})$/

export function columnName(column: number): string {
  let name = ''
  for (let n = column; n > 0; n = Math.floor((n - 1) / 26)) name = String.fromCharCode(65 + ((n - 1) % 26)) + name
  return name
}

export function cellReference(row: number, column: number): string {
  return columnName(column) + row
}

/** The position; null if the text names no cell of the grid. */
export function parseCellReference(ref: string): CellPosition | null {
  const match = REFERENCE.exec(ref)
  if (match === null) return null
  const [, letters, digits] = match
  let column = 0
  // Upper and lower case of a letter differ in one bit, which the mask clears.
  for (let i = 0; i < letters.length; i++) column = column * 26 + (letters.charCodeAt(i) & 0xdf) - 64
  const row = Number(digits)
  return row >= 1 && row <= MAX_ROW && column <= MAX_COLUMN ? { row, column } : null
}

/** The range with its corners in order; null if the text is no range. */
export function parseRange(ref: string): CellRange | null {
  const [first, second = first, ...rest] = ref.split(':')
  const a = parseCellReference(first)
  const b = parseCellReference(second)
  if (a === null || b === null || rest.length > 0) return null
  const [top, bottom] = [Math.min(a.row, b.row), Math.max(a.row, b.row)]
  const [left, right] = [Math.min(a.column, b.column), Math.max(a.column, b.column)]
  const corner = cellReference(top, left)
  const single = top === bottom && left === right
  return { ref: single ? corner : `${corner}:${cellReference(bottom, right)}`, top, left, bottom, right }
}
