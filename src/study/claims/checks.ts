/** Checks between the fields of a claim, a discrepancy or a guard, and the final form of a claim. */
import { Fault, describeCause, printable } from '../../core/errors.js'
import {
  REFERENCE,
  type Claim,
  type ClaimValue,
  type Discrepancy,
  type DiscrepancySource,
  type Guard,
  type StatedClaim
} from '../../schema/claims.js'
import { describeValue, type CheckContext } from '../../core/checker.js'
import { slownessProblem } from '../../core/safe-pattern.js'

const MISFIT = 'fields that do not fit'

function contradiction(context: CheckContext, problem: string, found: string, expected: string): Fault {
  return new Fault({ format: context.format, problem, found: printable(found, 300), expected, place: context.place })
}

export function checkClaim(stated: StatedClaim, at: string, context: CheckContext): Claim {
  const { id, value, decimals, kind, from, elements, scale } = stated
  const where = `${at} (${id})`
  const refuse = (found: string, expected: string): Fault => contradiction(context, MISFIT, `${where} ${found}`, expected)
  checkDecimals(value, decimals, where, context)
  if (from !== null && elements !== null) throw refuse('has from and elements', 'one of them')
  if (from === null && elements === null && (kind === 'computed' || kind === 'config')) {
    throw refuse(`is ${kind} and has neither from nor elements`, 'where its value stands in the outputs')
  }
  const twice = repeated(from ?? [])
  if (twice !== null) throw refuse(`has ${twice} twice`, 'each reference once')
  if (elements !== null && (!Array.isArray(value) || value.length !== elements.length)) {
    throw refuse(`has ${elements.length} elements for ${describeValue(value)}`, 'one reference for each element of a list')
  }
  if (scale !== 1 && !isNumeric(value)) throw refuse(`has a scale for ${describeValue(value)}`, 'numbers')
  return { ...stated, from: from ?? [], elements: elements ?? [] }
}

function repeated(texts: readonly string[]): string | null {
  return texts.find((text, i) => texts.indexOf(text) < i) ?? null
}

/** Refuses a value with more decimals than it states: it would be compared with digits that nobody published. */
function checkDecimals(value: ClaimValue, decimals: number | null, where: string, context: CheckContext): void {
  if (decimals === null) return
  if (!isNumeric(value)) {
    throw contradiction(context, MISFIT, `${where} has decimals for ${describeValue(value)}`, 'numbers, or no decimals')
  }
  const odd = [value].flat().find(v => typeof v === 'number' && Number(v.toFixed(decimals)) !== v)
  if (odd === undefined) return
  throw contradiction(context, MISFIT, `${where} is ${describeValue(odd)} with ${decimals} decimals`, 'a value that has no more')
}

function isNumeric(value: ClaimValue): boolean {
  return [value].flat().every(v => typeof v === 'number')
}

export function checkDiscrepancy(stated: Discrepancy, at: string, context: CheckContext): void {
  const where = `${at} (${stated.id})`
  const { sources } = stated
  for (const source of sources) checkSource(source, where, context)
  if (stated.chosen !== null && !sources.some(s => s.label === stated.chosen)) {
    throw contradiction(
      context,
      'unknown source',
      `${where} chooses ${describeValue(stated.chosen)}`,
      sources.length === 0
        ? 'no choice: it has no sources'
        : `one of ${sources.map(s => printable(JSON.stringify(s.label), 60)).join(', ')}`
    )
  }
  checkPatterns(stated.forbidden, where, context)
  checkDisclosure(stated.disclosure, where, context)
}

export function checkGuard(stated: Guard, at: string, context: CheckContext): void {
  const where = `${at} (${stated.id})`
  if (stated.disclosure === null && stated.forbidden.length === 0) {
    throw contradiction(context, 'missing field', `${where} has neither disclosure nor forbidden`, 'what the pages must say, or must not')
  }
  checkPatterns(stated.forbidden, where, context)
  if (stated.disclosure !== null) checkDisclosure(stated.disclosure, where, context)
}

function checkPatterns(forbidden: readonly string[], where: string, context: CheckContext): void {
  for (const [i, source] of forbidden.entries()) {
    const wrong = wrongPattern(source)
    if (wrong !== null) {
      const found = `${where}.forbidden[${i}] is ${describeValue(source)}: ${wrong}`
      throw contradiction(
        context,
        'wrong pattern',
        found,
        'a regular expression (ECMAScript, flags i and u) that does not match the empty text'
      )
    }
    const slow = slownessProblem(source)
    if (slow !== null) {
      const found = `${where}.forbidden[${i}] is ${describeValue(source)}, with ${slow.found}`
      throw contradiction(context, 'unsafe pattern', found, slow.expected)
    }
  }
}

function checkDisclosure(disclosure: string, where: string, context: CheckContext): void {
  const references = [...disclosure.matchAll(/\{\{([^{}]*)\}\}/g)].map(match => match[1].split('|')[0].trim())
  const odd = references.find(reference => !REFERENCE.test(reference))
  if (odd !== undefined || disclosure.replace(/\{\{[^{}]*\}\}/g, '').includes('{{')) {
    throw contradiction(
      context,
      'wrong reference',
      `${where}.disclosure has ${odd === undefined ? 'a "{{" that nothing closes' : `{{${odd}}}`}`,
      '{{<output path>#<JSON pointer>}}'
    )
  }
}

function checkSource({ label, value, decimals, reference }: DiscrepancySource, where: string, context: CheckContext): void {
  const place = `${where} source ${describeValue(label)}`
  if (value === null && reference === null) {
    throw contradiction(context, 'missing field', `${place} has neither value nor reference`, 'at least one of them')
  }
  if (value !== null) checkDecimals(value, decimals, place, context)
  else if (decimals !== null) throw contradiction(context, MISFIT, `${place} has decimals without a value`, 'a value beside them')
}

/** Why a pattern cannot be used; null if it can. */
function wrongPattern(source: string): string | null {
  try {
    return new RegExp(source, 'iu').test('') ? 'it matches the empty text' : null
  } catch (error) {
    return printable(describeCause(error))
  }
}
