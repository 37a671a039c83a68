/**
 * The text of a page as an audit reads it: white space and typographic variants made one, numbers found with the precision
 * to which they are printed.
 */
import { runInNewContext } from 'node:vm'
import { Fault, printable } from '../../core/errors.js'

/** Milliseconds that one pattern may take on one page. */
const PATTERN_TIMEOUT = 2000

const VARIANTS: readonly (readonly [RegExp, string])[] = [
  // Soft hyphen, zero-width space and joiners, word joiner, byte order mark.
  [/[\u00ad\u200b-\u200d\u2060\ufeff]/g, ''],
  [/[\u2018\u2019\u201a\u201b\u2032]/g, '\''],
  [/[\u201c-\u201f\u2033\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, '-'],
  [/\u2026/g, '...'],
  // White_Space of Unicode, and the line's end and beginning, as one space.
  [/[\s\u0085]+/g, ' '],
  [/ %/g, '%']
]

/** One spelling of the same text: composed characters (NFC), plain quotes, dashes and spaces, no space before `%`. */
export function normalText(text: string): string {
  return VARIANTS.reduce((normal, [variant, plain]) => normal.replace(variant, plain), text.normalize('NFC'))
}

export interface PrintedNumber {
  readonly value: number
  /** of the last digit: 2 for 55.33, 7 for 3.8e-6, -3 for 5e3 */
  readonly decimals: number
  /** followed by a percent sign */
  readonly percent: boolean
}

/** Digits, thousands divided by commas or not, and an exponent; not a part of a name, a version or a longer number. */
const NUMBER = String.raw`[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?`
const NOT_BEFORE = String.raw`(?<![\w.]|\d,)`
const NOT_AFTER = String.raw`(?!\d|\.\d|,\d|[eE][-+]?\d)`
const NUMBERS = new RegExp(`${NOT_BEFORE}${NUMBER}${NOT_AFTER}(%?)`, 'g')

export function printedNumber(written: string, percent: boolean): PrintedNumber {
  const plain = written.replaceAll(',', '')
  const [digits, exponent = '0'] = plain.toLowerCase().split('e')
  const fraction = digits.split('.')[1] ?? ''
  return { value: Number(plain), decimals: fraction.length - Number(exponent), percent }
}

/** Every number that stands in a normal text. */
export function numbersIn(normal: string): PrintedNumber[] {
  return [...normal.matchAll(NUMBERS)].map(match => printedNumber(match[0].replace('%', ''), match[1] === '%'))
}

/** A piece of a text that must appear: as written, or any number that `fits`. */
export type Piece = { readonly literal: string } | { readonly fits: (printed: PrintedNumber) => boolean }

/** Whether the pieces stand in a normal text, one after another. */
export function hasPassage(normal: string, pieces: readonly Piece[]): boolean {
  const source = pieces.map(piece => (
    'literal' in piece ? escaped(normalText(piece.literal)) : `${NOT_BEFORE}(${NUMBER})${NOT_AFTER}(?=(%?))`
  )).join('')
  const checks = pieces.flatMap(piece => ('literal' in piece ? [] : [piece.fits]))
  for (const match of normal.matchAll(new RegExp(source, 'gu'))) {
    if (checks.every((fits, i) => fits(printedNumber(match[1 + 2 * i], match[2 + 2 * i] === '%')))) return true
  }
  return false
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}

/**
 * Whether a regular expression of the claims file matches a normal text, without regard to case.
 * @throws Fault where that takes too long: some expressions take for ever on some texts
 */
export function matchesPattern(pattern: string, normal: string): boolean {
  try {
    // The time limit is what the context is for; only the constant text is run.
    const globals = { expression: new RegExp(pattern, 'iu'), text: normal }
    return runInNewContext('expression.test(text)', globals, { timeout: PATTERN_TIMEOUT }) === true
  } catch (cause) {
    // Not `instanceof Error`: it is an error of the context's own.
    const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : null
    if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause
    throw new Fault({
      format: 'claims', problem: 'pattern too slow', found: `${printable(JSON.stringify(pattern))} after ${PATTERN_TIMEOUT} ms`,
      expected: 'an expression without nested repetition', cause
    })
  }
}
