/** Panels (a) and (b): one marker per trace by trainer step. No smoothing, no line between traces. */
import type { CriticTraceFigureData } from '../../../compute/contract.js'
import type { Outcome } from '../../../schema.js'
import type { PanelConfig, Plain, Rectangle } from '../config.js'
import { formatPlural } from '../format.js'
import { chartOptions, INK, linearAxis, plotArea, plotNote, POINT_OUTLINE, SERIES, X_AXIS_HEIGHT } from '../style.js'
import { extent, niceTicks, padRange, type Range, type Ticks } from '../ticks.js'

type Traces = CriticTraceFigureData['traces']
export type Kind = Outcome | 'unknown'
export const KINDS: readonly Kind[] = ['success', 'failure', 'unknown']

export function kindOf(trace: Traces[number]): Kind {
  return trace.outcome ?? 'unknown'
}

/** The horizontal axis of both panels: the trainer step, or the order in the snapshot where no trace states a step. */
export interface TraceAxis {
  readonly title: string
  readonly range: Range
  readonly ticks: Ticks
  /** x of each trace; null where it cannot be placed */
  readonly positions: ReadonlyArray<number | null>
  /** why not everything is at its step; null where it is */
  readonly note: string | null
}

export function traceAxis(traces: Traces): TraceAxis {
  const placed = traces.filter(trace => trace.step !== null).length
  const byOrder = placed === 0 && traces.length > 0
  const positions = traces.map((trace, k) => byOrder ? k + 1 : trace.step)
  const found = extent(positions.filter(x => x !== null)) ?? { min: 0, max: 1 }
  const margin = Math.max(0.6, (found.max - found.min) * 0.03)
  const range = { min: found.min - margin, max: found.max + margin }
  const missing = byOrder ? 0 : traces.length - placed
  return {
    title: byOrder ? 'Trace, in snapshot order' : 'Trainer step',
    range,
    ticks: traces.length === 0 ? { values: [], labels: [] } : niceTicks(range, 8, 'count'),
    positions,
    note: byOrder ? 'no trace states a trainer step' : missing > 0 ? `not drawn: ${formatPlural(missing, 'trace')} without a trainer step` : null
  }
}

export interface OverviewAxis {
  readonly range: Range
  readonly ticks: Ticks
}

export function overviewAxis(traces: Traces, axis: TraceAxis, quantity: 'mean' | 'delta'): OverviewAxis {
  const drawn = traces.filter((_, k) => axis.positions[k] !== null).map(trace => trace[quantity])
  if (quantity === 'delta') drawn.push(0)
  const range = padRange(extent(drawn) ?? { min: 0, max: 1 }, 0.07)
  return { range, ticks: traces.length === 0 ? { values: [], labels: [] } : niceTicks(range, 6, 'value') }
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
}

export function overviewPanel(options: OverviewOptions): PanelConfig {
  const { traces, x, y, quantity, box, axisWidth } = options
  const datasets = KINDS.filter(kind => traces.some(trace => kindOf(trace) === kind)).map((kind): Plain => {
    const style = SERIES[kind]
    const data: Plain[] = []
    traces.forEach((trace, k) => {
      const position = x.positions[k]
      if (kindOf(trace) === kind && position !== null) data.push({ x: position, y: trace[quantity] })
    })
    return {
      label: kind, data, showLine: false, pointStyle: style.pointStyle, pointRotation: style.rotation, pointRadius: style.radius,
      pointBackgroundColor: style.fill, pointBorderColor: style.strong, pointBorderWidth: POINT_OUTLINE
    }
  })
  const annotations: { [name: string]: Plain } = {}
  if (quantity === 'delta') {
    annotations['zero'] = {
      type: 'line', yMin: 0, yMax: 0, borderColor: INK.zero, borderWidth: 0.8, drawTime: 'beforeDatasetsDraw', adjustScaleRange: false
    }
  }
  if (traces.length === 0) annotations['note'] = plotNote('no trace', x.range, y.range, 'middle')
  else if (x.note !== null) annotations['note'] = plotNote(x.note, x.range, y.range, 'corner')
  return {
    label: options.label,
    title: options.title,
    box,
    plot: plotArea(box, axisWidth),
    chart: {
      type: 'scatter',
      data: { datasets },
      options: chartOptions({
        x: linearAxis({ axis: 'x', range: x.range, ticks: x.ticks, title: x.title, size: X_AXIS_HEIGHT }),
        y: linearAxis({ axis: 'y', range: y.range, ticks: y.ticks, title: options.yTitle, size: axisWidth })
      }, annotations)
    }
  }
}
