/**
 * Mutations of the article's templates and of the prose that comes out of them. A number of an article is a reference: one that
 * is typed, and a reference that leads nowhere, must be refused. A disclosure of the prose must stand word by word.
 */
import type { AuditReport, PageText } from '../../../src/compute/audit/contract.js'
import type { Random } from '../random.js'
import { changeCharacter } from './mutation.js'

export interface Templates {
  readonly article: string
  readonly notes: string
}

interface Changed<T> {
  readonly what: string
  readonly changed: T
}

/** A claim's id or a path with a pointer, in braces; figures and written numbers are no such references. */
const REFERENCE = /\{\{(?!figure |written )([^|{}]+?)(\s*\|[^{}]*)?\}\}/g

function* referenceMutations(text: string, random: Random, count: number): Generator<Changed<string>> {
  const references = random.shuffle([...text.matchAll(REFERENCE)])
  for (const [i, { 0: whole, 1: name, 2: format = '', index }] of references.slice(0, count).entries()) {
    const instead = (changed: string): string => text.slice(0, index) + changed + text.slice(index + whole.length)
    if (i % 2 === 0) yield { what: `${whole} typed by hand`, changed: instead(String(1 + random.below(998) / 10)) }
    else yield { what: `${whole} leads nowhere`, changed: instead(`{{${changeCharacter(name, random)}${format}}}`) }
  }
}

/** A number typed between two words of a paragraph. */
function* typedMutations(text: string, random: Random, count: number): Generator<Changed<string>> {
  const places = random.shuffle([...text.matchAll(/(?<=[a-z]) (?=[a-z]+ [a-z]+)/g)].map(m => m.index))
  for (const at of places.slice(0, count)) {
    const number = random.pick(['7', '12.5', '3,450', 'twenty', '½', '9th'])
    yield {
      what: `${number} typed after "${text.slice(Math.max(0, at - 20), at)}"`,
      changed: `${text.slice(0, at)} ${number}${text.slice(at)}`
    }
  }
}

export function* templateMutations(templates: Templates, random: Random): Generator<Changed<Templates>> {
  for (const page of ['article', 'notes'] as const) {
    for (const { what, changed } of referenceMutations(templates[page], random, 16))
      yield { what: `${page}: ${what}`, changed: { ...templates, [page]: changed } }
    for (const { what, changed } of typedMutations(templates[page], random, 8))
      yield { what: `${page}: ${what}`, changed: { ...templates, [page]: changed } }
  }
}

/** A word of a disclosure left out everywhere; a digit of its numbers changed; the mean of two sources printed. */
export function* pageMutations(
  pages: readonly PageText[],
  { discrepancies }: AuditReport,
  random: Random
): Generator<Changed<readonly PageText[]>> {
  for (const { id, disclosure, averages } of discrepancies) {
    const words = disclosure.text.replace(/\{\{[^}]*\}\}/g, ' ').match(/\b[A-Za-z]{6,}\b/g) ?? []
    for (const word of random.shuffle([...new Set(words)]).slice(0, 2)) {
      const changed = pages.map(({ name, text }) => ({ name, text: text.replace(new RegExp(`\\b${word}\\b`, 'g'), '') }))
      yield { what: `${id}: without "${word}"`, changed }
    }
    // The words before a number of the disclosure lead to that number in the prose.
    for (const [, before] of disclosure.text.matchAll(/([A-Za-z][A-Za-z ,;]{12,})\{\{/g)) {
      const place = new RegExp(`(${before.replace(/ /g, '\\s+')})([\\d.,]*\\d)`, 'g')
      const changed = pages.map(({ name, text }) => ({
        name,
        text: text.replace(
          place,
          (_whole, words: string, number: string) =>
            `${words}${number.replace(/\d/, digit => String((Number(digit) + 1 + random.below(8)) % 10 || 1))}`
        )
      }))
      if (changed.some(({ text }, i) => text !== pages[i].text)) yield { what: `${id}: another number after "${before}"`, changed }
    }
    for (const { value } of averages) {
      const text = Number.isInteger(value) ? value.toFixed(1) : String(value)
      if (!/e/.test(text))
        yield { what: `${id}: the mean ${text}`, changed: pages.map(({ name, text: page }) => ({ name, text: `${page} It is ${text}.` })) }
    }
  }
}
