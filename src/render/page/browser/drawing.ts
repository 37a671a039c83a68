/**
 * What the script draws over a picture, in a group of its own: a guide with a dot at each value, and, where the reader chose
 * another axis or other means than the picture has, the panels anew. The picture itself stays: its panels are only hidden
 * then, and paper has them all the same.
 */
import { curveStyle, PLAIN_LINE, RAW_CURVE, RESTART_TICK, SPARSE, type CurveStyle } from '../../figures/curves/style.js'
import { INK } from '../../figures/palette.js'
import { whyNotShown } from '../../figures/scales.js'
import { pageColor } from '../../figures/theme.js'
import { factorText, type Ticks } from '../../figures/ticks.js'
import {
  axesOf,
  horizontalRange,
  ticksAlong,
  plottedLines,
  panelPlaces,
  pathOf,
  plotted,
  valueAt,
  verticalRange,
  verticalTicks,
  type PanelAxes,
  type PanelPlace,
  type PlottedLine
} from './axes.js'
import { pointAt, type PanelPoints, type ReadView } from './points.js'

const TEXT = pageColor(INK.text)
const AXIS = { stroke: pageColor(INK.axis), 'stroke-width': 0.6 }
const GRID = { stroke: pageColor(INK.grid), 'stroke-width': 0.6 }
const PAPER = pageColor('#ffffff')
const LABEL = { fill: TEXT, 'font-size': 8 }

type SvgPaint = Readonly<Record<string, string | number>>

function svg(name: string, attributes: SvgPaint, text = ''): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value))
  made.textContent = text
  return made
}

function line(x1: number, y1: number, x2: number, y2: number, attributes: SvgPaint): SVGElement {
  return svg('line', { x1, y1, x2, y2, ...attributes })
}

/** One layout of a figure: the picture, and what is drawn over it. */
export class Picture {
  readonly root: SVGSVGElement
  readonly #places: readonly PanelPlace[]
  readonly #anew = svg('g', {})
  readonly #guide = svg('g', {})
  #panels: readonly PanelPoints[] = []
  #axes: readonly PanelAxes[] = []

  constructor(root: SVGSVGElement) {
    this.root = root
    this.#places = panelPlaces(root)
    const overlay = svg('g', { class: 'overlay', 'aria-hidden': 'true' })
    overlay.append(this.#anew, this.#guide)
    // In the group that has the style of all texts.
    ;(root.querySelector(':scope > g') ?? root).append(overlay)
  }

  /** @param anew null: as the picture is; else the title of the horizontal axis of the panels that are drawn in its place */
  show(panels: readonly PanelPoints[], anew: string | null): void {
    this.#panels = panels
    const x = horizontalRange(panels)
    this.#axes = panels.map((points, k) => {
      const { scale } = points.panel
      return anew === null ? axesOf(this.#places[k], scale) : axesOf(this.#places[k], scale, x, verticalRange(points))
    })
    this.root.classList.toggle('redrawn', anew !== null)
    this.#anew.replaceChildren(...(anew === null ? [] : panels.flatMap((points, k) => this.#panel(points, k, anew))))
    this.#guide.replaceChildren()
  }

  /** The panel under a place of the window and the value of its horizontal axis there; null where no panel is. */
  under(clientX: number, clientY: number): { readonly panel: number; readonly value: number } | null {
    const matrix = this.root.getScreenCTM()
    if (matrix === null) return null
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse())
    const panel = this.#places.findIndex(place => x >= place.x.from && x <= place.x.to && y >= place.y.to && y <= place.y.from)
    return panel < 0 ? null : { panel, value: valueAt(this.#places[panel], this.#axes[panel], x) }
  }

  guide(stop: number, view: ReadView): void {
    this.#guide.replaceChildren(
      ...this.#panels.flatMap((points, k) => {
        const [place, axes] = [this.#places[k], this.#axes[k]]
        const [x] = axes.at(stop, axes.y.min)
        const guide = line(x, place.y.from, x, place.y.to, { stroke: TEXT, 'stroke-width': 0.7, class: 'guide' })
        return [guide, ...dots(points, axes, stop, view)]
      })
    )
  }

  #panel({ panel, series }: PanelPoints, k: number, xTitle: string): SVGElement[] {
    const [place, axes] = [this.#places[k], this.#axes[k]]
    const { x, y } = place
    const [left, top, width, height] = [x.from, y.to, x.to - x.from, y.from - y.to]
    const plot = svg('g', {})
    const curves = series.map(one => ({ one, style: curveStyle(one.series.slot), lines: plottedLines(panel, one) }))
    for (const { style, lines } of curves) {
      const stroke = pageColor(lines.length > 1 ? style.faint : style.strong)
      const dash = panel.sparse ? { 'stroke-dasharray': SPARSE.dash.join(' ') } : {}
      const width = panel.sparse ? SPARSE.width : lines.length > 1 ? RAW_CURVE : PLAIN_LINE
      plot.append(svg('path', { d: pathOf(lines[0], panel.scale, axes), stroke, 'stroke-width': width, ...dash }))
      if (panel.sparse) plot.append(...marks(lines[0], axes, style))
    }
    for (const { one, style } of curves) {
      for (const restart of one.points.restarts) {
        const [atX] = axes.at(restart, axes.y.min)
        plot.append(
          line(atX, y.from, atX, y.from - RESTART_TICK.length, { stroke: pageColor(style.strong), 'stroke-width': RESTART_TICK.width })
        )
      }
    }
    for (const { style, lines } of curves.filter(({ lines }) => lines.length > 1)) {
      const dash = style.dash.length === 0 ? {} : { 'stroke-dasharray': style.dash.join(' ') }
      plot.append(svg('path', { d: pathOf(lines[1], panel.scale, axes), stroke: pageColor(style.strong), 'stroke-width': 1.6, ...dash }))
    }
    const isLowest = this.#places.every(other => other.x.from !== x.from || other.y.from <= y.from)
    const title = { 'text-anchor': 'middle', ...LABEL }
    const [middleX, middleY] = [left + width / 2, top + height / 2]
    const [xTicks, yTicks] = [ticksAlong(axes.x, width), verticalTicks(panel.scale, axes.y, height)]
    return [
      ...this.#grid(place, axes, xTicks, 'x'),
      ...this.#grid(place, axes, yTicks, 'y'),
      line(left, y.from, x.to, y.from, AXIS),
      line(left, top, left, y.from, AXIS),
      svg(
        'text',
        { x: place.titleX, y: middleY, transform: `rotate(-90 ${place.titleX} ${middleY})`, ...title },
        panel.yTitle + factorText(yTicks)
      ),
      ...(isLowest ? [svg('text', { x: middleX, y: y.from + 23, ...title }, xTitle + factorText(xTicks))] : []),
      plot
    ]
  }

  #grid({ x, y }: PanelPlace, axes: PanelAxes, { values, labels }: Ticks, axis: 'x' | 'y'): SVGElement[] {
    return values.flatMap((value, k) => {
      const [atX, atY] = axis === 'x' ? axes.at(value, axes.y.min) : axes.at(axes.x.min, value)
      return axis === 'x'
        ? [
            line(atX, y.to, atX, y.from, GRID),
            line(atX, y.from, atX, y.from + 3, AXIS),
            svg('text', { x: atX, y: y.from + 12.8, 'text-anchor': 'middle', ...LABEL }, labels[k])
          ]
        : [
            line(x.from, atY, x.to, atY, GRID),
            line(x.from - 3, atY, x.from, atY, AXIS),
            svg('text', { x: x.from - 5, y: atY + 3, 'text-anchor': 'end', ...LABEL }, labels[k])
          ]
    })
  }
}

/** The marks of a series, as the legend has them. */
function marks({ x, y }: PlottedLine, axes: PanelAxes, { pointStyle, rotation, radius, fill, strong }: CurveStyle): SVGElement[] {
  const corners = pointStyle === 'triangle' ? 3 : 4
  const first = pointStyle === 'rect' ? 45 : -90
  const outline = Array.from({ length: corners }, (_, k) => {
    const angle = ((first + rotation + (360 * k) / corners) * Math.PI) / 180
    return `${(radius * Math.cos(angle)).toFixed(2)},${(radius * Math.sin(angle)).toFixed(2)}`
  })
  const [name, shape] = pointStyle === 'circle' ? ['circle', { r: radius }] : ['polygon', { points: outline.join(' ') }]
  const colours = { fill: pageColor(fill), stroke: pageColor(strong), 'stroke-width': 1 }
  return Array.from(x.keys())
    .map(i => axes.at(x[i], y[i]))
    .filter(place => place.every(Number.isFinite))
    .map(([atX, atY]) => svg(name, { ...shape, transform: `translate(${atX.toFixed(2)} ${atY.toFixed(2)})`, ...colours }))
}

/** A full dot at the logged value of each series, an open one at its mean. */
function dots({ panel, series }: PanelPoints, axes: PanelAxes, stop: number, view: ReadView): SVGElement[] {
  return series.flatMap(one => {
    const k = pointAt(one, stop, view)
    if (k < 0) return []
    const strong = pageColor(curveStyle(one.series.slot).strong)
    const dot = ({ x, y }: PlottedLine, attributes: SvgPaint): SVGElement[] => {
      const isShown = y[k] >= axes.y.min && y[k] <= axes.y.max && whyNotShown(y[k], panel.scale) === null
      const [cx, cy] = axes.at(x[k], y[k])
      return isShown ? [svg('circle', { cx, cy, 'stroke-width': 1, ...attributes })] : []
    }
    return [
      ...dot(plotted(one, panel), { r: 2.6, fill: strong, stroke: PAPER }),
      ...(one.mean === null ? [] : dot(plotted(one, panel, one.mean), { r: 2.2, fill: PAPER, stroke: strong }))
    ]
  })
}
