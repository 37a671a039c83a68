/**
 * Numbers that figures draw and no history holds: the shared reference, the guides. A study states one, or refers to a value
 * of the written evidence, so that what is drawn comes from the source and cannot differ from it.
 */
import { Fault, printable } from '../../core/errors.js'
import type { DrawnNumber, HistoryStudy, MetricDefinition } from '../../schema/histories.js'
import { operandOf, type Resolver } from '../evidence/derive.js'
import { decimalProduct } from '../evidence/decimal.js'
import { metricFor } from './join.js'

/** What stands for the number in a label, as it is plotted. */
const VALUE = '{value}'

/** The value that is plotted for a logged one. */
export function plottedValue(value: number, metric: MetricDefinition): number {
  return value * metric.multiply / metric.divide
}

/** The number of a study whose references are resolved. */
export function drawnValue({ value, from }: DrawnNumber): number {
  if (value !== null) return value
  throw new Error(`${from ?? 'a drawn number'} was not resolved`)
}

/** The study with every drawn number in place and in its label. @throws Fault where a reference leads to no number */
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
        guides: panel.guides.map((guide, n) => (
          resolved(guide, metricFor(study.metrics, panel.metric), `histories.figures[${i}].panels[${k}].guides[${n}]`, documents)
        ))
      }))
    }))
  }
}

type Labelled = DrawnNumber & { readonly label: string }

function resolved<T extends Labelled>(drawn: T, metric: MetricDefinition, at: string, documents: Resolver): T {
  const value = drawn.value ?? referred(drawn, `${at}.from`, documents)
  const plotted = plottedValue(value, metric)
  const { decimals = null } = drawn
  const text = decimals === null ? String(plotted) : plotted.toFixed(decimals)
  return { ...drawn, value, label: drawn.label.replaceAll(VALUE, () => text) }
}

function referred({ from = null, scale = 1 }: DrawnNumber, at: string, documents: Resolver): number {
  if (from === null) throw new Error(`${at} is null, and so is its value`)
  const { value, reason } = operandOf(from, at, documents)
  const scaled = value === null ? NaN : decimalProduct(value, scale)
  if (Number.isFinite(scaled)) return scaled
  throw new Fault({
    format: 'study', problem: 'undefined value', found: `${at} is ${printable(JSON.stringify(from), 300)}: ${reason ?? 'beyond the doubles'}`,
    expected: 'a number that can be drawn'
  })
}
