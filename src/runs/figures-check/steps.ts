/** What `critic-traces-over-steps` is to draw of `critic-trace-by-step.csv`: rows of one step are one point. */
import { MOST_MARKERS } from '../../compute/traces/over-steps.js'
import type { SvgPanel } from '../../ingest/svg/drawn-figure.js'
import { BATCH_STEPS } from '../../render/outputs/output-names.js'
import type { ExpectedSeries } from './compare.js'
import { lineWithMarkers } from './curves.js'
import type { DataFiles } from './data-files.js'

const OUTCOMES = [
  ['success', 'successes', 'success_mean_value'],
  ['failure', 'failures', 'failure_mean_value'],
  ['outcome not stated', 'outcome_unknown', 'unknown_mean_value']
] as const
const KINDS = [
  ['at turn boundaries', 'boundary'],
  ['inside spans', 'internal']
] as const

/** A row's number by the name of its column; NaN: the cell is empty. */
type StepRow = (column: string) => number
/** A step's number; null: it has none; NaN: the table does not tell. */
type OfStep = (rows: readonly StepRow[]) => number | null

function sum(rows: readonly StepRow[], of: (row: StepRow) => number): number {
  return rows.reduce((total, row) => total + of(row), 0)
}

/** The table has no tokens of each outcome: where two snapshots share a step, it does not tell their mean. */
function meanValue(column: string): OfStep {
  return rows => {
    const own = rows.map(row => row(column)).filter(value => !Number.isNaN(value))
    return own.length > 1 ? NaN : (own.at(0) ?? null)
  }
}

function share(kind: string, amount: (row: StepRow) => number): OfStep {
  return rows => {
    const own = rows.filter(row => row(`${kind}_transitions`) > 0)
    return own.length === 0 ? null : sum(own, amount) / sum(own, row => row(`${kind}_transitions`))
  }
}

/** By the letter of the panel. */
const PANELS: Readonly<Record<string, ReadonlyArray<readonly [title: string, of: OfStep]>>> = {
  a: OUTCOMES.map(([title, , column]) => [title, meanValue(column)]),
  b: KINDS.map(([title, kind]) => [title, share(kind, row => 100 * row(`${kind}_jumps`))]),
  c: OUTCOMES.map(([title, column]) => [title, rows => sum(rows, row => row(column)) || null]),
  d: KINDS.map(([title, kind]) => [title, share(kind, row => row(`${kind}_mean_abs_change`) * row(`${kind}_transitions`))])
}

export const STEP_PANELS: readonly string[] = Object.keys(PANELS)

/** @returns the series of a panel, and the titles of those that the table does not tell */
export async function stepSeries(
  files: DataFiles,
  panel: SvgPanel
): Promise<{ readonly told: ExpectedSeries[]; readonly untold: string[] }> {
  const { rows, column } = await files.csv(BATCH_STEPS)
  const steps = new Map<number, StepRow[]>()
  for (const cells of rows) {
    const row: StepRow = name => (cells[column(name)] === '' ? NaN : Number(cells[column(name)]))
    const own = steps.get(row('step')) ?? []
    steps.set(row('step'), own)
    own.push(row)
  }
  const untold: string[] = []
  const told = (PANELS[panel.letter] ?? []).flatMap(([title, of]) => {
    const points = [...steps].flatMap(([step, own]) => {
      const value = of(own)
      return value === null ? [] : [[step, value] as const]
    })
    const data = { x: points.map(([x]) => x), y: points.map(([, y]) => y) }
    if (!data.y.some(Number.isNaN)) return lineWithMarkers(title, data, data, panel.x, steps.size <= MOST_MARKERS)
    untold.push(title, `${title}, marker`)
    return []
  })
  return { told, untold }
}
