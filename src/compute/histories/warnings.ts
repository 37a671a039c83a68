/** Warnings for readers of the figures, one line each. They fail no run. */
import { printable, printableId } from '../../core/errors.js'
import { lacksZone } from '../../ingest/histories/iso-time.js'
import type { HistoryAnalysis, HistoryStudy } from '../../schema/histories.js'
import type { Curve, SelectionHistory, Session } from './contract.js'
import { drawnWithReference, startsBeforeZero } from './display.js'
import { curveFor, historyFor } from './join.js'
import { countBoundlessHours } from './overflow.js'
import { fileWarnings, runWarnings } from './run-warnings.js'
import { orderWarnings } from './order-warnings.js'
import type { Work } from './work.js'

/** Warnings in the order of selections and analyses. A run that several selections share is reported once. */
export function* historyWarnings(study: HistoryStudy, histories: ReadonlyMap<string, SelectionHistory>): Work<string[]> {
  const lines = new Set<string>()
  const { timestamp: key } = study.keys
  const sessionsOfAll = [...histories.values()].flatMap(history => history.sessions)
  const sessions = sessionsOfAll.filter(({ rows }) => rows > 0)
  const isTimeless = sessions.length > 0 && sessions.every(({ rows, rowsWithoutTimestamp }) => rowsWithoutTimestamp === rows)
  if (key !== null && isTimeless) {
    lines.add(`histories.keys.timestamp "${printable(key)}" stands in no row with a number: there are no hours, and the time view is empty`)
  }
  for (const line of zoneWarnings(sessionsOfAll)) lines.add(line)
  for (const history of histories.values()) {
    for (const line of ownerWarnings(history)) lines.add(line)
    for (const line of tieWarnings(history)) lines.add(line)
    for (const line of leftOutWarnings(history)) lines.add(line)
    for (const line of fileWarnings(history)) lines.add(line)
    for (const line of runWarnings(history, key !== null && !isTimeless)) lines.add(line)
    for (const line of orderWarnings(history)) lines.add(line)
  }
  for (const line of valueWarnings([...histories.values()])) lines.add(line)
  for (const analysis of study.analyses) {
    yield
    for (const line of analysisWarnings(analysis, histories)) lines.add(line)
    for (const line of anchorWarnings(analysis, histories)) lines.add(line)
    for (const line of overflowWarnings(analysis, histories)) lines.add(line)
  }
  return [...lines]
}

/** One line for all selected runs, because an exporter writes zones for all runs or for none. */
function* zoneWarnings(sessions: readonly Session[]): Generator<string> {
  const unzoned = sessions.filter(({ createdAt }) => lacksZone(createdAt))
  if (unzoned.length === 0) return
  const count = new Set(unzoned.map(({ run, url, createdAt }) => JSON.stringify([run, url, createdAt]))).size
  const [{ run, createdAt }] = unzoned
  const one = `run ${printableId(run)}`
  const example = count === 1 ? '' : `; of ${one}, for one`
  yield `createdAt of ${count === 1 ? one : `${count} runs`} has no zone and is read as UTC${example}: ${createdAt}`
}

/** Counts over runs, because all sessions of a run have the same counts. */
function* leftOutWarnings({ selection, sessions }: SelectionHistory): Generator<string> {
  const ofRuns = [...new Map(sessions.map(({ run, leftOut }) => [run, leftOut])).values()].filter(leftOut => leftOut !== null)
  const sum = (of: 'unnamed' | 'withheld'): number => ofRuns.reduce((total, leftOut) => total + leftOut[of], 0)
  const [unnamed, withheld] = [sum('unnamed'), sum('withheld')]
  const settings = (count: number): string => `${count} ${count === 1 ? 'setting' : 'settings'}`
  const name = printable(selection.name)
  if (unnamed > 0)
    yield `selection ${name}: ${settings(unnamed)} of its runs not copied, which neither histories.config nor fetch.config names`
  if (withheld > 0) yield `selection ${name}: ${settings(withheld)} of its runs withheld, which look like secrets or are no scalars`
}

/** Largest number of projects or entities that a line lists. */
const MAX_OWNERS = 5

/** A display name identifies a curve within one project. In another project it may belong to another curve. */
function* ownerWarnings({ selection, owners }: SelectionHistory): Generator<string> {
  const several = (singular: string, plural: string, stated: ReadonlyArray<string | null>): string[] => {
    const names = [...new Set(stated.filter(name => name !== null))]
    if (names.length < 2) return []
    const listed = names.slice(0, MAX_OWNERS).map(name => printable(name))
    if (names.length > MAX_OWNERS) listed.push(`${names.length - MAX_OWNERS} more`)
    return [`${names.length} ${plural} (${listed.join(', ')}), which "${singular}" would tell apart`]
  }
  const joined = [
    ...several(
      'entity',
      'entities',
      owners.map(([entity]) => entity)
    ),
    ...several(
      'project',
      'projects',
      owners.map(([, project]) => project)
    )
  ]
  if (joined.length > 0) yield `selection ${printable(selection.name)} joins runs of ${joined.join(' and of ')}`
}

/** Largest number of runs that a line lists. */
const MAX_TIED = 5

function* tieWarnings({ ties }: SelectionHistory): Generator<string> {
  for (const { runs, decidedBy } of ties) {
    const listed = runs.slice(0, MAX_TIED).map(run => printableId(run))
    if (runs.length > MAX_TIED) listed.push(`${runs.length - MAX_TIED} more`)
    yield `runs ${listed.join(', ')} were created at the same time; this order is by ${decidedBy}`
  }
}

/** Warnings about every metric, used or not. Selections of the same sessions have the same values, so they share one line. */
function valueWarnings(histories: readonly SelectionHistory[]): string[] {
  const told = new Map<string, { readonly names: string[]; readonly metric: string; readonly values: string }>()
  for (const { selection, sessions, curves } of histories) {
    const same = JSON.stringify(sessions.map(({ run, url, createdAt, rows }) => [run, url, createdAt, rows]))
    for (const curve of curves) {
      const values = unusableValues(curve)
      if (values === '') continue
      const key = JSON.stringify([same, curve.metric, values])
      const line = told.get(key) ?? { names: [], metric: curve.metric, values }
      line.names.push(selection.name)
      told.set(key, line)
    }
  }
  return [...told.values()].map(({ names, metric, values }) => `${whose(names, metric)}: ${values}; not plotted, not averaged`)
}

function* analysisWarnings(analysis: HistoryAnalysis, histories: ReadonlyMap<string, SelectionHistory>): Generator<string> {
  // A single selection without the metric is often intended. Its count is in the statistics.
  for (const metric of analysis.metrics) {
    const curves = analysis.selections.map(name => curveFor(historyFor(histories, name), metric))
    if (curves.some(curve => curve.count > 0)) continue
    const names = analysis.selections.map(name => printable(name)).join(', ')
    yield `analysis ${printable(analysis.name)}, metric ${printable(metric)}: no observation of "${printable(curves[0].key)}" in ${names}`
  }
  const shared = analysis.shared_reference
  if (shared === null) return
  const drawn = drawnWithReference(analysis, shared, histories)
  for (const name of analysis.selections) {
    if (!shared.selections.includes(name) || drawn.includes(name)) continue
    yield `${whose(name, shared.metric)}: has a point at step ${shared.step} already; the shared reference is not drawn`
  }
}

/** Reports timestamps before the creation of the first run, as in an export that was synchronized later. */
function* anchorWarnings(analysis: HistoryAnalysis, histories: ReadonlyMap<string, SelectionHistory>): Generator<string> {
  const rule = analysis.supplied
  if (rule === null || !rule.anchor) return
  for (const selection of [rule.reference, rule.target]) {
    const early = analysis.metrics.filter(metric => startsBeforeZero(analysis, histories, { view: 'time', selection, metric }))
    if (early.length === 0) continue
    yield `${whose(selection, early)}: observed before 0 hours; the shared anchor at 0 hours is not drawn`
  }
}

function* overflowWarnings({ metrics, selections }: HistoryAnalysis, histories: ReadonlyMap<string, SelectionHistory>): Generator<string> {
  for (const metric of metrics) {
    for (const selection of selections) {
      const history = historyFor(histories, selection)
      const hours = countBoundlessHours(history, curveFor(history, metric))
      if (hours === 0) continue
      const cells = `${hours} ${hours === 1 ? 'observation' : 'observations'}`
      yield `${whose(selection, metric)}: display_hours of ${cells} is beyond the double range; empty in the files, not plotted`
    }
  }
}

function whose(selection: string | readonly string[], metric: string | readonly string[]): string {
  const named = (what: string, names: string | readonly string[]): string => {
    const list = [names].flat()
    return `${what}${list.length === 1 ? '' : 's'} ${list.map(name => printable(name)).join(', ')}`
  }
  return `${named('selection', selection)}, ${named('metric', metric)}`
}

/** Largest number of spellings that a line lists. */
const MAX_SPELLINGS = 5

function unusableValues(curve: Curve): string {
  const spellings = Object.entries(curve.nonFinite)
  const total = spellings.reduce((sum, [, count]) => sum + count, 0)
  const listed = spellings.slice(0, MAX_SPELLINGS).map(([text, count]) => `${printable(text)} ${count}`)
  if (spellings.length > MAX_SPELLINGS) listed.push('…')
  const { nulls, notNumbers } = curve
  return [
    ...(total > 0 ? [`${total} ${total === 1 ? 'value is' : 'values are'} not finite (${listed.join(', ')})`] : []),
    ...(nulls > 0 ? [`${nulls} ${nulls === 1 ? 'is' : 'are'} null`] : []),
    ...(notNumbers > 0 ? [`${notNumbers} ${notNumbers === 1 ? 'is no number' : 'are no numbers'}`] : [])
  ].join(', ')
}
