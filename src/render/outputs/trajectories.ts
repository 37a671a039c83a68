/**
 * `critic-trace-trajectories.csv`: one row for each trace, sorted by step, outcome and uid, then by canonical index.
 * Nulls come last. Texts are sorted by code point (the order of UTF-8 bytes, not of UTF-16 units).
 */
import type { TraceResult } from '../../compute/traces/contract.js'
import { csvHeading, writeCsvMetadata, type CsvColumn, type CsvTable } from './csv-metadata.js'
import { csvRow, type CsvCell } from './csv.js'
import { OUTPUT_PATHS, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

/** What the table is made of. */
export interface Trajectories {
  readonly traces: readonly TraceResult[]
  /** the page as the index names it; null without one */
  readonly page: string | null
}

/** The cells of a required column are never null. */
type TraceColumn =
  | CsvColumn<(trace: TraceResult, page: string | null) => number, 'integer' | 'number'>
  | CsvColumn<(trace: TraceResult, page: string | null) => number | null, 'integer?' | 'number?'>
  | CsvColumn<(trace: TraceResult, page: string | null) => string | null, 'string?'>
  | CsvColumn<(trace: TraceResult, page: string | null) => string, 'string'>

/** The columns in order, each with the function that gives its values. */
const COLUMNS: readonly TraceColumn[] = [
  ['trace', 'integer', 'canonical index: the column trace of the tables of tokens', t => t.index],
  ['step', 'integer?', 'trainer step; empty where the trace does not state it', t => t.fields.step],
  ['outcome', 'string?', 'success or failure; empty where it is unknown', t => t.fields.outcome],
  ['uid', 'string?', 'identity of the trajectory or of its prompt, verbatim; empty where the trace does not state it', t => t.fields.uid],
  ['score', 'number?', 'score of the trajectory; empty where the trace does not state it', t => t.fields.score],
  ['tokens', 'integer', 'retained tokens', t => t.statistics.tokens],
  [
    'boundaries',
    'integer',
    'transitions between retained tokens whose response positions differ by more than 1',
    t => t.statistics.boundary.transitions
  ],
  ['first_value', 'number', "the critic's value at the first retained token", t => t.statistics.firstValue],
  ['last_value', 'number', "the critic's value at the last retained token", t => t.statistics.lastValue],
  ['delta', 'number', 'last_value - first_value', t => t.statistics.delta],
  ['mean_value', 'number', 'mean of all values', t => t.statistics.mean],
  ['rmse', 'number', 'square root of the mean of (value - return)^2', t => t.statistics.rmse],
  ['first_half_mean', 'number?', 'mean of values[0 .. tokens // 2); empty for one token', t => t.statistics.firstHalfMean],
  ['second_half_mean', 'number', 'mean of the other values', t => t.statistics.secondHalfMean],
  [
    'boundary_mean_abs_change',
    'number?',
    'mean of |change| of the value at boundaries; empty without a boundary',
    t => t.statistics.boundary.meanAbs
  ],
  [
    'internal_mean_abs_change',
    'number?',
    'mean of |change| between adjacent response positions; empty without such a transition',
    t => t.statistics.internal.meanAbs
  ],
  [
    'max_boundary_from_index',
    'integer?',
    'i of the boundary i -> i + 1 with the largest |change|, the earliest on a tie, counted in retained tokens from 0; empty without a boundary',
    t => t.statistics.maxBoundaryJump?.from_index ?? null
  ],
  ['max_boundary_from', 'number?', 'the value before that boundary, at i', t => t.statistics.maxBoundaryJump?.from ?? null],
  ['max_boundary_to', 'number?', 'the value after it, at i + 1', t => t.statistics.maxBoundaryJump?.to ?? null],
  ['max_boundary_delta', 'number?', 'max_boundary_to - max_boundary_from', t => t.statistics.maxBoundaryJump?.delta ?? null],
  [
    'outcome_from',
    'string?',
    'outcome: the trace states it; score: told by its score; empty where the outcome is unknown',
    t => t.outcomeFrom
  ],
  [
    'source_file',
    'string',
    'file that the arrays were read from, as critic-trace-index.json names it: the NPZ file, else the page, or the file of a dump',
    (t, page) => t.npz?.path ?? t.sample?.file ?? pageOf(page)
  ],
  ['source_row', 'integer?', 'row in the file of a dump, from 0; empty where a file has no rows', t => t.sample?.row ?? null]
]

const TABLE: CsvTable<(trace: TraceResult, page: string | null) => CsvCell> = {
  title: 'Critic traces',
  description:
    "Statistics of the critic's values over each trace, in float64. " +
    'One row a trace, sorted by step, outcome, uid (by code point), then place in the snapshot; what is not stated comes last.',
  columns: COLUMNS
}

/** A trace of no NPZ file and no dump is the page's. */
function pageOf(page: string | null): string {
  if (page === null) throw new Error('a trace without a source')
  return page
}

/** Maps a UTF-16 unit to a key in code point order. Surrogates stand for code points above the rest of the plane. */
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
  return (
    nullsLast(a.fields.step, b.fields.step, (x, y) => x - y) ||
    nullsLast(a.fields.outcome, b.fields.outcome, compareCodePoints) ||
    nullsLast(a.fields.uid, b.fields.uid, compareCodePoints) ||
    a.index - b.index
  )
}

/** The whole table with its heading. */
export function trajectoriesCsv({ traces, page }: Trajectories): string {
  const rows = [...traces].sort(compareTraces).map(trace => csvRow(COLUMNS.map(([, , , cell]) => cell(trace, page))))
  return csvHeading(TABLE) + rows.join('')
}

/** Writes the table and its metadata. */
export async function writeTrajectories(set: OutputSet, trajectories: Trajectories, origin: Origin): Promise<void> {
  await set.write(OUTPUT_PATHS.trajectories, trajectoriesCsv(trajectories))
  await writeCsvMetadata(set, OUTPUT_PATHS.trajectories, TABLE, origin)
}
