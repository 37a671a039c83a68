/**
 * Several snapshots over trainer steps: the rows of their table, and the data of the figure. A step that several snapshots have is
 * one point of a curve, over the tokens and transitions of all of them.
 */
import { compareCodepoints } from '../../core/paths.js'
import type { CurveFigureData, CurvePanelData, CurveSeriesData } from '../histories/contract.js'
import type { StepStatistics } from './contract.js'

/** One step of one snapshot. */
export interface SnapshotStep extends StepStatistics {
  /** name of the snapshot in outputs */
  readonly snapshot: string
}

export interface SteppedSnapshot {
  readonly name: string
  readonly steps: readonly StepStatistics[]
}

/** Rows by step, then by the name of the snapshot. */
export function overSteps(snapshots: readonly SteppedSnapshot[]): SnapshotStep[] {
  return snapshots
    .flatMap(({ name, steps }) => steps.map(step => ({ ...step, snapshot: name })))
    .sort((a, b) => a.step - b.step || compareCodepoints(a.snapshot, b.snapshot))
}

/** Fewest steps that make a table and a figure. */
export const FEWEST_STEPS = 2

export function distinctSteps(rows: readonly SnapshotStep[]): number {
  return new Set(rows.map(({ step }) => step)).size
}

export type StepOutcome = StepStatistics['mean_values'][number]['outcome']

const OUTCOME_TITLES: ReadonlyArray<readonly [outcome: StepOutcome, title: string]> = [
  ['success', 'success'],
  ['failure', 'failure'],
  ['unknown', 'outcome not stated']
]

const KINDS = [
  ['boundary', 'at turn boundaries'],
  ['internal', 'inside spans']
] as const

export const STEPS_FIGURE = 'critic-traces-over-steps'

/** Above this number of steps a marker at each point hides the line. */
export const MOST_MARKERS = 60

/**
 * @param threshold of jumps; null: it differs between the snapshots
 * @param drawnFrom outputs that hold the rows
 */
export function stepsFigure(
  rows: readonly SnapshotStep[],
  synthetic: boolean,
  threshold: number | null,
  drawnFrom: readonly string[]
): CurveFigureData {
  const steps = groupedByStep(rows)
  const sparse = steps.length <= MOST_MARKERS
  const series = (title: string, slot: number, valueAt: (of: readonly SnapshotStep[]) => number | null): CurveSeriesData => {
    const points = steps.flatMap(([step, of]) => {
      const value = valueAt(of)
      return value === null ? [] : [{ step, value }]
    })
    return {
      title,
      slot,
      x: points.map(({ step }) => step),
      y: points.map(({ value }) => value),
      smooth: null,
      supplied: [],
      gaps: [],
      restarts: [],
      marks: []
    }
  }
  const drawn = (all: readonly CurveSeriesData[]): CurveSeriesData[] => all.filter(({ x }) => x.length > 0)
  const byOutcome = (valueAt: (of: StepStatistics['mean_values']) => number | null): CurveSeriesData[] =>
    drawn(
      OUTCOME_TITLES.map(([outcome, title], slot) =>
        series(title, slot, of => valueAt(of.flatMap(({ mean_values: means }) => means.filter(m => m.outcome === outcome))))
      )
    )
  const byKind = (valueAt: (of: readonly StepStatistics['boundary'][]) => number | null): CurveSeriesData[] =>
    drawn(
      KINDS.map(([kind, title], k) => series(title, OUTCOME_TITLES.length + k, of => valueAt(of.map(({ [kind]: changes }) => changes))))
    )
  const panel = (title: string, yTitle: string, all: readonly CurveSeriesData[]): CurvePanelData => ({
    title,
    yTitle,
    scale: { kind: 'linear' },
    sparse,
    guides: [],
    series: all
  })
  const jumps = threshold === null ? 'Jump rate' : `Jump rate, |change| > ${threshold}`
  return {
    synthetic,
    drawnFrom,
    name: STEPS_FIGURE,
    title: 'Critic traces over trainer steps',
    xTitle: 'trainer step',
    panels: [
      panel('Mean value by outcome', 'mean value', byOutcome(meanValue)),
      panel(jumps, 'jumps, % of transitions', byKind(jumpRate)),
      { ...panel('Traces by outcome', 'traces', byOutcome(traces)), counts: true },
      panel('Mean |change of value|', 'mean |change|', byKind(meanChange))
    ]
  }
}

/** Rows that have the same step stand beside each other. */
function groupedByStep(rows: readonly SnapshotStep[]): Array<readonly [step: number, of: readonly SnapshotStep[]]> {
  const groups = new Map<number, SnapshotStep[]>()
  for (const row of rows) {
    const group = groups.get(row.step)
    if (group === undefined) groups.set(row.step, [row])
    else group.push(row)
  }
  return [...groups]
}

function total<T>(of: readonly T[], number: (one: T) => number): number {
  return of.reduce((sum, one) => sum + number(one), 0)
}

/** Over all tokens. */
function meanValue(of: StepStatistics['mean_values']): number | null {
  return of.length === 0 ? null : total(of, m => m.mean_value * m.tokens) / total(of, m => m.tokens)
}

function traces(of: StepStatistics['mean_values']): number | null {
  return of.length === 0 ? null : total(of, m => m.traces)
}

function jumpRate(of: readonly StepStatistics['boundary'][]): number | null {
  const transitions = total(of, c => c.transitions)
  return transitions === 0 ? null : (100 * total(of, c => c.jumps)) / transitions
}

function meanChange(of: readonly StepStatistics['boundary'][]): number | null {
  const transitions = total(of, c => c.transitions)
  return transitions === 0 ? null : total(of, c => c.sum_abs_change) / transitions
}
