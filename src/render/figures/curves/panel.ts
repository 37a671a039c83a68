/**
 * One panel of a curve figure. From back to front it shows raw values (light where a trailing mean is drawn over them),
 * trailing means with some markers of the series, guides, and marked points with their labels.
 */
import type { CurvePanelData } from '../../../compute/histories/contract.js'
import type { PanelConfig, Plain, Rectangle } from '../config.js'
import { logTicks, symlogTicks } from '../log-ticks.js'
import { formatFigureCount, formatScientific } from '../format.js'
import { axisMap } from '../scales.js'
import { chartAxis, chartOptions, emptyNote, fittedTitle, NO_TICKS, plotArea } from '../style.js'
import { cleanText } from '../text-width.js'
import { extent, niceTicks, padRange, type Range, type Ticks } from '../ticks.js'
import { annotationsOf, linearPart, placeLabels } from './annotations.js'
import { headingOf } from './heading.js'
import { edgeLayers, layersOf } from './layers.js'
import { PlotMap, type PreparedPanel } from './plot-map.js'
import type { DrawnPanel } from './series.js'

/** Room between the data and the ends of the axis, as a share of the range. */
const PADDING = 0.05

export interface SharedAxis {
  readonly range: Range
  readonly ticks: Ticks
  readonly title: string
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
  const prepared = preparedFor(drawn, found, x, plot)
  const flat = flatNotes(prepared, new PlotMap(prepared, x, plot))
  return { ...prepared, notes: [...drawn.notes, ...flat], shortNotes: [...drawn.shortNotes, ...flat] }
}

/** A line whose values differ by less than this, in points, looks as if they were equal. */
const LEAST_HEIGHT = 1

/** Says of each series that is too flat to show how much its values differ. */
function flatNotes({ series }: PreparedPanel, at: PlotMap): string[] {
  return series.flatMap(({ title, raw }) => {
    const range = extent(raw.y)
    if (range === null || range.min === range.max || at.y(range.min) - at.y(range.max) >= LEAST_HEIGHT) return []
    return [`${series.length === 1 ? '' : `${title}: `}range ${formatScientific(range.max - range.min)} too small to show`]
  })
}

function preparedFor(drawn: DrawnPanel, found: Range, x: Range, plot: Rectangle): PreparedPanel {
  const { data, series, marks, guides } = drawn
  const layers = layersOf(series, data.sparse, x, plot.width)
  const withRoom = (above: number): PreparedPanel => {
    const y = paddedRange(data, withThresholds(data, found), above)
    return { ...drawn, y, yTicks: yTicksOf(data, y, plot.height) }
  }
  let best = withRoom(0)
  let most = -1
  for (const above of ROOM_ABOVE) {
    const panel = withRoom(above)
    const labels = placeLabels(panel, layers, new PlotMap(panel, x, plot), plot)
    const free = [...labels.names, ...labels.marks, ...labels.guides].filter(label => label?.free === true).length
    if (free > most) {
      best = panel
      most = free
    }
    if (free === series.length + marks.length + guides.length) break
  }
  return best
}

export interface CurvePanelOptions {
  readonly label: string
  readonly box: Rectangle
  readonly axisWidth: number
  readonly xAxisHeight: number
  readonly x: SharedAxis
  readonly xTitle: boolean
}

export interface NamedPanel {
  readonly config: PanelConfig
  /** whether the name of every curve stands at its end */
  readonly named: boolean
}

export function curvePanel(panel: PreparedPanel, { label, box, axisWidth, xAxisHeight, x, xTitle }: CurvePanelOptions): NamedPanel {
  const { data, series, y } = panel
  const plot = plotArea(box, axisWidth, xAxisHeight)
  const layers = layersOf(series, data.sparse, x.range, plot.width)
  const at = new PlotMap(panel, x.range, plot)
  const labels = placeLabels(panel, layers, at, plot)
  const annotations = annotationsOf(panel, labels, x.range, at)
  const linear =
    data.scale.kind === 'symlog' && linearPart(panel) !== null ? [`linear to \u00b1${formatFigureCount(data.scale.linear_to)}`] : []
  if (series.every(({ raw }) => raw.x.length === 0)) {
    const reason = panel.notes.length === 0 ? 'no points' : 'no point can be shown'
    annotations['note'] = { ...(emptyNote(reason, x.range, y) as { readonly [key: string]: Plain }), yValue: at.valueY(plot.height / 2) }
  }
  const config: PanelConfig = {
    label,
    title: headingOf(panel, linear, box.width),
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
  return { config, named: series.every(({ raw }, k) => raw.x.length === 0 || labels.names[k] !== null) }
}
