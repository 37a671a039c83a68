/** The first statement of both pages where the audit fails the run. It counts the same conditions as `auditPasses`. */
import type { AuditedClaim, AuditedDiscrepancy, AuditedGuard, AuditedSame } from '../../compute/audit/contract.js'
import { formatFigureCount, formatPlural } from '../figures/format.js'
import type { PageInputs } from './inputs.js'

export interface AuditFailure {
  /** one line: `The audit failed: 1 of 337 claims differs, 0 cannot be computed; 17 of 17 contradictions disclosed.` */
  readonly text: string
  /** the first failure and the table that has its row; null for a cited value, which has no row */
  readonly first: { readonly name: string; readonly row: string; readonly table: 'audit' | 'discrepancies' } | null
}

export function isWrong({ status }: Pick<AuditedClaim, 'status'>): boolean {
  return status === 'differs' || status === 'not_computable'
}

type JudgedInputs = Pick<PageInputs, 'claims' | 'same' | 'discrepancies' | 'guards' | 'unclaimed'>

/** Null where nothing fails. */
export function auditFailure({ claims, same = [], discrepancies, guards, unclaimed }: JudgedInputs): AuditFailure | null {
  const wrong = claims.find(isWrong)
  const contradictory = same.filter(({ status }) => status === 'fails')
  const contradiction = discrepancies.find(({ status }) => status === 'fails')
  const broken = guards.filter(({ status }) => status === 'fails')
  const text = `The audit failed: ${[
    claimsText(claims),
    ...(contradictory.length === 0
      ? []
      : [`${contradictory.length} of ${same.length} quantities of several sources contradictory and not disclosed`]),
    ...(discrepancies.length === 0 ? [] : [disclosedText(discrepancies)]),
    ...(broken.length === 0 ? [] : [`${formatFigureCount(broken.length)} of ${formatPlural(guards.length, 'guard')} not kept`]),
    ...(unclaimed.length === 0 ? [] : [`${formatPlural(unclaimed.length, 'cited value')} without a claim`])
  ].join('; ')}.`
  if (wrong !== undefined) return { text, first: { name: wrong.id, row: wrong.id, table: 'audit' } }
  if (contradictory.length > 0) return { text, first: { name: contradictory[0].id, row: sameRow(contradictory[0]), table: 'audit' } }
  if (contradiction !== undefined)
    return { text, first: { name: contradiction.id, row: discrepancyRow(contradiction), table: 'discrepancies' } }
  if (broken.length > 0) return { text, first: { name: broken[0].id, row: guardRow(broken[0]), table: 'discrepancies' } }
  return unclaimed.length > 0 ? { text, first: null } : null
}

/** Name of a discrepancy's row. The prefix distinguishes it from rows of claims. */
export function discrepancyRow({ id }: Pick<AuditedDiscrepancy, 'id'>): string {
  return `discrepancy-${id}`
}

/** Name of a guard's row. The prefix distinguishes it from rows of claims and discrepancies. */
export function guardRow({ id }: Pick<AuditedGuard, 'id'>): string {
  return `guard-${id}`
}

/** Name of the row of a quantity with several sources. */
export function sameRow({ id }: Pick<AuditedSame, 'id'>): string {
  return `same-${id}`
}

function claimsText(claims: readonly AuditedClaim[]): string {
  const count = (status: AuditedClaim['status']): number => claims.filter(claim => claim.status === status).length
  const differs = count('differs')
  return (
    `${formatFigureCount(differs)} of ${formatPlural(claims.length, 'claim')} ${differs === 1 ? 'differs' : 'differ'}, ` +
    `${formatFigureCount(count('not_computable'))} cannot be computed`
  )
}

/** A disclosed contradiction can still fail: a source states another value, or a page contains what it must not. */
function disclosedText(discrepancies: readonly AuditedDiscrepancy[]): string {
  const disclosed = discrepancies.filter(({ disclosure }) => disclosure.found_in.length > 0)
  const wrongly = disclosed.filter(({ status }) => status === 'fails').length
  return (
    `${formatFigureCount(disclosed.length)} of ${formatPlural(discrepancies.length, 'contradiction')} disclosed` +
    (wrongly === 0 ? '' : `, ${formatFigureCount(wrongly)} of them wrongly stated`)
  )
}
