/** The head of every figure: its title, the mark of synthetic data, and where the legend and the panels begin. */
import type { FigureText, LegendKey } from './config.js'
import { BELOW_LEGEND, BOLD, innerWidth, LEGEND_ROW, SHEET_MARGIN, type FigureSheet } from './sheet.js'
import { figureTitle, legendRows, PLOT_PADDING, syntheticMark, TITLE_SIZE, type KeyEntry } from './style.js'
import { drawnWidth, fitWidth, wrapWidth } from './text-width.js'

const LEGEND_Y = 27
const TITLE_LINE = 13
/** A title in a column is cut behind so many lines. */
const MOST_LINES = 3

export interface FigureHead {
  readonly texts: readonly FigureText[]
  readonly legend: readonly LegendKey[]
  /** where the first heading begins */
  readonly end: number
}

/** @param legend keys, in as many rows as they need */
export function figureHead(title: string, synthetic: boolean, legend: readonly KeyEntry[], sheet: FigureSheet): FigureHead {
  const mark = syntheticMark(sheet.width - PLOT_PADDING.right - SHEET_MARGIN)
  const size = TITLE_SIZE * BOLD
  const room = mark.x - SHEET_MARGIN - (synthetic ? drawnWidth(mark.text, mark.size) + 12 : 0)
  const lines = sheet.columns === 1 ? wrapWidth(title, size, innerWidth(sheet), MOST_LINES) : [fitWidth(title, size, room)]
  // In a column the mark has a line of its own where the title leaves no room for it.
  const below = synthetic && drawnWidth(lines[lines.length - 1] ?? '', size) > room
  const rows = Math.max(1, lines.length) + (below ? 1 : 0)
  const down = (rows - 1) * TITLE_LINE
  const keys = legendRows(SHEET_MARGIN, LEGEND_Y + down, legend, innerWidth(sheet), LEGEND_ROW)
  return {
    texts: [
      ...lines.map((line, k) => ({ ...figureTitle(line, SHEET_MARGIN), y: figureTitle(line, 0).y + k * TITLE_LINE })),
      ...(synthetic ? [{ ...mark, y: mark.y + down }] : [])
    ],
    legend: keys,
    end: (keys.length === 0 ? LEGEND_Y + down - LEGEND_ROW : keys[keys.length - 1].y) + BELOW_LEGEND
  }
}
