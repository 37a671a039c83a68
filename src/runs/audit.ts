/**
 * The audit of a run: the study's claims file against the JSON documents that the run wrote. The claims file is read here,
 * once, after everything is computed. No computation sees it.
 */
import { audit, type AuditSubject } from '../compute/audit/audit.js'
import type { AuditReport, PageText } from '../compute/audit/contract.js'
import type { HashedFile, Study } from '../schema/study.js'
import { readClaims } from '../study/claims.js'
import type { RunContext } from './context.js'

export interface Auditor {
  /** the claims file */
  readonly file: HashedFile
  /** @param pages the text of the article and of the notes; null: none were made */
  readonly judge: (pages: readonly PageText[] | null) => AuditReport
}

/** Null where the study names no claims file. @throws Fault for a claims file that cannot be read or was not verified */
export async function openAudit(
  context: RunContext,
  study: Study,
  subject: Omit<AuditSubject, 'synthetic' | 'unpublished' | 'pages'>
): Promise<Auditor | null> {
  if (study.claims === null) return null
  const { sha256, bytes, ...claims } = await readClaims(context.place(study.claims))
  const file = context.require({ path: study.claims, sha256, bytes })
  return {
    file,
    judge: pages => audit(claims, { ...subject, synthetic: study.synthetic, unpublished: study.article?.unpublished ?? [], pages })
  }
}
