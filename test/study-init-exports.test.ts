/** What `study init` finds in rows of other trainers, and in CSV files: the step, times, holes, runs. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { main } from '../src/cli/cli.js'
import type { HistoryStudy } from '../src/schema/histories.js'
import { loadStudy } from '../src/study/study.js'
import { tree } from './support/folders.js'

type Row = Readonly<Record<string, unknown>>

function put(dir: string, path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), text)
}

async function init(dir: string, ...argv: string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const text = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr'): { write(part: string): void } => ({
    write: part => {
      text[name] += part
    }
  })
  const io = {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: {},
    now: () => performance.now(),
    signal: new AbortController().signal
  }
  const code = await main(['study', 'init', dir, ...argv], io)
  return { code, ...text }
}

async function historiesOf(dir: string): Promise<HistoryStudy> {
  const { histories } = (await loadStudy(dir)).study
  if (histories === null) throw new Error('no histories')
  return histories
}

/** A study of one run with these rows. */
async function drafted(
  test: Test,
  rows: readonly Row[]
): Promise<{ readonly dir: string; readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const dir = test.testdir()
  put(dir, 'wandb/runs.json', JSON.stringify([{ id: 'r', displayName: 'run', createdAt: '2026-01-01T00:00:00Z', label: 'x' }]))
  put(dir, 'wandb/history/x/r.jsonl', rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return { dir, ...(await init(dir)) }
}

const rows = (count: number, of: (i: number) => Row): Row[] => Array.from({ length: count }, (_, i) => of(i))

t.test('the step of other trainers is found by its name or by its values', async t => {
  const cases: ReadonlyArray<readonly [name: string, rows: readonly Row[], step: string, note: RegExp]> = [
    [
      'LLaMA-Factory',
      rows(20, i => ({ current_steps: 10 * i, loss: 0.5, epoch: i / 7 })),
      'current_steps',
      /^note: the step of a row is "current_steps", an integer that rises; histories\.keys\.step names another$/m
    ],
    [
      'an iteration beside a count of tokens',
      rows(20, i => ({ tokens: 2048 * i, iteration: i, loss: 1 })),
      'iteration',
      /; other integers that rise: "tokens"; histories/
    ],
    [
      'Stable-Baselines3',
      rows(20, i => ({ 'time/total_timesteps': 2048 * i, 'rollout/ep_rew_mean': i / 3 })),
      'time/total_timesteps',
      /"time\/total_timesteps"/
    ],
    ['an epoch', rows(20, i => ({ epoch: i, loss: 1.5 })), 'epoch', /"epoch"/],
    [
      'an epoch that many rows share is no step beside a count',
      rows(20, i => ({ epoch: Math.floor(i / 5), batch: i, loss: 1.5 })),
      'batch',
      /"batch".*"epoch"/
    ],
    ['a name that nobody knows', rows(20, i => ({ tick: i, loss: 1.5, seed: 7 })), 'tick', /"tick", an integer that rises; hist/]
  ]
  for (const [name, of, step, note] of cases) {
    await t.test(name, async t => {
      const { code, stdout, stderr, dir } = await drafted(t, of)
      t.equal(code, 0, stderr)
      const { keys, metrics } = await historiesOf(dir)
      t.equal(keys.step, step)
      t.notOk(
        metrics.some(metric => metric.key === step),
        'the step is no metric'
      )
      t.match(stdout, note)
      t.match(readFileSync(join(dir, 'study.json'), 'utf8'), '"// keys": [')
    })
  }
})

t.test('where no key can be the step, integers are listed with the setting', async t => {
  const { code, stderr } = await drafted(
    t,
    rows(20, i => ({ rank: 3, worker: (i * 7) % 5, loss: 0.25 }))
  )
  t.equal(code, 3)
  t.match(stderr, /keys with integers: "rank", "worker"; histories\.keys\.step names the step, an integer in every row/)
  const none = await drafted(
    t,
    rows(3, () => ({ loss: 0.25 }))
  )
  t.match(none.stderr, /no key holds integers; histories\.keys\.step must name one that does/)
})

t.test('times that are no seconds since 1970 are named', async t => {
  const seconds = await drafted(
    t,
    rows(9, i => ({ step: i, timestamp: 1.75e9 + i, loss: 1.5 }))
  )
  t.equal((await historiesOf(seconds.dir)).keys.timestamp, 'timestamp')
  t.notMatch(seconds.stdout, /^note:/m)
  const millis = await drafted(
    t,
    rows(9, i => ({ step: i, timestamp: 1.75e12 + i, loss: 1.5 }))
  )
  t.match(
    millis.stdout,
    /^note: "timestamp" holds milliseconds since 1970 by their size; histories\.keys\.timestamp reads seconds since 1970/m
  )
  const { keys, figures } = await historiesOf(millis.dir)
  t.equal(keys.timestamp, null)
  t.same(
    figures.map(figure => figure.view),
    ['step']
  )
  const dates = await drafted(
    t,
    rows(9, i => ({ step: i, timestamp: `2026-01-01T00:00:0${i}`, loss: 1.5 }))
  )
  t.match(dates.stdout, /^note: "timestamp" holds dates as texts \(ISO 8601\); histories\.keys\.timestamp reads seconds since 1970/m)
})

t.test('holes are noted', async t => {
  const { stdout } = await drafted(
    t,
    [0, 1, 4, 5, 9].map(step => ({ step, loss: 1.5 }))
  )
  t.match(stdout, /^note: "run": between its rows 5 steps are missing$/m)
})

/** As W&B's page exports a chart. */
const REWARD = [
  '"Step","gspo - a - reward","gspo - a - reward__MIN","gspo - a - reward__MAX","sao - reward","sao - reward__MIN","sao - reward__MAX"',
  '"0","0.25","0.25","0.25","","",""',
  '"1","1e-07","1e-07","1e-07","0.5","0.5","0.5"',
  '"4","NaN","NaN","NaN","0.75","0.7","0.8"',
  ''
].join('\n')

const LENGTH = ['"Step","sao - length","sao - length__MIN","sao - length__MAX"', '"1","100","100","100"', '"5","120","120","120"', ''].join(
  '\r\n'
)

t.test("W&B's exports of charts: a column a run, joined over files; numbers keep their spelling", async t => {
  const dir = t.testdir({
    'wandb_export_2026-10-06T07_31_12.345+02_00.csv': REWARD,
    'wandb_export_2026-10-06T07_32_00.000+02_00.csv': LENGTH
  })
  const { code, stdout, stderr } = await init(dir)
  t.equal(code, 0, stderr)
  t.equal(
    readFileSync(join(dir, 'wandb/history/csv/gspo-a.jsonl'), 'utf8'),
    '{"_step": 0, "reward": 0.25}\n{"_step": 1, "reward": 1e-07}\n{"_step": 4, "reward": "NaN"}\n'
  )
  t.equal(
    readFileSync(join(dir, 'wandb/history/csv/sao.jsonl'), 'utf8'),
    '{"_step": 1, "reward": 0.5, "length": 100}\n{"_step": 4, "reward": 0.75}\n{"_step": 5, "length": 120}\n'
  )
  t.match(JSON.parse(readFileSync(join(dir, 'wandb/runs.json'), 'utf8')), [
    { id: 'gspo-a', displayName: 'gspo - a', label: 'csv', fetchedAt: '2026-10-06T07:31:12+02:00' },
    { id: 'sao', displayName: 'sao' }
  ])
  const { keys, selections, metrics } = await historiesOf(dir)
  t.same(keys, { step: '_step', timestamp: null, global_step: null })
  t.same(
    selections.map(selection => selection.display_name),
    ['gspo - a', 'sao']
  )
  t.same(metrics.map(metric => metric.key).sort(), ['length', 'reward'])
  t.match(
    stdout,
    /^note: wandb_export_2026-10-06T07_31_12\.345\+02_00\.csv: 1 of its values stands for several rows, since __MIN and __MAX differ/m
  )
  t.match(stdout, /^note: 2 runs of CSV files without times: createdAt is not known, 1970-01-01T00:00:00Z stands for it$/m)
  t.match(stdout, /^note: "gspo - a": between its rows 2 steps are missing$/m)
})

t.test('plain tables: a file a run, a line a row', async t => {
  const dir = t.testdir({
    'pandas.csv': ',_step,_timestamp,loss,note\n0,0,1767225600.5,0.5,first\n1,1,1767225660.5,,second\n2,2,1767225720.5,0.25,\n',
    'tensorboard.csv': 'Wall time,Step,Value\n1767225600.5,10,1.5\n1767225601.5,20,-.5\n'
  })
  const { code, stdout, stderr } = await init(dir)
  t.equal(code, 0, stderr)
  t.equal(
    readFileSync(join(dir, 'wandb/history/csv/pandas.jsonl'), 'utf8'),
    '{"_step": 0, "_timestamp": 1767225600.5, "loss": 0.5}\n{"_step": 1, "_timestamp": 1767225660.5}\n{"_step": 2, "_timestamp": 1767225720.5, "loss": 0.25}\n'
  )
  t.equal(
    readFileSync(join(dir, 'wandb/history/csv/tensorboard.jsonl'), 'utf8'),
    '{"Wall time": 1767225600.5, "Step": 10, "Value": 1.5}\n{"Wall time": 1767225601.5, "Step": 20, "Value": -0.5}\n'
  )
  t.match(JSON.parse(readFileSync(join(dir, 'wandb/runs.json'), 'utf8')), [
    { createdAt: '2026-01-01T00:00:00Z' },
    { createdAt: '2026-01-01T00:00:00Z' }
  ])
  t.match(stdout, /^note: pandas\.csv: cells that are no numbers are left out, under "note"$/m)
  t.match(stdout, /^left out: "tensorboard": 2 of 2 rows without _step$/m, 'a study has one key of steps')
  const alone = t.testdir({ 'tensorboard.csv': 'Wall time,Step,Value\n1767225600.5,10,1.5\n1767225601.5,20,-.5\n' })
  t.equal((await init(alone)).code, 0)
  t.match((await historiesOf(alone)).keys, { step: 'Step', timestamp: 'Wall time' })
})

t.test('CSV that cannot be used: the file, the line, and nothing stays', async t => {
  const cases: ReadonlyArray<readonly [name: string, files: Readonly<Record<string, string>>, message: RegExp]> = [
    [
      'ragged',
      { 'a.csv': 'step,loss\n1,2\n3\n' },
      /^critic-traces: csv malformed: a row of another length, expected as many cells as the head has \(.*a\.csv, line 3\)$/m
    ],
    [
      'a quote without an end',
      { 'a.csv': 'step,loss\n1,"2\n3,4\n' },
      /csv malformed: a quoted cell without an end, .*\(.*a\.csv, line \d\)/
    ],
    ['a column twice', { 'a.csv': 'step,loss,loss\n1,2,3\n' }, /csv column stated twice: "loss", expected each name once/],
    ['nothing', { 'a.csv': '' }, /csv no head: an empty file/],
    [
      'two files that differ',
      { 'a.csv': LENGTH, 'b.csv': LENGTH.replace(/"100"/g, '"101"') },
      /csv contradiction: length of sao at step 1 is 101, expected 100, as in another file/
    ],
    ['an axis of time', { 'a.csv': LENGTH.replace('Step', 'Relative Time (Process)') }, /init nothing to read/]
  ]
  for (const [name, files, message] of cases) {
    await t.test(name, async t => {
      const dir = t.testdir({ ...files })
      const { code, stderr } = await init(dir)
      t.equal(code, 3)
      t.match(stderr, message)
      t.same(tree(dir), Object.keys(files))
    })
  }
  const table =
    '"Name","State","Created","Runtime","_step","loss"\n"a","finished","2026-01-01T00:00:00.000Z","10","5","0.5"\n"b","crashed","2026-01-02T00:00:00.000Z","20","9","0.25"\n'
  const runs = t.testdir({ 'runs.csv': table, 'good.csv': 'step,loss\n1,2\n2,3\n' })
  t.match(await init(runs), {
    code: 0,
    stdout: /^note: runs\.csv: left out, a line is a run with its last values; export charts, or use fetch$/m
  })
  t.same(
    (await historiesOf(runs)).selections.map(selection => selection.display_name),
    ['good']
  )
  const dir = t.testdir({ 'good.csv': 'step,loss\n1,2\n2,3\n', 'bad.csv': 'step,loss\n1\n' })
  t.match(await init(dir), { code: 0, stdout: /^note: left out: csv malformed: a row of another length/m })
})
