/** What the bar figures of a study draw: every reference resolved, series of one title in one place of the legend. */
import { Fault } from '../../core/errors.js'
import type { BarFigureRequest } from '../../schema/evidence.js'
import type { BarFigureData, BarPanelData } from './contract.js'
import { operandOf, type Resolver } from './derive.js'

export interface BarFigureOptions {
  readonly synthetic: boolean
  /** titles that have a place in the legends of other figures */
  readonly legend: readonly string[]
}

/** @throws Fault where a reference leads nowhere or to no number, or a bar would end below where its axis begins */
export function barFigures(
  requests: readonly BarFigureRequest[], documents: Resolver, { synthetic, legend }: BarFigureOptions
): BarFigureData[] {
  // One title looks the same in all figures.
  const drawn = requests.flatMap(({ panels }) => panels.flatMap(({ series }) => series.map(one => one.title)))
  const titles = [...new Set([...legend, ...drawn])]
  return requests.map(({ name, title, panels }, i) => ({
    synthetic, name, title,
    panels: panels.map((panel, k) => barPanel(panel, `evidence.figures[${i}].panels[${k}]`, titles, documents))
  }))
}

type PanelRequest = BarFigureRequest['panels'][number]

function barPanel(panel: PanelRequest, at: string, titles: readonly string[], documents: Resolver): BarPanelData {
  const { title, axis, groups, series, decimals, from } = panel
  return {
    title, axis, groups, decimals, from,
    series: series.map(({ title: name, values, decimals: stated }, k) => ({
      title: name,
      slot: titles.indexOf(name),
      bars: values.map((reference, j) => {
        if (reference === null) return null
        const place = `${at}.series[${k}].values[${j}]`
        const { value, reason, published } = operandOf(reference, place, documents)
        if (value !== null && from !== 0 && value < from) {
          throw new Fault({
            format: 'evidence', problem: 'bar below its axis', found: `${place} is ${value}`,
            expected: `at least ${from}, where ${at}.from begins the axis`
          })
        }
        return { value, reason, published, decimals: stated?.[j] ?? null }
      })
    }))
  }
}
