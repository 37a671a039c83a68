/**
 * What the explorer's page and its script agree on. The page is written by Node, the script (`browser/`) runs in a browser, and
 * both import this module. Data only.
 *
 * A page holds, or its server answers:
 *
 *     script#explorer          JSON: ExplorerDocument, all but tokens and texts
 *     script#tokens-S-T        base64 of gzip of an Arrow IPC stream: every token of trace T of snapshot S   (embedded)
 *     script#texts-S-T         base64 of gzip of JSON: TraceTexts                                     (embedded, with texts)
 *     template#diagnostics-S   HTML: findings and quality of the critic of snapshot S
 *
 *     GET /tokens?snapshot=S&trace=T&from=F&to=E&buckets=B     Arrow IPC stream: what `viewOf` keeps of tokens F to E - 1 (served)
 *     GET /texts?snapshot=S&trace=T                            JSON: TraceTexts                                 (served, with texts)
 *
 * Numbers are as exact as the inputs: values and returns are float32 where that loses nothing, else float64.
 */
import type { Generator } from '../outputs/output-names.js'
import type { TraceTexts } from '../../schema/explorer.js'
import type { Outcome } from '../../schema/traces.js'

export { TOKEN_COLUMNS, type TraceTexts } from '../../schema/explorer.js'

/** Buckets of a sparkline. */
export const SPARK_BUCKETS = 32
/** Jumps that are listed of a snapshot. */
export const MAX_JUMPS = 500

export interface ExplorerDocument {
  readonly generator: Generator
  readonly tokens: 'embedded' | 'served'
  /** whether texts of turns are there */
  readonly texts: boolean
  readonly snapshots: readonly ExplorerSnapshot[]
}

export interface ExplorerSnapshot {
  readonly name: string
  readonly synthetic: boolean
  readonly snapshotTime: string | null
  readonly tokens: number
  /** |change| above which a change is a jump */
  readonly jumpThreshold: number
  /** smallest and largest value of all tokens */
  readonly valueRange: readonly [number, number]
  readonly traces: ExplorerTraces
  /** of all traces, by falling |change|; on a tie the earlier trace, then the earlier token */
  readonly jumps: ExplorerJumps
}

/** A list a column, each with one entry a trace, in canonical order. Statistics are those of critic-trace-statistics.json. */
export interface ExplorerTraces {
  /** null: not stated */
  readonly step: ReadonlyArray<number | null>
  readonly outcome: ReadonlyArray<Outcome | null>
  readonly score: ReadonlyArray<number | null>
  readonly uid: ReadonlyArray<string | null>
  readonly tokens: readonly number[]
  /** generated turns: boundaries + 1 */
  readonly turns: readonly number[]
  readonly mean: readonly number[]
  /** last value - first value */
  readonly delta: readonly number[]
  readonly rmse: readonly number[]
  /** signed change that is largest by |change|, at a boundary or inside a turn; null for a trace of one token */
  readonly largestChange: ReadonlyArray<number | null>
  /** index of the token before that change */
  readonly largestAt: ReadonlyArray<number | null>
  /** base64 of uint8 [traces, SPARK_BUCKETS, 2]: smallest and largest value of each bucket, 0 to 255 over `valueRange` */
  readonly sparks: string
}

/** A list a column, at most MAX_JUMPS entries. The change is from token `at` to token `at + 1`. */
export interface ExplorerJumps {
  readonly trace: readonly number[]
  readonly at: readonly number[]
  readonly change: readonly number[]
  /** 0-based turn of token `at` */
  readonly turn: readonly number[]
  readonly boundary: readonly boolean[]
}

/** Columns of the Arrow stream of a served view: [kept tokens] each. `turn` is 0-based, `change` NaN for the first token of a trace. */
export const VIEW_COLUMNS = ['index', 'value', 'return', 'change', 'position', 'turn'] as const

/** What is drawn of tokens `from` to `to - 1` of a trace: of every bucket of a turn the first, smallest, largest and last. */
export interface TraceView {
  readonly from: number
  readonly to: number
  /** [kept] increasing */
  readonly index: Int32Array
  readonly value: Float64Array
  readonly return: Float64Array
  /** value minus that of the token before, kept or not */
  readonly change: Float64Array
  readonly position: Float64Array
  readonly turn: Int32Array
}

/** Why a store has no texts of a trace, where others of the page may have them. */
export const NO_TEXTS = 'the token ids of a dump need --tokenizer, and a page has room for so many texts'

/** Where the script takes tokens from: the page, or its server. */
export interface TraceStore {
  view(trace: TraceReference, from: number, to: number, buckets: number): Promise<TraceView>
  texts(trace: TraceReference): Promise<TraceTexts>
}

export interface TraceReference {
  readonly snapshot: number
  readonly trace: number
}
