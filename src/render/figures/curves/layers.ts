/**
 * The lines and markers of a panel as Chart.js datasets, thinned to what the plot can show. One line joins all points
 * of a series. On a logarithmic axis it breaks where a value was logged that the axis cannot show, and a mark stands
 * there on the lower edge. A change of session is a tick on the lower edge and does not break the line.
 */
import type { Plain } from '../config.js'
import { decimateColumns } from '../decimate.js'
import { MEAN_LINE, POINT_OUTLINE } from '../style.js'
import type { Range } from '../ticks.js'
import type { Numbers } from '../../../compute/histories/contract.js'
import type { DrawnSeries, Line } from './series.js'
import { COLUMNS_PER_POINT, curveStyle, EDGE_MARK, LONE_POINT, PLAIN_LINE, RAW_CURVE, RESTART_TICK, SPARSE } from './style.js'

/** Number of markers on a line as long as the axis. */
const MARKERS = 6
const MARKER_SHIFTS = [0.25, 0.75, 0.5, 0.1] as const

/** The line thinned to what the plot can show. */
function thinned({ x, y, breaks }: Line, range: Range, width: number): Line {
  const kept = decimateColumns(x, y, range, Math.ceil(width * COLUMNS_PER_POINT))
  if (kept.length === x.length) return { x, y, breaks }
  let next = 0
  const keptBreaks: number[] = []
  kept.forEach((i, k) => {
    if (next === breaks.length || breaks[next] > i) return
    keptBreaks.push(k)
    while (next < breaks.length && breaks[next] <= i) next++
  })
  return { x: Array.from(kept, i => x[i]), y: Array.from(kept, i => y[i]), breaks: keptBreaks }
}

/**
 * Points of the line nearest to evenly spaced places. The places are shifted from slot to slot, so that markers do not
 * coincide.
 */
function markerPoints({ x, y }: Line, { min, max }: Range, slot: number): Line {
  if (x.length <= MARKERS) return { x, y, breaks: [] }
  const length = x[x.length - 1] - x[0]
  // A series that is short on the axis has fewer markers, but at least three to identify it.
  const count = Math.max(3, Math.round((MARKERS * length) / (max - min)))
  const shift = MARKER_SHIFTS[slot % MARKER_SHIFTS.length]
  const kept = new Set<number>()
  for (let k = 0; k < count; k++) {
    const target = x[0] + ((k + shift) / count) * length
    let i = x.findIndex((value: number) => value >= target)
    if (i > 0 && target - x[i - 1] < x[i] - target) i--
    kept.add(i)
  }
  const list = [...kept]
  return { x: list.map(i => x[i]), y: list.map(i => y[i]), breaks: [] }
}

/** A point without y is a gap in Chart.js. */
function toData({ x, y, breaks }: Line): Plain[] {
  const broken = new Set(breaks)
  return Array.from({ length: x.length }, (_, i) => ({ x: x[i], y: y[i] })).flatMap((point, i): Plain[] =>
    broken.has(i) ? [{ x: point.x, y: null }, point] : [point]
  )
}

/** Point radii for the data of a line. A single point between breaks is drawn as a dot, because no line reaches it. */
function pointRadii({ x, breaks }: Line): Plain {
  const starts = [0, ...breaks, x.length]
  const radii = starts.slice(1).flatMap((end, k) => {
    const own = new Array<number>(end - starts[k]).fill(end - starts[k] === 1 ? LONE_POINT : 0)
    return k === 0 ? own : [0, ...own]
  })
  return radii.some(radius => radius > 0) ? radii : 0
}

export interface Layer {
  readonly line: Line
  /** true where a line joins the points; false for markers alone */
  readonly joined: boolean
  readonly dataset: Plain
}

function lineLayer(label: string, line: Line, color: string, width: number, dash: readonly number[]): Layer {
  const radius = pointRadii(line)
  const points = radius === 0 ? { pointRadius: 0 } : { pointRadius: radius, pointBackgroundColor: color, pointBorderWidth: 0 }
  return {
    line,
    joined: true,
    dataset: {
      label,
      data: toData(line),
      borderColor: color,
      borderWidth: width,
      borderDash: dash,
      borderJoinStyle: 'round',
      // Without this Chart.js would thin the line again.
      _decimated: true,
      ...points
    }
  }
}

function markerOptions(slot: number): { readonly [key: string]: Plain } {
  const { pointStyle, rotation, radius, fill, strong } = curveStyle(slot)
  return {
    pointStyle,
    pointRotation: rotation,
    pointRadius: radius,
    pointBackgroundColor: fill,
    pointBorderColor: strong,
    pointBorderWidth: POINT_OUTLINE
  }
}

function markerLayer(title: string, line: Line, slot: number): Layer {
  return { line, joined: false, dataset: { label: `${title}, marker`, data: toData(line), showLine: false, ...markerOptions(slot) } }
}

/** Layers from back to front. Of two series the one with more points lies behind, where it hides less. */
export function layersOf(series: readonly DrawnSeries[], sparse: boolean, range: Range, width: number): Layer[] {
  const raws: Layer[] = []
  const lines: Layer[] = []
  for (const { title, slot, raw, observed, mean } of series.toSorted((a, b) => b.raw.x.length - a.raw.x.length)) {
    const { strong, faint, dash } = curveStyle(slot)
    const points = thinned(raw, range, width)
    if (sparse) {
      lines.push(lineLayer(title, points, strong, SPARSE.width, SPARSE.dash), markerLayer(title, thinned(observed, range, width), slot))
    } else if (mean === null) {
      lines.push(lineLayer(title, points, strong, PLAIN_LINE, dash), markerLayer(title, markerPoints(observed, range, slot), slot))
    } else {
      // A mean is no observation, so it has no markers.
      raws.push(lineLayer(`${title}, raw`, points, faint, RAW_CURVE, []))
      lines.push(lineLayer(title, thinned(mean, range, width), strong, MEAN_LINE, dash))
    }
  }
  return [...raws, ...lines]
}

/** Maps x data to points from the plot's left edge, and points from its upper edge to y data. */
export interface EdgePlacement {
  readonly height: number
  x(value: number): number
  valueY(points: number): number
}

/** Marks on the lower edge of a plot. Where several series have a mark at the same place, the marks are stacked. */
class EdgeRow {
  readonly #at: EdgePlacement
  readonly #width: number
  readonly #height: number
  /** column of one point width -> number of series with a mark there */
  readonly #taken = new Map<number, number>()

  constructor(at: EdgePlacement, width: number, height: number) {
    this.#at = at
    this.#width = width
    this.#height = height
  }

  /** The marks of one series. Marks closer than a point are merged. */
  layers(label: string, x: Numbers, style: { readonly [key: string]: Plain }): Layer[] {
    const at = this.#at
    const kept: number[] = []
    for (let i = 0; i < x.length; i++) {
      if (kept.length === 0 || at.x(x[i]) - at.x(kept[kept.length - 1]) >= 1) kept.push(x[i])
    }
    if (kept.length === 0) return []
    const columns = kept.map(value => Math.round(at.x(value)))
    const levels = columns.map(column => this.#below(column))
    for (const [k, column] of columns.entries()) this.#taken.set(column, levels[k] + 1)
    const y = levels.map(level => at.valueY(at.height - this.#height * (level + 0.5)))
    const line: Line = { x: kept, y, breaks: [] }
    return [{ line, joined: false, dataset: { label, data: toData(line), showLine: false, ...style } }]
  }

  #below(column: number): number {
    let most = 0
    for (let near = column - this.#width; near <= column + this.#width; near++) most = Math.max(most, this.#taken.get(near) ?? 0)
    return most
  }
}

/** Marks for values that the axis cannot show, and ticks where a series passes from one session to the next. */
export function edgeLayers(series: readonly DrawnSeries[], at: EdgePlacement): Layer[] {
  const ticks = new EdgeRow(at, 1, RESTART_TICK.length)
  const marks = new EdgeRow(at, EDGE_MARK, 2 * EDGE_MARK)
  return series.flatMap(({ title, slot, edges, restarts }) => {
    const { strong } = curveStyle(slot)
    return [
      ...ticks.layers(`${title}, restart`, restarts, {
        pointStyle: 'line',
        pointRotation: 90,
        pointRadius: RESTART_TICK.length / 2,
        pointBackgroundColor: 'transparent',
        pointBorderColor: strong,
        pointBorderWidth: RESTART_TICK.width
      }),
      ...marks.layers(`${title}, not on the axis`, edges, {
        pointStyle: 'triangle',
        pointRotation: 180,
        pointRadius: EDGE_MARK,
        pointBackgroundColor: '#ffffff',
        pointBorderColor: strong,
        pointBorderWidth: 0.8
      })
    ]
  })
}
