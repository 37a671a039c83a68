/**
 * Contradictions among sources: reports what each source states, and checks that the pages disclose the contradiction
 * (said.ts). No page may print the mean of two numbers that contradict each other.
 */
import { printable } from '../../core/errors.js'
import type { Discrepancy, DiscrepancySource } from '../../schema/claims.js'
import type { Documents } from '../documents.js'
import { numbersAgree } from './agreement.js'
import { compare, findValue, shownValue } from './comparison.js'
import type { AuditedClaim, AuditedDiscrepancy, AuditedSource, PageText } from './contract.js'
import type { PrintedNumber } from './page-text.js'
import { judgeSaid, normalPages, pagesWith, statusOf, type NormalPage } from './said.js'

/** @param pages null: no page exists yet, and only the sources are checked */
export function auditDiscrepancies(
  discrepancies: readonly Discrepancy[],
  documents: Documents,
  pages: readonly PageText[] | null,
  claims: readonly AuditedClaim[]
): AuditedDiscrepancy[] {
  const normal = pages === null ? null : normalPages(pages)
  return discrepancies.map(discrepancy => auditDiscrepancy(discrepancy, documents, normal, claims))
}

function auditDiscrepancy(
  discrepancy: Discrepancy,
  documents: Documents,
  pages: readonly NormalPage[] | null,
  claims: readonly AuditedClaim[]
): AuditedDiscrepancy {
  const { id, section, chosen, decision, disclosure: text } = discrepancy
  const sources = discrepancy.sources.map(source => auditSource(source, documents))
  const { disclosure, forbidden, problems: unsaid } = judgeSaid(discrepancy, documents, pages, claims)
  const problems = [...sourceProblems(sources), ...unsaid]
  const averages = !discrepancy.average_forbidden
    ? []
    : averagesOf(sources).map(({ of, value, ends }) => ({
        of,
        value,
        found_in: pagesWith(pages, page => page.numbers.some(n => isAverage(n, value, ends)))
      }))
  for (const { of, value, found_in } of averages) {
    const both = of.map(label => printable(label)).join(' and ')
    if (found_in.length > 0) problems.push(`${found_in.join(', ')} has ${value}, the mean of ${both}`)
  }
  return {
    id,
    section,
    sources,
    chosen,
    decision,
    disclosure: disclosure ?? { text, found_in: [] },
    forbidden,
    averages,
    status: statusOf(problems, pages),
    problems
  }
}

function auditSource({ label, value: stated, decimals, reference }: DiscrepancySource, documents: Documents): AuditedSource {
  if (reference === null) return { label, value: stated, stated, reference, status: 'stated', reason: null }
  const found = findValue(documents, reference)
  if (stated !== null) {
    const { status, computed, reason } = compare({ value: stated, decimals }, found)
    return { label, value: computed ?? stated, stated, reference, status, reason }
  }
  if ('reason' in found) return { label, value: null, stated, reference, status: 'not_computable', reason: found.reason }
  return { label, value: found.value, stated, reference, status: 'found', reason: null }
}

function* sourceProblems(sources: readonly AuditedSource[]): Generator<string> {
  for (const { label, status, reason } of sources) {
    if (status === 'differs' || status === 'not_computable') yield `${printable(label)}: ${reason}`
  }
  const shown = sources.flatMap(({ value }) => (value === null ? [] : [shownValue(value)]))
  if (shown.length > 1 && shown.length === sources.length && new Set(shown).size === 1) {
    yield `the sources all state ${shown[0]}: there is no contradiction to disclose`
  }
}

interface Average {
  readonly of: readonly [string, string]
  readonly value: number
  readonly ends: readonly [number, number]
}

/** Means of two different numbers from different sources. Lists of equal length are paired element by element. */
function averagesOf(sources: readonly AuditedSource[]): Average[] {
  const averages: Average[] = []
  for (const [i, one] of sources.entries()) {
    for (const other of sources.slice(i + 1)) {
      const [a, b] = [numbersOf(one), numbersOf(other)]
      if (a.length !== b.length) continue
      for (const [k, x] of a.entries()) {
        const y = b[k]
        if (x !== y) averages.push({ of: [one.label, other.label], value: x / 2 + y / 2, ends: [x, y] })
      }
    }
  }
  return averages
}

function numbersOf({ value }: AuditedSource): readonly number[] {
  return [value].flat().filter(v => typeof v === 'number')
}

/**
 * A printed number counts as the mean when, at its printed precision, it agrees with the mean and with neither of the
 * two numbers. A whole number never counts, because pages hold many whole numbers for other reasons.
 */
function isAverage({ value, decimals }: PrintedNumber, mean: number, ends: readonly [number, number]): boolean {
  return decimals >= 1 && numbersAgree(value, mean, decimals) && !ends.some(end => numbersAgree(value, end, decimals))
}
