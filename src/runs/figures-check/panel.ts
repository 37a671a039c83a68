/** One panel against the series that its data are to give. */
import type { SvgPanel } from '../../ingest/svg/drawn-figure.js'
import { countDrawn, difference, Plot, type ExpectedSeries } from './compare.js'
import type { SeriesCheck } from './contract.js'

/**
 * Every drawn series has its data, and every series of the data is drawn, but for those of which `some` points are drawn.
 * @param isUnchecked whether a series draws what no data file holds
 */
export function checkPanel(panel: SvgPanel, expected: readonly ExpectedSeries[], isUnchecked: (series: string) => boolean): SeriesCheck[] {
  const plot = new Plot(panel)
  const left = [...expected]
  const checks = panel.series.map((series): SeriesCheck => {
    // Two series may have one name.
    const named = left.filter(({ name }) => name === series.name)
    const about = { panel: panel.letter, series: series.name, drawn: countDrawn(series, named.at(0)?.kind) }
    const compared = named.map(one => ({ one, found: difference(plot, series, one) }))
    const best = compared.find(({ found }) => found === null) ?? compared.at(0)
    if (best === undefined) {
      if (isUnchecked(series.name)) return { ...about, status: 'unchecked', total: 0, difference: null }
      return {
        ...about,
        status: 'differs',
        total: 0,
        difference: { index: 0, found: 'a series', expected: 'none of this name in the data' }
      }
    }
    left.splice(left.indexOf(best.one), 1)
    return {
      ...about,
      status: best.found === null ? 'ok' : 'differs',
      total: best.one.kind === 'some' ? about.drawn : best.one.total,
      difference: best.found
    }
  })
  const missing = left.filter(({ kind, total }) => kind !== 'some' && total > 0)
  return [
    ...checks,
    ...missing.map(
      ({ name, total }): SeriesCheck => ({
        panel: panel.letter,
        series: name,
        status: 'differs',
        drawn: 0,
        total,
        difference: { index: 0, found: 'no series of this name', expected: `one of ${total} points` }
      })
    )
  ]
}
