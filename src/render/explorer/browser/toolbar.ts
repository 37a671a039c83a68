/** The buttons above a curve. */
import { button, element } from './dom.js'
import type { PaneState } from './address.js'
import { EXPORT_KINDS, type ExportKind } from './exports.js'

export interface ToolActions {
  zoom(factor: number): void
  all(): void
  page(share: number): void
  turn(direction: -1 | 1): void
  change(patch: Partial<PaneState>): void
  save(kind: ExportKind): void
}

export class ChartTools {
  readonly element: HTMLElement
  readonly #over = element('span', { class: 'group' })
  readonly #actions: ToolActions
  readonly #fit: HTMLButtonElement
  #state: PaneState | null = null

  constructor(actions: ToolActions) {
    this.#actions = actions
    this.#fit = button('Fit values', () => actions.change({ fit: this.#state?.fit !== true }), {
      title: 'Fit the value axis to what is in view'
    })
    const group = (label: string, ...buttons: readonly Node[]): HTMLElement =>
      element('span', { class: 'group', attributes: { role: 'group', 'aria-label': label } }, ...buttons)
    this.element = element(
      'div',
      { class: 'tools' },
      group(
        'Zoom',
        button('+', () => actions.zoom(0.5), { 'aria-label': 'Zoom in', title: 'Zoom in (key +)' }),
        button('\u2212', () => actions.zoom(2), { 'aria-label': 'Zoom out', title: 'Zoom out (key -)' }),
        button('All', () => actions.all(), { title: 'Show all of the trace (key 0)' })
      ),
      group(
        'Move',
        button('\u25c0', () => actions.page(-0.5), { 'aria-label': 'Move to earlier tokens', title: 'Earlier tokens (page up)' }),
        button('\u25b6', () => actions.page(0.5), { 'aria-label': 'Move to later tokens', title: 'Later tokens (page down)' })
      ),
      group(
        'Turns',
        button('\u2190 Turn', () => actions.turn(-1), { title: 'The turn before (key [)' }),
        button('Turn \u2192', () => actions.turn(1), { title: 'The next turn (key ])' })
      ),
      group('Value axis', this.#fit),
      this.#over,
      group(
        'Save what is in view',
        ...EXPORT_KINDS.map(kind =>
          button(kind.toUpperCase(), () => actions.save(kind), { title: `Save what is in view as ${kind.toUpperCase()}` })
        )
      )
    )
  }

  update(state: PaneState): void {
    const before = this.#state
    this.#state = state
    this.#fit.setAttribute('aria-pressed', String(state.fit))
    if (before?.overlay === state.overlay && before.by === state.by) return
    if (state.overlay === null) {
      this.#over.replaceChildren()
      return
    }
    const by = (kind: PaneState['by'], text: string): HTMLButtonElement =>
      button(text, () => this.#actions.change({ by: kind, range: null, cursor: null }), { 'aria-pressed': String(state.by === kind) })
    this.#over.replaceChildren(
      element('span', { class: 'label', text: `With trace ${state.overlay}, by` }),
      by('token', 'token'),
      by('progress', 'progress'),
      button('\u00d7', () => this.#actions.change({ overlay: null, range: null, cursor: null }), {
        'aria-label': 'Take the overlaid trace away',
        title: 'Take the overlaid trace away'
      })
    )
  }
}
