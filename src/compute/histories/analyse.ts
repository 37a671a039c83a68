/**
 * Training histories, from what ingest read to what render writes and draws:
 *
 *     runs, study ──► selectRuns ──► joinSelection ──► analysisStatistics ──► documents
 *                                         ├──► displayedCurve ──► curveFigureData
 *                                         └──► historyWarnings
 *
 * The functions are pure: they read no file and no clock, and change nothing that was passed. A displayed curve is made
 * from the joined selections when it is needed, one curve at a time.
 */
import { Fault, printable, printableId } from '../../core/errors.js'
import type { ListedRun, RunHistory } from '../../ingest/histories/types.js'
import type { HistoryAnalysis, HistoryStudy } from '../../schema/histories.js'
import type { ExcludedRun, SelectionHistory } from './contract.js'
import type { HistoryStatistics } from './document.js'
import { joinSelection } from './join.js'
import { selectionPath, selectRuns } from './selection.js'
import { analysisStatistics } from './statistics.js'
import { historyWarnings } from './warnings.js'
import type { Work } from './work.js'

export interface JoinedHistories {
  /** in the order of the study */
  readonly selections: ReadonlyMap<string, SelectionHistory>
  readonly excluded: readonly ExcludedRun[]
}

export interface AnalysedHistories extends JoinedHistories {
  readonly analyses: readonly AnalysedHistory[]
  /** one line each */
  readonly warnings: readonly string[]
}

export interface AnalysedHistory {
  readonly analysis: HistoryAnalysis
  readonly statistics: HistoryStatistics
}

/**
 * Joins the histories of each selection of the study. The result refers neither to `runs` nor to `histories`.
 * @param runs the whole list of runs
 * @param histories histories of at least those runs that `selectRuns` chooses, each with a column for the key of every
 *   metric; other runs are ignored
 * @throws Fault (exit 3) where the study and the histories do not fit
 */
export function* joinHistories(study: HistoryStudy, runs: readonly ListedRun[], histories: Iterable<RunHistory>): Work<JoinedHistories> {
  const { chosen, excluded } = selectRuns(runs, study)
  const byPlace = new Map(Array.from(histories, history => [placeOf(history.run), history]))
  const selections = new Map<string, SelectionHistory>()
  for (const [i, selection] of study.selections.entries()) {
    const own = (chosen.get(selection.name) ?? []).map(run => historyOf(run, byPlace))
    selections.set(selection.name, yield* joinSelection(selection, own, study.metrics, selectionPath(i)))
  }
  return { selections, excluded }
}

export function* analyseHistories(study: HistoryStudy, joined: JoinedHistories): Work<AnalysedHistories> {
  const { selections, excluded } = joined
  const analyses: AnalysedHistory[] = []
  for (const analysis of study.analyses) {
    analyses.push({ analysis, statistics: yield* analysisStatistics(analysis, study.metrics, selections, excluded) })
  }
  return { ...joined, analyses, warnings: yield* historyWarnings(study, selections) }
}

/** Key of a history: its file is `<folder>/<label>/<id>.jsonl`. */
function placeOf(run: ListedRun): string {
  return JSON.stringify([run.label, run.id])
}

function historyOf(run: ListedRun, byPlace: ReadonlyMap<string, RunHistory>): RunHistory {
  const history = byPlace.get(placeOf(run))
  if (history !== undefined) return history
  throw new Fault({
    format: 'history',
    problem: 'was not read',
    found: `run ${printableId(run.id)}, label ${printable(run.label)}`,
    expected: 'the history of every selected run'
  })
}
