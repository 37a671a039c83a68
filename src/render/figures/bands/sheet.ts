/** The sheet of the figures of the diagnostics: title, legend, rows of two panels, and lines at the foot. */
import type { Quality } from '../../../compute/diagnostics/contract.js'
import type { FigureText, LegendKey, Rectangle } from '../config.js'
import { formatPlural } from '../format.js'
import { figureHead } from '../head.js'
import { HEADING_HEIGHT, innerWidth, LONGEST_KEY, SHEET_MARGIN, sheetHeight, type FigureSheet } from '../sheet.js'
import { INK } from '../palette.js'
import { PLOT_PADDING, pointMark, TEXT_SIZE, X_AXIS_HEIGHT, type KeyEntry } from '../style.js'
import { cleanText, fitWidth, wrapWidth } from '../text-width.js'
import { BAND_LINE, isDrawn, type BandSeries } from './series.js'

const GUTTER = 8
const ROW_GAP = 8
const BELOW_FOOT = 4
const FOOT_LINE = 12
/** A line at the foot takes at most so many. */
const MOST_LINES = 4

export interface BandSheet {
  readonly height: number
  readonly texts: readonly FigureText[]
  readonly legend: readonly LegendKey[]
  /** chart box of panel 0, 1 … */
  box(panel: number): Rectangle
}

export interface BandSheetParts {
  readonly title: string
  /** names of the snapshots, which others chose */
  readonly about: readonly string[]
  readonly synthetic: boolean
  readonly legend: readonly KeyEntry[]
  /** sentences below the panels, each on a line of its own */
  readonly foot: readonly string[]
  /** number of panels */
  readonly panels: number
  readonly plotHeight: number
}

/** Rows of two panels, the last of an odd number as wide as both; in a column one below the other. */
export function bandSheet({ title, about, synthetic, legend, foot, panels, plotHeight }: BandSheetParts, sheet: FigureSheet): BandSheet {
  const head = figureHead(`${title}: ${about.map(cleanText).join(' against ')}`, synthetic, legend, sheet)
  const columns = sheet.columns === 1 ? 1 : 2
  const boxHeight = PLOT_PADDING.top + plotHeight + X_AXIS_HEIGHT
  const top = (row: number): number => head.end + row * (boxHeight + ROW_GAP) + (row + 1) * HEADING_HEIGHT
  const full = innerWidth(sheet)
  const half = (full - GUTTER) / 2
  const lines = foot.flatMap(line => wrapWidth(line, TEXT_SIZE, full, MOST_LINES))
  const bottom = top(Math.ceil(panels / columns) - 1) + boxHeight
  const height = sheetHeight(bottom + BELOW_FOOT + lines.length * FOOT_LINE)
  const style = { x: SHEET_MARGIN, align: 'left', size: TEXT_SIZE, weight: 'normal', color: INK.quiet } as const
  const footY = (line: number): number => height - BELOW_FOOT - (lines.length - 1 - line) * FOOT_LINE
  return {
    height,
    legend: head.legend,
    texts: [...head.texts, ...lines.map((text, i): FigureText => ({ text, y: footY(i), ...style }))],
    box(panel) {
      const column = panel % columns
      const alone = column === 0 && panel === panels - 1
      const width = columns === 1 || alone ? full : half
      return { x: SHEET_MARGIN + column * (half + GUTTER), y: top(Math.floor(panel / columns)), width, height: boxHeight }
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
