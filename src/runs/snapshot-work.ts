/** What is measured of a snapshot, and how: plain data, beside the pool. */
import type { Judge } from '../compute/traces/expectations.js'
import type { TracePool } from '../compute/traces/pool.js'
import type { TraceWanted } from '../compute/traces/trace-task.js'
import type { CriticTraceStudy } from '../schema/critic-traces.js'
import type { Dump, PartRange } from '../ingest/dumps/contract.js'
import type { TokenizerFile } from '../ingest/tokenizer/tokenizer.js'
import type { SampleKeyName } from '../schema/sample-keys.js'
import type { SnapshotPlan } from '../study/inventory.js'

export interface SnapshotSettings extends Judge {
  readonly traces: CriticTraceStudy
  /**
   * true: an example that the study names must be there, as in the study's own snapshot; false: the rule chooses one in its
   * place, and the output says so
   */
  readonly examplesRequired: boolean
  /** how a trainer's dump is read; default: the names that trainers use, and nothing bad is left out */
  readonly dump?: DumpSettings | undefined
  /** which tables of tokens are written, beside the archive; default: Arrow alone */
  readonly tables?: TokenTables | undefined
}

export interface TokenTables {
  readonly arrow: boolean
  readonly parquet: boolean
}

export interface DumpSettings {
  /** names of arrays and fields that the user told */
  readonly names: Readonly<Partial<Record<SampleKeyName, string>>>
  /** true: a bad sample is left out and listed; false: it stops the dump */
  readonly skipBad: boolean
  /** path of a dump that holds the same traces; null: nothing is compared */
  readonly against: string | null
  /** path of a `tokenizer.json`, which gives the spans their texts; null: spans have none */
  readonly tokenizer: string | null
}

/** What is measured, and how. */
export interface SnapshotWork {
  readonly plan: SnapshotPlan
  readonly settings: SnapshotSettings
  readonly pool: TracePool
  /** what the record of each trace for the diagnostics is made with; default: none is made */
  readonly record?: TraceWanted['record'] | undefined
  /** whether the explorer's page has the texts of turns; default: it has none, because nobody asked for them */
  readonly pageTexts?: boolean | undefined
  /** how outputs name the page; default: by its path below the run's folder */
  readonly sourceName?: string | undefined
  /**
   * the part of the snapshot whose traces are measured: of the bytes of its page, of its NPZ files by their place in the plan, or
   * of the bytes of its dump. Default: the whole
   */
  readonly part?: PartRange | undefined
  /** the dump, where it was opened before: the run closes it. Default: it is opened */
  readonly dump?: Dump | undefined
  /** the file of `settings.dump.tokenizer`, where it was read before; default: it is read */
  readonly tokenizer?: TokenizerFile | undefined
}
