/**
 * The histories as CSV: one row an observation. `observations`: what the step view keeps, by step; `all attempts`: every
 * observation with a timestamp by time, then those without, each with what superseded it; `lineage`: for every selection
 * and metric, in the order of sessions and rows, which run gave each step and what took its place; `points`: what the
 * figures draw, with provenance. Values as logged, unscaled; columns are documented in docs/outputs.md.
 */
import type { Curve, DisplayedCurve, SelectionHistory } from '../../compute/histories/contract.js'
import { displayHours, elapsedHours } from '../../compute/histories/time.js'
import { csvRow, type CsvCell } from './csv.js'
import type { FileSummary } from './output-file.js'
import type { OutputSet } from './output-set.js'

/** Rows of text handed to the file at once. */
const ROWS_PER_WRITE = 4096

/** Observation i of a curve. */
interface Row {
  readonly history: SelectionHistory
  readonly curve: Curve
  readonly i: number
}

type Column = readonly [name: string, cell: (row: Row) => CsvCell]

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}

const SOURCE: readonly Column[] = [
  ['selection', r => r.curve.selection],
  ['metric', r => r.curve.metric],
  ['key', r => r.curve.key],
  ['step', r => r.curve.step[r.i]],
  ['value', r => r.curve.value[r.i]],
  ['run', r => r.history.sessions[r.curve.session[r.i]].run],
  ['session', r => r.curve.session[r.i]],
  ['global_step', r => orNull(r.curve.globalStep[r.i])],
  ['timestamp', r => orNull(r.curve.timestamp[r.i])],
  ['elapsed_hours', r => orNull(elapsedHours(r.history, r.curve.timestamp[r.i]))],
  ['display_hours', r => orNull(displayHours(r.history, r.curve.timestamp[r.i]))]
]

function successor({ curve, i }: Row): number | null {
  return curve.supersededBy[i] < 0 ? null : curve.supersededBy[i]
}

const FATE: readonly Column[] = [
  ['kept', r => (successor(r) === null ? 1 : 0)],
  ['superseded_by_session', successor],
  ['superseded_by_run', r => {
    const session = successor(r)
    return session === null ? null : r.history.sessions[session].run
  }],
  ['restart_step', r => {
    const session = successor(r)
    return session === null ? null : r.history.sessions[session].firstStep
  }],
  ['reason', r => (successor(r) === null ? null : r.curve.replaced[r.i] === 1 ? 'replaced' : 'rolled back')]
]

type CurveIndexes = (curve: Curve) => Iterable<number>

/** What the step view keeps, by step. */
const KEPT: CurveIndexes = curve => curve.steps

/** Every observation in the order of sessions and rows. */
function* everyRow(curve: Curve): Generator<number> {
  for (let i = 0; i < curve.count; i++) yield i
}

/** By timestamp; observations without one follow. */
function* byTime(curve: Curve): Generator<number> {
  yield* curve.times
  for (let i = 0; i < curve.count; i++) if (Number.isNaN(curve.timestamp[i])) yield i
}

export interface CurveTable {
  readonly histories: readonly SelectionHistory[]
  /** of the study's metrics; null: all */
  readonly metrics: ReadonlySet<string> | null
}

function* rowsOf({ histories, metrics }: CurveTable, indexes: CurveIndexes): Generator<Row> {
  for (const history of histories) {
    for (const curve of history.curves) {
      if (metrics !== null && !metrics.has(curve.metric)) continue
      for (const i of indexes(curve)) yield { history, curve, i }
    }
  }
}

async function writeRows<T>(set: OutputSet, path: string, columns: readonly (readonly [string, (row: T) => CsvCell])[], rows: Iterable<T>): Promise<FileSummary> {
  const file = await set.file(path, { sha256: true })
  let text = csvRow(columns.map(([name]) => name))
  let held = 0
  for (const row of rows) {
    text += csvRow(columns.map(([, cell]) => cell(row)))
    if (++held < ROWS_PER_WRITE) continue
    await file.write(Buffer.from(text))
    text = ''
    held = 0
  }
  await file.write(Buffer.from(text))
  return file.end()
}

export function writeObservations(set: OutputSet, path: string, table: CurveTable): Promise<FileSummary> {
  return writeRows(set, path, SOURCE, rowsOf(table, KEPT))
}

export function writeAllAttempts(set: OutputSet, path: string, table: CurveTable): Promise<FileSummary> {
  return writeRows(set, path, [...SOURCE, ...FATE], rowsOf(table, byTime))
}

const LINEAGE = new Set(['selection', 'metric', 'step', 'run', 'session'])

export function writeLineage(set: OutputSet, path: string, table: CurveTable): Promise<FileSummary> {
  const columns = [...SOURCE.filter(([name]) => LINEAGE.has(name)), ...FATE]
  return writeRows(set, path, columns, rowsOf(table, everyRow))
}

interface PointRow {
  readonly curve: DisplayedCurve
  readonly i: number
}

const POINTS: ReadonlyArray<readonly [string, (row: PointRow) => CsvCell]> = [
  ['view', ({ curve }) => curve.view],
  ['algorithm', ({ curve }) => curve.selection],
  ['metric', ({ curve }) => curve.metric],
  ['x', ({ curve, i }) => curve.points[i].x],
  ['value', ({ curve, i }) => curve.points[i].value],
  ['source_run', ({ curve, i }) => curve.points[i].sourceRun],
  ['source_step', ({ curve, i }) => curve.points[i].sourceStep],
  ['provenance', ({ curve, i }) => curve.points[i].provenance],
  ['trailing_mean', ({ curve, i }) => curve.trailingMean?.[i] ?? null]
]

function* pointRows(curves: readonly DisplayedCurve[]): Generator<PointRow> {
  for (const curve of curves) for (let i = 0; i < curve.points.length; i++) yield { curve, i }
}

export function writePoints(set: OutputSet, path: string, curves: readonly DisplayedCurve[]): Promise<FileSummary> {
  return writeRows(set, path, POINTS, pointRows(curves))
}
