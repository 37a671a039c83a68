/** Panels (a) and (b): one marker per trace by trainer step, without smoothing and without lines between traces. Of many
 * traces a summary of each outcome (`summary.ts`). */
import type { CriticTraceFigureData, ExampleTrace } from '../../../compute/traces/contract.js'
import type { Outcome } from '../../../schema/traces.js'
import type { PanelConfig, Plain, Rectangle } from '../config.js'
import { formatFigureCount } from '../format.js'
import { INK, SERIES } from '../palette.js'
import {
  chartOptions,
  horizontalTicks,
  emptyNote,
  fittedTitle,
  FONT_FAMILY,
  isDrawable,
  chartAxis,
  NO_TICKS,
  plotArea,
  POINT_OUTLINE,
  TEXT_SIZE,
  X_AXIS_HEIGHT
} from '../style.js'
import { isMany, summaryDatasets, type SummarisedKind } from './summary.js'
import { cleanText } from '../text-width.js'
import { extent, niceTicks, padRange, type Range, type Ticks } from '../ticks.js'

type Traces = CriticTraceFigureData['traces']
export type OutcomeKind = Outcome | 'unknown'
export const KINDS: readonly OutcomeKind[] = ['success', 'failure', 'unknown']
/** Chart.js draws the first series last. Open markers lie on top of filled ones, so that neither hides the other. */
const FRONT_TO_BACK: readonly OutcomeKind[] = ['unknown', 'failure', 'success']

export function outcomeKind(trace: Traces[number]): OutcomeKind {
  return trace.outcome ?? 'unknown'
}

/** The horizontal axis of both panels: the trainer step. Where no trace states a step, the order in the snapshot. */
export interface TraceAxis {
  /** its notes say which traces are not drawn, and why */
  readonly title: string
  readonly range: Range
  readonly ticks: Ticks
  /** x of each trace; null where it cannot be drawn */
  readonly positions: ReadonlyArray<number | null>
}

/** Whether the traces are drawn in the order of the snapshot, because none states a step. */
function isByOrder(traces: Traces): boolean {
  return traces.length > 0 && traces.every(trace => trace.step === null)
}

/** x of each trace; null where it cannot be drawn. */
export function positionsOf(traces: Traces): ReadonlyArray<number | null> {
  const byOrder = isByOrder(traces)
  return traces.map((trace, k) => (!isDrawable(trace.mean) || !isDrawable(trace.delta) ? null : byOrder ? k + 1 : trace.step))
}

/** @param width width of the plots */
export function traceAxis(
  { traces, outcomesByScore, labels }: Pick<CriticTraceFigureData, 'traces' | 'outcomesByScore' | 'labels'>,
  width: number
): TraceAxis {
  const byOrder = isByOrder(traces)
  const extreme = traces.filter(trace => !isDrawable(trace.mean) || !isDrawable(trace.delta)).length
  const stepless = byOrder ? 0 : traces.filter(trace => trace.step === null).length
  const positions = positionsOf(traces)
  const found = extent(positions.filter(x => x !== null))
  const { min, max } = found ?? { min: 0, max: 1 }
  const margin = Math.max(0.6, (max - min) * 0.03)
  const range = { min: min - margin, max: max + margin }
  const notes = [
    ...(byOrder ? ['no trace states a step'] : []),
    ...(stepless > 0 ? [`not drawn: ${formatFigureCount(stepless)} without one`] : []),
    ...(extreme > 0 ? [`not drawn: ${formatFigureCount(extreme)} beyond 1e100`] : []),
    ...(outcomesByScore === undefined ? [] : [`outcome of ${formatFigureCount(outcomesByScore.traces)} by score`])
  ]
  return {
    title: (byOrder ? 'Snapshot order' : cleanText(labels.step)) + (notes.length === 0 ? '' : ` (${notes.join('; ')})`),
    range,
    ticks: found === null ? NO_TICKS : horizontalTicks(range, range, width),
    positions
  }
}

export interface OverviewAxis {
  readonly range: Range
  readonly ticks: Ticks
}

export function overviewAxis(traces: Traces, axis: TraceAxis, quantity: 'mean' | 'delta'): OverviewAxis {
  const drawn = traces.filter((_, k) => axis.positions[k] !== null).map(trace => trace[quantity])
  if (drawn.length === 0) return { range: { min: 0, max: 1 }, ticks: NO_TICKS }
  if (quantity === 'delta') drawn.push(0)
  // The padding keeps the outermost markers off the axes.
  const range = padRange(extent(drawn) ?? { min: 0, max: 1 }, 0.1)
  return { range, ticks: niceTicks(range, 6, 'value') }
}

/** A trace that another panel shows in full, with the letter of that panel. */
export interface MarkedTrace {
  readonly letter: string
  readonly index: number
}

/** The trace with the example's step, outcome and exact endpoint difference. Null where none or several match. */
export function findExample(traces: Traces, example: ExampleTrace | null): number | null {
  if (example === null || example.values.length === 0) return null
  const { values, step, outcome } = example
  const delta = values[values.length - 1] - values[0]
  const same = (trace: Traces[number]): boolean => trace.step === step && trace.outcome === outcome && trace.delta === delta
  const found = traces.findIndex(same)
  return found >= 0 && traces.findLastIndex(same) === found ? found : null
}

const RING_RADIUS = 5
/** distance of a letter from its marker, and its least distance from other markers, in points */
const LETTER_OFFSET = 9.5
const LETTER_CLEARANCE = 7.5
const LETTER_SIDES = [
  [0, -1],
  [0, 1],
  [1, 0],
  [-1, 0]
] as const

/** A ring around each marked trace, with its letter on the first side that is free of markers and edges. */
function markAnnotations({ traces, x, y, quantity, box, axisWidth, marked }: OverviewOptions): { [name: string]: Plain } {
  const plot = plotArea(box, axisWidth)
  const points = traces.map((trace, k): readonly [number, number] => [
    (((x.positions[k] ?? NaN) - x.range.min) / (x.range.max - x.range.min)) * plot.width,
    ((y.range.max - trace[quantity]) / (y.range.max - y.range.min)) * plot.height
  ])
  const marks: { [name: string]: Plain } = {}
  for (const { letter, index } of marked) {
    const position = x.positions[index]
    if (position === null) continue
    const free = LETTER_SIDES.find(([dx, dy]) => {
      const [px, py] = [points[index][0] + dx * LETTER_OFFSET, points[index][1] + dy * LETTER_OFFSET]
      return (
        px > 3 &&
        px < plot.width - 3 &&
        py > 3 &&
        py < plot.height - 3 &&
        points.every(([qx, qy], k) => k === index || !(Math.hypot(qx - px, qy - py) < LETTER_CLEARANCE))
      )
    })
    const [dx, dy] = free ?? LETTER_SIDES[0]
    const at = { xValue: position, yValue: traces[index][quantity], drawTime: 'afterDatasetsDraw', adjustScaleRange: false }
    marks[`ring-${letter}`] = {
      type: 'point',
      ...at,
      radius: RING_RADIUS,
      backgroundColor: 'transparent',
      borderColor: INK.text,
      borderWidth: 0.7
    }
    marks[`letter-${letter}`] = {
      type: 'label',
      ...at,
      content: letter,
      xAdjust: dx * LETTER_OFFSET,
      yAdjust: dy * LETTER_OFFSET,
      padding: 0,
      color: INK.text,
      font: { family: FONT_FAMILY, size: TEXT_SIZE, weight: 'bold' }
    }
  }
  return marks
}

export interface OverviewOptions {
  readonly label: string
  readonly title: string
  readonly yTitle: string
  readonly quantity: 'mean' | 'delta'
  readonly traces: Traces
  readonly x: TraceAxis
  readonly y: OverviewAxis
  readonly box: Rectangle
  readonly axisWidth: number
  readonly marked: readonly MarkedTrace[]
}

function summarised(kind: OutcomeKind, { traces, x, quantity }: OverviewOptions): SummarisedKind {
  const own = traces.flatMap((trace, k) => {
    const position = x.positions[k]
    return outcomeKind(trace) === kind && position !== null ? [{ x: position, y: trace[quantity] }] : []
  })
  return { kind, x: own.map(point => point.x), y: own.map(point => point.y) }
}

export function overviewPanel(options: OverviewOptions): PanelConfig {
  const { traces, x, y, quantity, box, axisWidth } = options
  const kinds = FRONT_TO_BACK.filter(kind => traces.some(trace => outcomeKind(trace) === kind))
  const many = isMany(x.positions)
  const markers = (kind: OutcomeKind, isDrawn: (k: number) => boolean): Plain => {
    const style = SERIES[kind]
    const data: Plain[] = []
    traces.forEach((trace, k) => {
      const position = x.positions[k]
      if (outcomeKind(trace) === kind && position !== null && isDrawn(k)) data.push({ x: position, y: trace[quantity] })
    })
    return {
      label: kind,
      data,
      showLine: false,
      pointStyle: style.pointStyle,
      pointRotation: style.rotation,
      pointRadius: style.radius,
      pointBackgroundColor: style.fill,
      pointBorderColor: style.strong,
      pointBorderWidth: POINT_OUTLINE
    }
  }
  const plot = plotArea(box, axisWidth)
  // Of many traces those that other panels show stand apart from the rest.
  const shown = new Set(options.marked.map(({ index }) => index))
  const datasets = many
    ? [
        ...kinds.filter(kind => [...shown].some(k => outcomeKind(traces[k]) === kind)).map(kind => markers(kind, k => shown.has(k))),
        ...summaryDatasets(
          kinds.toReversed().map(kind => summarised(kind, options)),
          x.range,
          plot.width
        )
      ]
    : kinds.map(kind => markers(kind, () => true))
  const annotations: { [name: string]: Plain } = {}
  const empty = x.positions.every(position => position === null)
  if (quantity === 'delta' && !empty) {
    annotations['zero'] = {
      type: 'line',
      yMin: 0,
      yMax: 0,
      borderColor: INK.zero,
      borderWidth: 0.8,
      drawTime: 'beforeDatasetsDraw',
      adjustScaleRange: false
    }
  }
  Object.assign(annotations, markAnnotations(options))
  const reason = traces.length === 0 ? 'no trace' : 'no trace can be drawn'
  if (empty) annotations['note'] = emptyNote(reason, x.range, y.range)
  return {
    label: options.label,
    title: options.title,
    box,
    plot,
    chart: {
      type: many ? 'line' : 'scatter',
      data: { datasets },
      options: chartOptions(
        {
          x: chartAxis({
            axis: 'x',
            range: x.range,
            ticks: x.ticks,
            title: fittedTitle(x.title, x.ticks, plot.width),
            size: X_AXIS_HEIGHT
          }),
          y: chartAxis({
            axis: 'y',
            range: y.range,
            ticks: y.ticks,
            title: fittedTitle(options.yTitle, y.ticks, plot.height),
            size: axisWidth
          })
        },
        annotations
      )
    }
  }
}
