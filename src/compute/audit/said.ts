/**
 * Checks what the pages say. Some page must contain the disclosure, and no page may match a forbidden pattern. A
 * `{{reference}}` in a disclosure stands for the referenced value: a text as it is, a number as any printed number that
 * agrees with it at the printed precision. A printed percentage may also agree with 100 times the value.
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

/** Names of the pages for which `has` is true. */
export function pagesWith(pages: readonly NormalPage[] | null, has: (page: NormalPage) => boolean): string[] {
  return (pages ?? []).filter(has).map(page => page.name)
}

interface AskedSentences {
  /** null: nothing must be said */
  readonly disclosure: string | null
  readonly forbidden: readonly string[]
}

/**
 * @param pages null: no page exists yet
 * @param claims claims of the same audit: a differing one can explain why a disclosure is not found
 */
export function judgeSaid(
  { disclosure, forbidden }: AskedSentences,
  documents: Documents,
  pages: readonly NormalPage[] | null,
  claims: readonly AuditedClaim[]
): Said & { readonly problems: readonly string[] } {
  const problems: string[] = []
  const passage = disclosure === null ? null : passageOf(disclosure, documents)
  const disclosed = passage === null || 'reason' in passage ? [] : pagesWith(pages, page => hasPassage(page.normal, passage.pieces))
  if (passage !== null && 'reason' in passage) problems.push(`the disclosure cannot be looked for: ${passage.reason}`)
  else if (disclosure !== null && pages !== null && disclosed.length === 0)
    problems.push(`no page says: ${printable(disclosure, 300)}${otherValue(disclosure, pages, claims)}`)
  const found = forbidden.map(text => ({ text, found_in: pagesWith(pages, page => matchesPattern(text, page.normal)) }))
  for (const { text, found_in } of found) {
    if (found_in.length > 0) problems.push(`${found_in.join(', ')} has what it must not say: ${printable(text)}`)
  }
  return { disclosure: disclosure === null ? null : { text: disclosure, found_in: disclosed }, forbidden: found, problems }
}

export function statusOf(problems: readonly string[], pages: readonly NormalPage[] | null): 'holds' | 'fails' | 'not_checked' {
  return problems.length > 0 ? 'fails' : pages === null ? 'not_checked' : 'holds'
}

/** Splits a template. Every second part is the content of braces. */
const BRACES = /\{\{([^{}]*)\}\}/

/**
 * A clause for a disclosure whose words a page has with another value, because a claim on that value differs. Empty
 * otherwise.
 */
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

/** The pieces of a disclosure, with the values of its references. */
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

/**
 * Whether a printed number agrees with a value at the printed precision. A number with a percent sign may agree with
 * 100 times the value.
 */
function prints({ value, decimals, percent }: PrintedNumber, computed: number): boolean {
  return agreesAt(value, computed, decimals) || (percent && agreesAt(value, computed * 100, decimals))
}

/** Negative decimals mean rounding to tens, hundreds and so on. The tolerance is then half of that unit. */
function agreesAt(printed: number, computed: number, decimals: number): boolean {
  return decimals >= 0 ? numbersAgree(printed, computed, decimals) : Math.abs(printed - computed) <= 0.5 * 10 ** -decimals
}
