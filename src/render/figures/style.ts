/** The common style of all figures: type sizes, axes, legends. No text is smaller than 8 points. The colours stand in `palette.ts`. */
import type { AxisScale } from '../../schema/histories.js'
import type { BarMark, FigureText, LegendKey, Plain, PointMark, Rectangle } from './config.js'
import { INK, type SeriesStyle } from './palette.js'
import { DRAWABLE } from './scales.js'
import { drawnWidth, fitWidth } from './text-width.js'
import { factorText, fittingTicks, type Range, type Ticks } from './ticks.js'

export const FONT_FAMILY = 'DejaVu Sans'
export const TEXT_SIZE = 8
export const TITLE_SIZE = 10
/** A panel's label and title. Their baseline is `above` the chart box, and the title is `indent` to the right of the label. */
export const HEADING = { size: 8.5, above: 4, indent: 18 } as const

/** Every axis states its font. Chart.js uses the font of the chart for the room of an axis, but not for its text. */
const AXIS_FONT = { family: FONT_FAMILY, size: TEXT_SIZE, lineHeight: 1.2 } as const
/** Height of an x axis with tick, tick label and title, and of one without a title. */
export const X_AXIS_HEIGHT = 25
export const UNTITLED_X_AXIS_HEIGHT = 15
/** Room above and to the right of a plot for the halves of the outermost labels. */
export const PLOT_PADDING = { top: 3, right: 10 } as const
const TICK = { length: 3, padding: 2 } as const
const Y_TITLE_WIDTH = 13

/**
 * Width that a y axis with these labels needs.
 * @param titleLines number of lines of its title
 */
export function yAxisWidth(ticks: Ticks, titleLines = 1): number {
  const widest = Math.max(0, ...ticks.labels.map(label => drawnWidth(label, TEXT_SIZE)))
  return Math.ceil(Y_TITLE_WIDTH + (titleLines - 1) * TEXT_SIZE * AXIS_FONT.lineHeight + widest + TICK.length + TICK.padding + 2)
}

/** The plot area of a chart box whose y axis has the given width. */
export function plotArea(box: Rectangle, axisWidth: number, xAxisHeight: number = X_AXIS_HEIGHT): Rectangle {
  return {
    x: box.x + axisWidth,
    y: box.y + PLOT_PADDING.top,
    width: box.width - axisWidth - PLOT_PADDING.right,
    height: box.height - PLOT_PADDING.top - xAxisHeight
  }
}

export interface AxisOptions {
  readonly axis: 'x' | 'y'
  readonly range: Range
  readonly ticks: Ticks
  /** a list for several lines; null for none */
  readonly title: string | readonly string[] | null
  /** width of a y axis, height of an x axis */
  readonly size: number
  /** false: no grid lines across the plot */
  readonly grid?: boolean
  /** default linear */
  readonly scale?: AxisScale
}

const LINEAR: AxisScale = { kind: 'linear' }

/** `symlog` is the scale of `canvas/symlog.ts`; the others are Chart.js's own. */
function scaleType(scale: AxisScale): { readonly [key: string]: Plain } {
  if (scale.kind === 'symlog') return { type: 'symlog', linearTo: scale.linear_to }
  return { type: scale.kind === 'log' ? 'logarithmic' : 'linear' }
}

/** One value for all grid lines. Where some are minor, one value for each. */
function byTick<T extends Plain>({ minor }: Ticks, major: T, other: T): Plain {
  return minor === undefined ? major : minor.map(isMinor => (isMinor ? other : major))
}

/** The title of an axis, cut to a width, with the power of ten that its labels are in: `Learning rate (×10⁻⁶)`. */
export function fittedTitle(title: string, ticks: Ticks, width: number): string {
  const factor = factorText(ticks)
  return fitWidth(title, TEXT_SIZE, width - drawnWidth(factor, TEXT_SIZE)) + factor
}

export function chartAxis({ axis, range, ticks, title, size, grid = true, scale = LINEAR }: AxisOptions): Plain {
  return {
    ...scaleType(scale),
    axis,
    position: axis === 'x' ? 'bottom' : 'left',
    min: range.min,
    max: range.max,
    afterBuildTicks: { fn: 'tickValues', values: ticks.values },
    afterFit: { fn: 'fixedSize', side: axis === 'x' ? 'height' : 'width', size },
    ticks: {
      callback: { fn: 'tickLabels', labels: ticks.labels },
      autoSkip: false,
      minRotation: 0,
      maxRotation: 0,
      padding: TICK.padding,
      color: INK.text,
      font: AXIS_FONT
    },
    grid: {
      drawOnChartArea: grid,
      color: byTick(ticks, INK.grid, INK.minorGrid),
      lineWidth: byTick(ticks, 0.6, 0.4),
      tickColor: byTick(ticks, INK.axis, 'transparent'),
      tickWidth: 0.6,
      tickLength: TICK.length
    },
    border: { color: INK.axis, width: 0.6 },
    title: { display: title !== null, text: title ?? '', padding: 0, color: INK.text, font: AXIS_FONT }
  }
}

/** Options of every chart. Nothing is animated, interactive or self-sizing. The figure has its own headings and legend. */
export function chartOptions(
  scales: { readonly x: Plain; readonly y: Plain },
  annotations: { readonly [name: string]: Plain }
): { readonly [key: string]: Plain } {
  return {
    animation: false,
    responsive: false,
    maintainAspectRatio: false,
    events: [],
    parsing: false,
    normalized: true,
    font: { family: FONT_FAMILY, size: TEXT_SIZE, lineHeight: 1.2 },
    color: INK.text,
    layout: { autoPadding: false, padding: { left: 0, top: PLOT_PADDING.top, right: PLOT_PADDING.right, bottom: 0 } },
    scales,
    plugins: {
      legend: { display: false },
      tooltip: { enabled: false },
      annotation: { animations: false, clip: false, annotations }
    }
  }
}

export function isDrawable(value: number): boolean {
  return Math.abs(value) <= DRAWABLE
}

/** Ticks of an x axis of the given length. The axis counts something, unless `kind` says otherwise. */
export function horizontalTicks(values: Range, range: Range, width: number, kind: 'count' | 'value' = 'count'): Ticks {
  const labelWidth = (label: string): number => drawnWidth(label, TEXT_SIZE)
  return fittingTicks(values, 10, { range, width, overhang: PLOT_PADDING.right, labelWidth }, kind)
}

export const NO_TICKS: Ticks = { values: [], labels: [] }

/** A note in the middle of an empty plot that says why nothing is drawn. */
export function emptyNote(text: string, x: Range, y: Range): Plain {
  return {
    type: 'label',
    content: text,
    color: INK.quiet,
    padding: 0,
    font: { size: TEXT_SIZE },
    xValue: (x.min + x.max) / 2,
    yValue: (y.min + y.max) / 2,
    drawTime: 'afterDatasetsDraw',
    adjustScaleRange: false
  }
}

type KeySymbol =
  | { readonly kind: 'point'; readonly style: SeriesStyle }
  | { readonly kind: 'bar'; readonly mark: BarMark }
  | Pick<Extract<LegendKey, { readonly kind: 'line' }>, 'kind' | 'colors' | 'width' | 'dash' | 'mark'>

export type KeyEntry = KeySymbol & { readonly label: string }

const KEY_LENGTH = { point: 6, line: 16, bar: 13 } as const
const BAR_KEY_HEIGHT = 7
/** gap from a key to its label, and from a label to the next key */
const KEY_GAP = { label: 4, next: 14 } as const

export function pointMark({ pointStyle, rotation, radius, fill, strong }: SeriesStyle): PointMark {
  return { pointStyle, rotation, radius, fill, stroke: strong, strokeWidth: POINT_OUTLINE }
}

/** Width of a legend key with its label, without the gap to the next key. */
function keyWidth({ kind, label }: KeyEntry): number {
  return KEY_LENGTH[kind] + KEY_GAP.label + drawnWidth(label, TEXT_SIZE)
}

/** Legend keys in a row that starts at `left` and is centred on the line `y`. */
function legendRow(left: number, y: number, entries: readonly KeyEntry[]): LegendKey[] {
  let x = left
  return entries.map(entry => {
    const length = KEY_LENGTH[entry.kind]
    const at = { x, y, label: entry.label, labelX: x + length + KEY_GAP.label }
    x = at.labelX + drawnWidth(entry.label, TEXT_SIZE) + KEY_GAP.next
    if (entry.kind === 'point') return { kind: 'point', ...at, x: at.x + length / 2, ...pointMark(entry.style) }
    if (entry.kind === 'bar') return { kind: 'bar', ...at, width: length, height: BAR_KEY_HEIGHT, ...entry.mark }
    const { kind, colors, width, dash, mark } = entry
    return { kind, ...at, length, colors, width, dash, ...(mark === undefined ? {} : { mark }) }
  })
}

/** Legend keys in as many rows as they need. */
export function legendRows(left: number, y: number, entries: readonly KeyEntry[], width: number, rowHeight: number): LegendKey[] {
  const rows: KeyEntry[][] = [[]]
  let used = 0
  for (const entry of entries) {
    const needed = keyWidth(entry)
    if (used > 0 && used + needed > width) {
      rows.push([])
      used = 0
    }
    rows[rows.length - 1].push(entry)
    used += needed + KEY_GAP.next
  }
  return rows.flatMap((row, k) => legendRow(left, y + k * rowHeight, row))
}

export const POINT_OUTLINE = 1
export const MEAN_LINE = 1.6
export const RAW_LINE = 0.5
export const RAW_LINE_FEW = 0.9
export const GUIDE = { width: 0.6, dash: [0.8, 1.8] } as const

export function figureTitle(text: string, x: number): FigureText {
  return { text, x, y: 12, align: 'left', size: TITLE_SIZE, weight: 'bold', color: INK.text }
}

/** The text in a figure that says that its data were generated. */
export function syntheticMark(right: number): FigureText {
  return { text: 'synthetic replica', x: right, y: 12, align: 'right', size: TEXT_SIZE, weight: 'normal', color: INK.quiet }
}
