/**
 * Panels (c) and (d): one trace by retained token index. From back to front: a dotted guide at every boundary, the raw
 * values (decimated per span, see `decimate.ts`), the mean of every span from all of its values, the largest boundary
 * jump with its arrow and label. A boundary after token i is drawn at i + 1/2, a span from half a token before its first
 * to half a token after its last.
 */
import type { ExampleTrace, Jump } from '../../../compute/contract.js'
import { Fault } from '../../../errors.js'
import type { Outcome } from '../../../schema.js'
import type { PanelConfig, Plain, Rectangle } from '../config.js'
import { decimateSpans, spanMeans, spanStarts, type Decimated } from '../decimate.js'
import { decimalsFor, formatCount, formatFixed, formatPlural, formatSigned } from '../format.js'
import { addLine, emptyEnvelope, placeLabel, type Envelope, type Placement } from '../place-label.js'
import { chartOptions, GUIDE, INK, linearAxis, MEAN_LINE, plotArea, plotNote, RAW_LINE, SERIES, TEXT_SIZE, X_AXIS_HEIGHT } from '../style.js'
import { textWidth } from '../text-width.js'
import { extent, niceTicks, padRange, type Range, type Ticks } from '../ticks.js'

/** Buckets per point of plot width: two pixels each in a 300 dpi picture. */
const BUCKETS_PER_POINT = 2
/** Guides closer than this on average would be a grey area, not guides. */
const CLOSEST_GUIDES = 1.5
const LABEL_LINES = 2
const LABEL_PADDING = 2
const LABEL_HEIGHT = LABEL_LINES * TEXT_SIZE * 1.2 + 2 * LABEL_PADDING

/** An example made ready to draw: spans, means, kept values, axes. */
export interface PreparedExample {
  readonly outcome: Outcome
  readonly example: ExampleTrace | null
  readonly starts: Int32Array
  readonly means: Float64Array
  readonly kept: Decimated
  readonly x: Range
  readonly y: Range
  readonly xTicks: Ticks
  readonly yTicks: Ticks
}

function toPoints(plot: { readonly width: number; readonly height: number }, x: Range, y: Range): { x(v: number): number; y(v: number): number } {
  return {
    x: v => ((v - x.min) / (x.max - x.min)) * plot.width,
    y: v => ((y.max - v) / (y.max - y.min)) * plot.height
  }
}

function envelopeOf({ example, kept, starts, means, x, y }: PreparedExample, plot: Rectangle): Envelope {
  const envelope = emptyEnvelope(plot.width)
  if (example === null) return envelope
  const at = toPoints(plot, x, y)
  for (let k = 0; k < means.length; k++) {
    for (let j = kept.spanOffsets[k]; j + 1 < kept.spanOffsets[k + 1]; j++) {
      const [a, b] = [kept.indexes[j], kept.indexes[j + 1]]
      addLine(envelope, at.x(a), at.y(example.values[a]), at.x(b), at.y(example.values[b]))
    }
    addLine(envelope, at.x(starts[k] - 0.5), at.y(means[k]), at.x(starts[k + 1] - 0.5), at.y(means[k]))
  }
  return envelope
}

function jumpText(jump: Jump): readonly string[] {
  const digits = decimalsFor(jump.delta)
  return [
    'largest boundary jump',
    `${formatFixed(jump.from, digits)} \u2192 ${formatFixed(jump.to, digits)} (${formatSigned(jump.delta, digits)})`
  ]
}

function placeJump(prepared: PreparedExample, jump: Jump, plot: Rectangle): Placement {
  const at = toPoints(plot, prepared.x, prepared.y)
  return placeLabel({
    area: plot,
    label: { width: Math.max(...jumpText(jump).map(line => textWidth(line, TEXT_SIZE))) + 2 * LABEL_PADDING, height: LABEL_HEIGHT },
    target: { x: at.x(jump.from_index + 0.5), top: at.y(Math.max(jump.from, jump.to)), bottom: at.y(Math.min(jump.from, jump.to)) },
    envelope: envelopeOf(prepared, plot)
  })
}

function checkExample({ values, outcome, maxBoundaryJump: jump }: ExampleTrace): void {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) {
      throw new Fault({ format: 'figure', problem: `cannot draw the ${outcome} example`, found: String(values[i]), expected: 'a finite value', place: { array: 'values', index: i } })
    }
  }
  if (jump !== null && !(values[jump.from_index] === jump.from && values[jump.to_index] === jump.to)) {
    throw new Fault({
      format: 'figure', problem: `has a jump that is not in the ${outcome} example`, found: `${jump.from} to ${jump.to}`,
      expected: `${values[jump.from_index]} to ${values[jump.to_index]}`, place: { array: 'values', index: jump.from_index }
    })
  }
}

/** @param plotSize expected size of the plot; decides the buckets, and whether the label needs more room above */
export function prepareExample(outcome: Outcome, given: ExampleTrace | null, plotSize: Rectangle): PreparedExample {
  const example = given !== null && given.values.length > 0 ? given : null
  const values = example?.values ?? new Float64Array(0)
  if (example !== null) checkExample(example)
  const starts = example === null ? new Int32Array(1) : spanStarts(values.length, example.boundaries)
  const margin = Math.max(0.5, values.length * 0.006)
  const x = { min: -0.5 - margin, max: Math.max(0, values.length - 1) + 0.5 + margin }
  const found = extent(values)
  const base = {
    outcome, example, starts, x,
    means: spanMeans(values, starts),
    kept: decimateSpans(values, starts, plotSize.width * BUCKETS_PER_POINT),
    xTicks: example === null ? { values: [], labels: [] } : niceTicks({ min: 0, max: x.max }, 10, 'count')
  }
  const withRange = (y: Range): PreparedExample => ({ ...base, y, yTicks: found === null ? { values: [], labels: [] } : niceTicks(y, 6, 'value') })
  const tight = withRange(padRange(found ?? { min: 0, max: 1 }, 0.06))
  const jump = example?.maxBoundaryJump ?? null
  if (jump === null || placeJump(tight, jump, plotSize).overlap === 0) return tight
  // No free place: room for the label above everything that is drawn.
  const share = (LABEL_HEIGHT + 10) / plotSize.height
  return withRange({ min: tight.y.min, max: tight.y.max + ((tight.y.max - tight.y.min) * share) / (1 - share) })
}

function rawSeries({ example, kept, means, starts, outcome }: PreparedExample): Plain {
  const data: Plain[] = []
  for (let k = 0; example !== null && k < means.length; k++) {
    if (k > 0) data.push({ x: starts[k] - 0.5, y: null })
    for (let j = kept.spanOffsets[k]; j < kept.spanOffsets[k + 1]; j++) data.push({ x: kept.indexes[j], y: example.values[kept.indexes[j]] })
  }
  return {
    label: 'token values', data, borderColor: SERIES[outcome].faint, borderWidth: RAW_LINE, borderJoinStyle: 'round', pointRadius: 0,
    // Chart.js would thin the line again, to one column a point, which four pixels of the picture share.
    _decimated: true
  }
}

function meanSeries({ means, starts, outcome }: PreparedExample): Plain {
  const data: Plain[] = []
  for (let k = 0; k < means.length; k++) {
    if (k > 0) data.push({ x: starts[k] - 0.5, y: null })
    data.push({ x: starts[k] - 0.5, y: means[k] }, { x: starts[k + 1] - 0.5, y: means[k] })
  }
  // Round caps keep the mean of a span visible that is narrower than the line is thick.
  return {
    label: 'span mean', data, borderColor: SERIES[outcome].strong, borderWidth: MEAN_LINE, borderCapStyle: 'round', pointRadius: 0, _decimated: true
  }
}

function guides(boundaries: Int32Array): { [name: string]: Plain } {
  const lines: { [name: string]: Plain } = {}
  for (const boundary of boundaries) {
    lines[`boundary${boundary}`] = {
      type: 'line', xMin: boundary + 0.5, xMax: boundary + 0.5, borderColor: INK.guide, borderWidth: GUIDE.width, borderDash: GUIDE.dash,
      drawTime: 'beforeDatasetsDraw', adjustScaleRange: false
    }
  }
  return lines
}

function jumpAnnotations(prepared: PreparedExample, jump: Jump, plot: Rectangle): { [name: string]: Plain } {
  const { from, to, ...label } = placeJump(prepared, jump, plot)
  const { x, y } = prepared
  const valueX = (points: number): number => x.min + (points / plot.width) * (x.max - x.min)
  const valueY = (points: number): number => y.max - (points / plot.height) * (y.max - y.min)
  const line = { type: 'line', borderColor: INK.text, drawTime: 'afterDatasetsDraw', adjustScaleRange: false }
  const text = jumpText(jump)
  const width = Math.max(...text.map(words => textWidth(words, TEXT_SIZE))) + 2 * LABEL_PADDING
  return {
    jump: { ...line, xMin: jump.from_index, xMax: jump.to_index, yMin: jump.from, yMax: jump.to, borderWidth: 1.3, z: 1 },
    jumpLabel: {
      type: 'label', content: text, color: INK.text, font: { size: TEXT_SIZE }, padding: LABEL_PADDING, textAlign: 'left',
      backgroundColor: 'rgba(255,255,255,0.9)', xValue: valueX(label.x + width / 2), yValue: valueY(label.y + LABEL_HEIGHT / 2),
      drawTime: 'afterDatasetsDraw', adjustScaleRange: false, z: 2
    },
    jumpArrow: {
      ...line, xMin: valueX(from.x), xMax: valueX(to.x), yMin: valueY(from.y), yMax: valueY(to.y), borderWidth: 0.8, z: 3,
      arrowHeads: { end: { display: true, length: 5, width: 2, fill: true, borderWidth: 0.6 } }
    }
  }
}

export function examplePanel(label: string, prepared: PreparedExample, box: Rectangle, axisWidth: number): PanelConfig {
  const { outcome, example, x, y, xTicks, yTicks } = prepared
  const plot = plotArea(box, axisWidth)
  const annotations: { [name: string]: Plain } = {}
  const note = (text: string, place: 'middle' | 'corner'): void => {
    annotations['note'] = plotNote(text, x, y, place)
  }
  if (example === null) note(`no ${outcome} example`, 'middle')
  else {
    const { boundaries, maxBoundaryJump } = example
    const room = Math.floor(plot.width / CLOSEST_GUIDES)
    if (boundaries.length <= room) Object.assign(annotations, guides(boundaries))
    if (example.values.length === 1) note('one token: no transition, no boundary', 'corner')
    else if (boundaries.length === 0) note('one generated span: no boundary', 'corner')
    else if (boundaries.length > room) note(`guides not drawn: ${formatCount(boundaries.length)} boundaries`, 'corner')
    if (maxBoundaryJump !== null) Object.assign(annotations, jumpAnnotations(prepared, maxBoundaryJump, plot))
  }
  const name = outcome === 'success' ? 'Success example' : 'Failure example'
  return {
    label,
    title: example === null ? name : `${name}: ${example.step === null ? 'step not stated' : `step ${formatCount(example.step)}`}, ${formatPlural(example.values.length, 'retained token')} in ${formatPlural(prepared.means.length, 'generated span')}`,
    box,
    plot,
    chart: {
      type: 'line',
      data: { datasets: example === null ? [] : [meanSeries(prepared), rawSeries(prepared)] },
      options: chartOptions({
        x: linearAxis({ axis: 'x', range: x, ticks: xTicks, title: 'Retained token index', size: X_AXIS_HEIGHT }),
        y: linearAxis({ axis: 'y', range: y, ticks: yTicks, title: 'Value', size: axisWidth })
      }, annotations)
    }
  }
}
