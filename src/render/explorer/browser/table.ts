/**
 * The table of traces. Rows are of one height, and only those in view are in the document; 20,000 traces scroll as ten do.
 *
 * Keys on a row: up and down, page up and down, Home and End move; Enter or space chooses the trace; o lays it over the chosen one.
 */
import { visible } from '../../page/text.js'
import type { ExplorerTraces } from '../contract.js'
import type { PaneState } from './address.js'
import { cellText, TRACE_COLUMNS, traceCell, type ColumnId, type ShownColumn } from './columns.js'
import { drawingColours } from './colours.js'
import { button, element, oncePerFrame } from './dom.js'
import { traceRows } from './order.js'
import { filterRow } from './filter-row.js'
import { decodeSparks, drawSpark, SPARK_HEIGHT, SPARK_WIDTH } from './sparks.js'

/** as in the style sheet */
const ROW_HEIGHT = 28
/** rows that are made above and below those in view */
const BEYOND = 6
const HEADS = 2

export interface TableActions {
  choose(trace: number): void
  overlay(trace: number | null): void
  sort(column: ColumnId): void
  filter(column: ColumnId, text: string): void
}

/** What of a state the rows show. Zooming and the cursor change nothing of it. */
const ROW_STATE = ['filters', 'sort', 'trace', 'overlay', 'tab'] as const

export class TraceTable {
  readonly element: HTMLElement
  readonly #traces: ExplorerTraces
  readonly #actions: TableActions
  readonly #sparks: Uint8Array
  readonly #count = element('p', { class: 'count', attributes: { role: 'status' } })
  readonly #scroller: HTMLElement
  readonly #table: HTMLTableElement
  readonly #body = element('tbody')
  readonly #heads = new Map<ColumnId, HTMLTableCellElement>()
  readonly #filters: ReturnType<typeof filterRow>
  readonly #drawRows = oncePerFrame(() => this.#render())
  #rows: Int32Array = new Int32Array(0)
  #state: PaneState
  /** place in `#rows` of the row that the keys are on; where it is out of view, the first row in view takes the focus */
  #at = 0

  constructor(traces: ExplorerTraces, name: string, state: PaneState, actions: TableActions) {
    this.#traces = traces
    this.#actions = actions
    this.#state = state
    this.#sparks = decodeSparks(traces.sparks)
    this.#filters = filterRow((column, text) => actions.filter(column, text))
    const head = element(
      'thead',
      {},
      element('tr', {}, ...TRACE_COLUMNS.map(column => this.#head(column)), element('th', { text: 'Values' })),
      this.#filters.row
    )
    this.#table = element(
      'table',
      { class: 'traces', attributes: { role: 'grid', 'aria-label': `Traces of ${visible(name)}` } },
      head,
      this.#body
    )
    this.#scroller = element('div', { class: 'rows', attributes: { tabindex: '-1' }, on: { scroll: () => this.#drawRows() } }, this.#table)
    this.element = element('div', { class: 'table' }, this.#scroller, this.#count)
    this.#body.addEventListener('click', event => this.#clicked(event as MouseEvent))
    this.#body.addEventListener('focusin', ({ target }) => {
      if (target instanceof HTMLElement) this.#at = this.#rows.indexOf(Number(target.dataset['trace']))
    })
    this.#body.addEventListener('keydown', event => this.#pressed(event))
    new ResizeObserver(() => this.#drawRows()).observe(this.#scroller)
    this.#order()
    this.update(state)
  }

  #head(column: ShownColumn): HTMLTableCellElement {
    const press = button(column.label, () => this.#actions.sort(column.id), { title: `${column.about}: sort` })
    const cell = element('th', { class: column.kind, attributes: { scope: 'col', 'aria-sort': 'none' } }, press)
    this.#heads.set(column.id, cell)
    return cell
  }

  #order(): void {
    const { filters, sort, trace } = this.#state
    this.#rows = traceRows(this.#traces, filters, sort)
    this.#at = Math.max(0, this.#rows.indexOf(trace))
    for (const [id, cell] of this.#heads)
      cell.setAttribute('aria-sort', sort?.column !== id ? 'none' : sort.down ? 'descending' : 'ascending')
    const problems = this.#filters.show(filters)
    const [shown, all] = [this.#rows.length, this.#traces.tokens.length]
    const counted =
      shown === all ? `${all.toLocaleString('en')} traces` : `${shown.toLocaleString('en')} of ${all.toLocaleString('en')} traces`
    this.#count.textContent = [counted, ...problems].join('. ')
    this.#count.classList.toggle('wrong', problems.length > 0)
    this.#table.setAttribute('aria-rowcount', String(shown + HEADS))
  }

  update(state: PaneState): void {
    const before = this.#state
    this.#state = state
    const reordered = before.filters !== state.filters || before.sort !== state.sort
    if (reordered) {
      this.#order()
      this.#scroller.scrollTop = 0
    }
    if (before === state || before.trace !== state.trace) {
      const at = this.#rows.indexOf(state.trace)
      if (at >= 0) this.#reveal(at)
    }
    if (before === state || ROW_STATE.some(name => before[name] !== state[name])) this.#drawRows()
  }

  redraw(): void {
    this.#body.replaceChildren()
    this.#drawRows()
  }

  /** Height of the head, which stays above the rows. */
  #headHeight(): number {
    return this.#table.tHead?.offsetHeight ?? 0
  }

  #reveal(at: number): void {
    this.#at = at
    const [top, room] = [at * ROW_HEIGHT, this.#scroller.clientHeight - this.#headHeight()]
    if (room <= 0) return
    if (top < this.#scroller.scrollTop) this.#scroller.scrollTop = top
    else if (top + ROW_HEIGHT > this.#scroller.scrollTop + room) this.#scroller.scrollTop = top + ROW_HEIGHT - room
  }

  #render(): void {
    const focused = this.#body.contains(document.activeElement)
    const { scrollTop, clientHeight } = this.#scroller
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - BEYOND)
    const last = Math.min(this.#rows.length, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + BEYOND)
    const stop = this.#at >= first && this.#at < last ? this.#at : Math.ceil(scrollTop / ROW_HEIGHT)
    const known = new Map(Array.from(this.#body.rows, row => [row.dataset['trace'], row]))
    const inView: Node[] = []
    for (let at = first; at < last; at++) {
      const row = known.get(String(this.#rows[at])) ?? this.#row(this.#rows[at])
      this.#dress(row, at, at === stop)
      inView.push(row)
    }
    this.#body.replaceChildren(this.#gap(first), ...inView, this.#gap(this.#rows.length - last))
    if (focused) this.#focusRow()
  }

  #gap(rows: number): Node {
    const cell = element('td', { attributes: { colspan: String(TRACE_COLUMNS.length + 1) } })
    const gap = element('tr', { class: 'gap', attributes: { 'aria-hidden': 'true' } }, cell)
    cell.style.height = `${rows * ROW_HEIGHT}px`
    gap.hidden = rows === 0
    return gap
  }

  #row(trace: number): HTMLTableRowElement {
    const cells = TRACE_COLUMNS.map(column => {
      const cell = traceCell(this.#traces, column.id, trace)
      const text = visible(cellText(column, cell))
      const title = typeof cell === 'number' ? String(cell) : text
      return element('td', { class: `${column.kind} ${column.id}`, text, attributes: { role: 'gridcell', title } })
    })
    const outcome = this.#traces.outcome[trace] ?? 'unknown'
    cells[2].classList.add(outcome)
    const canvas = element('canvas', { attributes: { 'aria-hidden': 'true' } })
    canvas.style.width = `${SPARK_WIDTH}px`
    canvas.style.height = `${SPARK_HEIGHT}px`
    drawSpark(canvas, this.#sparks, trace, drawingColours().outcome[outcome])
    const over = element('span', { class: 'over', text: 'overlay', attributes: { title: 'Lay this trace over the chosen one (key o)' } })
    const spark = element('td', { class: 'spark', attributes: { role: 'gridcell' } }, canvas, over)
    const row = element('tr', {}, ...cells, spark)
    row.dataset['trace'] = String(trace)
    return row
  }

  /** What of a row changes while it stays in view. */
  #dress(row: HTMLTableRowElement, at: number, stop: boolean): void {
    const trace = this.#rows[at]
    row.tabIndex = stop ? 0 : -1
    row.setAttribute('aria-rowindex', String(at + HEADS + 1))
    row.setAttribute('aria-selected', String(trace === this.#state.trace))
    row.classList.toggle('overlaid', trace === this.#state.overlay)
  }

  #focusRow(): void {
    this.#body.querySelector<HTMLTableRowElement>('tr[tabindex="0"]')?.focus({ preventScroll: true })
  }

  #toggleOverlay(trace: number): void {
    this.#actions.overlay(trace === this.#state.overlay || trace === this.#state.trace ? null : trace)
  }

  #clicked(event: MouseEvent): void {
    if (!(event.target instanceof Element)) return
    const row = event.target.closest('tr')
    const trace = row?.dataset['trace']
    if (row === null || trace === undefined) return
    this.#at = this.#rows.indexOf(Number(trace))
    if (event.target.matches('.over') || event.shiftKey) this.#toggleOverlay(Number(trace))
    else this.#actions.choose(Number(trace))
    row.focus({ preventScroll: true })
  }

  #pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, Math.floor((this.#scroller.clientHeight - this.#headHeight()) / ROW_HEIGHT) - 1)
    const last = this.#rows.length - 1
    const moves: Readonly<Record<string, number>> = {
      ArrowUp: this.#at - 1,
      ArrowDown: this.#at + 1,
      PageUp: this.#at - page,
      PageDown: this.#at + page,
      Home: 0,
      End: last
    }
    const trace = this.#rows[this.#at]
    if (event.key in moves) {
      this.#reveal(Math.max(0, Math.min(last, moves[event.key])))
      this.#render()
      this.#focusRow()
    } else if (event.key === 'Enter' || event.key === ' ') this.#actions.choose(trace)
    else if (event.key === 'o') this.#toggleOverlay(trace)
    else return
    event.preventDefault()
  }
}
