/** Compares a published value with the value in the outputs, and words the difference. */
import { printable } from '../../core/errors.js'
import type { ClaimScalar, ClaimValue } from '../../schema/claims.js'
import type { Documents } from '../documents.js'
import { scalarsAgree } from './agreement.js'

/** A longer list counts as a table. An audit does not repeat tables. */
const MAX_ELEMENTS = 1000

/**
 * Shown for a discrepancy without sources. Such a discrepancy is about words: it has a disclosure and forbidden
 * patterns only.
 */
export const NO_SOURCES = 'no value: it is about the wording'

export interface Published {
  readonly value: ClaimValue
  readonly decimals: number | null
}

/** The value at a reference, or the reason why there is none. */
export type ComputedValue = { readonly value: ClaimValue } | { readonly reason: string }

export interface Verdict {
  readonly status: 'agrees' | 'differs' | 'not_computable'
  readonly computed: ClaimValue | null
  readonly difference: number | null
  readonly reason: string | null
  /** index of the first list element that does not agree; null where the difference is not that of one element */
  readonly element: number | null
}

/** The value at a reference, times `scale`. */
export function findValue(documents: Documents, reference: string, scale = 1): ComputedValue {
  const found = documents.resolve(reference)
  if ('reason' in found) return found
  const { value } = found
  if (Array.isArray(value)) {
    const elements: readonly unknown[] = value
    if (elements.length > MAX_ELEMENTS) return { reason: `${printable(reference)} is a list of ${elements.length}` }
    const scaled: ClaimScalar[] = []
    for (const [i, element] of elements.entries()) {
      const one = scalarValue(documents, element, `${reference}/${i}`, scale)
      if ('reason' in one) return one
      scaled.push(one.value)
    }
    return { value: scaled }
  }
  return scalarValue(documents, value, reference, scale)
}

function scalarValue(
  documents: Documents,
  value: unknown,
  reference: string,
  scale: number
): { readonly value: ClaimScalar } | { readonly reason: string } {
  if (typeof value === 'string' || typeof value === 'boolean') return { value }
  if (typeof value === 'number') {
    const scaled = scale === 1 ? value : value * scale
    // A JSON number is finite, so only the scale can make it infinite.
    return Number.isFinite(scaled) ? { value: scaled } : { reason: `${printable(reference)} is not finite: ${value} times ${scale}` }
  }
  if (value === null) {
    return { reason: documents.undefinedReason(reference) ?? `${printable(reference)} is null, and its file does not say why` }
  }
  return { reason: `${printable(reference)} is ${Array.isArray(value) ? 'a list' : 'an object'}, not a value` }
}

export function notComputable(reason: string): Verdict {
  return { status: 'not_computable', computed: null, difference: null, reason, element: null }
}

export function compare(published: Published, found: ComputedValue): Verdict {
  if ('reason' in found) return notComputable(found.reason)
  const computed = found.value
  const [p, c] = [published.value, computed].map(asList)
  const isListed = isList(published.value) || isList(computed)
  const at = p.findIndex((one, i) => !scalarsAgree(one, c[i], published.decimals))
  const sameShape = !isListed || (isList(published.value) === isList(computed) && p.length === c.length)
  const element = isListed && sameShape && at >= 0 ? at : null
  const differs = (difference: number | null, reason: string): Verdict => ({ status: 'differs', computed, difference, reason, element })
  if (!sameShape) {
    return differs(null, `computed ${describeKind(computed)}, published ${describeKind(published.value)}`)
  }
  if (at < 0) return { status: 'agrees', computed, difference: null, reason: null, element }
  const place = isListed ? `element ${at}: ` : ''
  const [one, other] = [p[at], c[at]]
  if (typeof one !== typeof other) return differs(null, `${place}computed ${describeKind(other)}, published ${describeKind(one)}`)
  const said = `${place}computed ${shownValue(other)}, published ${shownValue(one)}`
  if (typeof one !== 'number' || typeof other !== 'number') return differs(null, said)
  const difference = other - one
  // The difference of two numbers of opposite signs can overflow.
  if (!Number.isFinite(difference)) return differs(null, said)
  return differs(difference, `${said}: off by ${difference}, ${allowed(published.decimals)}`)
}

function allowed(decimals: number | null): string {
  return `allowed ${decimals === null ? 'nothing' : (0.5 * 10 ** -decimals).toFixed(decimals + 1)}`
}

function isList(value: ClaimValue): value is readonly ClaimScalar[] {
  return typeof value === 'object'
}

function asList(value: ClaimValue): readonly ClaimScalar[] {
  return isList(value) ? value : [value]
}

function describeKind(value: ClaimValue): string {
  if (isList(value)) return `a list of ${value.length}`
  return typeof value === 'string' ? 'a text' : typeof value === 'number' ? 'a number' : 'true or false'
}

/** A value as messages and tables show it: text is quoted and capped, a list is in brackets. */
export function shownValue(value: ClaimValue): string {
  if (isList(value)) return printable(`[${value.map(shownValue).join(', ')}]`, 200)
  if (typeof value === 'string') return printable(JSON.stringify(value), 200)
  return Object.is(value, -0) ? '-0' : String(value)
}
