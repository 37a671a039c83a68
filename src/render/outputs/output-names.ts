/** Names of the outputs, relative to the output folder, and what every one of them says about itself. */
import type { VerifiedManifest } from '../../schema/study.js'

export const OUTPUT_PATHS = {
  index: 'training_data/critic-trace-index.json',
  archive: 'training_data/critic-trace-arrays.npz',
  arrow: 'training_data/critic-traces.arrow',
  /** where `--parquet` asks for it */
  parquet: 'training_data/critic-traces.parquet',
  audit: 'training_data/critic-turn-boundary-audit.json',
  trajectories: 'training_data/critic-trace-trajectories.csv',
  statistics: 'training_data/critic-trace-statistics.json'
} as const

/** Outputs of a dump without values, in place of all those above. */
export const SAMPLE_PATHS = {
  rows: 'training_data/samples.csv',
  statistics: 'training_data/sample-statistics.json'
} as const

/** Outputs of the diagnostics of a critic. */
export const DIAGNOSTIC_PATHS = {
  document: 'training_data/critic-diagnostics.json',
  byStep: 'training_data/critic-quality-by-step.csv',
  byTurn: 'training_data/critic-quality-by-turn.csv',
  byDecile: 'training_data/critic-quality-by-decile.csv',
  page: 'preview/diagnostics.html'
} as const

/** The explorer of traces. */
export const EXPLORER_PAGE = 'preview/traces.html'

/** Outputs over all selections. The study names those of an analysis. */
export const HISTORY_PATHS = {
  arrow: 'wandb/observations.arrow',
  /** points of the analyses that write them or that a figure draws; absent where there is none */
  points: 'wandb/points.arrow',
  lineage: 'wandb/lineage.csv'
} as const

/** The output folder in the working folder where the user names none. */
export const DEFAULT_OUT = 'artifacts'

/** That of `explore`, beside the outputs of other commands. */
export const DEFAULT_EXPLORE_OUT = `${DEFAULT_OUT}/explore`

/** The audit of a study's claims. */
export const AUDIT_PATH = 'audit.json'

/** What a run read and wrote. It is written last and alone. */
export const RUN_RECORD = 'run.json'

/** The record of `diagnose`, whose outputs may lie beside those of `traces`. */
export const DIAGNOSE_RECORD = 'diagnose-run.json'

/** The record of `explore`. */
export const EXPLORE_RECORD = 'explore-run.json'

/** What a merge read, and what stays of its shards beside its outputs. */
export const MERGE_RECORD = 'merge-run.json'

/** Names of the records that a folder of outputs may have, one a command. */
export const RECORD_NAMES: readonly string[] = [RUN_RECORD, DIAGNOSE_RECORD, EXPLORE_RECORD, MERGE_RECORD]

/** The durations of a run. It is the one output that differs from run to run, and no record lists it. */
export const TIMINGS_PATH = 'timings.json'

/** The index of a batch, with one entry for each snapshot. */
export const BATCH_INDEX = 'critic-trace-snapshots.json'

/** Every step of every snapshot in the index. */
export const BATCH_STEPS = 'critic-trace-by-step.csv'

/** The page over the steps of all snapshots in the index. */
export const BATCH_PAGE = 'preview/critic-traces-over-steps.html'

/** The program that wrote an output. Time and machine are left out, so that the same input gives the same bytes. */
export interface Generator {
  readonly name: string
  readonly version: string
}

/** The statements of an output about its run. */
export interface Origin {
  /** every input was generated */
  readonly synthetic: boolean
  /** the manifest that the inputs were verified against; null where there was none */
  readonly manifest: VerifiedManifest | null
  readonly generator: Generator
}

/** Member and file prefix of a trace: `trace_000`, `trace_001` … `trace_999`, `trace_1000`; Python's `f'trace_{i:03d}'`. */
export function tracePrefix(index: number): string {
  return `trace_${String(index).padStart(3, '0')}`
}
