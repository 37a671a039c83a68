/**
 * Compares one quantity that several sources state, pair by pair. A pair that differs is a contradiction. A discrepancy
 * of the claims file discloses it by naming both references among its sources. A contradiction that no discrepancy
 * names fails the audit.
 */
import { printable } from '../../core/errors.js'
import type { Discrepancy, SameQuantity } from '../../schema/claims.js'
import type { Documents } from '../documents.js'
import { scalarsAgree } from './agreement.js'
import { findValue, shownValue, type ComputedValue } from './comparison.js'
import type { AuditedPair, AuditedSame } from './contract.js'

export function auditSame(same: readonly SameQuantity[], discrepancies: readonly Discrepancy[], documents: Documents): AuditedSame[] {
  return same.map(quantity => auditQuantity(quantity, discrepancies, documents))
}

interface StatedSource {
  readonly label: string
  readonly reference: string
  readonly found: ComputedValue
}

function auditQuantity(quantity: SameQuantity, discrepancies: readonly Discrepancy[], documents: Documents): AuditedSame {
  const { id, section, definition, decimals } = quantity
  const stated = quantity.sources.map(
    ({ label, reference, scale }): StatedSource => ({ label, reference, found: findValue(documents, reference, scale) })
  )
  const pairs = stated.flatMap((one, i) => stated.slice(i + 1).map(other => auditPair(one, other, decimals, discrepancies)))
  const unknown = stated.flatMap(({ label, found }) => ('reason' in found ? [`${printable(label)}: ${found.reason}`] : []))
  const contradictions = pairs.flatMap(({ of, status }) => {
    if (status !== 'differs') return []
    const [one, other] = of.map(label => `${printable(label)} has ${shownAt(stated, label)}`)
    return [`${one}, ${other}, and no discrepancy discloses it`]
  })
  const problems = [...unknown, ...contradictions]
  const status = problems.length > 0 ? 'fails' : pairs.some(pair => pair.status === 'disclosed') ? 'disclosed' : 'agrees'
  return {
    id,
    section,
    definition,
    decimals,
    sources: stated.map(({ label, reference, found }) => ({
      label,
      reference,
      value: 'reason' in found ? null : found.value,
      reason: 'reason' in found ? found.reason : null
    })),
    pairs,
    status,
    problems
  }
}

function shownAt(stated: readonly StatedSource[], label: string): string {
  const found = stated.find(one => one.label === label)?.found
  return found === undefined || 'reason' in found ? 'nothing' : shownValue(found.value)
}

function auditPair(one: StatedSource, other: StatedSource, decimals: number | null, discrepancies: readonly Discrepancy[]): AuditedPair {
  const of = [one.label, other.label] as const
  if ('reason' in one.found || 'reason' in other.found) return { of, status: 'not_computable', discrepancy: null }
  const [a, b] = [one.found.value, other.found.value].map(value => [value].flat())
  if (a.length === b.length && a.every((value, i) => scalarsAgree(value, b[i], decimals)))
    return { of, status: 'agrees', discrepancy: null }
  const named = discrepancies.find(({ sources }) => {
    const [x, y] = [one, other].map(({ reference }) => sources.find(source => source.reference === reference))
    // A discrepancy that states the same value for both sources does not disclose their contradiction.
    return x !== undefined && y !== undefined && (x.value === null || y.value === null || shownValue(x.value) !== shownValue(y.value))
  })
  return { of, status: named === undefined ? 'differs' : 'disclosed', discrepancy: named?.id ?? null }
}
