/** The read-out below a picture: one row for each series of each panel, always there, so that nothing moves when it is filled. */
import type { FigureReadings } from '../../../compute/histories/contract.js'
import { element } from '../../explorer/browser/dom.js'
import { pointAt, windowOf, type PanelPoints, type Smoothing, type View } from './points.js'

const NONE = '\u2013'

interface Row {
  readonly cells: readonly HTMLElement[]
}

const HEADINGS = ['value', 'trailing mean', 'step', 'hours', 'session', 'run', 'provenance'] as const

export class ReadOut {
  readonly root: HTMLElement
  readonly #readings: FigureReadings
  /** by panel and series */
  readonly #rows: readonly (readonly Row[])[]
  readonly #status = element('p', { class: 'at', attributes: { role: 'status', 'aria-live': 'polite' } })

  constructor(readings: FigureReadings, label: string) {
    this.#readings = readings
    const body = element('tbody')
    this.#rows = readings.panels.map(({ title, series }, p) =>
      series.map(({ title: name }) => {
        const cells = HEADINGS.map(heading => element('td', { text: NONE, attributes: { 'data-label': heading } }))
        const letter = String.fromCharCode(97 + p)
        const heading = element('th', { attributes: { scope: 'row' } }, `(${letter}) ${title}: `, element('b', { text: name }))
        body.append(element('tr', {}, heading, ...cells))
        return { cells }
      })
    )
    const head = element('tr', {}, element('td'), ...HEADINGS.map(text => element('th', { text, attributes: { scope: 'col' } })))
    const table = element('table', { attributes: { 'aria-label': `Values of ${label}` } }, element('thead', {}, head), body)
    const files = readings.runs.map(({ id, file }) => `${id}: ${file}`).join(', ')
    this.root = element('div', { class: 'values' }, this.#status, table, element('p', { class: 'runs', text: `Runs: ${files}` }))
    this.#status.textContent = 'Point at a panel, or move the slider, for the values of all runs.'
  }

  /** @returns the stop and its values in one line, for those who hear it */
  show(panels: readonly PanelPoints[], stop: number, view: View, smoothing: Smoothing): string {
    const told: string[] = []
    panels.forEach(({ panel, series }, p) => {
      const window = windowOf(panel, smoothing)
      series.forEach((one, s) => {
        const k = pointAt(one, stop, view)
        const { points, mean } = one
        const run = k < 0 ? undefined : this.#readings.runs[points.run[k]]
        const texts =
          k < 0
            ? [`none at this ${view === 'step' ? 'step' : 'time'}`, ...HEADINGS.slice(1).map(() => NONE)]
            : [
                String(points.value[k]),
                mean === null ? NONE : `${mean[k]} (of ${Math.min(k + 1, window ?? 0)})`,
                text(points.step[k]),
                text(points.hours[k]),
                points.session[k] < 0 ? NONE : String(points.session[k]),
                run?.id ?? NONE,
                this.#readings.provenances[points.provenance[k]]
              ]
        this.#rows[p][s].cells.forEach((cell, i) => {
          cell.textContent = texts[i]
        })
        if (k >= 0) told.push(`${panel.title}, ${one.series.title}: ${points.value[k]}`)
      })
    })
    const at = `${this.#readings.xTitles[view]} ${stop}`
    this.#status.textContent = at
    return `${at}. ${told.join('; ')}`
  }
}

function text(value: number | null): string {
  return value === null ? NONE : String(value)
}
