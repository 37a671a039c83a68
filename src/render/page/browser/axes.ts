/** Where the panels of a picture are, as it says itself (`canvas/groups.ts`), and the axes of panels that are drawn anew. */
import type { AxisScale } from '../../../schema/histories.js'
import { decimateColumns } from '../../figures/decimate.js'
import { logTicks, symlogTicks } from '../../figures/log-ticks.js'
import { COLUMNS_PER_POINT } from '../../figures/curves/style.js'
import { axisMap, whyNotShown } from '../../figures/scales.js'
import { extent, fittingTicks, niceTicks, padRange, type Range, type Ticks } from '../../figures/ticks.js'
import type { PanelPoints, SeriesPoints } from './points.js'

/** An end of an axis is at `from`, its other at `to`, in coordinates of the picture's viewBox. */
interface AxisSpan {
  readonly from: number
  readonly to: number
}

/** A panel of a picture. */
export interface PanelPlace {
  readonly x: AxisSpan & Range
  readonly y: AxisSpan & Range
  /** x of the middle of the text along the vertical axis */
  readonly titleX: number
}

/** The axes of a panel, those of the picture or new ones. */
export interface PanelAxes {
  readonly x: Range
  readonly y: Range
  /** points across the plot */
  readonly width: number
  at(x: number, y: number): readonly [number, number]
}

export function panelPlaces(svg: SVGSVGElement): PanelPlace[] {
  return Array.from(svg.querySelectorAll<SVGGElement>('g.panel'), group => {
    const ends = (axis: 'x' | 'y'): AxisSpan & Range => {
      const [min, max, from, to] = ['Min', 'Max', 'From', 'To'].map(end => Number(group.dataset[axis + end]))
      return { min, max, from, to }
    }
    const title = group.querySelector('.axes text[transform]')?.getAttribute('x')
    const [x, y] = [ends('x'), ends('y')]
    return { x, y, titleX: Number(title ?? x.from - 26) }
  })
}

export function axesOf({ x: placeX, y: placeY }: PanelPlace, scale: AxisScale, x: Range = placeX, y: Range = placeY): PanelAxes {
  const map = axisMap(scale)
  const [low, high] = [map.forward(y.min), map.forward(y.max)]
  return {
    x,
    y,
    width: placeX.to - placeX.from,
    at: (xValue, yValue) => [
      placeX.from + ((xValue - x.min) / (x.max - x.min)) * (placeX.to - placeX.from),
      placeY.from + ((map.forward(yValue) - low) / (high - low)) * (placeY.to - placeY.from)
    ]
  }
}

/** The value of the horizontal axis at a place, which may lie beyond its ends. */
export function valueAt({ x: { from, to } }: PanelPlace, { x }: PanelAxes, place: number): number {
  return x.min + ((place - from) / (to - from)) * (x.max - x.min)
}

/** Points of a line as they are plotted. */
export interface PlottedLine {
  readonly x: Float64Array
  readonly y: Float64Array
  /** x of values that are not finite, where they break the line */
  readonly gaps: readonly number[]
}

/** Logged values, or those of the mean. As in a picture, values that are not finite break the logged ones on a logarithmic axis. */
export function plotted(
  { x, points }: SeriesPoints,
  { multiply, divide, scale }: PanelPoints['panel'],
  mean: Float64Array | null = null
): PlottedLine {
  const y = Float64Array.from(mean ?? points.value, value => (value * multiply) / divide)
  return { x, y, gaps: mean === null && scale.kind === 'log' ? points.gaps : [] }
}

/** The lines of a series: logged values, then the mean. */
export function plottedLines(panel: PanelPoints['panel'], series: SeriesPoints): readonly PlottedLine[] {
  return [plotted(series, panel), ...(series.mean === null ? [] : [plotted(series, panel, series.mean)])]
}

/** Path of a line in an SVG. As a picture's, it breaks at a point that the axes cannot show, and at a gap. */
export function pathOf({ x, y, gaps }: PlottedLine, scale: AxisScale, axes: PanelAxes): string {
  const isShown = (i: number): boolean => Number.isFinite(x[i]) && whyNotShown(y[i], scale) === null
  const isCut = (i: number): boolean => gaps.some(gap => gap > x[i - 1] && gap <= x[i])
  let path = ''
  for (let from = 0, to = 0; from < x.length; from = Math.max(to, from + 1)) {
    for (to = from; to < x.length && isShown(to) && (to === from || !isCut(to)); to++);
    const [xs, ys] = [x.subarray(from, to), y.subarray(from, to)]
    for (const i of decimateColumns(xs, ys, axes.x, Math.ceil(axes.width * COLUMNS_PER_POINT))) {
      const [atX, atY] = axes.at(xs[i], ys[i])
      path += `${i === 0 ? 'M' : 'L'}${atX.toFixed(2)} ${atY.toFixed(2)}`
    }
  }
  return path
}

/** One horizontal axis for all panels, with room at its ends. */
export function horizontalRange(panels: readonly PanelPoints[]): Range {
  const { min, max } = extent(...panels.flatMap(({ series }) => series.map(({ x }) => x.filter(Number.isFinite)))) ?? { min: 0, max: 1 }
  const margin = max > min ? (max - min) * 0.02 : Math.max(0.6, Math.abs(max) * 0.1)
  return { min: min - margin, max: max + margin }
}

/** The range of the shown values, with room at its ends. */
export function verticalRange({ panel, series }: PanelPoints): Range {
  const { scale } = panel
  const shown = series.flatMap(one => plottedLines(panel, one).map(({ y }) => y.filter(value => whyNotShown(value, scale) === null)))
  const found = extent(...shown)
  if (found === null) return scale.kind === 'log' ? { min: 1, max: 10 } : { min: 0, max: 1 }
  const map = axisMap(scale)
  const ends = { min: map.forward(found.min), max: map.forward(found.max) }
  const { min, max } = scale.kind === 'linear' || ends.max > ends.min ? padRange(ends, 0.05) : { min: ends.min - 0.5, max: ends.max + 0.5 }
  return { min: map.back(min), max: map.back(max) }
}

/** approximate width of a digit of a label, in points */
const DIGIT = 5.1

export function ticksAlong(range: Range, width: number): Ticks {
  const kind = range.max - range.min >= 4 ? 'count' : 'value'
  return fittingTicks(range, 10, { range, width, overhang: 10, labelWidth: label => label.length * DIGIT }, kind)
}

export function verticalTicks(scale: AxisScale, range: Range, height: number): Ticks {
  if (scale.kind === 'log') return logTicks(range, height)
  return scale.kind === 'symlog'
    ? symlogTicks(range, scale.linear_to, height)
    : niceTicks(range, Math.max(2, Math.floor(height / 20)), 'value')
}
