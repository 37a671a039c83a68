/** What a reader of the figures should know and no rule fails: one line each. */
import { printable } from '../../errors.js'
import type { HistoryAnalysis, HistoryStudy } from '../../schema/histories.js'
import type { Curve, SelectionHistory } from './contract.js'
import { displayedCurves, SHARED_REFERENCE } from './display.js'
import { curveFor, historyFor } from './join.js'
import type { View } from './supplied.js'

/** In the order of selections and analyses; a run that several selections share is spoken of once. */
export function historyWarnings(study: HistoryStudy, histories: ReadonlyMap<string, SelectionHistory>): string[] {
  const lines = new Set<string>()
  for (const history of histories.values()) {
    for (const line of runWarnings(study, history)) lines.add(line)
  }
  for (const analysis of study.analyses) {
    for (const line of analysisWarnings(study, analysis, histories)) lines.add(line)
  }
  return [...lines]
}

interface RunCounts {
  sessions: number
  rows: number
  withoutTimestamp: number
  beforeCreation: number
  sampled: string | null
}

function* runWarnings(study: HistoryStudy, { selection, sessions }: SelectionHistory): Generator<string> {
  const runs = new Map<string, RunCounts>()
  for (const session of sessions) {
    const counts = runs.get(session.run) ?? { sessions: 0, rows: 0, withoutTimestamp: 0, beforeCreation: 0, sampled: null }
    counts.sessions++
    counts.rows += session.rows
    counts.withoutTimestamp += session.rowsWithoutTimestamp
    counts.beforeCreation += session.rowsBeforeCreation
    counts.sampled ??= session.looksSampled
    runs.set(session.run, counts)
  }
  for (const [id, counts] of runs) {
    const run = `run ${printable(id)}`
    if (counts.rows === 0) yield `${run}: its history has no row`
    if (counts.sampled !== null) yield `${run}: ${counts.sampled}`
    if (counts.sessions > 1) {
      yield `${run}: steps go back or repeat ${counts.sessions - 1} times; what follows counts as a new session each time`
    }
    if (counts.beforeCreation > 0) {
      yield `${run}: ${counts.beforeCreation} of ${counts.rows} rows have a timestamp before the run's creation`
    }
    if (counts.withoutTimestamp > 0 && study.keys.timestamp !== null) {
      yield `${run}: ${counts.withoutTimestamp} of ${counts.rows} rows have no timestamp; the time view lacks them`
    }
  }
  if (sessions[0].rows === 0 && runs.size > 1) {
    const run = printable(sessions[0].run)
    yield `selection ${printable(selection.name)}: its clock starts at the creation of run ${run}, which has no row`
  }
}

function* analysisWarnings(
  study: HistoryStudy,
  analysis: HistoryAnalysis,
  histories: ReadonlyMap<string, SelectionHistory>
): Generator<string> {
  for (const name of analysis.selections) {
    const history = historyFor(histories, name)
    for (const metric of analysis.metrics) {
      const curve = curveFor(history, metric)
      const where = `selection ${printable(name)}, metric ${printable(metric)}`
      const unusable = unusableValues(curve)
      if (unusable !== '') yield `${where}: ${unusable}; not plotted, not averaged`
      if (curve.count === 0) yield `${where}: no observation of "${printable(curve.key)}"`
    }
  }
  const shared = analysis.shared_reference
  if (shared === null) return
  for (const curve of displayedCurves(analysis, study.metrics, histories, isStepViewOf(shared.metric))) {
    if (!shared.selections.includes(curve.selection)) continue
    if (curve.points.some(point => point.provenance === SHARED_REFERENCE)) continue
    yield `selection ${printable(curve.selection)}, metric ${printable(curve.metric)}: has a point at step ${shared.step} ` +
      'already; the shared reference is not drawn'
  }
}

function isStepViewOf(wanted: string) {
  return (view: View, metric: string): boolean => view === 'step' && metric === wanted
}

/** Spellings that a line repeats. */
const MAX_SPELLINGS = 5

function unusableValues(curve: Curve): string {
  const spellings = Object.entries(curve.nonFinite)
  const total = spellings.reduce((sum, [, count]) => sum + count, 0)
  const listed = spellings.slice(0, MAX_SPELLINGS).map(([text, count]) => `${printable(text, 20)} ${count}`)
  if (spellings.length > MAX_SPELLINGS) listed.push('…')
  return [
    total > 0 ? `${total} values are not finite (${listed.join(', ')})` : '',
    curve.nulls > 0 ? `${curve.nulls} are null` : '',
    curve.notNumbers > 0 ? `${curve.notNumbers} are no numbers` : ''
  ].filter(text => text !== '').join(', ')
}
