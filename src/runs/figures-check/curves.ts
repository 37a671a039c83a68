/** What the panels of a figure of curves are to draw: the points of `wandb/points.arrow`, scaled and thinned as the figure does. */
import type { Table } from 'apache-arrow'
import { Fault } from '../../core/errors.js'
import { OBSERVED } from '../../compute/histories/display.js'
import { plottedValue } from '../../compute/histories/drawn-numbers.js'
import type { SvgAxis } from '../../ingest/svg/drawn-figure.js'
import { decimateColumns } from '../../render/figures/decimate.js'
import { whyNotShown } from '../../render/figures/scales.js'
import { isDrawable } from '../../render/figures/style.js'
import { cleanText } from '../../render/figures/text-width.js'
import { HISTORY_PATHS } from '../../render/outputs/output-names.js'
import { COLUMNS_PER_POINT } from '../../render/figures/curves/style.js'
import type { CurvePanel, FigureConstantsDocument } from '../../schema/outputs/figure-constants.js'
import type { DataPoints, ExpectedSeries } from './compare.js'

export type CurveFigure = Extract<FigureConstantsDocument['figures'][string], { readonly kind: 'curves' }>

interface PointColumns {
  readonly x: Float64Array
  readonly value: Float64Array
  /** NaN where the curve has none */
  readonly mean: Float64Array
  /** not finite for a point that is supplied or shared: such a point has no marker */
  readonly observed: Float64Array
}

/** Names of what a series draws beside its line, behind its title: they have no point of the file of their own. */
const UNCHECKED = [', restart', ', not on the axis'] as const

export function isUnchecked(series: string): boolean {
  return UNCHECKED.some(end => series.endsWith(end))
}

export class CurvePoints {
  /** analysis, view, metric and selection as JSON -> points in the order of the file */
  readonly #curves = new Map<string, { x: number[]; value: number[]; mean: number[]; observed: number[] }>()

  constructor(table: Table, file: string) {
    const names = ['analysis', 'view', 'metric', 'algorithm', 'x', 'value', 'trailing_mean', 'provenance']
    const columns = names.map(name => {
      const column = table.getChild(name)
      if (column !== null) return column
      throw new Fault({ format: 'arrow', problem: 'missing column', found: 'nothing', expected: name, place: { file } })
    })
    for (let i = 0; i < table.numRows; i++) {
      const [analysis, view, metric, algorithm, x, value, mean, provenance] = columns.map((column): unknown => column.get(i))
      const key = JSON.stringify([analysis, view, metric, algorithm])
      const curve = this.#curves.get(key) ?? { x: [], value: [], mean: [], observed: [] }
      this.#curves.set(key, curve)
      curve.x.push(numberOf(x))
      curve.value.push(numberOf(value))
      curve.mean.push(numberOf(mean))
      curve.observed.push(provenance === OBSERVED ? numberOf(value) : NaN)
    }
  }

  of(figure: CurveFigure, panel: CurvePanel, selection: string): PointColumns {
    const curve = this.#curves.get(JSON.stringify([figure.analysis, figure.view, panel.metric, selection]))
    const { x = [], value = [], mean = [], observed = [] } = curve ?? {}
    return {
      x: Float64Array.from(x),
      value: Float64Array.from(value),
      mean: Float64Array.from(mean),
      observed: Float64Array.from(observed)
    }
  }
}

function numberOf(cell: unknown): number {
  return typeof cell === 'number' ? cell : NaN
}

/** The points that the axis shows. */
function shown(x: Float64Array, values: Float64Array, { scale }: SvgAxis, panel: CurvePanel): DataPoints {
  const y = values.map(value => plottedValue(value, panel))
  const kept = Int32Array.from(x, (_, i) => i).filter(i => isDrawable(x[i]) && whyNotShown(y[i], scale) === null)
  return at({ x, y }, kept)
}

function at({ x, y }: DataPoints, indexes: Int32Array): DataPoints {
  return { x: Float64Array.from(indexes, i => x[i]), y: Float64Array.from(indexes, i => y[i]) }
}

/** The file's ends of the axis are those of the plot but for a rounding, so that it may have one column more or less. */
function thinned(points: DataPoints, x: SvgAxis): ExpectedSeries['either'] {
  const columns = Math.ceil(Math.abs(x.to - x.from) * COLUMNS_PER_POINT)
  if (points.x.length <= 2 * (columns - 1)) return [() => points]
  return [columns, columns - 1, columns + 1].map(count => () => at(points, decimateColumns(points.x, points.y, x, count)))
}

function line(name: string, points: DataPoints, x: SvgAxis): ExpectedSeries {
  return { name, kind: 'line', either: thinned(points, x), total: points.x.length }
}

/**
 * A curve without a mean.
 * @param seen points that may have a marker; in a sparse panel each has one
 */
export function lineWithMarkers(name: string, points: DataPoints, seen: DataPoints, x: SvgAxis, sparse: boolean): ExpectedSeries[] {
  const either = sparse ? thinned(seen, x) : [() => seen]
  return [line(name, points, x), { name: `${name}, marker`, kind: sparse ? 'markers' : 'some', either, total: seen.x.length }]
}

/** The series of a panel that have points. */
export function curveSeries(
  figure: CurveFigure,
  panel: CurvePanel,
  curves: CurvePoints,
  axes: { readonly x: SvgAxis; readonly y: SvgAxis }
): ExpectedSeries[] {
  return figure.series.flatMap(({ title, selection }): ExpectedSeries[] => {
    const { x, value, mean, observed } = curves.of(figure, panel, selection)
    const raw = shown(x, value, axes.y, panel)
    const smooth = panel.sparse || panel.trailing_mean === null ? null : shown(x, mean, axes.y, panel)
    const name = cleanText(title)
    if (raw.x.length === 0) return []
    return smooth === null
      ? lineWithMarkers(name, raw, shown(x, observed, axes.y, panel), axes.x, panel.sparse)
      : [line(`${name}, raw`, raw, axes.x), line(name, smooth, axes.x)]
  })
}

export const CURVE_DATA = HISTORY_PATHS.points
