/** `watch` without a clock: which unit is given out when, which files make a unit, and the page over steps. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'cheerio'
import t, { type Test } from 'tap'
import { parseCommand } from '../src/cli/args.js'
import { overStepsHtml } from '../src/render/page/over-steps.js'
import { Wake } from '../src/runs/watch/wake.js'
import { LONG_UNCHANGED_MS, WatchState, type Observed } from '../src/runs/watch/state.js'
import { sampleKeys } from '../src/schema/sample-keys.js'
import { FileMemory, findUnits, walkFiles, type WatchedPlaces } from '../src/study/watched.js'
import { jsonLines, torchFile } from './support/dump-files.js'
import { Random } from '../src/replica/random.js'
import { randomTraces, writeSnapshot } from './support/snapshot.js'

const SETTLE = 5000

/** A unit whose state is a word; changed just now. */
const unit = (name: string, state = 'whole', age = 0): Observed => ({ name, state, age })
const said = (events: ReturnType<WatchState['observe']>): string[] => events.map(({ kind, name }) => `${name} ${kind}`)

t.test('a unit is given out once, when it has stood still for the settling time', async t => {
  const state = new WatchState(SETTLE)
  t.same(state.observe([unit('a'), unit('b')], 0), [], 'what is new is no event')
  t.equal(state.next(SETTLE - 1), null)
  t.equal(state.wait(1000), SETTLE - 1000)
  t.same(state.next(SETTLE), { name: 'a', state: 'whole' })
  t.same(state.open, ['b'])
  t.same(state.next(SETTLE), { name: 'b', state: 'whole' })
  t.equal(state.next(10 * SETTLE), null, 'and never again')
  t.equal(state.wait(SETTLE), null)
  t.same(state.observe([unit('a'), unit('b')], 20 * SETTLE), [])
  t.equal(state.next(30 * SETTLE), null)
})

t.test('what changes waits anew, and is said to be written once', async t => {
  const state = new WatchState(SETTLE)
  state.observe([unit('a', '1 byte')], 0)
  t.same(said(state.observe([unit('a', '2 bytes')], 4000)), ['a writing'])
  t.same(said(state.observe([unit('a', '3 bytes')], 8000)), [])
  t.equal(state.next(8000 + SETTLE - 1), null)
  t.same(state.next(8000 + SETTLE), { name: 'a', state: '3 bytes' })
})

t.test('a unit that changes after it was given out is given out again', async t => {
  const state = new WatchState(SETTLE)
  state.observe([unit('a', 'old')], 0)
  state.next(SETTLE)
  t.same(said(state.observe([unit('a', 'new')], 9000)), ['a changed'])
  t.same(said(state.observe([unit('a', 'newer')], 9500)), [], 'one word for one change')
  t.equal(state.next(9500 + SETTLE - 1), null)
  t.same(state.next(9500 + SETTLE), { name: 'a', state: 'newer' })
  t.same(said(state.observe([unit('a', 'newest')], 30_000)), ['a changed'], 'and of the next one again')
})

t.test('what is gone is forgotten; what comes back is new', async t => {
  const state = new WatchState(SETTLE)
  state.observe([unit('a'), unit('b')], 0)
  state.next(SETTLE)
  t.same(said(state.observe([], SETTLE)), ['a deleted'], 'b was never given out: nobody was told of it')
  t.same(state.observe([unit('a')], 2 * SETTLE), [])
  t.equal(state.next(2 * SETTLE), null)
  t.same(state.next(3 * SETTLE), { name: 'a', state: 'whole' })
})

t.test('what nobody has changed for a minute need not settle; times ahead of the clock do', async t => {
  const state = new WatchState(SETTLE)
  state.observe([unit('new', 'x', LONG_UNCHANGED_MS - 1), unit('old', 'x', LONG_UNCHANGED_MS), unit('ahead', 'x', -1e9)], 0)
  t.same(state.next(0), { name: 'old', state: 'x' })
  t.equal(state.next(0), null)
  const slow = new WatchState(10 * LONG_UNCHANGED_MS)
  slow.observe([unit('old', 'x', LONG_UNCHANGED_MS)], 0)
  t.equal(slow.next(0), null, 'a longer settling time holds')
  t.same(said(state.observe([unit('new', 'renamed', 1e9)], 1)), ['new writing', 'old deleted'])
  t.same(state.next(1), { name: 'new', state: 'renamed' }, 'an old file that is moved into place')
})

t.test('units are given out in the order of the last observation', async t => {
  const state = new WatchState(SETTLE)
  state.observe([unit('step-10'), unit('step-11')], 0)
  state.observe([unit('step-9'), unit('step-10'), unit('step-11')], 1)
  t.equal(state.next(SETTLE)?.name, 'step-10')
  t.equal(state.next(SETTLE + 1)?.name, 'step-9')
  t.equal(state.next(SETTLE + 1)?.name, 'step-11')
})

function temp(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-watch-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const ROWS = jsonLines([{ values: [0.5, 1], returns: [1, 1], response_mask: [1, 1], score: 1 }])

const slime = (rollout: number): Uint8Array =>
  torchFile({
    format_version: 2,
    rollout_id: rollout,
    samples: [{ values: [0.5, 1], returns: [1, 1], loss_masks: [1, 1], response_lengths: 2, total_lengths: 2 }]
  })

interface Look extends WatchedPlaces {
  readonly text: string
}

async function look(paths: readonly string[], memory = new FileMemory(sampleKeys()), except: string | null = null): Promise<Look> {
  const walked = await walkFiles(paths, except)
  return { ...(await findUnits(paths, walked, except, memory)), text: walked.text }
}

t.test('a folder of dumps has a unit for each step, and for each file without one', async t => {
  const dir = join(temp(t), 'dumps')
  mkdirSync(dir)
  for (const name of ['step_10_rank0.jsonl', 'step_9.jsonl', 'step_10_rank1.jsonl', '12.jsonl', 'last.jsonl'])
    writeFileSync(join(dir, name), ROWS)
  for (const name of ['.step_13.jsonl', 'step_14.jsonl.tmp', 'step_15.jsonl.part', 'notes.txt'])
    writeFileSync(join(dir, name), ROWS.slice(0, 9))
  const { units, faults } = await look([dir])
  t.same(faults, [])
  t.same(
    units.map(({ plan, label }) => [plan.name, plan.source, plan.dumpFiles, label]),
    [
      ['dumps--step-9', 'dumps/step_9.jsonl', ['step_9.jsonl'], 'step_9.jsonl'],
      ['dumps--step-10', 'dumps', ['step_10_rank0.jsonl', 'step_10_rank1.jsonl'], 'dumps--step-10 (2 files)'],
      ['dumps--step-12', 'dumps/12.jsonl', ['12.jsonl'], '12.jsonl'],
      ['dumps--last.jsonl', 'dumps/last.jsonl', ['last.jsonl'], 'last.jsonl']
    ]
  )
})

t.test('the step that a file states goes before that of its name', async t => {
  const dir = join(temp(t), 'dumps')
  mkdirSync(dir)
  writeFileSync(join(dir, 'rank_0.pt'), slime(7))
  writeFileSync(join(dir, 'rank_1.pt'), slime(7))
  writeFileSync(join(dir, '1.pt'), slime(200))
  writeFileSync(join(dir, '3.pt'), slime(3).slice(0, 200))
  t.same(
    (await look([dir])).units.map(({ plan }) => [plan.name, plan.dumpFiles]),
    [
      ['dumps--step-3', ['3.pt']],
      ['dumps--step-7', ['rank_0.pt', 'rank_1.pt']],
      ['dumps--step-200', ['1.pt']]
    ],
    'a damaged file has the step of its name'
  )
})

t.test('pages and folders of NPZ files are units as a whole; names stay when other folders come', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'runs/a/traces'),
    randomTraces(new Random('a'), 1, () => 12)
  )
  const runs = join(dir, 'runs')
  const named = async (): Promise<string[]> => (await look([runs])).units.map(({ plan }) => plan.name)
  t.same(await named(), ['runs--a--traces'])
  mkdirSync(join(runs, 'b/traces'), { recursive: true })
  writeFileSync(join(runs, 'b/traces/step_1.jsonl'), ROWS)
  t.same(await named(), ['runs--a--traces', 'runs--b--traces--step-1'])
})

t.test('the state of a unit is that of its files: a write, a replacement by the same bytes, a new rank', async t => {
  const dir = join(temp(t), 'dumps')
  mkdirSync(dir)
  const path = join(dir, 'step_1.jsonl')
  writeFileSync(path, ROWS)
  utimesSync(path, 1000, 1000)
  const memory = new FileMemory(sampleKeys())
  const first = await look([dir], memory)
  t.equal(first.units[0].modified, 1_000_000)
  t.equal((await look([dir], memory)).text, first.text, 'nothing has changed')
  writeFileSync(join(dir, '.next'), ROWS)
  utimesSync(join(dir, '.next'), 1000, 1000)
  renameSync(join(dir, '.next'), path)
  const second = await look([dir], memory)
  t.not(second.units[0].state, first.units[0].state, 'another file of the same size and time')
  writeFileSync(join(dir, 'step_1_b.jsonl'), ROWS)
  t.not((await look([dir], memory)).units[0].state, second.units[0].state)
  rmSync(dir, { recursive: true })
  t.match(await look([dir], memory), { units: [], faults: [] }, 'a path that is gone is no fault: it may come again')
})

t.test('what a file is, is asked once for each of its states', async t => {
  const dir = temp(t)
  const path = join(dir, 'step_1.jsonl')
  writeFileSync(path, ROWS.slice(0, 9))
  const memory = new FileMemory(sampleKeys())
  memory.renew(await walkFiles([dir], null))
  const damaged = memory.recognise(path)
  t.equal(memory.recognise(path), damaged, 'the same answer')
  t.match(await damaged, { message: /^jsonl/ })
  writeFileSync(path, ROWS)
  memory.renew(await walkFiles([dir], null))
  t.equal(await memory.recognise(path), 'dump')
})

t.test('a fault of a folder is one of the things that settle', async t => {
  const dir = join(temp(t), 'dumps')
  mkdirSync(dir)
  for (const name of ['index.html', 'index.html.gz']) writeFileSync(join(dir, name), '')
  const { units, faults } = await look([dir])
  t.same([units.length, faults.map(({ fault, source }) => [fault.details.problem, source])], [0, [['stated twice', 'dumps']]])
  t.match(faults[0].state, /index\.html\.gz/)
})

t.test('waiting ends with an event below the folders or beside the paths, with the time, and with the signal', async t => {
  const dir = temp(t)
  mkdirSync(join(dir, 'a'))
  const interrupt = new AbortController()
  const wake = new Wake(interrupt.signal)
  t.teardown(() => wake.close())
  const paths = ['a', 'b', 'c'].map(name => join(dir, name))
  const alive = setInterval(() => undefined, 1e6)
  t.teardown(() => clearInterval(alive))
  const { folders } = await walkFiles(paths, null)
  t.same([...folders.keys()], [paths[0]])
  t.same(wake.watch(folders, paths), [])
  writeFileSync(join(dir, 'a/step_1.jsonl'), ROWS)
  await wake.wait(Infinity)
  t.pass('a file in the folder')
  for (const path of paths.slice(1)) {
    mkdirSync(path)
    await wake.wait(Infinity)
    t.pass('a path that is there now')
  }
  rmSync(paths[0], { recursive: true })
  mkdirSync(paths[0])
  await wake.wait(Infinity)
  wake.watch((await walkFiles(paths, null)).folders, paths)
  writeFileSync(join(dir, 'a/step_2.jsonl'), ROWS)
  await wake.wait(Infinity)
  t.pass('a folder that was made anew')
  await wake.wait(1)
  interrupt.abort()
  await wake.wait(Infinity)
  await wake.wait(Infinity)
  t.pass('no wait after the signal')
})

t.test('a folder that the system refuses to watch is told once', async t => {
  const wake = new Wake(new AbortController().signal)
  t.teardown(() => wake.close())
  const missing = new Map([[join(temp(t), 'none'), '1:2']])
  t.match(wake.watch(missing, []), [{ folder: /none$/, cause: { code: 'ENOENT' } }])
  t.same(wake.watch(missing, []), [])
})

t.test('seconds on the command line', async t => {
  t.match(parseCommand(['watch', 'a', 'b']), {
    command: 'watch',
    paths: ['a', 'b'],
    settle: 5,
    poll: 10,
    keepDeleted: false,
    once: false,
    against: null
  })
  t.notOk('shard' in parseCommand(['watch', 'a']), 'a watch is no shard')
  t.match(parseCommand(['watch', 'a', '--settle', '0.5', '--poll', '60', '--once']), { settle: 0.5, poll: 60, once: true })
  for (const [option, text] of [
    ['settle', '0'],
    ['settle', '1e3'],
    ['poll', '-1'],
    ['poll', '86401'],
    ['poll', 'often']
  ]) {
    t.throws(() => parseCommand(['watch', 'a', `--${option}=${text}`]), {
      message: `usage wrong --${option}: ${text}, expected seconds, from 0.1 to 86400`,
      exitCode: 2
    })
  }
  t.throws(() => parseCommand(['watch', 'a', '--against', 'b']), { message: /^usage option not for watch: --against/ })
})

t.test('the page over steps: the newest step on top, means by outcome, what failed; text has no effect', async t => {
  const changes = { transitions: 0, sum_abs_change: 0, jumps: 0 }
  const row = (snapshot: string, step: number, mean: number) => ({
    snapshot,
    step,
    traces: 3,
    tokens: 1200,
    mean_values: [
      { outcome: 'success' as const, traces: 2, tokens: 800, mean_value: mean },
      { outcome: 'failure' as const, traces: 1, tokens: 400, mean_value: -mean }
    ],
    boundary: changes,
    internal: changes
  })
  const entry = { source: 's', kept: false, synthetic: false, traces: 3, tokens: 1200, snapshot_time: null, faults: [] }
  const hostile = '<img src=x onerror=alert(1)>'
  const html = overStepsHtml({
    rows: [row('one', 1, 0.25), row(hostile, 12, 0.5)],
    snapshots: [
      { ...entry, name: 'one', status: 'ok', verified: true, statistics: 'one/training_data/critic-trace-statistics.json' },
      { ...entry, name: hostile, status: 'ok', verified: false, statistics: 'x y/s.json' },
      {
        ...entry,
        name: 'torn',
        status: 'failed',
        verified: null,
        statistics: null,
        faults: [{ message: `npz torn: ${hostile}`, exit_code: 3 }]
      }
    ],
    figure: null,
    synthetic: false,
    generator: { name: 'critic-traces', version: '1' }
  })
  const $ = load(html)
  const cells = $('table.steps tbody tr')
    .toArray()
    .map(tr =>
      $(tr)
        .find('th, td')
        .toArray()
        .map(cell => $(cell).text())
    )
  t.same(cells, [
    [hostile, '12', '3', '1,200', '0.5', '\u22120.5', '\u2013', 'no'],
    ['one', '1', '3', '1,200', '0.25', '\u22120.25', '\u2013', 'yes']
  ])
  t.same(
    $('table.steps a')
      .toArray()
      .map(a => $(a).attr('href')),
    ['../x%20y/s.json', '../one/training_data/critic-trace-statistics.json']
  )
  t.equal($('.lead').text(), '3 snapshots, 2 steps, 6 traces, 2,400 tokens. 1 snapshot failed and is in no curve.')
  t.equal($('table.failing td').text(), `npz torn: ${hostile}`)
  t.equal($('img, script').length, 0)
  t.same(
    $('nav.contents a')
      .toArray()
      .map(a => $(a).text()),
    ['Steps', 'What failed']
  )
})
