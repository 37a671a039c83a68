/** The alternative text of the figures of the diagnostics: every panel with its drawn numbers. */
import type { Diagnosis } from '../../../compute/diagnostics/contract.js'
import type { BandPanel } from '../bands/panel.js'
import type { BandSeries } from '../bands/series.js'
import { formatFixed, formatPlural } from '../format.js'
import { cleanText } from '../text-width.js'

function describeSeries({ label, points }: BandSeries): string {
  const drawn = points.filter(({ y }) => y !== null)
  const [first] = drawn
  const last = drawn[drawn.length - 1]
  if (first === undefined) return `${cleanText(label)}: nothing`
  const number = (value: number | null): string => formatFixed(value ?? 0, 3)
  const interval = (point: BandSeries['points'][number]): string =>
    point.low === null || point.high === null ? '' : ` (${number(point.low)} to ${number(point.high)})`
  const at = (point: BandSeries['points'][number]): string => `${number(point.y)}${interval(point)} at ${number(point.x)}`
  return drawn.length === 1 ? `${cleanText(label)}: ${at(first)}` : `${cleanText(label)}: from ${at(first)} to ${at(last)}`
}

export function describePanels(panels: ReadonlyArray<Omit<BandPanel, 'box'>>): string {
  return panels
    .map(({ label, title, series, empty }) => {
      const drawn = series.filter(({ points }) => points.some(({ y }) => y !== null))
      return ` ${label} ${title}: ${drawn.length === 0 ? empty : drawn.map(describeSeries).join('; ')}.`
    })
    .join('')
}

/** @param reasons sentences on the panels that are not drawn */
export function describeQuality({ quality, synthetic }: Diagnosis, panels: readonly BandPanel[], reasons: readonly string[]): string {
  return (
    `${formatPlural(panels.length, 'panel')} on the quality of a critic over ${formatPlural(quality.n_trajectories, 'trajectory', 'trajectories')}, ` +
    `with 95 % intervals.${describePanels(panels)}${reasons.map(reason => ` ${reason}`).join('')}` +
    (synthetic ? ' The data are a synthetic replica.' : '')
  )
}
