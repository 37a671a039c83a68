/**
 * The histories as CSV: one row an observation. `observations`: what the step view keeps, by step; `all attempts`: every
 * observation with a timestamp by time, then those without, each with what superseded it; `lineage`: for every selection
 * and metric, in the order of sessions and rows, which run gave each step and what took its place; `points`: what the
 * figures draw, with provenance. Values as logged, unscaled; columns are documented in docs/outputs.md.
 *
 * There are millions of rows: what is the same for all rows of a curve is made into text once, and no row is an object.
 */
import type { Curve, DisplayedCurve, SelectionHistory } from '../../compute/histories/contract.js'
import { displayHours, elapsedHours } from '../../compute/histories/time.js'
import { csvRow, numberCell, textCell } from './csv.js'
import type { FileSummary, OutputFile } from './output-file.js'
import type { OutputSet } from './output-set.js'

/** Rows of text handed to the file at once. */
const ROWS_PER_WRITE = 4096

/** Called with the rows written since the last call; what it gives is waited for. */
export type OnRows = (rows: number) => Promise<void>

/** Text of the cell in the row of element i of a curve. */
type Cell = (i: number) => string

/** A curve, and what its rows repeat. */
interface Source {
  readonly history: SelectionHistory
  readonly curve: Curve
  /** cell of the run, for each session */
  readonly runs: readonly string[]
  /** cell of a number of hours */
  readonly hours: (value: number) => string
}

type Column<T> = readonly [name: string, cellsOf: (of: T) => Cell]

/** Empty where there is none, and where no double holds it. */
function numberOrEmpty(value: number): string {
  return Number.isFinite(value) ? numberCell(value) : ''
}

function always(text: string): Cell {
  return () => text
}

/** Elapsed hours are most often display hours too, and digits cost more than all else in a row. */
function rememberingLast(): (value: number) => string {
  let last = NaN
  let text = ''
  return value => {
    if (value !== last) {
      last = value
      text = numberOrEmpty(value)
    }
    return text
  }
}

function hours({ history, curve: { timestamp }, hours: text }: Source, of: typeof elapsedHours | typeof displayHours): Cell {
  return i => text(of(history, timestamp[i]))
}

const SOURCE: ReadonlyArray<Column<Source>> = [
  ['selection', ({ curve }) => always(textCell(curve.selection))],
  ['metric', ({ curve }) => always(textCell(curve.metric))],
  ['key', ({ curve }) => always(textCell(curve.key))],
  ['step', ({ curve }) => i => numberCell(curve.step[i])],
  ['value', ({ curve }) => i => numberCell(curve.value[i])],
  ['run', ({ curve, runs }) => i => runs[curve.session[i]]],
  ['session', ({ curve }) => i => numberCell(curve.session[i])],
  ['global_step', ({ curve }) => i => numberOrEmpty(curve.globalStep[i])],
  ['timestamp', ({ curve }) => i => numberOrEmpty(curve.timestamp[i])],
  ['elapsed_hours', source => hours(source, elapsedHours)],
  ['display_hours', source => hours(source, displayHours)]
]

const FATE: ReadonlyArray<Column<Source>> = [
  ['kept', ({ curve }) => i => (curve.supersededBy[i] < 0 ? '1' : '0')],
  ['superseded_by_session', superseded((_, session) => numberCell(session))],
  ['superseded_by_run', superseded(({ runs }, session) => runs[session])],
  ['restart_step', superseded(({ history }, session) => numberOrEmpty(history.sessions[session].firstStep ?? NaN))],
  ['reason', superseded(({ curve }, _, i) => (curve.replaced[i] === 1 ? 'replaced' : 'rolled back'))]
]

/** Empty where the step view keeps the observation. */
function superseded(cell: (source: Source, session: number, i: number) => string): (source: Source) => Cell {
  return source => i => {
    const session = source.curve.supersededBy[i]
    return session < 0 ? '' : cell(source, session, i)
  }
}

/** The rows of one curve: element `at(k)` for k from 0 to `count`. */
interface Rows {
  readonly cells: readonly Cell[]
  readonly count: number
  readonly at: (k: number) => number
}

/** Which observations of a curve, in which order. */
type Order = (curve: Curve) => Pick<Rows, 'count' | 'at'>

/** What the step view keeps, by step. */
const KEPT: Order = ({ steps }) => ({ count: steps.length, at: k => steps[k] })

/** Every observation in the order of sessions and rows. */
const EVERY: Order = ({ count }) => ({ count, at: k => k })

/** By timestamp; observations without one follow. */
const BY_TIME: Order = ({ count, times, timestamp }) => {
  let next = 0
  const untimed = (): number => {
    while (Number.isFinite(timestamp[next])) next++
    return next++
  }
  return { count, at: k => (k < times.length ? times[k] : untimed()) }
}

export interface CurveTable {
  readonly histories: readonly SelectionHistory[]
  /** of the study's metrics; null: all */
  readonly metrics: ReadonlySet<string> | null
}

function* curveRows({ histories, metrics }: CurveTable, columns: ReadonlyArray<Column<Source>>, order: Order): Generator<Rows> {
  for (const history of histories) {
    const runs = history.sessions.map(({ run }) => textCell(run))
    for (const curve of history.curves) {
      if (metrics !== null && !metrics.has(curve.metric)) continue
      const text = rememberingLast()
      yield { cells: columns.map(([, cellsOf]) => cellsOf({ history, curve, runs, hours: text })), ...order(curve) }
    }
  }
}

/** Writes the rows of a curve in pieces, so that something else may happen between two. */
async function writeRows(file: OutputFile, { cells, count, at }: Rows, onRows: OnRows): Promise<void> {
  for (let from = 0; from < count; from += ROWS_PER_WRITE) {
    const to = Math.min(count, from + ROWS_PER_WRITE)
    let text = ''
    for (let k = from; k < to; k++) {
      const i = at(k)
      text += cells[0](i)
      for (let c = 1; c < cells.length; c++) text += `,${cells[c](i)}`
      text += '\r\n'
    }
    await file.write(Buffer.from(text))
    await onRows(to - from)
  }
}

async function writeTable(
  set: OutputSet, path: string, names: readonly string[], curves: Iterable<Rows> | AsyncIterable<Rows>, onRows: OnRows
): Promise<FileSummary> {
  const file = await set.file(path, { sha256: true })
  await file.write(Buffer.from(csvRow(names)))
  for await (const rows of curves) await writeRows(file, rows, onRows)
  return file.end()
}

function names<T>(columns: ReadonlyArray<Column<T>>): string[] {
  return columns.map(([name]) => name)
}

export function writeObservations(set: OutputSet, path: string, table: CurveTable, onRows: OnRows): Promise<FileSummary> {
  return writeTable(set, path, names(SOURCE), curveRows(table, SOURCE, KEPT), onRows)
}

const ATTEMPTS = [...SOURCE, ...FATE]

export function writeAllAttempts(set: OutputSet, path: string, table: CurveTable, onRows: OnRows): Promise<FileSummary> {
  return writeTable(set, path, names(ATTEMPTS), curveRows(table, ATTEMPTS, BY_TIME), onRows)
}

const OF_LINEAGE = new Set(['selection', 'metric', 'step', 'run', 'session'])
const LINEAGE = [...SOURCE.filter(([name]) => OF_LINEAGE.has(name)), ...FATE]

export function writeLineage(set: OutputSet, path: string, table: CurveTable, onRows: OnRows): Promise<FileSummary> {
  return writeTable(set, path, names(LINEAGE), curveRows(table, LINEAGE, EVERY), onRows)
}

/** Cells of the sources of a curve's points: what one of them has none of is empty. */
function ofSource(cell: (curve: Curve, observation: number, runs: readonly string[]) => string): (displayed: DisplayedCurve) => Cell {
  return ({ sources, source, observation }) => {
    const runs = sources.map(({ history }) => history?.sessions.map(({ run }) => textCell(run)) ?? [])
    return k => {
      const { curve } = sources[source[k]]
      return curve === null ? '' : cell(curve, observation[k], runs[source[k]])
    }
  }
}

const POINTS: ReadonlyArray<Column<DisplayedCurve>> = [
  ['view', ({ view }) => always(view)],
  ['algorithm', ({ selection }) => always(textCell(selection))],
  ['metric', ({ metric }) => always(textCell(metric))],
  ['x', ({ x }) => k => numberOrEmpty(x[k])],
  ['value', ({ value }) => k => numberCell(value[k])],
  ['source_run', ofSource((curve, i, runs) => runs[curve.session[i]])],
  ['source_step', ofSource((curve, i) => numberCell(curve.step[i]))],
  ['provenance', ({ sources, source }) => {
    const words = sources.map(({ provenance }) => textCell(provenance))
    return k => words[source[k]]
  }],
  ['trailing_mean', ({ trailingMean }) => k => (trailingMean === null ? '' : numberOrEmpty(trailingMean[k]))]
]

/** @param curves one at a time: each is let go before the next is made */
export function writePoints(set: OutputSet, path: string, curves: AsyncIterable<DisplayedCurve>, onRows: OnRows): Promise<FileSummary> {
  return writeTable(set, path, names(POINTS), pointRows(curves), onRows)
}

async function* pointRows(curves: AsyncIterable<DisplayedCurve>): AsyncGenerator<Rows> {
  for await (const curve of curves) {
    yield { cells: POINTS.map(([, cellsOf]) => cellsOf(curve)), count: curve.value.length, at: k => k }
  }
}
