/** What a partial holds: the measured traces of some shards of a run, with all that the merge needs and no input. */
import type { LoggedHistory } from '../../compute/diagnostics/contract.js'
import type { ExampleCurve } from '../../compute/traces/examples.js'
import type { SampleSource, TraceResult } from '../../compute/traces/contract.js'
import type { SampleRecord } from '../../compute/traces/without-critic.js'
import type { SerializedFault } from '../../core/errors.js'
import type { PartRange } from '../../ingest/dumps/contract.js'
import type { ExcludedNpz } from '../../render/outputs/documents.js'
import type { FindingKind } from '../../schema/diagnostics.js'
import type { DumpReading, ReadDump } from '../../schema/samples.js'
import type { HashedFile } from '../../schema/study.js'
import type { SnapshotPlan } from '../../study/inventory.js'
import type { ToldOfRun } from '../diagnose.js'
import type { SnapshotSettings } from '../snapshot-work.js'
import type { SourceEnd } from '../trace-source.js'

/** Shard `index` of `count`, from 0. */
export interface ShardNumber {
  readonly index: number
  readonly count: number
}

/** Everything that decides the bytes of the outputs, beside the inputs and the formats of figures. */
export interface ShardSettings {
  readonly snapshot: Omit<SnapshotSettings, 'tables'>
  readonly told: Omit<ToldOfRun, 'history'>
  readonly history: (Omit<LoggedHistory, 'byStep'> & { readonly byStep: ReadonlyArray<readonly [step: number, logged: number]> }) | null
  /** kinds of findings that fail the command */
  readonly failOn: readonly FindingKind[]
  readonly tokenizerSha256: string | null
}

/** A snapshot with the files that it is cut by. */
export interface PlannedSnapshot {
  readonly plan: SnapshotPlan
  readonly files: ReadonlyArray<{ readonly path: string; readonly bytes: number }>
}

/** A path of the command line that led to no snapshot. */
export interface FailedPath {
  readonly source: string
  readonly fault: SerializedFault
}

/** What one shard measured of one snapshot. */
export interface MeasuredPart extends Pick<SourceEnd, 'header' | 'html'> {
  readonly shard: number
  /** its place among the snapshots of the run */
  readonly snapshot: number
  readonly part: PartRange
  /** the study that the snapshot lies in says that it was generated */
  readonly ofSyntheticStudy: boolean
  /** what was read of a dump; null for the other kinds */
  readonly dump: (Pick<ReadDump, 'inputs' | 'leftOut' | 'tokenizer'> & { readonly reading: DumpReading }) | null
  /** of a dump without values, whose lengths are written in place of statistics; null: it has values, or is none */
  readonly lengths: {
    readonly reading: DumpReading
    readonly leftOut: ReadonlyArray<{ readonly index: number; readonly reason: string }>
  } | null
  /** why there are no statistics although there are diagnostics; null: there are both */
  readonly statisticsFault: SerializedFault | null
  /** of the first part of a page: NPZ files beside it that none of its traces seems to name */
  readonly unnamed: readonly ExcludedNpz[]
  /** in canonical order; null: one of the source, behind those of its traces */
  readonly faults: ReadonlyArray<{ readonly index: number | null; readonly fault: SerializedFault }>
  /** every file that was read, relative to the snapshot's folder */
  readonly inputs: readonly HashedFile[]
  /** files of the dataset of tokens, relative to the output folder of the shards */
  readonly tokens: readonly HashedFile[]
}

/** What a partial says beside its traces. */
export interface PartialMeta {
  readonly generator: { readonly name: string; readonly version: string }
  /** of the engine, the libraries and the schemas */
  readonly versions: Readonly<Record<string, string>>
  readonly settings: ShardSettings
  readonly settingsSha256: string
  /** of the inputs, their sizes and the number of shards */
  readonly planSha256: string
  /** number of shards of the run */
  readonly count: number
  /** number of snapshots of the run */
  readonly snapshots: number
  readonly failed: readonly FailedPath[]
  /** shards that are in it, increasing */
  readonly shards: readonly number[]
  /** the snapshots that these shards have a part of, by their place among those of the run */
  readonly planned: ReadonlyArray<PlannedSnapshot & { readonly number: number }>
  /** by shard and snapshot */
  readonly parts: readonly MeasuredPart[]
}

/** One trace as the statistics need it, beside its record for the diagnostics. */
export interface TraceHead {
  /** null: a sample of a dump without values */
  readonly result: TraceResult | null
  readonly source: SampleSource | null
  /** of a dump without values */
  readonly lengths: SampleRecord | null
}

/** A row of a partial. */
export interface PartialRow {
  /** place among the snapshots of the run */
  readonly snapshot: number
  /** canonical position in the snapshot */
  readonly trace: number
  readonly step: number | null
  readonly outcome: string | null
  readonly uid: string | null
  /** retained tokens */
  readonly tokens: number
  /** a `TraceHead`, of `packValue` */
  readonly head: Uint8Array
  /** of `packRecord`; empty: a sample that only has lengths */
  readonly record: Uint8Array
  /** an `ExampleCurve`, of `packValue`, of a trace that may be an example; empty for the others */
  readonly curve: Uint8Array
}

export type { ExampleCurve }
