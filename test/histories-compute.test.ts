/** Training histories: selection, both views, supplied points, statistics and figures, against an oracle from the notes. */
import t, { type Test } from 'tap'
import type { AnalysedHistories } from '../src/compute/histories/analyse.js'
import type { Curve, CurvePlace, CurveSeriesData, SelectionHistory } from '../src/compute/histories/contract.js'
import { displayedCurve } from '../src/compute/histories/display.js'
import { curveFigureData } from '../src/compute/histories/figures.js'
import { curveFor, historyFor, joinSelection } from '../src/compute/histories/join.js'
import { selectRuns } from '../src/compute/histories/selection.js'
import { analysisStatistics } from '../src/compute/histories/statistics.js'
import { supplyTarget, historyView } from '../src/compute/histories/supplied.js'
import { displayHours, elapsedHours } from '../src/compute/histories/time.js'
import { trailingMean } from '../src/compute/histories/windows.js'
import { finish } from '../src/compute/histories/work.js'
import { Fault } from '../src/core/errors.js'
import type { ListedRun, RunHistory } from '../src/ingest/histories/types.js'
import type { HistoryAnalysis, HistoryStudy, SuppliedPoints } from '../src/schema/histories.js'
import { analysed, figuresOf, plainCurves } from './support/history-analysed.js'
import { metric, NO_OUTPUTS, NO_STATISTICS, randomWorld, selection, STATED, studyOf } from './support/history-layouts.js'
import {
  displayedPoints,
  everyObservation,
  gapsOf,
  inReadingOrder,
  keyOf,
  oracleSelection,
  stepView,
  timeView,
  trailingMean as plainTrailingMean,
  type Observation,
  type OracleStudy
} from './support/history-oracle.js'
import { oracleStatistics } from './support/history-oracle-statistics.js'
import { listedRun, runHistory, type Logged, type PlainRow, type PlainRun } from './support/history-plain.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'

const LAYOUTS = rounds(2000)

interface ListedAndRead {
  readonly listed: readonly ListedRun[]
  readonly read: readonly RunHistory[]
}

/** Equal as JSON documents are: the same fields in any order, the same elements in this order, numbers by ===. */
function exactlyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!exactlyEqual(a[i], b[i])) return false
    return true
  }
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return keys.every(key => Object.hasOwn(y, key) && exactlyEqual(x[key], y[key]))
}

/** Fails with the two sides where they differ; silent where they agree, since there are thousands of comparisons. */
function sameOrFail(test: Test, got: unknown, wanted: unknown, what: string): boolean {
  if (exactlyEqual(got, wanted)) return true
  test.strictSame(got, wanted, what)
  test.fail(what)
  return false
}

function faultOf(run: () => unknown): Fault {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

function observations(history: SelectionHistory, curve: Curve): Observation[] {
  return Array.from(curve.value.keys(), i => ({
    session: curve.session[i],
    run: history.sessions[curve.session[i]].run,
    step: curve.step[i],
    global: Number.isNaN(curve.globalStep[i]) ? null : curve.globalStep[i],
    timestamp: Number.isNaN(curve.timestamp[i]) ? null : curve.timestamp[i],
    value: curve.value[i]
  }))
}

/** JSON pointers of the nulls of a document, but those that need no reason and those that a run's own config holds. */
function nullPointers(value: unknown, at = ''): string[] {
  if (value === null) return at.endsWith('/looks_sampled') ? [] : [at]
  if (typeof value !== 'object' || at.endsWith('/config')) return []
  return Object.entries(value).flatMap(([key, inner]) => nullPointers(inner, `${at}/${key}`))
}

const withoutSupplied = (a: HistoryAnalysis): HistoryAnalysis => ({ ...a, supplied: null, shared_reference: null })

/** As a figure of this one panel draws it. */
function drawnSeries(
  study: HistoryStudy,
  analysis: HistoryAnalysis,
  joined: AnalysedHistories,
  { view, metric: name, selection: of }: CurvePlace
): CurveSeriesData {
  const panel = { metric: name, title: null, axis: null, scale: { kind: 'log' }, guides: [] } as const
  const request = { name: 'f', title: 'F', analysis: analysis.name, view, x_title: 'x', panels: [panel] }
  const data = finish(curveFigureData(request, study, joined.selections, true))
  return data.panels[0].series[analysis.selections.indexOf(of)]
}

t.test('thousands of random layouts agree with the oracle to the last bit', t => {
  const random = new Random(seedOf(20261007))
  const seen = {
    layouts: 0,
    faults: 0,
    observations: 0,
    rolledBack: 0,
    replaced: 0,
    equalStartKept: 0,
    emptySessions: 0,
    reversed: 0,
    refused: 0,
    betweenRuns: 0,
    behindZero: 0,
    restarts: 0,
    gaps: 0,
    cutRuns: 0,
    noTimestamp: 0,
    outOfTimeOrder: 0,
    sharedAnchors: 0,
    borrowedAnchors: 0,
    prefix: 0,
    sameStep: 0,
    unfilled: 0,
    timePrefix: 0,
    sharedReference: 0,
    unusable: 0,
    unusableGlobals: 0,
    fractionalGlobals: 0,
    emptyWindows: 0,
    crossings: 0,
    reductions: 0,
    sameSecond: 0,
    ties: 0
  }
  let fine = true
  for (let k = 0; k < LAYOUTS && fine; k++) {
    const { study, runs } = randomWorld(random)
    const analysis = study.analyses[0]
    const keys = [...new Set(study.metrics.map(m => m.key))]
    const listed = runs.map(run => listedRun(run))
    const unreadable = runs.filter(run => inReadingOrder(run) === null)
    seen.layouts++
    if (unreadable.length > 0) {
      seen.refused++
      for (const run of unreadable) t.match(faultOf(() => runHistory(run, keys)).message, /^history rows in falling step order: /)
      continue
    }
    seen.reversed += runs.filter(run => inReadingOrder(run) !== run).length
    const histories = runs.map((run, i) => runHistory(run, keys, listed[i]))
    const own = (name: string): PlainRun[] => runs.filter(run => run.displayName === `run-${name}`)
    const plain = Object.fromEntries(study.selections.map(s => [s.name, oracleSelection(s, study.metrics, own(s.name))]))
    if (Object.values(plain).some(s => s === null)) {
      seen.faults++
      const fault = faultOf(() => analysed(study, listed, histories))
      if (!/display_time gives no factor/.test(fault.message)) t.fail(`layout ${k}: ${fault.message}`)
      continue
    }
    const world = { study, selections: plain } as OracleStudy
    const result = analysed(study, listed, histories)
    const check = (got: unknown, wanted: unknown, what: string): void => {
      fine = sameOrFail(t, got, wanted, `layout ${k}: ${what}`) && fine
    }

    for (const { name } of study.selections) {
      const history = result.selections.get(name) as SelectionHistory
      const { sessions } = world.selections[name]
      check(history.displayFactor, world.selections[name].factor, `${name} factor`)
      seen.emptySessions += sessions.filter(s => s.rows.length === 0).length
      seen.unusableGlobals += history.sessions.reduce((sum, s) => sum + s.rowsWithUnusableGlobalStep, 0)
      seen.fractionalGlobals += history.sessions.reduce((sum, s) => sum + s.rowsWithFractionalGlobalStep, 0)
      seen.cutRuns += sessions.length - own(name).length
      if (sessions.some(({ run }, i) => sessions.findIndex(s => s.run === run) < i && sessions[i - 1].run !== run)) seen.betweenRuns++
      if (new Set(own(name).map(r => r.createdSeconds)).size < own(name).length) seen.sameSecond++
      for (const m of study.metrics) {
        const curve = curveFor(history, m.name)
        const all = everyObservation(sessions, m.key)
        const { kept, fates } = stepView(sessions, m.key)
        const times = timeView(sessions, m.key)
        const place = new Map(all.map((o, i) => [`${o.session}/${o.step}`, i]))
        const placesOf = (view: readonly Observation[]) => view.map(o => place.get(`${o.session}/${o.step}`))
        check(observations(history, curve), all, `${name} ${m.name} observations`)
        check([...curve.steps], placesOf(kept), `${name} ${m.name} step view`)
        check([...curve.times], placesOf(times), `${name} ${m.name} time view`)
        const fate = all.map(o => fates.get(`${o.session}/${o.step}`))
        check(
          [...curve.supersededBy],
          fate.map(f => f?.by ?? -1),
          `${name} ${m.name} superseded by`
        )
        check(
          [...curve.replaced],
          fate.map(f => (f?.why === 'replaced' ? 1 : 0)),
          `${name} ${m.name} replaced`
        )
        seen.observations += all.length
        seen.rolledBack += fate.filter(f => f?.why === 'rolled back').length
        seen.replaced += fate.filter(f => f?.why === 'replaced').length
        seen.equalStartKept += kept.filter(o => sessions.some((s, j) => j > o.session && s.rows[0]?.step === o.step)).length
        seen.noTimestamp += all.length - times.length
        seen.outOfTimeOrder += times.some((o, i) => i > 0 && o.session < times[i - 1].session) ? 1 : 0
        seen.ties += new Set(kept.map(o => o.value)).size < kept.length ? 1 : 0
        seen.unusable += curve.nulls + curve.notNumbers + Object.keys(curve.nonFinite).length
      }
    }

    const displayed = plainCurves(analysis, study.metrics, result.selections)
    for (const curve of displayed) {
      const { points, report, restarts } = displayedPoints(world, analysis, curve.view, curve.metric, curve.selection)
      const what = `${curve.view} view of ${curve.selection} ${curve.metric}`
      check(curve.points, points, what)
      const window = study.metrics.find(m => m.name === curve.metric)?.trailing_mean ?? null
      const smooth =
        window === null
          ? null
          : plainTrailingMean(
              points.map(p => p.value),
              window
            )
      check(curve.trailingMean, smooth, `trailing mean of the ${what}`)
      const drawn = drawnSeries(study, analysis, result, curve)
      check([...drawn.restarts], restarts, `restarts of the ${what}`)
      const gaps = gapsOf(world, curve.view, curve.metric, curve.selection, points)
      check([...drawn.gaps], gaps, `gaps of the ${what}`)
      seen.restarts += restarts.length
      seen.gaps += gaps.length
      if (points[0]?.x < 0) seen.behindZero++
      if (report.anchor?.startsWith('shared') === true) seen.sharedAnchors++
      if (report.anchor?.startsWith('borrowed') === true) seen.borrowedAnchors++
      seen[curve.view === 'step' ? 'prefix' : 'timePrefix'] += report.prefix.length
      seen.sameStep += report.same.length
      seen.unfilled += report.unfilled.length
      seen.sharedReference += points.filter(p => p.provenance === 'shared_reference').length
    }
    check(displayed.length, 2 * analysis.metrics.length * analysis.selections.length, 'curves')

    const { undefined_reasons: reasons, excluded_runs: excluded, ...statistics } = result.analyses[0].statistics
    check(statistics, oracleStatistics(world, analysis), 'statistics')
    check(excluded, [], 'excluded')
    if (k % 8 === 0) {
      check(Object.keys(reasons).sort(), nullPointers(statistics).sort(), 'every null has its reason, and nothing else')
    }
    const counted = JSON.stringify(statistics)
    seen.emptyWindows += counted.split('"mean":null').length - 1
    seen.crossings += counted.split('"at_least"').length - 1
    seen.reductions += counted.split(/"reduction_percent":[^n]/).length - 1

    // Nothing that is supplied enters a statistic.
    if (k % 4 !== 0) continue
    const bare = finish(analysisStatistics(withoutSupplied(analysis), study.metrics, result.selections, []))
    check(
      { ...bare, supplied: null, undefined_reasons: null },
      { ...statistics, supplied: null, excluded_runs: [], undefined_reasons: null },
      'statistics without supplied points'
    )
  }
  t.equal(seen.layouts, LAYOUTS)
  for (const [what, count] of Object.entries(seen)) t.ok(count >= 100, `${what}: ${count}`)
  t.end()
})

/** One reward a step from `first` to `last`, one row each minute after creation. */
function run(id: string, created: number, first: number, last: number, more: (step: number) => Record<string, Logged>): PlainRun {
  const rows: PlainRow[] = []
  for (let step = first; step <= last; step++) {
    rows.push({ step, timestamp: created + 60 * (step - first + 1), global: step - 1, logged: more(step) })
  }
  return { id, displayName: 'run-a', createdAt: `at ${created}`, createdSeconds: created, rows }
}

function join(runs: readonly PlainRun[], metrics = [metric('reward', 'r')], chosen = selection('a')): SelectionHistory {
  const keys = [...new Set(metrics.map(m => m.key))]
  return finish(
    joinSelection(
      chosen,
      runs.map(r => runHistory(r, keys)),
      metrics,
      'histories.selections[0]'
    )
  )
}

t.test('the published clock: 136.05747247649563 hours and its calibration', t => {
  // The only double that gives it, for a creation at a whole second (2026-07-04 00:00:00 UTC here).
  const created = Date.UTC(2026, 6, 4) / 1000
  const timestamp = created + 2054399043737 / 2 ** 22
  t.equal(elapsedHours({ originSeconds: created }, timestamp), 136.05747247649563)
  t.not((timestamp * 1000 - created * 1000) / 3600000, 136.05747247649563, 'milliseconds first: another last digit')
  const best = { step: 95, timestamp, global: 94, logged: { v: 0.704 } }
  const other = { step: 50, timestamp: created + 232575.1, global: 49, logged: { v: 0.688 } }
  const history = join(
    [{ ...run('g', created, 0, -1, () => ({})), rows: [other, best] }],
    [metric('validation', 'v')],
    selection('a', { display_time: { best_of: 'validation', at_hours: 135 } })
  )
  t.equal(history.displayFactor, 135 / 136.05747247649563)
  t.equal(displayHours(history, timestamp).toFixed(4), '135.0000')
  t.equal(displayHours(history, other.timestamp).toFixed(4), '64.1021')
  t.end()
})

t.test('the session layout of the notes: 292 rows, 240 retained steps, 235 observations', t => {
  const silent = new Set(['0/0', '0/1', '1/40', '2/40', '2/41', '3/160', '3/161', '4/200', '4/201'])
  const layout = [
    [0, 45],
    [40, 19],
    [40, 124],
    [160, 64],
    [200, 40]
  ]
  const runs = layout.map(([first, rows], k) =>
    run(`s${k}`, 1000 * (k + 1) ** 3, first, first + rows - 1, step => (silent.has(`${k}/${step}`) ? {} : { r: step }))
  )
  const history = join([...runs].reverse())
  const curve = curveFor(history, 'reward')
  t.same(
    history.sessions.map(s => [s.run, s.rows]),
    runs.map(r => [r.id, r.rows.length]),
    'by creation, not by listing'
  )
  t.same(history.rollbacks, [
    { session: 1, run: 's1', steps: [40, 44] },
    { session: 2, run: 's2', steps: [40, 58] },
    { session: 3, run: 's3', steps: [160, 163] },
    { session: 4, run: 's4', steps: [200, 223] }
  ])
  const study = studyOf({ metrics: [metric('reward', 'r')] })
  const analysis: HistoryAnalysis = {
    name: 'one',
    selections: ['a'],
    metrics: ['reward'],
    supplied: null,
    shared_reference: null,
    statistics: { ...NO_STATISTICS, ends: { count: 20, metrics: ['reward'] } },
    outputs: NO_OUTPUTS
  }
  const { a } = finish(analysisStatistics(analysis, study.metrics, new Map([['a', history]]), [])).selections
  t.match(a, { runs: 5, rows: 292, first_step: 0, last_step: 239 })
  t.equal(a.metrics.reward.observations, 235)
  t.same(a.metrics.reward.missing_steps, [41, 161, 201])
  t.same(a.metrics.reward.first?.steps, [2, 21])
  t.same(a.metrics.reward.last?.steps, [220, 239])
  t.equal(a.metrics.reward.all_attempts, 283)
  // Step 40: the first session's value stays, since no later session logs one there.
  const at40 = curve.steps.find(i => curve.step[i] === 40) as number
  t.equal(curve.session[at40], 0)
  const session1 = [...curve.session.keys()].filter(i => curve.session[i] === 1)
  t.ok(
    session1.every(i => curve.supersededBy[i] === 2 && curve.replaced[i] === 0),
    'the superseded attempt gives nothing'
  )
  t.end()
})

t.test('odd histories: a repeated step, a step back, an empty first session, a sample, missing clocks', t => {
  const rows = [3, 4, 4, 5, 2].map((step, i) => ({ step, timestamp: null, global: null, logged: { r: i } }))
  const odd = join([{ ...run('odd', 100, 0, -1, () => ({})), rows }])
  t.same(
    odd.sessions.map(s => [s.firstStep, s.lastStep]),
    [
      [3, 4],
      [4, 5],
      [2, 2]
    ],
    'one rule: a new session of the same run'
  )
  const curve = curveFor(odd, 'reward')
  t.same([...curve.steps], [4])
  t.same([...curve.supersededBy], [2, 1, 2, 2, -1])
  t.same([...curve.replaced], [0, 1, 0, 0, 0])
  t.same([...curve.times], [])

  const empty = run('empty', 50, 0, -1, () => ({}))
  const late = join([run('late', 3650, 5, 6, step => ({ r: step })), empty])
  t.same(
    late.sessions.map(s => [s.run, s.firstStep, s.rows]),
    [
      ['empty', null, 0],
      ['late', 5, 2]
    ]
  )
  t.equal(late.originSeconds, 50, 'the clock starts at the first creation')
  t.same([...curveFor(late, 'reward').steps], [0, 1], 'a session without rows changes nothing in the step view')

  const sampledRows = Array.from({ length: 500 }, (_, i) => ({ step: 3 * i, timestamp: 0, global: null, logged: {} }))
  const sampled = (rows: PlainRow[]): string | null => join([{ ...empty, rows }]).sessions[0].looksSampled
  t.equal(sampled(sampledRows), 'exactly 500 rows with 998 steps missing between them, as in a default sampled export')
  t.equal(sampled(sampledRows.slice(1)), null, '499 rows')
  t.equal(sampled(sampledRows.map((row, step) => ({ ...row, step }))), null, '500 rows without a hole')
  t.same(join([{ ...empty, rows: sampledRows.slice(0, 2) }]).sessions[0].holes, { count: 2, first: [1, 2] })
  const far = [0, 2 ** 52].map(step => ({ step, timestamp: 0, global: null, logged: { r: 1 } }))
  const { holes } = join([{ ...empty, rows: far }]).sessions[0]
  t.same(holes, { count: 2 ** 52 - 1, first: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }, 'counted without being walked')

  const back = Array.from({ length: 100_002 }, () => ({ step: 7, timestamp: null, global: null, logged: {} }))
  t.match(faultOf(() => join([{ ...empty, rows: back }])).message, /history steps go back or repeat too often: 100000 times in run empty/)
  t.end()
})

t.test('order of runs created in the same second', t => {
  const at = (id: string, first: number | null): PlainRun => ({
    ...run(id, 100, 0, -1, () => ({})),
    rows: [null, first].map((timestamp, step) => ({ step, timestamp, global: null, logged: {} }))
  })
  const runs = [at('z', null), at('b', 120), at('c', 110), at('a', 120), { ...at('first', 900), createdSeconds: 99.5 }, at('y', null)]
  t.same(
    join(runs).sessions.map(s => s.run),
    ['first', 'c', 'a', 'b', 'y', 'z']
  )
  t.same(join(runs).ties, [{ runs: ['c', 'a', 'b', 'y', 'z'], decidedBy: 'first timestamp, then run id' }])
  t.same(join([at('b', 120), at('c', 110), run('later', 101, 0, 1, () => ({}))]).ties, [{ runs: ['c', 'b'], decidedBy: 'first timestamp' }])
  t.same(join([at('b', null), at('a', null)]).ties, [{ runs: ['a', 'b'], decidedBy: 'run id' }])
  // Told once, also where two selections have the runs.
  const study = studyOf({
    selections: [selection('a'), selection('again', { display_name: 'run-a' })],
    metrics: [metric('reward', 'r')],
    analyses: [
      {
        name: 'one',
        selections: ['a', 'again'],
        metrics: ['reward'],
        supplied: null,
        shared_reference: null,
        statistics: NO_STATISTICS,
        outputs: NO_OUTPUTS
      }
    ]
  })
  const told = (many: readonly PlainRun[]): readonly string[] =>
    analysed(
      study,
      many.map(r => listedRun(r)),
      many.map(r => runHistory(r, ['r']))
    ).warnings.filter(w => /created|createdAt/.test(w))
  t.same(told([...runs, at('x', null)]), [
    'runs c, a, b, x, y, 1 more were created at the same time; this order is by first timestamp, then run id'
  ])
  t.same(told([at('b', 120), at('c', 110)]), ['runs c, b were created at the same time; this order is by first timestamp'])
  t.end()
})

t.test('a selection that joins runs of several projects says so', t => {
  const study = studyOf({ selections: [selection('a')], metrics: [metric('reward', 'r')] })
  const told = (owners: ReadonlyArray<readonly [string | null, string | null]>): readonly string[] => {
    const many = owners.map((_, i) => ({ ...run(`r${i}`, i, 10 * i, 10 * i + 2, () => ({ r: 1 })), displayName: 'run-a' }))
    const listed = many.map((r, i) => ({ ...listedRun(r), entity: owners[i][0], project: owners[i][1] }))
    return analysed(
      study,
      listed,
      many.map((r, i) => ({ ...runHistory(r, ['r']), run: listed[i] }))
    ).warnings.filter(w => w.includes('projects'))
  }
  t.same(
    told([
      ['e', 'p'],
      ['e', 'p'],
      ['e', 'q'],
      [null, 'p']
    ]),
    ['selection a joins runs of 2 projects (p, q), which "project" would tell apart']
  )
  t.same(told(Array.from({ length: 7 }, (_, i) => ['e', `p${i}`])), [
    'selection a joins runs of 7 projects (p0, p1, p2, p3, p4, 2 more), which "project" would tell apart'
  ])
  t.same(
    told([
      ['e', 'p'],
      ['f', 'q']
    ]),
    [
      'selection a joins runs of 2 entities (e, f), which "entity" would tell apart and of 2 projects (p, q), which "project" would tell apart'
    ]
  )
  t.same(
    told([
      ['e', 'p'],
      ['e', 'p']
    ]),
    []
  )
  t.same(
    told([
      ['e', 'p'],
      [null, 'p'],
      [null, null]
    ]),
    [],
    'they may be of the same'
  )
  t.end()
})

t.test('createdAt without a zone is told once', t => {
  const study = studyOf({
    selections: [selection('a'), selection('again', { display_name: 'run-a' })],
    metrics: [metric('reward', 'r')],
    analyses: [
      {
        name: 'one',
        selections: ['a'],
        metrics: ['reward'],
        supplied: null,
        shared_reference: null,
        statistics: NO_STATISTICS,
        outputs: NO_OUTPUTS
      }
    ]
  })
  const told = (...created: string[]): readonly string[] => {
    const runs = created.map((createdAt, k) => ({ ...run(`r${k}`, k, 0, 0, () => ({ r: 1 })), createdAt }))
    return analysed(
      study,
      runs.map(r => listedRun(r)),
      runs.map(r => runHistory(r, ['r']))
    ).warnings
  }
  t.same(told('2026-01-01T00:00:00Z', '2026-01-01T02:00:00'), ['createdAt of run r1 has no zone and is read as UTC: 2026-01-01T02:00:00'])
  t.same(told('2026-01-01 00:00', '2026-01-01T02:00:00.5', '2026-01-01T02:00:01z'), [
    'createdAt of 2 runs has no zone and is read as UTC; of run r0, for one: 2026-01-01 00:00'
  ])
  t.same(told('2026-01-01T00:00:00+08:00', '2026-01-01T00:00-0300', '2026-01-01T00:00:00,25-03'), [])
  t.end()
})

const listed = (id: string, displayName: string, more: Partial<ListedRun> = {}): ListedRun =>
  listedRun({ ...run(id, 10, 0, -1, () => ({})), displayName }, more)

t.test('selection by exact names; what is left out says why', t => {
  const study = studyOf({
    selections: [selection('a', { display_name: 'sao-r7', project: 'training' }), selection('b', { display_name: 'gspo' })]
  })
  const runs = [
    listed('2', 'sao-r7'),
    listed('1', 'sao-r7'),
    listed('0', 'sao-r7', { createdSeconds: 11 }),
    listed('g', 'gspo'),
    listed('3', 'sao-r7-companion'),
    listed('4', 'sao-r70'),
    listed('5', 'SAO-r7'),
    listed('6', 'sao-r7', { project: 'other' }),
    listed('7', 'gspo-companion-companion')
  ]
  const { chosen, excluded } = selectRuns(runs, study)
  t.same(
    chosen.get('a')?.map(r => r.id),
    ['1', '2', '0']
  )
  t.same(
    chosen.get('b')?.map(r => r.id),
    ['g']
  )
  t.same(
    excluded.map(e => [e.run, e.reason]),
    [
      ['3', 'companion'],
      ['4', 'other display name'],
      ['5', 'other display name'],
      ['6', 'other project'],
      ['7', 'other display name']
    ]
  )
  const picky = (more: Partial<HistoryStudy['selections'][number]>) =>
    studyOf({ selections: [selection('g', { display_name: 'gspo', ...more }), selection('s', { display_name: 'sao-r7' })] })
  const reason = (odd: Partial<ListedRun>, wanted: Partial<HistoryStudy['selections'][number]>): string | undefined =>
    selectRuns([...runs, listed('8', 'gspo', odd)], picky(wanted)).excluded.at(-1)?.reason
  t.equal(reason({ entity: 'else' }, { entity: 'lab' }), 'other entity')
  t.equal(reason({ label: 'else' }, { label: 'all' }), 'other label')

  const near = faultOf(() => selectRuns(runs, studyOf({ selections: [selection('a', { display_name: 'sao-r8' })] })))
  t.equal(near.exitCode, 3)
  t.equal(
    near.message,
    'study selection a has no run: histories.selections[0].display_name is "sao-r8", 9 runs listed, ' +
      'expected an exact display name; near: "sao-r7", "sao-r70"'
  )
  t.match(
    faultOf(() => selectRuns(runs, picky({ project: 'elsewhere' }))).message,
    /selection g has no run.*by display name: project "training", entity "lab", label "all"/
  )
  t.match(faultOf(() => selectRuns([], picky({}))).message, /expected an exact display name of the list of runs/)
  const forged = studyOf({ selections: [selection('a', { display_name: 'a\u001b[2K' })] })
  const hostile = faultOf(() => selectRuns([listed('h', 'a\u001b[2J')], forged))
  t.notMatch(hostile.message, /\u001b/)
  const twice = [...runs, listed('g', 'gspo', { label: 'again' })]
  for (const list of [twice, [...twice].reverse()]) {
    t.match(
      faultOf(() => selectRuns(list, picky({}))).message,
      /selection g takes run g twice: histories\.selections\[0\], labels "again" and "all", expected each run once/
    )
    t.same(
      selectRuns(list.slice(list === twice ? 0 : 1, list === twice ? -1 : undefined), study).excluded.map(e => e.run),
      ['3', '4', '5', '6', '7']
    )
  }
  t.end()
})

/** Reference steps 2 to 8, validation at 0, 5; target steps 2 to 10 but 4, 9, validation at 6, 10. */
function fillWorld() {
  const metrics = [
    metric('reward', 'r', { trailing_mean: 3, divide: 1000 }),
    metric('validation', 'v', { sparse: true, multiply: 100, trailing_mean: 2 })
  ]
  const base = run('b0', 0, 0, 8, step => ({
    ...(step >= 2 ? { r: 100 + step } : {}),
    ...(step % 5 === 0 ? { v: step } : {})
  }))
  const ours = run('o0', 0, 0, 10, step => ({
    ...(step >= 2 && step !== 4 && step !== 9 ? { r: step } : {}),
    ...(step === 6 || step === 10 ? { v: -step } : {})
  }))
  const supplied: SuppliedPoints = {
    reference: 'base',
    target: 'ours',
    anchor: true,
    step_prefix: ['validation'],
    same_step: ['reward'],
    time_prefix: true
  }
  const analysis: HistoryAnalysis = {
    name: 'both',
    selections: ['base', 'ours'],
    metrics: ['reward', 'validation'],
    supplied,
    shared_reference: null,
    statistics: { ...NO_STATISTICS, best: ['validation'] },
    outputs: NO_OUTPUTS
  }
  const study = studyOf({
    selections: [selection('base', { title: 'Base' }), selection('ours', { title: 'Ours', display_time: { multiply: 2 } })],
    metrics,
    analyses: [analysis],
    figures: [
      {
        name: '01-both',
        title: 'Both',
        analysis: 'both',
        view: 'step',
        x_title: 'Step',
        panels: [
          {
            metric: 'reward',
            title: 'Mine',
            axis: 'My axis',
            scale: { kind: 'log' },
            guides: [
              { value: 500, ...STATED, label: 'half', selection: 'ours' },
              { value: 1000, ...STATED, label: 'all', selection: null }
            ]
          },
          { metric: 'validation', title: null, axis: null, scale: { kind: 'linear' }, guides: [] }
        ]
      }
    ]
  })
  const runs = [
    { ...base, displayName: 'run-base' },
    { ...ours, displayName: 'run-ours' }
  ]
  return { study, analysis, runs, listed: runs.map(r => listedRun(r)), histories: runs.map(r => runHistory(r, ['r', 'v'])) }
}

t.test('supplied points, point by point', t => {
  const { study, analysis, listed, histories } = fillWorld()
  const { selections } = analysed(study, listed, histories)
  const curves = plainCurves(analysis, study.metrics, selections)
  const points = (view: string, who: string, what: string): Array<readonly [number, number, string]> =>
    curves
      .filter(c => c.view === view && c.selection === who && c.metric === what)
      .flatMap(c => c.points.map(p => [p.x, p.value, `${p.provenance} ${p.sourceRun} ${p.sourceStep}`] as const))
  t.same(points('step', 'ours', 'reward'), [
    [0, 102, 'shared_base_reference b0 2'],
    ...[2, 3].map(s => [s, s, `observed o0 ${s}`]),
    [4, 104, 'borrowed_base b0 4'],
    ...[5, 6, 7, 8, 10].map(s => [s, s, `observed o0 ${s}`])
  ])
  t.same(points('step', 'base', 'reward')[0], [0, 102, 'shared_base_reference b0 2'])
  t.same(points('step', 'ours', 'validation'), [
    [0, 0, 'borrowed_base b0 0'],
    [5, 5, 'borrowed_base b0 5'],
    [6, -6, 'observed o0 6'],
    [10, -10, 'observed o0 10']
  ])
  t.same(points('step', 'base', 'validation'), [
    [0, 0, 'observed b0 0'],
    [5, 5, 'observed b0 5']
  ])
  // Minutes: the reference at step s shows s + 1 of them, the target 2 (s + 1). Its first reward is at 6, its validation at 14.
  const minutes = (list: Array<readonly [number, number, string]>) => list.map(([x, , p]) => [Math.round(x * 60), p])
  t.same(minutes(points('time', 'ours', 'reward')).slice(0, 5), [
    [0, 'shared_base_reference b0 2'],
    [3, 'borrowed_base b0 2'],
    [4, 'borrowed_base b0 3'],
    [5, 'borrowed_base b0 4'],
    [6, 'observed o0 2']
  ])
  t.same(minutes(points('time', 'ours', 'validation')), [
    [0, 'shared_base_reference b0 0'],
    [1, 'borrowed_base b0 0'],
    [6, 'borrowed_base b0 5'],
    [14, 'observed o0 6'],
    [22, 'observed o0 10']
  ])
  const reward = curves.find(c => c.view === 'step' && c.selection === 'ours' && c.metric === 'reward')
  t.same(
    reward?.trailingMean,
    [102, 104, 107, 109, 112, 115, 18, 21, 25].map((sum, i) => sum / Math.min(i + 1, 3)),
    'over observed and supplied values alike'
  )
  const { supplied } = finish(analysisStatistics(analysis, study.metrics, selections, []))
  t.same(supplied?.metrics, {
    reward: {
      anchor: 'shared_base_reference',
      time_anchor: 'shared_base_reference',
      step_prefix: [],
      same_step: [4],
      unfilled: [9],
      unfilled_count: 1,
      time_prefix: 3,
      trailing_mean: 3
    },
    validation: {
      anchor: 'borrowed_base',
      time_anchor: 'shared_base_reference',
      step_prefix: [0, 5],
      same_step: [],
      unfilled: [],
      unfilled_count: 0,
      time_prefix: 2,
      trailing_mean: 2
    }
  })
  t.end()
})

t.test("a target whose own points are beyond the axis gets none: its curve would be the reference's", t => {
  const { study, analysis, listed, histories } = fillWorld()
  const { selections } = analysed(study, listed, histories)
  const [base, ours] = analysis.selections.map(name => {
    const history = historyFor(selections, name)
    return historyView(history, curveFor(history, 'validation'), 'time')
  })
  const rule = analysis.supplied as SuppliedPoints
  t.equal(supplyTarget(rule, 'validation', 'time', base, ours).prefix.length, 2)
  const beyond = { ...ours, x: ours.x.map(() => Infinity) }
  t.strictSame(supplyTarget(rule, 'validation', 'time', base, beyond), {
    prefix: new Int32Array(0),
    sameStep: new Int32Array(0),
    anchor: null
  })
  t.end()
})

t.test('the trailing mean sums each window anew', t => {
  const means = (...values: number[]): number[] => [...finish(trailingMean(Float64Array.from(values), 3))]
  t.same(means(1e16, 1, 1, 1), [1e16, (1e16 + 1) / 2, (1e16 + 1 + 1) / 3, 1], 'nothing of 1e16 stays behind')
  t.same(means(), [])
  t.end()
})

t.test('a figure is scaled, ordered and labelled', t => {
  const { study, analysis, listed, histories } = fillWorld()
  const shared = {
    metric: 'validation',
    selections: ['ours', 'base'],
    step: 3,
    value: 0.64,
    ...STATED,
    label: '64.0 %',
    source: 's',
    output: 'o.json'
  }
  const marked = { ...study, analyses: [{ ...analysis, supplied: null, shared_reference: shared }] }
  const result = analysed(marked, listed, histories)
  const [figure] = figuresOf(marked, result, true)
  const [reward, validation] = figure.panels
  t.match(figure, { synthetic: true, name: '01-both', title: 'Both', xTitle: 'Step' })
  const outputs = { ...analysis.outputs, statistics: 'wandb/s.json', observations: 'wandb/o.csv', points: 'wandb/p.csv' }
  const drawnFrom = (more: Partial<HistoryAnalysis['outputs']>): readonly string[] => {
    const writing = { ...marked, analyses: [{ ...marked.analyses[0], outputs: { ...outputs, ...more } }] }
    return figuresOf(writing, result, true)[0].drawnFrom
  }
  t.same(drawnFrom({}), ['wandb/p.csv', 'wandb/s.json'])
  t.same(drawnFrom({ points: null }), ['wandb/o.csv', 'wandb/s.json'], 'observations, where the analysis writes no points')
  t.same(drawnFrom({ points: null, observations: null }), ['wandb/s.json'])
  t.match(reward, { title: 'Mine', yTitle: 'My axis', scale: { kind: 'log' }, sparse: false })
  t.same(reward.guides, [
    { value: 0.5, label: 'half', series: 1 },
    { value: 1, label: 'all', series: null }
  ])
  t.same(
    reward.series.map(s => [s.title, s.slot, s.y[0], s.smooth?.[1]]),
    [
      ['Base', 0, 0.102, 0.1025],
      ['Ours', 1, 0.002, 0.0025]
    ]
  )
  t.match(validation, { title: 'validation', sparse: true })
  // Sparse: drawn with markers and without a trailing mean, also where the study names a window.
  t.same(
    validation.series.map(s => [[...s.x], [...s.y], s.smooth]),
    [
      [[0, 3, 5], [0, 64, 500], null],
      [[3, 6, 10], [64, -600, -1000], null]
    ]
  )
  t.same(
    validation.series.map(s => s.marks),
    [[{ x: 3, y: 64, label: '64.0 %' }], []],
    'one label for the shared point'
  )
  const { statistics } = result.analyses[0]
  t.equal(statistics.selections.ours.metrics.validation.best?.value, -6, 'the shared value is no observation')
  const timed = { ...marked, figures: marked.figures.map(f => ({ ...f, view: 'time' as const })) }
  t.same(
    figuresOf(timed, result, true)[0].panels[1].series.map(s => s.marks),
    [[], []]
  )
  const lost = { ...study, figures: study.figures.map(f => ({ ...f, analysis: 'none' })) }
  t.match(faultOf(() => figuresOf(lost, result, true)).message, /figure 01-both draws an unknown analysis: "none", expected one of both/)
  t.end()
})

t.test('a metric that should not change: every logged value of every session, what is superseded among it', t => {
  const lr =
    (value: (step: number) => Logged) =>
    (step: number): Record<string, Logged> => ({ r: step, lr: value(step) })
  const runs = [
    run(
      'first',
      0,
      0,
      5,
      lr(() => 2e-6)
    ),
    run(
      'second',
      1,
      3,
      6,
      lr(step => (step === 5 ? 9e-6 : 1e-6))
    ),
    run(
      'third',
      2,
      2,
      4,
      lr(step => (step === 3 ? 'NaN' : 1e-6))
    ),
    run('fourth', 3, 9, 9, () => ({ r: 1 }))
  ]
  const metrics = [metric('reward', 'r'), metric('lr', 'lr')]
  const history = join(runs, metrics)
  const analysis: HistoryAnalysis = {
    name: 'one',
    selections: ['a'],
    metrics: ['reward'],
    supplied: null,
    shared_reference: null,
    statistics: { ...NO_STATISTICS, constant: ['lr'] },
    outputs: NO_OUTPUTS
  }
  const { selections, undefined_reasons: reasons } = finish(analysisStatistics(analysis, metrics, new Map([['a', history]]), []))
  t.strictSame(
    selections['a']?.metrics['lr']?.constant,
    {
      unusable: 1,
      sessions: [
        { run: 'first', observations: 6, value: 2e-6, min: 2e-6, max: 2e-6 },
        { run: 'second', observations: 4, value: null, min: 1e-6, max: 9e-6 },
        { run: 'third', observations: 2, value: 1e-6, min: 1e-6, max: 1e-6 },
        { run: 'fourth', observations: 0, value: null, min: null, max: null }
      ]
    },
    'a metric of the study that the analysis does not draw'
  )
  const at = '/selections/a/metrics/lr/constant/sessions'
  t.equal(reasons[`${at}/1/value`], 'run second logs values from 0.000001 to 0.000009: the first that is not 0.000001 stands at step 5')
  for (const field of ['value', 'min', 'max']) t.equal(reasons[`${at}/3/${field}`], 'the session has no observation')
  t.end()
})

t.test('a displayed curve is columns, whatever its length, and its work is in pieces', t => {
  const rows = 200_000
  const history = join([run('long', 0, 0, rows - 1, step => ({ r: step % 7 }))], [metric('reward', 'r', { trailing_mean: 1000 })])
  const analysis: HistoryAnalysis = {
    name: 'one',
    selections: ['a'],
    metrics: ['reward'],
    supplied: null,
    shared_reference: null,
    statistics: NO_STATISTICS,
    outputs: NO_OUTPUTS
  }
  const work = displayedCurve(analysis, [metric('reward', 'r', { trailing_mean: 1000 })], new Map([['a', history]]), {
    view: 'step',
    metric: 'reward',
    selection: 'a'
  })
  let pieces = 0
  let next = work.next()
  for (; next.done !== true; next = work.next()) pieces++
  const curve = next.value
  t.ok(pieces > 50, `${pieces} pieces for two hundred million additions`)
  for (const column of [curve.x, curve.value, curve.source, curve.observation, curve.trailingMean]) {
    t.ok(ArrayBuffer.isView(column))
    t.equal(column?.length, rows)
  }
  t.equal(curve.sources.length, 1)
  t.equal(curve.trailingMean?.[5], 2.5)
  t.end()
})

t.test('observations that overlap in time, by time: two sessions whose clocks cross, ties in the order of rows', t => {
  const at = (id: string, created: number, times: readonly (number | null)[]): PlainRun => ({
    ...run(id, created, 0, -1, () => ({})),
    rows: times.map((timestamp, step) => ({ step, timestamp, global: null, logged: { r: step } }))
  })
  const history = join([at('a', 1, [5, 7, 7, 3, null, 9]), at('b', 2, [7, 8, 2]), at('c', 3, [1, 7])])
  const { times, timestamp } = curveFor(history, 'reward')
  const plain = [...timestamp.keys()].filter(i => !Number.isNaN(timestamp[i])).sort((a, b) => timestamp[a] - timestamp[b] || a - b)
  t.same([...times], plain)
  t.same([...times].slice(0, 5), [9, 8, 3, 0, 1])
  t.end()
})

t.test('more warnings: own words whole, a clock that is none, milliseconds, a metric that nobody logged', t => {
  const { study, analysis, runs } = fillWorld()
  const rows = (change: (row: PlainRow) => Partial<PlainRow>): ListedAndRead => {
    const changed = runs.map(r => ({ ...r, rows: r.rows.map(row => ({ ...row, ...change(row) })) }))
    return { listed: changed.map(r => listedRun(r)), read: changed.map(r => runHistory(r, ['r', 'v'])) }
  }
  const warnings = ({ listed, read }: ListedAndRead, asked = study): readonly string[] => analysed(asked, listed, read).warnings
  t.same(warnings(rows(({ step, logged }) => (step === 2 ? { logged: { ...logged, r: 'beyond the double range' } } : {}))), [
    'selection base, metric reward: 1 value is not finite (beyond the double range 1); not plotted, not averaged',
    'selection ours, metric reward: 1 value is not finite (beyond the double range 1); not plotted, not averaged'
  ])
  const timeless = { ...study, keys: { ...study.keys, timestamp: 'ts' } }
  t.same(
    warnings(
      rows(() => ({ timestamp: null })),
      timeless
    ),
    ['histories.keys.timestamp "ts" stands in no row with a number: there are no hours, and the time view is empty']
  )
  // Created at 0: one row ten years and a second later, the others within the hour.
  t.same(
    warnings(rows(({ step, timestamp }) => (step === 3 ? { timestamp: 315576001 } : { timestamp }))),
    ['b0', 'o0'].map(
      (id, k) =>
        `run ${id}: 1 of ${[9, 11][k]} rows has a timestamp more than ten years after the run's creation, the first 315576001; ` +
        'seconds since 1970 are expected'
    )
  )
  t.same(warnings(rows(({ step, timestamp }) => (step === 3 ? { timestamp: 315576000 } : { timestamp }))), [], 'ten years are enough')
  t.same(warnings(rows(({ logged: { v: _v, ...logged } }) => ({ logged }))), [
    'analysis both, metric validation: no observation of "v" in base, ours'
  ])
  const only = rows(() => ({}))
  const lacking = {
    listed: only.listed,
    read: [only.read[0], runHistory({ ...runs[1], rows: runs[1].rows.map(row => ({ ...row, logged: {} })) }, ['r', 'v'])]
  }
  t.same(warnings(lacking), [], 'one selection has it')
  t.match(
    faultOf(() =>
      analysed(
        {
          ...study,
          selections: [study.selections[0], { ...study.selections[1], display_time: { best_of: 'validation', at_hours: 3 } }]
        },
        lacking.listed,
        lacking.read
      )
    ).message,
    /study selection ours, display_time gives no factor: histories\.selections\[1\]\.display_time: no observation of validation/
  )
  t.same(analysis.metrics, ['reward', 'validation'])
  t.end()
})

t.test('warnings, one line each', t => {
  const { study, analysis, listed, histories } = fillWorld()
  t.same(analysed(study, listed, histories).warnings, [])
  const odd: PlainRun = {
    ...run('o1', 5000, 0, -1, () => ({})),
    displayName: 'run-ours',
    rows: [
      { step: 12, timestamp: 4000, global: 'NaN', logged: { r: 'NaN', v: null } },
      { step: 12, timestamp: null, global: 1.5, logged: { r: 'Infinity', v: true } }
    ]
  }
  const empty: PlainRun = { ...odd, id: 'o\n2', createdSeconds: -5, rows: [] }
  const more = [odd, empty]
  const shared = { metric: 'validation', selections: ['base'], step: 5, value: 1, ...STATED, label: '', source: '', output: '' }
  const asked = { ...study, analyses: [{ ...analysis, shared_reference: shared }] }
  const result = analysed(asked, [...listed, ...more.map(r => listedRun(r))], [...histories, ...more.map(r => runHistory(r, ['r', 'v']))])
  t.same(result.warnings, [
    'run o\\u000a2: its history has no row',
    'run o1: steps go back or repeat once; what follows counts as a new session',
    "run o1: 1 of 2 rows has a timestamp before the run's creation",
    'run o1: 1 of 2 rows has no timestamp; the time view lacks it',
    'run o1: 1 of 2 rows has a global step that is null or not finite; empty in the files',
    'run o1: 1 of 2 rows has a global step that is no integer, the first 1.5; kept as logged',
    'selection ours: its clock starts at the creation of run o\\u000a2, which has no row',
    'run o1: 1 later session has no timestamp to be placed by among the sessions of other runs; behind the one before in its file',
    'selection ours, metric reward: 2 values are not finite (Infinity 1, NaN 1); not plotted, not averaged',
    'selection ours, metric validation: 1 is null, 1 is no number; not plotted, not averaged',
    'selection base, metric validation: has a point at step 5 already; the shared reference is not drawn'
  ])
  const clockless = { ...asked, keys: { ...asked.keys, timestamp: null } }
  const read = [...histories, runHistory(odd, ['r', 'v'])]
  const silent = analysed(clockless, [...listed, listedRun(odd)], read)
  t.notMatch(silent.warnings.join('\n'), /no timestamp; the time view lacks/, 'a study that names no timestamp key expects none')
  t.end()
})

t.test('values that are no finite numbers are told of every metric, also one that no analysis has, and once', t => {
  const { study, analysis, runs } = fillWorld()
  // Two selections of the same runs; an analysis of one of them and of one metric alone.
  const [base, ours] = study.selections
  const asked: HistoryStudy = {
    ...study,
    figures: [],
    selections: [base, ours, { ...ours, name: 'again', display_time: null }],
    analyses: [
      { ...analysis, selections: ['base'], metrics: ['reward'], supplied: null, statistics: NO_STATISTICS },
      { ...analysis, name: 'more', selections: ['again', 'base'], metrics: ['reward'], supplied: null, statistics: NO_STATISTICS }
    ]
  }
  const odd = runs.map(r => ({
    ...r,
    rows: r.rows.map(row => ({ ...row, logged: row.step === 3 ? { r: 'NaN', v: r.id === 'b0' ? '-Infinity' : null } : row.logged }))
  }))
  t.same(
    analysed(
      asked,
      odd.map(r => listedRun(r)),
      odd.map(r => runHistory(r, ['r', 'v']))
    ).warnings,
    [
      'selection base, metric reward: 1 value is not finite (NaN 1); not plotted, not averaged',
      'selection base, metric validation: 1 value is not finite (-Infinity 1); not plotted, not averaged',
      'selections ours, again, metric reward: 1 value is not finite (NaN 1); not plotted, not averaged',
      'selections ours, again, metric validation: 1 is null; not plotted, not averaged'
    ]
  )
  t.end()
})

t.test('what does not fit is a fault', t => {
  const { study, listed, histories } = fillWorld()
  t.match(faultOf(() => analysed(study, listed, histories.slice(1))).message, /history was not read: run b0, label all/)
  const unread = [runHistory(fillWorld().runs[0], ['v']), histories[1]]
  t.match(faultOf(() => analysed(study, listed, unread)).message, /history metric was not read.*a column for "r"/)
  const overflow = run('big', 0, 0, 1, () => ({ r: 1e308 }))
  const analysis = {
    ...study.analyses[0],
    selections: ['a'],
    metrics: ['reward'],
    supplied: null,
    statistics: { ...NO_STATISTICS, ends: { count: 2, metrics: ['reward'] } }
  }
  const statistics = finish(analysisStatistics(analysis, study.metrics, new Map([['a', join([overflow])]]), []))
  t.equal(statistics.selections.a.metrics.reward.first?.mean, 1e308, 'finite values have a finite mean')
  t.equal(statistics.undefined_reasons['/selections/a/metrics/reward/first/mean'], undefined)
  t.equal(keyOf(study, 'reward'), 'r')
  t.end()
})
