/** What the figures of the diagnostics are to draw of `critic-diagnostics.json`: lines, their intervals, and guides. */
import type { SvgPanel } from '../../ingest/svg/drawn-figure.js'
import type { BandPanel } from '../../render/figures/bands/panel.js'
import type { BandPoint, BandSeries } from '../../render/figures/bands/series.js'
import type { DataPoints, ExpectedSeries } from './compare.js'

type Edge = readonly [x: number, y: number]

function pointsOf(edges: readonly Edge[]): DataPoints {
  return { x: edges.map(([x]) => x), y: edges.map(([, y]) => y) }
}

/** The points that have an interval, in stretches of neighbours. */
function stretches(points: readonly BandPoint[]): Array<ReadonlyArray<{ readonly high: Edge; readonly low: Edge }>> {
  const found: { high: Edge; low: Edge }[][] = [[]]
  for (const { x, low, high } of points) {
    if (low === null || high === null) found.push([])
    else found.at(-1)?.push({ high: [x, high], low: [x, low] })
  }
  return found
}

/** Around each stretch: along the upper ends, and back along the lower ones. Those below a logarithmic axis are on its edge. */
function around({ points }: BandSeries, { y }: SvgPanel): DataPoints {
  const edge = y.scale.kind === 'log' ? y.min : -Infinity
  const shown = ([x, value]: Edge): Edge => [x, Math.max(value, edge)]
  return pointsOf(stretches(points).flatMap(own => [...own.map(({ high }) => high), ...own.map(({ low }) => low).reverse()].map(shown)))
}

/** The series of a panel, and its guides. */
export function bandSeriesOf({ series, guides }: Pick<BandPanel, 'series' | 'guides'>, drawn: SvgPanel): ExpectedSeries[] {
  const one = (name: string, kind: 'line' | 'area', points: DataPoints): ExpectedSeries => ({
    name,
    kind,
    either: [() => points],
    total: points.x.length
  })
  return [
    ...series.flatMap(own => [
      one(own.label, 'line', pointsOf(own.points.flatMap(({ x, y }) => (y === null ? [] : [[x, y] as const])))),
      one(`${own.label}, interval`, 'area', around(own, drawn))
    ]),
    ...(guides?.(drawn.x, drawn.y) ?? []).map(({ from, to }) => one('guide', 'line', pointsOf([from, to])))
  ]
}
