/** The points of a figure as its script asks for them: the stops that a reader goes along, and the point of a series at a stop. */
import { trailingMean } from '../../../compute/histories/windows.js'
import { finish } from '../../../compute/histories/work.js'
import type { FigureReadings, PanelReadings, PointReadings, SeriesReadings } from '../../../compute/histories/contract.js'

export type ReadView = FigureReadings['view']

/** What is drawn over the logged values: as in the picture, nothing, or the mean of so many latest points. */
export type Smoothing = 'drawn' | 'none' | number

/** Of every point, in the view's coordinate; NaN where no finite double holds it. */
export function xOf(points: PointReadings, view: ReadView): Float64Array {
  return Float64Array.from(points.x ?? (view === 'step' ? points.step : points.hours), x => x ?? NaN)
}

/** The window of a panel's trailing mean; null: none. */
export function windowOf({ window, sparse }: PanelReadings, smoothing: Smoothing): number | null {
  return smoothing === 'drawn' ? window : smoothing === 'none' || sparse ? null : smoothing
}

/** One series in one view, with its mean. */
export interface SeriesPoints {
  readonly series: SeriesReadings
  readonly points: PointReadings
  readonly x: Float64Array
  /** trailing mean, as logged; null: none */
  readonly mean: Float64Array | null
}

export interface PanelPoints {
  readonly panel: PanelReadings
  readonly series: readonly SeriesPoints[]
}

export function panelPoints({ panels }: FigureReadings, view: ReadView, smoothing: Smoothing): PanelPoints[] {
  return panels.map(panel => {
    const window = windowOf(panel, smoothing)
    const series = panel.series.map(series => {
      const points = series[view]
      return {
        series,
        points,
        x: xOf(points, view),
        mean: window === null ? null : finish(trailingMean(Float64Array.from(points.value), window))
      }
    })
    return { panel, series }
  })
}

/** Every x of any series of any panel, once, ascending. */
export function stopsOf(panels: readonly PanelPoints[]): Float64Array {
  const all = new Set(panels.flatMap(({ series }) => series.flatMap(({ x }) => Array.from(x))).filter(Number.isFinite))
  return Float64Array.from(all).sort()
}

/** Place of the value nearest to `at` in an ascending list that is not empty. */
export function nearestStop(sorted: ArrayLike<number>, at: number): number {
  let [low, high] = [0, sorted.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle] < at) low = middle + 1
    else high = middle
  }
  return low > 0 && at - sorted[low - 1] <= sorted[low] - at ? low - 1 : low
}

/**
 * The point that a series has at a stop; -1 where it has none. A step is one and the same in all runs. Hours never are: by time it
 * is the point nearest to the stop, between the first of the series and its last.
 */
export function pointAt({ x }: SeriesPoints, stop: number, view: ReadView): number {
  if (x.length === 0 || !(stop >= x[0] && stop <= x[x.length - 1])) return -1
  const k = nearestStop(x, stop)
  return view === 'time' || x[k] === stop ? k : -1
}

/** What a stop of one view is in another: of the first series that has a point there and a coordinate in both. Null: of none. */
export function coordinate(panels: readonly PanelPoints[], stop: number, from: ReadView, to: ReadView): number | null {
  if (from === to) return stop
  for (const one of panels.flatMap(({ series }) => series)) {
    const k = pointAt(one, stop, from)
    const found = k < 0 ? null : one.points[to === 'step' ? 'step' : 'hours'][k]
    if (found !== null) return found
  }
  return null
}
