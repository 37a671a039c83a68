/**
 * What a page tells of a curve figure: each displayed point of both views with its value as logged, step, hours, session, run
 * and provenance, as the points' files have them. A figure of very many points has no readings, since a page holds them all.
 */
import type { CurveFigureRequest, HistoryAnalysis, HistoryStudy } from '../../schema/histories.js'
import type { CurvePlace, DisplayedCurve, FigureReadings, PanelReadings, PointReadings, SelectionHistory } from './contract.js'
import { displayedCurve, lineGapsOf, restartsOf } from './display.js'
import { curveFor, historyFor, metricFor } from './join.js'
import { displayHours } from './time.js'
import type { Work } from './work.js'

/** Most observations of the curves of a figure. Each stands in a page twice, with some sixty bytes before compression. */
export const MAX_READ_OBSERVATIONS = 20_000

/** Texts that many points repeat, by the order of their first use. */
class Repeated<T> {
  readonly list: T[] = []
  readonly #places = new Map<string, number>()

  place(key: string, make: () => T): number {
    const known = this.#places.get(key)
    if (known !== undefined) return known
    this.#places.set(key, this.list.length)
    return this.list.push(make()) - 1
  }
}

interface RepeatedTexts {
  readonly runs: Repeated<FigureReadings['runs'][number]>
  readonly provenances: Repeated<string>
}

/** @returns null where the curves have more observations than a page holds */
export function* figureReadings(
  request: CurveFigureRequest,
  study: HistoryStudy,
  analysis: HistoryAnalysis,
  histories: ReadonlyMap<string, SelectionHistory>
): Work<FigureReadings | null> {
  if (observationsOf(request, analysis, histories) > MAX_READ_OBSERVATIONS) return null
  const named: RepeatedTexts = { runs: new Repeated(), provenances: new Repeated() }
  const panels: PanelReadings[] = []
  for (const panel of request.panels) {
    const { multiply, divide, sparse, trailing_mean: window, ...metric } = metricFor(study.metrics, panel.metric)
    const series: PanelReadings['series'][number][] = []
    for (const [slot, selection] of analysis.selections.entries()) {
      const inView = function* (view: CurvePlace['view']): Work<PointReadings> {
        return pointReadings(yield* displayedCurve(analysis, study.metrics, histories, { view, metric: metric.name, selection }), named)
      }
      const title = study.selections.find(s => s.name === selection)?.title ?? selection
      series.push({ title, slot, step: yield* inView('step'), time: yield* inView('time') })
    }
    const { title, axis, scale } = panel
    panels.push({ title: title ?? metric.title, yTitle: axis ?? metric.axis, scale, sparse, multiply, divide, window, series })
  }
  const windows = new Set(study.metrics.flatMap(({ trailing_mean: window }) => window ?? []))
  return {
    view: request.view,
    xTitles: { step: 'Step', time: 'Hours', [request.view]: request.x_title },
    windows: [...windows].sort((a, b) => a - b),
    runs: named.runs.list,
    provenances: named.provenances.list,
    panels
  }
}

function observationsOf(
  { panels }: CurveFigureRequest,
  { selections }: HistoryAnalysis,
  histories: ReadonlyMap<string, SelectionHistory>
): number {
  const counts = panels.flatMap(({ metric }) => selections.map(name => curveFor(historyFor(histories, name), metric).count))
  return counts.reduce((sum, count) => sum + count, 0)
}

function pointReadings(displayed: DisplayedCurve, { runs, provenances }: RepeatedTexts): PointReadings {
  const { view, x, value, source, sources, observation } = displayed
  const points = Array.from(value, (logged, k) => {
    const { history, curve, provenance } = sources[source[k]]
    const told = { value: logged, provenance: provenances.place(provenance, () => provenance) }
    if (history === null || curve === null) return { ...told, step: null, hours: null, run: -1, session: -1 }
    const i = observation[k]
    const session = curve.session[i]
    const hours = displayHours(history, curve.timestamp[i])
    const { run: id } = history.sessions[session]
    const file = (): string => history.files.find(({ run }) => run === id)?.file.path ?? ''
    return {
      ...told,
      step: curve.step[i],
      hours: Number.isFinite(hours) ? hours : null,
      run: runs.place(JSON.stringify([history.selection.name, id]), () => ({ id, file: file() })),
      session
    }
  })
  const own = view === 'step' ? 'step' : 'hours'
  return {
    x: points.every((point, k) => point[own] === x[k]) ? null : Array.from(x),
    value: points.map(point => point.value),
    step: points.map(point => point.step),
    hours: points.map(point => point.hours),
    run: points.map(point => point.run),
    session: points.map(point => point.session),
    provenance: points.map(point => point.provenance),
    gaps: Array.from(lineGapsOf(displayed)),
    restarts: Array.from(restartsOf(displayed))
  }
}
