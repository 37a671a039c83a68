/** The alternative text of a bar figure: one paragraph with every drawn value, for readers who cannot see the figure. */
import type { BarData, BarFigureData, BarPanelData } from '../../../compute/evidence/contract.js'
import { formatPlural } from '../format.js'
import { cleanText } from '../text-width.js'
import { axisTitleOf, barText } from './panel.js'

function describeBar(title: string, bar: BarData | null | undefined, decimals: number): string[] {
  if (bar === null || bar === undefined) return []
  const value = bar.value === null ? `undefined (${cleanText(bar.reason ?? '')})` : barText(bar.value, decimals)
  return [`${cleanText(title)} ${value}${bar.published ? '' : ' (a stand-in, not published)'}`]
}

function describePanel(panel: BarPanelData, label: string): string {
  const { title, groups, series, decimals } = panel
  const described = groups.map((group, k) => {
    const bars = series.flatMap(one => describeBar(one.title, one.bars[k], decimals))
    return `${cleanText(group)}: ${bars.length === 0 ? 'no bar' : bars.join(', ')}`
  })
  return ` ${label} ${cleanText(title)}, ${axisTitleOf(panel)}: ${described.join('; ')}.`
}

export function describeBarFigure({ panels, synthetic }: BarFigureData, labels: readonly string[]): string {
  return (
    `${formatPlural(panels.length, 'panel')} of bars.${panels.map((panel, k) => describePanel(panel, labels[k])).join('')}` +
    (synthetic ? ' The data are a synthetic replica.' : '')
  )
}
