/** The `supplied` block of the statistics document: points that were drawn for the target and that the target did not log. */
import type { HistoryAnalysis, MetricDefinition, SuppliedPoints } from '../../schema/histories.js'
import type { SelectionHistory } from './contract.js'
import type { HistoryStatistics, SuppliedMetric } from './document.js'
import { curveFor, historyFor, metricFor } from './join.js'
import { LISTED_STEPS } from './metric-statistics.js'
import type { Reasons } from './reasons.js'
import { stepsAt, supplyTarget, unfilledSteps, historyView, type View } from './supplied.js'
import type { Work } from './work.js'

export function* suppliedStatistics(
  analysis: HistoryAnalysis,
  rule: SuppliedPoints,
  definitions: readonly MetricDefinition[],
  histories: ReadonlyMap<string, SelectionHistory>,
  reasons: Reasons
): Work<HistoryStatistics['supplied']> {
  const metrics: Record<string, SuppliedMetric> = {}
  for (const metric of analysis.metrics) {
    yield
    const at = `/supplied/metrics/${metric}`
    metrics[metric] = suppliedMetric(rule, metricFor(definitions, metric), histories, reasons, at)
  }
  return { reference: rule.reference, target: rule.target, metrics }
}

function suppliedMetric(
  rule: SuppliedPoints,
  { name: metric, trailing_mean: trailingMean }: MetricDefinition,
  histories: ReadonlyMap<string, SelectionHistory>,
  reasons: Reasons,
  at: string
): SuppliedMetric {
  const views = (view: View) =>
    [rule.reference, rule.target].map(name => {
      const history = historyFor(histories, name)
      return historyView(history, curveFor(history, metric), view)
    })
  const [stepReference, stepTarget] = views('step')
  const [timeReference, timeTarget] = views('time')
  const byStep = supplyTarget(rule, metric, 'step', stepReference, stepTarget)
  const byTime = supplyTarget(rule, metric, 'time', timeReference, timeTarget)
  const unfilled = rule.same_step.includes(metric) ? unfilledSteps(stepReference, stepTarget, LISTED_STEPS) : { count: 0, first: [] }
  const noAnchor = rule.anchor ? "the target's curve starts at 0 or before, or one of the curves is empty" : 'the study asks for no anchor'
  return {
    anchor: byStep.anchor?.provenance ?? reasons.none(`${at}/anchor`, noAnchor),
    time_anchor: byTime.anchor?.provenance ?? reasons.none(`${at}/time_anchor`, noAnchor),
    step_prefix: stepsAt(stepReference, byStep.prefix),
    same_step: stepsAt(stepReference, byStep.sameStep),
    unfilled: unfilled.first,
    unfilled_count: unfilled.count,
    time_prefix: byTime.prefix.length,
    trailing_mean: trailingMean ?? reasons.none(`${at}/trailing_mean`, 'the study asks for none')
  }
}
