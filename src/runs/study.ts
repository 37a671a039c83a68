/**
 * A study, whole: its inputs against its manifest, then every section that it states, its figures, and all outputs or none.
 *
 *     manifest ──► critic traces ──► written evidence ──► training histories ──► what follows ──► figures ──► audit, pages ──► commit ──► run.json
 */
import { join, relative, sep } from 'node:path'
import type { AuditReport } from '../compute/audit/contract.js'
import { Documents } from '../compute/documents.js'
import { withDrawnNumbers } from '../compute/histories/drawn-numbers.js'
import type { TracePool } from '../compute/traces/pool.js'
import { EXIT, Fault } from '../core/errors.js'
import { findSnapshots, type SnapshotPlan } from '../study/inventory.js'
import { namedFiles, rolesOf } from '../study/manifest-update.js'
import type { ManifestReport } from '../study/manifest.js'
import { STUDY_FILE, type StudyFile } from '../study/study.js'
import { requireVerified } from '../core/verified.js'
import type { MeasuredEvidence } from './evidence.js'
import { figureData, measureHistories, type MeasuredHistories } from './histories.js'
import { Failures, measureSnapshot, type MeasuredSnapshot, type SnapshotSettings } from './snapshot.js'
import type { FigureFormat } from '../render/figures/config.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { RecordedOutput } from '../render/outputs/removed-outputs.js'
import {
  retireRecord, settingsHash, snapshotInputs, unchangedOutputs, writeRunRecord, type FinishedRun, type HashedFile, type RunRecord
} from './record.js'
import type { Study, VerifiedManifest } from '../schema/study.js'
import type { CriticTraceStudy } from '../schema/traces.js'
import type { EvidenceStudy } from '../schema/evidence.js'
import type { HistoryStudy } from '../schema/histories.js'
import { inTransaction } from './transaction.js'
import { GENERATOR } from '../core/version.js'

/** What a run tells while it works, stage by stage. */
export interface StudyProgress {
  readonly onSnapshot?: (plan: SnapshotPlan) => Promise<(done: number) => void>
  /** @param total bytes of the histories' folder; answers what takes the bytes read so far */
  readonly onHistories?: (total: number) => (done: number) => void
  /** the histories are read; answers what takes the parts of their analysis done so far */
  readonly onAnalysis?: () => (done: number) => void
  /** the histories are analysed; answers what takes the rows written so far */
  readonly onWriting?: () => (done: number) => void
  /** @param total bytes of the evidence's own files, without what they inherit from; answers as above */
  readonly onEvidence?: (total: number) => (done: number) => void
  /** @param total files to draw; answers what takes the number drawn so far */
  readonly onFigures?: (total: number) => (done: number) => void
}

export interface StudyRun {
  /** the study's folder */
  readonly dir: string
  readonly study: Study
  /** the file that states it */
  readonly studyFile: Pick<StudyFile, 'sha256' | 'bytes'>
  /** of the same study's manifest, without a failure */
  readonly manifest: ManifestReport
  readonly pool: TracePool
  readonly out: string
  readonly formats: readonly FigureFormat[]
  /** a value that a page cites and nothing published holds fails the audit, whatever the study says; default: as the study says */
  readonly strict?: boolean
  readonly signal?: AbortSignal
  readonly progress?: StudyProgress
}

export interface StudyOutcome {
  /** null where the study has no such section */
  readonly snapshot: Omit<MeasuredSnapshot, 'figure'> | null
  readonly histories: MeasuredHistories | null
  readonly evidence: MeasuredEvidence | null
  /** null where the study names no claims file */
  readonly audit: AuditReport | null
  readonly outputs: readonly FileSummary[]
  /** recorded by an earlier run, not written by this one, and not known to be the program's: it stays */
  readonly left: readonly string[]
}

/** @throws Failures, or the one Fault that stopped the run; no output is touched then. */
export async function analyseStudy(run: StudyRun): Promise<StudyOutcome> {
  const { study, out, formats } = run
  const verified = verifiedFiles(run.manifest)
  const manifest = verifiedManifest(run)
  const { sha256, bytes } = run.studyFile
  const studyFile = requireVerified(run.dir, { path: STUDY_FILE, sha256, bytes }, verified)
  let earlier: readonly RecordedOutput[] = []
  const beforeCommit = async (): Promise<void> => { earlier = await retireRecord(out) }
  const outcome = await inTransaction(out, { signal: run.signal, beforeCommit }, async set => {
    const snapshot = study.critic_traces === null ? null : await snapshotOf(set, run, study.critic_traces, verified)
    // What curves are drawn with may stand in the evidence, and what follows from the evidence in the histories' documents.
    const stated = study.evidence === null ? null : await evidenceOf(set, run, study.evidence, verified)
    const drawn = study.histories === null ? null : withDrawnNumbers(study.histories, new Documents(set.jsonTexts))
    const histories = drawn === null ? null : await historiesOf(set, run, drawn, verified)
    const evidence = stated === null ? null : await stated.derive()
    await writeConstants(set, run, drawn, evidence)
    const read = [studyFile, ...(snapshot?.inputs ?? []), ...(histories?.inputs ?? []), ...(evidence?.inputs ?? [])]
    const aside = new Set(snapshot?.excluded.map(file => file.path))
    const entering = read.filter(({ path }) => !aside.has(path))
    refuseExcluded(run, new Set([...entering.map(file => file.path), study.claims, study.article?.article, study.article?.notes]))
    const { drawFigures, planFigures } = await import('./drawing.js')
    const figures = await planFigures({
      ...(snapshot === null ? {} : { criticTraces: snapshot.measured.figure }),
      ...(histories === null || drawn === null ? {} : {
        curves: figureData({ study: drawn, synthetic: study.synthetic, ...(run.signal === undefined ? {} : { signal: run.signal }) }, histories)
      }),
      ...(evidence === null ? {} : { bars: evidence.figures })
    })
    // The trace pool and this thread have nothing to do meanwhile.
    const threads = run.pool.threads + 1
    const pngs = await drawFigures(set, figures, { formats, threads, manifest, signal: run.signal, onFiles: run.progress?.onFigures })
    const measured = { snapshot: snapshot === null ? null : { inputs: snapshot.inputs.filter(({ path }) => !aside.has(path)) }, histories }
    const { writeArticle } = await import('./article.js')
    const audit = await writeArticle(set, {
      dir: run.dir, study, verified, manifest, revisions: run.manifest.revisions, strict: run.strict ?? false, measured, figures, formats, pngs, inputs: entering, listed: listedFiles(run.manifest)
    })
    return {
      audit,
      snapshot: snapshot?.measured ?? null,
      histories,
      evidence
    }
  })
  const left = await writeRunRecord(out, { ...recordedOf(run), outputs: outcome.outputs }, earlier, run.pool)
  return { ...outcome, left }
}

/** The settings' hash is of all that decides the bytes of a study's outputs: its manifest lists every input, the study file among them. */
function recordedOf(run: Pick<StudyRun, 'study' | 'manifest' | 'formats'>): Omit<FinishedRun, 'outputs'> {
  const { study, manifest, formats } = run
  return {
    settingsSha256: settingsHash([study, manifest.manifest_sha256], formats),
    synthetic: study.synthetic, manifest: verifiedManifest(run), inputs: listedFiles(manifest)
  }
}

/** The record of the last run into `out` where nothing that decides its outputs has changed and they are all there; else null. */
export function unchangedStudy(run: Pick<StudyRun, 'study' | 'manifest' | 'formats' | 'out' | 'pool'>): Promise<RunRecord | null> {
  return unchangedOutputs(run.out, recordedOf(run), run.pool)
}

async function snapshotOf(
  set: OutputSet, run: StudyRun, traces: CriticTraceStudy, verified: ReadonlyMap<string, string>
): Promise<{ readonly measured: MeasuredSnapshot; readonly inputs: readonly HashedFile[]; readonly excluded: readonly HashedFile[] }> {
  const plan = await onlySnapshot(join(run.dir, traces.snapshot))
  const folder = studyPath(run.dir, plan.folder)
  const inFolder = (path: string): string => (folder === '' ? path : `${folder}/${path}`)
  const settings: SnapshotSettings = {
    traces, expectations: traces.expectations, enforced: true, examplesRequired: true, synthetic: run.study.synthetic
  }
  const onProgress = await run.progress?.onSnapshot?.(plan)
  const measured = await measureSnapshot(set, {
    plan, settings, pool: run.pool, manifest: verifiedManifest(run),
    verified: new Map([...verified].flatMap(([path, sha256]) => (
      path.startsWith(inFolder('')) ? [[path.slice(inFolder('').length), sha256]] : []
    ))),
    ...(plan.html === null ? {} : { sourceName: studyPath(run.dir, plan.html) }),
    ...(run.signal === undefined ? {} : { signal: run.signal }),
    ...(onProgress === undefined ? {} : { onProgress })
  })
  const inStudy = ({ path, sha256, bytes }: HashedFile): HashedFile => ({ path: inFolder(path), sha256, bytes })
  return { measured, inputs: snapshotInputs(plan, measured).map(inStudy), excluded: measured.excluded.map(inStudy) }
}

async function historiesOf(
  set: OutputSet, run: StudyRun, histories: HistoryStudy, verified: ReadonlyMap<string, string>
): Promise<MeasuredHistories> {
  const { dir, study, signal, progress, manifest } = run
  const total = manifest.files.reduce((sum, { path, expected }) => (
    path.startsWith(`${histories.folder}/`) ? sum + (expected?.bytes ?? 0) : sum
  ), 0)
  const onProgress = progress?.onHistories?.(total)
  return measureHistories(set, {
    dir, study: histories, synthetic: study.synthetic, verified, manifest: verifiedManifest(run),
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
    ...(progress?.onAnalysis === undefined ? {} : { onAnalysis: progress.onAnalysis }),
    ...(progress?.onWriting === undefined ? {} : { onWriting: progress.onWriting })
  })
}

/** Read and written; `derive` is for when the other sections are. */
async function evidenceOf(
  set: OutputSet, run: StudyRun, evidence: EvidenceStudy, verified: ReadonlyMap<string, string>
): Promise<{ readonly derive: () => Promise<MeasuredEvidence> }> {
  const { dir, study, signal, progress, manifest } = run
  const own = new Set([evidence.workbook, evidence.slides, ...evidence.configs, ...evidence.datasets, ...evidence.documents].map(source => source?.path))
  const total = manifest.files.reduce((sum, { path, expected }) => own.has(path) ? sum + (expected?.bytes ?? 0) : sum, 0)
  const onProgress = progress?.onEvidence?.(total)
  // Readers of office files and Parquet: only a study that has some loads them.
  const { deriveEvidence, stateEvidence } = await import('./evidence.js')
  const evidenceRun = {
    dir, study: evidence, synthetic: study.synthetic, verified, manifest: verifiedManifest(run), legend: legendOf(study.histories),
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress })
  }
  const found = await stateEvidence(set, evidenceRun)
  return { derive: () => deriveEvidence(set, evidenceRun, found) }
}

/** None for a study without figures of its own. */
async function writeConstants(set: OutputSet, run: StudyRun, histories: HistoryStudy | null, evidence: MeasuredEvidence | null): Promise<void> {
  const requests = run.study.evidence?.figures ?? []
  if ((histories?.figures ?? []).length + requests.length === 0) return
  const { writeFigureConstants } = await import('../render/outputs/figure-documents.js')
  const origin = { synthetic: run.study.synthetic, manifest: verifiedManifest(run), generator: GENERATOR }
  await writeFigureConstants(set, { histories, bars: evidence === null ? null : { requests, drawn: evidence.figures } }, origin)
}

/** Titles by the colours that the first analysis gives them: a bar figure gives the same title the same one. */
function legendOf(histories: HistoryStudy | null): string[] {
  const drawn = histories?.analyses[0]?.selections ?? []
  return drawn.flatMap(name => histories?.selections.find(selection => selection.name === name)?.title ?? [])
}

/** A path below the study as the manifest writes it; '' for the study itself. */
function studyPath(dir: string, path: string): string {
  return relative(dir, path).split(sep).join('/')
}

async function onlySnapshot(folder: string): Promise<SnapshotPlan> {
  const plans = await findSnapshots([folder])
  if (plans.length === 1) return plans[0]
  throw new Fault({
    format: 'study',
    problem: 'several snapshots',
    found: `${plans.length} below its snapshot folder`,
    expected: 'one',
    place: { file: folder }
  })
}

/** All that was verified before the run began: whatever a section, a certificate's judge or an audit reads is among them. */
function listedFiles({ files }: ManifestReport): HashedFile[] {
  return files.flatMap(({ path, status, expected }) => status === 'ok' && expected !== null ? [{ path, ...expected }] : [])
}

/**
 * The manifest says of a file that it enters nothing, and the study names it. What a configuration inherits from is named by
 * no study, and a new manifest excludes it: it may be read.
 *
 * @throws Failures where such a file was read
 */
function refuseExcluded({ dir, manifest, study }: StudyRun, read: ReadonlySet<string | null | undefined>): void {
  const named = namedFiles(study)
  const roleOf = rolesOf(study, named)
  const contradicted = manifest.files.filter(({ path, role }) => role === 'excluded' && roleOf(path) !== 'excluded' && read.has(path))
  const faults = contradicted.map(({ path }) => (
    new Fault({
      format: 'manifest', problem: 'excluded file read', found: 'the role "excluded"',
      expected: `another role${named.has(path) ? ' (manifest --write gives it one)' : ' in the manifest'}, or a study that does not read the file`,
      place: { file: join(dir, path) }, exitCode: EXIT.checkFailed
    })
  ))
  if (faults.length > 0) throw new Failures(faults)
}

/** What every output of the run says of its inputs. */
export function verifiedManifest({ study, manifest }: Pick<StudyRun, 'study' | 'manifest'>): VerifiedManifest {
  return { path: study.manifest, sha256: manifest.manifest_sha256, files: manifest.counts.ok }
}

/** SHA-256 of the files that are as the manifest lists them, by path relative to the study. */
function verifiedFiles(report: ManifestReport): Map<string, string> {
  return new Map(listedFiles(report).map(({ path, sha256 }) => [path, sha256]))
}
