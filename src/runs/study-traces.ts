/** The snapshot of a study: its traces measured, and in the same pass its critic diagnosed. */
import type { Diagnosis, DiagnosisSettings } from '../compute/diagnostics/contract.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import { diagnosisHtml } from '../render/page/diagnostics.js'
import type { RunContext } from './context.js'
import { reduceRecords, toldOfStudy, wantedRecord, writeDiagnosis } from './diagnosis.js'
import { writeTracesPage } from './explorer-page.js'
import { measureSnapshot, snapshotInputs, type MeasuredSnapshot } from './snapshot.js'
import type { SnapshotWork } from './snapshot-work.js'

export interface DiagnosedTraces extends MeasuredSnapshot {
  readonly diagnosis: Diagnosis
}

/** Writes both, without their figures, into a set that the caller commits. @throws as `measureSnapshot` does */
export async function measureStudyTraces(context: RunContext, work: SnapshotWork, set: OutputSet): Promise<DiagnosedTraces> {
  const {
    plan,
    settings: { traces, synthetic: pageTexts }
  } = work
  const { records, explored, ...measured } = await measureSnapshot(context, { ...work, record: wantedRecord(traces), pageTexts }, set)
  const { sampling, ...told } = toldOfStudy(traces)
  const { success_threshold: successThreshold, jump_threshold: jumpThreshold } = traces
  const settings: DiagnosisSettings = { successThreshold, jumpThreshold, sampling, history: null }
  const { facts = null, leftOut = [] } = measured.dump ?? {}
  const read = { records, inputs: snapshotInputs(plan, measured), facts, leftOut }
  const { synthetic } = measured.statistics
  const diagnosis: Diagnosis = { ...reduceRecords(plan, read, { synthetic, told, settings }), settings, against: null }
  await writeDiagnosis(set, diagnosis, { ...context.origin, synthetic })
  const page = { plan, explored, statistics: measured.statistics, diagnostics: diagnosisHtml(diagnosis) }
  await writeTracesPage(set, context.origin.generator, page)
  return { ...measured, diagnosis }
}
