/**
 * The words that all stages share on critic traces: what one is, which keys a snapshot uses, what a study may expect of it.
 * Types and plain constants only; no stage's code.
 */
import type { SamplingDesign } from './diagnostics.js'
import type { TurnTexts } from './explorer.js'

export type Outcome = 'success' | 'failure'

/** The source of a trace's outcome: its own field, or its score against the study's threshold. */
export type OutcomeSource = 'outcome' | 'score'

/** The three per-token arrays of a trace, in the order in which every output lists them. */
export const TRACE_ARRAYS = ['values', 'returns', 'response_positions'] as const
export type TraceArrayName = (typeof TRACE_ARRAYS)[number]

const KEYS = {
  snapshot_time: 'snapshot_time',
  alignment: 'alignment',
  synthetic: 'synthetic',
  traces: 'traces',
  step: 'step',
  outcome: 'outcome',
  score: 'score',
  uid: 'uid',
  prediction_stage: 'prediction_stage',
  npz: 'npz',
  value_mean: 'value_mean',
  value_rmse: 'value_rmse',
  values: 'values',
  returns: 'returns',
  response_positions: 'response_positions',
  segment_texts: 'segment_texts'
}

/**
 * Names of the keys in the snapshot's JSON. Other trainers use other names, so a study file may rename each of them. The
 * left side is this program's name, the right side the file's. The three array names are also the NPZ member names. So are
 * the names of the 0-d members that an NPZ may have: step, outcome, score, uid, prediction_stage, synthetic.
 */
export type SnapshotKeys = { readonly [name in keyof typeof KEYS]: string }

export const DEFAULT_KEYS: SnapshotKeys = KEYS

/** What a snapshot states about itself, outside its traces. Text is verbatim. */
export interface SnapshotHeader {
  readonly snapshotTime: string | null
  readonly alignment: string | null
  /** true if it states that its data were generated */
  readonly synthetic: boolean
  /** number of traces in the file */
  readonly traceCount: number
}

/** Scalar fields of one trace, as the snapshot (or an NPZ folder) states them; null if it does not. */
export interface TraceFields {
  readonly step: number | null
  readonly outcome: Outcome | null
  readonly score: number | null
  readonly uid: string | null
  readonly predictionStage: string | null
  /** NPZ file name as the snapshot writes it; it may still lead out of the folder */
  readonly npz: string | null
  readonly valueMean: number | null
  readonly valueRmse: number | null
}

/** How the spans' texts end. Counted while parsing; the texts are not kept. */
export interface SpanTexts {
  /** number of texts */
  readonly count: number
  /** one byte per text: 1 when the text ends with the study's end marker */
  readonly endsWithMarker: Uint8Array
}

/** One trace as parsed from the snapshot. Arrays have length `tokens` (>= 1) and all are in generation order. */
export interface ParsedTrace {
  /** 0-based position in the snapshot: the canonical order of every reduction and output */
  readonly index: number
  readonly fields: TraceFields
  readonly values: Float64Array
  readonly returns: Float64Array
  /** positions in the response, as doubles; integers at most 2^53 once checked */
  readonly positions: Float64Array
  readonly spans: SpanTexts | null
  /** of the turns, where they were asked for; absent: they were not, or the input has none */
  readonly texts?: TurnTexts | undefined
}

/** Defaults without a study: the snapshot is the folder itself, and nothing is expected of its sampling. */
export const DEFAULT_CRITIC_TRACE_STUDY = {
  snapshot: '.',
  keys: DEFAULT_KEYS,
  jump_threshold: 0.1,
  success_threshold: 0,
  sampling: 'not stated' as SamplingDesign,
  estimator: { gamma: null, lambda_returns: null, lambda_advantages: null },
  expectations: {
    outcomes_per_step: null,
    returns_equal_outcome: false,
    prediction_stage: null,
    boundary_end_marker: null,
    score_agrees_with_outcome: false,
    distinct_uids: false
  },
  examples: { success: null, failure: null },
  labels: { step: 'Trainer step', value: 'Critic value', index: 'Retained token index' }
}

/** Expectations that are reported, and never failed, for a snapshot without a study. */
export const REPORTED_WITHOUT_STUDY = {
  outcomes_per_step: [1, 1],
  returns_equal_outcome: true,
  prediction_stage: 'before_critic_update',
  boundary_end_marker: '<|im_end|>',
  score_agrees_with_outcome: true,
  distinct_uids: true
} as const
