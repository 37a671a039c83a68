/**
 * Numbers that figures draw and that no history holds: the shared reference and the guides. A study states such a
 * number, or refers to a value of the written evidence. With a reference, the drawn number cannot differ from its
 * source.
 */
import { Fault, printable } from '../../core/errors.js'
import type { DrawnNumber, HistoryStudy, MetricDefinition } from '../../schema/histories.js'
import { operandOf, type Resolver } from '../evidence/derive.js'
import { decimalProduct } from '../evidence/decimal.js'
import { metricFor } from './join.js'

/** Placeholder for the plotted number in a label. */
const VALUE = '{value}'

/** The number that is plotted for a logged value. */
export function plottedValue(value: number, metric: Pick<MetricDefinition, 'multiply' | 'divide'>): number {
  return (value * metric.multiply) / metric.divide
}

/** The value of a drawn number whose reference has been resolved. */
export function drawnValue({ value, from }: DrawnNumber): number {
  if (value !== null) return value
  throw new Error(`${from ?? 'a drawn number'} was not resolved`)
}

/**
 * The study with all drawn numbers resolved and written into their labels.
 * @throws Fault where a reference leads to no number
 */
export function withDrawnNumbers(study: HistoryStudy, documents: Resolver): HistoryStudy {
  return {
    ...study,
    analyses: study.analyses.map((analysis, i) => {
      const shared = analysis.shared_reference
      if (shared === null) return analysis
      const metric = metricFor(study.metrics, shared.metric)
      return { ...analysis, shared_reference: resolved(shared, metric, `histories.analyses[${i}].shared_reference`, documents) }
    }),
    figures: study.figures.map((figure, i) => ({
      ...figure,
      panels: figure.panels.map((panel, k) => ({
        ...panel,
        guides: panel.guides.map((guide, n) =>
          resolved(guide, metricFor(study.metrics, panel.metric), `histories.figures[${i}].panels[${k}].guides[${n}]`, documents)
        )
      }))
    }))
  }
}

type Labelled = DrawnNumber & { readonly label: string }

function resolved<T extends Labelled>(drawn: T, metric: MetricDefinition, at: string, documents: Resolver): T {
  const value = drawn.value ?? referred(drawn, `${at}.from`, documents)
  const plotted = plottedValue(value, metric)
  const text = drawn.decimals === null ? String(plotted) : plotted.toFixed(drawn.decimals)
  return { ...drawn, value, label: drawn.label.replaceAll(VALUE, () => text) }
}

function referred({ from, scale }: DrawnNumber, at: string, documents: Resolver): number {
  if (from === null) throw new Error(`${at} is null, and so is its value`)
  const { value, reason } = operandOf(from, at, documents)
  const scaled = value === null ? NaN : decimalProduct(value, scale)
  if (Number.isFinite(scaled)) return scaled
  throw new Fault({
    format: 'study',
    problem: 'undefined value',
    found: `${at} is ${printable(JSON.stringify(from), 300)}: ${reason ?? 'beyond the doubles'}`,
    expected: 'a number that can be drawn'
  })
}
