/** Guards: sentences that the pages must or must not contain, where no sources contradict each other. */
import type { Guard } from '../../schema/claims.js'
import type { Documents } from '../documents.js'
import type { AuditedClaim, AuditedGuard, PageText } from './contract.js'
import { judgeSaid, normalPages, statusOf } from './said.js'

/** @param pages null: no page exists yet */
export function auditGuards(
  guards: readonly Guard[],
  documents: Documents,
  pages: readonly PageText[] | null,
  claims: readonly AuditedClaim[]
): AuditedGuard[] {
  const normal = pages === null ? null : normalPages(pages)
  return guards.map(({ id, section, reason, disclosure, forbidden }) => {
    const { problems, ...said } = judgeSaid({ disclosure, forbidden }, documents, normal, claims)
    return { id, section, reason, ...said, status: statusOf(problems, normal), problems }
  })
}
