/**
 * Joins the histories of one selection: ordered sessions, a curve for each metric, the origin and the factor of the
 * clock. The clock starts at the creation of the first session, even where that session has no row.
 */
import { Fault, printable } from '../../core/errors.js'
import type { RunHistory } from '../../ingest/histories/types.js'
import type { MetricDefinition, RunSelection } from '../../schema/histories.js'
import type { Curve, SelectionHistory } from './contract.js'
import { displayFactor } from './display-factor.js'
import { curveOf } from './lineage.js'
import { describeSessions, orderHistories, ownersOf, rollbacksOf, stretchesOf, tiesOf } from './sessions.js'
import type { Work } from './work.js'

/**
 * @param histories histories of the selection's runs, at least one, in any order
 * @param metrics metrics of the study
 * @param at the selection's path in the study file
 * @throws Fault (exit 3) where the factor of display_hours is undefined, or where a metric was not read
 */
export function* joinSelection(
  selection: RunSelection,
  histories: readonly RunHistory[],
  metrics: readonly MetricDefinition[],
  at: string
): Work<SelectionHistory> {
  const ordered = orderHistories(histories)
  const stretches = stretchesOf(ordered)
  const sessions = describeSessions(stretches)
  const curves: Curve[] = []
  for (const metric of metrics) {
    yield
    curves.push(yield* curveOf(selection.name, metric, stretches))
  }
  const originSeconds = ordered[0].run.createdSeconds
  return {
    selection,
    sessions,
    rollbacks: rollbacksOf(sessions),
    files: ordered.map(({ run: { id }, file, reversed, inexact, nested }) => ({ run: id, file, reversed, inexact, nested })),
    ties: tiesOf(ordered),
    owners: ownersOf(ordered),
    curves,
    originSeconds,
    displayFactor: displayFactor(selection, curves, originSeconds, at)
  }
}

/**
 * The curve of a metric. The study section has already checked the names.
 * @throws Fault where no curve has the name
 */
export function curveFor(history: SelectionHistory, metric: string): Curve {
  const curve = history.curves.find(c => c.metric === metric)
  if (curve === undefined)
    throw unknown(
      'metric',
      metric,
      history.curves.map(c => c.metric)
    )
  return curve
}

export function historyFor(histories: ReadonlyMap<string, SelectionHistory>, selection: string): SelectionHistory {
  const history = histories.get(selection)
  if (history === undefined) throw unknown('selection', selection, [...histories.keys()])
  return history
}

export function metricFor(metrics: readonly MetricDefinition[], name: string): MetricDefinition {
  const metric = metrics.find(m => m.name === name)
  if (metric === undefined)
    throw unknown(
      'metric',
      name,
      metrics.map(m => m.name)
    )
  return metric
}

export function unknown(what: string, name: string, known: readonly string[]): Fault {
  return new Fault({
    format: 'study',
    problem: `unknown ${what}`,
    found: `"${printable(name)}"`,
    expected: `one of ${known.map(k => printable(k)).join(', ')}`
  })
}
