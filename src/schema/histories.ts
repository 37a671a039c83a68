/**
 * The section of a study on training histories: which runs, which metrics, how attempts are joined, what is displayed and
 * what is computed. A study states all of it here; the code contains no run, no metric and no published value. Types only.
 */

import type { Reference } from './evidence.js'

/** A name that the study gives to a selection, a metric, an analysis or a window. Lower case, digits, `_`, `-`. */
export type Name = string

/** Runs that make one curve: all with exactly this display name, and with the project, entity and label if stated. */
export interface RunSelection {
  readonly name: Name
  /** name in legends and tables: `GSPO` */
  readonly title: string
  readonly display_name: string
  readonly entity: string | null
  readonly project: string | null
  /** folder of the exported histories; null: the folder that each run states */
  readonly label: string | null
  /** how display_hours follow from elapsed_hours; null: they are equal */
  readonly display_time: DisplayTime | null
}

/** Factor from elapsed_hours to display_hours: stated, or such that a metric's best observation is at a stated hour. */
export type DisplayTime =
  | { readonly multiply: number }
  | { readonly best_of: Name; readonly at_hours: number }

export interface MetricDefinition {
  readonly name: Name
  /** key of the history rows: `critic/score/mean` */
  readonly key: string
  /** heading of its panel: `Reward` */
  readonly title: string
  /** title of its axis, with the unit after scaling: `Validation score (%)` */
  readonly axis: string
  /** plotted value = value * multiply / divide; files keep the unscaled value */
  readonly multiply: number
  readonly divide: number
  /** window of the trailing mean that is drawn over the raw series; null: no mean is drawn */
  readonly trailing_mean: number | null
  /** drawn dashed with markers, for a metric that is not logged at every step */
  readonly sparse: boolean
}

/** Points of the reference that replace missing ones of the target, in the pictures only. */
export interface SuppliedPoints {
  /** selection that supplies the points */
  readonly reference: Name
  /** selection that receives the points */
  readonly target: Name
  /** both curves start at x = 0 with the reference's first recorded value */
  readonly anchor: boolean
  /** step view: the reference's observations before the target's first one, for these metrics */
  readonly step_prefix: readonly Name[]
  /** step view: the reference's observation at a step where the target has none, for these metrics */
  readonly same_step: readonly Name[]
  /** time view: the reference's observations whose display_hours is below the target's first one */
  readonly time_prefix: boolean
}

/** A number that a figure draws and no history holds. It is stated, or taken from the written evidence. */
export interface DrawnNumber {
  /** in the metric's own unit; null: the value at `from`, until it is resolved */
  readonly value: number | null
  /** reference to a value of data.json */
  readonly from?: Reference | null
  /** factor for the value at `from` */
  readonly scale?: number
  /** decimals of the number in the label; null: no more than needed */
  readonly decimals?: number | null
}

/** A value that is drawn at one step for several curves and belongs to no history. */
export interface SharedReference extends DrawnNumber {
  readonly metric: Name
  readonly selections: readonly Name[]
  readonly step: number
  /** text beside the point; `{value}` in it is the plotted number */
  readonly label: string
  /** origin of the value, for the provenance file */
  readonly source: string
  /** provenance file, relative to the output folder */
  readonly output: string
}

/** A mean over the observations of the step view with from <= step <= to. */
export interface StepWindow {
  readonly name: Name
  readonly metrics: readonly Name[]
  readonly from: number
  readonly to: number
}

/** Statistics over observed points of the step view. Supplied points are never used. */
export interface StatisticsRequest {
  /** means of the first and of the last `count` observations of these metrics */
  readonly ends: { readonly count: number; readonly metrics: readonly Name[] } | null
  readonly windows: readonly StepWindow[]
  /** highest value, earliest step on a tie */
  readonly best: readonly Name[]
  /** first observation at or above a value */
  readonly thresholds: readonly { readonly name: Name; readonly metric: Name; readonly at_least: number }[]
  /** first and last observation, mean of the last `count` */
  readonly final: { readonly count: number; readonly metrics: readonly Name[] } | null
  /** largest absolute value */
  readonly max_abs: readonly Name[]
  /** number of observations below zero */
  readonly below_zero: readonly Name[]
  /** metrics of the study, in the analysis or not: every logged value, session by session */
  readonly constant: readonly Name[]
  /** first row with any of the metrics: `first_actor_update` */
  readonly first_rows: readonly { readonly name: Name; readonly metrics: readonly Name[] }[]
  /** unweighted means over all observations, and the rows in which every one of the metrics is not zero */
  readonly shares: readonly { readonly name: Name; readonly metrics: readonly Name[] }[]
  /** difference of the target from the reference in the hours of thresholds and best points */
  readonly compare: { readonly reference: Name; readonly target: Name } | null
}

/** Some selections analysed together. Their observations and statistics make two files. */
export interface HistoryAnalysis {
  readonly name: Name
  readonly selections: readonly Name[]
  readonly metrics: readonly Name[]
  readonly supplied: SuppliedPoints | null
  readonly shared_reference: SharedReference | null
  readonly statistics: StatisticsRequest
  /** paths relative to the output folder; null: not written */
  readonly outputs: {
    /** observations of the step view */
    readonly observations: string | null
    /** observations of every attempt */
    readonly all_attempts: string | null
    readonly statistics: string
    /** every displayed point of both views with its provenance */
    readonly points: string | null
    /** the convention of the display hours */
    readonly time_display: string | null
  }
}

export type AxisScale =
  | { readonly kind: 'linear' }
  | { readonly kind: 'log' }
  /** linear between -linear_to and +linear_to, logarithmic beyond */
  | { readonly kind: 'symlog'; readonly linear_to: number }

export interface PanelRequest {
  readonly metric: Name
  /** null: the metric's title */
  readonly title: string | null
  /** title of the vertical axis; null: the metric's */
  readonly axis: string | null
  readonly scale: AxisScale
  /** dotted horizontal lines, in the metric's own unit */
  readonly guides: readonly Guide[]
}

/** `{value}` in the label is the plotted number. */
export interface Guide extends DrawnNumber {
  readonly label: string
  readonly selection: Name | null
}

/** A figure of an analysis: one panel a metric. */
export interface CurveFigureRequest {
  /** file name without extension: `03-training-by-step` */
  readonly name: string
  readonly title: string
  readonly analysis: Name
  readonly view: 'step' | 'time'
  /** title of the horizontal axes: `Training step`, `Time (hours)` */
  readonly x_title: string
  readonly panels: readonly PanelRequest[]
}

export interface HistoryStudy {
  /** list of runs, relative to the study: `wandb/runs.json` */
  readonly runs: string
  /** folder of `<label>/<run id>.jsonl` */
  readonly folder: string
  /** names of the row's own coordinates */
  readonly keys: { readonly step: string; readonly timestamp: string | null; readonly global_step: string | null }
  /** suffixes of companions: a run whose display name is a selected one plus a suffix is listed as such, never selected */
  readonly companion_suffixes: readonly string[]
  /** settings of the runs that statistics may state, besides those of `fetch.config`; no other one leaves the list of runs */
  readonly config?: readonly string[]
  readonly selections: readonly RunSelection[]
  readonly metrics: readonly MetricDefinition[]
  readonly analyses: readonly HistoryAnalysis[]
  readonly figures: readonly CurveFigureRequest[]
}
