/**
 * The data that compute hands to render, without functions. There is one `TraceResult` per trace, in canonical order
 * (the order of the traces in the snapshot), and the pooled `SnapshotStatistics`. An undefined quantity is null, and
 * `undefinedReasons` says why under its JSON pointer.
 */
import type { Content } from '../../schema/outputs/document.js'
import type { ExampleStatistics, Jump, PooledChanges, TraceStatisticsDocument } from '../../schema/outputs/trace-statistics.js'
import type { TraceSigns } from './sanity.js'
import type { Outcome, OutcomeSource, SpanTexts, TraceFields } from '../../schema/traces.js'

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

/** The file of a dump and, where it says so, the row in it that a trace was read from. */
export interface SampleSource {
  /** as `inputs` of the dump name it: relative to its folder */
  readonly file: string
  /** 0-based; null where the file is no table of rows */
  readonly row: number | null
}

/** A trace's arrays, `tokens` elements each, as narrow as loses nothing. */
export interface TokenArrays {
  readonly values: Float32Array | Float64Array
  readonly returns: Float32Array | Float64Array
  readonly responsePositions: Int32Array | BigInt64Array
}

/** The arrays of one trace as columns over a SharedArrayBuffer. */
export interface TraceColumns extends TokenArrays {
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
  /** null for a trace of a page that names no NPZ file, and for a sample of a dump */
  readonly npz: NpzEvidence | null
  /** where the dump has the sample; null for the other kinds */
  readonly sample: SampleSource | null
  /** true: the page's arrays equal those of the NPZ file; false: only one source holds the trace, so nothing was compared */
  readonly compared: boolean
  /** the NPZ file states that its data were generated */
  readonly synthetic: boolean
  readonly spans: SpanTexts | null
  readonly signs: TraceSigns
  /** boundaries whose preceding span ends with the marker; null where there are no texts or no marker */
  readonly boundariesWithMarker: number | null
}

export type { ExampleStatistics, Jump, PooledChanges }

/** The content of critic-trace-statistics.json, described in schema/outputs/trace-statistics.ts. */
export interface SnapshotStatistics extends Content<TraceStatisticsDocument> {
  readonly synthetic: boolean
}

/** The traces of one trainer step. */
export type StepStatistics = SnapshotStatistics['by_step'][number]

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
  /** name of the snapshot */
  readonly source: string
  /** titles of the axes, as the study has them */
  readonly labels: { readonly step: string; readonly value: string; readonly index: string }
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
