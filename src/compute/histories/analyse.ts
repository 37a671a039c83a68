/**
 * Training histories, from what ingest read to what render writes and draws:
 *
 *     runs, study ──► selectRuns ──► joinSelection ──► analysisStatistics ──► documents
 *                                         ├──► displayedCurves ──► curveFigureData
 *                                         └──► historyWarnings
 *
 * Pure: no file, no clock; what was passed is not changed.
 */
import { Fault, printable } from '../../errors.js'
import type { ListedRun, RunHistory } from '../../ingest/histories/types.js'
import type { HistoryAnalysis, HistoryStudy } from '../../schema/histories.js'
import type { CurveFigureData, DisplayedCurve, ExcludedRun, SelectionHistory } from './contract.js'
import { displayedCurves } from './display.js'
import type { HistoryStatistics } from './document.js'
import { curveFigureData } from './figures.js'
import { joinSelection } from './join.js'
import { selectRuns } from './selection.js'
import { analysisStatistics } from './statistics.js'
import { historyWarnings } from './warnings.js'

export interface AnalysedHistories {
  /** in the order of the study */
  readonly selections: ReadonlyMap<string, SelectionHistory>
  readonly analyses: readonly AnalysedHistory[]
  /** in the order of the study */
  readonly figures: readonly CurveFigureData[]
  readonly excluded: readonly ExcludedRun[]
  /** one line each */
  readonly warnings: readonly string[]
}

export interface AnalysedHistory {
  readonly analysis: HistoryAnalysis
  readonly statistics: HistoryStatistics
  /** the curves that the points file (all of both views) or a figure of the analysis asks for */
  readonly displayed: readonly DisplayedCurve[]
}

/**
 * `runs` is the whole list; `histories` holds those of all runs that `selectRuns` chooses (others are not looked at), with
 * a column for the key of every metric. Throws a Fault (exit 3) where the study and the histories do not fit.
 */
export function analyseHistories(
  study: HistoryStudy,
  runs: readonly ListedRun[],
  histories: readonly RunHistory[],
  synthetic: boolean
): AnalysedHistories {
  const { chosen, excluded } = selectRuns(runs, study)
  const byPlace = new Map(histories.map(history => [placeOf(history.run), history]))
  const selections = new Map(study.selections.map(selection => [
    selection.name,
    joinSelection(selection, (chosen.get(selection.name) ?? []).map(run => readHistory(run, byPlace)), study.metrics)
  ]))
  const analyses = study.analyses.map(analysis => ({
    analysis,
    statistics: analysisStatistics(analysis, study.metrics, selections, excluded),
    displayed: displayedCurves(analysis, study.metrics, selections, isDisplayed(study, analysis))
  }))
  const figures = study.figures.map(request => {
    const displayed = analyses.find(({ analysis }) => analysis.name === request.analysis)?.displayed ?? []
    return curveFigureData(request, study, displayed, synthetic)
  })
  return { selections, analyses, figures, excluded, warnings: historyWarnings(study, selections) }
}

function isDisplayed(study: HistoryStudy, analysis: HistoryAnalysis) {
  const figures = study.figures.filter(figure => figure.analysis === analysis.name)
  return (view: 'step' | 'time', metric: string): boolean =>
    analysis.outputs.points !== null ||
    figures.some(figure => figure.view === view && figure.panels.some(panel => panel.metric === metric))
}

/** A history lies at `<folder>/<label>/<id>.jsonl`. */
function placeOf(run: ListedRun): string {
  return JSON.stringify([run.label, run.id])
}

function readHistory(run: ListedRun, byPlace: ReadonlyMap<string, RunHistory>): RunHistory {
  const history = byPlace.get(placeOf(run))
  if (history !== undefined) return history
  throw new Fault({
    format: 'history',
    problem: 'was not read',
    found: `run ${printable(run.id)}, label ${printable(run.label)}`,
    expected: 'the history of every selected run'
  })
}
