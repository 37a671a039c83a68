/**
 * Figure 8, critic traces. The upper row shows (a) the mean value and (b) the endpoint difference of every trace by
 * trainer step. Below are (c) the success example and (d) the failure example, token by token, each with its own y
 * limits. The figure is two columns wide, 7.0 by 5.9 inches.
 */
import type { CriticTraceFigureData } from '../../../compute/traces/contract.js'
import { OUTPUT_PATHS } from '../../outputs/output-names.js'
import type { FigureConfig, LegendKey, Rectangle } from '../config.js'
import type { FigureDefinition } from '../definition.js'
import { HEADING_HEIGHT, LEGEND_Y, SHEET_MARGIN, SHEET_WIDTH } from '../sheet.js'
import { INK, SERIES } from '../palette.js'
import {
  FONT_FAMILY,
  figureTitle,
  GUIDE,
  legendRow,
  MEAN_LINE,
  PLOT_PADDING,
  plotArea,
  RAW_LINE,
  syntheticMark,
  X_AXIS_HEIGHT,
  yAxisWidth
} from '../style.js'
import { describeFigure08 } from './describe.js'
import { examplePanel, prepareExample } from './example.js'
import { findExample, outcomeKind, KINDS, overviewAxis, overviewPanel, traceAxis } from './overview.js'

export { describeFigure08 } from './describe.js'

const NAME = '08-critic-traces'
const TITLE = 'Critic values by outcome and model turn'
/** a multiple of 6, like the width: this gives a whole number of pixels at 300 dpi */
const HEIGHT = 426
const GUTTER = 6
const FIRST_ROW = 38
const ROW_GAP = 7
/** approximate width of a y axis; the exact width depends on labels, which depend on the plot */
const NOMINAL_AXIS = 42
const PLOT_HEIGHTS = [73, 83, 83] as const

/** Chart box of row 0, 1 or 2; row 0 has two columns. */
function boxOf(row: 0 | 1 | 2, column?: 0 | 1): Rectangle {
  let y = FIRST_ROW + HEADING_HEIGHT
  for (let r = 0; r < row; r++) y += PLOT_PADDING.top + PLOT_HEIGHTS[r] + X_AXIS_HEIGHT + ROW_GAP + HEADING_HEIGHT
  const full = SHEET_WIDTH - 2 * SHEET_MARGIN
  const half = (full - GUTTER) / 2
  const height = PLOT_PADDING.top + PLOT_HEIGHTS[row] + X_AXIS_HEIGHT
  if (column === undefined) return { x: SHEET_MARGIN, y, width: full, height }
  return { x: SHEET_MARGIN + column * (half + GUTTER), y, width: half, height }
}

function legend(traces: CriticTraceFigureData['traces']): LegendKey[] {
  const kinds = KINDS.filter(kind => traces.some(trace => outcomeKind(trace) === kind))
  const { success, failure } = SERIES
  return legendRow(SHEET_MARGIN, LEGEND_Y, [
    ...kinds.map(kind => {
      const label = kind === 'unknown' ? 'outcome not stated' : kind
      return { kind: 'point' as const, style: SERIES[kind], label }
    }),
    { kind: 'line', colors: [success.strong, failure.strong], width: MEAN_LINE, dash: [], label: 'mean of a generated span' },
    { kind: 'line', colors: [success.faint, failure.faint], width: RAW_LINE * 2, dash: [], label: 'token values' },
    { kind: 'line', colors: [INK.guide], width: GUIDE.width * 1.5, dash: GUIDE.dash, label: 'turn boundary' }
  ])
}

/**
 * The whole figure as plain data.
 * @throws Fault only for data that contradict themselves: boundaries out of order, or a jump that is not in the values
 */
export function buildFigure08(data: CriticTraceFigureData): FigureConfig {
  const { traces } = data
  const x = traceAxis(data, plotArea(boxOf(0, 0), NOMINAL_AXIS).width)
  const mean = overviewAxis(traces, x, 'mean')
  const delta = overviewAxis(traces, x, 'delta')
  const success = prepareExample('success', data.success, plotArea(boxOf(1), NOMINAL_AXIS))
  const failure = prepareExample('failure', data.failure, plotArea(boxOf(2), NOMINAL_AXIS))
  // The three axes on the left have one width, so that their plots are aligned.
  const left = Math.max(yAxisWidth(mean.ticks), yAxisWidth(success.yTicks), yAxisWidth(failure.yTicks))
  const shown = [
    { letter: 'c', example: data.success },
    { letter: 'd', example: data.failure }
  ]
  const marked = shown.flatMap(({ letter, example }) => {
    const index = findExample(traces, example)
    return index === null ? [] : [{ letter, index }]
  })
  const overview = { traces, x, marked }
  return {
    name: NAME,
    title: TITLE,
    description: describeFigure08(data),
    width: SHEET_WIDTH,
    height: HEIGHT,
    fontFamily: FONT_FAMILY,
    texts: [figureTitle(TITLE, SHEET_MARGIN), ...(data.synthetic ? [syntheticMark(SHEET_WIDTH - PLOT_PADDING.right - SHEET_MARGIN)] : [])],
    legend: legend(traces),
    panels: [
      overviewPanel({
        ...overview,
        label: '(a)',
        title: 'Mean value of each trace',
        yTitle: 'Mean value',
        quantity: 'mean',
        y: mean,
        box: boxOf(0, 0),
        axisWidth: left
      }),
      overviewPanel({
        ...overview,
        label: '(b)',
        title: 'Endpoint difference of each trace',
        yTitle: 'Last \u2212 first value',
        quantity: 'delta',
        y: delta,
        box: boxOf(0, 1),
        axisWidth: yAxisWidth(delta.ticks)
      }),
      examplePanel('(c)', success, boxOf(1), left),
      examplePanel('(d)', failure, boxOf(2), left)
    ]
  }
}

export const figure08: FigureDefinition = {
  name: NAME,
  build: ({ criticTraces: data }) =>
    data === undefined ? [] : [{ config: buildFigure08(data), drawnFrom: [OUTPUT_PATHS.trajectories, OUTPUT_PATHS.arrow] }]
}
