/**
 * Studies at the edges of the rules of histories: the project's own, and the outside trials' where their folder is there.
 * Expected values are the rulings', worked out by hand.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { SelectionHistory } from '../src/compute/histories/contract.js'
import { curveFor } from '../src/compute/histories/join.js'
import { trailingMean } from '../src/compute/histories/windows.js'
import { finish } from '../src/compute/histories/work.js'
import { figureData, readHistories, type MeasuredHistories } from '../src/runs/histories.js'
import { loadStudy } from '../src/study/study.js'
import type { HistoryStudy } from '../src/schema/histories.js'
import type { FigureConfig } from '../src/render/figures/config.js'
import { buildCurveFigure } from '../src/render/figures/curves/index.js'
import { contextOf } from './support/context.js'
import { plainCurves, type PlainCurve } from './support/history-analysed.js'
import { EDGES } from './support/history-edges.js'
import { writeHistoryStudy } from './support/history-folder.js'
import { root } from './support/paths.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'

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
  const measured = await readHistories(contextOf(dir), study)
  const figures: FigureConfig[] = []
  for await (const data of figureData(contextOf(dir), study, measured)) figures.push(buildCurveFigure(data))
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
    t.strictSame(
      read.first.sessions.map(({ run }) => run),
      ['r2', 'r1'],
      'by all digits'
    )
    t.strictSame(read.first.ties, [])
    t.strictSame(
      keptOf(read),
      [
        [0, 1],
        [1, 2],
        [2, 3]
      ],
      'the earlier one is superseded'
    )
    t.strictSame(read.measured.warnings, [
      'selection a: the session of run r1 that begins at step 0 supersedes 3 rows logged after its first one, from step 0 on, of run r2'
    ])
  },
  '2-resumed-earlier-run': (t, read) => {
    t.strictSame(
      read.first.sessions.map(({ run, firstStep }) => [run, firstStep]),
      [
        ['A1', 0],
        ['B1', 4],
        ['A1', 3]
      ]
    )
    t.strictSame(keptOf(read), [
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 13],
      [4, 14],
      [5, 15],
      [6, 16],
      [7, 17],
      [8, 18]
    ])
    t.strictSame(read.measured.warnings, ['run A1: steps go back or repeat once; what follows counts as a new session'])
  },
  '3-anchor-after-the-curve': (t, read) => {
    for (const { points, selection, metric } of anchors(read)) {
      t.ok(
        points.every(({ x }) => x < 0),
        `${selection} ${metric}: nothing at 0 h`
      )
      t.ok(
        points.every(({ provenance }) => !provenance.startsWith('shared')),
        'no anchor'
      )
    }
    for (const name of read.study.analyses[0].selections) {
      const metrics = read.study.analyses[0].metrics
      const named = `selection ${name}, metric${metrics.length === 1 ? '' : 's'} ${metrics.join(', ')}`
      t.ok(read.measured.warnings.includes(`${named}: observed before 0 hours; the shared anchor at 0 hours is not drawn`), named)
    }
  },
  '3b-anchor-inside-the-curve': (t, read) => {
    const [a, b] = anchors(read)
    t.strictSame(
      a.points.map(({ value, provenance }) => [value, provenance]),
      [
        [1, 'observed'],
        [2, 'observed'],
        [3, 'observed']
      ]
    )
    t.strictSame(
      b.points.map(({ value, provenance }) => [value, provenance]),
      [
        [1, 'borrowed_a'],
        [7, 'observed'],
        [8, 'observed'],
        [9, 'observed']
      ]
    )
    t.strictSame(a.trailingMean, [1, 1.5, 2.5], 'means as of the observations')
    t.strictSame(b.trailingMean, [1, 4, 7.5, 8.5])
  },
  '4-log-axis-bridges-zeros-and-flat': (t, { figures: [config] }) => {
    const data = (panel: number, label: string): unknown =>
      (config.panels[panel].chart.data.datasets as readonly { readonly label?: string; readonly data?: unknown }[]).find(
        one => one.label === label
      )?.data
    t.strictSame(
      data(0, 'A'),
      [0, 1, 2, null, 7, 8, 9].map(x => (x === null ? { x: 7, y: null } : { x, y: 10 }))
    )
    t.strictSame(
      (data(0, 'A, not on the axis') as readonly { readonly x: number }[]).map(({ x }) => x),
      [3, 4, 5, 6]
    )
    t.equal(config.panels[0].title, 'Gradient norm (4 not shown: \u2264 0)')
    const flat = config.panels.find(({ title }) => title.startsWith('Explained variance'))
    t.equal(flat?.title, 'Explained variance (range 9e\u22128 too small to show)')
  },
  '6-descending-export': (t, read) => {
    t.strictSame(
      keptOf(read),
      [0, 1, 2, 3, 4, 5].map(step => [step, step])
    )
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
  const {
    figures: [config]
  } = await readAll(join(CASES, '5-guide-labels-run-together'))
  const labels = Object.entries(
    (config.panels[4].chart.options as { plugins: { annotation: { annotations: object } } }).plugins.annotation.annotations
  )
    .filter(([name]) => name.startsWith('guide-label'))
    .map(([, label]) => label as { readonly content: string; readonly xValue: number; readonly yValue: number })
  const [ten, bit] = ['ten', 'ten and a bit'].map(content => labels.find(label => label.content === content))
  if (ten === undefined || bit === undefined) return t.fail('both labels')
  // Half of both labels is about 15 steps wide here; a gap of 9 points is 4 steps.
  t.ok(ten.yValue !== bit.yValue || Math.abs(ten.xValue - bit.xValue) > 19, JSON.stringify([ten, bit]))
  t.match(config.panels[0].title, /\(40 points, 2 means not shown: \u2264 0\)$/, 'the count keeps its reason')
})

async function warningsOf(
  name: string,
  runs: ReadonlyArray<readonly [id: string, createdAt: string, lines: readonly string[]]>
): Promise<readonly string[]> {
  const dir = join(work, name)
  EDGES['6-descending-export'](dir)
  const study = JSON.parse(readFileSync(join(dir, 'study.json'), 'utf8')) as object
  writeHistoryStudy(dir, { study, runs: runs.map(([id, createdAt, lines]) => ({ id, displayName: 'A', createdAt, lines })) })
  return (await readAll(dir)).measured.warnings
}

const line = (step: number, timestamp: number | null, m: string = String(step)): string =>
  `{"_step": ${step}${timestamp === null ? '' : `, "_timestamp": ${timestamp}`}, "m": ${m}}`

t.test('what is left out, missing or inexact is noted, whatever the count', async t => {
  const [made, at] = ['2026-08-06T00:00:00Z', 1786000000]
  t.strictSame(await warningsOf('holes', [['r', made, [line(0, at), line(2, at + 1), line(9, at + 2)]]]), [
    'run r: between its rows 7 steps are missing (1, 3, 4, 5, 6, \u2026)'
  ])
  t.strictSame(await warningsOf('one hole', [['r', made, [line(0, at), line(2, at + 1)]]]), [
    'run r: between its rows 1 step is missing (1)'
  ])
  const back = 'run r: steps go back or repeat once; what follows counts as a new session'
  const restarted = (...steps: readonly number[]): string[] => steps.map((step, i) => line(step, at + i))
  t.strictSame(await warningsOf('a hole that a restart fills', [['r', made, restarted(0, 1, 3, 1, 2, 3)]]), [back])
  t.strictSame(await warningsOf('one hole of both', [['r', made, restarted(0, 1, 3, 1, 3)]]), [
    'run r: between its rows 1 step is missing (2)',
    back
  ])
  t.strictSame(await warningsOf('ascending', [['r', made, restarted(0, 1, 8, 9, 4, 6, 7, 8, 9)]]), [
    'run r: between its rows 3 steps are missing (2, 3, 5)',
    back
  ])
  t.strictSame(
    await warningsOf('nested', [['r', made, [line(0, at), line(1, at + 1).replace('}', ', "train": {"loss": 1}, "h": [1]}')]]]),
    ['run r: 2 values are objects or lists and are left out, the first "train" on line 2 of wandb/history/runs/r.jsonl']
  )
  t.strictSame(await warningsOf('inexact', [['r', made, [line(0, at), line(1, at + 1, '9007199254740993'), line(2, at + 2, '1e+16')]]]), [
    'run r: an integer under "m" beyond 2^53 is read as the nearest double, the first 9007199254740993 on line 2 of wandb/history/runs/r.jsonl'
  ])
  t.strictSame(await warningsOf('lost', [['r', made, [line(3, at), line(2, at + 1), line(1, at + 2)]]]), [
    'run r: steps go back or repeat 2 times; what follows counts as a new session each time',
    'run r: its own restarts go back over 2 of 3 rows, which the step view lacks'
  ])
  await t.rejects(warningsOf('falling', [['r', made, [line(3, null), line(2, null), line(1, null)]]]), {
    message:
      /^history rows in falling step order: 3 rows from step 3 to 1, and no timestamps that rise or fall, expected .*turn the file round.*r\.jsonl/
  })
  await t.rejects(warningsOf('step', [['r', made, [line(3, at), line(7, at).replace('7', '9007199254740993')]]]), {
    message: /^history wrong step: 9007199254740993 as "_step" on line 2, expected an integer .*r\.jsonl/
  })
})

t.test('a later session without a timestamp cannot be placed: it stays behind the one before it, and that is said', async t => {
  const made = ['2026-08-06T00:00:00Z', '2026-08-06T01:00:00Z']
  const first = [line(0, 1785974500), line(1, 1785974600), line(2, 1785974700), line(1, null), line(2, null)]
  const second = [line(2, 1785978100), line(3, 1785978200)]
  t.strictSame(
    await warningsOf('unplaced', [
      ['a', made[0], first],
      ['b', made[1], second]
    ]),
    [
      'run a: steps go back or repeat once; what follows counts as a new session',
      'run a: 2 of 5 rows have no timestamp; the time view lacks them',
      'run a: 1 later session has no timestamp to be placed by among the sessions of other runs; behind the one before in its file'
    ]
  )
  // Alone, the order of its file is the order.
  t.strictSame((await warningsOf('alone', [['a', made[0], first]])).length, 2)
})

t.test('the sessions of one run keep the order of its file, also where its clock was behind its creation', async t => {
  const dir = join(work, 'offline')
  EDGES['2-resumed-earlier-run'](dir)
  const lines = [line(0, 100), line(1, 200), line(2, 300), line(1, 400, '11'), line(2, 500, '12')]
  const study = JSON.parse(readFileSync(join(dir, 'study.json'), 'utf8')) as object
  writeHistoryStudy(dir, { study, runs: [{ id: 'a', displayName: 'A', createdAt: '2026-08-06T00:00:00Z', lines }] })
  t.strictSame(keptOf(await readAll(dir)), [
    [0, 0],
    [1, 11],
    [2, 12]
  ])
})

t.test('finite values have a finite mean, at any number of them', t => {
  const random = new Random(seedOf(11))
  for (let k = 0; k < rounds(300); k++) {
    const values = Float64Array.from({ length: 1 + random.below(40) }, () =>
      random.pick([1.7e308, -1.7e308, Number.MAX_VALUE, -Number.MAX_VALUE, 1e308, 1])
    )
    // By exact integers of the unit 2^970, of which all but the small value are multiples.
    for (const [i, mean] of finish(trailingMean(values, 10)).entries()) {
      const own = Array.from(values.subarray(Math.max(0, i - 9), i + 1))
      const exact = Number(own.reduce((sum, value) => sum + BigInt(value), 0n) / BigInt(own.length))
      const size = Math.max(...own.map(Math.abs))
      if (!(Math.abs(mean - exact) <= size * 1e-14)) t.fail(`${own.join(' ')}: ${mean} for ${exact}`)
    }
  }
  t.strictSame([...finish(trailingMean(new Float64Array(20).fill(Number.MAX_VALUE), 7))], new Array(20).fill(Number.MAX_VALUE))
  t.end()
})
