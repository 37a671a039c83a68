/**
 * Curve figures, which a study declares over its training histories. There is one panel for each metric, and two panels
 * in a row on a page. Not supported: more than 26 panels, horizontal axes of dates or logarithms.
 */
import type { CurveFigureData } from '../../../compute/histories/contract.js'
import { Fault } from '../../../core/errors.js'
import type { FigureConfig, PanelConfig, Rectangle } from '../config.js'
import type { FigureDefinition } from '../definition.js'
import { figureHead } from '../head.js'
import {
  HEADING_HEIGHT,
  innerWidth,
  LETTERS,
  LONGEST_KEY,
  loweredBox,
  PAGE_SHEET,
  SHEET_MARGIN,
  sheetHeight,
  type FigureSheet
} from '../sheet.js'
import {
  FONT_FAMILY,
  horizontalTicks,
  MEAN_LINE,
  NO_TICKS,
  PLOT_PADDING,
  plotArea,
  pointMark,
  TEXT_SIZE,
  UNTITLED_X_AXIS_HEIGHT,
  X_AXIS_HEIGHT,
  yAxisWidth,
  type KeyEntry
} from '../style.js'
import { cleanText, fitWidth } from '../text-width.js'
import { extent, type Range } from '../ticks.js'
import { describeCurveFigure } from './describe.js'
import { curvePanel, preparePanel, type SharedAxis } from './panel.js'
import { drawnPanel, type DrawnPanel } from './series.js'
import { curveStyle } from './style.js'

/** At 170 mm the heading of a half-width panel has room for a title and why a curve looks flat. */
const GUTTER = 4
const ROW_GAP = 8
const PLOT_HEIGHT = 112
/** height where one panel has the whole width */
const SINGLE_PLOT_HEIGHT = 190
/** approximate width of a y axis; the exact width depends on labels, which depend on the plot */
const NOMINAL_AXIS = 42

interface Layout {
  readonly boxes: readonly Rectangle[]
  readonly bottom: number
  readonly columns: 1 | 2
  readonly xAxisHeights: readonly number[]
}

/** Places the panels row by row, from 0 downwards. The horizontal axes of a row have titles where one of its panels has no panel below it. */
function layOut(count: number, sheet: FigureSheet): Layout {
  const columns = count === 1 || sheet.columns === 1 ? 1 : 2
  const width = (innerWidth(sheet) - (columns - 1) * GUTTER) / columns
  const plotHeight = count === 1 && sheet.columns > 1 ? SINGLE_PLOT_HEIGHT : PLOT_HEIGHT
  const boxes: Rectangle[] = []
  const xAxisHeights: number[] = []
  let y = 0
  for (let first = 0; first < count; first += columns) {
    const xAxisHeight = first + 2 * columns > count ? X_AXIS_HEIGHT : UNTITLED_X_AXIS_HEIGHT
    y += HEADING_HEIGHT
    const height = PLOT_PADDING.top + plotHeight + xAxisHeight
    for (let k = first; k < Math.min(first + columns, count); k++) {
      boxes.push({ x: SHEET_MARGIN + (k - first) * (width + GUTTER), y, width, height })
      xAxisHeights.push(xAxisHeight)
    }
    y += height + ROW_GAP
  }
  return { boxes, bottom: y - ROW_GAP + SHEET_MARGIN, columns, xAxisHeights }
}

function lowered(panel: PanelConfig, by: number): PanelConfig {
  return { ...panel, box: loweredBox(panel.box, by), plot: loweredBox(panel.plot, by) }
}

/** One horizontal axis for all panels. */
function sharedAxis(panels: readonly DrawnPanel[], title: string, width: number): SharedAxis {
  const xs = panels.flatMap(({ series, marks }) => [
    ...series.flatMap(({ raw, mean, edges }) => (mean === null ? [raw.x, edges] : [raw.x, mean.x, edges])),
    marks.map(mark => mark.x)
  ])
  const found = extent(...xs)
  const { min, max } = found ?? { min: 0, max: 1 }
  const share = (max - min) * 0.02
  // The margin keeps markers off the axes. Where all x are equal or nearly so, it still gives the axis a length.
  const margin = min - share < min && max + share > max ? share : Math.max(0.6, Math.max(Math.abs(min), Math.abs(max)) * 0.1)
  const range: Range = { min: min - margin, max: max + margin }
  const kind = range.max - range.min >= 4 || xs.every(list => list.every(Number.isInteger)) ? 'count' : 'value'
  return { range, ticks: found === null ? NO_TICKS : horizontalTicks(range, range, width, kind), title }
}

/** One legend key for each series, whatever panels it is in, with its marker where any of them has markers. */
function legendEntries(panels: readonly DrawnPanel[]): KeyEntry[] {
  const series = new Map<string, { readonly slot: number; readonly title: string }>()
  for (const { slot, title } of panels.flatMap(panel => panel.series)) series.set(JSON.stringify([slot, title]), { slot, title })
  const marked = panels.some(({ data, series: own }) => data.sparse || own.some(({ mean }) => mean === null))
  return [...series.values()]
    .sort((a, b) => a.slot - b.slot)
    .map(({ slot, title }) => {
      const style = curveStyle(slot)
      const label = fitWidth(title, TEXT_SIZE, LONGEST_KEY)
      return {
        kind: 'line',
        colors: [style.strong],
        width: MEAN_LINE,
        dash: style.dash,
        ...(marked ? { mark: pointMark(style) } : {}),
        label
      }
    })
}

/**
 * The whole figure as plain data.
 * @throws Fault for data that contradict themselves, with more panels than a figure has room for, or with none
 */
export function buildCurveFigure(data: CurveFigureData, sheet: FigureSheet = PAGE_SHEET): FigureConfig {
  const count = data.panels.length
  if (count < 1 || count > LETTERS.length) {
    throw new Fault({
      format: 'figure',
      problem: 'has no room for its panels',
      found: String(count),
      expected: `1 to ${LETTERS.length}`,
      place: { member: data.name }
    })
  }
  const panels = data.panels.map(drawnPanel)
  // The panels are laid out from 0: how high the legend is follows from the names that stand in them.
  const { boxes, bottom, columns, xAxisHeights } = layOut(count, sheet)
  const nominal = plotArea(boxes[0], NOMINAL_AXIS, xAxisHeights[0])
  const xTitle = cleanText(data.xTitle)
  const x = sharedAxis(panels, xTitle, nominal.width)
  const prepared = panels.map(panel => preparePanel(panel, x.range, nominal))
  // Axes above each other have one width, so that their plots are aligned.
  const axisWidths = [0, 1].map(column =>
    Math.max(0, ...prepared.filter((_, k) => k % columns === column).map(panel => yAxisWidth(panel.yTicks)))
  )
  const labels = prepared.map((_, k) => `(${LETTERS[k]})`)
  const drawn = prepared.map((panel, k) =>
    curvePanel(panel, {
      label: labels[k],
      box: boxes[k],
      axisWidth: axisWidths[k % columns],
      xAxisHeight: xAxisHeights[k],
      x,
      xTitle: xAxisHeights[k] === X_AXIS_HEIGHT
    })
  )
  const title = cleanText(data.title)
  const entries = drawn.every(({ named }) => named) ? [] : legendEntries(panels)
  const { texts, legend, end } = figureHead(title, data.synthetic, entries, sheet)
  return {
    name: data.name,
    title,
    description: describeCurveFigure(prepared, labels, xTitle, data.synthetic),
    width: sheet.width,
    height: sheetHeight(bottom + end),
    fontFamily: FONT_FAMILY,
    texts,
    legend,
    panels: drawn.map(({ config }) => lowered(config, end))
  }
}

export const curveFigureDefinition: FigureDefinition = {
  name: 'curves',
  build: ({ curves = [] }, sheet) =>
    curves.map(data => ({
      config: buildCurveFigure(data, sheet),
      drawnFrom: data.drawnFrom,
      ...(data.readings === undefined ? {} : { readings: data.readings })
    }))
}
