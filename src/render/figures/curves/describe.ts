/** The alternative text of a curve figure: one paragraph with the drawn facts, for readers who cannot see the figure. */
import { formatFigureCount, formatPlural, formatScientific } from '../format.js'
import { cleanText } from '../text-width.js'
import { extent } from '../ticks.js'
import type { DrawnPanel, DrawnSeries } from './series.js'

/** Rounds to four significant digits, or to six for a coordinate. */
function short(value: number, digits = 4): string {
  const size = Math.abs(value)
  return size >= 1e9 || (size < 1e-4 && size > 0) ? formatScientific(value) : formatFigureCount(Number(value.toPrecision(digits)))
}

/** Largest number of places that are named one by one. */
const MAX_NAMED = 8

function listPlaces(places: ArrayLike<number>): string {
  const first = Array.from({ length: Math.min(places.length, MAX_NAMED) }, (_, i) => short(places[i], 6))
  const more = places.length - first.length
  const last = more > 0 ? `${formatFigureCount(more)} more` : (first.pop() ?? '')
  return first.length === 0 ? last : `${first.join(', ')} and ${last}`
}

function describeEdges({ edges, restarts }: DrawnSeries): string {
  return (
    (edges.length === 0 ? '' : `, not on the axis and marked on its lower edge at ${listPlaces(edges)}`) +
    (restarts.length === 0 ? '' : `, passes to another session at ${listPlaces(restarts)}`)
  )
}

/** `12 points`, `8 observed and 4 supplied points`. */
function countPoints(all: number, observed: number): string {
  if (observed === all) return formatPlural(all, 'point')
  return `${formatFigureCount(observed)} observed and ${formatPlural(all - observed, 'supplied point')}`
}

function describeSeries(series: DrawnSeries): string {
  const { title, raw, observed, mean } = series
  const values = extent(raw.y)
  if (values === null) return `${title} has no point${describeEdges(series)}`
  const last = raw.x.length - 1
  return (
    `${title} has ${countPoints(last + 1, observed.x.length)} from ${short(raw.x[0], 6)} to ${short(raw.x[last], 6)}, ` +
    `values from ${short(values.min)} to ${short(values.max)}, first ${short(raw.y[0])}, last ${short(raw.y[last])}` +
    (mean === null || mean.y.length === 0 ? '' : `, trailing mean at the end ${short(mean.y[mean.y.length - 1])}`) +
    describeEdges(series)
  )
}

function describePanel({ data, series, guides, marks, notes }: DrawnPanel, label: string): string {
  const { scale, sparse } = data
  const how = [
    ...(scale.kind === 'log' ? ['logarithmic axis'] : []),
    ...(scale.kind === 'symlog'
      ? [`symmetric logarithmic axis, linear between ${short(-scale.linear_to)} and ${short(scale.linear_to)}`]
      : []),
    ...(sparse ? ['dashed, with a marker at every point'] : [])
  ]
  return (
    ` ${label} ${cleanText(data.title)}, ${cleanText(data.yTitle)}${how.length === 0 ? '' : ` (${how.join('; ')})`}: ` +
    `${series.length === 0 ? 'no series' : series.map(describeSeries).join('; ')}.` +
    guides.map(guide => ` Dotted line at ${short(guide.value)}: ${guide.label}.`).join('') +
    marks.map(mark => ` Marked at ${short(mark.x, 6)}: ${mark.label}.`).join('') +
    (notes.length === 0 ? '' : ` ${notes.join('; ')}.`)
  )
}

export function describeCurveFigure(panels: readonly DrawnPanel[], labels: readonly string[], xTitle: string, synthetic: boolean): string {
  return (
    `${formatPlural(panels.length, 'panel')} of curves by ${xTitle}.` +
    panels.map((panel, k) => describePanel(panel, labels[k])).join('') +
    (synthetic ? ' The data are a synthetic replica.' : '')
  )
}
