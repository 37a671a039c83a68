/** The numbers of the token under the cursor, in a fixed place: one line for each trace that is drawn. */
import { element, whenQuiet } from './dom.js'
import type { TokenFacts } from './tokens.js'

/** milliseconds without a change, after which a screen reader is told */
const SPOKEN_AFTER = 350
const NONE = '\u2013'

export interface ReadOutLine {
  readonly trace: number
  readonly colour: string
  /** null: the trace has no token there */
  readonly facts: TokenFacts | null
}

/** The shortest decimal that reads back as the same double. */
export function exactNumber(value: number): string {
  if (Number.isNaN(value)) return NONE
  return (Object.is(value, -0) ? '-0' : String(value)).replace(/^-/, '\u2212')
}

function cells({ facts }: ReadOutLine): readonly (readonly [string, string])[] {
  return [
    ['Token', facts === null ? NONE : String(facts.index)],
    ['Position', facts === null ? NONE : String(facts.position)],
    ['Turn', facts === null ? NONE : String(facts.turn + 1)],
    ['Value', facts === null ? NONE : exactNumber(facts.value)],
    ['Return', facts === null ? NONE : exactNumber(facts.return)],
    ['Change', facts === null ? NONE : exactNumber(facts.change)]
  ]
}

export class ReadOut {
  readonly element = element('div', { class: 'read-out' })
  readonly #lines = element('div', { class: 'lines' })
  readonly #spoken = element('p', { class: 'unseen', attributes: { 'aria-live': 'polite' } })
  #text = ''
  readonly #speak = whenQuiet(() => {
    this.#spoken.textContent = this.#text
  }, SPOKEN_AFTER)

  constructor() {
    this.element.append(this.#lines, this.#spoken)
    this.show([])
  }

  /** @param lines none: no token is looked at */
  show(lines: readonly ReadOutLine[]): void {
    this.#lines.replaceChildren(...(lines.length === 0 ? [this.#empty()] : lines.map(line => this.#line(line))))
    this.#text = lines.map(line => [`Trace ${line.trace}`, ...cells(line).map(([name, text]) => `${name} ${text}`)].join(', ')).join('; ')
    this.#speak()
  }

  #empty(): HTMLElement {
    return element(
      'div',
      { class: 'line' },
      element('span', { class: 'empty', text: 'Point at the curve, or press an arrow key on it, for the numbers of a token.' })
    )
  }

  #line(line: ReadOutLine): HTMLElement {
    const key = element('span', { class: 'key', text: `Trace ${line.trace}` })
    key.style.borderColor = line.colour
    const facts = cells(line).map(([name, text]) =>
      element('span', { class: `fact ${name.toLowerCase()}` }, element('span', { text: name }), ' ', element('b', { text }))
    )
    return element('div', { class: 'line' }, key, ...facts)
  }
}
