/**
 * The histories as CSV, with one row for each observation. `observations`: the observations that the step view keeps,
 * by step. `all attempts`: all observations, first those with a timestamp by time, then the others, each with what
 * superseded it. `lineage`: for every selection and metric, in the order of sessions and rows, the run of each step and
 * what superseded it. `points`: the points that figures draw, with their provenance. Values are as logged and unscaled.
 * docs/outputs.md documents the columns.
 *
 * There are millions of rows. A text that is the same in all rows of a curve is therefore made once, and no row is an
 * object.
 */
import type { Curve, DisplayedCurve, SelectionHistory } from '../../compute/histories/contract.js'
import { displayHours, elapsedHours } from '../../compute/histories/time.js'
import { csvHeading, writeCsvMetadata, type CsvTable } from './csv-metadata.js'
import { numberCell } from './csv.js'
import { textCell } from './csv-text.js'
import type { OutputFile } from './output-file.js'
import type { Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

/** Number of rows whose text is handed to the file at once. */
const ROWS_PER_WRITE = 4096

/** Called with the number of rows written since the last call. Its promise is awaited. */
export type OnRows = (rows: number) => Promise<void>

/** Gives the text of a cell in the row of element i of a curve. */
type CellWriter = (i: number) => string

/** A curve, with texts that its rows repeat. */
interface Source {
  readonly history: SelectionHistory
  readonly curve: Curve
  /** cell of the run id, for each session */
  readonly runs: readonly string[]
  /** makes the cell of a number of hours */
  readonly hours: (value: number) => string
}

type RowTable<T> = CsvTable<(of: T) => CellWriter>
type Columns<T> = RowTable<T>['columns']

/** Empty where there is no number, and where no finite double holds it. */
function numberOrEmpty(value: number): string {
  return Number.isFinite(value) ? numberCell(value) : ''
}

function always(text: string): CellWriter {
  return () => text
}

/**
 * Keeps the text of the last number. Elapsed hours often equal display hours, and digits cost more than all other parts
 * of a row.
 */
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

function hours({ history, curve: { timestamp }, hours: text }: Source, of: typeof elapsedHours | typeof displayHours): CellWriter {
  return i => text(of(history, timestamp[i]))
}

const SOURCE: Columns<Source> = [
  ['selection', 'string', "the study's name of the selection", ({ curve }) => always(textCell(curve.selection))],
  ['metric', 'string', "the study's name of the metric", ({ curve }) => always(textCell(curve.metric))],
  ['key', 'string', 'key of the history row that holds the value', ({ curve }) => always(textCell(curve.key))],
  [
    'step',
    'integer',
    "the row's own step",
    ({ curve }) =>
      i =>
        numberCell(curve.step[i])
  ],
  [
    'value',
    'number',
    'as logged, unscaled',
    ({ curve }) =>
      i =>
        numberCell(curve.value[i])
  ],
  [
    'run',
    'string',
    'id of the run that logged it',
    ({ curve, runs }) =>
      i =>
        runs[curve.session[i]]
  ],
  [
    'session',
    'integer',
    'place of its session among those of the selection, from 0',
    ({ curve }) =>
      i =>
        numberCell(curve.session[i])
  ],
  [
    'global_step',
    'number?',
    "the row's own trainer step; empty where it has none",
    ({ curve }) =>
      i =>
        numberOrEmpty(curve.globalStep[i])
  ],
  [
    'timestamp',
    'number?',
    'seconds since 1970-01-01T00:00:00Z; empty where the row has none',
    ({ curve }) =>
      i =>
        numberOrEmpty(curve.timestamp[i])
  ],
  [
    'elapsed_hours',
    'number?',
    'hours since the creation of the first session; empty without a timestamp, and beyond the double range',
    source => hours(source, elapsedHours)
  ],
  [
    'display_hours',
    'number?',
    'elapsed_hours times the display factor of the selection; empty without a timestamp, and beyond the double range',
    source => hours(source, displayHours)
  ]
]

const FATE: Columns<Source> = [
  [
    'kept',
    'boolean',
    '1: the step view keeps the observation; 0: it is superseded',
    ({ curve }) =>
      i =>
        curve.supersededBy[i] < 0 ? '1' : '0'
  ],
  [
    'superseded_by_session',
    'integer?',
    'the session that took its place; empty where kept',
    superseded((_, session) => numberCell(session))
  ],
  ['superseded_by_run', 'string?', 'the run of that session; empty where kept', superseded(({ runs }, session) => runs[session])],
  [
    'restart_step',
    'integer?',
    'first step of that session; empty where kept',
    superseded(({ history }, session) => numberOrEmpty(history.sessions[session].firstStep ?? NaN))
  ],
  [
    'reason',
    'string?',
    'replaced: that session logs the metric at this step; rolled back: it begins below this step; empty where kept',
    superseded(({ curve }, _, i) => (curve.replaced[i] === 1 ? 'replaced' : 'rolled back'))
  ]
]

/** Empty where the step view keeps the observation. */
function superseded(cell: (source: Source, session: number, i: number) => string): (source: Source) => CellWriter {
  return source => i => {
    const session = source.curve.supersededBy[i]
    return session < 0 ? '' : cell(source, session, i)
  }
}

/** The rows of one curve. Row k, from 0 to `count`, is that of element `at(k)`. */
interface Rows {
  readonly cells: readonly CellWriter[]
  readonly count: number
  readonly at: (k: number) => number
}

/** Selects and orders the observations of a curve. */
type Order = (curve: Curve) => Pick<Rows, 'count' | 'at'>

/** The observations that the step view keeps, by step. */
const KEPT: Order = ({ steps }) => ({ count: steps.length, at: k => steps[k] })

/** All observations in the order of sessions and rows. */
const EVERY: Order = ({ count }) => ({ count, at: k => k })

/** All observations by timestamp. Those without a timestamp follow. */
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
  /** names of the metrics; null for all */
  readonly metrics: ReadonlySet<string> | null
}

function* curveRows({ histories, metrics }: CurveTable, { columns }: RowTable<Source>, order: Order): Generator<Rows> {
  for (const history of histories) {
    const runs = history.sessions.map(({ run }) => textCell(run))
    for (const curve of history.curves) {
      if (metrics !== null && !metrics.has(curve.metric)) continue
      const text = rememberingLast()
      yield { cells: columns.map(([, , , cellsOf]) => cellsOf({ history, curve, runs, hours: text })), ...order(curve) }
    }
  }
}

/** Writes the rows of a curve in pieces, so that other work can be done between them. */
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

/** Writes the table and its metadata. */
async function writeTable<T>(
  set: OutputSet,
  path: string,
  table: RowTable<T>,
  curves: Iterable<Rows> | AsyncIterable<Rows>,
  origin: Origin,
  onRows: OnRows
): Promise<void> {
  const file = await set.file(path, { sha256: true })
  await file.write(Buffer.from(csvHeading(table)))
  for await (const rows of curves) await writeRows(file, rows, onRows)
  await file.end()
  await writeCsvMetadata(set, path, table, origin)
}

const OBSERVATIONS: RowTable<Source> = {
  title: 'Observations of the step view',
  description: 'One row an observation that the step view keeps, ordered by selection, metric, then step.',
  columns: SOURCE
}

export function writeObservations(set: OutputSet, path: string, curves: CurveTable, origin: Origin, onRows: OnRows): Promise<void> {
  return writeTable(set, path, OBSERVATIONS, curveRows(curves, OBSERVATIONS, KEPT), origin, onRows)
}

const ATTEMPTS: RowTable<Source> = {
  title: 'Observations of every attempt',
  description: 'One row an observation, superseded ones among them, ordered by selection, metric, then timestamp; those without one last.',
  columns: [...SOURCE, ...FATE]
}

export function writeAllAttempts(set: OutputSet, path: string, curves: CurveTable, origin: Origin, onRows: OnRows): Promise<void> {
  return writeTable(set, path, ATTEMPTS, curveRows(curves, ATTEMPTS, BY_TIME), origin, onRows)
}

const OF_LINEAGE = new Set(['selection', 'metric', 'step', 'run', 'session'])

const LINEAGE: RowTable<Source> = {
  title: 'Lineage of the observations',
  description:
    'Which run gave each observation, and what superseded it. ' +
    'One row an observation of any selection and metric, in the order of sessions and rows.',
  columns: [...SOURCE.filter(([name]) => OF_LINEAGE.has(name)), ...FATE]
}

export function writeLineage(set: OutputSet, path: string, curves: CurveTable, origin: Origin, onRows: OnRows): Promise<void> {
  return writeTable(set, path, LINEAGE, curveRows(curves, LINEAGE, EVERY), origin, onRows)
}

/** Cells that come from the source of a point. A cell is empty where the source has no curve. */
function ofSource(cell: (curve: Curve, observation: number, runs: readonly string[]) => string): (displayed: DisplayedCurve) => CellWriter {
  return ({ sources, source, observation }) => {
    const runs = sources.map(({ history }) => history?.sessions.map(({ run }) => textCell(run)) ?? [])
    return k => {
      const { curve } = sources[source[k]]
      return curve === null ? '' : cell(curve, observation[k], runs[source[k]])
    }
  }
}

const POINTS: RowTable<DisplayedCurve> = {
  title: 'Displayed points',
  description: 'One row a point that figures draw, of both views, ordered by view, metric, algorithm, then x.',
  columns: [
    ['view', 'string', 'step or time: what x is', ({ view }) => always(view)],
    ['algorithm', 'string', "the study's name of the selection", ({ selection }) => always(textCell(selection))],
    ['metric', 'string', "the study's name of the metric", ({ metric }) => always(textCell(metric))],
    [
      'x',
      'number?',
      'step, or display hours; empty beyond the double range',
      ({ x }) =>
        k =>
          numberOrEmpty(x[k])
    ],
    [
      'value',
      'number',
      'as logged, unscaled',
      ({ value }) =>
        k =>
          numberCell(value[k])
    ],
    [
      'source_run',
      'string?',
      'id of the run that logged it; empty for a value that belongs to no history',
      ofSource((curve, i, runs) => runs[curve.session[i]])
    ],
    [
      'source_step',
      'integer?',
      'step of the row that logged it; empty for a value that belongs to no history',
      ofSource((curve, i) => numberCell(curve.step[i]))
    ],
    [
      'provenance',
      'string',
      'observed; borrowed_<reference>: an observation of that selection; shared_<reference>_reference: its first value, at x = 0; ' +
        'shared_reference: a value that belongs to no history',
      ({ sources, source }) => {
        const words = sources.map(({ provenance }) => textCell(provenance))
        return k => words[source[k]]
      }
    ],
    [
      'trailing_mean',
      'number?',
      'mean of the latest values in the order of x; empty where the metric has none, and beyond the double range',
      ({ trailingMean }) =>
        k =>
          trailingMean === null ? '' : numberOrEmpty(trailingMean[k])
    ]
  ]
}

/** @param curves one at a time; each is released before the next is made */
export function writePoints(
  set: OutputSet,
  path: string,
  curves: AsyncIterable<DisplayedCurve>,
  origin: Origin,
  onRows: OnRows
): Promise<void> {
  return writeTable(set, path, POINTS, pointRows(curves), origin, onRows)
}

async function* pointRows(curves: AsyncIterable<DisplayedCurve>): AsyncGenerator<Rows> {
  for await (const curve of curves) {
    yield { cells: POINTS.columns.map(([, , , cellsOf]) => cellsOf(curve)), count: curve.value.length, at: k => k }
  }
}
