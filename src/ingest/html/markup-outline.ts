/**
 * The outline of a page: markup from which parse5 builds the same elements as from the page. It has the page's tags with
 * the attributes that affect the result, and one character for each kind of text between two tags. It has no comments and
 * no raw text, so no script's content.
 */
import { Fault } from '../../core/errors.js'
import { TEXT, type Tag } from './tags.js'

const MAX_OUTLINE = 2 ** 24
/** Number of pieces that are joined at a time. Separate pieces take several times their length in memory. */
const BATCH = 4096

export function startTagOutline({ name, attributes, selfClosing }: Tag): string {
  let text = `<${name}`
  for (const [key, value] of attributes) text += ` ${key}="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`
  return text + (selfClosing ? '/>' : '>')
}

/** `found`: bits of TEXT. */
export function textOutline(found: number): string {
  return ((found & TEXT.nul) === 0 ? '' : '\0') + ((found & TEXT.space) === 0 ? '' : ' ') + ((found & TEXT.other) === 0 ? '' : 'x')
}

/** Keeps the outline of a page, up to MAX_OUTLINE characters. */
export class MarkupOutline {
  readonly #parts: string[] = []
  readonly #recent: string[] = []
  length = 0

  add(text: string): void {
    this.length += text.length
    if (this.length <= MAX_OUTLINE) {
      if (this.#recent.push(text) === BATCH) this.#join()
    } else {
      this.#parts.length = this.#recent.length = 0
    }
  }

  /** Gives the outline away. Throws a Fault where the page has more of it than is kept. */
  take(): string {
    if (this.length > MAX_OUTLINE) {
      throw new Fault({
        format: 'html',
        problem: 'too much markup',
        found: `${this.length} characters of tags before the first svg, math, template or frameset`,
        expected: `at most ${MAX_OUTLINE}`
      })
    }
    this.#join()
    return this.#parts.splice(0).join('')
  }

  #join(): void {
    this.#parts.push(this.#recent.join(''))
    this.#recent.length = 0
  }
}
