/**
 * Finds numbers that somebody typed into a template. Every number of an article is a reference, so that it cannot
 * differ from the computed value. A digit in the prose is a fault, unless it is part of
 *
 * - a reference, including `{{written …}}`,
 * - an identifier: it begins with a letter and has a letter in each part between hyphens, as in r6, mean@1 and
 *   Qwen3.5-35B-A3B. score-55 is none, because 55 is a part of its own; 9th and 2.5x are none either,
 * - code that contains a letter,
 * - the target of a link.
 *
 * Digits of other scripts, superscripts, fractions and character references are faults too. So are numbers in words, by
 * the rules below, which allow `first`, `one of them` and `two runs`, and Roman numerals that follow no label.
 */
import { numbersAgree } from '../../compute/audit/agreement.js'
import { normalText, numbersIn } from '../../compute/audit/page-text.js'
import { Fault, printable } from '../../core/errors.js'
import type { ClaimScalar } from '../../schema/claims.js'
import { lastSegment } from './formats.js'
import { placeOf, type TemplatePart, type Template } from './references.js'

export interface Finding {
  /** what was typed */
  readonly text: string
  /** offset in the template */
  readonly offset: number
}

/** Replaces text that is not examined. It is no digit, no letter and no part of an identifier. Line ends are kept. */
const BLANK = '\u0000'

const TENS = '(?:twen|thir|for|fif|six|seven|eigh|nine)t'
/** Number words that are always faults: cardinals and ordinals from eleven on, fractions, multiples. */
const NUMBER_WORD = new RegExp(
  `\\b(?:eleven(?:th)?|twel(?:ve|fth)|(?:thir|four|fif|six|seven|eigh|nine)teen(?:th)?|${TENS}(?:y|ieth)|` +
    'hundred(?:s|ths?)?|thousand(?:s|ths?)?|millions?|billions?|dozens?|tens|twice|thrice|hal(?:f|ves|ved|ving)|quarters?|thirds|' +
    '(?:four|fif|six|seven|eigh|nin|ten)ths|(?:a|one)[ -](?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)(?= of\\b)|' +
    '(?:doubl|tripl|quadrupl)(?:e|ed|es|ing)|(?:two|three|four|five|six|seven|eight|nine|ten|hundred|thousand)[-\u2010\u2011]?fold)\\b',
  'gi'
)

/**
 * Small cardinals before a unit are measurements. Without a unit they count things of the text (two runs, one of them)
 * and are allowed.
 */
const MEASURED = new RegExp(
  '\\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)(?=[\\s*_~\u2010\u2011-]+(?:per ?cent|percentage|points?|seconds?|minutes?|' +
    'hours?|days?|weeks?|months?|years?|steps?|tokens?|turns?|epochs?|rollouts?|trajector(?:y|ies)|tasks?|rows?|times|gpus?|nodes?)\\b)',
  'gi'
)

/**
 * Roman numerals in capitals, from II on. Numerals of two letters consist of I, V and X only, because CI, CD and ML are
 * words. Numerals after a label are allowed.
 */
const ROMAN = /\b(?=[IVX]{2}\b|[MDCLXVI]{3})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=[A-Z])\b/g
const LABEL = /\b(?:figures?|sections?|tables?|appendix|appendices|chapters?|parts?|volumes?|phases?|stages?)[\s*_]+$/i

/** A word that scales a referenced number, as in `{{…}} thousand`, is no number itself. */
const SCALE_WORD = /^(?:hundred|thousand|million|billion)$/i

function blank(text: string): string {
  return text.replace(/[^\n]/g, BLANK)
}

/** The template with its references blanked. */
function withoutReferences(template: Template): string {
  return template.text.replace(/\{\{[^\n]*?\}\}/g, blank)
}

/** The text with code and link targets blanked. Code without a letter stays, because it is only a number in another font. */
export function withoutCode(text: string): string {
  const code = /^(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^\1[`~]*[ \t]*$|(?![\s\S]))|(?<!`)(`+)(?!`)((?:(?!\n\n)[\s\S])*?)(?<!`)\2(?!`)/gm
  return text.replace(code, span => (/\p{L}/u.test(span) ? blank(span) : span)).replace(/\]\([^()\s]*\)/g, blank)
}

function isIdentifier(word: string): boolean {
  return /^[A-Za-z]/.test(word) && !/(?<![0-9])\.[0-9]/.test(word) && word.split('-').every(part => /[A-Za-z]/.test(part))
}

/** Everything that looks typed, in the order of the template. */
export function findTypedNumbers(template: Template): readonly Finding[] {
  const text = withoutCode(withoutReferences(template))
  const findings: Finding[] = []
  for (const { 0: reference, index } of text.matchAll(/&#\w*;?/g)) findings.push({ text: reference, offset: index })
  // Runs are matched first and tested for a number afterwards. A single expression would scan a long run again from
  // each of its characters.
  for (const { 0: run, index } of text.matchAll(/[A-Za-z0-9_@.\-\p{N}]+/gu)) {
    if (!/\p{N}/u.test(run)) continue
    const start = index + (/^[.\-@]*/.exec(run)?.[0].length ?? 0)
    const word = run.slice(start - index).replace(/[.\-@]+$/, '')
    const entity = text.slice(Math.max(0, start - 2), start).endsWith('&#')
    if (!entity && (/[^\x00-\x7f]/.test(word) || !isIdentifier(word))) findings.push({ text: word, offset: start })
  }
  for (const { 0: word, index } of text.matchAll(NUMBER_WORD)) {
    const scales = SCALE_WORD.test(word) && text.slice(0, index).trimEnd().endsWith(BLANK)
    if (!scales) findings.push({ text: word, offset: index })
  }
  for (const { 0: word, index } of text.matchAll(MEASURED)) findings.push({ text: word, offset: index })
  for (const { 0: numeral, index } of text.matchAll(ROMAN)) {
    if (!LABEL.test(text.slice(Math.max(0, index - 40), index))) findings.push({ text: numeral, offset: index })
  }
  return findings.sort((a, b) => a.offset - b.offset)
}

/** The values of a claim, for comparison with typed text. */
export interface ClaimedValues {
  readonly id: string
  readonly values: readonly ClaimScalar[]
  readonly unit: string
  /** the value is a list; a list of texts may name parts of a figure and is no fact */
  readonly isList: boolean
}

/** A text with a capital, a digit or a separator is a name. Any other text is a word, which prose may use. */
const NAME = /[\p{Lu}\p{N}_/.]/u

/**
 * Searches the template, code included, for texts of claims as whole words in the same case.
 * @throws Fault for the first such text
 */
export function refuseTypedFacts(template: Template, held: readonly ClaimedValues[]): void {
  const text = withoutReferences(template).replace(/\]\([^()\s]*\)/g, blank)
  for (const { id, values, isList } of held) {
    for (const value of values) {
      if (typeof value !== 'string' || isList) continue
      for (const fact of new Set([value, lastSegment(value)])) {
        const at = fact.length < 3 || !NAME.test(fact) ? -1 : indexOfWord(text, fact)
        if (at < 0) continue
        throw new Fault({
          format: 'template',
          problem: 'fact typed by hand',
          found: printable(fact),
          expected: `{{fact ${id}${fact === value ? '' : ' | name'}}}`,
          place: placeOf(template, at)
        })
      }
    }
  }
}

function indexOfWord(text: string, word: string): number {
  const isPart = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}_]/u.test(character)
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + word.length])) return at
  }
  return -1
}

/**
 * Checks every `{{written …}}` for numbers that a claim holds. A number with decimals counts wherever it stands in the
 * text, where it agrees with the claim at the written decimals. A whole number counts only where it is the whole text,
 * because `Figure 4` and `release 2` are labels. For a fraction its percentage counts too.
 * @throws Fault for the first such number
 */
export function refuseWrittenClaims(parts: readonly TemplatePart[], held: readonly ClaimedValues[]): void {
  for (const part of parts) {
    if (part.kind !== 'written') continue
    const normal = normalText(part.text)
    const alone = !/[\p{L}/]/u.test(normal) && numbersIn(normal).length === 1
    for (const { value, decimals } of numbersIn(normal)) {
      if (decimals < 1 && !alone) continue
      const claim = held.find(({ values, unit }) => values.some(one => typeof one === 'number' && says(value, decimals, one, unit)))
      if (claim === undefined) continue
      throw new Fault({
        format: 'template',
        problem: 'value of a claim as written text',
        found: printable(`{{written ${part.text}}}`),
        expected: `{{${claim.id}}}`,
        place: part.place
      })
    }
  }
}

function says(written: number, decimals: number, value: number, unit: string): boolean {
  const agrees = (one: number): boolean => (decimals < 1 ? written === one : written !== 0 && numbersAgree(written, one, decimals))
  return agrees(value) || (unit !== 'percent' && Math.abs(value) <= 1 && agrees(value * 100))
}

/** Largest number of findings that a message names with their places. */
const NAMED = 3

/** @throws Fault that names the first typed numbers, the number of further ones, and the ways to replace them */
export function refuseTypedNumbers(template: Template): void {
  const findings = findTypedNumbers(template)
  if (findings.length === 0) return
  // The fault itself carries the place of the first finding.
  const named = findings.slice(0, NAMED).map(({ text, offset }, i) => {
    const { line, column } = placeOf(template, offset)
    return i === 0 ? printable(text) : `${printable(text)} at line ${line} column ${column}`
  })
  const more = findings.length > NAMED ? ` and ${findings.length - NAMED} more` : ''
  throw new Fault({
    format: 'template',
    problem: 'number typed by hand',
    found: named.join(', ') + more,
    expected: 'a reference; {{written …}} for what is no value, or code for a name',
    place: placeOf(template, findings[0].offset)
  })
}
