/**
 * One panel of a curve figure. From back to front it shows raw values (light where a trailing mean is drawn over them),
 * trailing means with some markers of the series, guides, and marked points with their labels.
 */
import type { CurvePanelData } from '../../../compute/histories/contract.js'
import type { PanelConfig, Plain, Rectangle } from '../config.js'
import { Ink } from '../ink.js'
import { logTicks, symlogTicks } from '../log-ticks.js'
import { formatScientific } from '../format.js'
import { axisMap, type AxisMap } from '../scales.js'
import { chartAxis, chartOptions, emptyNote, fittedTitle, FONT_FAMILY, HEADING, INK, NO_TICKS, plotArea, TEXT_SIZE } from '../style.js'
import { cleanText, fitWidth, drawnWidth } from '../text-width.js'
import { extent, isTooShort, niceTicks, padRange, type Range, type Ticks } from '../ticks.js'
import { edgeLayers, layersOf, type Layer } from './layers.js'
import { placeGuideLabel, placeMarkLabel, type PlacedLabel } from './labels.js'
import type { DrawnPanel } from './series.js'
import { curveStyle, MARK_RADIUS, THRESHOLD } from './style.js'

/** Room between the data and the ends of the axis, as a share of the range. */
const PADDING = 0.05

/** A panel with its vertical axis. */
export interface PreparedPanel extends DrawnPanel {
  readonly y: Range
  readonly yTicks: Ticks
}

export interface SharedAxis {
  readonly range: Range
  readonly ticks: Ticks
  readonly title: string
}

/** Maps data to points from the plot's upper left corner, and back. */
class PlotMap {
  readonly #x: Range
  readonly #map: AxisMap
  readonly #low: number
  readonly #high: number
  readonly #plot: Rectangle

  constructor({ data, y }: PreparedPanel, x: Range, plot: Rectangle) {
    this.#x = x
    this.#map = axisMap(data.scale)
    this.#low = this.#map.forward(y.min)
    this.#high = this.#map.forward(y.max)
    this.#plot = plot
  }

  get height(): number {
    return this.#plot.height
  }

  x(value: number): number {
    return ((value - this.#x.min) / (this.#x.max - this.#x.min)) * this.#plot.width
  }

  y(value: number): number {
    return ((this.#high - this.#map.forward(value)) / (this.#high - this.#low)) * this.#plot.height
  }

  valueX(points: number): number {
    return this.#x.min + (points / this.#plot.width) * (this.#x.max - this.#x.min)
  }

  valueY(points: number): number {
    return this.#map.back(this.#high - (points / this.#plot.height) * (this.#high - this.#low))
  }
}

interface Labels {
  readonly marks: ReadonlyArray<PlacedLabel | null>
  readonly guides: ReadonlyArray<PlacedLabel | null>
}

const MARKER_HALF = 3
const LEADER = { width: 0.6, dash: [] } as const
/** Two labels closer than this in a row would read as one. */
const BETWEEN_LABELS = 12
/** Largest width of a label in points. A longer label is cut, because it would find no place. */
const LONGEST_LABEL = 90

function shortened(label: string): string {
  return fitWidth(label, TEXT_SIZE, LONGEST_LABEL)
}

function placeLabels(panel: PreparedPanel, layers: readonly Layer[], at: PlotMap, plot: Rectangle): Labels {
  const ink = new Ink(plot.width, plot.height)
  const radius = MARK_RADIUS + 1
  for (const { line, joined } of [...layers, ...edgeLayers(panel.series, at)]) {
    const breaks = new Set(line.breaks)
    for (let i = 0; i < line.x.length; i++) {
      const [px, py] = [at.x(line.x[i]), at.y(line.y[i])]
      if (joined && i > 0 && !breaks.has(i)) ink.addLine(at.x(line.x[i - 1]), at.y(line.y[i - 1]), px, py)
      if (!joined || panel.data.sparse || line.x.length === 1) {
        ink.addBox({ x: px - MARKER_HALF, y: py - MARKER_HALF, width: 2 * MARKER_HALF, height: 2 * MARKER_HALF })
      }
    }
  }
  for (const { value } of panel.guides) ink.addLine(0, at.y(value), plot.width, at.y(value))
  for (const { x, y } of panel.marks) ink.addBox({ x: at.x(x) - radius, y: at.y(y) - radius, width: 2 * radius, height: 2 * radius })
  const placed = (label: PlacedLabel | null): PlacedLabel | null => {
    if (label === null) return null
    const { box } = label
    ink.addBox({ ...box, x: box.x - BETWEEN_LABELS, width: box.width + 2 * BETWEEN_LABELS })
    return label
  }
  return {
    marks: panel.marks.map(({ x, y, label }) => placed(placeMarkLabel({ x: at.x(x), y: at.y(y) }, shortened(label), ink))),
    guides: panel.guides.map(({ value, label }) => placed(placeGuideLabel(at.y(value), shortened(label), ink)))
  }
}

function yTicksOf({ scale, counts = false }: CurvePanelData, range: Range, height: number): Ticks {
  switch (scale.kind) {
    case 'linear':
      return niceTicks(range, 6, counts ? 'count' : 'value')
    case 'log':
      return logTicks(range, height)
    case 'symlog':
      return symlogTicks(range, scale.linear_to, height)
  }
}

/**
 * A symmetric-logarithmic axis that leaves its linear part at one end reaches the threshold at the other end, where
 * there is data on that side of zero. Otherwise values there could be compared with the tick at 0 only.
 */
function withThresholds({ scale }: CurvePanelData, { min, max }: Range): Range {
  if (scale.kind !== 'symlog' || Math.max(-min, max) <= scale.linear_to) return { min, max }
  return { min: min < 0 ? Math.min(min, -scale.linear_to) : min, max: max > 0 ? Math.max(max, scale.linear_to) : max }
}

/** The range with room at both ends, and with a further share `above` of the axis length at the upper end. */
function paddedRange({ scale }: CurvePanelData, { min, max }: Range, above: number): Range {
  const map = axisMap(scale)
  const ends = { min: map.forward(min), max: map.forward(max) }
  // A flat line on a logarithmic axis gets half a decade on each side, enough for a tick or two.
  const low = scale.kind === 'linear' || ends.max > ends.min ? padRange(ends, PADDING) : { min: ends.min - 0.5, max: ends.max + 0.5 }
  const top = low.max + ((low.max - low.min) * above) / (1 - above)
  return { min: Math.min(min, map.back(low.min)), max: Math.max(max, map.back(top)) }
}

/**
 * Shares of room above the data, tried in this order until every label has a free place. Otherwise the least share in
 * which most labels have one is taken.
 */
const ROOM_ABOVE = [0, 0.08, 0.13, 0.18, 0.25, 0.32] as const

/** @param plot expected size of the plot */
export function preparePanel(drawn: DrawnPanel, x: Range, plot: Rectangle): PreparedPanel {
  const { data, series, marks, guides } = drawn
  const found = extent(
    ...series.flatMap(({ raw, mean }) => (mean === null ? [raw.y] : [raw.y, mean.y])),
    marks.map(mark => mark.y),
    guides.map(guide => guide.value),
    data.counts === true ? [0] : []
  )
  if (found === null) return { ...drawn, y: data.scale.kind === 'log' ? { min: 1, max: 10 } : { min: 0, max: 1 }, yTicks: NO_TICKS }
  if (isFlattened(data, found)) {
    const note = `range ${formatScientific(found.max - found.min)} too small to show`
    return preparedFor({ ...drawn, notes: [...drawn.notes, note], shortNotes: [...drawn.shortNotes, note] }, found, x, plot)
  }
  return preparedFor(drawn, found, x, plot)
}

/** Whether values differ, but the axis must be so much longer than their range that they look equal. */
function isFlattened({ scale }: CurvePanelData, { min, max }: Range): boolean {
  const map = axisMap(scale)
  return max > min && isTooShort({ min: map.forward(min), max: map.forward(max) })
}

function preparedFor(drawn: DrawnPanel, found: Range, x: Range, plot: Rectangle): PreparedPanel {
  const { data, series, marks, guides } = drawn
  const layers = layersOf(series, data.sparse, x, plot.width)
  const withRoom = (above: number): PreparedPanel => {
    const y = paddedRange(data, withThresholds(data, found), above)
    return { ...drawn, y, yTicks: yTicksOf(data, y, plot.height) }
  }
  if (marks.length === 0 && guides.length === 0) return withRoom(0)
  let best = withRoom(0)
  let most = -1
  for (const above of ROOM_ABOVE) {
    const panel = withRoom(above)
    const labels = placeLabels(panel, layers, new PlotMap(panel, x, plot), plot)
    const free = [...labels.marks, ...labels.guides].filter(label => label?.free === true).length
    if (free > most) {
      best = panel
      most = free
    }
    if (free === marks.length + guides.length) break
  }
  return best
}

function lineAnnotation(
  from: readonly [number, number],
  to: readonly [number, number],
  color: string,
  width: number,
  dash: readonly number[]
): Plain {
  return {
    type: 'line',
    xMin: from[0],
    yMin: from[1],
    xMax: to[0],
    yMax: to[1],
    borderColor: color,
    borderWidth: width,
    borderDash: dash,
    drawTime: 'afterDatasetsDraw',
    adjustScaleRange: false
  }
}

function labelAnnotation(text: string, { box }: PlacedLabel, at: PlotMap): Plain {
  return {
    type: 'label',
    content: shortened(text),
    padding: 0,
    color: INK.text,
    font: { family: FONT_FAMILY, size: TEXT_SIZE },
    backgroundColor: '#ffffff',
    xValue: at.valueX(box.x + box.width / 2),
    yValue: at.valueY(box.y + box.height / 2),
    drawTime: 'afterDatasetsDraw',
    adjustScaleRange: false,
    z: 2
  }
}

function annotationsOf(panel: PreparedPanel, labels: Labels, x: Range, at: PlotMap): { [name: string]: Plain } {
  const annotations: { [name: string]: Plain } = {}
  const between = ([from, to]: NonNullable<PlacedLabel['leader']>, color: string, width: number, dash: readonly number[]): Plain =>
    lineAnnotation([at.valueX(from.x), at.valueY(from.y)], [at.valueX(to.x), at.valueY(to.y)], color, width, dash)
  panel.guides.forEach(({ value, label, slot }, k) => {
    const color = slot === null ? INK.quiet : curveStyle(slot).strong
    annotations[`guide-${k}`] = lineAnnotation([x.min, value], [x.max, value], color, THRESHOLD.width, THRESHOLD.dash)
    const place = labels.guides[k]
    if (place === null) return
    annotations[`guide-label-${k}`] = labelAnnotation(label, place, at)
    if (place.leader !== null) annotations[`guide-leader-${k}`] = between(place.leader, color, LEADER.width, LEADER.dash)
  })
  panel.marks.forEach(({ x: xValue, y: yValue, label }, k) => {
    annotations[`mark-${k}`] = {
      type: 'point',
      xValue,
      yValue,
      radius: MARK_RADIUS,
      backgroundColor: 'transparent',
      borderColor: INK.text,
      borderWidth: 0.8,
      drawTime: 'afterDatasetsDraw',
      adjustScaleRange: false,
      z: 1
    }
    const place = labels.marks[k]
    if (place === null) return
    annotations[`mark-label-${k}`] = labelAnnotation(label, place, at)
    if (place.leader !== null) annotations[`mark-leader-${k}`] = between(place.leader, INK.text, LEADER.width, LEADER.dash)
  })
  return annotations
}

/** Smallest share of the heading that the title gets. */
const LEAST_TITLE = 1 / 5

/**
 * Title and notes of a panel. Where both together are too long, the notes take their short form, in which each count
 * keeps its reason, and the title is cut.
 */
function headingOf({ data, notes, shortNotes }: DrawnPanel, width: number): string {
  const room = width - HEADING.indent
  const [full, short] = [notes, shortNotes].map(list => (list.length === 0 ? '' : ` (${list.join('; ')})`))
  const note = drawnWidth(full, HEADING.size) > room * (1 - LEAST_TITLE) ? short : full
  const title = fitWidth(cleanText(data.title), HEADING.size, Math.max(room * LEAST_TITLE, room - drawnWidth(note, HEADING.size)))
  return fitWidth(title + note, HEADING.size, room)
}

export interface CurvePanelOptions {
  readonly label: string
  readonly box: Rectangle
  readonly axisWidth: number
  readonly xAxisHeight: number
  readonly x: SharedAxis
  readonly xTitle: boolean
}

export function curvePanel(panel: PreparedPanel, { label, box, axisWidth, xAxisHeight, x, xTitle }: CurvePanelOptions): PanelConfig {
  const { data, series, y } = panel
  const plot = plotArea(box, axisWidth, xAxisHeight)
  const layers = layersOf(series, data.sparse, x.range, plot.width)
  const at = new PlotMap(panel, x.range, plot)
  const annotations = annotationsOf(panel, placeLabels(panel, layers, at, plot), x.range, at)
  if (series.every(({ raw }) => raw.x.length === 0)) {
    const reason = panel.notes.length === 0 ? 'no points' : 'no point can be shown'
    annotations['note'] = { ...(emptyNote(reason, x.range, y) as { readonly [key: string]: Plain }), yValue: at.valueY(plot.height / 2) }
  }
  return {
    label,
    title: headingOf(panel, box.width),
    box,
    plot,
    chart: {
      type: 'line',
      // Chart.js draws the first series last, on top.
      data: {
        datasets: [...edgeLayers(series, at), ...layers]
          .filter(({ line }) => line.x.length > 0)
          .map(({ dataset }) => dataset)
          .reverse()
      },
      options: chartOptions(
        {
          x: chartAxis({
            axis: 'x',
            range: x.range,
            ticks: x.ticks,
            title: xTitle ? fittedTitle(x.title, x.ticks, plot.width) : null,
            size: xAxisHeight
          }),
          y: chartAxis({
            axis: 'y',
            range: y,
            ticks: panel.yTicks,
            title: fittedTitle(cleanText(data.yTitle), panel.yTicks, plot.height),
            size: axisWidth,
            scale: data.scale
          })
        },
        annotations
      )
    }
  }
}
