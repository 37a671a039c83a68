/** One snapshot: its lists on one side, the chosen trace on the other. */
import { formatPlural } from '../../figures/format.js'
import type { Range } from '../../figures/ticks.js'
import { shortened, visible } from '../../page/text.js'
import type { ExplorerSnapshot, TraceView } from '../contract.js'
import { paneTokens, type PaneState, type PaneTab } from './address.js'
import { TraceChart } from './chart.js'
import { drawingColours } from './colours.js'
import { shortNumber } from './columns.js'
import { button, element } from './dom.js'
import { saveView, type ExportKind } from './exports.js'
import { jumpList, type JumpPlace } from './jump-list.js'
import { keyHelp } from './key-help.js'
import { Minimap } from './minimap.js'
import { Newest } from './newest.js'
import { problemText, type ExplorerSources } from './sources.js'
import { TraceTable } from './table.js'
import { placedRange } from './tokens.js'
import { ChartTools } from './toolbar.js'
import { TurnText } from './turn-text.js'

const TAB_NAMES: Readonly<Record<PaneTab, string>> = { traces: 'Traces', jumps: 'Jumps', critic: 'Critic' }
/** buckets of the strip that shows all of a trace */
const STRIP_BUCKETS = 600
/** characters of a uid that are shown at most, and those in its tooltip */
const MAX_UID = 80
const MAX_TITLE = 2000
/** tokens that are shown around a jump at most */
const AROUND_JUMP = 400

export interface PaneActions {
  /** @param lasting the change is a step of its own for back and forward */
  change(patch: Partial<PaneState>, lasting: boolean): void
}

export class Pane {
  readonly element: HTMLElement
  readonly #sources: ExplorerSources
  readonly #snapshot: ExplorerSnapshot
  readonly #actions: PaneActions
  readonly #values: Range
  readonly #table: TraceTable
  readonly #chart: TraceChart
  readonly #tools: ChartTools
  readonly #minimap: Minimap
  readonly #text: TurnText | null
  readonly #title = element('h2')
  readonly #about = element('p', { class: 'about' })
  readonly #tabs = new Map<PaneTab, { readonly button: HTMLButtonElement; readonly panel: HTMLElement }>()
  readonly #strip: Newest<TraceView>
  #overview: { readonly trace: number; readonly view: TraceView } | null = null
  #state: PaneState
  readonly #number: number

  /** @param values ends of the value axis; panes side by side share them */
  constructor(sources: ExplorerSources, state: PaneState, values: Range, actions: PaneActions, number: number) {
    this.#number = number
    this.#sources = sources
    this.#state = state
    this.#actions = actions
    this.#values = values
    this.#snapshot = sources.page.snapshots[state.snapshot]
    const { traces, name } = this.#snapshot
    this.#strip = new Newest(reason => this.#fail(reason))
    this.#table = new TraceTable(traces, name, state, {
      choose: trace => this.#choose(trace),
      overlay: overlay => actions.change({ overlay, range: null, cursor: null }, true),
      sort: column =>
        actions.change(
          { sort: this.#state.sort?.column !== column ? { column, down: false } : this.#state.sort.down ? null : { column, down: true } },
          false
        ),
      filter: (column, text) => actions.change({ filters: { ...this.#state.filters, [column]: text } }, false)
    })
    this.#chart = new TraceChart(sources, state, values, actions)
    this.#tools = new ChartTools({
      zoom: factor => this.#chart.zoom(factor),
      all: () => this.#chart.showAll(),
      page: share => this.#chart.page(share),
      turn: direction => this.#chart.moveTurn(direction),
      change: patch => actions.change(patch, true),
      save: kind => this.#save(kind)
    })
    this.#minimap = new Minimap(token => {
      const { range } = this.#chart
      if (this.#state.range !== null)
        actions.change(
          { range: placedRange(token - (range[1] - range[0]) / 2, range[1] - range[0], paneTokens(sources.page, this.#state)) },
          false
        )
    })
    this.#text = sources.page.texts ? new TurnText(sources, values, { point: token => this.#chart.moveCursor(token) }) : null
    this.element = this.#layout(name)
    new ResizeObserver(() => this.#drawStrip()).observe(this.#minimap.element)
    this.update(state)
  }

  #layout(name: string): HTMLElement {
    const panels: Readonly<Record<PaneTab, () => HTMLElement>> = {
      traces: () => this.#table.element,
      jumps: () => jumpList(this.#snapshot, place => this.#go(place)),
      critic: () => this.#critic()
    }
    const bar = element('div', { class: 'tabs', attributes: { role: 'tablist', 'aria-label': 'Lists' } })
    const lists = element('section', { class: 'lists', attributes: { 'aria-label': `Lists of ${visible(name)}` } }, bar)
    for (const tab of Object.keys(panels) as PaneTab[]) {
      const [tabId, panelId] = [`tab-${this.#number}-${tab}`, `panel-${this.#number}-${tab}`]
      const press = button(TAB_NAMES[tab], () => this.#actions.change({ tab }, true), { role: 'tab', id: tabId, 'aria-controls': panelId })
      press.addEventListener('keydown', event => this.#tabKey(event))
      const panel = element(
        'div',
        { class: 'panel', attributes: { role: 'tabpanel', id: panelId, 'aria-labelledby': tabId } },
        panels[tab]()
      )
      this.#tabs.set(tab, { button: press, panel })
      bar.append(press)
      lists.append(panel)
    }
    const curve = element(
      'section',
      { class: 'curve', attributes: { 'aria-label': 'The chosen trace' } },
      this.#title,
      this.#about,
      this.#tools.element,
      this.#chart.element,
      this.#minimap.element
    )
    if (this.#text !== null) curve.append(this.#text.element)
    if (this.#number === 0) curve.append(keyHelp())
    return element('div', { class: 'pane' }, lists, curve)
  }

  #tabKey(event: KeyboardEvent): void {
    const tabs = [...this.#tabs.keys()]
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? tabs.length - 1 : 0
    if (step === 0) return
    const tab = tabs[(tabs.indexOf(this.#state.tab) + step) % tabs.length]
    event.preventDefault()
    this.#actions.change({ tab }, true)
    this.#tabs.get(tab)?.button.focus()
  }

  /** Findings and quality of the critic, which the page has as markup of its own. */
  #critic(): HTMLElement {
    const template = document.getElementById(`diagnostics-${this.#state.snapshot}`)
    const body = element('div', { class: 'critic', attributes: { tabindex: '0', role: 'region', 'aria-label': 'Diagnostics' } })
    if (template instanceof HTMLTemplateElement) {
      const copy = template.content.cloneNode(true) as DocumentFragment
      // Two panes may show the same snapshot.
      for (const each of Array.from(copy.querySelectorAll('[id]'))) each.removeAttribute('id')
      body.append(copy)
    } else body.append(element('p', { class: 'hint', text: 'The critic of this snapshot was not diagnosed.' }))
    return body
  }

  #choose(trace: number): void {
    if (trace === this.#state.trace) return
    const overlay = this.#state.overlay === trace ? null : this.#state.overlay
    this.#actions.change({ trace, overlay, range: null, cursor: null }, true)
  }

  /** The place of a jump, with some tokens around it. */
  #go({ trace, at }: JumpPlace): void {
    const tokens = this.#snapshot.traces.tokens[trace]
    const length = Math.min(AROUND_JUMP, Math.max(40, Math.round(tokens / 10)))
    const [from, to] = placedRange(at + 1 - length / 2, length, tokens)
    const range = from === 0 && to === tokens ? null : ([from, to] as const)
    this.#actions.change({ trace, overlay: null, range, cursor: at + 1 }, true)
  }

  /** See `TraceChart.take`. */
  take(state: PaneState): void {
    this.#state = state
    this.#chart.take(state)
  }

  update(state: PaneState): void {
    this.take(state)
    for (const [tab, { button: press, panel }] of this.#tabs) {
      const chosen = tab === state.tab
      press.setAttribute('aria-selected', String(chosen))
      press.tabIndex = chosen ? 0 : -1
      panel.hidden = !chosen
    }
    this.#table.update(state)
    this.#describe()
    this.#tools.update(state)
    this.#chart.update(state)
    this.#loadOverview()
    this.#minimap.show(this.#chart.range, paneTokens(this.#sources.page, state))
    this.#drawStrip()
    this.#text?.update(state, this.#chart.turns, this.#snapshot.traces.tokens[state.trace])
  }

  redraw(): void {
    this.#chart.redraw()
    this.#table.redraw()
    this.#drawn = ''
    this.#drawStrip()
  }

  #describe(): void {
    const { traces } = this.#snapshot
    const { trace } = this.#state
    const [step, outcome, score, uid] = [traces.step[trace], traces.outcome[trace], traces.score[trace], traces.uid[trace]]
    this.#title.textContent = `Trace ${trace}`
    this.#about.title = uid === null ? '' : `group ${visible(shortened(uid, MAX_TITLE))}`
    this.#about.textContent = [
      step === null ? '' : `step ${step}`,
      outcome ?? 'outcome not stated',
      score === null ? '' : `score ${score}`,
      uid === null ? '' : `group ${visible(shortened(uid, MAX_UID))}`,
      `${formatPlural(traces.tokens[trace], 'token')} in ${formatPlural(traces.turns[trace], 'turn')}`,
      `mean ${shortNumber(traces.mean[trace])}`,
      `RMSE ${shortNumber(traces.rmse[trace])}`
    ]
      .filter(text => text !== '')
      .join(' \u00b7 ')
  }

  #loadOverview(): void {
    const { snapshot, trace } = this.#state
    if (this.#overview?.trace === trace) return
    const tokens = this.#snapshot.traces.tokens[trace]
    this.#strip.ask(
      () => this.#sources.store.view({ snapshot, trace }, 0, tokens, STRIP_BUCKETS),
      view => {
        if (this.#state.trace !== trace) return
        this.#overview = { trace, view }
        this.#chart.setTurns(trace, view)
        this.#text?.update(this.#state, this.#chart.turns, tokens)
        this.#drawn = ''
        this.#drawStrip()
      }
    )
  }

  /** Nothing of another trace stays below the heading of one that cannot be read. */
  #fail(reason: unknown): void {
    this.#sources.report(`Trace ${this.#state.trace} cannot be read: ${problemText(reason)}`)
    if (this.#overview?.trace === this.#state.trace) return
    this.#drawn = ''
    this.#minimap.clear()
    this.#text?.clear()
  }

  /** what the strip shows: it is drawn when that changes */
  #drawn = ''

  #drawStrip(): void {
    const overview = this.#overview
    const { trace } = this.#state
    if (overview?.trace !== trace) return
    const drawn = [trace, this.#minimap.element.clientWidth, paneTokens(this.#sources.page, this.#state)].join()
    if (drawn === this.#drawn) return
    this.#drawn = drawn
    const outcome = this.#snapshot.traces.outcome[trace] ?? 'unknown'
    this.#minimap.draw(overview.view, this.#values, drawingColours().outcome[outcome])
  }

  #save(kind: ExportKind): void {
    const { range } = this.#chart
    const view = { state: this.#state, range, about: this.#about.textContent, scene: () => this.#chart.scene(960, 420) }
    saveView(this.#sources, kind, view).catch((reason: unknown) =>
      this.#sources.report(`The ${kind.toUpperCase()} is not saved: ${problemText(reason)}`)
    )
  }
}
