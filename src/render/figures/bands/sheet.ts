/** The sheet of the figures of the diagnostics: title, legend, rows of two panels, and lines at the foot. */
import type { Quality } from '../../../compute/diagnostics/contract.js'
import type { FigureText, LegendKey, Rectangle } from '../config.js'
import { BELOW_LEGEND, BOLD, HEADING_HEIGHT, LEGEND_Y, SHEET_MARGIN, SHEET_WIDTH } from '../sheet.js'
import {
  figureTitle,
  INK,
  legendRow,
  PLOT_PADDING,
  pointMark,
  syntheticMark,
  TEXT_SIZE,
  TITLE_SIZE,
  X_AXIS_HEIGHT,
  type KeyEntry
} from '../style.js'
import { formatPlural } from '../format.js'
import { cleanText, drawnWidth, fitWidth } from '../text-width.js'
import { BAND_LINE, isDrawn, type BandSeries } from './series.js'

const GUTTER = 8
const ROW_GAP = 8
const BELOW_FOOT = 4
const FOOT_LINE = 12
const ROOM_FOR_MARK = 80

export interface BandSheet {
  readonly height: number
  /** chart box of a panel; without a column it takes the whole width */
  box(row: number, column?: 0 | 1): Rectangle
  readonly footY: number
}

/** @param footLines number of lines at the foot */
export function bandSheet(plotHeights: readonly number[], footLines = 2): BandSheet {
  const first = LEGEND_Y + BELOW_LEGEND
  const heights = plotHeights.map(height => PLOT_PADDING.top + height + X_AXIS_HEIGHT)
  const top = (row: number): number =>
    first + heights.slice(0, row).reduce((sum, height) => sum + height + ROW_GAP, 0) + (row + 1) * HEADING_HEIGHT
  const end = top(heights.length - 1) + heights[heights.length - 1]
  const full = SHEET_WIDTH - 2 * SHEET_MARGIN
  const half = (full - GUTTER) / 2
  // a multiple of 6: a whole number of pixels at 300 dpi
  const height = Math.ceil((end + BELOW_FOOT + footLines * FOOT_LINE) / 6) * 6
  return {
    height,
    footY: height - BELOW_FOOT - (footLines - 1) * FOOT_LINE,
    box: (row, column) => ({
      x: SHEET_MARGIN + (column === 1 ? half + GUTTER : 0),
      y: top(row),
      width: column === undefined ? full : half,
      height: heights[row]
    })
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
 * @param about names of the snapshots, which others chose
 * @param foot a line each
 */
export function sheetTexts(
  title: string,
  about: readonly string[],
  foot: readonly string[],
  { footY }: BandSheet,
  synthetic: boolean
): FigureText[] {
  const room = SHEET_WIDTH - 2 * SHEET_MARGIN - (synthetic ? ROOM_FOR_MARK : 0)
  const shown = fitWidth(`${title}: ${about.map(cleanText).join(' against ')}`, TITLE_SIZE, room / BOLD)
  const size = TEXT_SIZE
  return [
    figureTitle(shown, SHEET_MARGIN),
    ...(synthetic ? [syntheticMark(SHEET_WIDTH - PLOT_PADDING.right - SHEET_MARGIN)] : []),
    ...foot.map(
      (line, i): FigureText => ({
        text: fitWidth(line, size, SHEET_WIDTH - 2 * SHEET_MARGIN),
        x: SHEET_MARGIN,
        y: footY + i * FOOT_LINE,
        align: 'left',
        size,
        weight: 'normal',
        color: INK.quiet
      })
    )
  ]
}

/** A legend key takes so much beside its label. */
const KEY_ROOM = 34

/**
 * Legend keys of series that are drawn, one for each label. A long label is cut, so that all have a place.
 * @param points of these series points alone are drawn
 */
export function bandLegend(lines: readonly BandSeries[], points: readonly BandSeries[] = []): LegendKey[] {
  const once = (series: readonly BandSeries[]): BandSeries[] =>
    series.filter((one, i) => isDrawn(one) && series.findIndex(other => other.label === one.label) === i)
  const labels = [...once(lines), ...once(points)].map(({ label }) => cleanText(label))
  const total = labels.reduce((sum, label) => sum + drawnWidth(label, TEXT_SIZE) + KEY_ROOM, 0)
  const width = SHEET_WIDTH - 2 * SHEET_MARGIN
  const room = total <= width ? Infinity : width / labels.length - KEY_ROOM
  const shown = ({ label }: BandSeries): string => fitWidth(cleanText(label), TEXT_SIZE, room)
  return legendRow(SHEET_MARGIN, LEGEND_Y, [
    ...once(lines).map((series): KeyEntry => {
      const { style, dash } = series
      return { kind: 'line', label: shown(series), colors: [style.strong], width: BAND_LINE, dash, mark: pointMark(style) }
    }),
    ...once(points).map((series): KeyEntry => ({ kind: 'point', label: shown(series), style: series.style }))
  ])
}
