/**
 * Runs from CSV files: what W&B's pages export of a chart, and plain tables of rows. `study init` writes them as histories, in
 * the layout that a study reads. The CSV files stay as they are.
 *
 * - W&B's export of a chart: the first column is the horizontal axis, the others are `<run> - <metric>`, each with
 *   `<run> - <metric>__MIN` and `…__MAX`. Files of several charts are joined by run and step.
 * - Any other CSV is one run of its file's name: a line is a row, and each cell with a number is a value under its column.
 *
 * A cell keeps the spelling of its number. A CSV states no time of creation: that of the first row stands for it, and where
 * rows have no time, 1970-01-01.
 *
 * Not supported: W&B's table of runs (said), several runs in one plain table, axes other than steps in W&B's export.
 */
import { Fault, printable } from '../../core/errors.js'
import type { TextTable } from '../../ingest/csv/table.js'
import { TIMESTAMP_KEYS } from './coordinates.js'
import { nameLike } from './words.js'

/** Label of the runs, which is the folder of their histories. */
export const CSV_LABEL = 'csv'

/** Stands for a time of creation that no row gives. */
const UNKNOWN_CREATION = '1970-01-01T00:00:00Z'

/** W&B writes a chart's axis of steps as `Step`. */
const STEP_AXES: ReadonlySet<string> = new Set(['Step', '_step'])

/** Axes of time, which give no step. */
const TIME_AXIS = /^(?:Relative Time|Wall Time)/

export interface CsvFile {
  /** name in the folder */
  readonly name: string
  readonly table: TextTable
}

export interface CsvRun {
  readonly id: string
  readonly displayName: string
  readonly createdAt: string
  /** time of the export, where the file's name states it */
  readonly fetchedAt: string | null
  /** JSON Lines */
  readonly text: string
}

export interface CsvRuns {
  readonly runs: readonly CsvRun[]
  /** one line each: files and cells that were left out, what stands for something else */
  readonly notes: readonly string[]
}

/** A row by its keys; values are numbers as they are written. */
type Row = Map<string, string>

interface DraftRun {
  readonly displayName: string
  readonly fetchedAt: string | null
  readonly rows: Row[]
}

/** @throws Fault exit 3: two files that state one value differently */
export function runsOfCsv(files: readonly CsvFile[]): CsvRuns {
  const notes: string[] = []
  const charts = new Map<string, ChartRun>()
  const tables: DraftRun[] = []
  for (const file of files) {
    if (isRunTable(file.table))
      notes.push(`${printable(file.name)}: left out, a line is a run with its last values; export charts, or use fetch`)
    else if (isChart(file.table)) addChart(file, charts, notes)
    else tables.push(tableRun(file, notes))
  }
  const all = [...[...charts.values()].map(run => ({ ...run, rows: inOrder(run) })), ...tables].filter(run => run.rows.length > 0)
  const ids = new Set<string>()
  const runs = all.map(({ displayName, fetchedAt, rows }): CsvRun => {
    const createdAt = creationOf(rows)
    return { id: nameLike(displayName, 'run', ids), displayName, createdAt, fetchedAt, text: rows.map(row => `${jsonRow(row)}\n`).join('') }
  })
  const undated = runs.filter(run => run.createdAt === UNKNOWN_CREATION).length
  if (undated > 0)
    notes.push(
      `${undated} ${undated === 1 ? 'run' : 'runs'} of CSV files without times: createdAt is not known, ${UNKNOWN_CREATION} stands for it`
    )
  return { runs, notes }
}

interface ChartRun extends Omit<DraftRun, 'rows'> {
  /** by the step as it is written in canonical form */
  readonly bySteps: Map<number, Row>
  readonly axis: string
}

/** True for W&B's export of its table of runs, which has no history. */
function isRunTable({ head }: TextTable): boolean {
  return head.includes('Name') && head.includes('State') && (head.includes('Created') || head.includes('Runtime'))
}

const BOUND = /__(?:MIN|MAX)$/

/** True for the export of a chart: every column but the first is of a run, and each value has its bounds beside it. */
function isChart({ head }: TextTable): boolean {
  const [, ...columns] = head
  const values = columns.filter(name => !BOUND.test(name))
  return (
    values.length > 0 &&
    columns.every(name => name.includes(' - ')) &&
    values.every(name => columns.includes(`${name}__MIN`) && columns.includes(`${name}__MAX`))
  )
}

function addChart({ name, table: { head, rows } }: CsvFile, charts: Map<string, ChartRun>, notes: string[]): void {
  const [axis] = head
  const file = printable(name)
  if (TIME_AXIS.test(axis)) {
    notes.push(
      `${file}: left out, its axis is ${printable(JSON.stringify(axis))} and gives no step; export the chart with Step as its axis`
    )
    return
  }
  const key = STEP_AXES.has(axis) ? '_step' : axis
  let [summed, unread] = [0, 0]
  for (const [column, title] of head.entries()) {
    if (column === 0 || BOUND.test(title)) continue
    const cut = title.lastIndexOf(' - ')
    const [displayName, metric] = [title.slice(0, cut), title.slice(cut + 3)]
    // The step itself is often drawn too.
    if (metric === key || metric === '_step') continue
    const [low, high] = [head.indexOf(`${title}__MIN`), head.indexOf(`${title}__MAX`)]
    const run = charts.get(displayName) ?? { displayName, fetchedAt: exportTime(name), bySteps: new Map<number, Row>(), axis: key }
    if (run.axis !== key)
      throw contradiction(file, `run ${printable(displayName)} by ${printable(key)}`, `${printable(run.axis)}, as in another file`)
    charts.set(displayName, run)
    for (const cells of rows) {
      const [step, value] = [cells[0], cells[column]]
      if (value === '') continue
      if (numberOf(value) === null || !isStep(step)) unread++
      else {
        if (cells[low] !== value || cells[high] !== value) summed++
        const row = run.bySteps.get(Number(step)) ?? new Map([[key, step]])
        const earlier = row.get(metric)
        if (earlier !== undefined && earlier !== value) {
          throw contradiction(
            file,
            `${printable(metric)} of ${printable(displayName)} at step ${step} is ${value}`,
            `${earlier}, as in another file`
          )
        }
        run.bySteps.set(Number(step), row.set(metric, value))
      }
    }
  }
  if (summed > 0)
    notes.push(
      `${file}: ${summed} of its values ${summed === 1 ? 'stands' : 'stand'} for several rows, since __MIN and __MAX differ; fetch gives every row`
    )
  if (unread > 0) notes.push(`${file}: ${unread} cells left out, which are no numbers or at no step`)
}

function contradiction(file: string, found: string, expected: string): Fault {
  return new Fault({ format: 'csv', problem: 'contradiction', found, expected, place: { file } })
}

function inOrder({ bySteps }: ChartRun): Row[] {
  return [...bySteps].sort(([a], [b]) => a - b).map(([, row]) => row)
}

/** A plain table. A column without a name is the index that pandas writes. */
function tableRun({ name, table: { head, rows } }: CsvFile, notes: string[]): DraftRun {
  const texts = new Map<string, number>()
  const made = rows.map(cells => {
    const row: Row = new Map()
    head.forEach((title, column) => {
      const cell = cells[column].trim()
      if (title === '' || cell === '') return
      if (numberOf(cell) === null) texts.set(title, (texts.get(title) ?? 0) + 1)
      else row.set(title, cell)
    })
    return row
  })
  if (texts.size > 0) {
    const columns = [...texts.keys()].slice(0, 5).map(title => printable(JSON.stringify(title)))
    notes.push(`${printable(name)}: cells that are no numbers are left out, under ${columns.join(', ')}${texts.size > 5 ? ', …' : ''}`)
  }
  return { displayName: name.replace(/\.csv$/i, ''), fetchedAt: exportTime(name), rows: made.filter(row => row.size > 0) }
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/
const NON_FINITE = /^[+-]?(?:nan|inf|infinity)$/i

/** The number as JSON writes it, in the spelling of the cell where that is possible; null for a cell that is no number. */
function numberOf(cell: string): string | null {
  if (JSON_NUMBER.test(cell)) return cell
  if (NON_FINITE.test(cell)) return JSON.stringify(cell)
  // `+1`, `.5` and `1.` are numbers that JSON does not write so.
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(cell) ? String(Number(cell)) : null
}

function isStep(cell: string): boolean {
  return cell !== '' && numberOf(cell) !== null && Number.isSafeInteger(Number(cell)) && Number(cell) >= 0
}

function jsonRow(row: Row): string {
  return `{${[...row].map(([key, cell]) => `${JSON.stringify(key)}: ${numberOf(cell) ?? 'null'}`).join(', ')}}`
}

function creationOf(rows: readonly Row[]): string {
  const key = TIMESTAMP_KEYS.find(name => rows.some(row => row.has(name)))
  const first = Number(rows.find(row => row.has(key ?? ''))?.get(key ?? '') ?? NaN)
  // Seconds since 1970, from 2001 to 5138.
  return first > 1e9 && first < 1e11 ? new Date(Math.floor(first) * 1000).toISOString().replace(/\.\d+Z$/, 'Z') : UNKNOWN_CREATION
}

/** `wandb_export_2026-10-06T07_31_12.345+02_00.csv`. */
function exportTime(name: string): string | null {
  const match = /(\d{4}-\d\d-\d\dT)(\d\d)_(\d\d)_(\d\d)(?:\.\d+)?([+-]\d\d)_(\d\d)/.exec(name)
  if (match === null) return null
  const [, day, hour, minute, second, zone, zoneMinute] = match
  return `${day}${hour}:${minute}:${second}${zone}:${zoneMinute}`
}
