/**
 * The types of training histories that the stages pass on: what ingest reads, what compute makes of it, and what render
 * may import. All is plain data. An undefined quantity is null, and `undefined_reasons` says why.
 *
 *     runs.json, *.jsonl ──► RunHistory ──► SelectedRuns ──► Curve (both views, per metric) ──► statistics
 *         (ingest)                                               └──► displayed curves, one at a time ──► figures
 */
import type { LeftOutOfRun, RunHistory } from '../../ingest/histories/types.js'
import type { MetricDefinition, RunSelection } from '../../schema/histories.js'

/**
 * The observations of one metric of one selection, as columns: element i of each column is observation i. They are in
 * the order of sessions and rows, and include observations that the step view drops. An observation is a finite number
 * that a row logged.
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
  /** -1 where the step view keeps the observation; else the index of the session that superseded it */
  readonly supersededBy: Int32Array
  /** 1: the superseding session logged the metric at the same step; 0: it starts at a lower step, which rolls this one back */
  readonly replaced: Uint8Array
  /** indexes of the observations in the step view, by step */
  readonly steps: Int32Array
  /** indexes of the observations with a timestamp, by timestamp; ties in the order of sessions and rows */
  readonly times: Int32Array
  /** steps of the step view's rows whose value is not finite, in the order of sessions and rows */
  readonly nonFiniteSteps: Float64Array
  /** timestamps of all rows with a timestamp whose value is not finite, in the same order */
  readonly nonFiniteTimes: Float64Array
  /** logged values that are not finite, by spelling */
  readonly nonFinite: { readonly [text: string]: number }
  /** rows in which the key has the value null */
  readonly nulls: number
  /** rows in which the key has a value that is neither a number nor null */
  readonly notNumbers: number
}

/** A stretch of one run's rows with increasing steps. A run whose steps go back has several sessions. */
export interface Session {
  readonly run: string
  readonly createdAt: string
  readonly state: string | null
  readonly url: string | null
  readonly config: { readonly [key: string]: unknown }
  /** counts of what the list of runs states and no output repeats; null where everything stated is here */
  readonly leftOut: LeftOutOfRun | null
  readonly rows: number
  readonly firstStep: number | null
  readonly lastStep: number | null
  /** start of the session in seconds since 1970; it decides the place among the sessions of all runs */
  readonly starts: number
  /** rows at or above the first step of a later session of the same run */
  readonly rowsGoneBackOver: number
  /** the session follows another session of its run and has no timestamp, so it has the start of that session */
  readonly isUnplaced: boolean
  /** first timestamp of its rows; null where no row has one */
  readonly firstTimestamp: number | null
  /** steps missing between the first and the last: their number, and the first few */
  readonly holes: { readonly count: number; readonly first: readonly number[] }
  /** steps missing from all sessions of the run together: distinct steps between the run's rows, ascending */
  readonly runHoles: { readonly count: number; readonly first: readonly number[] }
  readonly rowsWithoutTimestamp: number
  /** rows that state a global step which is null or not finite */
  readonly rowsWithUnusableGlobalStep: number
  /** rows whose global step is finite but no integer */
  readonly rowsWithFractionalGlobalStep: number
  /** the first such global step; null where there is none */
  readonly firstFractionalGlobalStep: number | null
  readonly rowsBeforeCreation: number
  /** rows with a timestamp more than ten years after the run's creation, as where it is in milliseconds */
  readonly rowsLongAfterCreation: number
  /** the first such timestamp; null where there is none */
  readonly firstLongAfterCreation: number | null
  /** why the export looks sampled; null where it does not */
  readonly looksSampled: string | null
}

/** Steps that were logged and then rolled back: from the later session's first step to the last step logged before it. */
export interface Rollback {
  readonly session: number
  readonly run: string
  /** [first, last] */
  readonly steps: readonly [number, number]
}

/** Runs of one selection that were created at the same time, in their chosen order, and what decided that order. */
export interface Tie {
  readonly runs: readonly string[]
  readonly decidedBy: 'first timestamp' | 'run id' | 'first timestamp, then run id'
}

/** What the reader of a run's file found beside its columns. */
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
  /** one for each run, in the order of creation */
  readonly files: readonly RunFile[]
  readonly rollbacks: readonly Rollback[]
  readonly ties: readonly Tie[]
  /** distinct pairs [entity, project] of its runs */
  readonly owners: ReadonlyArray<readonly [string | null, string | null]>
  /** in the order of the study's metrics */
  readonly curves: readonly Curve[]
  /** seconds since 1970 of the first session's createdAt */
  readonly originSeconds: number
  readonly displayFactor: number
}

/**
 * Where a displayed point comes from. `observed`: the curve's own history. `borrowed_<reference>` and
 * `shared_<reference>_reference`: the named selection. `shared_reference`: a value of no history.
 */
export type PointProvenance = string

/** One curve of an analysis in one view. */
export interface CurvePlace {
  readonly view: 'step' | 'time'
  readonly selection: string
  readonly metric: string
}

/** The source of displayed points. */
export interface PointSource {
  readonly provenance: PointProvenance
  /** history with the observations; null for a value that belongs to no history */
  readonly history: SelectionHistory | null
  readonly curve: Curve | null
}

/**
 * The points of a curve in a figure, as columns: element k of each column is point k. x does not decrease. A curve may
 * have millions of points, so it is made when it is needed and is not kept.
 */
export interface DisplayedCurve extends CurvePlace {
  /** step or display hours; infinite where no finite double holds the hours */
  readonly x: Float64Array
  /** as logged, unscaled */
  readonly value: Float64Array
  /** index into `sources`; source 0 is the curve's own observations */
  readonly source: Uint8Array
  readonly sources: readonly PointSource[]
  /** index of the observation in the curve of its source; -1 for a value that belongs to no history */
  readonly observation: Int32Array
  /** trailing mean over the displayed values; null where the metric has none */
  readonly trailingMean: Float64Array | null
}

export type { WindowMean } from '../../schema/outputs/history-observed.js'

/** Numbers of a series, in either form. */
export type Numbers = readonly number[] | Float64Array

/** The complete data of a curve figure: scaled values, no study and no file. */
export interface CurveFigureData {
  readonly synthetic: boolean
  /** file name without extension */
  readonly name: string
  readonly title: string
  readonly xTitle: string
  /** outputs that hold its points, or the observations that they follow from, and their statistics */
  readonly drawnFrom: readonly string[]
  readonly panels: readonly CurvePanelData[]
  /** null: it has more points than a page holds; absent: nobody asks for them */
  readonly readings?: FigureReadings | null
}

/** What a page tells of a curve figure where a reader points: all displayed points of both views, unscaled. It is plain JSON. */
export interface FigureReadings {
  /** the view that is drawn */
  readonly view: CurvePlace['view']
  readonly xTitles: { readonly [view in CurvePlace['view']]: string }
  /** windows of the trailing means that the study states, ascending */
  readonly windows: readonly number[]
  /** runs with the files of their histories, relative to the study */
  readonly runs: readonly { readonly id: string; readonly file: string }[]
  readonly provenances: readonly PointProvenance[]
  readonly panels: readonly PanelReadings[]
}

export interface PanelReadings extends Pick<CurvePanelData, 'title' | 'yTitle' | 'scale' | 'sparse'> {
  /** plotted value = value * multiply / divide */
  readonly multiply: number
  readonly divide: number
  /** observations in the trailing mean that is drawn; null: none is */
  readonly window: number | null
  readonly series: readonly SeriesReadings[]
}

export interface SeriesReadings extends Pick<CurveSeriesData, 'title' | 'slot'> {
  readonly step: PointReadings
  readonly time: PointReadings
}

/** Columns: element k of each is point k, by x. Gaps and restarts are lists of their own. */
export interface PointReadings {
  /** null: the view's own coordinate of every point, `step` or `hours` */
  readonly x: readonly number[] | null
  /** as logged */
  readonly value: readonly number[]
  /** of the observation; null for a value that belongs to no history */
  readonly step: readonly (number | null)[]
  /** display hours of the observation; null without a timestamp, and where no finite double holds them */
  readonly hours: readonly (number | null)[]
  /** place in `runs`; -1 for a value that belongs to no history */
  readonly run: readonly number[]
  /** place among the sessions of its selection, from 0; -1 for a value that belongs to no history */
  readonly session: readonly number[]
  /** place in `provenances` */
  readonly provenance: readonly number[]
  /** as of `CurveSeriesData`, in the view's coordinate */
  readonly gaps: readonly number[]
  readonly restarts: readonly number[]
}

export interface CurvePanelData {
  readonly title: string
  readonly yTitle: string
  readonly scale: { readonly kind: 'linear' } | { readonly kind: 'log' } | { readonly kind: 'symlog'; readonly linear_to: number }
  /** dashed, with markers, no trailing mean */
  readonly sparse: boolean
  /** true: values are numbers of things: the axis begins at 0 and has whole ticks */
  readonly counts?: boolean
  readonly guides: readonly { readonly value: number; readonly label: string; readonly series: number | null }[]
  readonly series: readonly CurveSeriesData[]
}

export interface CurveSeriesData {
  /** as the legend writes it */
  readonly title: string
  /** place in the figure's legend: a series has the same colour in every panel */
  readonly slot: number
  readonly x: Numbers
  /** scaled */
  readonly y: Numbers
  /** trailing mean, scaled; null: none is drawn */
  readonly smooth: Numbers | null
  /** increasing indexes of the points that are no observations of this curve: those of another selection, or of no history */
  readonly supplied: readonly number[]
  /** x of logged values that are not finite; an x at which a point is drawn is left out */
  readonly gaps: Numbers
  /** x of each observed point whose session differs from that of the observed point before it */
  readonly restarts: Numbers
  /** points with a label: the shared start */
  readonly marks: readonly { readonly x: number; readonly y: number; readonly label: string }[]
}

export type { MetricDefinition, RunSelection }
