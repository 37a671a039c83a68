/**
 * Figure 8, critic traces. The upper row shows (a) the mean value and (b) the endpoint difference of every trace by
 * trainer step. Below are (c) the success example and (d) the failure example, token by token, each with its own y
 * limits.
 */
import type { CriticTraceFigureData } from '../../../compute/traces/contract.js'
import { OUTPUT_PATHS } from '../../outputs/output-names.js'
import type { FigureConfig, Rectangle } from '../config.js'
import type { FigureDefinition } from '../definition.js'
import { figureHead } from '../head.js'
import { HEADING_HEIGHT, innerWidth, PAGE_SHEET, SHEET_MARGIN, sheetHeight, type FigureSheet } from '../sheet.js'
import {
  FONT_FAMILY,
  GUIDE,
  INK,
  MEAN_LINE,
  PLOT_PADDING,
  plotArea,
  RAW_LINE,
  SERIES,
  X_AXIS_HEIGHT,
  yAxisWidth,
  type KeyEntry
} from '../style.js'
import { describeFigure08 } from './describe.js'
import { examplePanel, prepareExample } from './example.js'
import { findExample, outcomeKind, KINDS, overviewAxis, overviewPanel, traceAxis } from './overview.js'

export { describeFigure08 } from './describe.js'

const NAME = '08-critic-traces'
const TITLE = 'Critic values by outcome and model turn'
const GUTTER = 6
const ROW_GAP = 7
/** approximate width of a y axis; the exact width depends on labels, which depend on the plot */
const NOMINAL_AXIS = 42
const PLOT_HEIGHTS = [73, 73, 83, 83] as const

interface PanelBoxes {
  /** chart boxes of the panels, in their order */
  readonly boxes: readonly Rectangle[]
  readonly height: number
}

/** Two panels over two wide ones; in a column all four one below the other. */
function layOut(top: number, sheet: FigureSheet): PanelBoxes {
  const full = innerWidth(sheet)
  const half = (full - GUTTER) / 2
  const boxes: Rectangle[] = []
  let y = top
  for (const [panel, plotHeight] of PLOT_HEIGHTS.entries()) {
    const isRight = panel === 1 && sheet.columns > 1
    if (!isRight) y += HEADING_HEIGHT
    const height = PLOT_PADDING.top + plotHeight + X_AXIS_HEIGHT
    const width = panel < 2 && sheet.columns > 1 ? half : full
    boxes.push({ x: SHEET_MARGIN + (isRight ? half + GUTTER : 0), y: isRight ? boxes[0].y : y, width, height })
    if (panel !== 0 || sheet.columns === 1) y += height + ROW_GAP
  }
  return { boxes, height: sheetHeight(y - ROW_GAP + SHEET_MARGIN) }
}

function legendEntries(traces: CriticTraceFigureData['traces']): KeyEntry[] {
  const kinds = KINDS.filter(kind => traces.some(trace => outcomeKind(trace) === kind))
  const { success, failure } = SERIES
  return [
    ...kinds.map(kind => {
      const label = kind === 'unknown' ? 'outcome not stated' : kind
      return { kind: 'point' as const, style: SERIES[kind], label }
    }),
    { kind: 'line', colors: [success.strong, failure.strong], width: MEAN_LINE, dash: [], label: 'mean of a generated span' },
    { kind: 'line', colors: [success.faint, failure.faint], width: RAW_LINE * 2, dash: [], label: 'token values' },
    { kind: 'line', colors: [INK.guide], width: GUIDE.width * 1.5, dash: GUIDE.dash, label: 'turn boundary' }
  ]
}

/**
 * The whole figure as plain data.
 * @throws Fault only for data that contradict themselves: boundaries out of order, or a jump that is not in the values
 */
export function buildFigure08(data: CriticTraceFigureData, sheet: FigureSheet = PAGE_SHEET): FigureConfig {
  const { traces } = data
  const { texts, legend, end } = figureHead(TITLE, data.synthetic, legendEntries(traces), sheet)
  const { boxes, height } = layOut(end, sheet)
  const x = traceAxis(data, plotArea(boxes[0], NOMINAL_AXIS).width)
  const mean = overviewAxis(traces, x, 'mean')
  const delta = overviewAxis(traces, x, 'delta')
  const success = prepareExample('success', data.success, plotArea(boxes[2], NOMINAL_AXIS))
  const failure = prepareExample('failure', data.failure, plotArea(boxes[3], NOMINAL_AXIS))
  // The axes below each other have one width, so that their plots are aligned.
  const column = [mean.ticks, success.yTicks, failure.yTicks, ...(sheet.columns === 1 ? [delta.ticks] : [])]
  const left = Math.max(...column.map(ticks => yAxisWidth(ticks)))
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
    width: sheet.width,
    height,
    fontFamily: FONT_FAMILY,
    texts,
    legend,
    panels: [
      overviewPanel({
        ...overview,
        label: '(a)',
        title: 'Mean value of each trace',
        yTitle: 'Mean value',
        quantity: 'mean',
        y: mean,
        box: boxes[0],
        axisWidth: left
      }),
      overviewPanel({
        ...overview,
        label: '(b)',
        title: 'Endpoint difference of each trace',
        yTitle: 'Last \u2212 first value',
        quantity: 'delta',
        y: delta,
        box: boxes[1],
        axisWidth: sheet.columns === 1 ? left : yAxisWidth(delta.ticks)
      }),
      examplePanel('(c)', success, boxes[2], left),
      examplePanel('(d)', failure, boxes[3], left)
    ]
  }
}

export const figure08: FigureDefinition = {
  name: NAME,
  build: ({ criticTraces: data }, sheet) =>
    data === undefined ? [] : [{ config: buildFigure08(data, sheet), drawnFrom: [OUTPUT_PATHS.trajectories, OUTPUT_PATHS.arrow] }]
}
