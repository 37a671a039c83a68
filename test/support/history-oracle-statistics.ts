/** The statistics of an analysis after the notes and the documented layout, from the oracle's views. As plain and as slow. */
import type { HistoryAnalysis, MetricDefinition, RunSelection } from '../../src/schema/histories.js'
import {
  bestOf,
  createdNanoseconds,
  display,
  displayedPoints,
  elapsed,
  everyObservation,
  keyOf,
  missingBetween,
  stepView,
  type Observation,
  type OracleSelection,
  type OracleStudy
} from './history-oracle.js'
import type { PlainRun } from './history-plain.js'

/** The numbers of the statistics document of an analysis, nulls included, without the reasons. */
export function oracleStatistics(world: OracleStudy, analysis: HistoryAnalysis) {
  const asked = analysis.statistics
  const kept = (name: string, metric: string): Observation[] => stepView(world.selections[name].sessions, keyOf(world.study, metric)).kept

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
      censoring: all.some(p => p.step < o.step) ? 'interval' : 'left',
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
      cadence: cadenceOf(steps),
      missing_steps: missing,
      missing_count: missing === null ? null : missing.length,
      non_finite: nonFinite,
      nulls,
      not_numbers: notNumbers
    }
    if (asked.ends?.metrics.includes(metric) === true) {
      const n = asked.ends.count
      block.first = mean(all.filter((_, i) => i < n))
      block.last = mean(all.filter((_, i) => i >= all.length - n))
    }
    const windows = asked.windows.filter(w => w.metrics.includes(metric))
    if (windows.length > 0) {
      block.windows = Object.fromEntries(windows.map(w => [w.name, mean(all.filter(o => w.from <= o.step && o.step <= w.to))]))
    }
    const best = bestOf(all)
    if (asked.best.includes(metric)) block.best = best === null ? null : at(best, all, s)
    if (asked.final?.metrics.includes(metric) === true) {
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
          rows_before_creation: session.rows.filter(row => row.timestamp !== null && row.timestamp < session.run.createdSeconds).length,
          rows_with_unusable_global_step: session.rows.filter(row => typeof row.global === 'string').length,
          rows_with_fractional_global_step: session.rows.filter(
            row => typeof row.global === 'number' && row.global !== Math.floor(row.global)
          ).length,
          looks_sampled: null,
          config: { id: session.run.id }
        }
      }),
      rollbacks,
      ties: tiesOf(s.sessions),
      metrics: Object.fromEntries(analysis.metrics.map(m => [m, metricBlock(selection.name, m)])),
      thresholds: Object.fromEntries(asked.thresholds.map(x => [x.name, threshold(selection.name, x.metric, x.at_least)])),
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
              time_prefix: time.prefix.length,
              trailing_mean: world.study.metrics.find(m => m.name === metric)?.trailing_mean ?? null
            }
          ]
        })
      )
    }
  }

  return {
    analysis: analysis.name,
    selections: Object.fromEntries(
      analysis.selections.map(name => [name, selectionBlock(world.study.selections.find(s => s.name === name) as RunSelection)])
    ),
    compare: compared(),
    supplied: suppliedBlock()
  }
}

/** Runs of one creation, in their order: what told each from the one before it. */
function tiesOf(sessions: OracleSelection['sessions']) {
  const runs: PlainRun[] = []
  for (const { run } of sessions) if (!runs.includes(run)) runs.push(run)
  const ties: { runs: string[]; decided_by: string }[] = []
  const created = new Set(runs.map(createdNanoseconds))
  for (const instant of created) {
    const together = runs.filter(run => createdNanoseconds(run) === instant)
    if (together.length < 2) continue
    const first = together.map(run => run.rows.find(row => row.timestamp !== null)?.timestamp ?? null)
    const byTime = first.slice(1).filter((time, i) => time !== first[i]).length
    const words = byTime === together.length - 1 ? 'first timestamp' : byTime === 0 ? 'run id' : 'first timestamp, then run id'
    ties.push({ runs: together.map(run => run.id), decided_by: words })
  }
  return ties
}

/** How far apart neighbours mostly are: every distance counted, the smallest of the most frequent. */
function cadenceOf(steps: readonly number[]): number | null {
  const distances = steps.slice(1).map((step, i) => step - steps[i])
  const times = (d: number): number => distances.filter(other => other === d).length
  const most = Math.max(...distances.map(times))
  const usual = distances.filter(d => times(d) === most)
  return usual.length === 0 ? null : Math.min(...usual)
}
