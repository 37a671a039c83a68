/** The data of a study's bar figures: every reference is resolved, and series of one title share one legend slot. */
import { Fault } from '../../core/errors.js'
import type { BarFigureRequest } from '../../schema/evidence.js'
import { splitReference } from '../../study/reference.js'
import type { BarFigureData, BarPanelData } from './contract.js'
import { operandOf, type Resolver } from './derive.js'

export interface BarFigureOptions {
  readonly synthetic: boolean
  /** titles that already have a slot in the legends of other figures */
  readonly legend: readonly string[]
}

/** @throws Fault where a reference leads nowhere or to no number, or where a bar would end below the start of its axis */
export function barFigures(
  requests: readonly BarFigureRequest[],
  documents: Resolver,
  { synthetic, legend }: BarFigureOptions
): BarFigureData[] {
  // A series title has one slot across all figures, so that it looks the same in each.
  const drawn = requests.flatMap(({ panels }) => panels.flatMap(({ series }) => series.map(one => one.title)))
  const titles = [...new Set([...legend, ...drawn])]
  return requests.map(({ name, title, panels }, i) => ({
    synthetic,
    name,
    title,
    drawnFrom: documentsOf(panels),
    panels: panels.map((panel, k) => barPanelData(panel, `evidence.figures[${i}].panels[${k}]`, titles, documents))
  }))
}

/** The documents that the bars refer to, in the order of the bars. */
function documentsOf(panels: readonly BarPanelRequest[]): string[] {
  const references = panels.flatMap(({ series }) => series.flatMap(({ values }) => values)).filter(value => value !== null)
  return [...new Set(references.map(reference => splitReference(reference).path))]
}

type BarPanelRequest = BarFigureRequest['panels'][number]

function barPanelData(panel: BarPanelRequest, at: string, titles: readonly string[], documents: Resolver): BarPanelData {
  const { title, axis, groups, series, decimals, from } = panel
  return {
    title,
    axis,
    groups,
    decimals,
    from,
    series: series.map(({ title: name, values }, k) => ({
      title: name,
      slot: titles.indexOf(name),
      bars: values.map((reference, j) => {
        if (reference === null) return null
        const place = `${at}.series[${k}].values[${j}]`
        const { value, reason, published } = operandOf(reference, place, documents)
        if (value !== null && from !== 0 && value < from) {
          throw new Fault({
            format: 'evidence',
            problem: 'bar below its axis',
            found: `${place} is ${value}`,
            expected: `at least ${from}, where ${at}.from begins the axis`
          })
        }
        return { value, reason, published }
      })
    }))
  }
}
