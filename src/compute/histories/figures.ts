/**
 * A curve figure as plain data: scaled values, series in the order of the analysis, labelled marks. A log axis shows what
 * it can; how many points it cannot show is the drawing's to say.
 */
import { Fault, printable } from '../../errors.js'
import type {
  CurveFigureRequest,
  HistoryAnalysis,
  HistoryStudy,
  MetricDefinition,
  PanelRequest
} from '../../schema/histories.js'
import type { CurveFigureData, CurvePanelData, CurveSeriesData, DisplayedCurve } from './contract.js'
import { SHARED_REFERENCE } from './display.js'
import { metricFor } from './join.js'

/** `displayed` are the curves of the figure's analysis. */
export function curveFigureData(
  request: CurveFigureRequest,
  study: HistoryStudy,
  displayed: readonly DisplayedCurve[],
  synthetic: boolean
): CurveFigureData {
  const analysis = study.analyses.find(a => a.name === request.analysis)
  if (analysis === undefined) {
    throw new Fault({
      format: 'study',
      problem: `figure ${printable(request.name)} draws an unknown analysis`,
      found: `"${printable(request.analysis)}"`,
      expected: `one of ${study.analyses.map(a => printable(a.name)).join(', ')}`
    })
  }
  return {
    synthetic,
    name: request.name,
    title: request.title,
    xTitle: request.x_title,
    panels: request.panels.map(panel => panelData(request, panel, study, analysis, displayed))
  }
}

/** The value that is plotted for a logged one. */
export function plottedValue(value: number, metric: MetricDefinition): number {
  return value * metric.multiply / metric.divide
}

function panelData(
  request: CurveFigureRequest,
  panel: PanelRequest,
  study: HistoryStudy,
  analysis: HistoryAnalysis,
  displayed: readonly DisplayedCurve[]
): CurvePanelData {
  const metric = metricFor(study.metrics, panel.metric)
  const curves = analysis.selections.map(selection => {
    const curve = displayed.find(c => c.view === request.view && c.metric === metric.name && c.selection === selection)
    if (curve !== undefined) return curve
    throw new Fault({
      format: 'study',
      problem: `figure ${printable(request.name)} draws a metric that its analysis does not have`,
      found: `"${printable(metric.name)}"`,
      expected: `one of ${analysis.metrics.map(name => printable(name)).join(', ')}`
    })
  })
  const labelled = curves.findIndex(curve => curve.points.some(point => point.provenance === SHARED_REFERENCE))
  return {
    title: panel.title ?? metric.title,
    yTitle: metric.axis,
    scale: panel.scale,
    sparse: metric.sparse,
    guides: panel.guides.map(guide => ({
      value: plottedValue(guide.value, metric),
      label: guide.label,
      series: guide.selection === null ? null : analysis.selections.indexOf(guide.selection)
    })),
    series: curves.map((curve, slot) => seriesData(curve, slot, slot === labelled, metric, study, analysis))
  }
}

/** The shared point is the same in each curve that has it: the first of them bears the label. */
function seriesData(
  curve: DisplayedCurve,
  slot: number,
  labelled: boolean,
  metric: MetricDefinition,
  study: HistoryStudy,
  analysis: HistoryAnalysis
): CurveSeriesData {
  const scaled = (value: number): number => plottedValue(value, metric)
  const label = analysis.shared_reference?.label ?? ''
  return {
    title: study.selections.find(s => s.name === curve.selection)?.title ?? curve.selection,
    slot,
    x: curve.points.map(point => point.x),
    y: curve.points.map(point => scaled(point.value)),
    smooth: metric.sparse || curve.trailingMean === null ? null : curve.trailingMean.map(scaled),
    marks: curve.points
      .filter(point => labelled && point.provenance === SHARED_REFERENCE)
      .map(point => ({ x: point.x, y: scaled(point.value), label }))
  }
}
