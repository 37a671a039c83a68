/**
 * What a study says in words, and the audit of what it publishes: the claims against the documents that the run wrote, the
 * prose against the contradictions that it must disclose, then the pages.
 *
 *     documents ──► audit without prose ──► templates filled ──► audit of claims and prose ──► audit.json
 *     figures   ────────────────────────────────┴─────────────────────┴──► article.md, source-notes.md, preview/*.html
 */
import { join } from 'node:path'
import { auditRun, inputsOfRun, type AuditRun, type StudyAudit } from './audit.js'
import type { AuditReport } from '../compute/audit/contract.js'
import { Documents } from '../compute/documents.js'
import { Fault } from '../core/errors.js'
import { readStableFile } from '../core/file.js'
import { requireVerified } from '../core/verified.js'
import { refuseSecrets } from '../core/secret-guard.js'
import type { FigureConfig, FigureFormat } from '../render/figures/config.js'
import { writeAudit } from '../render/outputs/audit-document.js'
import { AUDIT_PATH, OUTPUT_PATHS } from '../render/outputs/output-names.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { PageFigure, ProseInputs, Template } from '../render/page/index.js'
import type { HashedFile } from './record.js'
import type { VerifiedManifest } from '../schema/study.js'
import { EVIDENCE_DOCUMENTS } from '../schema/outputs.js'
import { GENERATOR } from '../core/version.js'

export interface ArticleRun extends Pick<AuditRun, 'dir' | 'study' | 'verified' | 'measured' | 'strict'> {
  /** everything that the run draws, whether it was drawn or not */
  readonly figures: readonly FigureConfig[]
  readonly formats: readonly FigureFormat[]
  readonly manifest: VerifiedManifest
  /** of the code that made the inputs, as the manifest states them */
  readonly revisions: { readonly [name: string]: unknown }
  /** bytes of the pictures by figure name; pages are made only where each figure has one */
  readonly pngs: ReadonlyMap<string, Uint8Array>
  /** files that the sections read into what they state */
  readonly inputs: readonly HashedFile[]
  /** every file that was verified before the run */
  readonly listed: readonly HashedFile[]
}

/**
 * Writes the audit, and the pages where there are pictures for them, into a set that the caller commits.
 *
 * @returns the audit; null where the study names no claims file
 */
export async function writeArticle(set: OutputSet, run: ArticleRun): Promise<AuditReport | null> {
  const { dir, study, verified, measured, strict, manifest } = run
  const origin = { synthetic: study.synthetic, manifest, generator: GENERATOR }
  const documents = new Documents(set.jsonTexts)
  const audited = (pages: AuditRun['pages']): Promise<StudyAudit | null> => auditRun({ dir, study, verified, documents, pages, measured, strict })
  const inputs: HashedFile[] = []
  const first = await audited(null)
  if (first !== null) inputs.push({ path: first.origin.path, sha256: first.origin.sha256, bytes: first.origin.bytes })
  if (study.article === null) {
    if (first !== null) await writeAudit(set, first.report, first.origin, origin)
    return first?.report ?? null
  }
  const { proseTexts, writePages, PAGE_OUTPUTS } = await import('../render/page/index.js')
  const template = (path: string): Template => {
    const { bytes, sha256 } = readStableFile(join(dir, path), 'template')
    inputs.push(requireVerified(dir, { path, sha256, bytes: bytes.length }, verified))
    const text = utf8(bytes, join(dir, path))
    refuseSecrets(text, 'template', { file: join(dir, path) })
    return { path, text }
  }
  const prose: ProseInputs = {
    templates: { article: template(study.article.article), notes: template(study.article.notes) },
    documents,
    inputsOf: inputsOfRun({ verified, documents, measured }),
    claims: first?.report.claims ?? [],
    discrepancies: first?.report.discrepancies ?? [],
    figures: run.figures.map(figure => pageFigure(figure, run)),
    outputs: [...set.paths, AUDIT_PATH, ...PAGE_OUTPUTS]
  }
  const second = await audited(proseTexts(prose))
  if (second !== null) await writeAudit(set, second.report, second.origin, origin)
  const read = [...run.inputs, ...inputs]
  if (run.figures.every(({ name }) => run.pngs.has(name))) {
    await writePages(set, {
      ...prose,
      claims: second?.report.claims ?? [],
      same: second?.report.same ?? [],
      discrepancies: second?.report.discrepancies ?? [],
      guards: second?.report.guards ?? [],
      unclaimed: second?.report.strict === true ? second.report.unclaimed ?? [] : [],
      study: { name: study.name, synthetic: study.synthetic },
      manifest,
      revisions: run.revisions,
      generator: GENERATOR,
      inputs: read,
      excluded: run.listed.filter(({ path }) => read.every(file => file.path !== path))
    })
  }
  return second?.report ?? null
}

function utf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Fault({ format: 'template', problem: 'wrong encoding', found: 'bytes that are not UTF-8', expected: 'UTF-8', place: { file }, cause })
  }
}

function pageFigure({ name, title, description }: FigureConfig, run: ArticleRun): PageFigure {
  return {
    name, title, description,
    png: run.pngs.get(name) ?? new Uint8Array(0),
    files: run.formats.map(format => `figures/${name}.${format}`),
    data: dataOf(name, run)
  }
}

/** The outputs that hold what a figure draws. */
function dataOf(name: string, { study }: ArticleRun): string[] {
  if (study.evidence?.figures.some(figure => figure.name === name) === true) return [EVIDENCE_DOCUMENTS.data, EVIDENCE_DOCUMENTS.derived]
  const request = study.histories?.figures.find(figure => figure.name === name)
  const outputs = study.histories?.analyses.find(analysis => analysis.name === request?.analysis)?.outputs
  if (outputs === undefined) return [OUTPUT_PATHS.trajectories, OUTPUT_PATHS.arrow]
  return [outputs.points ?? outputs.observations, outputs.statistics].filter(path => path !== null)
}
