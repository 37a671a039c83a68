/**
 * What figures draw: observed points, supplied points and the shared reference, by x, each with its provenance, and the
 * trailing mean over them. Each metric is on its own. Values stay as logged; figures scale them.
 *
 * The trailing mean runs over the displayed values in x order, supplied ones among them, and never starts anew at a
 * session boundary.
 */
import type { HistoryAnalysis, MetricDefinition, SuppliedPoints } from '../../schema/histories.js'
import type { DisplayedCurve, DisplayedPoint, Provenance, SelectionHistory } from './contract.js'
import { curveFor, historyFor, metricFor } from './join.js'
import { anchorOfReference, supplyTarget, viewOf, type SuppliedPoint, type View, type ViewPoints } from './supplied.js'
import { trailingMean } from './windows.js'

export const SHARED_REFERENCE: Provenance = 'shared_reference'

/**
 * The curves of an analysis: both views, and in each the metrics and selections in the order of the analysis.
 * @param wanted which of them to make: a point is an object, and a history may have millions
 */
export function displayedCurves(
  analysis: HistoryAnalysis,
  metrics: readonly MetricDefinition[],
  histories: ReadonlyMap<string, SelectionHistory>,
  wanted: (view: View, metric: string) => boolean = () => true
): DisplayedCurve[] {
  const curves: DisplayedCurve[] = []
  for (const view of ['step', 'time'] as const) {
    for (const metric of analysis.metrics) {
      if (!wanted(view, metric)) continue
      const { trailing_mean: window } = metricFor(metrics, metric)
      for (const selection of analysis.selections) {
        const points = displayedPoints(analysis, histories, view, metric, selection)
        curves.push({
          view,
          selection,
          metric,
          points,
          trailingMean: window === null ? null : trailingMean(points.map(point => point.value), window)
        })
      }
    }
  }
  return curves
}

function displayedPoints(
  analysis: HistoryAnalysis,
  histories: ReadonlyMap<string, SelectionHistory>,
  view: View,
  metric: string,
  selection: string
): DisplayedPoint[] {
  const own = viewIn(histories, selection, metric, view)
  const history = historyFor(histories, selection)
  const points = Array.from(own.index, (index, k) => pointOf(history, own, { x: own.x[k], index, provenance: 'observed' }))
  const { supplied: rule, shared_reference: shared } = analysis
  if (rule !== null && (selection === rule.reference || selection === rule.target)) {
    const reference = viewIn(histories, rule.reference, metric, view)
    for (const supplied of suppliedTo(rule, selection, metric, view, reference, own)) {
      points.push(pointOf(historyFor(histories, rule.reference), reference, supplied))
    }
  }
  if (
    shared !== null && view === 'step' && shared.metric === metric && shared.selections.includes(selection) &&
    !points.some(point => point.x === shared.step)
  ) {
    points.push({
      x: shared.step,
      value: shared.value,
      sourceRun: null,
      sourceStep: null,
      provenance: SHARED_REFERENCE
    })
  }
  // Stable: observations at the same instant stay in the order of sessions and rows.
  return points.length === own.index.length ? points : points.sort((a, b) => a.x - b.x)
}

function suppliedTo(
  rule: SuppliedPoints,
  selection: string,
  metric: string,
  view: View,
  reference: ViewPoints,
  own: ViewPoints
): readonly SuppliedPoint[] {
  if (selection === rule.target) return supplyTarget(rule, metric, view, reference, own).points
  const anchor = anchorOfReference(rule, reference)
  return anchor === null ? [] : [anchor]
}

function viewIn(
  histories: ReadonlyMap<string, SelectionHistory>,
  selection: string,
  metric: string,
  view: View
): ViewPoints {
  const history = historyFor(histories, selection)
  return viewOf(history, curveFor(history, metric), view)
}

function pointOf(source: SelectionHistory, { curve }: ViewPoints, point: SuppliedPoint): DisplayedPoint {
  return {
    x: point.x,
    value: curve.value[point.index],
    sourceRun: source.sessions[curve.session[point.index]].run,
    sourceStep: curve.step[point.index],
    provenance: point.provenance
  }
}
