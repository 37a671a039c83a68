/**
 * The audit of a study: compares what the study published with what its inputs give. The outputs are computed without
 * the claims file. Only this module brings the two together.
 */
import type { Claims } from '../../schema/claims.js'
import type { Documents } from '../documents.js'
import { auditClaim } from './claims.js'
import type { AuditReport, ClaimStatus, PageText, UnclaimedValue } from './contract.js'
import { auditDiscrepancies } from './discrepancies.js'
import { auditGuards } from './guards.js'
import type { InputsOf } from './provenance.js'
import { auditSame } from './same.js'
import { counted } from '../../core/counts.js'
import { unclaimedValues } from './unclaimed.js'

export interface AuditSubject {
  readonly synthetic: boolean
  readonly documents: Documents
  /** text of the article and of the notes on its evidence; null: no page exists yet */
  readonly pages: readonly PageText[] | null
  /** gives the inputs of outputs that do not state their own */
  readonly inputsOf?: InputsOf
  /** a value that a page cites and that no claim covers fails the audit */
  readonly strict?: boolean
  /** outputs of which no publication states a value: what a page cites of them needs no claim */
  readonly unpublished?: readonly string[]
}

/** A claims file may list no discrepancies. Without this note their removal would go unnoticed. */
const NO_DISCREPANCIES = 'no discrepancies listed: the prose was not searched for what it must and must not say'

export function audit(stated: Claims, subject: AuditSubject): AuditReport {
  const { claims, same, discrepancies, guards } = stated
  const { synthetic, documents, pages, inputsOf = () => [], strict = false, unpublished = [] } = subject
  const audited = claims.map(claim => auditClaim(claim, documents, inputsOf))
  const counts: Record<ClaimStatus, number> = { agrees: 0, differs: 0, not_computable: 0, source: 0, quoted: 0 }
  for (const { status } of audited) counts[status]++
  const cited = unclaimedValues(stated, pages)
  const isUnpublished = ({ reference }: UnclaimedValue): boolean => unpublished.includes(reference.slice(0, reference.indexOf('#')))
  const free = cited?.filter(isUnpublished).length ?? 0
  const notes = [
    ...(discrepancies.length === 0 ? [NO_DISCREPANCIES] : []),
    ...(free === 0 ? [] : [`${counted(free, 'value')} cited from outputs of which nothing is published: ${unpublished.join(', ')}`])
  ]
  return {
    synthetic,
    counts,
    claims: audited,
    same: auditSame(same, discrepancies, documents),
    discrepancies: auditDiscrepancies(discrepancies, documents, pages, audited),
    guards: auditGuards(guards, documents, pages, audited),
    unclaimed: cited?.filter(value => !isUnpublished(value)) ?? null,
    strict,
    notes
  }
}

/**
 * An audit passes when all of these hold: no claim differs, every claim can be computed, no two sources of one quantity
 * differ undisclosed, no discrepancy and no guard fails. A strict audit also needs a claim for every cited value.
 */
export function auditPasses({ counts, same, discrepancies, guards, unclaimed, strict }: AuditReport): boolean {
  return (
    counts.differs === 0 &&
    counts.not_computable === 0 &&
    [...same, ...discrepancies, ...guards].every(d => d.status !== 'fails') &&
    !(strict && unclaimed !== null && unclaimed.length > 0)
  )
}
