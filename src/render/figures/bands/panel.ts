/**
 * A panel of lines with their intervals as bands behind them. The bands of two series may overlap, so their colour is
 * transparent. A point without an interval has none; a point without a value is a gap.
 */
import type { AxisScale } from '../../../schema/histories.js'
import type { PanelConfig, Plain, Rectangle } from '../config.js'
import { logTicks } from '../log-ticks.js'
import { INK } from '../palette.js'
import { chartAxis, chartOptions, emptyNote, fittedTitle, HEADING, horizontalTicks, NO_TICKS, plotArea, yAxisWidth } from '../style.js'
import { fitWidth } from '../text-width.js'
import { extent, niceTicks, padRange, type Range, type Ticks } from '../ticks.js'
import { BAND_LINE, type BandPoint, type BandSeries } from './series.js'

export interface AxisPlan {
  readonly title: string
  readonly scale?: AxisScale
  /** values that the axis has to show, beside the points */
  readonly include?: readonly number[]
  /** the axis ends there and not a little beyond */
  readonly ends?: Range
  /** it counts something */
  readonly count?: boolean
}

/** A line from one corner of the data to another: a reference to compare with. */
export interface GuideLine {
  readonly from: readonly [x: number, y: number]
  readonly to: readonly [x: number, y: number]
  readonly label?: string
}

export interface BandPanel {
  readonly label: string
  readonly title: string
  readonly box: Rectangle
  readonly x: AxisPlan
  readonly y: AxisPlan
  readonly series: readonly BandSeries[]
  readonly guides?: (x: Range, y: Range) => readonly GuideLine[]
  /** what an empty panel says */
  readonly empty: string
  /** default both */
  readonly draw?: 'points' | 'both'
}

const LINEAR: AxisScale = { kind: 'linear' }
const BAND_ALPHA = '33'
const REFERENCE = { width: 0.8, dash: [3, 2] } as const

/** Panels of one column have y axes of one width, so that their plots are aligned. */
export function bandPanels(panels: readonly BandPanel[]): PanelConfig[] {
  const prepared = panels.map(prepare)
  return prepared.map(one => {
    const column = prepared.filter(other => other.panel.box.x === one.panel.box.x)
    return bandPanel(one, Math.max(...column.map(({ yTicks }) => yAxisWidth(yTicks))))
  })
}

interface PreparedBands {
  readonly panel: BandPanel
  readonly nothing: boolean
  readonly x: Range
  readonly y: Range
  readonly yTicks: Ticks
}

function prepare(panel: BandPanel): PreparedBands {
  const points = panel.series.flatMap(s => s.points).filter(({ y }) => y !== null)
  const nothing = points.length === 0
  const x = rangeOf(
    panel.x,
    points.map(p => p.x)
  )
  const y = rangeOf(
    panel.y,
    points.flatMap(p => [p.y, p.low, p.high].filter(value => value !== null))
  )
  return { panel, nothing, x, y, yTicks: nothing ? NO_TICKS : ticksOf(panel.y, y, plotArea(panel.box, 0).height) }
}

function bandPanel({ panel, nothing, x, y, yTicks }: PreparedBands, axisWidth: number): PanelConfig {
  const { label, title, box, series, empty } = panel
  const plot = plotArea(box, axisWidth)
  const xTicks = nothing ? NO_TICKS : horizontal(panel.x, x, plot.width)
  const guides = nothing ? [] : (panel.guides?.(x, y) ?? [])
  const bottom = panel.y.scale?.kind === 'log' ? y.min : -Infinity
  const options = chartOptions(
    {
      x: chartAxis({
        axis: 'x',
        range: x,
        ticks: xTicks,
        title: fittedTitle(panel.x.title, xTicks, plot.width),
        size: box.y + box.height - plot.y - plot.height,
        scale: panel.x.scale ?? LINEAR
      }),
      y: chartAxis({
        axis: 'y',
        range: y,
        ticks: yTicks,
        title: fittedTitle(panel.y.title, yTicks, plot.height),
        size: axisWidth,
        scale: panel.y.scale ?? LINEAR
      })
    },
    nothing ? { empty: { ...(emptyNote(empty, x, y) as object), xValue: middleOf(panel.x, x), yValue: middleOf(panel.y, y) } } : {}
  )
  return {
    label,
    title: fitWidth(title, HEADING.size, box.width - HEADING.indent),
    box,
    plot,
    chart: {
      type: 'line',
      // Chart.js draws the first series last, on top.
      data: {
        datasets: [
          ...series.map(s => lineOf(s, panel.draw ?? 'both')).reverse(),
          ...guides.map(guideOf),
          ...series.flatMap(s => bandOf(s, bottom)).reverse()
        ]
      },
      options: {
        ...options,
        plugins: { ...(options['plugins'] as { readonly [key: string]: Plain }), filler: { drawTime: 'beforeDatasetDraw' } }
      }
    }
  }
}

function rangeOf({ scale = LINEAR, include = [], ends }: AxisPlan, values: readonly number[]): Range {
  if (ends !== undefined) return ends
  if (scale.kind === 'log') {
    const found = extent(values.filter(value => value > 0))
    if (found === null) return { min: 1, max: 10 }
    const low = Math.log10(found.min)
    const high = Math.log10(found.max)
    const room = Math.max(0.05, (high - low) * 0.05)
    return { min: 10 ** (low - room), max: 10 ** (high + room) }
  }
  const found = extent(values, include)
  return found === null ? { min: 0, max: 1 } : padRange(found, 0.05)
}

/** What stands in the middle of the axis. */
function middleOf({ scale = LINEAR }: AxisPlan, { min, max }: Range): number {
  return scale.kind === 'log' ? Math.sqrt(min * max) : (min + max) / 2
}

function ticksOf({ scale = LINEAR }: AxisPlan, range: Range, height: number): Ticks {
  return scale.kind === 'log' ? logTicks(range, height) : niceTicks(range, 6, 'value')
}

/** A label of a logarithmic axis takes about three times as much room along a horizontal axis as along a vertical one. */
function horizontal({ scale = LINEAR, count = false }: AxisPlan, range: Range, width: number): Ticks {
  if (scale.kind === 'log') return logTicks(range, width / 3)
  return horizontalTicks(range, range, width, count ? 'count' : 'value')
}

function lineOf({ label, style, dash, points }: BandSeries, draw: 'points' | 'both'): Plain {
  return {
    label,
    data: points.map(({ x, y }) => ({ x, y })),
    borderColor: style.strong,
    borderWidth: BAND_LINE,
    borderDash: dash,
    showLine: draw === 'both',
    pointStyle: style.pointStyle,
    rotation: style.rotation,
    pointRadius: style.radius,
    pointBackgroundColor: style.fill,
    pointBorderColor: style.strong,
    pointBorderWidth: 1,
    _decimated: true
  }
}

/** Two lines that are not drawn, with the area between them; the first is the upper one. */
function bandOf({ label, style, points }: BandSeries, bottom: number): Plain[] {
  if (!points.some(({ low, high }) => low !== null && high !== null)) return []
  const edge = (of: (point: BandPoint) => number | null, fill: Plain): Plain => ({
    label: `${label}, interval`,
    data: points.map(point => ({ x: point.x, y: atLeast(of(point), bottom) })),
    borderColor: 'transparent',
    borderWidth: 0,
    pointRadius: 0,
    backgroundColor: `${style.strong}${BAND_ALPHA}`,
    fill,
    _decimated: true
  })
  // The order is turned around afterwards.
  return [edge(point => point.low, false), edge(point => point.high, '+1')]
}

/** A logarithmic axis has no place for 0: a band that reaches it goes down to the lower edge. */
function atLeast(value: number | null, bottom: number): number | null {
  return value === null ? null : Math.max(value, bottom)
}

function guideOf({ from, to }: GuideLine): Plain {
  return {
    label: 'guide',
    data: [
      { x: from[0], y: from[1] },
      { x: to[0], y: to[1] }
    ],
    borderColor: INK.guide,
    borderWidth: REFERENCE.width,
    borderDash: REFERENCE.dash,
    pointRadius: 0,
    _decimated: true
  }
}

/** A line across the plot at one value. */
export function across(value: number): (x: Range, y: Range) => readonly GuideLine[] {
  return x => [{ from: [x.min, value], to: [x.max, value] }]
}

/** The diagonal, where both axes show the same number. */
export function diagonal(x: Range, y: Range): readonly GuideLine[] {
  const [from, to] = [Math.max(x.min, y.min), Math.min(x.max, y.max)]
  return from < to ? [{ from: [from, from], to: [to, to] }] : []
}
