/**
 * Studies at the edges of the rules of histories: the project's own, and the outside trials' where their folder is there.
 * Expected values are the rulings', worked out by hand.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { SelectionHistory } from '../src/compute/histories/contract.js'
import { curveFor } from '../src/compute/histories/join.js'
import { figureData, readHistories, type MeasuredHistories } from '../src/historyRun.js'
import { loadStudy } from '../src/ingest/study.js'
import type { HistoryStudy } from '../src/schema/histories.js'
import type { FigureConfig } from '../src/render/figures/config.js'
import { buildCurveFigure } from '../src/render/figures/curves/index.js'
import { plainCurves, type PlainCurve } from './support/history-analysed.js'
import { EDGES } from './support/history-edges.js'
import { root } from './support/paths.js'

const CASES = join(process.env['CRITIC_TRACES_CASES'] ?? join(root, '../shared/cases'), 'histories-edge')
const NO_CASES = { skip: existsSync(CASES) ? false : `${CASES} is not there (CRITIC_TRACES_CASES names another folder of cases)` }
const work = mkdtempSync(join(tmpdir(), 'critic-traces-edges-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

interface Read {
  readonly study: HistoryStudy
  readonly measured: MeasuredHistories
  readonly first: SelectionHistory
  readonly curves: readonly PlainCurve[]
  readonly figures: readonly FigureConfig[]
}

async function readAll(dir: string): Promise<Read> {
  const { histories: study } = (await loadStudy(dir)).study
  if (study === null) throw new Error('no histories')
  const measured = await readHistories({ dir, study, synthetic: false })
  const figures: FigureConfig[] = []
  for await (const data of figureData({ study, synthetic: false }, measured)) figures.push(buildCurveFigure(data))
  const [first] = measured.selections.values()
  return { study, measured, first, curves: plainCurves(study.analyses[0], study.metrics, measured.selections), figures }
}

/** [step, value] of what the step view keeps. */
function keptOf({ first }: Read, metric = 'm'): number[][] {
  const { steps, step, value } = curveFor(first, metric)
  return Array.from(steps, i => [step[i], value[i]])
}

const anchors = ({ curves }: Read): readonly PlainCurve[] => curves.filter(({ view }) => view === 'time')

const RIGHT: { readonly [name: string]: (t: Test, read: Read) => void } = {
  '1-created-at-ns-order': (t, read) => {
    t.strictSame(read.first.sessions.map(({ run }) => run), ['r2', 'r1'], 'by all digits')
    t.strictSame(read.first.ties, [])
    t.strictSame(keptOf(read), [[0, 1], [1, 2], [2, 3]], 'the earlier one is superseded')
    t.strictSame(read.measured.warnings, [
      'selection a: the session of run r1 that begins at step 0 supersedes 3 rows logged after its first one, from step 0 on, of run r2'
    ])
  },
  '2-resumed-earlier-run': (t, read) => {
    t.strictSame(read.first.sessions.map(({ run, firstStep }) => [run, firstStep]), [['A1', 0], ['B1', 4], ['A1', 3]])
    t.strictSame(keptOf(read), [[0, 0], [1, 1], [2, 2], [3, 13], [4, 14], [5, 15], [6, 16], [7, 17], [8, 18]])
    t.strictSame(read.measured.warnings, ['run A1: steps go back or repeat once; what follows counts as a new session'])
  },
  '3-anchor-after-the-curve': (t, read) => {
    for (const { points, selection, metric } of anchors(read)) {
      t.ok(points.every(({ x }) => x < 0), `${selection} ${metric}: nothing at 0 h`)
      t.ok(points.every(({ provenance }) => !provenance.startsWith('shared')), 'no anchor')
    }
    for (const name of read.study.analyses[0].selections) {
      const metrics = read.study.analyses[0].metrics
      const named = `selection ${name}, metric${metrics.length === 1 ? '' : 's'} ${metrics.join(', ')}`
      t.ok(read.measured.warnings.includes(`${named}: observed before 0 hours; the shared anchor at 0 hours is not drawn`), named)
    }
  },
  '3b-anchor-inside-the-curve': (t, read) => {
    const [a, b] = anchors(read)
    t.strictSame(a.points.map(({ value, provenance }) => [value, provenance]), [[1, 'observed'], [2, 'observed'], [3, 'observed']])
    t.strictSame(b.points.map(({ value, provenance }) => [value, provenance]), [
      [1, 'borrowed_a'], [7, 'observed'], [8, 'observed'], [9, 'observed']
    ])
    t.strictSame(a.trailingMean, [1, 1.5, 2.5], 'means as of the observations')
    t.strictSame(b.trailingMean, [1, 4, 7.5, 8.5])
  },
  '4-log-axis-bridges-zeros-and-flat': (t, { figures: [config] }) => {
    const data = (panel: number, label: string): unknown =>
      (config.panels[panel].chart.data.datasets as readonly { readonly label?: string; readonly data?: unknown }[]).find(one => one.label === label)?.data
    t.strictSame(data(0, 'A'), [0, 1, 2, null, 7, 8, 9].map(x => (x === null ? { x: 7, y: null } : { x, y: 10 })))
    t.strictSame((data(0, 'A, not on the axis') as readonly { readonly x: number }[]).map(({ x }) => x), [3, 4, 5, 6])
    t.equal(config.panels[0].title, 'Gradient norm (4 not shown: \u2264 0)')
    const flat = config.panels.find(({ title }) => title.startsWith('Explained variance'))
    t.equal(flat?.title, 'Explained variance (range 9e\u22128 too small to show)')
  },
  '6-descending-export': (t, read) => {
    t.strictSame(keptOf(read), [0, 1, 2, 3, 4, 5].map(step => [step, step]))
    t.equal(read.first.sessions.length, 1)
    t.strictSame(read.measured.warnings, ['run r1: its file has the latest row first (steps and timestamps fall); read from its end'])
  },
  '7-mean-overflow': (t, read) => {
    const { m } = read.measured.analyses[0].statistics.selections['a'].metrics
    t.strictSame([m.first?.mean, m.last?.mean, m.final?.mean], [1.7e308, 1.7e308, 1.7e308])
    for (const { trailingMean } of read.curves) t.strictSame(trailingMean, [1.7e308, 1.7e308])
    t.strictSame(read.measured.warnings, [])
  }
}

for (const [name, check] of Object.entries(RIGHT)) {
  t.test(`${name}: a study of our own`, async t => {
    const dir = join(work, name)
    EDGES[name](dir)
    check(t, await readAll(dir))
  })
  t.test(`${name}: the outside trial`, NO_CASES, async t => check(t, await readAll(join(CASES, name))))
}

t.test('5-guide-labels-run-together: the outside trial', NO_CASES, async t => {
  const { figures: [config] } = await readAll(join(CASES, '5-guide-labels-run-together'))
  const labels = Object.entries((config.panels[4].chart.options as { plugins: { annotation: { annotations: object } } }).plugins.annotation.annotations)
    .filter(([name]) => name.startsWith('guide-label')).map(([, label]) => label as { readonly content: string; readonly xValue: number; readonly yValue: number })
  const [ten, bit] = ['ten', 'ten and a bit'].map(content => labels.find(label => label.content === content))
  if (ten === undefined || bit === undefined) return t.fail('both labels')
  // Half of both labels is about 15 steps wide here; a gap of 9 points is 4 steps.
  t.ok(ten.yValue !== bit.yValue || Math.abs(ten.xValue - bit.xValue) > 19, JSON.stringify([ten, bit]))
  t.match(config.panels[0].title, /\(40 points, 2 means not shown: \u2264 0\)$/, 'the count keeps its reason')
})
