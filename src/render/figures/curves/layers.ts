/**
 * The lines and markers of a panel as Chart.js datasets, thinned to what the plot can show. One line joins all points of a
 * series; nothing marks where one session ends and the next begins.
 */
import type { Plain } from '../config.js'
import { decimateColumns } from '../decimate.js'
import { MEAN_LINE, POINT_OUTLINE } from '../style.js'
import type { Range } from '../ticks.js'
import type { DrawnSeries, Line } from './series.js'
import { curveStyle, LONE_POINT, PLAIN_LINE, RAW_CURVE, SPARSE } from './style.js'

/** Columns per point of plot width: two pixels each in a 300 dpi picture. */
const COLUMNS_PER_POINT = 2
/** Markers on a line as long as the axis. */
const MARKERS = 6
const MARKER_SHIFTS = [0.25, 0.75, 0.5, 0.1] as const

/** Lines as they are drawn: thinned to what the plot can show. */
function thinned({ x, y }: Line, range: Range, width: number): Line {
  const kept = decimateColumns(x, y, range, Math.ceil(width * COLUMNS_PER_POINT))
  if (kept.length === x.length) return { x, y }
  return { x: Array.from(kept, i => x[i]), y: Array.from(kept, i => y[i]) }
}

/** Points of the line nearest to evenly spaced places, shifted from slot to slot so that markers do not coincide. */
function markerPoints({ x, y }: Line, { min, max }: Range, slot: number): Line {
  if (x.length <= MARKERS) return { x, y }
  const length = x[x.length - 1] - x[0]
  // A series that is short on the axis has fewer, but enough to be known by.
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
  return { x: list.map(i => x[i]), y: list.map(i => y[i]) }
}

function toData({ x, y }: Line): Plain[] {
  return Array.from({ length: x.length }, (_, i) => ({ x: x[i], y: y[i] }))
}

export interface Layer {
  readonly line: Line
  /** false: only markers */
  readonly joined: boolean
  readonly dataset: Plain
}

function lineLayer(label: string, line: Line, color: string, width: number, dash: readonly number[], marker: Plain = { pointRadius: 0 }): Layer {
  return {
    line, joined: true,
    dataset: {
      label, data: toData(line), borderColor: color, borderWidth: width, borderDash: dash, borderJoinStyle: 'round',
      // Chart.js would thin the line again.
      _decimated: true, ...(marker as { readonly [key: string]: Plain })
    }
  }
}

function markerOptions(slot: number): { readonly [key: string]: Plain } {
  const { pointStyle, rotation, radius, fill, strong } = curveStyle(slot)
  return {
    pointStyle, pointRotation: rotation, pointRadius: radius, pointBackgroundColor: fill, pointBorderColor: strong,
    pointBorderWidth: POINT_OUTLINE
  }
}

/** Back to front. */
export function layersOf(series: readonly DrawnSeries[], sparse: boolean, range: Range, width: number): Layer[] {
  const raws: Layer[] = []
  const lines: Layer[] = []
  for (const { title, slot, raw, mean } of series) {
    const { strong, faint, dash } = curveStyle(slot)
    const points = thinned(raw, range, width)
    if (sparse) {
      lines.push(lineLayer(title, points, strong, SPARSE.width, SPARSE.dash, markerOptions(slot)))
      continue
    }
    if (mean !== null) {
      // No line leads to a point that stands alone.
      const marker = points.x.length === 1 ? { pointRadius: LONE_POINT, pointBackgroundColor: faint, pointBorderWidth: 0 } : undefined
      raws.push(lineLayer(`${title}, raw`, points, faint, RAW_CURVE, [], marker))
    }
    const drawn = mean ?? raw
    lines.push(lineLayer(title, mean === null ? points : thinned(mean, range, width), strong, mean === null ? PLAIN_LINE : MEAN_LINE, dash))
    const markers = markerPoints(drawn, range, slot)
    lines.push({ line: markers, joined: false, dataset: { label: `${title}, marker`, data: toData(markers), showLine: false, ...markerOptions(slot) } })
  }
  return [...raws, ...lines]
}
