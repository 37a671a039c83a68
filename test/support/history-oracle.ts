/**
 * What the rules of training histories say, recomputed in the plainest possible way: loops over lists of rows, nothing
 * shared with the code under test but the study's types. Written from the source notes (sections 9 to 14 and 16) and the
 * rulings on them (order of sessions and of rows, anchors, breaks), not from the code. Slow on purpose.
 */
import type { HistoryAnalysis, HistoryStudy, MetricDefinition, RunSelection } from '../../src/schema/histories.js'
import type { PlainRow, PlainRun } from './history-plain.js'

export interface OracleSession {
  readonly run: PlainRun
  readonly rows: PlainRow[]
}

export interface Observation {
  readonly session: number
  readonly run: string
  readonly step: number
  readonly global: number | null
  readonly timestamp: number | null
  readonly value: number
}

export interface OraclePoint {
  readonly x: number
  readonly value: number
  readonly sourceRun: string | null
  readonly sourceStep: number | null
  readonly provenance: string
}

export interface OracleSelection {
  readonly sessions: OracleSession[]
  readonly origin: number
  readonly factor: number
}

function firstTimestamp(run: PlainRun): number {
  for (const row of run.rows) if (row.timestamp !== null) return row.timestamp
  return Infinity
}

/** Nanoseconds since 1970, of a text such as 2026-08-06T00:00:00.000000001Z. */
export function createdNanoseconds({ createdAt }: PlainRun): bigint {
  const [seconds, fraction = ''] = createdAt.replace('Z', '').split('.')
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}

/** Of a timestamp as it is written: plain decimals, at most nine of them. */
function nanoseconds(timestamp: number): bigint {
  const [seconds, fraction = ''] = String(timestamp).split('.')
  return BigInt(seconds + fraction.padEnd(9, '0'))
}

/** More neighbours that rise: 1; more that fall: -1. */
function direction(values: readonly number[]): number {
  let rises = 0
  let falls = 0
  for (let i = 1; i < values.length; i++) {
    if (values[i] > values[i - 1]) rises++
    if (values[i] < values[i - 1]) falls++
  }
  return rises === falls ? 0 : rises > falls ? 1 : -1
}

/** The run with its earliest row first; null where its steps fall and nothing says whether its clock does. */
export function inReadingOrder(run: PlainRun): PlainRun | null {
  if (direction(run.rows.map(row => row.step)) >= 0) return run
  const clock = direction(run.rows.flatMap(row => row.timestamp ?? []))
  if (clock === 0) return null
  return clock > 0 ? run : { ...run, rows: [...run.rows].reverse() }
}

function comesBefore(a: PlainRun, b: PlainRun): boolean {
  const [x, y] = [createdNanoseconds(a), createdNanoseconds(b)]
  if (x !== y) return x < y
  if (firstTimestamp(a) !== firstTimestamp(b)) return firstTimestamp(a) < firstTimestamp(b)
  return a.id < b.id
}

export function orderedRuns(runs: readonly PlainRun[]): PlainRun[] {
  const ordered: PlainRun[] = []
  for (const run of runs) {
    let place = 0
    while (place < ordered.length && comesBefore(ordered[place], run)) place++
    ordered.splice(place, 0, run)
  }
  return ordered
}

function cutIntoSessions(run: PlainRun): OracleSession[] {
  let current: OracleSession = { run, rows: [] }
  const sessions = [current]
  for (const row of run.rows) {
    const before = current.rows[current.rows.length - 1]
    if (before !== undefined && row.step <= before.step) {
      current = { run, rows: [] }
      sessions.push(current)
    }
    current.rows.push(row)
  }
  return sessions
}

/** By start; sessions of one start in the order of runs. */
export function sessionsOf(runs: readonly PlainRun[]): OracleSession[] {
  const placed: { start: bigint; session: OracleSession }[] = []
  for (const run of orderedRuns(runs.map(run => inReadingOrder(run) as PlainRun))) {
    let start = createdNanoseconds(run)
    cutIntoSessions(run).forEach((session, k) => {
      const stated = session.rows.flatMap(row => row.timestamp ?? [])
      if (k > 0 && stated.length > 0 && nanoseconds(stated[0]) > start) start = nanoseconds(stated[0])
      let place = placed.length
      while (place > 0 && placed[place - 1].start > start) place--
      placed.splice(place, 0, { start, session })
    })
  }
  return placed.map(({ session }) => session)
}

function observation(session: number, run: PlainRun, row: PlainRow, key: string): Observation | null {
  const logged = row.logged[key]
  if (typeof logged !== 'number') return null
  return {
    session,
    run: run.id,
    step: row.step,
    global: typeof row.global === 'number' ? row.global : null,
    timestamp: row.timestamp,
    value: logged
  }
}

export function everyObservation(sessions: readonly OracleSession[], key: string): Observation[] {
  const all: Observation[] = []
  sessions.forEach((session, k) => {
    for (const row of session.rows) {
      const o = observation(k, session.run, row, key)
      if (o !== null) all.push(o)
    }
  })
  return all
}

export interface Fate {
  readonly by: number
  readonly why: 'rolled back' | 'replaced'
}

/** The observations that remain, by step, and what became of the others. */
export function stepView(sessions: readonly OracleSession[], key: string) {
  let kept: Observation[] = []
  const fates = new Map<string, Fate>()
  sessions.forEach((session, k) => {
    if (session.rows.length === 0) return
    const start = session.rows[0].step
    const startHasIt = typeof session.rows[0].logged[key] === 'number'
    const next: Observation[] = []
    for (const o of kept) {
      if (o.step > start) fates.set(`${o.session}/${o.step}`, { by: k, why: 'rolled back' })
      else if (o.step === start && startHasIt) fates.set(`${o.session}/${o.step}`, { by: k, why: 'replaced' })
      else next.push(o)
    }
    for (const row of session.rows) {
      const o = observation(k, session.run, row, key)
      if (o !== null) next.push(o)
    }
    kept = next
  })
  return { kept, fates }
}

export function timeView(sessions: readonly OracleSession[], key: string): Observation[] {
  const left = everyObservation(sessions, key).filter(o => o.timestamp !== null)
  const ordered: Observation[] = []
  while (left.length > 0) {
    let earliest = 0
    for (let i = 1; i < left.length; i++) {
      if ((left[i].timestamp as number) < (left[earliest].timestamp as number)) earliest = i
    }
    ordered.push(left[earliest])
    left.splice(earliest, 1)
  }
  return ordered
}

export function elapsed(o: Observation, s: { readonly origin: number }): number | null {
  return o.timestamp === null ? null : (o.timestamp - s.origin) / 3600
}

export function display(o: Observation, s: OracleSelection): number | null {
  const hours = elapsed(o, s)
  return hours === null ? null : hours * s.factor
}

export function bestOf(kept: readonly Observation[]): Observation | null {
  let best: Observation | null = null
  for (const o of kept) if (best === null || o.value > best.value) best = o
  return best
}

/** null: the study asks for a calibration that the histories do not give. */
export function oracleSelection(
  selection: RunSelection,
  metrics: readonly MetricDefinition[],
  runs: readonly PlainRun[]
): OracleSelection | null {
  const sessions = sessionsOf(runs)
  const origin = sessions[0].run.createdSeconds
  const rule = selection.display_time
  if (rule === null) return { sessions, origin, factor: 1 }
  if ('multiply' in rule) return { sessions, origin, factor: rule.multiply }
  const metric = metrics.find(m => m.name === rule.best_of) as MetricDefinition
  const best = bestOf(stepView(sessions, metric.key).kept)
  if (best === null) return null
  const hours = elapsed(best, { origin })
  if (hours === null || hours <= 0) return null
  return { sessions, origin, factor: rule.at_hours / hours }
}

export function missingBetween(steps: readonly number[]): number[] {
  const missing: number[] = []
  if (steps.length === 0) return missing
  for (let s = steps[0]; s <= steps[steps.length - 1]; s++) if (!steps.includes(s)) missing.push(s)
  return missing
}

export function trailingMean(values: readonly number[], window: number): number[] {
  return values.map((_, i) => {
    let sum = 0
    let count = 0
    for (let j = 0; j <= i; j++) {
      if (j > i - window) {
        sum += values[j]
        count++
      }
    }
    return sum / count
  })
}

export interface OracleStudy {
  readonly study: HistoryStudy
  readonly selections: { readonly [name: string]: OracleSelection }
}

export function keyOf(study: HistoryStudy, metric: string): string {
  return (study.metrics.find(m => m.name === metric) as MetricDefinition).key
}

const byX = (points: OraclePoint[]): OraclePoint[] => {
  const sorted: OraclePoint[] = []
  for (const p of points) {
    let place = sorted.length
    while (place > 0 && sorted[place - 1].x > p.x) place--
    sorted.splice(place, 0, p)
  }
  return sorted
}

/** Points of one curve, and what of them was supplied. */
export function displayedPoints(world: OracleStudy, analysis: HistoryAnalysis, view: 'step' | 'time', metric: string, name: string) {
  const key = keyOf(world.study, metric)
  const seen = (who: string): Array<{ x: number; o: Observation }> => {
    const s = world.selections[who]
    if (view === 'step') return stepView(s.sessions, key).kept.map(o => ({ x: o.step, o }))
    return timeView(s.sessions, key).map(o => ({ x: display(o, s) as number, o }))
  }
  const own = seen(name)
  const points: OraclePoint[] = own.map(({ x, o }) => ({
    x,
    value: o.value,
    sourceRun: o.run,
    sourceStep: o.step,
    provenance: 'observed'
  }))
  const report = { anchor: null as string | null, prefix: [] as number[], same: [] as number[], unfilled: [] as number[] }
  const give = (x: number, o: Observation, provenance: string): void => {
    points.push({ x, value: o.value, sourceRun: o.run, sourceStep: o.step, provenance })
  }
  const taken = (x: number): boolean => points.some(p => p.x === x)
  const rule = analysis.supplied
  const startsBehindZero = (): boolean => own.some(p => p.x <= 0)
  if (rule !== null && name === rule.reference && rule.anchor && own.length > 0 && !startsBehindZero()) {
    give(0, own[0].o, `shared_${rule.reference}_reference`)
  }
  if (rule !== null && name === rule.target && own.length > 0) {
    const reference = seen(rule.reference)
    const borrowed = `borrowed_${rule.reference}`
    const prefixed = view === 'step' ? rule.step_prefix.includes(metric) : rule.time_prefix
    if (prefixed) {
      for (const { x, o } of reference) {
        if (x < own[0].x) {
          give(x, o, borrowed)
          report.prefix.push(o.step)
        }
      }
    }
    if (view === 'step' && rule.same_step.includes(metric)) {
      const last = own[own.length - 1].x
      for (const { x, o } of reference) {
        if (x <= last && !taken(x)) {
          give(x, o, borrowed)
          report.same.push(x)
        }
      }
      for (const s of missingBetween(own.map(p => p.x))) {
        if (!reference.some(r => r.x === s)) report.unfilled.push(s)
      }
    }
    const atZero = reference.find(r => r.x === 0)
    // Behind a prefix that starts before 0 there is no place for an anchor either.
    const isFree = atZero !== undefined || !points.some(p => p.x < 0)
    if (rule.anchor && reference.length > 0 && !startsBehindZero() && isFree) {
      report.anchor = atZero === undefined ? `shared_${rule.reference}_reference` : borrowed
      if (!taken(0)) give(0, (atZero ?? reference[0]).o, report.anchor)
    }
  }
  const shared = analysis.shared_reference
  if (view === 'step' && shared !== null && shared.metric === metric && shared.selections.includes(name)) {
    if (!taken(shared.step)) {
      points.push({
        x: shared.step,
        value: shared.value ?? NaN,
        sourceRun: null,
        sourceStep: null,
        provenance: 'shared_reference'
      })
    }
  }
  const restarts = own.filter(({ o }, i) => i > 0 && o.session !== own[i - 1].o.session).map(({ x }) => x)
  return { points: byX(points), report, restarts }
}

/** x of every value that is not finite in the rows of a view, but where the view shows a point. */
export function gapsOf(world: OracleStudy, view: 'step' | 'time', metric: string, name: string, shown: readonly OraclePoint[]): number[] {
  const key = keyOf(world.study, metric)
  const s = world.selections[name]
  const gaps: number[] = []
  s.sessions.forEach((session, k) => {
    const later = s.sessions.slice(k + 1).filter(({ rows }) => rows.length > 0)
    for (const row of session.rows) {
      if (typeof row.logged[key] !== 'string') continue
      if (view === 'time') {
        if (row.timestamp !== null) gaps.push(((row.timestamp - s.origin) / 3600) * s.factor)
      } else if (later.every(({ rows }) => rows[0].step >= row.step) && !gaps.includes(row.step)) gaps.push(row.step)
    }
  })
  return gaps.filter(x => !shown.some(point => point.x === x)).sort((a, b) => a - b)
}
