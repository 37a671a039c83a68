/** Converts a written value to what a study asks for: a number, a fraction as percent, a text, or a number found in a text. */
import type { CellValue, SlideValue } from '../../schema/evidence.js'
import { decimalProduct } from './decimal.js'
import type { TextSearch } from './match.js'

/** The content of one place of a source. */
export interface Written {
  /** as the source stores it */
  readonly raw: string
  /** as a reader sees it */
  readonly text: string
  /** null where the source stores a text; the text may still read as a number */
  readonly number: number | null
}

export type Converted = { readonly value: number | string } | { readonly expected: string }

/** A number without a unit. Commas may stand between groups of three digits only. The minus sign U+2212 is allowed. */
const NUMBER = /^[+\u2212-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** Null where the text is no number, or where no double can hold it. */
export function parseNumber(text: string): number | null {
  const trimmed = text.trim()
  if (!NUMBER.test(trimmed)) return null
  const number = Number(trimmed.replaceAll(',', '').replace('\u2212', '-'))
  return Number.isFinite(number) ? number + 0 : null
}

type Request = Pick<CellValue | SlideValue, 'as' | 'pattern' | 'multiply'>

/** The converted value, or what was expected where the conversion fails. */
export function convert({ as, pattern, multiply }: Request, { text, number }: Written, search: TextSearch): Converted {
  if (as === 'text' && pattern === null) return text === '' ? { expected: 'a text' } : { value: text }
  if (as === 'text' || as === 'match') {
    const found = search.find(pattern ?? '', text)
    if ('problem' in found) return { expected: expectedOf(found.problem, pattern ?? '') }
    if (as === 'text')
      return found.group === '' ? { expected: `a text in the group of ${JSON.stringify(pattern)}` } : { value: found.group }
    return scaled(parseNumber(found.group), multiply, `a number in the group of ${JSON.stringify(pattern)}`)
  }
  const percent = as === 'percent' ? 100 : 1
  return scaled(number ?? parseNumber(text), decimalProduct(multiply, percent), as === 'percent' ? 'a fraction' : 'a number')
}

function scaled(number: number | null, factor: number, expected: string): Converted {
  const value = number === null ? NaN : decimalProduct(number, factor)
  return Number.isFinite(value) ? { value } : { expected }
}

function expectedOf(problem: 'no match' | 'too long' | 'too slow', pattern: string): string {
  switch (problem) {
    case 'no match':
      return `a text that ${JSON.stringify(pattern)} matches`
    case 'too long':
      return 'a text that is short enough to be searched'
    case 'too slow':
      return `a text that ${JSON.stringify(pattern)} can be looked for in within a second`
  }
}
