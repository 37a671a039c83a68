/**
 * Builds a curve figure as plain data: scaled values, series in the order of the analysis, labelled marks. A log axis
 * cannot show every point. The drawing counts the points that it does not show.
 */
import { Fault, printable } from '../../core/errors.js'
import type { CurveFigureRequest, HistoryAnalysis, HistoryStudy, MetricDefinition, PanelRequest } from '../../schema/histories.js'
import type { CurveFigureData, CurvePanelData, CurveSeriesData, DisplayedCurve, SelectionHistory } from './contract.js'
import { displayedCurve, lineGapsOf, restartsOf, SHARED_REFERENCE } from './display.js'
import { drawnValue, plottedValue } from './drawn-numbers.js'
import { metricFor, unknown } from './join.js'
import { figureReadings } from './readings.js'
import type { Work } from './work.js'

/** @param histories every selection of the figure's analysis, by name */
export function* curveFigureData(
  request: CurveFigureRequest,
  study: HistoryStudy,
  histories: ReadonlyMap<string, SelectionHistory>,
  synthetic: boolean
): Work<CurveFigureData> {
  const analysis = study.analyses.find(a => a.name === request.analysis)
  if (analysis === undefined) {
    throw new Fault({
      format: 'study',
      problem: `figure ${printable(request.name)} draws an unknown analysis`,
      found: `"${printable(request.analysis)}"`,
      expected: `one of ${study.analyses.map(a => printable(a.name)).join(', ')}`
    })
  }
  const panels: CurvePanelData[] = []
  for (const panel of request.panels) panels.push(yield* panelData(request, panel, study, analysis, histories))
  const { points, observations, statistics } = analysis.outputs
  return {
    synthetic,
    name: request.name,
    title: request.title,
    xTitle: request.x_title,
    drawnFrom: [points ?? observations, statistics].filter(path => path !== null),
    panels,
    readings: yield* figureReadings(request, study, analysis, histories)
  }
}

function* panelData(
  request: CurveFigureRequest,
  panel: PanelRequest,
  study: HistoryStudy,
  analysis: HistoryAnalysis,
  histories: ReadonlyMap<string, SelectionHistory>
): Work<CurvePanelData> {
  const metric = metricFor(study.metrics, panel.metric)
  if (!analysis.metrics.includes(metric.name)) throw unknown('metric of the analysis', metric.name, analysis.metrics)
  const series: CurveSeriesData[] = []
  for (const [slot, selection] of analysis.selections.entries()) {
    const curve = yield* displayedCurve(analysis, study.metrics, histories, { view: request.view, metric: metric.name, selection })
    // The shared point is the same in every curve that contains it. Only the first of these curves labels it.
    const labelled = series.every(({ marks }) => marks.length === 0)
    series.push(seriesData(curve, slot, labelled, metric, study, analysis))
  }
  return {
    title: panel.title ?? metric.title,
    yTitle: panel.axis ?? metric.axis,
    scale: panel.scale,
    sparse: metric.sparse,
    guides: panel.guides.map(guide => ({
      value: plottedValue(drawnValue(guide), metric),
      label: guide.label,
      series: guide.selection === null ? null : analysis.selections.indexOf(guide.selection)
    })),
    series
  }
}

function seriesData(
  curve: DisplayedCurve,
  slot: number,
  labelled: boolean,
  metric: MetricDefinition,
  study: HistoryStudy,
  analysis: HistoryAnalysis
): CurveSeriesData {
  const y = scaled(curve.value, metric)
  const shared = curve.sources.findIndex(({ provenance }) => provenance === SHARED_REFERENCE)
  const at = labelled && shared > 0 ? curve.source.indexOf(shared) : -1
  return {
    title: study.selections.find(s => s.name === curve.selection)?.title ?? curve.selection,
    slot,
    x: curve.x,
    y,
    smooth: metric.sparse || curve.trailingMean === null ? null : scaled(curve.trailingMean, metric),
    supplied: suppliedOf(curve),
    gaps: lineGapsOf(curve),
    restarts: restartsOf(curve),
    marks: at < 0 ? [] : [{ x: curve.x[at], y: y[at], label: analysis.shared_reference?.label ?? '' }]
  }
}

function suppliedOf({ source }: DisplayedCurve): number[] {
  const indexes: number[] = []
  for (let k = 0; k < source.length; k++) if (source[k] !== 0) indexes.push(k)
  return indexes
}

/** Returns the same array where the metric has no scale. */
function scaled(values: Float64Array, metric: MetricDefinition): Float64Array {
  return metric.multiply === 1 && metric.divide === 1 ? values : values.map(value => plottedValue(value, metric))
}
