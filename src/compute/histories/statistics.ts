/**
 * The statistics document of an analysis. It covers observed points of the step view only. Supplied points are
 * described in their own block and enter nothing else. Everything outside that block is the same with and without
 * supplied points and the shared reference.
 */
import type { HistoryAnalysis, MetricDefinition } from '../../schema/histories.js'
import type { Curve, ExcludedRun, SelectionHistory, Session } from './contract.js'
import { comparedStatistics } from './comparison.js'
import type {
  FirstRow,
  HistoryStatistics,
  MetricStatistics,
  SelectionStatistics,
  SessionStatistics,
  Shares,
  ThresholdCrossing
} from './document.js'
import { curveFor, historyFor, metricFor } from './join.js'
import { metricStatistics, placed } from './metric-statistics.js'
import { Reasons } from './reasons.js'
import { suppliedStatistics } from './supplied-statistics.js'
import { firstAtLeast, meanOfPositions } from './windows.js'
import { PIECE, type Work } from './work.js'

/** @param histories every selection of the analysis, by name */
export function* analysisStatistics(
  analysis: HistoryAnalysis,
  metrics: readonly MetricDefinition[],
  histories: ReadonlyMap<string, SelectionHistory>,
  excluded: readonly ExcludedRun[]
): Work<HistoryStatistics> {
  const reasons = new Reasons()
  const selections: Record<string, SelectionStatistics> = {}
  for (const name of analysis.selections) {
    selections[name] = yield* selectionStatistics(analysis, metrics, historyFor(histories, name), reasons, `/selections/${name}`)
  }
  return {
    analysis: analysis.name,
    selections,
    compare: comparedStatistics(analysis, selections, reasons),
    supplied:
      analysis.supplied === null
        ? reasons.none('/supplied', 'the study supplies no points')
        : yield* suppliedStatistics(analysis, analysis.supplied, metrics, histories, reasons),
    excluded_runs: excluded.map(({ run, displayName, reason }) => ({ run, display_name: displayName, reason })),
    undefined_reasons: reasons.texts
  }
}

function* selectionStatistics(
  analysis: HistoryAnalysis,
  metrics: readonly MetricDefinition[],
  history: SelectionHistory,
  reasons: Reasons,
  at: string
): Work<SelectionStatistics> {
  const { selection, sessions } = history
  const request = analysis.statistics
  const ofMetrics: Record<string, MetricStatistics> = {}
  for (const name of askedMetrics(analysis)) {
    yield
    ofMetrics[name] = yield* metricStatistics(
      history,
      curveFor(history, name),
      metricFor(metrics, name),
      request,
      reasons,
      `${at}/metrics/${name}`
    )
  }
  const ofShares: Record<string, Shares> = {}
  for (const share of request.shares) {
    const curves = share.metrics.map(metric => curveFor(history, metric))
    ofShares[share.name] = yield* shares(curves, reasons, `${at}/shares/${share.name}`)
  }
  return {
    title: selection.title,
    display_name: selection.display_name,
    runs: new Set(sessions.map(session => session.run)).size,
    rows: sessions.reduce((sum, session) => sum + session.rows, 0),
    ...retainedSteps(sessions, reasons, at),
    display_factor: history.displayFactor,
    origin: sessions[0].createdAt,
    sessions: sessions.map((session, k) => sessionStatistics(session, reasons, `${at}/sessions/${k}`)),
    rollbacks: history.rollbacks.map(({ run, steps }) => ({ run, steps })),
    ties: history.ties.map(({ runs, decidedBy }) => ({ runs, decided_by: decidedBy })),
    metrics: ofMetrics,
    thresholds: Object.fromEntries(
      request.thresholds.map(({ name, metric, at_least }) => [
        name,
        crossing(history, curveFor(history, metric), at_least, reasons, `${at}/thresholds/${name}`)
      ])
    ),
    first_rows: Object.fromEntries(
      request.first_rows.map(row => [
        row.name,
        firstRow(
          history,
          row.metrics.map(metric => curveFor(history, metric)),
          reasons,
          `${at}/first_rows/${row.name}`
        )
      ])
    ),
    shares: ofShares
  }
}

/** The metrics of the analysis, and all further metrics that its statistics ask for. */
function askedMetrics({ metrics, statistics: s }: HistoryAnalysis): string[] {
  const windows = s.windows.flatMap(window => window.metrics)
  return [
    ...new Set([
      ...metrics,
      ...(s.ends?.metrics ?? []),
      ...windows,
      ...s.best,
      ...(s.final?.metrics ?? []),
      ...s.max_abs,
      ...s.below_zero,
      ...s.constant
    ])
  ]
}

function sessionStatistics(session: Session, reasons: Reasons, at: string): SessionStatistics {
  const noRow = 'the session has no row'
  const notStated = 'the list of runs does not state it'
  return {
    run: session.run,
    created_at: session.createdAt,
    state: session.state ?? reasons.none(`${at}/state`, notStated),
    url: session.url ?? reasons.none(`${at}/url`, notStated),
    rows: session.rows,
    first_step: session.firstStep ?? reasons.none(`${at}/first_step`, noRow),
    last_step: session.lastStep ?? reasons.none(`${at}/last_step`, noRow),
    holes: session.holes,
    rows_without_timestamp: session.rowsWithoutTimestamp,
    rows_before_creation: session.rowsBeforeCreation,
    rows_with_unusable_global_step: session.rowsWithUnusableGlobalStep,
    rows_with_fractional_global_step: session.rowsWithFractionalGlobalStep,
    looks_sampled: session.looksSampled,
    config: session.config,
    ...(session.leftOut === null ? {} : { left_out: { not_named: session.leftOut.unnamed, withheld: session.leftOut.withheld } })
  }
}

/**
 * A session drops all steps beyond its first step. The first retained step is therefore the lowest first step, and the
 * last is that of the last session.
 */
function retainedSteps(sessions: readonly Session[], reasons: Reasons, at: string): Pick<SelectionStatistics, 'first_step' | 'last_step'> {
  let first: number | null = null
  let last: number | null = null
  for (const { firstStep, lastStep } of sessions) {
    if (firstStep === null) continue
    first = first === null ? firstStep : Math.min(first, firstStep)
    last = lastStep
  }
  const noRow = 'no session has a row'
  return {
    first_step: first ?? reasons.none(`${at}/first_step`, noRow),
    last_step: last ?? reasons.none(`${at}/last_step`, noRow)
  }
}

function crossing(history: SelectionHistory, curve: Curve, atLeast: number, reasons: Reasons, at: string): ThresholdCrossing | null {
  const position = firstAtLeast(curve, atLeast)
  if (position < 0) return reasons.none(at, `no observation at or above ${atLeast}`)
  return { metric: curve.metric, at_least: atLeast, ...placed(history, curve, position, reasons, at) }
}

/**
 * The lowest step at which the step view keeps any of the metrics. Where two rows have that step, the row of the
 * earlier session.
 */
function firstRow(history: SelectionHistory, curves: readonly Curve[], reasons: Reasons, at: string): FirstRow | null {
  let first: { readonly curve: Curve; readonly index: number } | null = null
  for (const curve of curves) {
    if (curve.steps.length === 0) continue
    const index = curve.steps[0]
    const earlier =
      first === null ? -1 : curve.step[index] - first.curve.step[first.index] || curve.session[index] - first.curve.session[first.index]
    if (earlier < 0) first = { curve, index }
  }
  if (first === null) return reasons.none(at, 'no row has any of the metrics')
  const { curve, index } = first
  const globalStep = curve.globalStep[index]
  return {
    step: curve.step[index],
    global_step: Number.isFinite(globalStep) ? globalStep : reasons.none(`${at}/global_step`, 'the row states no finite number'),
    run: history.sessions[curve.session[index]].run
  }
}

function* shares(curves: readonly Curve[], reasons: Reasons, at: string): Work<Shares> {
  // The steps of each curve increase. The lowest next step over all curves is therefore the next step of the union.
  const next = curves.map(() => 0)
  const stepAt = ({ step, steps }: Curve, position: number): number => (position < steps.length ? step[steps[position]] : Infinity)
  let rows = 0
  let full = 0
  for (;;) {
    if (rows % PIECE === 0) yield
    const least = curves.reduce((min, curve, c) => Math.min(min, stepAt(curve, next[c])), Infinity)
    if (least === Infinity) break
    let nonzero = 0
    curves.forEach((curve, c) => {
      if (stepAt(curve, next[c]) === least && curve.value[curve.steps[next[c]++]] !== 0) nonzero++
    })
    rows++
    if (nonzero === curves.length) full++
  }
  return {
    rows,
    rows_all_nonzero: full,
    means: Object.fromEntries(
      curves.map(curve => {
        const pointer = `${at}/means/${curve.metric}`
        const { mean } = meanOfPositions(curve, 0, curve.steps.length)
        return [curve.metric, mean ?? reasons.none(pointer, 'no observation')]
      })
    )
  }
}
