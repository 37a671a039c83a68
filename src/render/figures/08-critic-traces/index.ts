/**
 * Figure 8, critic traces. The upper row shows (a) the mean value and (b) the endpoint difference of every trace by
 * trainer step. Below are (c) the success example and (d) the failure example, token by token, each with its own y
 * limits; where one is missing the other has more room, and a line says why.
 */
import type { CriticTraceFigureData } from '../../../compute/traces/contract.js'
import { OUTPUT_PATHS } from '../../outputs/output-names.js'
import type { FigureConfig, Rectangle } from '../config.js'
import type { FigureDefinition } from '../definition.js'
import { figureHead } from '../head.js'
import { HEADING_HEIGHT, innerWidth, LETTERS, loweredBox, PAGE_SHEET, SHEET_MARGIN, sheetHeight, type FigureSheet } from '../sheet.js'
import { INK, SERIES } from '../palette.js'
import {
  FONT_FAMILY,
  figureTitle,
  GUIDE,
  MEAN_LINE,
  PLOT_PADDING,
  plotArea,
  RAW_LINE,
  TEXT_SIZE,
  X_AXIS_HEIGHT,
  yAxisWidth,
  type KeyEntry
} from '../style.js'
import { cleanText, wrapWidth } from '../text-width.js'
import { describeFigure08 } from './describe.js'
import { examplePanel, isRug, prepareExample, whyMissing, type PreparedExample } from './example.js'
import { findExample, outcomeKind, KINDS, overviewAxis, overviewPanel, traceAxis } from './overview.js'
import { isMany } from './summary.js'

export { describeFigure08 } from './describe.js'

const NAME = '08-critic-traces'
const TITLE = 'Critic values by outcome and model turn'
const GUTTER = 6
const ROW_GAP = 7
/** approximate width of a y axis; the exact width depends on labels, which depend on the plot */
const NOMINAL_AXIS = 42
const OVERVIEW_HEIGHT = 73
/** of an example, and of one that stands alone */
const EXAMPLE_HEIGHT = 83
const SINGLE_HEIGHT = 120
const NOTE_LINE = 12
const MOST_NOTE_LINES = 2

interface PanelBoxes {
  /** chart boxes of the panels, in their order */
  readonly boxes: readonly Rectangle[]
  readonly bottom: number
}

/** From 0 downwards two panels over those of examples, which are wide; in a column all one below the other. */
function layOut(exampleHeights: readonly number[], sheet: FigureSheet): PanelBoxes {
  const full = innerWidth(sheet)
  const half = (full - GUTTER) / 2
  const boxes: Rectangle[] = []
  let y = 0
  for (const [panel, plotHeight] of [OVERVIEW_HEIGHT, OVERVIEW_HEIGHT, ...exampleHeights].entries()) {
    const isRight = panel === 1 && sheet.columns > 1
    if (!isRight) y += HEADING_HEIGHT
    const height = PLOT_PADDING.top + plotHeight + X_AXIS_HEIGHT
    const width = panel < 2 && sheet.columns > 1 ? half : full
    boxes.push({ x: SHEET_MARGIN + (isRight ? half + GUTTER : 0), y: isRight ? boxes[0].y : y, width, height })
    if (panel !== 0 || sheet.columns === 1) y += height + ROW_GAP
  }
  return { boxes, bottom: y - ROW_GAP }
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

/** @param width of the plots of examples, in points */
function legendEntries(traces: CriticTraceFigureData['traces'], examples: readonly PreparedExample[], width: number): KeyEntry[] {
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
  return [
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
  ]
}

/**
 * The whole figure as plain data.
 * @throws Fault only for data that contradict themselves: boundaries out of order, or a jump that is not in the values
 */
export function buildFigure08(data: CriticTraceFigureData, sheet: FigureSheet = PAGE_SHEET): FigureConfig {
  const { traces, labels } = data
  const single = [data.success, data.failure].filter(example => whyMissing(example) === null).length === 1
  const exampleHeight = single ? SINGLE_HEIGHT : EXAMPLE_HEIGHT
  const nominal = layOut([exampleHeight], sheet).boxes.map(box => plotArea(box, NOMINAL_AXIS))
  const x = traceAxis(data, nominal[0].width)
  const mean = overviewAxis(traces, x, 'mean')
  const delta = overviewAxis(traces, x, 'delta')
  const examples = [prepareExample('success', data.success, nominal[2]), prepareExample('failure', data.failure, nominal[2])]
  const drawn = examples.filter(({ example }) => example !== null)
  const laidOut = layOut(
    drawn.map(() => exampleHeight),
    sheet
  )
  // The axes below each other have one width, so that their plots are aligned.
  const column = [mean.ticks, ...drawn.map(({ yTicks }) => yTicks), ...(sheet.columns === 1 ? [delta.ticks] : [])]
  const left = Math.max(...column.map(ticks => yAxisWidth(ticks)))
  const entries = legendEntries(traces, drawn, innerWidth(sheet) - left - PLOT_PADDING.right)
  const { texts, legend, end } = figureHead(`${TITLE}: ${cleanText(data.source)}`, data.synthetic, entries, sheet)
  const boxes = laidOut.boxes.map(box => loweredBox(box, end))
  const marked = drawn.flatMap(({ example }, k) => {
    const index = findExample(traces, example)
    return index === null ? [] : [{ letter: LETTERS[2 + k], index }]
  })
  const overview = { traces, x, marked }
  const bottom = laidOut.bottom + end
  const notes = missingNotes(traces, examples).flatMap(note => wrapWidth(note, TEXT_SIZE, innerWidth(sheet), MOST_NOTE_LINES))
  const many = isMany(x.positions) ? ' (median, quartiles, 5\u201395 %)' : ' of each trace'
  return {
    name: NAME,
    title: TITLE,
    description: describeFigure08(data),
    width: sheet.width,
    height: sheetHeight(bottom + notes.length * NOTE_LINE + SHEET_MARGIN),
    fontFamily: FONT_FAMILY,
    texts: [
      ...texts,
      ...notes.map((text, k) => ({ ...figureTitle(text, SHEET_MARGIN), y: bottom + (k + 1) * NOTE_LINE - 2, ...NOTE_STYLE }))
    ],
    legend,
    panels: [
      overviewPanel({
        ...overview,
        label: '(a)',
        title: `Mean value${many}`,
        yTitle: 'Mean value',
        quantity: 'mean',
        y: mean,
        box: boxes[0],
        axisWidth: left
      }),
      overviewPanel({
        ...overview,
        label: '(b)',
        title: `Endpoint difference${many}`,
        yTitle: 'Last \u2212 first value',
        quantity: 'delta',
        y: delta,
        box: boxes[1],
        axisWidth: sheet.columns === 1 ? left : yAxisWidth(delta.ticks)
      }),
      ...drawn.map((prepared, k) => examplePanel(`(${LETTERS[2 + k]})`, prepared, boxes[2 + k], { axisWidth: left, labels }))
    ]
  }
}

export const figure08: FigureDefinition = {
  name: NAME,
  build: ({ criticTraces: data }, sheet) =>
    data === undefined ? [] : [{ config: buildFigure08(data, sheet), drawnFrom: [OUTPUT_PATHS.trajectories, OUTPUT_PATHS.arrow] }]
}
