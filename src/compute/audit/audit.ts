/**
 * The audit of a study: what it published against what its inputs give. The outputs are computed without the claims file;
 * the two meet here and nowhere else.
 */
import type { Claims } from '../../schema/claims.js'
import type { Documents } from '../documents.js'
import { auditClaim } from './claims.js'
import type { AuditReport, ClaimStatus, PageText } from './contract.js'
import { auditDiscrepancies } from './discrepancies.js'
import { auditGuards } from './guards.js'
import type { InputsOf } from './provenance.js'
import { auditSame } from './same.js'
import { unclaimedValues } from './unclaimed.js'

export interface AuditSubject {
  readonly synthetic: boolean
  readonly documents: Documents
  /** the text of the article and of the notes on its evidence; null: there are none yet */
  readonly pages: readonly PageText[] | null
  /** inputs of outputs that do not state theirs */
  readonly inputsOf?: InputsOf
  /** a value that a page cites and nothing published holds fails the audit */
  readonly strict?: boolean
}

/** A claims file may have none; that somebody removed them is not seen otherwise. */
const NO_DISCREPANCIES = 'no discrepancies listed: the prose was not searched for what it must and must not say'

export function audit(stated: Claims, subject: AuditSubject): AuditReport {
  const { claims, same, discrepancies, guards } = stated
  const { synthetic, documents, pages, inputsOf = () => [], strict = false } = subject
  const audited = claims.map(claim => auditClaim(claim, documents, inputsOf))
  const counts: Record<ClaimStatus, number> = { agrees: 0, differs: 0, not_computable: 0, source: 0, quoted: 0 }
  for (const { status } of audited) counts[status]++
  const notes = discrepancies.length === 0 ? [NO_DISCREPANCIES] : []
  return {
    synthetic, counts, claims: audited, same: auditSame(same, discrepancies, documents),
    discrepancies: auditDiscrepancies(discrepancies, documents, pages, audited),
    guards: auditGuards(guards, documents, pages, audited),
    unclaimed: unclaimedValues(stated, pages),
    strict, notes
  }
}

/** No claim differs or cannot be computed, no two sources differ undisclosed, no discrepancy and no guard fails, and, where it is strict, no cited value is without a claim. */
export function auditPasses({ counts, same, discrepancies, guards, unclaimed, strict }: AuditReport): boolean {
  return counts.differs === 0 && counts.not_computable === 0 && [...same, ...discrepancies, ...guards].every(d => d.status !== 'fails') &&
    !(strict && unclaimed !== null && unclaimed.length > 0)
}
