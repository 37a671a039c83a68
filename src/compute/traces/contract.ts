/**
 * The data that compute hands to render, without functions. There is one `TraceResult` per trace, in canonical order
 * (the order of the traces in the snapshot), and the pooled `SnapshotStatistics`. An undefined quantity is null, and
 * `undefinedReasons` says why under its JSON pointer.
 */
import type { Outcome, OutcomeSource, SpanTexts, TraceFields } from '../../schema/traces.js'

/** An observed change of value from one retained token to the next. Indexes count retained tokens from 0. */
export interface Jump {
  readonly from_index: number
  readonly to_index: number
  readonly from: number
  readonly to: number
  readonly delta: number
}

/** Transitions of one kind (boundary or internal) of one trace. */
export interface ChangeStatistics {
  readonly transitions: number
  /** compensated sum of |change|: the high part, and the low part that rounding would lose */
  readonly sumAbs: number
  readonly sumAbsLow: number
  /** transitions with |change| strictly above the study's threshold */
  readonly jumps: number
  /** null where there is no transition */
  readonly meanAbs: number | null
}

export interface TraceStatistics {
  readonly tokens: number
  readonly firstValue: number
  readonly lastValue: number
  /** last - first */
  readonly delta: number
  readonly mean: number
  /** sqrt(mean((values - returns)^2)) */
  readonly rmse: number
  /** mean of values[0 .. tokens//2); null for a trace of one token */
  readonly firstHalfMean: number | null
  readonly secondHalfMean: number
  readonly boundary: ChangeStatistics
  readonly internal: ChangeStatistics
  /** largest |change| at a boundary, the earliest on a tie; null without a boundary */
  readonly maxBoundaryJump: Jump | null
  /** null where one of the two means is undefined */
  readonly boundaryExceedsInternal: boolean | null
  readonly returnsEqualOutcome: boolean | null
}

/** The NPZ file beside the snapshot that a trace was compared with or, without HTML, was read from. */
export interface NpzEvidence {
  /** relative to the snapshot folder */
  readonly path: string
  readonly sha256: string
  readonly bytes: number
}

/** The arrays of one trace as columns over SharedArrayBuffers; every column has `tokens` elements. */
export interface TraceColumns {
  readonly values: Float64Array
  readonly returns: Float64Array
  readonly responsePositions: BigInt64Array
  /** from-indexes i of the boundary transitions values[i] -> values[i + 1], increasing */
  readonly boundaries: Int32Array
  /** complete NPY files (header and data) in the original dtype, each with its CRC-32 for the archive */
  readonly npy: { readonly [name in 'values' | 'returns' | 'response_positions']: { readonly bytes: Uint8Array; readonly crc32: number } }
}

export interface TraceResult {
  /** 0-based canonical position */
  readonly index: number
  /** its `outcome` is the stated one, else the one derived from the score */
  readonly fields: TraceFields
  /** what the outcome was taken from; null where it is unknown */
  readonly outcomeFrom: OutcomeSource | null
  readonly statistics: TraceStatistics
  /** null for a trace of a page that names no NPZ file */
  readonly npz: NpzEvidence | null
  /** true: the page's arrays equal those of the NPZ file; false: only one source holds the trace, so nothing was compared */
  readonly compared: boolean
  /** the NPZ file states that its data were generated */
  readonly synthetic: boolean
  readonly spans: SpanTexts | null
  /** boundaries whose preceding span ends with the marker; null where there are no texts or no marker */
  readonly boundariesWithMarker: number | null
}

export interface PooledChanges {
  readonly transitions: number
  readonly mean_abs_change: number | null
  readonly jumps: number
  readonly jump_rate: number | null
}

export interface ExampleStatistics {
  readonly index: number
  readonly uid: string | null
  readonly step: number | null
  readonly tokens: number
  readonly mean: number
  readonly first: number
  readonly last: number
  readonly delta: number
  readonly first_half_mean: number | null
  readonly second_half_mean: number
  readonly max_boundary_jump: Jump | null
}

/** Fields other than the outcome that a trace may leave out. A name is the snapshot's default key. */
export type StatedField =
  'step' | 'score' | 'uid' | 'prediction_stage' | 'npz' | 'value_mean' | 'value_rmse' | 'segment_texts'

/** The content of critic-trace-statistics.json (plus its envelope). Field names are the published file's. */
export interface SnapshotStatistics {
  readonly synthetic: boolean
  /** true where every trace stands in a page and in an NPZ file with equal arrays; false where any trace has one source only */
  readonly verified: boolean
  readonly snapshot_time: string | null
  readonly traces: number
  readonly tokens: number
  /** null where no trace states a uid */
  readonly distinct_uids: number | null
  /** [first, last] trainer step; null where no trace states one */
  readonly steps: readonly [number, number] | null
  /** [fewest, most] successes and failures at one step; null where no trace states a step, or where no outcome is known */
  readonly per_step: { readonly success: readonly [number, number]; readonly failure: readonly [number, number] } | null
  readonly threshold: number
  /** score above which a trace without a stated outcome is a success */
  readonly success_threshold: number
  /** number of traces by what their outcome was taken from */
  readonly outcome_from: { readonly [source in OutcomeSource | 'unknown']: number }
  /** number of traces that state each optional field */
  readonly stated: { readonly [name in StatedField]: number }
  /** number of traces with one source only, page or NPZ file; they were not compared */
  readonly one_source: number
  readonly boundary: PooledChanges
  readonly internal: PooledChanges
  /** boundary jump rate / internal jump rate */
  readonly jump_rate_ratio: number | null
  /** traces that have transitions of both kinds */
  readonly traces_with_both_kinds: number
  /** number of those; null where there are none */
  readonly traces_boundary_exceeds_internal: number | null
  /** `traces` is null where no outcome is known; the second count is null where there is no trace to count */
  readonly success: { readonly traces: number | null; readonly positive_delta: number | null }
  readonly failure: { readonly traces: number | null; readonly negative_delta: number | null }
  readonly examples: { readonly success: ExampleStatistics | null; readonly failure: ExampleStatistics | null }
  /** how the examples were picked */
  readonly examples_rule: { readonly success: string; readonly failure: string }
  /** number of traces that passed; null where no trace could be checked */
  readonly checks: {
    readonly npz_exactly_equal: number | null
    readonly stored_statistics_equal: number | null
    readonly returns_equal_outcome: number | null
    readonly score_agrees_with_outcome: number | null
    readonly prediction_stages: { readonly [stage: string]: number } | null
    readonly boundaries_with_end_marker: number | null
  }
  /** JSON pointer of each null above -> the reason */
  readonly undefined_reasons: { readonly [pointer: string]: string }
}

/** One of the two example trajectories for the figure: full arrays, not decimated. */
export interface ExampleTrace {
  readonly outcome: Outcome
  readonly step: number | null
  readonly uid: string | null
  readonly values: Float64Array
  /** from-indexes i of the boundary transitions values[i] -> values[i + 1], increasing */
  readonly boundaries: Int32Array
  readonly maxBoundaryJump: Jump | null
}

/** The complete data of Figure 8. */
export interface CriticTraceFigureData {
  readonly synthetic: boolean
  /**
   * number of traces whose outcome comes from their score, and the score that a success exceeds; absent where there are
   * none
   */
  readonly outcomesByScore?: { readonly traces: number; readonly threshold: number }
  readonly traces: ReadonlyArray<{
    readonly step: number | null
    readonly outcome: Outcome | null
    readonly mean: number
    readonly delta: number
  }>
  readonly success: ExampleTrace | null
  readonly failure: ExampleTrace | null
}
