/** The columns of the table of traces: their names, and the cell of a trace. */
import { formatFigureCount } from '../../figures/format.js'
import type { ExplorerTraces } from '../contract.js'

export const COLUMN_IDS = ['trace', 'step', 'outcome', 'uid', 'tokens', 'turns', 'mean', 'delta', 'jump'] as const
export type ColumnId = (typeof COLUMN_IDS)[number]
export type ColumnKind = 'number' | 'text' | 'outcome'

export interface ShownColumn {
  readonly id: ColumnId
  readonly label: string
  /** what the column holds, in a sentence */
  readonly about: string
  readonly kind: ColumnKind
  /** how its cells are written */
  readonly shown: 'number' | 'count' | 'value' | 'change' | 'text'
}

export const TRACE_COLUMNS: readonly ShownColumn[] = [
  { id: 'trace', label: '#', about: 'Number of the trace, from 0', kind: 'number', shown: 'number' },
  { id: 'step', label: 'Step', about: 'Trainer step', kind: 'number', shown: 'number' },
  { id: 'outcome', label: 'Outcome', about: 'Success, failure, or not stated', kind: 'outcome', shown: 'text' },
  { id: 'uid', label: 'Group', about: 'Uid that the samples of one prompt share', kind: 'text', shown: 'text' },
  { id: 'tokens', label: 'Tokens', about: 'Generated tokens', kind: 'number', shown: 'count' },
  { id: 'turns', label: 'Turns', about: 'Generated turns', kind: 'number', shown: 'count' },
  { id: 'mean', label: 'Mean', about: 'Mean value', kind: 'number', shown: 'value' },
  { id: 'delta', label: 'Delta', about: 'Last value less first value', kind: 'number', shown: 'change' },
  { id: 'jump', label: 'Jump', about: 'Largest change between two tokens', kind: 'number', shown: 'change' }
]

export type TraceCell = number | string | null

/** @returns null for what is not stated */
export function traceCell(traces: ExplorerTraces, column: ColumnId, trace: number): TraceCell {
  if (column === 'trace') return trace
  if (column === 'jump') return traces.largestChange[trace]
  return traces[column][trace]
}

const MINUS = '\u2212'

/** Four significant digits, for a cell. Digits that are left out are in the statistics file. */
export function shortNumber(value: number, signed = false): string {
  const size = Math.abs(value)
  const text = size !== 0 && (size < 1e-3 || size >= 1e5) ? size.toExponential(2) : size.toFixed(size < 100 ? 3 : 1)
  return `${value < 0 ? MINUS : signed && value > 0 ? '+' : ''}${text}`
}

/** The number that a cell of a column shows. */
export function cellNumber({ shown }: ShownColumn, value: number): number {
  return shown === 'value' || shown === 'change' ? Number(shortNumber(value).replace(MINUS, '-')) : value
}

export function cellText(column: ShownColumn, cell: TraceCell): string {
  if (cell === null) return '\u2013'
  if (typeof cell === 'string') return cell
  if (column.shown === 'number') return String(cell)
  return column.shown === 'count' ? formatFigureCount(cell) : shortNumber(cell, column.shown === 'change')
}
