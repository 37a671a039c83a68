/**
 * Contradictions among sources: what each source states, and whether the pages tell of it. A disclosure must stand on one
 * of the pages, its `{{reference}}` as a number that agrees with the referenced value to the precision printed (or as the
 * percentage of a fraction), or as the referenced text. A forbidden pattern must match on none, and no page may
 * print the mean of two numbers that contradict each other.
 */
import { printable } from '../../errors.js'
import type { Discrepancy, DiscrepancySource } from '../../schema/claims.js'
import type { Documents } from '../documents.js'
import { numbersAgree } from './agreement.js'
import { compare, findValue, shownValue } from './comparison.js'
import type { AuditedDiscrepancy, AuditedSource, PageText } from './contract.js'
import { hasPassage, matchesPattern, normalText, numbersIn, type Piece, type PrintedNumber } from './page-text.js'

interface NormalPage {
  readonly name: string
  readonly normal: string
  readonly numbers: readonly PrintedNumber[]
}

/** @param pages null: there are none yet, and only the sources are checked */
export function auditDiscrepancies(
  discrepancies: readonly Discrepancy[], documents: Documents, pages: readonly PageText[] | null
): AuditedDiscrepancy[] {
  const normal = pages?.map(({ name, text }) => {
    const normal = normalText(text)
    return { name, normal, numbers: numbersIn(normal) }
  }) ?? null
  return discrepancies.map(discrepancy => auditDiscrepancy(discrepancy, documents, normal))
}

function auditDiscrepancy(
  discrepancy: Discrepancy, documents: Documents, pages: readonly NormalPage[] | null
): AuditedDiscrepancy {
  const { id, section, chosen, decision } = discrepancy
  const sources = discrepancy.sources.map(source => auditSource(source, documents))
  const problems = [...sourceProblems(sources)]
  const where = (has: (page: NormalPage) => boolean): string[] => (pages ?? []).filter(has).map(page => page.name)

  const passage = passageOf(discrepancy.disclosure, documents)
  const disclosed = 'reason' in passage ? [] : where(page => hasPassage(page.normal, passage.pieces))
  if ('reason' in passage) problems.push(`the disclosure cannot be looked for: ${passage.reason}`)
  else if (pages !== null && disclosed.length === 0) problems.push(`no page says: ${printable(discrepancy.disclosure, 300)}`)

  const forbidden = discrepancy.forbidden.map(text => ({ text, found_in: where(page => matchesPattern(text, page.normal)) }))
  for (const { text, found_in } of forbidden) {
    if (found_in.length > 0) problems.push(`${found_in.join(', ')} has what it must not say: ${printable(text)}`)
  }
  const averages = !discrepancy.average_forbidden ? [] : averagesOf(sources).map(({ of, value, ends }) => (
    { of, value, found_in: where(page => page.numbers.some(n => isAverage(n, value, ends))) }
  ))
  for (const { of, value, found_in } of averages) {
    const both = of.map(label => printable(label)).join(' and ')
    if (found_in.length > 0) problems.push(`${found_in.join(', ')} has ${value}, the mean of ${both}`)
  }
  const status = problems.length > 0 ? 'fails' : pages === null ? 'not_checked' : 'holds'
  return {
    id, section, sources, chosen, decision,
    disclosure: { text: discrepancy.disclosure, found_in: disclosed },
    forbidden, averages, status, problems
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

/** The text of a disclosure, its references looked up. */
function passageOf(template: string, documents: Documents): { readonly pieces: readonly Piece[] } | { readonly reason: string } {
  const pieces: Piece[] = []
  // Every other part is what stood between braces.
  for (const [i, part] of template.split(/\{\{([^{}]*)\}\}/).entries()) {
    if (i % 2 === 0) {
      pieces.push({ literal: part })
      continue
    }
    const found = findValue(documents, part.split('|')[0].trim())
    if ('reason' in found) return found
    const { value } = found
    if (typeof value === 'object') return { reason: `${printable(part)} is a list` }
    pieces.push(typeof value === 'number' ? { fits: printed => prints(printed, value) } : { literal: String(value) })
  }
  return { pieces }
}

function prints({ value, decimals, percent }: PrintedNumber, computed: number): boolean {
  return agreesAt(value, computed, decimals) || (percent && agreesAt(value, computed * 100, decimals))
}

/** Decimals below 0 round to tens, hundreds …; such a number agrees as the tens, hundreds … do. */
function agreesAt(printed: number, computed: number, decimals: number): boolean {
  return decimals >= 0 ? numbersAgree(printed, computed, decimals) : Math.abs(printed - computed) <= 0.5 * 10 ** -decimals
}

interface Average {
  readonly of: readonly [string, string]
  readonly value: number
  readonly ends: readonly [number, number]
}

/** Means of two different numbers of different sources; of lists of one length, element by element. */
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
 * A printed number is taken for the mean when it agrees with it and with neither of the two, at the precision printed. A
 * whole number is never: too many of them stand on a page for other reasons.
 */
function isAverage({ value, decimals }: PrintedNumber, mean: number, ends: readonly [number, number]): boolean {
  return decimals >= 1 && numbersAgree(value, mean, decimals) && !ends.some(end => numbersAgree(value, end, decimals))
}
