/**
 * The explorer: one pane, or two side by side, and its state in the address.
 *
 *     a reader's act ──► change() ──► state ──► panes draw, once a frame
 *                                       └────► address: a new entry of the history for what back should return to, else the same one
 *     back, forward, a link ──► hash ──► state
 */
import { extent, type Range } from '../../figures/ticks.js'
import { visible } from '../../page/text.js'
import type { ExplorerDocument, TraceStore } from '../contract.js'
import { FIRST_STATE, formatHash, parseHash, type ExplorerState, type PaneState } from './address.js'
import { onColourChange } from './colours.js'
import { button, element, oncePerFrame, whenQuiet } from './dom.js'
import { Pane } from './pane.js'
import type { ExplorerSources } from './sources.js'

/** milliseconds without a change, after which the address takes what changes all the time: browsers count such changes */
const ADDRESS_AFTER = 300

export class Explorer {
  readonly #sources: ExplorerSources
  readonly #note = element('p', { class: 'note', attributes: { role: 'status' } })
  readonly #bar = element('div', { class: 'bar' })
  readonly #panes = element('div', { class: 'panes' })
  #made: { readonly snapshots: string; readonly panes: readonly Pane[] } = { snapshots: '', panes: [] }
  #state: ExplorerState = [FIRST_STATE]
  readonly #draw = oncePerFrame(() => this.#render())
  readonly #keep = whenQuiet(() => history.replaceState(null, '', formatHash(this.#state)), ADDRESS_AFTER)

  constructor(page: ExplorerDocument, store: TraceStore, main: HTMLElement) {
    this.#sources = { page, store, report: problem => this.#say(problem) }
    main.classList.add('explorer')
    main.append(this.#note, this.#bar, this.#panes)
    this.#say('')
    if (page.snapshots.every(({ traces }) => traces.tokens.length === 0)) {
      this.#say('There are no traces.')
      return
    }
    addEventListener('popstate', () => this.#restore())
    onColourChange(() => {
      for (const pane of this.#made.panes) pane.redraw()
    })
    this.#restore()
  }

  #say(problem: string): void {
    this.#note.textContent = problem
    this.#note.hidden = problem === ''
  }

  /** Takes the state from the address. The address of an element of the page is none. */
  #restore(): void {
    const hash = location.hash.slice(1)
    if (hash !== '' && !hash.includes('=') && document.getElementById(hash) !== null) return
    const { state, lost } = parseHash(hash, this.#sources.page)
    this.#state = state
    this.#say(
      lost.length === 0 ? '' : `Part of this address does not fit this page and is left out: ${visible(lost.join(', ').slice(0, 200))}.`
    )
    this.#render()
  }

  #change(k: number, patch: Partial<PaneState>, lasting: boolean): void {
    this.#set(
      this.#state.map((pane, i) => (i === k ? { ...pane, ...patch } : pane)),
      lasting
    )
  }

  #set(state: ExplorerState, lasting: boolean): void {
    if (lasting) {
      history.replaceState(null, '', formatHash(this.#state))
      history.pushState(null, '', formatHash(state))
    }
    this.#state = state
    if (this.#shown() === this.#made.snapshots) for (const [k, pane] of this.#made.panes.entries()) pane.take(state[k])
    if (!lasting) this.#keep()
    this.#draw()
  }

  /** Smallest and largest value of all snapshots that are shown. */
  #values(): Range {
    const { snapshots } = this.#sources.page
    return extent(...this.#state.map(({ snapshot }) => snapshots[snapshot].valueRange)) ?? { min: 0, max: 1 }
  }

  /** Snapshots of the panes. */
  #shown(): string {
    return this.#state.map(({ snapshot }) => snapshot).join()
  }

  #render(): void {
    const snapshots = this.#shown()
    if (snapshots !== this.#made.snapshots) {
      const values = this.#values()
      const panes = this.#state.map(
        (state, k) => new Pane(this.#sources, state, values, { change: (patch, lasting) => this.#change(k, patch, lasting) }, k)
      )
      this.#made = { snapshots, panes }
      this.#panes.replaceChildren(...panes.map(pane => pane.element))
      this.#panes.classList.toggle('two', panes.length > 1)
      this.#choices()
    } else for (const [k, pane] of this.#made.panes.entries()) pane.update(this.#state[k])
  }

  /** Which snapshot each pane shows, and whether there are two. One snapshot leaves nothing to choose. */
  #choices(): void {
    const { snapshots } = this.#sources.page
    this.#bar.hidden = snapshots.length < 2
    if (this.#bar.hidden) return
    const selects = this.#state.map(({ snapshot }, k) => {
      const options = snapshots.map(({ name }, s) => element('option', { text: visible(name), attributes: { value: String(s) } }))
      const select = element('select', { attributes: { 'aria-label': k === 0 ? 'Snapshot' : 'Snapshot beside it' } }, ...options)
      select.value = String(snapshot)
      select.addEventListener('change', () => this.#choose(k, Number(select.value)))
      return select
    })
    const two = this.#state.length > 1
    const beside = button('Side by side', () => this.#beside(), { 'aria-pressed': String(two) })
    this.#bar.replaceChildren(element('span', { class: 'label', text: 'Snapshot' }), ...selects, beside)
  }

  /** Another snapshot in a pane. Filters and sort stay, so that both are looked at alike. */
  #choose(k: number, snapshot: number): void {
    const { sort, filters, tab } = this.#state[k]
    this.#set(
      this.#state.map((pane, i) => (i === k ? { ...FIRST_STATE, snapshot, sort, filters, tab } : pane)),
      true
    )
  }

  #beside(): void {
    const [first, second] = this.#state
    if (second !== undefined) {
      this.#set([first], true)
      return
    }
    const snapshot = (first.snapshot + 1) % this.#sources.page.snapshots.length
    this.#set([first, { ...FIRST_STATE, snapshot, sort: first.sort, filters: first.filters, tab: first.tab }], true)
  }
}
