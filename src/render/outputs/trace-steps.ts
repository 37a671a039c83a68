/** `critic-trace-by-step.csv` of a batch: one row for each trainer step of each snapshot. */
import type { SnapshotStep, StepOutcome } from '../../compute/traces/over-steps.js'
import { csvHeading, writeCsvMetadata, type CsvColumn, type CsvTable } from './csv-metadata.js'
import { csvRow, type CsvCell } from './csv.js'
import type { FileSummary } from './output-file.js'
import { BATCH_STEPS, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

/** The cells of a required column are never null. */
type StepColumn =
  | CsvColumn<(row: SnapshotStep) => number, 'integer'>
  | CsvColumn<(row: SnapshotStep) => string, 'string'>
  | CsvColumn<(row: SnapshotStep) => number | null, 'number?'>

type ChangeKind = 'boundary' | 'internal'

const tracesOf = (row: SnapshotStep, outcome: StepOutcome): number => row.mean_values.find(m => m.outcome === outcome)?.traces ?? 0
const meanOf = (row: SnapshotStep, outcome: StepOutcome): number | null =>
  row.mean_values.find(m => m.outcome === outcome)?.mean_value ?? null
const share = (row: SnapshotStep, kind: ChangeKind, part: 'jumps' | 'sum_abs_change'): number | null =>
  row[kind].transitions === 0 ? null : row[kind][part] / row[kind].transitions

const COLUMNS: readonly StepColumn[] = [
  ['snapshot', 'string', 'name of the snapshot: the folder of its outputs', r => r.snapshot],
  ['step', 'integer', 'trainer step', r => r.step],
  ['traces', 'integer', 'traces of this step', r => r.traces],
  ['tokens', 'integer', 'their retained tokens', r => r.tokens],
  ['successes', 'integer', 'traces whose outcome is a success', r => tracesOf(r, 'success')],
  ['failures', 'integer', 'traces whose outcome is a failure', r => tracesOf(r, 'failure')],
  ['outcome_unknown', 'integer', 'traces whose outcome is not stated and told by no score', r => tracesOf(r, 'unknown')],
  ['success_mean_value', 'number?', 'mean of the values over the tokens of the successes; empty without one', r => meanOf(r, 'success')],
  ['failure_mean_value', 'number?', 'mean of the values over the tokens of the failures; empty without one', r => meanOf(r, 'failure')],
  [
    'unknown_mean_value',
    'number?',
    'mean of the values over the tokens of the traces of unknown outcome; empty without one',
    r => meanOf(r, 'unknown')
  ],
  ['boundary_transitions', 'integer', 'transitions at turn boundaries', r => r.boundary.transitions],
  [
    'boundary_mean_abs_change',
    'number?',
    'mean of |change| of the value at boundaries; empty without a boundary',
    r => share(r, 'boundary', 'sum_abs_change')
  ],
  ['boundary_jumps', 'integer', "those with |change| strictly above the snapshot's threshold", r => r.boundary.jumps],
  ['boundary_jump_rate', 'number?', 'boundary_jumps / boundary_transitions; empty without a boundary', r => share(r, 'boundary', 'jumps')],
  ['internal_transitions', 'integer', 'transitions between adjacent response positions', r => r.internal.transitions],
  [
    'internal_mean_abs_change',
    'number?',
    'mean of |change| of the value inside spans; empty without such a transition',
    r => share(r, 'internal', 'sum_abs_change')
  ],
  ['internal_jumps', 'integer', "those with |change| strictly above the snapshot's threshold", r => r.internal.jumps],
  [
    'internal_jump_rate',
    'number?',
    'internal_jumps / internal_transitions; empty without such a transition',
    r => share(r, 'internal', 'jumps')
  ]
]

const TABLE: CsvTable<(row: SnapshotStep) => CsvCell> = {
  title: 'Critic traces by trainer step',
  description:
    'One row for each trainer step of each snapshot in the index, by step, then by the name of the snapshot (by code point). ' +
    'A trace that states no step is in no row. Sums are over tokens and transitions, never over traces.',
  columns: COLUMNS
}

/** The whole table with its heading. */
export function traceStepsCsv(rows: readonly SnapshotStep[]): string {
  return csvHeading(TABLE) + rows.map(row => csvRow(COLUMNS.map(([, , , cell]) => cell(row)))).join('')
}

/** Writes the table and its metadata. */
export async function writeTraceSteps(set: OutputSet, rows: readonly SnapshotStep[], origin: Origin): Promise<FileSummary[]> {
  return [await set.write(BATCH_STEPS, traceStepsCsv(rows)), await writeCsvMetadata(set, BATCH_STEPS, TABLE, origin)]
}
