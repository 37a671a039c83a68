/** Warnings about the order of sessions: it is uncertain, or it differs from the order in which rows were logged. */
import { printable, printableId } from '../../core/errors.js'
import type { SelectionHistory, Session } from './contract.js'

/** Largest number of sessions that are listed one by one. */
const MAX_TOLD = 5

export function* orderWarnings(history: SelectionHistory): Generator<string> {
  yield* unplacedWarnings(history)
  yield* lateRowWarnings(history)
}

/** Where only one run has rows, the order in its file decides, and there is nothing to warn of. */
function* unplacedWarnings({ sessions }: SelectionHistory): Generator<string> {
  if (new Set(sessions.filter(({ rows }) => rows > 0).map(({ run }) => run)).size < 2) return
  const counts = new Map<string, number>()
  for (const { run, isUnplaced } of sessions) if (isUnplaced) counts.set(run, (counts.get(run) ?? 0) + 1)
  for (const [run, count] of counts) {
    yield `run ${printableId(run)}: ${count} later ${count === 1 ? 'session has' : 'sessions have'} no timestamp to be placed by ` +
      'among the sessions of other runs; behind the one before in its file'
  }
}

/**
 * Each session counts as the continuation of those before it. It supersedes also rows that an earlier session logged
 * after it had begun. These rows are reported here.
 */
function* lateRowWarnings({ selection, sessions, curves }: SelectionHistory): Generator<string> {
  // The start of an unplaced session is unknown, so no row is known to be later.
  const began = sessions.map(({ firstTimestamp, starts, isUnplaced }) => firstTimestamp ?? (isUnplaced ? Infinity : starts))
  const late = sessions.map(() => new Map<number, Set<number>>())
  for (const { supersededBy, session, step, timestamp } of curves) {
    supersededBy.forEach((by, i) => {
      if (by < 0 || !(timestamp[i] > began[by])) return
      const rows = late[by].get(session[i]) ?? new Set<number>()
      late[by].set(session[i], rows.add(step[i]))
    })
  }
  const told = sessions.flatMap((session, k) => (late[k].size === 0 ? [] : [lateRows(session, late[k], sessions)]))
  for (const line of told.slice(0, MAX_TOLD)) yield `selection ${printable(selection.name)}: ${line}`
  if (told.length > MAX_TOLD)
    yield `selection ${printable(selection.name)}: ${told.length - MAX_TOLD} more sessions supersede rows that were logged after they began`
}

function lateRows({ run, firstStep }: Session, rows: ReadonlyMap<number, ReadonlySet<number>>, sessions: readonly Session[]): string {
  const count = [...rows.values()].reduce((sum, steps) => sum + steps.size, 0)
  const others = [...new Set([...rows.keys()].map(k => sessions[k].run))]
  const first = [...rows.values()].reduce((least, steps) => [...steps].reduce((min, step) => Math.min(min, step), least), Infinity)
  return (
    `the session of run ${printableId(run)} that begins at step ${firstStep} supersedes ${count} ${count === 1 ? 'row' : 'rows'} ` +
    `logged after its first one, from step ${first} on, of run ${others
      .slice(0, MAX_TOLD)
      .map(id => printableId(id))
      .join(', ')}` +
    (others.length > MAX_TOLD ? ` and ${others.length - MAX_TOLD} more` : '')
  )
}
