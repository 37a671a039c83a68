/** The reductions over small histories, each expected value worked out by hand: ties, ends, empty curves and the double range. */
import t from 'tap'
import type { Curve, SelectionHistory } from '../src/compute/histories/contract.js'
import { curveFor, joinSelection } from '../src/compute/histories/join.js'
import { countBoundlessHours } from '../src/compute/histories/overflow.js'
import { analysisStatistics } from '../src/compute/histories/statistics.js'
import { selectRuns } from '../src/compute/histories/selection.js'
import { hasStep, lowerBound, missingSteps, usualDistance } from '../src/compute/histories/steps.js'
import { byTimestamp } from '../src/compute/histories/time-order.js'
import { historyWarnings } from '../src/compute/histories/warnings.js'
import {
  bestPosition,
  countBelowZero,
  firstAtLeast,
  firstMean,
  largestAbsolute,
  lastMean,
  trailingMean,
  windowMean
} from '../src/compute/histories/windows.js'
import { finish, inTurns } from '../src/compute/histories/work.js'
import type { HistoryAnalysis } from '../src/schema/histories.js'
import { metric, NO_OUTPUTS, NO_STATISTICS, selection, studyOf } from './support/history-layouts.js'
import { listedRun, runHistory, type Logged, type PlainRun } from './support/history-plain.js'

const CREATED = 1_700_000_000
const METRICS = [metric('x', 'x'), metric('y', 'y'), metric('z', 'z'), metric('w', 'w')]

/** A row a step: its step, its hours after the creation, what it logs. */
type Row = readonly [step: number, hours: number | null, logged: Readonly<Record<string, Logged>>]

function run(id: string, rows: readonly Row[]): PlainRun {
  return {
    id,
    displayName: 'run-a',
    createdAt: '2023-11-14T22:13:20Z',
    createdSeconds: CREATED,
    rows: rows.map(([step, hours, logged]) => ({
      step,
      timestamp: hours === null ? null : CREATED + 3600 * hours,
      global: step,
      logged
    }))
  }
}

function join(name: string, ...rows: readonly Row[]): SelectionHistory {
  const keys = METRICS.map(({ key }) => key)
  return finish(joinSelection(selection(name), [runHistory(run(`r-${name}`, rows), keys)], METRICS, 'at'))
}

/** Values at steps 10, 20, 30 … */
function curve(...values: readonly number[]): Curve {
  return curveFor(join('a', ...values.map((x, i): Row => [10 * (i + 1), i, { x }])), 'x')
}

t.test('the best, the largest and the first at a value: the earliest step on a tie', t => {
  const values = curve(1, -7, 5, 5, 7, 7, -0, 0)
  t.equal(bestPosition(values), 4)
  t.equal(largestAbsolute(values), 1, 'minus seven stands before seven')
  t.equal(firstAtLeast(values, 5), 2, 'the value itself is at least it')
  t.equal(firstAtLeast(values, 5.5), 4)
  t.equal(firstAtLeast(values, 7.5), -1)
  t.equal(countBelowZero(values), 1, 'neither zero is below zero')
  t.equal(bestPosition(curve(-3, -2)), 1)
  t.equal(largestAbsolute(curve(0, 0)), 0)
  t.equal(largestAbsolute(curve(2, -3)), 1)
  t.strictSame([bestPosition(curve()), largestAbsolute(curve()), firstAtLeast(curve(), 0), countBelowZero(curve())], [-1, -1, -1, 0])
  t.end()
})

t.test('means of windows hold both ends', t => {
  const values = curve(1, 2, 4, 8, 16)
  t.strictSame(windowMean(values, 20, 40), { mean: 14 / 3, count: 3, steps: [20, 40] })
  t.strictSame(windowMean(values, 11, 39), { mean: 3, count: 2, steps: [20, 30] })
  t.strictSame(windowMean(values, 21, 29), { mean: null, count: 0, steps: null })
  t.strictSame(windowMean(values, 51, 60), { mean: null, count: 0, steps: null })
  t.strictSame(windowMean(values, 0, 99), { mean: 6.2, count: 5, steps: [10, 50] })
  t.strictSame(firstMean(values, 2), { mean: 1.5, count: 2, steps: [10, 20] })
  t.strictSame(lastMean(values, 2), { mean: 12, count: 2, steps: [40, 50] })
  t.strictSame([firstMean(values, 9).count, lastMean(values, 9).count], [5, 5])
  const huge = Number.MAX_VALUE
  t.equal(firstMean(curve(huge, huge, huge, -1), 3).mean, huge, 'a sum beyond the double range')
  t.equal(firstMean(curve(-huge, -huge, 1), 2).mean, -huge)
  t.equal(firstMean(curve(...new Array<number>(6).fill(1.7e308)), 6).mean, 1.7e308, 'rounding stays within the values')
  t.equal(firstMean(curve(...new Array<number>(6).fill(-1.7e308)), 6).mean, -1.7e308)
  t.equal(firstMean(curve(1.5e308, 1.5e308, -1.5e308, -1.5e308), 4).mean, 0)
  t.strictSame([...finish(trailingMean(Float64Array.of(1, 2, 4, 8), 3))], [1, 1.5, 7 / 3, 14 / 3])
  t.end()
})

t.test('missing steps are counted, and listed up to the cap', t => {
  const steps = Float64Array.of(1, 5, 6, 9)
  t.strictSame(missingSteps(steps, 0, 4, 4), { count: 5, first: [2, 3, 4, 7] })
  t.strictSame(missingSteps(steps, 0, 4, 9), { count: 5, first: [2, 3, 4, 7, 8] })
  t.strictSame(missingSteps(steps, 0, 4, 0), { count: 5, first: [] })
  t.strictSame(missingSteps(steps, 1, 3, 9), { count: 0, first: [] })
  t.strictSame(missingSteps(steps, 2, 2, 9), { count: 0, first: [] })
  t.equal(usualDistance(Float64Array.of(0, 3, 6, 7, 8)), 1, 'the smallest one on a tie')
  t.equal(usualDistance(Float64Array.of(0, 1, 4, 7)), 3)
  t.equal(usualDistance(Float64Array.of(4, 9)), 5)
  t.strictSame([usualDistance(Float64Array.of(4)), usualDistance(new Float64Array(0))], [null, null])
  t.strictSame(
    [0, 1, 4, 5, 9, 10].map(value => lowerBound(steps, value)),
    [0, 0, 1, 1, 3, 4]
  )
  t.strictSame(
    [0, 1, 4, 5, 9, 10].map(value => hasStep(steps, value)),
    [false, true, false, true, true, false]
  )
  t.end()
})

t.test('stretches that overlap in time are merged; ties keep their order', t => {
  const order = (...timestamp: readonly number[]): number[] => [...finish(byTimestamp(Float64Array.from(timestamp)))]
  t.strictSame(order(), [])
  t.strictSame(order(NaN, NaN), [])
  t.strictSame(order(1, NaN, 1, 2), [0, 2, 3])
  t.strictSame(order(5, 6, 1, 2), [2, 3, 0, 1])
  t.strictSame(order(2, 4, 2, 4, 1, 4), [4, 0, 2, 1, 3, 5], 'three stretches')
  t.strictSame(order(9, 8, NaN, 7, 6, 5), [5, 4, 3, 1, 0], 'five stretches of one')
  t.end()
})

t.test('hours beyond the double range are counted at both ends', t => {
  const rows: readonly Row[] = [-2, -1, 0, 1, 2, 3].map((hours, i): Row => [i, hours, { x: 1 }])
  const history = { ...join('a', ...rows), displayFactor: 1e308 }
  // 2e308 is no double, 1e308 is one
  t.equal(countBoundlessHours(history, curveFor(history, 'x')), 3)
  t.equal(countBoundlessHours({ ...history, displayFactor: 1 }, curveFor(history, 'x')), 0)
  t.equal(countBoundlessHours({ ...history, displayFactor: Infinity }, curveFor(history, 'x')), 6)
  t.end()
})

function statisticsOf(request: Partial<HistoryAnalysis['statistics']>, ...histories: readonly SelectionHistory[]) {
  const analysis: HistoryAnalysis = {
    name: 'main',
    selections: histories.map(history => history.selection.name),
    metrics: [],
    statistics: { ...NO_STATISTICS, ...request },
    supplied: null,
    shared_reference: null,
    outputs: NO_OUTPUTS
  }
  return finish(analysisStatistics(analysis, METRICS, new Map(histories.map(history => [history.selection.name, history])), []))
}

t.test('shares count the rows of the union of steps, and those in which no share is zero', t => {
  const history = join(
    'a',
    [1, 0, { x: 1, y: 3 }],
    [2, 0, { x: 0, y: 4 }],
    [3, 0, { y: 5 }],
    [4, 0, { x: 2 }],
    [5, 0, {}],
    [6, 0, { x: 5, y: -4 }]
  )
  const { selections, undefined_reasons } = statisticsOf(
    {
      shares: [
        { name: 'both', metrics: ['x', 'y'] },
        { name: 'three', metrics: ['y', 'z'] },
        { name: 'none', metrics: ['z'] }
      ]
    },
    history
  )
  t.strictSame(selections['a'].shares, {
    both: { rows: 5, rows_all_nonzero: 2, means: { x: 2, y: 2 } },
    three: { rows: 4, rows_all_nonzero: 0, means: { y: 2, z: null } },
    none: { rows: 0, rows_all_nonzero: 0, means: { z: null } }
  })
  t.equal(undefined_reasons['/selections/a/shares/none/means/z'], 'no observation')
  t.end()
})

t.test('the first row that has any of the metrics, and the first value at a threshold', t => {
  const history = join('a', [1, 0, {}], [2, 1, { y: 1 }], [3, 2, { x: 1, y: 2 }], [4, 4, { x: 2 }])
  const { selections, undefined_reasons } = statisticsOf(
    {
      first_rows: [
        { name: 'either', metrics: ['x', 'y'] },
        { name: 'x', metrics: ['x'] },
        { name: 'z', metrics: ['z'] }
      ],
      thresholds: [
        { name: 'one', metric: 'y', at_least: 1 },
        { name: 'two', metric: 'x', at_least: 2 },
        { name: 'three', metric: 'x', at_least: 3 }
      ]
    },
    history
  )
  const { first_rows, thresholds } = selections['a']
  t.strictSame(first_rows, { either: { step: 2, global_step: 2, run: 'r-a' }, x: { step: 3, global_step: 3, run: 'r-a' }, z: null })
  t.equal(undefined_reasons['/selections/a/first_rows/z'], 'no row has any of the metrics')
  const at = { metric: 'y', at_least: 1, step: 2, value: 1, run: 'r-a', elapsed_hours: 1, display_hours: 1 }
  t.strictSame(thresholds['one'], { ...at, censoring: 'left', previous: null }, 'its first observation: no one knows since when')
  const interval = { ...at, metric: 'x', at_least: 2, step: 4, value: 2, elapsed_hours: 4, display_hours: 4 }
  t.strictSame(thresholds['two'], {
    ...interval,
    censoring: 'interval',
    previous: { step: 3, elapsed_hours: 2, display_hours: 2 }
  })
  t.equal(thresholds['three'], null)
  t.equal(undefined_reasons['/selections/a/thresholds/three'], 'no observation at or above 3')
  t.end()
})

t.test('hours are compared where both are defined', t => {
  const reference = join('base', [1, 2, { x: 1, y: 1 }], [2, 8, { x: 5 }], [3, 0, { z: 1 }], [4, 9, { w: 1 }])
  const target = join('ours', [1, 1, { x: 1, z: 1 }], [2, 3, { x: 5 }], [3, null, { y: 3 }])
  const { compare, undefined_reasons } = statisticsOf(
    {
      best: ['x', 'y', 'z', 'w'],
      thresholds: [
        { name: 'reached', metric: 'x', at_least: 5 },
        { name: 'never', metric: 'x', at_least: 6 }
      ],
      compare: { reference: 'base', target: 'ours' }
    },
    reference,
    target
  )
  const none = { elapsed_hours: null, display_hours: null }
  t.strictSame(compare, {
    reference: 'base',
    target: 'ours',
    thresholds: { reached: { elapsed_hours: -5, display_hours: -5 }, never: none },
    best: {
      x: { elapsed_hours: -5, display_hours: -5, reduction_percent: 62.5 },
      y: { ...none, reduction_percent: null },
      z: { elapsed_hours: 1, display_hours: 1, reduction_percent: null },
      w: { ...none, reduction_percent: null }
    }
  })
  t.equal(undefined_reasons['/compare/thresholds/never/display_hours'], 'one of the two is undefined')
  t.equal(undefined_reasons['/compare/best/y/reduction_percent'], 'one of the two is undefined')
  t.equal(undefined_reasons['/compare/best/w/reduction_percent'], 'one of the two is undefined', 'the target has no observation')
  t.equal(undefined_reasons['/compare/best/z/reduction_percent'], 'the reference takes 0 hours')
  t.end()
})

t.test('a metric that should be constant: what it first differs at, and every value that is no number', t => {
  const history = join(
    'a',
    [1, 0, { x: 2, y: 2 }],
    [2, 0, { x: 2, y: 1 }],
    [3, 0, { x: 2, y: 3 }],
    [4, 0, { x: 'NaN', y: null }],
    [5, 0, { x: null }],
    [6, 0, { x: null }],
    [7, 0, { x: true }]
  )
  const { selections, undefined_reasons } = statisticsOf({ constant: ['x', 'y', 'z'] }, history)
  const of = (name: string): unknown => selections['a'].metrics[name].constant
  t.strictSame(of('x'), { unusable: 4, sessions: [{ run: 'r-a', observations: 3, value: 2, min: 2, max: 2 }] })
  t.strictSame(of('y'), { unusable: 1, sessions: [{ run: 'r-a', observations: 3, value: null, min: 1, max: 3 }] })
  t.strictSame(of('z'), { unusable: 0, sessions: [{ run: 'r-a', observations: 0, value: null, min: null, max: null }] })
  t.equal(
    undefined_reasons['/selections/a/metrics/y/constant/sessions/0/value'],
    'run r-a logs values from 1 to 3: the first that is not 2 stands at step 2'
  )
  t.end()
})

t.test('work that runs in turns stops where its checkpoint rejects', async t => {
  function* work(): Generator<void, number, void> {
    yield
    yield
    return 7
  }
  let turns = 0
  const count = (): Promise<void> => {
    turns++
    return Promise.resolve()
  }
  t.equal(await inTurns(work(), count), 7)
  t.equal(turns, 2)
  await t.rejects(
    inTurns(work(), () => Promise.reject(new Error('stop'))),
    { message: 'stop' }
  )
})

t.test('a display factor of zero is none', t => {
  const zero = selection('a', { display_time: { multiply: 0 } })
  t.throws(() => finish(joinSelection(zero, [runHistory(run('r', []), ['x'])], [METRICS[0]], 'at')), {
    message: 'study selection a, display_time gives no factor: at.display_time: multiply 0, expected a positive factor'
  })
  t.end()
})

t.test('a selection takes the runs of its entity; without a run it names three that are near', t => {
  const runs = ['r1', 'r2', 'r3', 'r4'].map((id, i) =>
    listedRun({ ...run(id, []), displayName: ['run-a', 'run-abc', 'run-ab', 'run-b'][i] }, { entity: i === 0 ? 'lab' : 'other' })
  )
  const study = (display_name: string, entity: string | null) => studyOf({ selections: [selection('a', { display_name, entity })] })
  t.strictSame(
    selectRuns(runs, study('run-a', 'lab'))
      .chosen.get('a')
      ?.map(({ id }) => id),
    ['r1']
  )
  t.throws(() => selectRuns(runs, study('run-a', 'other')), {
    message: /expected its project, entity and label as listed; by display name: project "training", entity "lab", label "all"/
  })
  t.throws(() => selectRuns(runs, study('run-aX', null)), {
    message: /4 runs listed, expected an exact display name; near: "run-a", "run-ab", "run-abc"$/
  })
  const twins = [1, 2, 3, 4].map(i => listedRun(run(`r${i}`, []), { project: `p${i}` }))
  t.throws(() => selectRuns(twins, study('run-a', 'nobody')), { message: /project "p1".*; project "p2".*; project "p3", [^;]*$/ })
  t.end()
})

function warningsOf(history: SelectionHistory, metrics: readonly string[] = []): string[] {
  const analysis = {
    name: 'main',
    selections: ['a'],
    metrics,
    statistics: NO_STATISTICS,
    supplied: null,
    shared_reference: null,
    outputs: NO_OUTPUTS
  }
  const study = studyOf({ selections: [history.selection], metrics: METRICS, analyses: [analysis] })
  return finish(historyWarnings(study, new Map([['a', history]])))
}

t.test('warnings count settings that are left out and hours beyond the double range', t => {
  const more = (leftOut: { unnamed: number; withheld: number }): SelectionHistory => {
    const plain = run('r', [[1, 0, { x: 1 }]])
    return finish(joinSelection(selection('a'), [runHistory(plain, ['x', 'y', 'z', 'w'], listedRun(plain, { leftOut }))], METRICS, 'at'))
  }
  const unnamed = 'of its runs not copied, which neither histories.config nor fetch.config names'
  const withheld = 'of its runs withheld, which look like secrets or are no scalars'
  t.strictSame(warningsOf(more({ unnamed: 1, withheld: 0 })), [`selection a: 1 setting ${unnamed}`])
  t.strictSame(warningsOf(more({ unnamed: 0, withheld: 1 })), [`selection a: 1 setting ${withheld}`])
  t.strictSame(warningsOf(more({ unnamed: 2, withheld: 3 })), [`selection a: 2 settings ${unnamed}`, `selection a: 3 settings ${withheld}`])
  t.strictSame(warningsOf(more({ unnamed: 0, withheld: 0 })), [])
  t.equal(more({ unnamed: 0, withheld: 0 }).sessions[0].leftOut, null)

  const far = { ...join('a', [1, 1, { x: 1 }], [2, 2, { x: 1 }], [3, 3, { x: 1 }]), displayFactor: 1e308 }
  t.strictSame(warningsOf(far, ['x']), [
    'selection a, metric x: display_hours of 2 observations is beyond the double range; empty in the files, not plotted'
  ])
  t.strictSame(warningsOf(join('a')), ['run r-a: its history has no row'], 'without a row nobody knows whether the key of time is right')
  t.end()
})

t.test('a session states why it has no state', t => {
  const plain = run('r', [[1, 0, { x: 1 }]])
  const history = finish(joinSelection(selection('a'), [runHistory(plain, ['x'], listedRun(plain, { state: null }))], [METRICS[0]], 'at'))
  const { selections, undefined_reasons } = statisticsOf({}, history)
  t.equal(selections['a'].sessions[0].state, null)
  t.equal(undefined_reasons['/selections/a/sessions/0/state'], 'the list of runs does not state it')
  t.end()
})
