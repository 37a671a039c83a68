/**
 * The sheet on which a figure is laid out, in points: as wide as the text of a page (170 mm), or as one of its two columns (88 mm), where
 * panels stand one below the other. The texts have the same size on both. Widths are whole numbers of pixels at 300 dpi.
 */
import type { Rectangle } from './config.js'

export interface FigureSheet {
  readonly width: number
  /** most panels side by side */
  readonly columns: 1 | 3
}

export const PAGE_SHEET: FigureSheet = { width: 481.92, columns: 3 }
export const COLUMN_SHEET: FigureSheet = { width: 249.36, columns: 1 }

export const SHEET_MARGIN = 2
/** from the top of a row, where its heading starts, to its chart box */
export const HEADING_HEIGHT = 16
export const LEGEND_ROW = 12
/** from the last row of the legend to the first heading */
export const BELOW_LEGEND = 9
export const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
/** Largest ratio of the width of bold text to the width that `drawnWidth` gives. */
export const BOLD = 1.16
/** Largest width of a legend label. A longer label would leave no place for the others. */
export const LONGEST_KEY = 220

/** Width between the margins. */
export function innerWidth({ width }: FigureSheet): number {
  return width - 2 * SHEET_MARGIN
}

/** A multiple of 6 points is a whole number of pixels at 300 dpi. */
export function sheetHeight(needed: number): number {
  return Math.ceil(needed / 6) * 6
}

/** A box that was laid out from 0, below what stands above it. */
export function loweredBox(box: Rectangle, by: number): Rectangle {
  return { ...box, y: box.y + by }
}
