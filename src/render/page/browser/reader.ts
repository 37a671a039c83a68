/** A figure that answers: its toolbar, its read-out, and what is drawn over its pictures. All of it is made by this script. */
import type { FigureReadings } from '../../../compute/histories/contract.js'
import { button, element, oncePerFrame } from '../../explorer/browser/dom.js'
import { Picture } from './drawing.js'
import { coordinate, nearestStop, panelPoints, stopsOf, type PanelPoints, type Smoothing, type ReadView } from './points.js'
import { FigureReadOut } from './read-out.js'

export class FigureReader {
  readonly #readings: FigureReadings
  readonly #pictures: readonly Picture[]
  readonly #readOut: FigureReadOut
  readonly #slider: HTMLInputElement
  #view: ReadView
  /** the view of the stops and panels */
  #drawnView: ReadView
  #smoothing: Smoothing = 'drawn'
  #panels: readonly PanelPoints[] = []
  #stops: Float64Array = new Float64Array(0)
  /** the panel that was pointed at last */
  #panel = 0
  /** place in the stops; -1 before the reader asked for one */
  #at = -1
  readonly #tell = oncePerFrame(() => {
    this.#showStop()
  })

  constructor(figure: HTMLElement, readings: FigureReadings) {
    this.#readings = readings
    this.#view = readings.view
    this.#drawnView = readings.view
    this.#pictures = Array.from(figure.querySelectorAll<SVGSVGElement>('.wide > svg, .narrow > svg'), svg => new Picture(svg))
    const label = figure.querySelector('figcaption > b')?.textContent.replace(/\.$/, '') ?? figure.id
    this.#readOut = new FigureReadOut(readings, label)
    this.#slider = element('input', { attributes: { type: 'range', min: '0', step: '1', 'aria-label': `Values of ${label}` } })
    this.#slider.addEventListener('input', () => {
      this.#goTo(Number(this.#slider.value))
    })
    // The slider stands at the first stop, so that this is where a reader with a keyboard begins.
    this.#slider.addEventListener('focus', () => {
      if (this.#at < 0) this.#goTo(0)
    })
    const reader = element('div', { class: 'reader' }, this.#toolbar(label), this.#readOut.table)
    const caption = figure.querySelector('figcaption')
    figure.insertBefore(this.#readOut.status, caption)
    figure.insertBefore(reader, caption)
    for (const picture of this.#pictures) this.#listen(picture)
    this.#choose()
  }

  #listen(picture: Picture): void {
    const point = ({ clientX, clientY }: PointerEvent): void => {
      const under = picture.under(clientX, clientY)
      if (under === null || this.#stops.length === 0) return
      this.#panel = under.panel
      this.#goTo(nearestStop(this.#stops, under.value))
    }
    picture.root.addEventListener('pointermove', point)
    picture.root.addEventListener('pointerdown', point)
  }

  #goTo(stop: number): void {
    this.#at = stop
    this.#tell()
  }

  /** One stop of the Tab key. Up and down lead through its controls, left and right along the steps. */
  #toolbar(label: string): HTMLElement {
    const { windows, panels } = this.#readings
    const hasTime = panels.some(({ series }) => series.some(({ time }) => time.value.length > 0))
    const groups = [
      element('label', {}, 'Values ', this.#slider),
      ...(hasTime
        ? [
            this.#choices('Horizontal axis', ['step', 'time'] as const, this.#view, { step: 'Step', time: 'Hours' }, view => {
              this.#view = view
            })
          ]
        : []),
      ...(windows.length > 0
        ? [
            this.#choices(
              'Smoothing',
              ['drawn', 'none', ...windows] as const,
              this.#smoothing,
              { drawn: 'As drawn', none: 'Logged values', ...Object.fromEntries(windows.map(n => [n, `Mean of ${n}`])) },
              smoothing => {
                this.#smoothing = smoothing
              }
            )
          ]
        : [])
    ]
    const attributes = { role: 'toolbar', 'aria-orientation': 'vertical', 'aria-label': `Values of ${label}` }
    const toolbar = element('div', { class: 'tools', attributes }, ...groups)
    const controls = Array.from(toolbar.querySelectorAll<HTMLElement>('input, button'))
    for (const control of controls.slice(1)) control.tabIndex = -1
    toolbar.addEventListener('keydown', event => {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
      const at = controls.indexOf(event.target as HTMLElement)
      if (step === 0 || at < 0) return
      event.preventDefault()
      controls[(at + step + controls.length) % controls.length].focus()
    })
    toolbar.addEventListener('focusin', ({ target }) => {
      for (const control of controls) control.tabIndex = control === target ? 0 : -1
    })
    return toolbar
  }

  #choices<T extends string | number>(
    label: string,
    values: readonly T[],
    chosen: T,
    names: Readonly<Record<string, string>>,
    choose: (value: T) => void
  ): HTMLElement {
    const buttons = values.map(value =>
      button(
        names[String(value)],
        () => {
          for (const [k, other] of buttons.entries()) other.setAttribute('aria-pressed', String(values[k] === value))
          choose(value)
          this.#choose()
        },
        { 'aria-pressed': String(value === chosen) }
      )
    )
    return element('span', { attributes: { role: 'group', 'aria-label': label } }, ...buttons)
  }

  /** Draws what was chosen. The stop stays; in the other view it is the nearest to where the first series was. */
  #choose(): void {
    const kept = this.#at < 0 ? null : coordinate(this.#panels, this.#stops[this.#at], this.#drawnView, this.#view)
    this.#drawnView = this.#view
    const { view, xTitles } = this.#readings
    const isDrawn = this.#view === view && this.#smoothing === 'drawn'
    this.#panels = panelPoints(this.#readings, this.#view, this.#smoothing)
    this.#stops = stopsOf(this.#panels)
    for (const picture of this.#pictures) picture.show(this.#panels, isDrawn ? null : xTitles[this.#view])
    this.#slider.max = String(Math.max(0, this.#stops.length - 1))
    this.#slider.value = '0'
    this.#slider.setAttribute('aria-valuetext', 'none chosen')
    if (kept !== null && this.#stops.length > 0) this.#goTo(nearestStop(this.#stops, kept))
  }

  #showStop(): void {
    if (this.#at < 0 || this.#at >= this.#stops.length) return
    const stop = this.#stops[this.#at]
    for (const picture of this.#pictures) picture.guide(stop, this.#view)
    this.#slider.value = String(this.#at)
    this.#slider.setAttribute('aria-valuetext', this.#readOut.show(this.#panels, stop, this.#view, this.#panel))
  }
}
