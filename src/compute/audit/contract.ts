/**
 * The result of an audit: published values beside computed ones. It is plain data that
 * render reads. Its fields are described in schema/outputs/claims-audit.ts.
 */
import type { Provenance } from '../../schema/outputs/audited-claims.js'
import type { AuditedGuard, CitedValue } from '../../schema/outputs/audited-pages.js'
import type { ClaimsAuditDocument } from '../../schema/outputs/claims-audit.js'
import type { Content } from '../../schema/outputs/document.js'

export type { AuditedClaim, AuditedPair, AuditedSame, ClaimStatus, Provenance } from '../../schema/outputs/audited-claims.js'
export type { AuditedDiscrepancy, AuditedGuard, AuditedSource, CitedValue } from '../../schema/outputs/audited-pages.js'

export type InputHash = Provenance['inputs'][number]

/** What a page must say, and what none may. */
export type Said = Pick<AuditedGuard, 'disclosure' | 'forbidden'>

/** A cited value that no claim covers. */
export type UnclaimedValue = CitedValue

export interface AuditReport extends Omit<Content<ClaimsAuditDocument>, 'claims_file' | 'undefined_reasons'> {
  readonly synthetic: boolean
}

/** The visible text of a page, or a part of it. */
export interface PageText {
  /** name for readers, such as `article.md` */
  readonly name: string
  readonly text: string
  /** values that the page cites from outputs; absent where the page has no template */
  readonly cited?: readonly CitedValue[]
}
