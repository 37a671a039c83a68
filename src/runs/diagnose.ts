/**
 * The diagnostics of snapshots and dumps, from bytes to outputs.
 *
 *     samples ──► threads: one record a sample ──► in canonical order ──► audit, findings, quality ──► comparison
 *                                                                              └──► JSON, CSV, figures, page ──► commit
 *
 * Phases: 1 read what is told, 2 records of every set, 3 reduce, 4 write, 5 draw, 6 page. No token is read twice.
 */
import { basename, join } from 'node:path'
import { compareQuality } from '../compute/diagnostics/quality/compare.js'
import type { Resample } from '../compute/diagnostics/quality/resample-task.js'
import { qualityOf, qualityOptions } from '../compute/diagnostics/reduce.js'
import type { DiagnosedSet, Diagnosis, DiagnosisSettings, LoggedHistory } from '../compute/diagnostics/contract.js'
import type { ToldValues } from '../compute/diagnostics/diagnose.js'
import type { SamplingDesign } from '../schema/diagnostics.js'
import type { TracePool } from '../compute/traces/pool.js'
import { EXIT, Fault } from '../core/errors.js'
import { readStillSync } from '../core/still-file-sync.js'
import { EXPLAINED_VARIANCE, readLoggedValues } from '../ingest/histories/logged-value.js'
import type { FigureFile } from '../render/figures/config.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import { DIAGNOSTIC_PATHS } from '../render/outputs/output-names.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { PageFigure } from '../render/page/inputs.js'
import { findSnapshots, type SnapshotPlan } from '../study/inventory.js'
import { isOfSyntheticStudy } from '../study/label.js'
import { originOf, RunContext } from './context.js'
import { reduceRecords, wantedRecord, writeDiagnosis } from './diagnosis.js'
import { snapshotRecords, type SnapshotRecords } from './diagnostic-records.js'
import { RecordSpill } from './record-spill.js'
import type { SnapshotSettings } from './snapshot-work.js'
import { inTransaction, type TransactionOptions } from './transaction.js'

/** What a user says of the samples. */
export interface ToldOfRun extends Omit<ToldValues, 'loggedExplainedVariance'> {
  readonly sampling: SamplingDesign
  readonly history: LoggedHistory | null
}

export interface DiagnoseRun extends TransactionOptions {
  readonly plan: SnapshotPlan
  /** the set that it is compared with; null: none */
  readonly against: SnapshotPlan | null
  readonly settings: SnapshotSettings
  readonly told: ToldOfRun
  readonly pool: TracePool
  readonly out: string
  readonly formats: readonly FigureFile[]
  readonly chunkBytes?: number | undefined
  readonly onProgress?: ((plan: SnapshotPlan) => (done: number) => void) | undefined
}

export interface DiagnoseOutcome {
  readonly diagnosis: Diagnosis
  readonly outputs: readonly FileSummary[]
}

/** @throws Failures, or the one Fault that stopped the run; no output is touched then */
export async function runDiagnose(run: DiagnoseRun): Promise<DiagnoseOutcome> {
  const { plan, against } = run
  const spill = new RecordSpill(run.out)
  try {
    return await inTransaction(run.out, run, async set => {
      // 2. Records
      const own = await recordsOf(run, plan, spill)
      const other = against === null ? null : await recordsOf(run, against, spill)
      return { diagnosis: await finishDiagnosis({ ...run, threads: run.pool.threads, resample: run.pool.resample }, set, own, other) }
    })
  } finally {
    spill.close()
  }
}

/** What the phases behind the records need. */
export interface FinishingDiagnosis extends Pick<DiagnoseRun, 'settings' | 'told' | 'formats' | 'chunkBytes' | 'signal'> {
  readonly threads: number
  /** what answers the tasks of the bootstrap; left out: this thread */
  readonly resample?: Resample
}

/** The phases behind the records, whoever made them. */
export async function finishDiagnosis(run: FinishingDiagnosis, set: OutputSet, own: ReadSet, other: ReadSet | null): Promise<Diagnosis> {
  // 3. Reduce
  const diagnosis = await diagnosisOf(run, own, other)
  // 4. Write
  const origin = originOf(diagnosis.synthetic, null)
  await writeDiagnosis(set, diagnosis, origin)
  // 5. Draw
  const figures = await drawn(run, own.plan, set, diagnosis)
  // 6. Page
  const { diagnosticsHtml } = await import('../render/page/diagnostics.js')
  await set.write(DIAGNOSTIC_PATHS.page, diagnosticsHtml({ diagnosis, figures, generator: origin.generator }))
  return diagnosis
}

/** The figures that a page can show: those with a picture. */
async function drawn(run: FinishingDiagnosis, plan: SnapshotPlan, set: OutputSet, diagnosis: Diagnosis): Promise<readonly PageFigure[]> {
  const { formats, threads } = run
  if (formats.length === 0) return []
  const { drawFigures, planFigures } = await import('./drawing.js')
  const planned = await planFigures({ diagnosis }, formats)
  const pictures = await drawFigures(contextOf(run, plan), set, planned, { formats, threads, manifest: null })
  return planned.flatMap(({ config: { name, title, description }, drawnFrom }) => {
    const picture = pictures.get(name)
    if (picture === undefined) return []
    return [{ name, title, description, picture, files: formats.map(format => `figures/${name}.${format}`), data: drawnFrom }]
  })
}

export interface ReadSet {
  readonly plan: SnapshotPlan
  readonly read: SnapshotRecords
  readonly synthetic: boolean
}

async function recordsOf(run: DiagnoseRun, plan: SnapshotPlan, spill: RecordSpill): Promise<ReadSet> {
  const { settings, pool, onProgress } = run
  const options = { record: wantedRecord(settings.traces), spill, onProgress: onProgress?.(plan) }
  const read = await snapshotRecords(contextOf(run, plan), { plan, settings, pool }, options)
  return { plan, read, synthetic: settings.synthetic || read.synthetic || (await isOfSyntheticStudy(plan.folder)) }
}

function contextOf({ settings, signal, chunkBytes }: Omit<FinishingDiagnosis, 'threads'>, plan: SnapshotPlan): RunContext {
  return new RunContext({ dir: plan.folder, origin: originOf(settings.synthetic, null), signal, chunkBytes })
}

async function diagnosisOf(
  { told, settings: { traces }, resample }: Pick<FinishingDiagnosis, 'told' | 'settings' | 'resample'>,
  own: ReadSet,
  other: ReadSet | null
): Promise<Diagnosis> {
  const settings: DiagnosisSettings = {
    successThreshold: traces.success_threshold,
    jumpThreshold: traces.jump_threshold,
    sampling: told.sampling,
    history: told.history
  }
  const reduce = ({ plan, read, synthetic }: ReadSet, toldOf: ToldValues, settingsOf: DiagnosisSettings): Promise<DiagnosedSet> =>
    reduceRecords(plan, read, { synthetic, told: toldOf, settings: settingsOf }, resample)
  const first = await reduce(own, told, settings)
  if (other === null) return { ...first, settings, against: null }
  // What is told is told of the first set.
  const second = await reduce(other, {}, { ...settings, history: null })
  const options = { ...qualityOptions(settings), samplingOfB: settings.sampling }
  const comparison = await compareQuality(qualityOf(own.read.records), qualityOf(other.read.records), options, resample)
  return { ...first, synthetic: first.synthetic || second.synthetic, settings, against: { ...second, comparison } }
}

/** The snapshot or dump of a path. @throws Fault where it leads to none, or to several */
export async function onePlan(path: string): Promise<SnapshotPlan> {
  const plans = await findSnapshots([path])
  if (plans.length === 1) return plans[0]
  const found = `${plans.length} snapshots`
  throw new Fault({
    format: 'usage',
    problem: 'wrong --against',
    found,
    expected: 'one snapshot or dump',
    place: { file: path },
    exitCode: EXIT.usage
  })
}

/** @throws Fault where the file is no history, or logs no explained variance */
export function readLoggedHistory(path: string): LoggedHistory {
  const { bytes, sha256 } = readStillSync(path, 'history')
  const logged = readLoggedValues(bytes, path, EXPLAINED_VARIANCE)
  return { file: { path: basename(path), sha256, bytes: bytes.length }, ...logged }
}

export function outputFolder(out: string, plan: SnapshotPlan): string {
  return join(out, plan.name)
}
