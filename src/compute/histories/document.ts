/**
 * The statistics document of an analysis, without the envelope that its writer adds (schema_version, schema, synthetic,
 * generator). Field names are those of the file. An undefined quantity is null, and `undefined_reasons` says why under
 * its JSON pointer. `looks_sampled` is an exception: null says that nothing looks sampled, and needs no reason.
 *
 * All counts cover the observed points of the step view only. Three kinds of counts cover every row: `all_attempts`,
 * the fields of the sessions, and the counts of values that are no finite numbers.
 */
import type { WindowMean } from './contract.js'

/** Hours of one observation, or the difference of the hours of two. */
export interface Hours {
  readonly elapsed_hours: number | null
  readonly display_hours: number | null
}

/**
 * An observation with its hours, and the observation before it. A metric is evaluated at intervals. Its value was
 * therefore first reached somewhere after `previous` and at or before `step`.
 */
export interface PlacedObservation extends Hours {
  readonly step: number
  readonly value: number
  readonly run: string
  /**
   * `interval`: reached after `previous` and at or before `step`; `left`: reached at or before `step`, with no earlier
   * observation
   */
  readonly censoring: 'interval' | 'left'
  /** null for the first observation */
  readonly previous: ({ readonly step: number } & Hours) | null
}

/**
 * The first observation at or above a value. The crossing itself is interval-censored or left-censored, as in
 * PlacedObservation.
 */
export interface ThresholdCrossing extends PlacedObservation {
  readonly metric: string
  readonly at_least: number
}

export interface StepValue {
  readonly step: number
  readonly value: number
}

export interface FinalStatistics {
  readonly first: StepValue | null
  readonly last: StepValue | null
  /** mean of the last `count` observations */
  readonly mean: number | null
  readonly count: number
  /** best value minus first value */
  readonly gain: number | null
}

/** The logged values of a session, superseded ones included. */
export interface SessionConstant {
  readonly run: string
  readonly observations: number
  /** null where the session has no value or several distinct ones */
  readonly value: number | null
  readonly min: number | null
  readonly max: number | null
}

export interface ConstantStatistics {
  /** rows of all sessions in which the key has a value that is no finite number */
  readonly unusable: number
  /** in the order of the selection's sessions */
  readonly sessions: readonly SessionConstant[]
}

export interface MetricStatistics {
  readonly key: string
  readonly observations: number
  readonly all_attempts: number
  readonly first_step: number | null
  readonly last_step: number | null
  /** most frequent distance between neighbouring steps, the smallest one on a tie; null for fewer than two observations */
  readonly cadence: number | null
  /** the first 1000 integer steps between first and last without an observation; null for a sparse metric */
  readonly missing_steps: readonly number[] | null
  readonly missing_count: number | null
  readonly non_finite: { readonly [spelling: string]: number }
  readonly nulls: number
  readonly not_numbers: number
  /** the fields below are present where the study asks for them */
  readonly first?: WindowMean
  readonly last?: WindowMean
  readonly windows?: { readonly [window: string]: WindowMean }
  readonly best?: PlacedObservation | null
  readonly final?: FinalStatistics
  /** `value` is the absolute value */
  readonly max_abs?: StepValue | null
  readonly below_zero?: number
  readonly constant?: ConstantStatistics
}

export interface SessionStatistics {
  readonly run: string
  readonly created_at: string
  readonly state: string | null
  readonly url: string | null
  readonly rows: number
  readonly first_step: number | null
  readonly last_step: number | null
  readonly holes: { readonly count: number; readonly first: readonly number[] }
  readonly rows_without_timestamp: number
  readonly rows_before_creation: number
  readonly rows_with_unusable_global_step: number
  readonly rows_with_fractional_global_step: number
  readonly looks_sampled: string | null
  readonly config: { readonly [key: string]: unknown }
  /**
   * counts of settings that the study does not name, and of fields and settings that look like secrets; absent where
   * both are 0
   */
  readonly left_out?: { readonly not_named: number; readonly withheld: number }
}

export interface FirstRow {
  readonly step: number
  readonly global_step: number | null
  readonly run: string
}

export interface Shares {
  /** number of steps with an observation of any of the metrics */
  readonly rows: number
  /** number of steps with a nonzero observation of every metric */
  readonly rows_all_nonzero: number
  /** mean of each metric over all its observations */
  readonly means: { readonly [metric: string]: number | null }
}

export interface SelectionStatistics {
  readonly title: string
  readonly display_name: string
  /** distinct run ids */
  readonly runs: number
  readonly rows: number
  /** over the rows that the step view keeps, including rows without a metric */
  readonly first_step: number | null
  readonly last_step: number | null
  readonly display_factor: number
  /** createdAt of the first session, verbatim */
  readonly origin: string
  readonly sessions: readonly SessionStatistics[]
  readonly rollbacks: ReadonlyArray<{ readonly run: string; readonly steps: readonly [number, number] }>
  /** runs that were created at the same time, in their chosen order */
  readonly ties: ReadonlyArray<{ readonly runs: readonly string[]; readonly decided_by: string }>
  readonly metrics: { readonly [metric: string]: MetricStatistics }
  readonly thresholds: { readonly [threshold: string]: ThresholdCrossing | null }
  readonly first_rows: { readonly [name: string]: FirstRow | null }
  readonly shares: { readonly [name: string]: Shares }
}

/** Target minus reference. */
export interface ComparedStatistics {
  readonly reference: string
  readonly target: string
  readonly thresholds: { readonly [threshold: string]: Hours }
  readonly best: {
    readonly [metric: string]: Hours & {
      /** (1 - target display_hours / reference display_hours) * 100 */
      readonly reduction_percent: number | null
    }
  }
}

export interface SuppliedMetric {
  /** provenance of the point that the anchor rule puts at step 0 of the target's curve */
  readonly anchor: string | null
  /** provenance of the same point at 0 hours in the time view */
  readonly time_anchor: string | null
  readonly step_prefix: readonly number[]
  readonly same_step: readonly number[]
  /**
   * the first 1000 steps at which target and reference both lack an observation; empty where the study asks for no
   * same-step fills
   */
  readonly unfilled: readonly number[]
  readonly unfilled_count: number
  /** number of supplied prefix points in the time view */
  readonly time_prefix: number
  /** number of latest points in the drawn mean, supplied ones included; null where no mean is drawn */
  readonly trailing_mean: number | null
}

export interface HistoryStatistics {
  readonly analysis: string
  readonly selections: { readonly [selection: string]: SelectionStatistics }
  readonly compare: ComparedStatistics | null
  readonly supplied: {
    readonly reference: string
    readonly target: string
    readonly metrics: { readonly [metric: string]: SuppliedMetric }
  } | null
  /** by creation, then id */
  readonly excluded_runs: ReadonlyArray<{ readonly run: string; readonly display_name: string; readonly reason: string }>
  readonly undefined_reasons: { readonly [pointer: string]: string }
}
