/** The sheet of the figures of the diagnostics: title, legend, rows of two panels, and lines at the foot. */
import type { Quality } from '../../../compute/diagnostics/contract.js'
import type { FigureText, LegendKey, Rectangle } from '../config.js'
import { formatPlural } from '../format.js'
import { figureHead } from '../head.js'
import { HEADING_HEIGHT, innerWidth, LONGEST_KEY, SHEET_MARGIN, sheetHeight, type FigureSheet } from '../sheet.js'
import { INK, PLOT_PADDING, pointMark, TEXT_SIZE, X_AXIS_HEIGHT, type KeyEntry } from '../style.js'
import { cleanText, fitWidth, wrapWidth } from '../text-width.js'
import { BAND_LINE, isDrawn, type BandSeries } from './series.js'

const GUTTER = 8
const ROW_GAP = 8
const FOOT_LINE = 12
/** A line at the foot takes at most so many. */
const MOST_LINES = 4

export interface BandSheet {
  readonly height: number
  readonly texts: readonly FigureText[]
  readonly legend: readonly LegendKey[]
  /** chart box of a panel */
  box(row: number, column: 0 | 1): Rectangle
}

export interface BandSheetParts {
  readonly title: string
  /** names of the snapshots, which others chose */
  readonly about: readonly string[]
  readonly synthetic: boolean
  readonly legend: readonly KeyEntry[]
  /** sentences below the panels, each on a line of its own */
  readonly foot: readonly string[]
  /** heights of the plots of each row of two panels */
  readonly plotHeights: readonly number[]
}

/** Of panels that are not laid out yet. */
export const NO_BOX: Rectangle = { x: 0, y: 0, width: 1, height: 1 }

/** Rows of two panels; in a column the right one stands below the left one. */
export function bandSheet({ title, about, synthetic, legend, foot, plotHeights }: BandSheetParts, sheet: FigureSheet): BandSheet {
  const head = figureHead(`${title}: ${about.map(cleanText).join(' against ')}`, synthetic, legend, sheet)
  const isColumn = sheet.columns === 1
  const heights = (isColumn ? plotHeights.flatMap(height => [height, height]) : plotHeights).map(
    height => PLOT_PADDING.top + height + X_AXIS_HEIGHT
  )
  const top = (row: number): number =>
    head.end + heights.slice(0, row).reduce((sum, height) => sum + height + ROW_GAP, 0) + (row + 1) * HEADING_HEIGHT
  const full = innerWidth(sheet)
  const half = (full - GUTTER) / 2
  const lines = foot.flatMap(line => wrapWidth(line, TEXT_SIZE, full, MOST_LINES))
  const height = sheetHeight(top(heights.length - 1) + heights[heights.length - 1] + 4 + lines.length * FOOT_LINE)
  const style = { x: SHEET_MARGIN, align: 'left', size: TEXT_SIZE, weight: 'normal', color: INK.quiet } as const
  return {
    height,
    legend: head.legend,
    texts: [...head.texts, ...lines.map((text, i): FigureText => ({ text, y: height - 4 - (lines.length - 1 - i) * FOOT_LINE, ...style }))],
    box(row, column) {
      if (isColumn) return { x: SHEET_MARGIN, y: top(2 * row + column), width: full, height: heights[2 * row + column] }
      return { x: SHEET_MARGIN + column * (half + GUTTER), y: top(row), width: half, height: heights[row] }
    }
  }
}

/** `20 prompt groups`, of two sets `20 prompt groups against 60 trajectories`. */
function unitsText(sets: readonly Pick<Quality, 'resampling'>[]): string {
  const text = ({ resampling: { unit, units } }: Pick<Quality, 'resampling'>): string =>
    unit === 'trajectory' ? formatPlural(units, 'trajectory', 'trajectories') : formatPlural(units, 'prompt group')
  return sets.map(text).join(' against ')
}

/** What the bands are. @param sets those that are drawn, the named one first */
export function bandsText(sets: readonly Pick<Quality, 'resampling'>[]): string {
  return `Bands: 95 % intervals by bootstrap over ${unitsText(sets)}`
}

/**
 * Legend keys of series that are drawn, one for each label.
 * @param points of these series points alone are drawn
 */
export function bandLegend(lines: readonly BandSeries[], points: readonly BandSeries[] = []): KeyEntry[] {
  const once = (series: readonly BandSeries[]): BandSeries[] =>
    series.filter((one, i) => isDrawn(one) && series.findIndex(other => other.label === one.label) === i)
  const shown = ({ label }: BandSeries): string => fitWidth(cleanText(label), TEXT_SIZE, LONGEST_KEY)
  return [
    ...once(lines).map((series): KeyEntry => {
      const { style, dash } = series
      return { kind: 'line', label: shown(series), colors: [style.strong], width: BAND_LINE, dash, mark: pointMark(style) }
    }),
    ...once(points).map((series): KeyEntry => ({ kind: 'point', label: shown(series), style: series.style }))
  ]
}
