/**
 * The read-out below a picture: a line for the panel under the pointer, and a table with a row for each series of each panel.
 * Both are always there, so that nothing moves when they are filled.
 */
import type { FigureReadings } from '../../../compute/histories/contract.js'
import { curveStyle } from '../../figures/curves/style.js'
import { pageColor } from '../../figures/theme.js'
import { element } from '../../explorer/browser/dom.js'
import { pointAt, type PanelPoints, type SeriesPoints, type ReadView } from './points.js'

const NONE = '\u2013'
const HEADINGS = ['value', 'trailing mean', 'step', 'hours', 'session', 'run', 'provenance'] as const

export class FigureReadOut {
  readonly status = element('p', {
    class: 'at',
    text: 'Point at a panel, or move the slider, for the values of all runs.',
    attributes: { role: 'status', 'aria-live': 'polite' }
  })
  /** with the files of the runs below it */
  readonly table: HTMLElement
  readonly #readings: FigureReadings
  /** cells by panel, series and heading */
  readonly #cells: ReadonlyArray<ReadonlyArray<readonly HTMLElement[]>>

  constructor(readings: FigureReadings, label: string) {
    this.#readings = readings
    const body = element('tbody')
    this.#cells = readings.panels.map(({ title, series }, p) =>
      series.map(({ title: name, slot }) => {
        const cells = HEADINGS.map(heading => element('td', { text: NONE, attributes: { 'data-label': heading } }))
        // The colour of its curve, which has no name where the panels are drawn anew.
        const named = element('b', { text: name })
        named.style.color = pageColor(curveStyle(slot).name)
        const heading = element('th', { attributes: { scope: 'row' } }, `${letter(p)} ${title}: `, named)
        body.append(element('tr', {}, heading, ...cells))
        return cells
      })
    )
    const head = element('tr', {}, element('td'), ...HEADINGS.map(text => element('th', { text, attributes: { scope: 'col' } })))
    const table = element('table', { attributes: { 'aria-label': `Values of ${label}` } }, element('thead', {}, head), body)
    const files = readings.runs.map(({ id, file }) => `${id}: ${file}`).join(', ')
    this.table = element('div', {}, table, element('p', { class: 'runs', text: `Runs: ${files}` }))
  }

  /**
   * @param pointed place of the panel that the line is about
   * @returns the stop and all values in one line, for those who hear it
   */
  show(panels: readonly PanelPoints[], stop: number, view: ReadView, pointed: number): string {
    const told = panels.map(({ series }, p) => {
      const values = series.map((one, s) => {
        const k = pointAt(one, stop, view)
        const texts = k < 0 ? HEADINGS.map((_, i) => (i === 0 ? 'none here' : NONE)) : this.#texts(one, k)
        this.#cells[p][s].forEach((cell, i) => {
          cell.textContent = texts[i]
        })
        return `${one.series.title} ${texts[0]}`
      })
      return `${letter(p)} ${values.join(', ')}`
    })
    const at = `${this.#readings.xTitles[view]} ${stop}`
    this.status.textContent = `${at}: ${told[pointed]}`
    return `${at}: ${told.join('; ')}`
  }

  #texts({ points, mean }: SeriesPoints, k: number): string[] {
    const { runs, provenances } = this.#readings
    const run = points.run[k] < 0 ? NONE : runs[points.run[k]].id
    const session = points.session[k] < 0 ? NONE : String(points.session[k])
    return [
      String(points.value[k]),
      mean === null ? NONE : String(mean[k]),
      text(points.step[k]),
      text(points.hours[k]),
      session,
      run,
      provenances[points.provenance[k]]
    ]
  }
}

function letter(panel: number): string {
  return `(${String.fromCharCode(97 + panel)})`
}

function text(value: number | null): string {
  return value === null ? NONE : String(value)
}
