/**
 * What the rules of training histories say, recomputed in the plainest possible way: loops over lists of rows, nothing
 * shared with the code under test but the study's types. Written from the source notes (sections 9 to 14 and 16), not from
 * the code. Slow on purpose.
 */
import type {
  HistoryAnalysis,
  HistoryStudy,
  MetricDefinition,
  RunSelection
} from '../../src/schema/histories.js'
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

function comesBefore(a: PlainRun, b: PlainRun): boolean {
  if (a.createdSeconds !== b.createdSeconds) return a.createdSeconds < b.createdSeconds
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

export function sessionsOf(runs: readonly PlainRun[]): OracleSession[] {
  const sessions: OracleSession[] = []
  for (const run of orderedRuns(runs)) {
    let current: OracleSession = { run, rows: [] }
    sessions.push(current)
    for (const row of run.rows) {
      const before = current.rows[current.rows.length - 1]
      if (before !== undefined && row.step <= before.step) {
        current = { run, rows: [] }
        sessions.push(current)
      }
      current.rows.push(row)
    }
  }
  return sessions
}

function observation(session: number, run: PlainRun, row: PlainRow, key: string): Observation | null {
  const logged = row.logged[key]
  if (typeof logged !== 'number') return null
  return { session, run: run.id, step: row.step, global: row.global, timestamp: row.timestamp, value: logged }
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

function missingBetween(steps: readonly number[]): number[] {
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
export function displayedPoints(
  world: OracleStudy,
  analysis: HistoryAnalysis,
  view: 'step' | 'time',
  metric: string,
  name: string
) {
  const key = keyOf(world.study, metric)
  const seen = (who: string): Array<{ x: number; o: Observation }> => {
    const s = world.selections[who]
    if (view === 'step') return stepView(s.sessions, key).kept.map(o => ({ x: o.step, o }))
    return timeView(s.sessions, key).map(o => ({ x: display(o, s) as number, o }))
  }
  const own = seen(name)
  const points: OraclePoint[] = own.map(({ x, o }) => ({
    x, value: o.value, sourceRun: o.run, sourceStep: o.step, provenance: 'observed'
  }))
  const report = { anchor: null as string | null, prefix: [] as number[], same: [] as number[], unfilled: [] as number[] }
  const give = (x: number, o: Observation, provenance: string): void => {
    points.push({ x, value: o.value, sourceRun: o.run, sourceStep: o.step, provenance })
  }
  const taken = (x: number): boolean => points.some(p => p.x === x)
  const rule = analysis.supplied
  if (rule !== null && name === rule.reference && rule.anchor && own.length > 0 && !taken(0)) {
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
    if (rule.anchor && reference.length > 0 && !own.some(p => p.x === 0)) {
      const atZero = reference.find(r => r.x === 0)
      report.anchor = atZero === undefined ? `shared_${rule.reference}_reference` : borrowed
      if (!taken(0)) give(0, (atZero ?? reference[0]).o, report.anchor)
    }
  }
  const shared = analysis.shared_reference
  if (view === 'step' && shared !== null && shared.metric === metric && shared.selections.includes(name)) {
    if (!taken(shared.step)) {
      points.push({
        x: shared.step, value: shared.value, sourceRun: null, sourceStep: null, provenance: 'shared_reference'
      })
    }
  }
  return { points: byX(points), report }
}

/** The numbers of the statistics document of an analysis, nulls included, without the reasons. */
export function oracleStatistics(world: OracleStudy, analysis: HistoryAnalysis) {
  const asked = analysis.statistics
  const kept = (name: string, metric: string): Observation[] =>
    stepView(world.selections[name].sessions, keyOf(world.study, metric)).kept

  const mean = (part: readonly Observation[]) => {
    let sum = 0
    for (const o of part) sum += o.value
    return {
      mean: part.length === 0 ? null : sum / part.length,
      count: part.length,
      steps: part.length === 0 ? null : [part[0].step, part[part.length - 1].step]
    }
  }
  const hours = (o: Observation, s: OracleSelection) => ({ elapsed_hours: elapsed(o, s), display_hours: display(o, s) })
  const at = (o: Observation, all: readonly Observation[], s: OracleSelection) => {
    const before = all[all.indexOf(o) - 1]
    return {
      step: o.step,
      value: o.value,
      run: o.run,
      ...hours(o, s),
      previous: before === undefined ? null : { step: before.step, ...hours(before, s) }
    }
  }

  const metricBlock = (name: string, metric: string): Record<string, unknown> => {
    const s = world.selections[name]
    const key = keyOf(world.study, metric)
    const definition = world.study.metrics.find(m => m.name === metric) as MetricDefinition
    const all = kept(name, metric)
    const steps = all.map(o => o.step)
    const missing = definition.sparse || all.length === 0 ? null : missingBetween(steps)
    const nonFinite: Record<string, number> = {}
    let nulls = 0
    let notNumbers = 0
    for (const session of s.sessions) {
      for (const row of session.rows) {
        const logged = row.logged[key]
        if (typeof logged === 'string') nonFinite[logged] = (nonFinite[logged] ?? 0) + 1
        if (logged === null) nulls++
        if (logged === true) notNumbers++
      }
    }
    const block: Record<string, unknown> = {
      key,
      observations: all.length,
      all_attempts: everyObservation(s.sessions, key).length,
      first_step: all.length === 0 ? null : steps[0],
      last_step: all.length === 0 ? null : steps[steps.length - 1],
      missing_steps: missing,
      missing_count: missing === null ? null : missing.length,
      non_finite: nonFinite,
      nulls,
      not_numbers: notNumbers
    }
    if (asked.ends !== null && asked.ends.metrics.includes(metric)) {
      const n = asked.ends.count
      block.first = mean(all.filter((_, i) => i < n))
      block.last = mean(all.filter((_, i) => i >= all.length - n))
    }
    const windows = asked.windows.filter(w => w.metrics.includes(metric))
    if (windows.length > 0) {
      block.windows = Object.fromEntries(
        windows.map(w => [w.name, mean(all.filter(o => w.from <= o.step && o.step <= w.to))])
      )
    }
    const best = bestOf(all)
    if (asked.best.includes(metric)) block.best = best === null ? null : at(best, all, s)
    if (asked.final !== null && asked.final.metrics.includes(metric)) {
      const n = asked.final.count
      const tail = mean(all.filter((_, i) => i >= all.length - n))
      block.final = {
        first: all.length === 0 ? null : { step: all[0].step, value: all[0].value },
        last: all.length === 0 ? null : { step: all[all.length - 1].step, value: all[all.length - 1].value },
        mean: tail.mean,
        count: tail.count,
        gain: best === null ? null : best.value - all[0].value
      }
    }
    if (asked.max_abs.includes(metric)) {
      let largest: { step: number; value: number } | null = null
      for (const o of all) {
        if (largest === null || Math.abs(o.value) > largest.value) largest = { step: o.step, value: Math.abs(o.value) }
      }
      block.max_abs = largest
    }
    if (asked.below_zero.includes(metric)) block.below_zero = all.filter(o => o.value < 0).length
    return block
  }

  const threshold = (name: string, metric: string, atLeast: number) => {
    const all = kept(name, metric)
    const o = all.find(p => p.value >= atLeast)
    return o === undefined ? null : { metric, at_least: atLeast, ...at(o, all, world.selections[name]) }
  }

  const firstRow = (name: string, metrics: readonly string[]) => {
    let first: Observation | null = null
    for (const metric of metrics) {
      for (const o of kept(name, metric)) {
        if (first === null || o.step < first.step || (o.step === first.step && o.session < first.session)) first = o
      }
    }
    return first === null ? null : { step: first.step, global_step: first.global, run: first.run }
  }

  const shares = (name: string, metrics: readonly string[]) => {
    const bySteps = new Map<number, Map<string, number>>()
    for (const metric of metrics) {
      for (const o of kept(name, metric)) {
        if (!bySteps.has(o.step)) bySteps.set(o.step, new Map())
        bySteps.get(o.step)?.set(metric, o.value)
      }
    }
    let full = 0
    for (const row of bySteps.values()) {
      if (metrics.every(m => row.has(m) && row.get(m) !== 0)) full++
    }
    return {
      rows: bySteps.size,
      rows_all_nonzero: full,
      means: Object.fromEntries(metrics.map(m => [m, mean(kept(name, m)).mean]))
    }
  }

  const selectionBlock = (selection: RunSelection) => {
    const s = world.selections[selection.name]
    let retained: number[] = []
    const rollbacks: unknown[] = []
    for (const session of s.sessions) {
      if (session.rows.length === 0) continue
      const start = session.rows[0].step
      const last = retained[retained.length - 1]
      if (last !== undefined && start <= last) rollbacks.push({ run: session.run.id, steps: [start, last] })
      retained = [...retained.filter(step => step < start), ...session.rows.map(row => row.step)]
    }
    return {
      title: selection.title,
      display_name: selection.display_name,
      runs: new Set(s.sessions.map(session => session.run.id)).size,
      rows: s.sessions.reduce((n, session) => n + session.rows.length, 0),
      first_step: retained.length === 0 ? null : retained[0],
      last_step: retained.length === 0 ? null : retained[retained.length - 1],
      display_factor: s.factor,
      origin: s.sessions[0].run.createdAt,
      sessions: s.sessions.map(session => {
        const holes = missingBetween(session.rows.map(row => row.step))
        return {
          run: session.run.id,
          created_at: session.run.createdAt,
          state: 'crashed',
          url: null,
          rows: session.rows.length,
          first_step: session.rows.length === 0 ? null : session.rows[0].step,
          last_step: session.rows.length === 0 ? null : session.rows[session.rows.length - 1].step,
          holes: { count: holes.length, first: holes.slice(0, 10) },
          rows_without_timestamp: session.rows.filter(row => row.timestamp === null).length,
          rows_before_creation: session.rows.filter(
            row => row.timestamp !== null && row.timestamp < session.run.createdSeconds
          ).length,
          looks_sampled: null,
          config: { id: session.run.id }
        }
      }),
      rollbacks,
      metrics: Object.fromEntries(analysis.metrics.map(m => [m, metricBlock(selection.name, m)])),
      thresholds: Object.fromEntries(
        asked.thresholds.map(x => [x.name, threshold(selection.name, x.metric, x.at_least)])
      ),
      first_rows: Object.fromEntries(asked.first_rows.map(x => [x.name, firstRow(selection.name, x.metrics)])),
      shares: Object.fromEntries(asked.shares.map(x => [x.name, shares(selection.name, x.metrics)]))
    }
  }

  type Hours = { elapsed_hours: number | null; display_hours: number | null } | null
  const minus = (a: number | null | undefined, b: number | null | undefined): number | null =>
    a === null || a === undefined || b === null || b === undefined ? null : a - b
  const difference = (target: Hours, reference: Hours) => ({
    elapsed_hours: minus(target?.elapsed_hours, reference?.elapsed_hours),
    display_hours: minus(target?.display_hours, reference?.display_hours)
  })
  const compared = () => {
    const pair = asked.compare
    if (pair === null) return null
    const bestIn = (name: string, metric: string): Hours => {
      const all = kept(name, metric)
      const best = bestOf(all)
      return best === null ? null : hours(best, world.selections[name])
    }
    return {
      reference: pair.reference,
      target: pair.target,
      thresholds: Object.fromEntries(
        asked.thresholds.map(x => [
          x.name,
          difference(threshold(pair.target, x.metric, x.at_least), threshold(pair.reference, x.metric, x.at_least))
        ])
      ),
      best: Object.fromEntries(
        asked.best.map(metric => {
          const t = bestIn(pair.target, metric)
          const r = bestIn(pair.reference, metric)
          const defined = t?.display_hours !== null && t !== null && r !== null && r.display_hours !== null && r.display_hours !== 0
          return [
            metric,
            {
              ...difference(t, r),
              reduction_percent: defined ? (1 - (t.display_hours as number) / (r.display_hours as number)) * 100 : null
            }
          ]
        })
      )
    }
  }

  const suppliedBlock = () => {
    const rule = analysis.supplied
    if (rule === null) return null
    return {
      reference: rule.reference,
      target: rule.target,
      metrics: Object.fromEntries(
        analysis.metrics.map(metric => {
          const step = displayedPoints(world, analysis, 'step', metric, rule.target).report
          const time = displayedPoints(world, analysis, 'time', metric, rule.target).report
          return [
            metric,
            {
              anchor: step.anchor,
              time_anchor: time.anchor,
              step_prefix: step.prefix,
              same_step: step.same,
              unfilled: step.unfilled,
              unfilled_count: step.unfilled.length,
              time_prefix: time.prefix.length
            }
          ]
        })
      )
    }
  }

  return {
    analysis: analysis.name,
    selections: Object.fromEntries(
      analysis.selections.map(name => [
        name,
        selectionBlock(world.study.selections.find(s => s.name === name) as RunSelection)
      ])
    ),
    compare: compared(),
    supplied: suppliedBlock()
  }
}
