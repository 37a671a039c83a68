/** From the records of a snapshot or dump to its diagnosis and its documents: what `diagnose` and `all` share. */
import { sweepThresholds } from '../compute/diagnostics/quality/changes.js'
import type { Resample } from '../compute/diagnostics/quality/resample-task.js'
import { diagnosedSet } from '../compute/diagnostics/reduce.js'
import type { DiagnosedSet, Diagnosis, DiagnosisSettings, LambdaAdvantages } from '../compute/diagnostics/contract.js'
import type { ToldValues } from '../compute/diagnostics/diagnose.js'
import type { TraceWanted } from '../compute/traces/trace-task.js'
import { Fault } from '../core/errors.js'
import { writeDiagnostics } from '../render/outputs/diagnostics.js'
import { writeDiagnosticTables } from '../render/outputs/diagnostics-tables.js'
import type { Origin } from '../render/outputs/output-names.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { CriticTraceStudy } from '../schema/critic-traces.js'
import type { SamplingDesign } from '../schema/diagnostics.js'
import type { SnapshotPlan } from '../study/inventory.js'
import type { SnapshotRecords } from './diagnostic-records.js'

export type ReadRecords = Omit<SnapshotRecords, 'synthetic'>

export function wantedRecord({ jump_threshold: threshold }: CriticTraceStudy): NonNullable<TraceWanted['record']> {
  return { thresholds: sweepThresholds(threshold) }
}

/** Null: not told. */
export interface ToldByStudy {
  readonly sampling: SamplingDesign
  readonly gamma: number | null
  readonly lambdaReturns: number | null
  readonly lambdaAdvantages: LambdaAdvantages | null
}

/** What a study says of how its traces were made and chosen. */
export function toldOfStudy({ sampling, estimator }: CriticTraceStudy): ToldByStudy {
  const { gamma, lambda_returns: lambdaReturns, lambda_advantages: lambdaAdvantages } = estimator
  return { sampling, gamma, lambdaReturns, lambdaAdvantages }
}

export interface DiagnosedAs {
  readonly synthetic: boolean
  readonly told: ToldValues
  readonly settings: DiagnosisSettings
}

/** @throws Fault where there is no record */
export async function reduceRecords(
  plan: SnapshotPlan,
  { records, facts, inputs, leftOut }: ReadRecords,
  as: DiagnosedAs,
  resample?: Resample
): Promise<DiagnosedSet> {
  if (records.length === 0) throw noSample(plan)
  const { kind = null, mask = null, end = null, notes = [] } = facts ?? {}
  const source = {
    name: plan.source,
    kind: plan.kind,
    format: kind,
    mask,
    end,
    notes,
    files: inputs,
    samples: records.length,
    left_out: leftOut.length
  }
  return diagnosedSet(records, { source, ...as }, resample)
}

export async function writeDiagnosis(set: OutputSet, diagnosis: Diagnosis, origin: Origin): Promise<void> {
  await writeDiagnostics(set, diagnosis, origin)
  await writeDiagnosticTables(set, diagnosis, origin)
}

function noSample({ folder }: SnapshotPlan): Fault {
  return new Fault({
    format: 'trace',
    problem: 'no samples',
    found: 'no row with a retained token',
    expected: 'one at least',
    place: { file: folder }
  })
}
