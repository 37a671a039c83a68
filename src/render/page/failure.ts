/** What both pages say first where the audit fails the run: the same condition as `auditPasses`, counted. */
import type { AuditedClaim, AuditedDiscrepancy, AuditedSame } from '../../compute/audit/contract.js'
import { formatCount, formatPlural } from '../figures/format.js'
import type { PageInputs } from './inputs.js'

export interface AuditFailure {
  /** one line: `The audit failed: 1 of 265 claims differs, 0 cannot be computed; 17 of 17 contradictions disclosed.` */
  readonly text: string
  /** the first that fails, and the table that has a row for it */
  readonly first: { readonly name: string; readonly row: string; readonly table: 'audit' | 'discrepancies' }
}

export function isWrong({ status }: Pick<AuditedClaim, 'status'>): boolean {
  return status === 'differs' || status === 'not_computable'
}

/** Null where nothing fails. */
export function auditFailure({ claims, same = [], discrepancies }: Pick<PageInputs, 'claims' | 'same' | 'discrepancies'>): AuditFailure | null {
  const wrong = claims.find(isWrong)
  const contradictory = same.filter(({ status }) => status === 'fails')
  const failing = discrepancies.find(({ status }) => status === 'fails')
  const contradicted = contradictory.length === 0 ? '' : `; ${contradictory.length} of ${same.length} quantities of several sources contradictory and not disclosed`
  const text = `The audit failed: ${claimsText(claims)}${contradicted}${discrepancies.length === 0 ? '' : `; ${disclosedText(discrepancies)}`}.`
  if (wrong !== undefined) return { text, first: { name: wrong.id, row: wrong.id, table: 'audit' } }
  if (contradictory.length > 0) return { text, first: { name: contradictory[0].id, row: sameRow(contradictory[0]), table: 'audit' } }
  if (failing === undefined) return null
  return { text, first: { name: failing.id, row: discrepancyRow(failing), table: 'discrepancies' } }
}

/** Name of a discrepancy's row, apart from those of claims. */
export function discrepancyRow({ id }: Pick<AuditedDiscrepancy, 'id'>): string {
  return `discrepancy-${id}`
}

/** Name of the row of a quantity of several sources. */
export function sameRow({ id }: Pick<AuditedSame, 'id'>): string {
  return `same-${id}`
}

function claimsText(claims: readonly AuditedClaim[]): string {
  const count = (status: AuditedClaim['status']): number => claims.filter(claim => claim.status === status).length
  const differs = count('differs')
  return `${formatCount(differs)} of ${formatPlural(claims.length, 'claim')} ${differs === 1 ? 'differs' : 'differ'}, ` +
    `${formatCount(count('not_computable'))} cannot be computed`
}

/** What stands on a page may fail all the same: a source states another value, or a page says what it must not. */
function disclosedText(discrepancies: readonly AuditedDiscrepancy[]): string {
  const disclosed = discrepancies.filter(({ disclosure }) => disclosure.found_in.length > 0)
  const wrongly = disclosed.filter(({ status }) => status === 'fails').length
  return `${formatCount(disclosed.length)} of ${formatPlural(discrepancies.length, 'contradiction')} disclosed` +
    (wrongly === 0 ? '' : `, ${formatCount(wrongly)} of them wrongly stated`)
}
