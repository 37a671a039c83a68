/** The drawing of one or two traces: axes, turn boundaries, curves. Pure. */
import { extent, factorText, fittingTicks, niceTicks, padRange, type Range } from '../../figures/ticks.js'
import type { TraceView } from '../contract.js'
import { OVERLAY_DASH, type DrawingColours } from './colours.js'
import { LABEL_SIZE, type Scene, type SceneBox, type SceneItem } from './scene.js'

export interface PlotCurve {
  readonly view: TraceView
  readonly colour: string
  /** tokens of the axis for one token of this trace: 1, but where two traces share their progress */
  readonly stretch: number
  readonly dashed: boolean
}

export interface PlotData {
  readonly width: number
  readonly height: number
  /** tokens that are shown, [from, to) */
  readonly range: readonly [number, number]
  /** values at the ends of the value axis */
  readonly values: Range
  /** tokens of all of the trace where the axis states progress; null: it states tokens */
  readonly progressOf: number | null
  readonly curves: readonly PlotCurve[]
  readonly colours: DrawingColours
  /** pixels of a text */
  labelPixels(text: string): number
}

const TOP = 16
const BOTTOM = 34
const RIGHT = 12
/** pixels between turn boundaries, below which they are ticks on the lower edge */
const LINES_APART = 8
const RUG = 6
/** pixels of a token, above which each is a dot */
const DOTS_APART = 5

export interface PlotScale {
  readonly box: SceneBox
  /** pixel of a token (of a place between tokens, where it is no integer) */
  x(token: number): number
  y(value: number): number
  /** token of a pixel, with its fraction */
  token(x: number): number
}

/** The place of a plot, whose value axis needs room for its labels. */
export function plotScale({ width, height, range, values, labelPixels }: Omit<PlotData, 'curves' | 'colours' | 'progressOf'>): PlotScale {
  const labels = niceTicks(values, ticksDown(height), 'value').labels.map(labelPixels)
  const left = Math.ceil(Math.max(24, ...labels)) + 14
  const box = { x: left, y: TOP, width: Math.max(1, width - left - RIGHT), height: Math.max(1, height - TOP - BOTTOM) }
  const [from, to] = range
  const perToken = box.width / (to - from)
  return {
    box,
    x: token => box.x + (token - from + 0.5) * perToken,
    y: value => box.y + ((values.max - value) / (values.max - values.min)) * box.height,
    token: x => (x - box.x) / perToken + from - 0.5
  }
}

function ticksDown(height: number): number {
  return Math.max(2, Math.floor((height - TOP - BOTTOM) / 34))
}

/** Smallest and largest value of views, with room above and below. */
export function fittedValues(views: readonly TraceView[]): Range {
  return padRange(extent(...views.map(({ value }) => value)) ?? { min: 0, max: 1 }, 0.05)
}

function valueAxis(data: PlotData, { box, y }: PlotScale): SceneItem[] {
  const { colours, values, height, labelPixels } = data
  const ticks = niceTicks(values, ticksDown(height), 'value')
  const lines = ticks.values.flatMap(value => [box.x, y(value), box.x + box.width, y(value)])
  const title = `value${factorText(ticks)}`
  const zero = values.min < 0 && values.max > 0 ? [box.x, y(0), box.x + box.width, y(0)] : []
  return [
    { kind: 'line', pairs: true, points: lines, stroke: colours.grid, width: 1 },
    { kind: 'line', pairs: true, points: zero, stroke: colours.quiet, width: 1 },
    ...ticks.values.map(
      (value, k): SceneItem => ({
        kind: 'text',
        x: box.x - 7,
        y: y(value) + 4,
        text: ticks.labels[k],
        align: 'right',
        fill: colours.text,
        size: LABEL_SIZE
      })
    ),
    { kind: 'text', x: Math.max(box.x - 7, labelPixels(title)), y: 11, text: title, align: 'right', fill: colours.quiet, size: LABEL_SIZE }
  ]
}

function tokenAxis(data: PlotData, { box, x }: PlotScale): SceneItem[] {
  const { range, progressOf, colours, labelPixels } = data
  const unit = progressOf === null ? 1 : 1 / Math.max(1, progressOf - 1)
  const ends = { min: (range[0] - 0.5) * unit, max: (range[1] - 0.5) * unit }
  const axis = { range: ends, width: box.width, overhang: RIGHT, labelWidth: labelPixels }
  const ticks = fittingTicks(ends, Math.max(2, Math.floor(box.width / 90)), axis, progressOf === null ? 'count' : 'value')
  const base = box.y + box.height
  return [
    { kind: 'line', points: [box.x, base, box.x + box.width, base], stroke: colours.axis, width: 1 },
    {
      kind: 'line',
      pairs: true,
      points: ticks.values.flatMap(v => [x(v / unit), base, x(v / unit), base + 4]),
      stroke: colours.axis,
      width: 1
    },
    ...ticks.values.map(
      (value, k): SceneItem => ({
        kind: 'text',
        x: x(value / unit),
        y: base + 16,
        text: ticks.labels[k],
        align: 'center',
        fill: colours.text,
        size: LABEL_SIZE
      })
    ),
    {
      kind: 'text',
      x: box.x + box.width / 2,
      y: base + 30,
      text: progressOf === null ? 'token' : `progress through the trace${factorText(ticks)}`,
      align: 'center',
      fill: colours.quiet,
      size: LABEL_SIZE
    }
  ]
}

/** Places of the first tokens of turns that begin in view, in tokens of the axis, less the half of a token. */
export function startPlaces({ view: { turn, index }, stretch }: PlotCurve): readonly number[] {
  const starts: number[] = []
  for (let k = 1; k < turn.length; k++) if (turn[k] !== turn[k - 1]) starts.push((index[k] - 0.5) * stretch)
  return starts
}

/** Thin lines, or where they are dense ticks on the lower edge, at most one a pixel. */
function boundaries(curve: PlotCurve, { colours }: PlotData, { box, x }: PlotScale): SceneItem {
  const places = startPlaces(curve).map(x)
  const dense = places.some((place, k) => k > 0 && place - places[k - 1] < LINES_APART)
  const base = box.y + box.height
  const kept = places.filter((place, k) => k === 0 || Math.floor(place) !== Math.floor(places[k - 1]))
  if (dense)
    return { kind: 'line', pairs: true, points: kept.flatMap(at => [at, base, at, base - RUG]), stroke: colours.boundary, width: 1 }
  return { kind: 'line', pairs: true, points: kept.flatMap(at => [at, box.y, at, base]), stroke: colours.boundary, width: 1, dash: [2, 3] }
}

function curveItems(curve: PlotCurve, { x, y, box }: PlotScale, range: readonly [number, number]): SceneItem[] {
  const { view, colour, stretch, dashed } = curve
  const points = new Float64Array(2 * view.index.length)
  for (let k = 0; k < view.index.length; k++) {
    points[2 * k] = x(view.index[k] * stretch)
    points[2 * k + 1] = y(view.value[k])
  }
  const perToken = (box.width / (range[1] - range[0])) * stretch
  const line: SceneItem = { kind: 'line', points, stroke: colour, width: 1.5, ...(dashed ? { dash: OVERLAY_DASH } : {}) }
  const dots: SceneItem = { kind: 'dots', points, fill: colour, radius: Math.min(4, perToken / 3) }
  return perToken >= DOTS_APART || view.index.length === 1 ? [line, dots] : [line]
}

export function plotScene(data: PlotData): Scene {
  const scale = plotScale(data)
  const { box } = scale
  // One pixel beyond, so that a line at the end of an axis keeps its width.
  const clip = { x: box.x - 1, y: box.y - 2, width: box.width + 2, height: box.height + 4 }
  const [first] = data.curves
  const drawn = data.curves.flatMap(curve => curveItems(curve, scale, data.range))
  return {
    width: data.width,
    height: data.height,
    background: data.colours.paper,
    layers: [
      { clip: null, items: [...valueAxis(data, scale), ...tokenAxis(data, scale)] },
      { clip, items: first === undefined ? [] : [boundaries(first, data, scale), ...drawn] }
    ]
  }
}
