/**
 * `critic-trace-trajectories.csv`: one row a trace, sorted by step, outcome and uid, then canonical index; nulls last,
 * texts by code point (the order of UTF-8 bytes, not of UTF-16 units).
 */
import type { TraceResult } from '../../compute/contract.js'
import { csvRow, type CsvCell } from './csv.js'
import type { FileSummary } from './output-file.js'
import { OUTPUT_PATHS } from './output-names.js'
import type { OutputSet } from './output-set.js'

/** The columns in order, each with where its value comes from. */
const COLUMNS: ReadonlyArray<readonly [name: string, cell: (trace: TraceResult) => CsvCell]> = [
  ['step', t => t.fields.step],
  ['outcome', t => t.fields.outcome],
  ['tokens', t => t.statistics.tokens],
  ['boundaries', t => t.statistics.boundary.transitions],
  ['first_value', t => t.statistics.firstValue],
  ['last_value', t => t.statistics.lastValue],
  ['delta', t => t.statistics.delta],
  ['mean_value', t => t.statistics.mean],
  ['first_half_mean', t => t.statistics.firstHalfMean],
  ['second_half_mean', t => t.statistics.secondHalfMean],
  ['boundary_mean_abs_change', t => t.statistics.boundary.meanAbs],
  ['internal_mean_abs_change', t => t.statistics.internal.meanAbs],
  ['max_boundary_from_index', t => t.statistics.maxBoundaryJump?.from_index ?? null],
  ['max_boundary_from', t => t.statistics.maxBoundaryJump?.from ?? null],
  ['max_boundary_to', t => t.statistics.maxBoundaryJump?.to ?? null],
  ['max_boundary_delta', t => t.statistics.maxBoundaryJump?.delta ?? null]
]

/** A UTF-16 unit as a key of code point order: surrogates stand for code points above the rest of the plane. */
function codePointKey(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return codePointKey(x) - codePointKey(y)
  }
  return a.length - b.length
}

function nullsLast<T>(a: T | null, b: T | null, compare: (x: T, y: T) => number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  return compare(a, b)
}

export function compareTraces(a: TraceResult, b: TraceResult): number {
  return nullsLast(a.fields.step, b.fields.step, (x, y) => x - y) ||
    nullsLast(a.fields.outcome, b.fields.outcome, compareCodePoints) ||
    nullsLast(a.fields.uid, b.fields.uid, compareCodePoints) ||
    a.index - b.index
}

/** The whole table with its heading. */
export function trajectoriesCsv(traces: readonly TraceResult[]): string {
  const rows = [...traces].sort(compareTraces).map(trace => csvRow(COLUMNS.map(([, cell]) => cell(trace))))
  return csvRow(COLUMNS.map(([name]) => name)) + rows.join('')
}

export function writeTrajectories(set: OutputSet, traces: readonly TraceResult[]): Promise<FileSummary> {
  return set.write(OUTPUT_PATHS.trajectories, trajectoriesCsv(traces))
}
