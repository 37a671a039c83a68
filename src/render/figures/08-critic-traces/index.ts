/**
 * Figure 8, critic traces. The upper row shows (a) the mean value and (b) the endpoint difference of every trace by
 * trainer step. Below are (c) the success example and (d) the failure example, token by token, each with its own y
 * limits; where one is missing the other has more room, and a line says why. The figure is two columns wide, 7.0 inches.
 */
import type { CriticTraceFigureData } from '../../../compute/traces/contract.js'
import { OUTPUT_PATHS } from '../../outputs/output-names.js'
import type { FigureConfig, LegendKey, Rectangle } from '../config.js'
import type { FigureDefinition } from '../definition.js'
import { BOLD, HEADING_HEIGHT, LEGEND_Y, LETTERS, SHEET_MARGIN, SHEET_WIDTH } from '../sheet.js'
import {
  FONT_FAMILY,
  figureTitle,
  GUIDE,
  INK,
  legendRow,
  MEAN_LINE,
  PLOT_PADDING,
  plotArea,
  RAW_LINE,
  SERIES,
  syntheticMark,
  TEXT_SIZE,
  TITLE_SIZE,
  X_AXIS_HEIGHT,
  yAxisWidth,
  type KeyEntry
} from '../style.js'
import { cleanText, drawnWidth, fitWidth } from '../text-width.js'
import { describeFigure08 } from './describe.js'
import { examplePanel, isRug, prepareExample, type PreparedExample } from './example.js'
import { findExample, outcomeKind, KINDS, overviewAxis, overviewPanel, traceAxis } from './overview.js'
import { isMany } from './summary.js'

export { describeFigure08 } from './describe.js'

const NAME = '08-critic-traces'
const TITLE = 'Critic values by outcome and model turn'
const GUTTER = 6
const FIRST_ROW = 38
const ROW_GAP = 7
/** approximate width of a y axis; the exact width depends on labels, which depend on the plot */
const NOMINAL_AXIS = 42
const OVERVIEW_HEIGHT = 73
/** of an example, and of one that stands alone */
const EXAMPLE_HEIGHT = 83
const SINGLE_HEIGHT = 120
const NOTE_LINE = 12

/** Chart box of row 0, which has two columns, or of an example below it. */
function boxOf(row: number, exampleHeight: number, column?: 0 | 1): Rectangle {
  const heightOf = (r: number): number => PLOT_PADDING.top + (r === 0 ? OVERVIEW_HEIGHT : exampleHeight) + X_AXIS_HEIGHT
  let y = FIRST_ROW + HEADING_HEIGHT
  for (let r = 0; r < row; r++) y += heightOf(r) + ROW_GAP + HEADING_HEIGHT
  const full = SHEET_WIDTH - 2 * SHEET_MARGIN
  const half = (full - GUTTER) / 2
  if (column === undefined) return { x: SHEET_MARGIN, y, width: full, height: heightOf(row) }
  return { x: SHEET_MARGIN + column * (half + GUTTER), y, width: half, height: heightOf(row) }
}

/** What stands in place of examples that are not drawn, whose room the others have. */
function missingNotes(traces: CriticTraceFigureData['traces'], examples: readonly PreparedExample[]): string[] {
  return examples.flatMap(({ outcome, missing }) => {
    if (missing === null) return []
    const none = traces.some(trace => trace.outcome === outcome) ? 'none was chosen' : `no trace is a ${outcome}`
    return [`No ${outcome} example: ${missing === 'no example' ? none : missing}.`]
  })
}

const NOTE_STYLE = { size: TEXT_SIZE, weight: 'normal', color: INK.quiet } as const

function legend(traces: CriticTraceFigureData['traces'], examples: readonly PreparedExample[], width: number): LegendKey[] {
  const { guide, rug } = { guide: 'turn boundary', rug: 'turn boundary (tick)' }
  const ways = examples.flatMap(({ example }) =>
    example === null || example.boundaries.length === 0 ? [] : [isRug(example.boundaries, width)]
  )
  const boundary = ways.length === 0 ? [] : [ways.every(way => way) ? rug : ways.some(way => way) ? 'turn boundary (or tick)' : guide]
  const outcomes = examples.map(({ outcome }) => SERIES[outcome])
  const kinds = KINDS.filter(kind => traces.some(trace => outcomeKind(trace) === kind))
  const line = (colors: readonly string[], lineWidth: number, label: string, dash: readonly number[] = []): KeyEntry => ({
    kind: 'line',
    colors,
    width: lineWidth,
    dash,
    label
  })
  return legendRow(SHEET_MARGIN, LEGEND_Y, [
    ...kinds.map(kind => {
      const label = kind === 'unknown' ? 'outcome not stated' : kind
      return { kind: 'point' as const, style: SERIES[kind], label }
    }),
    ...(outcomes.length === 0
      ? []
      : [
          line(
            outcomes.map(({ strong }) => strong),
            MEAN_LINE,
            'mean of a generated span'
          ),
          line(
            outcomes.map(({ faint }) => faint),
            RAW_LINE * 2,
            'token values'
          )
        ]),
    ...boundary.map(label => line([INK.guide], GUIDE.width * 1.5, label, label === rug ? [] : GUIDE.dash))
  ])
}

/**
 * The whole figure as plain data.
 * @throws Fault only for data that contradict themselves: boundaries out of order, or a jump that is not in the values
 */
export function buildFigure08(data: CriticTraceFigureData): FigureConfig {
  const { traces, labels } = data
  const x = traceAxis(data, plotArea(boxOf(0, EXAMPLE_HEIGHT, 0), NOMINAL_AXIS).width)
  const mean = overviewAxis(traces, x, 'mean')
  const delta = overviewAxis(traces, x, 'delta')
  const given = [data.success, data.failure].filter(example => example !== null && example.values.length > 0)
  const exampleHeight = given.length === 1 ? SINGLE_HEIGHT : EXAMPLE_HEIGHT
  const nominal = plotArea(boxOf(1, exampleHeight), NOMINAL_AXIS)
  const examples = [prepareExample('success', data.success, nominal), prepareExample('failure', data.failure, nominal)]
  const drawn = examples.filter(({ example }) => example !== null)
  // The axes on the left have one width, so that their plots are aligned.
  const left = Math.max(yAxisWidth(mean.ticks), ...drawn.map(({ yTicks }) => yAxisWidth(yTicks)))
  const marked = drawn.flatMap(({ example }, k) => {
    const index = findExample(traces, example)
    return index === null ? [] : [{ letter: LETTERS[2 + k], index }]
  })
  const overview = { traces, x, marked }
  const last = boxOf(drawn.length, exampleHeight)
  const notes = missingNotes(traces, examples)
  const bottom = last.y + last.height
  const mark = syntheticMark(SHEET_WIDTH - PLOT_PADDING.right - SHEET_MARGIN)
  const titleRoom = mark.x - SHEET_MARGIN - (data.synthetic ? drawnWidth(mark.text, mark.size) + 12 : 0)
  const title = fitWidth(`${TITLE}: ${cleanText(data.source)}`, TITLE_SIZE * BOLD, titleRoom)
  const many = isMany(x.positions) ? ' (median, quartiles, 5\u201395 %)' : ' of each trace'
  return {
    name: NAME,
    title: TITLE,
    description: describeFigure08(data),
    width: SHEET_WIDTH,
    // a multiple of 6, like the width: this gives a whole number of pixels at 300 dpi
    height: Math.ceil((bottom + notes.length * NOTE_LINE + SHEET_MARGIN) / 6) * 6,
    fontFamily: FONT_FAMILY,
    texts: [
      figureTitle(title, SHEET_MARGIN),
      ...(data.synthetic ? [mark] : []),
      ...notes.map((text, k) => ({ ...figureTitle(text, SHEET_MARGIN), y: bottom + (k + 1) * NOTE_LINE - 2, ...NOTE_STYLE }))
    ],
    legend: legend(traces, drawn, nominal.width),
    panels: [
      overviewPanel({
        ...overview,
        label: '(a)',
        title: `Mean value${many}`,
        yTitle: 'Mean value',
        quantity: 'mean',
        y: mean,
        box: boxOf(0, exampleHeight, 0),
        axisWidth: left
      }),
      overviewPanel({
        ...overview,
        label: '(b)',
        title: `Endpoint difference${many}`,
        yTitle: 'Last \u2212 first value',
        quantity: 'delta',
        y: delta,
        box: boxOf(0, exampleHeight, 1),
        axisWidth: yAxisWidth(delta.ticks)
      }),
      ...drawn.map((prepared, k) => examplePanel(`(${LETTERS[2 + k]})`, prepared, boxOf(1 + k, exampleHeight), { axisWidth: left, labels }))
    ]
  }
}

export const figure08: FigureDefinition = {
  name: NAME,
  build: ({ criticTraces: data }) =>
    data === undefined ? [] : [{ config: buildFigure08(data), drawnFrom: [OUTPUT_PATHS.trajectories, OUTPUT_PATHS.arrow] }]
}
