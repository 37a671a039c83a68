/** The text of the turn under the cursor, each piece on the colour of its token's value. */
import { formatFigureCount } from '../../figures/format.js'
import type { Range } from '../../figures/ticks.js'
import type { TraceTexts, TraceView } from '../contract.js'
import type { PaneState } from './address.js'
import { shortNumber } from './columns.js'
import { element } from './dom.js'
import { Newest } from './newest.js'
import { exactNumber } from './read-out.js'
import { problemText, type ExplorerSources } from './sources.js'
import { firstNotBelow } from './tokens.js'
import { ownPieces, piecesAround, spreadPieces, type TextPiece } from './turn-pieces.js'

/** Steps of the scale of colours, as in the style sheet: classes v0 to v8. */
const STEPS = 9

export interface TextActions {
  point(token: number): void
}

interface ShownTurn {
  readonly turn: number
  readonly texts: TraceTexts
  readonly view: TraceView
  readonly first: number
  readonly tokens: number
  readonly part: readonly [number, number]
}

export class TurnText {
  readonly element: HTMLElement
  readonly #title = element('h3')
  readonly #note = element('p', { class: 'hint' })
  readonly #body = element('div', { class: 'text', attributes: { tabindex: '0', role: 'region', 'aria-label': 'Text of the turn' } })
  readonly #sources: ExplorerSources
  readonly #values: Range
  readonly #load: Newest<ShownTurn>
  #shown: { readonly trace: string; readonly turn: ShownTurn } | null = null
  #texts: { readonly trace: string; readonly texts: Promise<TraceTexts> } | null = null
  #cursor = 0

  constructor(sources: ExplorerSources, values: Range, actions: TextActions) {
    this.#sources = sources
    this.#values = values
    this.#load = new Newest(reason => this.#fail(reason))
    const scale = element(
      'span',
      { class: 'ramp' },
      shortNumber(values.min),
      ...Array.from({ length: STEPS }, (_, k) => element('i', { class: `v${k}` })),
      shortNumber(values.max)
    )
    this.element = element(
      'section',
      { class: 'turn-text', attributes: { 'aria-label': 'Text' } },
      element('div', { class: 'tools' }, this.#title, scale),
      this.#note,
      this.#body
    )
    this.#body.addEventListener('click', event => {
      const token = event.target instanceof HTMLElement ? event.target.dataset['token'] : undefined
      if (token !== undefined) actions.point(Number(token))
    })
  }

  /** @param turns first tokens of the turns of the chosen trace */
  update(state: PaneState, turns: readonly number[], tokens: number): void {
    if (turns.length === 0) return
    const trace = `${state.snapshot}-${state.trace}`
    this.#cursor = Math.min(state.cursor ?? 0, tokens - 1)
    const turn = Math.max(
      0,
      turns.findLastIndex(first => first <= this.#cursor)
    )
    const [first, end] = [turns[turn], turns[turn + 1] ?? tokens]
    const shown = this.#shown
    const inPart = shown !== null && this.#cursor >= first + shown.turn.part[0] && this.#cursor < first + shown.turn.part[1]
    if (shown?.trace === trace && shown.turn.turn === turn && inPart) {
      this.#mark()
      return
    }
    const part = piecesAround(this.#cursor - first, end - first)
    const reference = { snapshot: state.snapshot, trace: state.trace }
    this.#load.ask(
      async () => {
        if (this.#texts?.trace !== trace) this.#texts = { trace, texts: this.#sources.store.texts(reference) }
        const [texts, view] = await Promise.all([
          this.#texts.texts,
          this.#sources.store.view(reference, first + part[0], first + part[1], part[1] - part[0])
        ])
        return { turn, texts, view, first, tokens: end - first, part }
      },
      loaded => {
        this.#shown = { trace, turn: loaded }
        this.#render(loaded)
      }
    )
  }

  /** Not every trace has texts: a page has room for so many. */
  #fail(reason: unknown): void {
    this.clear()
    this.#note.textContent = `This trace has no texts here: ${problemText(reason)}.`
  }

  /** Shows no text: that of another trace would mislead. */
  clear(): void {
    this.#shown = null
    this.#title.textContent = 'No text'
    this.#note.textContent = ''
    this.#body.replaceChildren()
  }

  #render({ turn, texts, view, first, tokens, part }: ShownTurn): void {
    const own = texts.tokens?.[turn]
    const text = texts.turns[turn] ?? ''
    const pieces = own === undefined ? spreadPieces(text, tokens, part) : ownPieces(own, part)
    this.#title.textContent = `Turn ${turn + 1} of ${texts.turns.length}`
    const notes = [
      own === undefined ? 'Tokens have no text of their own here: the text of the turn is spread evenly over its tokens.' : '',
      part[1] - part[0] < tokens
        ? `Tokens ${formatFigureCount(part[0])} to ${formatFigureCount(part[1] - 1)} of ${formatFigureCount(tokens)} of the turn are shown, those around the cursor.`
        : '',
      texts.removed > 0
        ? `${texts.removed} ${texts.removed === 1 ? 'passage' : 'passages'} of this trace that looked like secrets ${texts.removed === 1 ? 'was' : 'were'} taken out.`
        : '',
      text === '' && own === undefined ? 'This turn has no text.' : ''
    ]
    this.#note.textContent = notes.filter(note => note !== '').join(' ')
    this.#body.replaceChildren(...pieces.map(piece => this.#piece(piece, first, view)))
    this.#mark()
  }

  #piece({ text, token }: TextPiece, first: number, view: TraceView): HTMLElement {
    const value = view.value[firstNotBelow(view.index, first + token)]
    const { min, max } = this.#values
    const step = max > min ? Math.max(0, Math.min(STEPS - 1, Math.floor(((value - min) / (max - min)) * STEPS))) : 0
    const made = element('span', { class: `v${step}`, text, attributes: { title: `token ${first + token}, value ${exactNumber(value)}` } })
    made.dataset['token'] = String(first + token)
    return made
  }

  #mark(): void {
    this.#body.querySelector('.here')?.classList.remove('here')
    const pieces = Array.from(this.#body.children) as HTMLElement[]
    const at = pieces.findLastIndex(piece => Number(piece.dataset['token']) <= this.#cursor)
    const here = pieces.at(Math.max(0, at))
    if (here === undefined) return
    here.classList.add('here')
    const { offsetTop, offsetHeight } = here
    const { scrollTop, clientHeight } = this.#body
    if (offsetTop < scrollTop || offsetTop + offsetHeight > scrollTop + clientHeight) this.#body.scrollTop = offsetTop - clientHeight / 3
  }
}
