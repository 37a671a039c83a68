/**
 * Names of outputs that do not depend on the study. No file or figure that a study names may have one of them. Names are
 * compared without regard to case.
 */

/** Path of the metadata of a CSV: the default path where readers of CSV on the Web look for it. */
export function csvMetadataPath(csv: string): string {
  return `${csv}-metadata.json`
}

/** CSV files whose names are fixed. */
const CSV_FILES: readonly string[] = [
  'training_data/critic-trace-trajectories.csv',
  'training_data/critic-quality-by-step.csv',
  'training_data/critic-quality-by-turn.csv',
  'training_data/critic-quality-by-decile.csv',
  'wandb/lineage.csv',
  'critic-trace-by-step.csv'
]

/** JSON documents of written evidence. */
export const EVIDENCE_DOCUMENTS = {
  data: 'data.json',
  derived: 'derived_metrics.json',
  cases: 'materials/multilingual-case-evidence.json'
} as const

/** Path of the unchanged copy of a study's text document. */
export function documentCopy(path: string): string {
  return `materials/${path.slice(path.lastIndexOf('/') + 1)}`
}

/** Numbers that figures draw beside curves. */
export const FIGURE_CONSTANTS = 'figure_constants.json'

/** JSON documents of critic traces. */
export const TRACE_DOCUMENTS: readonly string[] = [
  'training_data/critic-trace-index.json',
  'training_data/critic-turn-boundary-audit.json',
  'training_data/critic-trace-statistics.json',
  'training_data/critic-diagnostics.json'
]

/** Largest number of listed exceptions of the turn-boundary audit. All are counted. */
export const MAX_LISTED_EXCEPTIONS = 1000

/** Relative to the output folder. */
export const RESERVED_OUTPUTS: readonly string[] = [
  ...Object.values(EVIDENCE_DOCUMENTS),
  ...TRACE_DOCUMENTS,
  FIGURE_CONSTANTS,
  'run.json',
  'diagnose-run.json',
  'timings.json',
  'audit.json',
  'article.md',
  'source-notes.md',
  'preview/article.html',
  'preview/diagnostics.html',
  'preview/source-notes.html',
  'critic-trace-snapshots.json',
  'preview/critic-traces-over-steps.html',
  'training_data/critic-trace-arrays.npz',
  'training_data/critic-traces.arrow',
  'training_data/critic-traces.parquet',
  'wandb/observations.arrow',
  'wandb/points.arrow',
  ...CSV_FILES,
  ...CSV_FILES.map(csvMetadataPath)
]

/** The figures of the diagnostics, in their order; they follow all others. */
export const DIAGNOSTIC_FIGURES: readonly string[] = ['critic-quality', 'boundary-jumps']

/** File names without extension. */
export const RESERVED_FIGURES: readonly string[] = ['08-critic-traces', 'critic-traces-over-steps', ...DIAGNOSTIC_FIGURES]

/** Outputs that are written as a stream. A batch records them by size alone. */
export const STREAMED_OUTPUTS: readonly string[] = [
  'training_data/critic-trace-arrays.npz',
  'training_data/critic-traces.arrow',
  'training_data/critic-traces.parquet'
]

/** Patterns of the names that a study may give to an output of its histories, and to a figure. */
export const CHOSEN_OUTPUT = '(?:(?:wandb|training_data)/)?[A-Za-z0-9][A-Za-z0-9._-]{0,94}'
export const CHOSEN_FIGURE = '[A-Za-z0-9][A-Za-z0-9_-]{0,99}'

/**
 * True if a run of this program can have written a file of this name, relative to its output folder. The name is a
 * reserved one, one that a study may choose, or the own name of a study's document.
 */
export function isOutputName(path: string): boolean {
  return (
    RESERVED_OUTPUTS.includes(path) ||
    new RegExp(`^figures/${CHOSEN_FIGURE}(?:\\.column)?(?:\\.dark)?\\.(?:png|svg|pdf)$`).test(path) ||
    new RegExp(`^${CHOSEN_OUTPUT}\\.(?:json|csv|csv-metadata\\.json)$`).test(path) ||
    /^materials\/[^./\\\0-\x1f][^/\\\0-\x1f]{0,254}$/.test(path)
  )
}
