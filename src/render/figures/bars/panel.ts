/**
 * One panel of a bar figure: groups of bars, with a value at the end of each bar. The bars stand on a linear axis,
 * where group k lies between k and k + 1. Values are rotated upright where they do not fit horizontally.
 */
import type { BarData, BarPanelData } from '../../../compute/evidence/contract.js'
import type { PanelConfig, Plain, Rectangle } from '../config.js'
import { formatDecimals, formatFigureCount, formatScientific } from '../format.js'
import { hatchLines } from '../hatch.js'
import { INK } from '../palette.js'
import {
  chartAxis,
  chartOptions,
  emptyNote,
  fittedTitle,
  FONT_FAMILY,
  HEADING,
  isDrawable,
  NO_TICKS,
  plotArea,
  TEXT_SIZE
} from '../style.js'
import { cleanText, fitWidth, drawnWidth, wrapWidth } from '../text-width.js'
import { extent, niceTicks, type Range, type Ticks } from '../ticks.js'
import { barMark } from './style.js'

/**
 * Share of a group's width that its bars take, the same share where values are upright, and the largest width of a bar
 * in points.
 */
const FILLED = 0.78
const FILLED_UPRIGHT = 0.9
const WIDEST = 44
const LINE = TEXT_SIZE * 1.2
/** from a bar to its value, and from the axis to a group's title */
const GAP = { value: 2, title: 4 } as const
const MAX_TITLE_LINES = 3
const MAX_AXIS_LINES = 3
const HATCH_LINE = 0.8

interface PlacedBar {
  readonly data: BarData
  /** title of its series */
  readonly series: string
  readonly slot: number
  /** middle of the bar on the axis of groups */
  readonly x: number
  readonly label: string
  /** null where nothing is drawn */
  readonly height: number | null
}

/** A panel with its value axis. */
export interface PreparedBars {
  readonly data: BarPanelData
  readonly bars: readonly PlacedBar[]
  /** width of a bar in points */
  readonly thickness: number
  readonly upright: boolean
  readonly y: Range
  readonly yTicks: Ticks
  readonly axisTitle: readonly string[]
  readonly groupTitles: readonly (readonly string[])[]
}

/** The text on a bar. All bars of a panel have the same decimals, because readers compare them. */
export function barText(value: number, decimals: number): string {
  return Math.abs(value) >= 1e9 ? formatScientific(value) : formatDecimals(value, decimals)
}

function labelOf({ value }: BarData, decimals: number): string {
  return value === null ? 'n/a' : barText(value, decimals)
}

/** Title of the value axis. It names a start other than zero, because readers compare bars by their lengths. */
export function axisTitleOf({ axis, from }: BarPanelData): string {
  return from === 0 ? cleanText(axis) : `${cleanText(axis)}, axis from ${formatFigureCount(from)}`
}

/** @param plot expected size of the plot */
export function prepareBars(data: BarPanelData, plot: Rectangle): PreparedBars {
  const { groups, series, decimals, from } = data
  const room = plot.width / groups.length
  const across = Math.min(WIDEST, (room * FILLED) / series.length)
  const labels = series.flatMap(one => one.bars.flatMap(bar => (bar === null ? [] : [labelOf(bar, decimals)])))
  const upright = labels.some(label => drawnWidth(label, TEXT_SIZE) + 2 > across)
  const each = upright ? Math.min(WIDEST, (room * FILLED_UPRIGHT) / series.length) : across
  const bars = groups.flatMap((_, group) =>
    series.flatMap(({ title, slot, bars: own }, k): PlacedBar[] => {
      const bar = own[group]
      if (bar === null || bar === undefined) return []
      const x = group + 0.5 + ((k - (series.length - 1) / 2) * each) / room
      const height = bar.value !== null && isDrawable(bar.value) ? bar.value : null
      return [{ data: bar, series: cleanText(title), slot, x, label: labelOf(bar, decimals), height }]
    })
  )
  const labelHeight = GAP.value + (upright ? Math.max(...bars.map(({ label }) => drawnWidth(label, TEXT_SIZE))) : LINE)
  const y = valueRange(bars, from, labelHeight / plot.height)
  const yTicks = bars.some(bar => bar.height !== null) ? ticksOf(y) : NO_TICKS
  return {
    data,
    bars,
    upright,
    y,
    thickness: each * 0.94,
    yTicks,
    axisTitle: wrapWidth(fittedTitle(axisTitleOf(data), yTicks, plot.height * MAX_AXIS_LINES), TEXT_SIZE, plot.height, MAX_AXIS_LINES),
    groupTitles: groups.map(title => wrapWidth(cleanText(title), TEXT_SIZE, room - 4, MAX_TITLE_LINES))
  }
}

/** @param label share of the axis length that a value takes beyond the end of its bar */
function valueRange(bars: readonly PlacedBar[], from: number, label: number): Range {
  const { min, max } = extent([from, ...bars.flatMap(({ height }) => height ?? [])]) ?? { min: from, max: from }
  if (max === min) return { min: from, max: from + 1 }
  // Values get room at each end that bars point to.
  const above = max > from ? label + 0.02 : 0
  const below = min < from ? label + 0.02 : 0
  const length = (max - min) / Math.max(0.2, 1 - above - below)
  return { min: min - below * length, max: max + above * length }
}

function ticksOf(range: Range): Ticks {
  return niceTicks(range, 6, range.max - range.min >= 4 && range.max < 1e9 ? 'count' : 'value')
}

/** Height below the plot that the group titles take, in points. */
export function groupTitleHeight({ groupTitles }: PreparedBars): number {
  return GAP.title + Math.max(...groupTitles.map(lines => lines.length)) * LINE + 2
}

/** Each bar is a series of its own, because each has its own look and place. */
function datasetsOf({ bars, thickness, data: { from } }: PreparedBars): Plain[] {
  return bars.flatMap(({ data, series, slot, x, height }) => {
    if (height === null) return []
    const { fill, stroke, strokeWidth } = barMark(slot, data.published)
    return [
      {
        label: series,
        data: [{ x, y: height }],
        base: from,
        grouped: false,
        barThickness: thickness,
        inflateAmount: 0,
        backgroundColor: fill,
        borderColor: stroke,
        borderWidth: strokeWidth,
        borderSkipped: false
      }
    ]
  })
}

function annotationsOf(panel: PreparedBars, plot: Rectangle): { [name: string]: Plain } {
  const {
    bars,
    thickness,
    upright,
    y,
    data: { from, groups },
    groupTitles
  } = panel
  const annotations: { [name: string]: Plain } = {}
  const perPoint = { x: groups.length / plot.width, y: (y.max - y.min) / plot.height }
  const font = { family: FONT_FAMILY, size: TEXT_SIZE, lineHeight: 1.2 }
  const always = { drawTime: 'afterDatasetsDraw', adjustScaleRange: false } as const
  type More = { readonly [key: string]: Plain }
  const label = (content: string | readonly string[], xValue: number, yValue: number, more: More): Plain => ({
    type: 'label',
    content,
    padding: 0,
    color: INK.text,
    font,
    xValue,
    yValue,
    ...always,
    z: 2,
    ...more
  })
  bars.forEach(({ data, slot, x, label: text, height }, k) => {
    const end = height ?? from
    const down = end < from
    const half = (upright ? drawnWidth(text, TEXT_SIZE) : LINE) / 2 + GAP.value
    annotations[`value-${k}`] = label(text, x, end, {
      yAdjust: down ? half : -half,
      // A white background covers the grid lines. Upright values have none: they stand so close that it would cover the
      // bars beside them.
      ...(upright ? { rotation: -90 } : { backgroundColor: '#ffffff' })
    })
    if (height === null || data.published) return
    const [top, bottom] = [Math.max(end, from), Math.min(end, from)]
    const left = x - (thickness / 2) * perPoint.x
    hatchLines(thickness, (top - bottom) / perPoint.y).forEach(([a, b], j) => {
      annotations[`hatch-${k}-${j}`] = {
        type: 'line',
        xMin: left + a.x * perPoint.x,
        yMin: top - a.y * perPoint.y,
        xMax: left + b.x * perPoint.x,
        yMax: top - b.y * perPoint.y,
        borderColor: barMark(slot, false).hatch,
        borderWidth: HATCH_LINE,
        ...always
      }
    })
  })
  groupTitles.forEach((lines, group) => {
    annotations[`group-${group}`] = label(lines, group + 0.5, y.min, { yAdjust: GAP.title + (lines.length * LINE) / 2 })
  })
  // The base line of the bars, drawn over their outlines.
  annotations['base'] = {
    type: 'line',
    xMin: 0,
    xMax: groups.length,
    yMin: from,
    yMax: from,
    borderColor: INK.zero,
    borderWidth: 0.8,
    ...always,
    z: 1
  }
  return annotations
}

/** Width of a plot in which every value has its own place. */
export function neededWidth({ groups, series }: BarPanelData): number {
  return (groups.length * series.length * LINE) / FILLED_UPRIGHT
}

export interface BarPanelOptions {
  readonly label: string
  readonly box: Rectangle
  readonly axisWidth: number
  readonly xAxisHeight: number
}

export function barPanel(panel: PreparedBars, { label, box, axisWidth, xAxisHeight }: BarPanelOptions): PanelConfig {
  const { data, bars, y, yTicks, axisTitle } = panel
  const x: Range = { min: 0, max: data.groups.length }
  const plot = plotArea(box, axisWidth, xAxisHeight)
  const annotations = annotationsOf(panel, plot)
  if (bars.every(({ height }) => height === null)) annotations['note'] = emptyNote('no value', x, y)
  return {
    label,
    title: fitWidth(cleanText(data.title), HEADING.size, box.width - HEADING.indent),
    box,
    plot,
    chart: {
      type: 'bar',
      data: { datasets: datasetsOf(panel) },
      options: chartOptions(
        {
          x: chartAxis({ axis: 'x', range: x, ticks: NO_TICKS, title: null, size: xAxisHeight, grid: false }),
          y: chartAxis({ axis: 'y', range: y, ticks: yTicks, title: axisTitle, size: axisWidth })
        },
        annotations
      )
    }
  }
}
