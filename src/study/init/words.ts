/** Names, titles and lists that a draft makes from texts of the exports. Such texts are treated as hostile. Also the fault of a draft. */
import { Fault } from '../../core/errors.js'

/** Control characters, line separators, bidirectional overrides, lone surrogates. */
const UNDRAWABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069\ufeff\p{Surrogate}]+/gu

export function initFault(problem: string, found: string, expected: string, file: string): Fault {
  return new Fault({ format: 'init', problem, found, expected, place: { file } })
}

/** Longest base of a name. It leaves room for a distinguishing number within the 64 characters of a name. */
const MAX_NAME = 48

/** A name of a study (see `NAME_PATTERN`) that resembles the text. It is not in `taken`, and is added to it. */
export function nameLike(text: string, fallback: string, taken: Set<string>): string {
  const slug = text
    .slice(0, 1000)
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^[-_]+/, '')
  const led = /^[a-z]/.test(slug) ? slug : `${fallback}-${slug}`
  const base = led.slice(0, MAX_NAME).replace(/[-_]+$/, '')
  return different(base, taken, n => `${base}-${n}`)
}

/** One line of a picture that resembles the text. It is not in `taken`, and is added to it. */
export function titleLike(text: string, fallback: string, taken: Set<string>, max = 60): string {
  const clean = text.slice(0, 1000).replace(UNDRAWABLE, ' ').replace(/\s+/g, ' ').trim()
  const characters = [...clean]
  const base = clean === '' ? fallback : characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : clean
  return different(base, taken, n => `${base} (${n})`)
}

function different(base: string, taken: Set<string>, numbered: (n: number) => string): string {
  let made = base
  for (let n = 2; taken.has(made); n++) made = numbered(n)
  taken.add(made)
  return made
}

/** The first `max` texts, and the number of further ones. */
export function capped(texts: readonly string[], max: number): string[] {
  return texts.length <= max ? [...texts] : [...texts.slice(0, max), `and ${texts.length - max} more`]
}
