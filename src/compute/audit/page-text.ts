/**
 * The text of a page as an audit reads it. White space and typographic variants are normalized. Numbers are found with
 * their printed precision.
 */
import { runInNewContext } from 'node:vm'
import { Fault, printable } from '../../core/errors.js'

/** Time limit of one pattern on one page, in milliseconds. */
const PATTERN_TIMEOUT = 2000

const VARIANTS: readonly (readonly [RegExp, string])[] = [
  // Removes soft hyphen, zero-width space and joiners, word joiner, byte order mark.
  [/[\u00ad\u200b-\u200d\u2060\ufeff]/g, ''],
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'"],
  [/[\u201c-\u201f\u2033\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, '-'],
  [/\u2026/g, '...'],
  // Turns Unicode White_Space into one space. Line ends belong to it.
  [/[\s\u0085]+/g, ' '],
  [/ %/g, '%']
]

/** Normalizes a text: composed characters (NFC), plain quotes, dashes and spaces, no space before `%`. */
export function normalText(text: string): string {
  return VARIANTS.reduce((normal, [variant, plain]) => normal.replace(variant, plain), text.normalize('NFC'))
}

export interface PrintedNumber {
  readonly value: number
  /** decimal place of the last digit: 2 for 55.33, 7 for 3.8e-6, -3 for 5e3 */
  readonly decimals: number
  /** followed by a percent sign */
  readonly percent: boolean
}

/**
 * Digits, with or without commas between thousands, and an optional exponent. A part of a name, a version or a longer
 * number does not match.
 */
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

/** Every number in a normalized text. */
export function numbersIn(normal: string): PrintedNumber[] {
  return [...normal.matchAll(NUMBERS)].map(match => printedNumber(match[0].replace('%', ''), match[1] === '%'))
}

/** A piece of a required text: a literal, or any number that `fits` accepts. */
export type Piece = { readonly literal: string } | { readonly fits: (printed: PrintedNumber) => boolean }

/** Whether a normalized text contains the pieces one directly after another. */
export function hasPassage(normal: string, pieces: readonly Piece[]): boolean {
  const source = pieces
    .map(piece => ('literal' in piece ? escaped(normalText(piece.literal)) : `${NOT_BEFORE}(${NUMBER})${NOT_AFTER}(?=(%?))`))
    .join('')
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
 * Whether a regular expression of the claims file matches a normalized text. Case is ignored.
 * @throws Fault where the search exceeds its time limit: backtracking can take exponential time
 */
export function matchesPattern(pattern: string, normal: string): boolean {
  try {
    // Node limits the time of a script only where the script runs through node:vm. The text of the script is constant.
    const globals = { expression: new RegExp(pattern, 'iu'), text: normal }
    return runInNewContext('expression.test(text)', globals, { timeout: PATTERN_TIMEOUT }) === true
  } catch (cause) {
    // `instanceof Error` fails here, because the error belongs to the other context.
    const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : null
    if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause
    throw new Fault({
      format: 'claims',
      problem: 'pattern too slow',
      found: `${printable(JSON.stringify(pattern))} after ${PATTERN_TIMEOUT} ms`,
      expected: 'an expression without nested repetition',
      cause
    })
  }
}
