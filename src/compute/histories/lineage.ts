/**
 * The observations of one metric of one selection, and both views of them.
 *
 * Step view: the sessions are taken in order. When a session starts at step s, kept observations with step > s are
 * dropped: they are rolled back. At step s itself a finite value in the new row replaces the old one; otherwise the old
 * one stays. A session that never logs this metric rolls back too. A session without rows changes nothing. Nothing is
 * averaged.
 *
 * Time view: all observations with a timestamp, by timestamp, also those that the step view drops.
 */
import { Fault, printable, printableId } from '../../core/errors.js'
import type { HistoryColumn, RunHistory } from '../../ingest/histories/types.js'
import type { MetricDefinition } from '../../schema/histories.js'
import type { Curve } from './contract.js'
import type { Stretch } from './sessions.js'
import { lowerBound } from './steps.js'
import { byTimestamp } from './time-order.js'
import { PIECE, type Work } from './work.js'

/** @param stretches stretches of all runs of the selection, in order */
export function* curveOf(selection: string, metric: MetricDefinition, stretches: readonly Stretch[]): Work<Curve> {
  const columns = columnsOf(metric.key, stretches)
  const count = [...columns.values()].reduce((sum, column) => sum + column.row.length, 0)
  const session = new Int32Array(count)
  const step = new Float64Array(count)
  const globalStep = new Float64Array(count)
  const timestamp = new Float64Array(count)
  const value = new Float64Array(count)
  const supersededBy = new Int32Array(count).fill(-1)
  const replaced = new Uint8Array(count)
  // The step view is a stack: a new session pops observations from its end and pushes its own.
  const kept = new Int32Array(count)
  let depth = 0
  let next = 0
  const drop = (by: number, atSameStep: boolean): void => {
    depth--
    supersededBy[kept[depth]] = by
    replaced[kept[depth]] = atSameStep ? 1 : 0
  }
  for (let k = 0; k < stretches.length; k++) {
    const { history, from, to } = stretches[k]
    if (to === from) continue
    const { row, value: logged } = columns.get(history) as HistoryColumn
    let cursor = lowerBound(row, from)
    const start = history.step[from]
    while (depth > 0 && step[kept[depth - 1]] > start) drop(k, false)
    if (depth > 0 && step[kept[depth - 1]] === start && row[cursor] === from) drop(k, true)
    for (; cursor < row.length && row[cursor] < to; cursor++, next++) {
      if (next % PIECE === PIECE - 1) yield
      session[next] = k
      step[next] = history.step[row[cursor]]
      globalStep[next] = history.globalStep[row[cursor]]
      timestamp[next] = history.timestamp[row[cursor]]
      value[next] = logged[cursor]
      kept[depth++] = next
    }
  }
  yield
  return {
    selection,
    metric: metric.name,
    key: metric.key,
    count,
    session,
    step,
    globalStep,
    timestamp,
    value,
    supersededBy,
    replaced,
    steps: depth === count ? kept : kept.slice(0, depth),
    times: yield* byTimestamp(timestamp),
    ...nonFiniteRows(stretches, columns),
    ...unusableValues([...columns.values()])
  }
}

function columnsOf(key: string, stretches: readonly Stretch[]): Map<RunHistory, HistoryColumn> {
  const columns = new Map<RunHistory, HistoryColumn>()
  for (const { history } of stretches) {
    if (columns.has(history)) continue
    const column = history.columns.find(c => c.key === key)
    if (column === undefined) {
      throw new Fault({
        format: 'history',
        problem: 'metric was not read',
        found: `${history.columns.length} keys of run ${printableId(history.run.id)}`,
        expected: `a column for "${printable(key)}"`,
        place: { file: history.file.path }
      })
    }
    columns.set(history, column)
  }
  return columns
}

/** The step view keeps a row that no later session goes back over. It also keeps a row at the first step of a later session. */
function nonFiniteRows(
  stretches: readonly Stretch[],
  columns: ReadonlyMap<RunHistory, HistoryColumn>
): Pick<Curve, 'nonFiniteSteps' | 'nonFiniteTimes'> {
  const steps: Float64Array[] = []
  const times: Float64Array[] = []
  let next = Infinity
  for (const { history, from, to } of stretches.toReversed()) {
    if (to === from) continue
    const { nonFiniteRow: row } = columns.get(history) as HistoryColumn
    const own = row.subarray(lowerBound(row, from), lowerBound(row, to))
    steps.push(Float64Array.from(own, i => history.step[i]).filter(step => step <= next))
    times.push(Float64Array.from(own, i => history.timestamp[i]).filter(Number.isFinite))
    next = Math.min(next, history.step[from])
  }
  return { nonFiniteSteps: joined(steps.reverse()), nonFiniteTimes: joined(times.reverse()) }
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function unusableValues(columns: readonly HistoryColumn[]): Pick<Curve, 'nonFinite' | 'nulls' | 'notNumbers'> {
  const counts = new Map<string, number>()
  let nulls = 0
  let notNumbers = 0
  for (const column of columns) {
    for (const [text, count] of Object.entries(column.nonFinite)) counts.set(text, (counts.get(text) ?? 0) + count)
    nulls += column.nulls
    notNumbers += column.notNumbers
  }
  return { nonFinite: Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))), nulls, notNumbers }
}
