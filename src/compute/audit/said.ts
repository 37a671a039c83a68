/**
 * What the pages say: a disclosure that must stand on one of them, its `{{reference}}` as a number that agrees with the
 * referenced value to the precision printed (or as the percentage of a fraction), or as the referenced text; and patterns
 * that must match on none.
 */
import { printable } from '../../core/errors.js'
import type { Documents } from '../documents.js'
import { numbersAgree } from './agreement.js'
import { findValue } from './comparison.js'
import type { AuditedClaim, PageText, Said } from './contract.js'
import { hasPassage, matchesPattern, normalText, numbersIn, type Piece, type PrintedNumber } from './page-text.js'

export interface NormalPage {
  readonly name: string
  readonly normal: string
  readonly numbers: readonly PrintedNumber[]
}

export function normalPages(pages: readonly PageText[]): readonly NormalPage[] {
  return pages.map(({ name, text }) => {
    const normal = normalText(text)
    return { name, normal, numbers: numbersIn(normal) }
  })
}

/** Names of the pages that have something. */
export function pagesWith(pages: readonly NormalPage[] | null, has: (page: NormalPage) => boolean): string[] {
  return (pages ?? []).filter(has).map(page => page.name)
}

interface Asked {
  /** null: nothing must be said */
  readonly disclosure: string | null
  readonly forbidden: readonly string[]
}

/**
 * @param pages null: there are none yet
 * @param claims of the same audit: one that differs can be why a disclosure is not found
 */
export function judgeSaid(
  { disclosure, forbidden }: Asked, documents: Documents, pages: readonly NormalPage[] | null, claims: readonly AuditedClaim[]
): Said & { readonly problems: readonly string[] } {
  const problems: string[] = []
  const passage = disclosure === null ? null : passageOf(disclosure, documents)
  const disclosed = passage === null || 'reason' in passage ? [] : pagesWith(pages, page => hasPassage(page.normal, passage.pieces))
  if (passage !== null && 'reason' in passage) problems.push(`the disclosure cannot be looked for: ${passage.reason}`)
  else if (disclosure !== null && pages !== null && disclosed.length === 0) problems.push(`no page says: ${printable(disclosure, 300)}${otherValue(disclosure, pages, claims)}`)
  const found = forbidden.map(text => ({ text, found_in: pagesWith(pages, page => matchesPattern(text, page.normal)) }))
  for (const { text, found_in } of found) {
    if (found_in.length > 0) problems.push(`${found_in.join(', ')} has what it must not say: ${printable(text)}`)
  }
  return { disclosure: disclosure === null ? null : { text: disclosure, found_in: disclosed }, forbidden: found, problems }
}

export function statusOf(problems: readonly string[], pages: readonly NormalPage[] | null): 'holds' | 'fails' | 'not_checked' {
  return problems.length > 0 ? 'fails' : pages === null ? 'not_checked' : 'holds'
}

/** Every other part is what stood between braces. */
const BRACES = /\{\{([^{}]*)\}\}/

/** A clause for a sentence that a page has with another value, because a claim over a value of it differs; else nothing. */
function otherValue(template: string, pages: readonly NormalPage[], claims: readonly AuditedClaim[]): string {
  const parts = template.split(BRACES)
  const references = parts.flatMap((part, i) => (i % 2 === 0 ? [] : [referenceOf(part)]))
  const differing = claims.find(({ status, from }) => status === 'differs' && from.some(reference => references.includes(reference)))
  const words = parts.filter((_, i) => i % 2 === 0).map(normalText)
  const isThere = pages.some(({ normal }) => words.every((part, i) => normal.includes(part, i === 0 ? 0 : normal.indexOf(words[i - 1]))))
  return differing !== undefined && isThere ? `; its words are there, with another value: claim ${differing.id} differs` : ''
}

function referenceOf(part: string): string {
  return part.split('|')[0].trim()
}

/** The text of a disclosure, its references looked up. */
function passageOf(template: string, documents: Documents): { readonly pieces: readonly Piece[] } | { readonly reason: string } {
  const pieces: Piece[] = []
  for (const [i, part] of template.split(BRACES).entries()) {
    if (i % 2 === 0) {
      pieces.push({ literal: part })
      continue
    }
    const found = findValue(documents, referenceOf(part))
    if ('reason' in found) return found
    const { value } = found
    if (typeof value === 'object') return { reason: `${printable(part)} is a list` }
    pieces.push(typeof value === 'number' ? { fits: printed => prints(printed, value) } : { literal: String(value) })
  }
  return { pieces }
}

/** Whether a printed number is a value, to the decimals printed, or its percentage where a percent sign stands behind it. */
function prints({ value, decimals, percent }: PrintedNumber, computed: number): boolean {
  return agreesAt(value, computed, decimals) || (percent && agreesAt(value, computed * 100, decimals))
}

/** Decimals below 0 round to tens, hundreds …; such a number agrees as the tens, hundreds … do. */
function agreesAt(printed: number, computed: number, decimals: number): boolean {
  return decimals >= 0 ? numbersAgree(printed, computed, decimals) : Math.abs(printed - computed) <= 0.5 * 10 ** -decimals
}
