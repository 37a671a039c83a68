/** What lies over a drawing and moves without it being drawn again: the line of the cursor, its dots, the frame of a drag. */
import { element } from './dom.js'
import type { PlotScale } from './plot.js'
import type { ReadOutLine } from './read-out.js'
import type { PaneTrace } from './sources.js'

export class PlotMarks {
  readonly elements: readonly HTMLElement[]
  readonly #line = element('div', { class: 'cursor' })
  readonly #dots = [element('div', { class: 'dot' }), element('div', { class: 'dot' })]
  readonly #selection = element('div', { class: 'selection' })

  constructor() {
    this.#selection.hidden = true
    this.elements = [this.#selection, this.#line, ...this.#dots]
  }

  /** @param token null: no token in view is looked at */
  show(token: number | null, { x, y, box }: PlotScale, traces: readonly PaneTrace[], lines: readonly ReadOutLine[]): void {
    this.#line.hidden = token === null
    if (token !== null) {
      this.#line.style.transform = `translateX(${x(token)}px)`
      this.#line.style.top = `${box.y}px`
      this.#line.style.height = `${box.height}px`
    }
    for (const [k, dot] of this.#dots.entries()) {
      const facts = lines[k]?.facts ?? null
      const trace = traces.at(k)
      dot.hidden = token === null || facts === null || trace === undefined
      if (facts === null || trace === undefined) continue
      const [left, top] = [x(facts.index * trace.stretch), y(facts.value)]
      dot.hidden ||= left < box.x - 1 || left > box.x + box.width + 1
      dot.style.transform = `translate(${left}px, ${top}px)`
      dot.style.background = trace.colour
    }
  }

  /** @param ends pixels; null: nothing is dragged over */
  select(ends: readonly [number, number] | null, { box }: PlotScale): void {
    this.#selection.hidden = ends === null
    if (ends === null) return
    const [left, right] = ends.map(x => Math.max(box.x, Math.min(box.x + box.width, x)))
    this.#selection.style.left = `${left}px`
    this.#selection.style.width = `${right - left}px`
    this.#selection.style.top = `${box.y}px`
    this.#selection.style.height = `${box.height}px`
  }
}
