/**
 * Compares what a series draws with the points that it is to draw, in the file's units: a coordinate is rounded to a
 * thousandth of a point.
 */
import type { SvgAxis, SvgPanel, SvgSeries } from '../../ingest/svg/drawn-figure.js'
import { axisMap } from '../../render/figures/scales.js'
import { marksOf, type Positions } from './marks.js'

/** Points of a data file, by column. */
export interface DataPoints {
  readonly x: ArrayLike<number>
  readonly y: ArrayLike<number>
}

/**
 * `line`: all points in their order, each a corner of the line, and markers on some. `markers`: all points in any order. `some`: what is
 * drawn is one of the points. `area`: all points in their order around it. `ticks`: an upright line at every x, but for those that lie
 * close behind one.
 */
export interface ExpectedSeries {
  readonly name: string
  readonly kind: 'line' | 'markers' | 'some' | 'area' | 'ticks'
  /** What may be drawn of the data: several where decimation depends on a width that the file states rounded. */
  readonly either: ReadonlyArray<() => DataPoints>
  /** points of the data before decimation */
  readonly total: number
}

export interface Difference {
  /** in the points that are to be drawn */
  readonly index: number
  readonly found: string
  readonly expected: string
}

/** Half the last digit of a coordinate, and what arithmetic may lose. */
const ROUNDING = 0.0005 + 1e-6

/** Of upright lines that are nearer than this to the one before them, only that one may be drawn. In points. */
const TICKS_APART = 0.5

class AxisPlace {
  readonly #forward: (value: number) => number
  readonly #low: number
  readonly #length: number
  readonly #axis: SvgAxis
  readonly #back: (position: number) => number

  constructor(axis: SvgAxis) {
    const { forward, back } = axisMap(axis.scale)
    this.#forward = forward
    this.#back = back
    this.#low = forward(axis.min)
    this.#length = forward(axis.max) - this.#low
    this.#axis = axis
  }

  at(value: number): number {
    const { from, to } = this.#axis
    return from + ((this.#forward(value) - this.#low) / this.#length) * (to - from)
  }

  value(position: number): number {
    const { from, to } = this.#axis
    return this.#back(this.#low + ((position - from) / (to - from)) * this.#length)
  }

  /** The value at a position, with about as many digits as the file can tell. */
  text(position: number): string {
    return String(Number(this.value(position).toPrecision(6)))
  }
}

/** A panel's axes. */
export class Plot {
  readonly x: AxisPlace
  readonly y: AxisPlace

  constructor({ x, y }: Pick<SvgPanel, 'x' | 'y'>) {
    this.x = new AxisPlace(x)
    this.y = new AxisPlace(y)
  }

  text(positions: Positions, i: number): string {
    return `x ${this.x.text(positions[2 * i])}, y ${this.y.text(positions[2 * i + 1])}`
  }

  positions({ x, y }: DataPoints): Float64Array {
    const positions = new Float64Array(2 * x.length)
    for (let i = 0; i < x.length; i++) {
      positions[2 * i] = this.x.at(x[i])
      positions[2 * i + 1] = this.y.at(y[i])
    }
    return positions
  }
}

export function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= ROUNDING
}

function same(a: ArrayLike<number>, i: number, b: ArrayLike<number>, k: number): boolean {
  return isNear(a[2 * i], b[2 * k]) && isNear(a[2 * i + 1], b[2 * k + 1])
}

function textOf({ x, y }: DataPoints, i: number): string {
  return `x ${x[i]}, y ${y[i]}`
}

/** null: they agree. Of several that differ, that which agrees longest. */
export function difference(plot: Plot, series: SvgSeries, { kind, either }: ExpectedSeries): Difference | null {
  let least: Difference | null = null
  for (const points of either) {
    const found = COMPARE[kind](plot, series, points())
    if (found === null) return null
    if (least === null || found.index > least.index) least = found
  }
  return least
}

/** Every point is the next corner of the line, and the line has no other corner. Every marker is a point. */
function lineDifference(plot: Plot, series: SvgSeries, points: DataPoints): Difference | null {
  const { line, markers } = marksOf(series.paths)
  const wanted = plot.positions(points)
  const [corners, dots, count] = [line.length / 2, markers.length / 2, points.x.length]
  let dot = 0
  for (let i = 0; i < count; i++) {
    if (i >= corners || !same(line, i, wanted, i)) {
      return { index: i, found: i < corners ? plot.text(line, i) : 'no further point', expected: textOf(points, i) }
    }
    if (dot < dots && same(markers, dot, wanted, i)) dot++
  }
  if (count < corners) return { index: count, found: plot.text(line, count), expected: 'no further point' }
  return dot < dots ? { index: count, found: `a marker at ${plot.text(markers, dot)}`, expected: 'markers on points' } : null
}

function outline({ paths }: SvgSeries): Positions {
  return paths.flatMap(({ parts }) => parts.flatMap(part => part.points))
}

export function countDrawn(series: SvgSeries, kind: ExpectedSeries['kind'] | undefined): number {
  if (kind === 'area') return cornersOf(outline(series)).length
  const { line, markers } = marksOf(series.paths)
  return (line.length > 0 ? line : markers).length / 2
}

/** Chart.js repeats a corner where it turns, and two points of the data may be in one place: of equal corners in a row one is compared. */
function areaDifference(plot: Plot, series: SvgSeries, points: DataPoints): Difference | null {
  const corners = outline(series)
  const wanted = plot.positions(points)
  const drawn = cornersOf(corners)
  const asked = cornersOf(wanted)
  for (const [k, i] of asked.entries()) {
    if (k >= drawn.length) return { index: i, found: 'no further corner', expected: textOf(points, i) }
    if (!same(corners, drawn[k], wanted, i)) return { index: i, found: plot.text(corners, drawn[k]), expected: textOf(points, i) }
  }
  const more = drawn.at(asked.length)
  return more === undefined ? null : { index: points.x.length, found: plot.text(corners, more), expected: 'no further corner' }
}

/** Indexes of the points that are not where the one before them is, as far as the file's digits tell. */
function cornersOf(positions: ArrayLike<number>): number[] {
  const rounded = Array.from(positions, position => position.toFixed(3))
  const indexes = Array.from({ length: rounded.length / 2 }, (_, i) => i)
  return indexes.filter(i => i === 0 || rounded[2 * i] !== rounded[2 * i - 2] || rounded[2 * i + 1] !== rounded[2 * i - 1])
}

/** @param all whether every point has its marker; what is not joined by lines has no order */
function markerDifference(plot: Plot, series: SvgSeries, points: DataPoints, all: boolean): Difference | null {
  const { markers, line } = marksOf(series.paths)
  if (line.length > 0) return { index: 0, found: 'a line', expected: 'markers alone' }
  const wanted = plot.positions(points)
  const byX = Array.from(points.x, (_, i) => i).sort((a, b) => wanted[2 * a] - wanted[2 * b])
  const used = new Set<number>()
  for (let k = 0; k < markers.length / 2; k++) {
    let at = lowerBound(byX, i => wanted[2 * i] >= markers[2 * k] - ROUNDING)
    while (at < byX.length && isNear(wanted[2 * byX[at]], markers[2 * k]) && (used.has(byX[at]) || !same(markers, k, wanted, byX[at]))) at++
    if (at === byX.length || !same(markers, k, wanted, byX[at]))
      return { index: k, found: plot.text(markers, k), expected: 'a point of the data' }
    if (all) used.add(byX[at])
  }
  const missing = all ? byX.find(i => !used.has(i)) : undefined
  return missing === undefined ? null : { index: missing, found: 'no marker', expected: textOf(points, missing) }
}

function tickDifference(plot: Plot, series: SvgSeries, { x }: DataPoints): Difference | null {
  const { line } = marksOf(series.paths)
  let [tick, before] = [0, -Infinity]
  for (let i = 0; i < x.length; i++) {
    const wanted = plot.x.at(x[i])
    if (4 * tick < line.length && isNear(line[4 * tick], wanted) && isNear(line[4 * tick + 2], wanted)) {
      before = wanted
      tick++
    } else if (wanted - before > TICKS_APART) {
      return { index: i, found: 4 * tick < line.length ? plot.text(line, 2 * tick) : 'no further line', expected: `a line at x ${x[i]}` }
    }
  }
  return 4 * tick < line.length ? { index: x.length, found: plot.text(line, 2 * tick), expected: 'no further line' } : null
}

const COMPARE: Readonly<Record<ExpectedSeries['kind'], (plot: Plot, series: SvgSeries, points: DataPoints) => Difference | null>> = {
  line: lineDifference,
  markers: (plot, series, points) => markerDifference(plot, series, points, true),
  some: (plot, series, points) => markerDifference(plot, series, points, false),
  area: areaDifference,
  ticks: tickDifference
}

function lowerBound(list: readonly number[], reached: (element: number) => boolean): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (reached(list[middle])) high = middle
    else low = middle + 1
  }
  return low
}
