/**
 * The audit of a run: the study's claims file against the JSON documents that the run wrote. Nothing that computes sees
 * the claims file; it is read here, when everything is computed.
 */
import { join } from 'node:path'
import { audit } from '../compute/audit/audit.js'
import type { AuditReport, InputHash, PageText } from '../compute/audit/contract.js'
import type { InputsOf } from '../compute/audit/provenance.js'
import { parseReference, pointerTokens, type Documents } from '../compute/documents.js'
import { readClaims } from '../study/claims.js'
import { STUDY_FILE } from '../study/study.js'
import type { Study } from '../schema/study.js'
import { requireVerified } from '../core/verified.js'
import type { MeasuredHistories } from './histories.js'
import type { AuditOrigin } from '../render/outputs/audit-document.js'
import { OUTPUT_PATHS } from '../render/outputs/output-names.js'
import { EVIDENCE_DOCUMENTS, FIGURE_CONSTANTS } from '../schema/outputs.js'

export interface AuditRun {
  /** the study's folder */
  readonly dir: string
  readonly study: Study
  /** SHA-256 by path relative to the study, as verified before: what is read must be what was verified */
  readonly verified: ReadonlyMap<string, string>
  /** the JSON outputs of this run */
  readonly documents: Documents
  /** the text of the article and of the notes; null: none were made */
  readonly pages: readonly PageText[] | null
  /** asked for, whatever the study says */
  readonly strict: boolean
  /** what was measured, for the inputs of each value */
  readonly measured: { readonly snapshot: { readonly inputs: readonly InputHash[] } | null; readonly histories: MeasuredHistories | null }
}

export interface StudyAudit {
  readonly report: AuditReport
  readonly origin: AuditOrigin
}

/** Null where the study names no claims file. @throws Fault for a claims file that cannot be read or was not verified */
export async function auditRun(run: AuditRun): Promise<StudyAudit | null> {
  const { dir, study, verified, documents, pages } = run
  if (study.claims === null) return null
  const file = join(dir, study.claims)
  const { claims, same, discrepancies, guards, sha256, bytes } = await readClaims(file)
  requireVerified(dir, { path: study.claims, sha256, bytes }, verified)
  const strict = run.strict || study.article?.strict === true
  const subject = { synthetic: study.synthetic, documents, pages, inputsOf: inputsOfRun(run), strict }
  return { report: audit({ claims, same, discrepancies, guards }, subject), origin: { path: study.claims, sha256, bytes } }
}

/** Of critic traces: what repeats a setting of the study, and what follows from one. */
const SETTING = /^\/(?:threshold|success_threshold|end_marker)$/
const BY_SETTING = /jump|end_marker|^\/examples|^\/exceptions|score_agrees/

/**
 * Quotations stand in the study file alone, and so do settings that an output repeats. Statistics do not list their inputs:
 * those of critic traces come from the snapshot, its page and the NPZ files of its traces, some of them with the study's
 * settings; those of histories from the runs of the selection that the pointer goes into, or else from all of the analysis.
 */
export function inputsOfRun({ documents, verified, measured: { snapshot, histories } }: Omit<AuditRun, 'pages' | 'dir' | 'study' | 'strict'>): InputsOf {
  const ofTraces = new Set<string>([OUTPUT_PATHS.statistics, OUTPUT_PATHS.audit])
  const ofSnapshot = (snapshot?.inputs ?? []).map(({ path, sha256 }) => ({ path, sha256 }))
  const studySha256 = verified.get(STUDY_FILE)
  const study = studySha256 === undefined ? [] : [{ path: STUDY_FILE, sha256: studySha256 }]
  return reference => {
    const pointed = parseReference(reference)
    if (pointed === null) return []
    const quoted = pointed.file === EVIDENCE_DOCUMENTS.data && documents.enclosing(reference).some(object => object['source'] === 'quoted')
    // What figures draw as the study has it; what they take from elsewhere is stated there as an operand.
    if (quoted || pointed.file === FIGURE_CONSTANTS) return study
    if (ofTraces.has(pointed.file)) {
      if (SETTING.test(pointed.pointer)) return study
      return BY_SETTING.test(pointed.pointer) ? [...study, ...ofSnapshot] : ofSnapshot
    }
    const analysis = histories?.analyses.find(({ analysis: { outputs } }) => (
      outputs.statistics === pointed.file || outputs.time_display === pointed.file
    ))?.analysis
    if (histories === null || analysis === undefined) return []
    const [section, name] = pointerTokens(pointed.pointer)
    return historyInputs(histories, section === 'selections' ? [name] : analysis.selections)
  }
}

function historyInputs({ selections, inputs }: MeasuredHistories, names: readonly string[]): InputHash[] {
  const runs = new Set(names.flatMap(name => selections.get(name)?.sessions.map(session => session.run) ?? []))
  return inputs
    .filter(({ path }, i) => i === 0 || runs.has(path.slice(path.lastIndexOf('/') + 1).replace(/\.jsonl(?:\.gz)?$/, '')))
    .map(({ path, sha256 }) => ({ path, sha256 }))
}
