/**
 * Training histories as the stages hand them on: what ingest reads, what compute makes of it, what render may see. Plain
 * data; a quantity that is undefined is null and `undefined_reasons` says why.
 *
 *     runs.json, *.jsonl ──► RunHistory ──► SelectedRuns ──► Curve (both views, per metric) ──► statistics
 *         (ingest)                                               └──► displayed curves, one at a time ──► figures
 */
import type { LeftOutOfRun, RunHistory } from '../../ingest/histories/types.js'
import type { MetricDefinition, RunSelection } from '../../schema/histories.js'

/**
 * The observations of one metric of one selection, as columns: element i of each is observation i, in the order of
 * sessions and rows, the dropped ones among them. An observation is a finite number that a row logged.
 */
export interface Curve {
  readonly selection: string
  readonly metric: string
  readonly key: string
  readonly count: number
  /** 0-based place in the selection's sessions */
  readonly session: Int32Array
  readonly step: Float64Array
  /** the row's own trainer step; NaN where the row has none */
  readonly globalStep: Float64Array
  /** seconds since 1970; NaN where the row has none */
  readonly timestamp: Float64Array
  /** as logged */
  readonly value: Float64Array
  /** -1: the step view keeps it; else the session that took its place */
  readonly supersededBy: Int32Array
  /** 1: that session logged the metric at this very step; 0: it starts below, so that the step was rolled back */
  readonly replaced: Uint8Array
  /** indexes of the observations that the step view keeps, by step */
  readonly steps: Int32Array
  /** indexes of the observations with a timestamp, by timestamp; order of sessions and rows on a tie */
  readonly times: Int32Array
  /** steps of the rows that the step view keeps whose value is not finite, in the order of sessions and rows */
  readonly nonFiniteSteps: Float64Array
  /** timestamps of all rows whose value is not finite, of those that state one, in that order */
  readonly nonFiniteTimes: Float64Array
  /** logged values that are not finite, by spelling */
  readonly nonFinite: { readonly [text: string]: number }
  /** rows in which the key stood with null */
  readonly nulls: number
  /** rows in which the key stood with something that is no number */
  readonly notNumbers: number
}

/** A stretch of one run's rows with increasing steps. A run whose steps go back is several. */
export interface Session {
  readonly run: string
  readonly createdAt: string
  readonly state: string | null
  readonly url: string | null
  readonly config: { readonly [key: string]: unknown }
  /** what the list of runs states of it and no output repeats; null: all that it states is here */
  readonly leftOut: LeftOutOfRun | null
  readonly rows: number
  readonly firstStep: number | null
  readonly lastStep: number | null
  /** seconds since 1970 at which it starts: what its place among the sessions of all runs follows from */
  readonly starts: number
  /** rows at or above the first step of a later session of the same run */
  readonly rowsGoneBackOver: number
  /** it follows another session of its run, and no timestamp of it says when: it has the start of that one */
  readonly isUnplaced: boolean
  /** the first timestamp of its rows; null where none states one */
  readonly firstTimestamp: number | null
  /** steps missing between the first and the last: their number and the first few */
  readonly holes: { readonly count: number; readonly first: readonly number[] }
  /** the same of all sessions of its run together: distinct steps, ascending, that none of them logged between its rows */
  readonly runHoles: { readonly count: number; readonly first: readonly number[] }
  readonly rowsWithoutTimestamp: number
  /** rows whose global step is null or not finite; a row that states none is not among them */
  readonly rowsWithUnusableGlobalStep: number
  /** rows whose global step is finite and no integer */
  readonly rowsWithFractionalGlobalStep: number
  /** the first such global step; null where there is none */
  readonly firstFractionalGlobalStep: number | null
  readonly rowsBeforeCreation: number
  /** rows with a timestamp that no run lasts until: milliseconds, say */
  readonly rowsLongAfterCreation: number
  /** the first such timestamp; null where there is none */
  readonly firstLongAfterCreation: number | null
  /** why the export looks sampled; null where it does not */
  readonly looksSampled: string | null
}

/** Steps that were logged and then gone back over: from the later session's first step to the last one logged before. */
export interface Rollback {
  readonly session: number
  readonly run: string
  /** [first, last] */
  readonly steps: readonly [number, number]
}

/** Runs of one selection that were created at the same time, in the order that was given them, and what gave it. */
export interface Tie {
  readonly runs: readonly string[]
  readonly decidedBy: 'first timestamp' | 'run id' | 'first timestamp, then run id'
}

/** What the reader of a run's file found, beyond its columns. */
export type RunFile = Pick<RunHistory, 'file' | 'reversed' | 'inexact' | 'nested'> & { readonly run: string }

export interface ExcludedRun {
  readonly run: string
  readonly displayName: string
  readonly reason: 'companion' | 'other display name' | 'other project' | 'other entity' | 'other label'
}

/** One selection with its sessions in order and a curve for each metric of the study. */
export interface SelectionHistory {
  readonly selection: RunSelection
  readonly sessions: readonly Session[]
  /** one a run, in the order of their creation */
  readonly files: readonly RunFile[]
  readonly rollbacks: readonly Rollback[]
  readonly ties: readonly Tie[]
  /** those that its runs state, each once: [entity, project] */
  readonly owners: ReadonlyArray<readonly [string | null, string | null]>
  /** in the order of the study's metrics */
  readonly curves: readonly Curve[]
  /** seconds since 1970 of the first session's createdAt */
  readonly originSeconds: number
  readonly displayFactor: number
}

/**
 * Where a displayed point comes from: `observed`; `borrowed_<reference>` and `shared_<reference>_reference`, after the
 * name of the selection that supplied it; `shared_reference`, a value that belongs to no history.
 */
export type Provenance = string

/** Which curve of an analysis, in which view. */
export interface CurvePlace {
  readonly view: 'step' | 'time'
  readonly selection: string
  readonly metric: string
}

/** Where points come from. */
export interface PointSource {
  readonly provenance: Provenance
  /** whose observations they are; null for a value that belongs to no history */
  readonly history: SelectionHistory | null
  readonly curve: Curve | null
}

/**
 * What a figure draws, as columns: element k of each is point k. x does not decrease. A curve may have millions of points:
 * it is made when it is needed, and not kept.
 */
export interface DisplayedCurve extends CurvePlace {
  /** step or display hours; infinite where the hours leave the double range */
  readonly x: Float64Array
  /** as logged, unscaled */
  readonly value: Float64Array
  /** place among `sources`, of which the first is the curve's own observations */
  readonly source: Uint8Array
  readonly sources: readonly PointSource[]
  /** index of the observation in the curve of its source; -1 for a value that belongs to no history */
  readonly observation: Int32Array
  /** trailing mean over the displayed values; null where the metric has none */
  readonly trailingMean: Float64Array | null
}

/** A mean and what it is a mean of. */
export interface WindowMean {
  readonly mean: number | null
  readonly count: number
  /** [first, last] step that entered */
  readonly steps: readonly [number, number] | null
}

/** Numbers of a series, however they are kept. */
export type Numbers = readonly number[] | Float64Array

/** What a curve figure draws, ready: scaled values, no study, no file. */
export interface CurveFigureData {
  readonly synthetic: boolean
  /** file name without extension */
  readonly name: string
  readonly title: string
  readonly xTitle: string
  readonly panels: readonly CurvePanelData[]
}

export interface CurvePanelData {
  readonly title: string
  readonly yTitle: string
  readonly scale: { readonly kind: 'linear' } | { readonly kind: 'log' } | { readonly kind: 'symlog'; readonly linear_to: number }
  /** dashed, with markers, no trailing mean */
  readonly sparse: boolean
  readonly guides: readonly { readonly value: number; readonly label: string; readonly series: number | null }[]
  readonly series: readonly CurveSeriesData[]
}

export interface CurveSeriesData {
  /** as the legend writes it */
  readonly title: string
  /** place in the figure's legend: the same series has the same colour in every panel */
  readonly slot: number
  readonly x: Numbers
  /** scaled */
  readonly y: Numbers
  /** trailing mean, scaled; null: none is drawn */
  readonly smooth: Numbers | null
  /** where a value was logged that is not finite, and no point is: no x among them is one of a point */
  readonly gaps: Numbers
  /** x of each point that another session logged than the observed point before it */
  readonly restarts: Numbers
  /** points with a label: the shared start */
  readonly marks: readonly { readonly x: number; readonly y: number; readonly label: string }[]
}

export type { MetricDefinition, RunSelection }
