/**
 * Panels (c) and (d): one trace by retained token index. From back to front they show every boundary (as a dotted guide, or
 * where there are many as a tick on the lower edge), the raw values (decimated per span, see `decimate.ts`), the mean of
 * every span over all of its values, and the largest boundary jump with its arrow and label. A boundary after token i is
 * drawn at i + 1/2. A span is drawn from half a token before its first token to half a token after its last, and a span
 * of one token as a dot.
 */
import type { CriticTraceFigureData, ExampleTrace, Jump } from '../../../compute/traces/contract.js'
import { Fault } from '../../../core/errors.js'
import type { Outcome } from '../../../schema/traces.js'
import type { PanelConfig, Plain, Rectangle } from '../config.js'
import { decimateSpans, spanMeans, type Decimated } from '../decimate.js'
import { spanStarts } from '../spans.js'
import { decimalsFor, formatFigureCount, formatFixed, formatPlural, formatScientific } from '../format.js'
import { addLine, emptyEnvelope, LONG_LEADER, placeLabel, type InkEnvelope, type LabelPlacement } from '../place-label.js'
import { INK, SERIES } from '../palette.js'
import {
  chartOptions,
  horizontalTicks,
  fittedTitle,
  GUIDE,
  HEADING,
  isDrawable,
  chartAxis,
  MEAN_LINE,
  NO_TICKS,
  plotArea,
  RAW_LINE,
  RAW_LINE_FEW,
  TEXT_SIZE,
  X_AXIS_HEIGHT
} from '../style.js'
import { cleanText, drawnWidth } from '../text-width.js'
import { extent, niceTicks, padRange, type Range, type Ticks } from '../ticks.js'

/** Buckets per point of plot width. A bucket is about two pixels wide in a 300 dpi picture. */
const BUCKETS_PER_POINT = 2
/** Smallest mean distance of guides in points. Closer ones would hide the values, so ticks on the lower edge take their place. */
const CLOSEST_GUIDES = 6
/** Ticks of such a rug, in points, and their smallest distance. */
const RUG = { length: 4, apart: 0.5 } as const
/** radius of the dot of a span of one token */
const LONE_TOKEN = 1
/** with fewer tokens than this the line is thicker */
const FEW_TOKENS = 500
const LABEL_LINES = 2
const LABEL_PADDING = 2
const LABEL_HEIGHT = LABEL_LINES * TEXT_SIZE * 1.2 + 2 * LABEL_PADDING

/** An example with everything that is drawn: spans, means, kept values, axes. */
export interface PreparedExample extends ScaledExample {
  readonly xTicks: Ticks
  readonly yTicks: Ticks
}

interface ScaledExample {
  readonly outcome: Outcome
  /** null where nothing is drawn; `missing` then gives the reason */
  readonly example: ExampleTrace | null
  readonly missing: 'no example' | 'values beyond 1e100' | null
  readonly starts: Int32Array
  readonly means: Float64Array
  readonly kept: Decimated
  readonly x: Range
  readonly y: Range
}

/** Maps data to points from the plot's upper left corner. */
function toPoints(plot: Rectangle, x: Range, y: Range): { x(value: number): number; y(value: number): number } {
  return {
    x: value => ((value - x.min) / (x.max - x.min)) * plot.width,
    y: value => ((y.max - value) / (y.max - y.min)) * plot.height
  }
}

function envelopeOf({ example, kept, starts, means, x, y }: ScaledExample, plot: Rectangle): InkEnvelope {
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
  const large = Math.max(Math.abs(jump.from), Math.abs(jump.to)) >= 1e6
  const delta = large ? formatScientific(jump.delta) : formatFixed(jump.delta, digits)
  const [from, to] = [formatFixed(jump.from, digits), formatFixed(jump.to, digits)]
  return ['largest boundary jump', `${from} \u2192 ${to} (${jump.delta > 0 ? '+' : ''}${delta})`]
}

function jumpWidth(jump: Jump): number {
  return Math.max(...jumpText(jump).map(line => drawnWidth(line, TEXT_SIZE))) + 2 * LABEL_PADDING
}

function placeJump(prepared: ScaledExample, jump: Jump, plot: Rectangle): LabelPlacement {
  const at = toPoints(plot, prepared.x, prepared.y)
  const [left, right, from, to] = [at.x(jump.from_index), at.x(jump.to_index), at.y(jump.from), at.y(jump.to)]
  const envelope = envelopeOf(prepared, plot)
  addLine(envelope, left, from, right, to)
  return placeLabel({
    area: plot,
    label: { width: jumpWidth(jump), height: LABEL_HEIGHT },
    target: { x1: left, y1: from, x2: right, y2: to },
    envelope
  })
}

function checkJump({ values, outcome, maxBoundaryJump: jump }: ExampleTrace): void {
  if (jump !== null && !(values[jump.from_index] === jump.from && values[jump.to_index] === jump.to)) {
    throw new Fault({
      format: 'figure',
      problem: `has a jump that is not in the ${outcome} example`,
      found: `${jump.from} to ${jump.to}`,
      expected: `${values[jump.from_index]} to ${values[jump.to_index]}`,
      place: { array: 'values', index: jump.from_index }
    })
  }
}

/** Why an example is not drawn; null where it is. */
export function whyMissing(example: ExampleTrace | null): PreparedExample['missing'] {
  if (example === null || example.values.length === 0) return 'no example'
  return example.values.every(isDrawable) ? null : 'values beyond 1e100'
}

/** @param plotSize expected size of the plot; it decides the buckets, and whether the label needs more room above the data */
export function prepareExample(outcome: Outcome, given: ExampleTrace | null, plotSize: Rectangle): PreparedExample {
  const missing = whyMissing(given)
  const example = missing === null ? given : null
  const values = example?.values ?? new Float64Array(0)
  if (example !== null) checkJump(example)
  const starts = example === null ? new Int32Array(1) : spanStarts(values.length, example.boundaries)
  const margin = Math.max(0.5, values.length * 0.006)
  const x = { min: -0.5 - margin, max: Math.max(0, values.length - 1) + 0.5 + margin }
  const found = extent(values)
  const base = {
    outcome,
    example,
    missing,
    starts,
    x,
    means: spanMeans(values, starts),
    kept: decimateSpans(values, starts, plotSize.width * BUCKETS_PER_POINT),
    xTicks: example === null ? NO_TICKS : horizontalTicks({ min: 0, max: values.length - 1 }, x, plotSize.width)
  }
  const yTicks = (y: Range): Ticks => (found === null ? NO_TICKS : niceTicks(y, 6, 'value'))
  const withRange = (y: Range): PreparedExample => ({ ...base, y, yTicks: yTicks(y) })
  const tight = padRange(found ?? { min: 0, max: 1 }, 0.06)
  const jump = example?.maxBoundaryJump ?? null
  if (jump === null || jump.delta === 0) return withRange(tight)
  // Takes the least room above the data that gives the label a free place. The last share is enough for all data.
  const shares = [0, 0.08, 0.16, 0.24, (LABEL_HEIGHT + 10) / plotSize.height]
  const length = tight.max - tight.min
  const ranges = shares.map(share => ({ min: tight.min, max: tight.max + (length * share) / (1 - share) }))
  const isGood = ({ overlap, from, to }: LabelPlacement): boolean =>
    overlap === 0 && Math.hypot(to.x - from.x, to.y - from.y) <= LONG_LEADER
  const placed = ranges.map(y => ({ y, place: placeJump({ ...base, y }, jump, plotSize) }))
  const free = (placed.find(({ place }) => isGood(place)) ?? placed.find(({ place }) => place.overlap === 0))?.y
  return withRange(free ?? ranges[ranges.length - 1])
}

function rawSeries({ example, kept, means, starts, outcome }: PreparedExample): Plain {
  const few = example !== null && example.values.length < FEW_TOKENS
  const data: Plain[] = []
  for (let k = 0; example !== null && k < means.length; k++) {
    if (k > 0) data.push({ x: starts[k] - 0.5, y: null })
    const own = kept.indexes.subarray(kept.spanOffsets[k], kept.spanOffsets[k + 1])
    for (const i of own) data.push({ x: i, y: example.values[i] })
  }
  return {
    label: 'token values',
    data,
    pointRadius: 0,
    borderColor: SERIES[outcome].faint,
    borderWidth: few ? RAW_LINE_FEW : RAW_LINE,
    borderJoinStyle: 'round',
    // Without this Chart.js would thin the line again, to one column per point, which is four pixels of the picture.
    _decimated: true
  }
}

function meanSeries({ means, starts, outcome }: PreparedExample): Plain {
  const data: Plain[] = []
  for (let k = 0; k < means.length; k++) {
    if (starts[k + 1] - starts[k] === 1) continue
    if (data.length > 0) data.push({ x: starts[k] - 0.5, y: null })
    data.push({ x: starts[k] - 0.5, y: means[k] }, { x: starts[k + 1] - 0.5, y: means[k] })
  }
  // Square ends: a mean is no wider than its span.
  return {
    label: 'span mean',
    data,
    pointRadius: 0,
    borderColor: SERIES[outcome].strong,
    borderWidth: MEAN_LINE,
    borderCapStyle: 'butt',
    _decimated: true
  }
}

/** Spans of one token: no line reaches such a value, and it is its own mean. */
function loneTokens({ means, starts, outcome }: PreparedExample): Plain[] {
  const data: Plain[] = []
  for (let k = 0; k < means.length; k++) if (starts[k + 1] - starts[k] === 1) data.push({ x: starts[k], y: means[k] })
  if (data.length === 0) return []
  return [
    {
      label: 'span of one token',
      data,
      showLine: false,
      pointRadius: LONE_TOKEN,
      pointBackgroundColor: SERIES[outcome].strong,
      pointBorderWidth: 0
    }
  ]
}

/** Whether boundaries are drawn as ticks on the lower edge. @param width of the plot, in points */
export function isRug(boundaries: Int32Array, width: number): boolean {
  return boundaries.length * CLOSEST_GUIDES > width
}

/** All boundaries are one series. As annotations, 90 would take as long as the rest of the figure. */
function boundarySeries(boundaries: Int32Array, x: Range, y: Range, plot: Rectangle): Plain {
  const rug = isRug(boundaries, plot.width)
  const top = rug ? y.min + (RUG.length / plot.height) * (y.max - y.min) : y.max
  const apart = rug ? (RUG.apart / plot.width) * (x.max - x.min) : 0
  const data: Plain[] = []
  let before = -Infinity
  for (const boundary of boundaries) {
    const at = boundary + 0.5
    if (at - before < apart) continue
    before = at
    if (data.length > 0) data.push({ x: at, y: null })
    data.push({ x: at, y: y.min }, { x: at, y: top })
  }
  return {
    label: 'turn boundary',
    data,
    borderColor: INK.guide,
    borderWidth: GUIDE.width,
    borderDash: rug ? [] : GUIDE.dash,
    pointRadius: 0,
    _decimated: true
  }
}

function jumpAnnotations(prepared: PreparedExample, jump: Jump, plot: Rectangle): { [name: string]: Plain } {
  const { from, to, ...label } = placeJump(prepared, jump, plot)
  const { x, y } = prepared
  const valueX = (points: number): number => x.min + (points / plot.width) * (x.max - x.min)
  const valueY = (points: number): number => y.max - (points / plot.height) * (y.max - y.min)
  const line = { type: 'line', borderColor: INK.text, drawTime: 'afterDatasetsDraw', adjustScaleRange: false }
  return {
    jump: { ...line, xMin: jump.from_index, xMax: jump.to_index, yMin: jump.from, yMax: jump.to, borderWidth: 1.3, z: 1 },
    jumpLabel: {
      type: 'label',
      content: jumpText(jump),
      textAlign: 'left',
      padding: LABEL_PADDING,
      color: INK.text,
      font: { size: TEXT_SIZE },
      backgroundColor: '#ffffff',
      xValue: valueX(label.x + jumpWidth(jump) / 2),
      yValue: valueY(label.y + LABEL_HEIGHT / 2),
      drawTime: 'afterDatasetsDraw',
      adjustScaleRange: false,
      z: 2
    },
    jumpArrow: {
      ...line,
      xMin: valueX(from.x),
      xMax: valueX(to.x),
      yMin: valueY(from.y),
      yMax: valueY(to.y),
      borderWidth: 0.8,
      z: 3,
      arrowHeads: { end: { display: true, length: 5, width: 2, fill: true, borderWidth: 0.6 } }
    }
  }
}

/**
 * The title, such as `Success example: step 127, 3,552 retained tokens in 25 generated spans`, with a note on what is
 * undefined or left out. Where it is too wide, a shorter one stands, which keeps the note.
 * @param room width in points
 */
function panelTitle({ outcome, example, means }: PreparedExample, room: number): string {
  const name = outcome === 'success' ? 'Success example' : 'Failure example'
  if (example === null) return name
  const { step, values, boundaries, maxBoundaryJump: jump } = example
  const note =
    values.length === 1
      ? '; no transition'
      : boundaries.length === 0
        ? '; no turn boundary'
        : jump?.delta === 0
          ? '; no change at a boundary'
          : ''
  const start = `${name}: ${step === null ? 'step not stated' : `step ${formatFigureCount(step)}`}`
  const [tokens, spans] = [values.length, means.length]
  const forms = [
    `${start}, ${formatPlural(tokens, 'retained token')} in ${formatPlural(spans, 'generated span')}`,
    `${start}, ${formatPlural(tokens, 'token')}, ${formatPlural(spans, 'span')}`,
    start,
    name
  ].map(form => form + note)
  return forms.find(form => drawnWidth(form, HEADING.size) <= room) ?? name + note
}

export function examplePanel(
  label: string,
  prepared: PreparedExample,
  box: Rectangle,
  { axisWidth, labels }: { readonly axisWidth: number; readonly labels: CriticTraceFigureData['labels'] }
): PanelConfig {
  const { example, x, y, xTicks, yTicks } = prepared
  const plot = plotArea(box, axisWidth)
  const annotations: { [name: string]: Plain } = {}
  // Chart.js draws the first series last, on top.
  const datasets: Plain[] = []
  if (example !== null) {
    const jump = example.maxBoundaryJump
    datasets.push(meanSeries(prepared), ...loneTokens(prepared), rawSeries(prepared))
    if (example.boundaries.length > 0) datasets.push(boundarySeries(example.boundaries, x, y, plot))
    if (jump !== null && jump.delta !== 0) Object.assign(annotations, jumpAnnotations(prepared, jump, plot))
  }
  return {
    label,
    title: panelTitle(prepared, box.width - HEADING.indent),
    box,
    plot,
    chart: {
      type: 'line',
      data: { datasets },
      options: chartOptions(
        {
          x: chartAxis({
            axis: 'x',
            range: x,
            ticks: xTicks,
            title: fittedTitle(cleanText(labels.index), xTicks, plot.width),
            size: X_AXIS_HEIGHT,
            grid: false
          }),
          y: chartAxis({
            axis: 'y',
            range: y,
            ticks: yTicks,
            title: fittedTitle(cleanText(labels.value), yTicks, plot.height),
            size: axisWidth
          })
        },
        annotations
      )
    }
  }
}
