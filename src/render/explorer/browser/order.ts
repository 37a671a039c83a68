/** Which traces a table shows, and in which order. */
import type { ExplorerTraces } from '../contract.js'
import { cellNumber, TRACE_COLUMNS, traceCell, type ColumnId, type TraceCell } from './columns.js'
import { parseFilter } from './filter.js'

export interface TraceSort {
  readonly column: ColumnId
  readonly down: boolean
}

export type TraceFilters = Readonly<Partial<Record<ColumnId, string>>>

function compareCells(a: TraceCell, b: TraceCell): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0
}

/**
 * Numbers of the traces that pass all filters, in the order of one column. A trace that does not state it comes last, whichever the
 * direction; equal traces keep their canonical order. The jump is sorted by its size. A text that is no filter keeps every trace.
 */
export function traceRows(traces: ExplorerTraces, filters: TraceFilters, sort: TraceSort | null): Int32Array {
  const tests = TRACE_COLUMNS.flatMap(column => {
    const { id, kind } = column
    const test = parseFilter(kind, filters[id] ?? '', value => cellNumber(column, value))
    return test === null || (filters[id] ?? '') === '' ? [] : [{ id, test }]
  })
  const rows = Int32Array.from(traces.tokens.keys()).filter(row => tests.every(({ id, test }) => test(traceCell(traces, id, row))))
  if (sort === null) return rows
  const { column, down } = sort
  const keys = traces.tokens.map((_, row) => {
    const cell = traceCell(traces, column, row)
    return column === 'jump' && typeof cell === 'number' ? Math.abs(cell) : cell
  })
  return rows.sort((a, b) => {
    const [x, y] = [keys[a], keys[b]]
    if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1
    return (down ? compareCells(y, x) : compareCells(x, y)) || a - b
  })
}
