/** `audit.json`: every published value beside the computed one. The schema is docs/schemas/claims-audit.schema.json. */
import type {
  AuditedClaim,
  AuditedDiscrepancy,
  AuditedGuard,
  AuditedSame,
  AuditReport,
  UnclaimedValue
} from '../../compute/audit/contract.js'
import type { ClaimsAuditDocument } from '../../schema/outputs/claims-audit.js'
import { envelope } from './documents.js'
import { jsonText } from './json-text.js'
import type { FileSummary } from './output-file.js'
import { AUDIT_PATH, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'
import type { HashedFile } from '../../schema/study.js'

/** @param claimsFile the claims file that was audited */
export function auditDocument(report: AuditReport, claimsFile: HashedFile, origin: Origin): ClaimsAuditDocument {
  const { agrees, differs, not_computable, source, quoted } = report.counts
  return {
    ...envelope('claims-audit', origin),
    claims_file: { path: claimsFile.path, sha256: claimsFile.sha256 },
    counts: { agrees, differs, not_computable, source, quoted },
    claims: report.claims.map(claimEntry),
    same: report.same.map(sameEntry),
    discrepancies: report.discrepancies.map(discrepancyEntry),
    guards: report.guards.map(guardEntry),
    unclaimed: report.unclaimed?.map(unclaimedEntry) ?? null,
    strict: report.strict,
    notes: report.notes,
    undefined_reasons: report.unclaimed === null ? { '/unclaimed': 'no page was made of templates: nothing is cited' } : {}
  }
}

function claimEntry(claim: AuditedClaim): AuditedClaim {
  const { id, published, computed, unit, decimals, kind, section, definition, from, status, difference, reason, at } = claim
  return {
    id,
    published,
    computed,
    unit,
    decimals,
    kind,
    section,
    definition,
    from,
    status,
    difference,
    reason,
    at,
    provenance: claim.provenance.map(({ file, pointer, sha256, inputs }) => ({
      file,
      pointer,
      sha256,
      inputs: inputs.map(({ path, sha256 }) => ({ path, sha256 }))
    }))
  }
}

function sameEntry({ id, section, definition, decimals, sources, pairs, status, problems }: AuditedSame): AuditedSame {
  return {
    id,
    section,
    definition,
    decimals,
    sources: sources.map(({ label, reference, value, reason }) => ({ label, reference, value, reason })),
    pairs: pairs.map(({ of, status, discrepancy }) => ({ of, status, discrepancy })),
    status,
    problems
  }
}

function discrepancyEntry(discrepancy: AuditedDiscrepancy): AuditedDiscrepancy {
  const { id, section, sources, chosen, decision, disclosure, forbidden, averages, status, problems } = discrepancy
  return {
    id,
    section,
    sources: sources.map(({ label, value, stated, reference, status, reason }) => ({ label, value, stated, reference, status, reason })),
    chosen,
    decision,
    disclosure: { text: disclosure.text, found_in: disclosure.found_in },
    forbidden: forbidden.map(({ text, found_in }) => ({ text, found_in })),
    averages: averages.map(({ of, value, found_in }) => ({ of, value, found_in })),
    status,
    problems
  }
}

function guardEntry({ id, section, reason, disclosure, forbidden, status, problems }: AuditedGuard): AuditedGuard {
  return {
    id,
    section,
    reason,
    disclosure: disclosure === null ? null : { text: disclosure.text, found_in: disclosure.found_in },
    forbidden: forbidden.map(({ text, found_in }) => ({ text, found_in })),
    status,
    problems
  }
}

function unclaimedEntry({ file, line, column, reference, text }: UnclaimedValue): UnclaimedValue {
  return { file, line, column, reference, text }
}

export function auditText(report: AuditReport, claimsFile: HashedFile, origin: Origin): string {
  return jsonText(auditDocument(report, claimsFile, origin))
}

export function writeAudit(set: OutputSet, report: AuditReport, claimsFile: HashedFile, origin: Origin): Promise<FileSummary> {
  return set.write(AUDIT_PATH, auditText(report, claimsFile, origin))
}
