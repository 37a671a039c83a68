/**
 * The curve of the chosen trace, and of the one that is laid over it.
 *
 * Keys: left and right move the cursor by a token, with shift (or [ and ]) by a turn; Home and End to the ends; + and - zoom at the
 * cursor, 0 shows all; page up and page down move what is in view.
 */
import { padRange, type Range } from '../../figures/ticks.js'
import type { TraceView } from '../contract.js'
import { paneTokens, type PaneState } from './address.js'
import { drawingColours, LIGHT_COLOURS, type DrawingColours } from './colours.js'
import { element, oncePerFrame } from './dom.js'
import { listenToGestures } from './gestures.js'
import { Newest } from './newest.js'
import { fittedValues, plotScale, plotScene, type PlotData, type PlotScale } from './plot.js'
import { PlotMarks } from './plot-marks.js'
import { ReadOut, type ReadOutLine } from './read-out.js'
import { paintScene, labelPixels, type Scene } from './scene.js'
import { loadToken, ownRange, ownToken, paneTraces, problemText, type ExplorerSources } from './sources.js'
import { firstTokens, firstNotBelow, placedRange, rangeWith, zoomedRange, type TokenRange } from './tokens.js'

/** pixels around the pointer in which the nearest token that is drawn is taken */
const REACH = 5
export const ZOOM_STEP = 2

export interface ChartActions {
  /** @param lasting the change is a step of its own for back and forward */
  change(patch: Partial<PaneState>, lasting: boolean): void
}

interface Loaded {
  readonly key: string
  readonly views: readonly (TraceView | null)[]
}

export class TraceChart {
  readonly element = element('div', { class: 'chart' })
  readonly readOut = new ReadOut()
  readonly #area = element('div', { class: 'plot', attributes: { tabindex: '0', role: 'application' } })
  readonly #canvas = element('canvas')
  readonly #marks = new PlotMarks()
  readonly #sources: ExplorerSources
  readonly #actions: ChartActions
  readonly #views: Newest<Loaded>
  readonly #facts: Newest<readonly ReadOutLine[]>
  readonly #draw = oncePerFrame(() => this.#render())
  #state: PaneState
  #loaded: Loaded = { key: '', views: [] }
  /** key of what is loaded, or on its way */
  #asked = ''
  #turns: { readonly trace: number; readonly first: readonly number[] } | null = null
  #hover: number | null = null
  #lines: readonly ReadOutLine[] = []
  /** tokens that a slow drag has moved, and that are less than one */
  #rest = 0
  readonly #values: Range

  /** @param values ends of the value axis, before it is padded: panes side by side share them */
  constructor(sources: ExplorerSources, state: PaneState, values: Range, actions: ChartActions) {
    this.#sources = sources
    this.#actions = actions
    this.#state = state
    this.#values = padRange(values, 0.04)
    const failed = (reason: unknown): void => {
      this.#asked = ''
      this.#show([])
      sources.report(`The tokens of trace ${this.#state.trace} cannot be read: ${problemText(reason)}`)
    }
    this.#views = new Newest(failed)
    this.#facts = new Newest(failed)
    this.#canvas.setAttribute('aria-hidden', 'true')
    this.#area.append(this.#canvas, ...this.#marks.elements)
    this.element.append(this.readOut.element, this.#area)
    this.#area.addEventListener('keydown', event => this.#pressed(event))
    listenToGestures(this.#area, {
      hover: (x, y) => this.#look(this.#tokenAt(x, y)),
      leave: () => this.#look(null),
      point: (x, y) => this.#actions.change({ cursor: this.#tokenAt(x, y) }, false),
      selecting: ends => this.#marks.select(ends, this.#scale()),
      select: ([left, right]) => this.#select(left, right),
      move: pixels => this.#move((-pixels / this.#scale().box.width) * (this.range[1] - this.range[0])),
      zoom: (x, factor) => this.zoom(factor, this.#scale().token(x)),
      all: () => this.showAll()
    })
    new ResizeObserver(() => this.update(this.#state)).observe(this.#area)
    this.update(state)
  }

  /** Tokens in view. */
  get range(): TokenRange {
    return this.#state.range ?? [0, this.#tokens()]
  }

  /** First tokens of the turns of the chosen trace; none while its overview is not there. */
  get turns(): readonly number[] {
    return this.#turns?.trace === this.#state.trace ? this.#turns.first : []
  }

  setTurns(trace: number, overview: TraceView): void {
    this.#turns = { trace, first: firstTokens(overview) }
  }

  #tokens(): number {
    return paneTokens(this.#sources.page, this.#state)
  }

  /** The state that further acts of the reader start from. Its tokens are loaded at once; it is drawn when `update` is called. */
  take(state: PaneState): void {
    this.#state = state
    this.#load()
  }

  update(state: PaneState): void {
    this.take(state)
    this.#area.setAttribute(
      'aria-label',
      `Curve of trace ${state.trace}: left and right move by a token, with shift by a turn, plus and minus zoom`
    )
    this.#draw()
    this.#tell()
  }

  redraw(): void {
    this.#draw()
    this.#tell()
  }

  /** What is drawn depends on it. */
  #key(): string {
    const { snapshot, trace, overlay, by } = this.#state
    return JSON.stringify([snapshot, trace, overlay, by, this.range, this.#area.clientWidth])
  }

  #load(): void {
    const [key, range, { snapshot }] = [this.#key(), this.range, this.#state]
    const buckets = this.#area.clientWidth
    if (key === this.#asked || buckets === 0) return
    this.#asked = key
    const traces = paneTraces(this.#sources.page, this.#state)
    const view = async (k: number): Promise<TraceView | null> => {
      const own = ownRange(traces[k], range)
      return own === null ? null : this.#sources.store.view({ snapshot, trace: traces[k].trace }, own[0], own[1], buckets)
    }
    this.#views.ask(
      async () => ({ key, views: await Promise.all(traces.map((_, k) => view(k))) }),
      loaded => {
        this.#loaded = loaded
        this.#draw()
        this.#tell()
      }
    )
  }

  /** Whether what is loaded is of the chosen traces; it may be of another range. */
  #fitting(): readonly (TraceView | null)[] {
    const traces = (key: string): string => (key === '' ? '' : JSON.stringify((JSON.parse(key) as unknown[]).slice(0, 4)))
    return traces(this.#loaded.key) === traces(this.#key()) ? this.#loaded.views : []
  }

  #data(width: number, height: number, colours: DrawingColours): PlotData {
    const { trace, by, overlay, snapshot, fit } = this.#state
    const page = this.#sources.page
    const views = this.#fitting()
    const curves = paneTraces(page, this.#state, colours).flatMap((own, k) => {
      const view = views[k] ?? null
      return view === null ? [] : [{ view, colour: own.colour, stretch: own.stretch, dashed: own.dashed }]
    })
    return {
      width,
      height,
      range: this.range,
      values: fit ? fittedValues(curves.map(({ view }) => view)) : this.#values,
      progressOf: overlay !== null && by === 'progress' ? page.snapshots[snapshot].traces.tokens[trace] : null,
      curves,
      colours,
      labelPixels
    }
  }

  #scale(): PlotScale {
    return plotScale(this.#data(this.#area.clientWidth, this.#area.clientHeight, drawingColours()))
  }

  #render(): void {
    const { clientWidth: width, clientHeight: height } = this.#area
    if (width === 0 || height === 0) return
    paintScene(this.#canvas, plotScene(this.#data(width, height, drawingColours())), Math.min(3, devicePixelRatio))
    if (this.#loaded.key === this.#key()) this.#area.dataset['shown'] = `${this.range[0]}-${this.range[1] - 1}`
    this.#mark()
  }

  /** The drawing for a file, on white paper. @throws Error while the tokens in view are not there */
  scene(width: number, height: number): Scene {
    if (this.#loaded.key !== this.#key()) throw new Error('the tokens in view are not loaded')
    return plotScene(this.#data(width, height, LIGHT_COLOURS))
  }

  /** The token whose place on the curve is nearest to the pointer. */
  #tokenAt(x: number, y: number): number | null {
    const scale = this.#scale()
    const { box } = scale
    if (x < box.x - REACH || x > box.x + box.width + REACH) return null
    const plain = Math.max(this.range[0], Math.min(this.range[1] - 1, Math.round(scale.token(x))))
    const view = this.#fitting()[0]
    if (view === null || view === undefined) return plain
    let [best, distance] = [plain, Infinity]
    for (let k = firstNotBelow(view.index, scale.token(x - REACH)); k < view.index.length; k++) {
      const [across, down] = [scale.x(view.index[k]) - x, scale.y(view.value[k]) - y]
      if (across > REACH) break
      const apart = across * across + (down * down) / 16
      if (apart < distance) [best, distance] = [view.index[k], apart]
    }
    return best
  }

  #look(token: number | null): void {
    if (token === this.#hover) return
    this.#hover = token
    this.#tell()
  }

  /** Loads and shows the numbers of the token that is looked at. */
  #tell(): void {
    const token = this.#hover ?? this.#state.cursor
    const { snapshot } = this.#state
    if (token === null) {
      this.#facts.ask(
        () => Promise.resolve([]),
        lines => this.#show(lines)
      )
      return
    }
    const traces = paneTraces(this.#sources.page, this.#state)
    const views = this.#fitting()
    const line = async (k: number): Promise<ReadOutLine> => {
      const { trace, colour } = traces[k]
      const own = ownToken(traces[k], token)
      return { trace, colour, facts: own === null ? null : await loadToken(this.#sources, snapshot, trace, own, views[k] ?? undefined) }
    }
    this.#facts.ask(
      () => Promise.all(traces.map((_, k) => line(k))),
      lines => this.#show(lines)
    )
  }

  #show(lines: readonly ReadOutLine[]): void {
    this.#lines = lines
    this.readOut.show(lines)
    this.#mark()
  }

  #mark(): void {
    const token = this.#hover ?? this.#state.cursor
    const [from, to] = this.range
    const inView = token !== null && token >= from && token < to
    this.#marks.show(inView ? token : null, this.#scale(), paneTraces(this.#sources.page, this.#state), this.#lines)
  }

  #setRange([from, to]: TokenRange): void {
    const tokens = this.#tokens()
    this.#actions.change({ range: from === 0 && to === tokens ? null : [from, to] }, false)
  }

  zoom(factor: number, token: number = this.#centre()): void {
    this.#setRange(zoomedRange(this.range, token, factor, this.#tokens()))
  }

  showAll(): void {
    this.#setRange([0, this.#tokens()])
  }

  /** Moves what is in view. @param share of what is in view */
  page(share: number): void {
    this.#move(share * (this.range[1] - this.range[0]))
  }

  #move(tokens: number): void {
    const [from, to] = this.range
    const whole = Math.trunc(tokens + this.#rest)
    this.#rest += tokens - whole
    if (whole !== 0) this.#setRange(placedRange(from + whole, to - from, this.#tokens()))
  }

  /** The cursor where it is in view, else the middle. */
  #centre(): number {
    const [from, to] = this.range
    const { cursor } = this.#state
    return cursor !== null && cursor >= from && cursor < to ? cursor : (from + to - 1) / 2
  }

  #select(left: number, right: number): void {
    const scale = this.#scale()
    const [from, to] = [Math.ceil(scale.token(left)), Math.floor(scale.token(right)) + 1]
    this.#setRange(placedRange(from, to - from, this.#tokens()))
  }

  /** Puts the cursor on a token, and it into view. */
  moveCursor(token: number): void {
    const cursor = Math.max(0, Math.min(this.#tokens() - 1, token))
    const range = rangeWith(this.range, cursor, this.#tokens())
    this.#hover = null
    this.#actions.change({ cursor, range: this.#state.range === null ? null : range }, false)
  }

  /** Puts the cursor on the first token of the turn before or behind. */
  moveTurn(direction: -1 | 1): void {
    const at = this.#state.cursor ?? this.range[0] - (direction > 0 ? 1 : 0)
    const next = direction > 0 ? this.turns.find(first => first > at) : this.turns.findLast(first => first < at)
    if (next !== undefined) this.moveCursor(next)
  }

  #pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const at = this.#state.cursor ?? this.range[0] - 1
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => (event.shiftKey ? this.moveTurn(-1) : this.moveCursor(at - 1)),
      ArrowRight: () => (event.shiftKey ? this.moveTurn(1) : this.moveCursor(at + 1)),
      '[': () => this.moveTurn(-1),
      ']': () => this.moveTurn(1),
      Home: () => this.moveCursor(0),
      End: () => this.moveCursor(this.#tokens() - 1),
      '+': () => this.zoom(1 / ZOOM_STEP),
      '=': () => this.zoom(1 / ZOOM_STEP),
      '-': () => this.zoom(ZOOM_STEP),
      '0': () => this.showAll(),
      PageUp: () => this.page(-0.9),
      PageDown: () => this.page(0.9)
    }
    if (!(event.key in keys)) return
    keys[event.key]()
    event.preventDefault()
  }
}
