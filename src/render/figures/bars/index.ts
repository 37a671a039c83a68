/**
 * Bar figures, which a study declares over its written evidence. A figure as wide as a page has up to three panels in a
 * row. Not supported: more than 26 panels, horizontal bars, stacked bars.
 */
import type { BarFigureData, BarPanelData } from '../../../compute/evidence/contract.js'
import { Fault } from '../../../core/errors.js'
import type { FigureConfig, PanelConfig } from '../config.js'
import type { FigureDefinition } from '../definition.js'
import { figureHead } from '../head.js'
import { HEADING_HEIGHT, innerWidth, LETTERS, LONGEST_KEY, PAGE_SHEET, SHEET_MARGIN, sheetHeight, type FigureSheet } from '../sheet.js'
import { FONT_FAMILY, PLOT_PADDING, plotArea, TEXT_SIZE, yAxisWidth, type KeyEntry } from '../style.js'
import { cleanText, fitWidth } from '../text-width.js'
import { describeBarFigure } from './describe.js'
import { barPanel, groupTitleHeight, neededWidth, prepareBars, type PreparedBars } from './panel.js'
import { barMark, STAND_IN, STAND_IN_LABEL } from './style.js'

const GUTTER = 8
const ROW_GAP = 8
const PLOT_HEIGHT = 128
/** approximate width of a y axis; the exact width depends on labels, which depend on the plot */
const NOMINAL_AXIS = 48

/** One legend key for each series, whatever panels it is in, and one for stand-ins where there are any. */
function legendEntries({ panels }: BarFigureData): KeyEntry[] {
  const series = new Map(panels.flatMap(panel => panel.series.map(({ slot, title }) => [title, slot])))
  const standIns = panels.some(panel => panel.series.some(({ bars }) => bars.some(bar => bar?.published === false)))
  return [
    ...[...series].map(
      ([title, slot]): KeyEntry => ({ kind: 'bar', mark: barMark(slot, true), label: fitWidth(cleanText(title), TEXT_SIZE, LONGEST_KEY) })
    ),
    ...(standIns ? [{ kind: 'bar', mark: STAND_IN, label: STAND_IN_LABEL } as const] : [])
  ]
}

function boxWidth(columns: number, sheet: FigureSheet): number {
  return (innerWidth(sheet) - (columns - 1) * GUTTER) / columns
}

/** Number of panels in a row: as many as have room for the values on their bars. */
function columnsOf(panels: readonly BarPanelData[], sheet: FigureSheet): number {
  if (sheet.columns === 1) return 1
  const widest = Math.max(...panels.map(neededWidth))
  const fitting = [3, 2].find(columns => boxWidth(columns, sheet) - NOMINAL_AXIS - PLOT_PADDING.right >= widest) ?? 1
  return Math.min(panels.length, panels.length === 4 ? Math.min(fitting, 2) : fitting)
}

interface WithAxes {
  readonly prepared: readonly PreparedBars[]
  /** one width for each column, so that plots above each other are aligned */
  readonly axisWidths: readonly number[]
}

/**
 * Finds the axis widths. They depend on each other in a circle: the width follows from the labels, the labels from the
 * range, the range from the room for values, and that room from the width of the plot. The axes therefore grow until
 * the labels that they then show fit.
 */
function withAxes(panels: readonly BarPanelData[], columns: number, width: number): WithAxes {
  let axisWidths: readonly number[] = Array.from({ length: columns }, () => NOMINAL_AXIS)
  for (let round = 0; ; round++) {
    const prepared = panels.map((panel, k) =>
      prepareBars(panel, plotArea({ x: 0, y: 0, width, height: PLOT_HEIGHT + PLOT_PADDING.top }, axisWidths[k % columns], 0))
    )
    const needed = axisWidths.map((_, column) =>
      Math.max(...prepared.filter((_, k) => k % columns === column).map(({ yTicks, axisTitle }) => yAxisWidth(yTicks, axisTitle.length)))
    )
    const enough = round > 0 && needed.every((one, column) => one <= axisWidths[column])
    if (enough) return { prepared, axisWidths }
    axisWidths = round === 0 ? needed : needed.map((one, column) => Math.max(one, axisWidths[column]))
  }
}

/**
 * The whole figure as plain data.
 * @throws Fault for data with more panels than a figure has room for, or with none
 */
export function buildBarFigure(data: BarFigureData, sheet: FigureSheet = PAGE_SHEET): FigureConfig {
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
  const columns = columnsOf(data.panels, sheet)
  const width = boxWidth(columns, sheet)
  const title = cleanText(data.title)
  const { texts, legend, end } = figureHead(title, data.synthetic, legendEntries(data), sheet)
  const { prepared, axisWidths } = withAxes(data.panels, columns, width)
  const labels = prepared.map((_, k) => `(${LETTERS[k]})`)
  let y = end
  const panels: PanelConfig[] = []
  for (let first = 0; first < count; first += columns) {
    const row = prepared.slice(first, first + columns)
    const xAxisHeight = Math.max(...row.map(groupTitleHeight))
    const height = PLOT_PADDING.top + PLOT_HEIGHT + xAxisHeight
    y += HEADING_HEIGHT
    row.forEach((panel, k) => {
      const box = { x: SHEET_MARGIN + k * (width + GUTTER), y, width, height }
      panels.push(barPanel(panel, { label: labels[first + k], box, axisWidth: axisWidths[k], xAxisHeight }))
    })
    y += height + ROW_GAP
  }
  return {
    name: data.name,
    title,
    description: describeBarFigure(data, labels),
    width: sheet.width,
    height: sheetHeight(y - ROW_GAP + SHEET_MARGIN),
    fontFamily: FONT_FAMILY,
    texts,
    legend,
    panels
  }
}

export const barFigureDefinition: FigureDefinition = {
  name: 'bars',
  build: ({ bars = [] }, sheet) => bars.map(data => ({ config: buildBarFigure(data, sheet), drawnFrom: data.drawnFrom }))
}
