/**
 * `figure_constants.json`: the numbers that figures draw beside curves, the scaling of curves, and the titles in
 * figures. They are numbers and texts that a claim can be compared with, because a picture alone proves nothing. The
 * schema is docs/schemas/figure-constants.schema.json.
 */
import type { BarFigureData } from '../../compute/evidence/contract.js'
import { drawnValue, plottedValue } from '../../compute/histories/drawn-numbers.js'
import type { BarFigureRequest } from '../../schema/evidence.js'
import type {
  DrawnNumber,
  HistoryAnalysis,
  HistoryStudy,
  MetricDefinition,
  PanelRequest,
  RunSelection,
  SharedReference
} from '../../schema/histories.js'
import { FIGURE_CONSTANTS } from '../../schema/outputs.js'
import type { BarPanel, CurvePanel, CurveSeries, DrawnFields, FigureConstantsDocument } from '../../schema/outputs/figure-constants.js'
import { envelope } from './documents.js'
import { jsonText } from './json-text.js'
import type { FileSummary } from './output-file.js'
import type { Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

export interface FigureConstants {
  /** the study with its drawn numbers resolved; null where the study has no histories */
  readonly histories: HistoryStudy | null
  /** null where the study has no evidence; `drawn` holds the figures of `requests`, in their order */
  readonly bars: { readonly requests: readonly BarFigureRequest[]; readonly drawn: readonly BarFigureData[] } | null
}

export function writeFigureConstants(set: OutputSet, { histories, bars }: FigureConstants, origin: Origin): Promise<FileSummary> {
  const figures: readonly (readonly [name: string, FigureConstantsDocument['figures'][string]])[] = [
    ...(histories?.figures ?? []).map(figure => {
      const { name, title, analysis: of, view, x_title, panels } = figure
      const analysis = histories?.analyses.find(one => one.name === of) ?? null
      return [
        name,
        {
          kind: 'curves',
          title,
          analysis: of,
          view,
          x_title,
          series: curveSeries(analysis, histories?.selections ?? []),
          panels: panels.map(panel =>
            curvePanelDocument(
              panel,
              histories?.metrics.find(metric => metric.name === panel.metric),
              view,
              analysis
            )
          )
        }
      ] as const
    }),
    ...(bars?.requests ?? []).map(
      ({ name, title, panels }, i) =>
        [name, { kind: 'bars', title, panels: panels.map((panel, k) => barPanelDocument(panel, bars?.drawn[i]?.panels[k])) }] as const
    )
  ]
  const document: FigureConstantsDocument = {
    ...envelope('figure-constants', origin),
    figures: Object.fromEntries(figures),
    undefined_reasons: Object.fromEntries(barReasons(bars?.drawn ?? []))
  }
  return set.write(FIGURE_CONSTANTS, jsonText(document))
}

function barReasons(figures: readonly BarFigureData[]): (readonly [pointer: string, reason: string])[] {
  return figures.flatMap(({ name, panels }) =>
    panels.flatMap(({ series }, k) =>
      series.flatMap(({ bars }, m) =>
        bars.flatMap((bar, j) =>
          bar === null || bar.value !== null
            ? []
            : [[`/figures/${name}/panels/${k}/series/${m}/bars/${j}/value`, bar.reason ?? 'it is undefined'] as const]
        )
      )
    )
  )
}

/**
 * Titles of the legend in the order drawn, each with the selection whose curve it labels. With the selection a claim
 * can detect exchanged titles, which would show one run's curve as the other's.
 */
function curveSeries(analysis: HistoryAnalysis | null, selections: readonly RunSelection[]): readonly CurveSeries[] {
  return (analysis?.selections ?? []).map(name => {
    const selection = selections.find(one => one.name === name)
    if (selection === undefined) throw new Error(`no selection ${name}`)
    return { title: selection.title, selection: name, display_name: selection.display_name }
  })
}

function curvePanelDocument(
  panel: PanelRequest,
  metric: MetricDefinition | undefined,
  view: string,
  analysis: HistoryAnalysis | null
): CurvePanel {
  if (metric === undefined) throw new Error(`no metric ${panel.metric}`)
  const shared = analysis?.shared_reference ?? null
  const { key, axis, multiply, divide, trailing_mean, sparse } = metric
  return {
    metric: metric.name,
    key,
    title: panel.title ?? metric.title,
    axis: panel.axis ?? axis,
    multiply,
    divide,
    trailing_mean,
    sparse,
    scale: panel.scale,
    guides: panel.guides.map(guide => ({ label: guide.label, selection: guide.selection, ...drawn(guide, metric) })),
    shared_reference: view === 'step' && shared?.metric === metric.name ? sharedReference(shared, metric) : null
  }
}

function sharedReference(shared: SharedReference, metric: MetricDefinition): NonNullable<CurvePanel['shared_reference']> {
  return { label: shared.label, selections: shared.selections, step: shared.step, ...drawn(shared, metric) }
}

function drawn(number: DrawnNumber, metric: MetricDefinition): DrawnFields {
  const value = drawnValue(number)
  const plotted = plottedValue(value, metric)
  const { from, scale } = number
  return {
    value,
    // Scaling may leave the double range. Then nothing is drawn.
    ...(Number.isFinite(plotted) ? { plotted_value: plotted } : {}),
    operands: from === null ? [] : [{ reference: from, scale }]
  }
}

function barPanelDocument(request: BarFigureRequest['panels'][number], panel: BarFigureData['panels'][number] | undefined): BarPanel {
  const { title, axis, from, groups, series } = request
  return {
    title,
    axis,
    from,
    groups,
    series: series.map(({ title: name, values }, k) => ({
      title: name,
      bars: values.map((reference, j) =>
        reference === null ? null : { value: panel?.series[k]?.bars[j]?.value ?? null, operands: [{ reference, scale: 1 }] }
      )
    }))
  }
}
