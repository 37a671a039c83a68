/**
 * A whole study: its inputs against its manifest, then every section that it states, its figures, and all outputs or none.
 *
 *     manifest ──► sections (sections.ts) ──► what figures draw with ──► figures ──► audit, pages ──► commit ──► run.json
 */
import { join } from 'node:path'
import type { AuditReport } from '../compute/audit/contract.js'
import type { TracePool } from '../compute/traces/pool.js'
import { EXIT, Failures, Fault } from '../core/errors.js'
import { namedFiles, rolesOf } from '../study/manifest-update.js'
import type { ManifestReport } from '../study/manifest.js'
import { STUDY_FILE } from '../study/label.js'
import type { StudyFile } from '../study/study.js'
import type { HashedFile, Study } from '../schema/study.js'
import { originOf, RunContext, type RunProgress } from './context.js'
import { runSections, type SectionOutcomes } from './sections.js'
import type { FigureSources } from './drawing.js'
import type { FigureFile } from '../render/figures/config.js'
import type { FigureConstants } from '../render/outputs/figure-documents.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import type { Origin } from '../render/outputs/output-names.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { RecordedOutput } from '../render/outputs/removed-outputs.js'
import { retireRecord, settingsHash, unchangedOutputs, writeRunRecord, type FinishedRun, type RunRecord } from './record.js'
import type { TokenTables } from './snapshot-work.js'
import { inTransaction } from './transaction.js'

export interface StudyRun {
  /** the study's folder */
  readonly dir: string
  readonly study: Study
  /** the study file */
  readonly studyFile: Pick<StudyFile, 'sha256' | 'bytes'>
  /** report on the study's manifest, without a failure */
  readonly manifest: ManifestReport
  readonly pool: TracePool
  readonly out: string
  readonly formats: readonly FigureFile[]
  /** which tables of tokens are written; default: Arrow alone */
  readonly tables?: TokenTables | undefined
  /** true: a value that a page cites and no claim holds fails the audit; default: as the study says */
  readonly strict?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  readonly progress?: RunProgress | undefined
}

export interface StudyOutcome extends SectionOutcomes {
  /** null where the study names no claims file */
  readonly audit: AuditReport | null
  readonly outputs: readonly FileSummary[]
  /** paths that an earlier run recorded and this one did not write; they stay, because nothing shows that they are the program's */
  readonly left: readonly string[]
}

const NO_SECTION: SectionOutcomes = { snapshot: null, diagnosis: null, histories: null, evidence: null }

/** @throws Failures, or the one Fault that stopped the run; no output is touched then. */
export async function analyseStudy(run: StudyRun): Promise<StudyOutcome> {
  const {
    dir,
    study,
    manifest: { revisions },
    pool,
    out,
    formats,
    tables,
    strict = false,
    signal,
    progress
  } = run
  const listed = listedFiles(run.manifest)
  const context = new RunContext({
    dir,
    origin: studyOrigin(run),
    verified: new Map(listed.map(({ path, sha256 }) => [path, sha256])),
    signal,
    progress
  })
  const { sha256, bytes } = run.studyFile
  const studyFile = context.require({ path: STUDY_FILE, sha256, bytes })
  let earlier: readonly RecordedOutput[] = []
  const beforeCommit = async (): Promise<void> => {
    earlier = await retireRecord(out)
  }
  const outcome = await inTransaction(out, { signal, beforeCommit }, async set => {
    // 1. Sections
    const sections = await runSections(context, { study, set, pool, listed, tables })
    await writeConstants(
      context,
      set,
      merged(
        { histories: null, bars: null },
        sections.map(section => section.constants)
      )
    )
    const inputs = [studyFile, ...sections.flatMap(section => section.inputs)]
    refuseExcluded(run, new Set([...inputs.map(file => file.path), study.claims, study.article?.article, study.article?.notes]))
    // 2. Figures. They may use one thread more than the pool: the pool and this thread are idle meanwhile.
    const { drawFigures, planFigures } = await import('./drawing.js')
    const figures = await planFigures(
      merged<FigureSources>(
        {},
        sections.map(section => section.figures)
      ),
      formats
    )
    const pictures = await drawFigures(context, set, figures, { formats, threads: pool.threads + 1, manifest: context.origin.manifest })
    // 3. Audit and pages
    const { writeArticle } = await import('./article.js')
    const sectionInputs = sections.map(section => section.inputsOf)
    const audit = await writeArticle(context, study, set, { strict, figures, formats, pictures, revisions, inputs, listed, sectionInputs })
    return {
      audit,
      ...merged(
        NO_SECTION,
        sections.map(section => section.outcome)
      )
    }
  })
  // 4. Record
  const left = await writeRunRecord(out, { ...recordedOf(run), outputs: outcome.outputs }, earlier, pool)
  return { ...outcome, left }
}

/** The fields of all parts in one object; `none` gives those that no part states. */
function merged<T extends object>(none: T, parts: readonly Partial<T>[]): T {
  return Object.assign({}, none, ...parts) as T
}

/**
 * What the record says of a run. The settings' hash covers everything that decides the bytes of a study's outputs: its
 * manifest lists every input, the study file among them.
 */
function recordedOf(run: Pick<StudyRun, 'study' | 'manifest' | 'formats' | 'tables'>): Omit<FinishedRun, 'outputs'> {
  const { study, manifest, formats, tables } = run
  return {
    settingsSha256: settingsHash([study, manifest.manifest_sha256, tables], formats),
    origin: studyOrigin(run),
    inputs: listedFiles(manifest)
  }
}

/** The record of the last run into `out`, where nothing has changed that decides its outputs and all outputs are there; otherwise null. */
export function unchangedStudy(
  run: Pick<StudyRun, 'study' | 'manifest' | 'formats' | 'tables' | 'out' | 'pool'>
): Promise<RunRecord | null> {
  return unchangedOutputs(run.out, recordedOf(run), run.pool)
}

/** Writes the constants of figures; nothing for a study without figures of its own. */
async function writeConstants({ origin }: RunContext, set: OutputSet, constants: FigureConstants): Promise<void> {
  if ((constants.histories?.figures ?? []).length + (constants.bars?.requests ?? []).length === 0) return
  const { writeFigureConstants } = await import('../render/outputs/figure-documents.js')
  await writeFigureConstants(set, constants, origin)
}

/** Every file that was verified before the run. What a section, the check of a certificate or the audit reads is among them. */
function listedFiles({ files }: ManifestReport): HashedFile[] {
  return files.flatMap(({ path, status, expected }) => (status === 'ok' && expected !== null ? [{ path, ...expected }] : []))
}

/**
 * Refuses a run that read a file to which the manifest gives the role "excluded" although the study names it. A file that a
 * configuration inherits from is not named by the study, and a new manifest excludes it: it may be read.
 *
 * @throws Failures where such a file was read
 */
function refuseExcluded({ dir, manifest, study }: StudyRun, read: ReadonlySet<string | null | undefined>): void {
  const named = namedFiles(study)
  const roleOf = rolesOf(study, named)
  const contradicted = manifest.files.filter(({ path, role }) => role === 'excluded' && roleOf(path) !== 'excluded' && read.has(path))
  const faults = contradicted.map(
    ({ path }) =>
      new Fault({
        format: 'manifest',
        problem: 'excluded file read',
        found: 'the role "excluded"',
        expected: `another role${named.has(path) ? ' (manifest --write gives it one)' : ' in the manifest'}, or a study that does not read the file`,
        place: { file: join(dir, path) },
        exitCode: EXIT.checkFailed
      })
  )
  if (faults.length > 0) throw new Failures(faults)
}

/** What every output of the run says. */
export function studyOrigin({ study, manifest }: Pick<StudyRun, 'study' | 'manifest'>): Origin {
  return originOf(study.synthetic, { path: study.manifest, sha256: manifest.manifest_sha256, files: manifest.counts.ok })
}
