/** `study init`: folders of exports as they come, hostile ones included, and the study files that it makes of them. */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { Random } from '../src/replica/random.js'
import { main } from '../src/cli/cli.js'
import { readManifest } from '../src/study/manifest.js'
import { encodeNpyBool } from '../src/ingest/npz/write.js'
import { NAME_PATTERN } from '../src/schema/names.js'
import { emptySample, sampleRows } from '../src/study/init/row-keys.js'
import { nameLike, titleLike } from '../src/study/init/words.js'
import { loadStudy, studyJsonSchema } from '../src/study/study.js'
import type { HistoryStudy } from '../src/schema/histories.js'
import { contents, tree } from './support/folders.js'
import { schemaProblems } from './support/json-schema.js'
import { randomTraces, writeSnapshot, type SnapshotOptions } from './support/snapshot.js'

type Row = Readonly<Record<string, unknown>>

interface MadeRun {
  readonly id: string
  readonly displayName: string
  readonly createdAt?: string
  readonly entity?: string | null
  readonly project?: string | null
  readonly label?: string
  readonly fetchedAt?: string
  /** rows, or the file's text; absent: no history */
  readonly rows?: readonly Row[] | string
}

/** A folder of exports as `wandb/runs.json` and `wandb/history/<label>/<id>.jsonl`. */
function exportsIn(dir: string, runs: readonly MadeRun[], list = 'wandb/runs.json', folder = 'wandb/history'): void {
  const listed = runs.map(
    ({ rows: _rows, id, displayName, createdAt = '2026-01-01T00:00:00', label = 'x', entity = 'e', project = 'p', fetchedAt }) => ({
      id,
      displayName,
      entity,
      project,
      createdAt,
      state: 'crashed',
      url: null,
      fetchedAt: fetchedAt ?? null,
      label,
      config: {}
    })
  )
  put(dir, list, JSON.stringify(listed))
  for (const { id, label = 'x', rows } of runs) {
    if (rows !== undefined) put(dir, `${folder}/${label}/${id}.jsonl`, typeof rows === 'string' ? rows : lines(rows))
  }
}

function put(dir: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), content)
}

function lines(rows: readonly Row[]): string {
  return rows.map(row => `${JSON.stringify(row)}\n`).join('')
}

function training(count: number, more: (i: number) => Row = () => ({})): Row[] {
  return Array.from({ length: count }, (_, i) => ({
    _step: i,
    _timestamp: 1.75e9 + 60 * i,
    _runtime: i,
    'critic/score/mean': i / count,
    ...more(i)
  }))
}

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The program in this process. */
async function cli(...argv: string[]): Promise<Ran> {
  const text = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr'): { write(part: string): void } => ({
    write: part => {
      text[name] += part
    }
  })
  const code = await main(argv, {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: {},
    now: () => performance.now(),
    signal: new AbortController().signal
  })
  return { code, ...text }
}

/** What a folder that is no folder of exports is answered with, its path as DIR. */
async function refusal(t: Test, dir: string, ...argv: string[]): Promise<string> {
  const files = (): string[] => (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true ? tree(dir) : [])
  const before = files()
  const run = await cli('study', 'init', dir, '-q', ...argv)
  t.equal(run.code, 3)
  t.equal(run.stdout, '')
  t.same(files(), before, 'nothing was written')
  return run.stderr
    .trimEnd()
    .replaceAll(dir, 'DIR')
    .replace(/^critic-traces: /, '')
}

async function historiesOf(t: Test, dir: string): Promise<HistoryStudy> {
  t.same(schemaProblems(studyJsonSchema(), JSON.parse(readFileSync(join(dir, 'study.json'), 'utf8'))), [], 'follows the JSON Schema')
  const { study } = await loadStudy(dir)
  t.equal(study.synthetic, false)
  if (study.histories === null) throw new Error('no histories')
  return study.histories
}

/** Two algorithms, the second in two sessions with a companion; keys of a trainer, two that no table knows. */
function usual(dir: string): void {
  exportsIn(dir, [
    {
      id: 's2',
      displayName: 'ppo 8 nodes',
      createdAt: '2026-01-03T00:00:00Z',
      label: 'ppo',
      rows: training(30, () => ({ 'num_turns/mean': 5 }))
    },
    {
      id: 'g1',
      displayName: 'grpo',
      label: 'grpo',
      fetchedAt: '2026-02-03T04:05:06Z',
      rows: training(50, i => ({
        'training/global_step': i,
        'response_length/mean': 5000 + i,
        'critic/grad_norm': 10 ** (i / 10),
        'critic/vf_explained_var': i - 5,
        'perf/odd "key"': 1,
        another: 2,
        media: { loss: 1 },
        ...(i % 5 === 0 ? { 'val-core/unknown/reward/mean@1': 0.5 } : {})
      }))
    },
    { id: 's1', displayName: 'ppo 8 nodes', createdAt: '2026-01-02T00:00:00+08:00', label: 'ppo', rows: training(30) },
    { id: 'c1', displayName: 'ppo 8 nodes-trainnode', createdAt: '2026-01-02T00:00:00', label: 'ppo', rows: [{ _step: 0, 'system/x': 1 }] }
  ])
}

t.test('a folder of exports becomes a study that loads, is listed whole, and is never overwritten', async t => {
  const dir = t.testdir({})
  usual(dir)
  const run = await cli('study', 'init', dir, '--name', 'Made up')
  t.equal(run.code, 0, run.stderr)
  const histories = await historiesOf(t, dir)
  t.equal((await loadStudy(dir)).study.name, 'Made up')
  t.same(histories.keys, { step: '_step', timestamp: '_timestamp', global_step: 'training/global_step' })
  t.same([histories.runs, histories.folder, histories.companion_suffixes], ['wandb/runs.json', 'wandb/history', ['-trainnode']])
  const any = { entity: null, project: null, label: null, display_time: null }
  t.same(
    histories.selections,
    [
      { name: 'grpo', title: 'grpo', display_name: 'grpo', ...any },
      { name: 'ppo-8-nodes', title: 'ppo 8 nodes', display_name: 'ppo 8 nodes', ...any }
    ],
    'by the creation of their first run; the companion is none'
  )
  const plain = { multiply: 1, divide: 1, trailing_mean: 10, sparse: false }
  t.same(histories.metrics, [
    { ...plain, name: 'reward', key: 'critic/score/mean', title: 'Reward', axis: 'Mean reward' },
    {
      name: 'validation',
      key: 'val-core/unknown/reward/mean@1',
      title: 'Validation',
      axis: 'Validation score (%)',
      multiply: 100,
      divide: 1,
      trailing_mean: null,
      sparse: true
    },
    { ...plain, name: 'response_length', key: 'response_length/mean', title: 'Response length', axis: 'Tokens (thousands)', divide: 1000 },
    { ...plain, name: 'turns', key: 'num_turns/mean', title: 'Turns', axis: 'Turns' },
    {
      ...plain,
      name: 'explained_variance',
      key: 'critic/vf_explained_var',
      title: 'Critic explained variance',
      axis: 'Explained variance'
    },
    { ...plain, name: 'critic_grad_norm', key: 'critic/grad_norm', title: 'Critic gradient norm', axis: 'Norm' }
  ])
  const all = histories.metrics.map(m => m.name)
  t.match(histories.analyses, [
    {
      name: 'training',
      selections: ['grpo', 'ppo-8-nodes'],
      metrics: all,
      supplied: null,
      shared_reference: null,
      statistics: {
        ends: { count: 20, metrics: all.filter(name => name !== 'validation') },
        best: ['validation'],
        final: { count: 5, metrics: ['validation'] },
        thresholds: [],
        windows: []
      },
      outputs: { observations: 'wandb/training-observations.csv', statistics: 'wandb/training-statistics.json', time_display: null }
    }
  ])
  t.same(
    histories.figures.map(({ name, view, panels }) => [name, view, panels.map(p => [p.metric, p.scale.kind].join(' '))]),
    [
      ['01-training-by-step', 'step', ['reward linear', 'validation linear', 'response_length linear', 'turns linear']],
      ['02-training-over-time', 'time', ['reward linear', 'validation linear', 'response_length linear', 'turns linear']],
      ['03-training-by-step-2', 'step', ['explained_variance symlog', 'critic_grad_norm log']],
      ['04-training-over-time-2', 'time', ['explained_variance symlog', 'critic_grad_norm log']]
    ]
  )
  const file = JSON.parse(readFileSync(join(dir, 'study.json'), 'utf8')) as { histories: Record<string, string[]> }
  t.match(file.histories['// selections'], [/^One a display name/, 'Companions, not selected: ppo 8 nodes-trainnode'])
  t.match(file.histories['// metrics'], [/^Known keys/, 'Other keys of numbers: another, perf/odd "key"'])

  const manifest = await readManifest(join(dir, 'source_manifest.json'))
  t.equal(manifest.snapshot, '2026-02-03', 'the newest export')
  t.same(
    manifest.files.map(({ path, role }) => `${path} ${role}`),
    [
      'study.json study',
      'wandb/history/grpo/g1.jsonl history',
      'wandb/history/ppo/c1.jsonl excluded',
      'wandb/history/ppo/s1.jsonl history',
      'wandb/history/ppo/s2.jsonl history',
      'wandb/runs.json runs'
    ]
  )
  for (const { path, sha256, bytes } of manifest.files) {
    const content = readFileSync(join(dir, path))
    t.same([createHash('sha256').update(content).digest('hex'), content.length], [sha256, bytes], path)
  }
  t.match(await cli('verify', '--study', dir, '-q'), { code: 0, stderr: '' })

  t.match(run.stdout, /^wandb\/runs\.json: 4 runs; histories in wandb\/history\n/)
  t.match(run.stdout, /^ppo-8-nodes +ppo 8 nodes +2 +60$/m)
  t.match(run.stdout, /^companion, not selected: ppo 8 nodes-trainnode$/m)
  t.match(run.stdout, /^other keys of numbers: 2, listed in the study file$/m)
  t.ok(run.stdout.includes(`wrote ${join(dir, 'study.json')} and ${join(dir, 'source_manifest.json')} (6 files)\n`))

  const before = contents(dir)
  t.equal(await refusal(t, dir), 'init file exists: study.json, expected none of this name: nothing is overwritten (DIR/study.json)')
  t.same(contents(dir), before)
})

t.test('the same exports give the same files wherever they lie, and --json says what was made', async t => {
  const dir = t.testdir({ a: {}, b: { deeper: {} } })
  usual(join(dir, 'a'))
  cpSync(join(dir, 'a'), join(dir, 'b/deeper/a'), { recursive: true })
  const run = await cli('study', 'init', join(dir, 'a'), '--json', '-q')
  t.match(JSON.parse(run.stdout), {
    command: 'study init',
    exit_code: 0,
    study: join(dir, 'a/study.json'),
    manifest: join(dir, 'a/source_manifest.json'),
    critic_traces: null,
    notes: [],
    histories: {
      runs: 4,
      companions: ['ppo 8 nodes-trainnode'],
      left_out: [],
      other_keys: ['another', 'perf/odd "key"'],
      nested_keys: ['media'],
      selections: [
        { name: 'grpo', runs: ['g1'] },
        { name: 'ppo-8-nodes', runs: ['s2', 's1'] }
      ]
    }
  })
  t.match(await cli('study', 'init', join(dir, 'b/deeper/a'), '-q'), { code: 0, stdout: '', stderr: '' })
  t.same(contents(join(dir, 'b/deeper/a')), contents(join(dir, 'a')))
})

t.test('hostile display names: verbatim in the file, harmless in names, titles and on the terminal', async t => {
  const hostile = [
    'say "hi"',
    '\u001b[31mred\r\n\u0000',
    '\u202eevil\u2028',
    '__proto__',
    'constructor',
    'x'.repeat(1000),
    '😀训练',
    '--',
    '7b',
    'A b',
    'a B',
    'a-b',
    '../../etc',
    '"; rm -rf /',
    '=cmd()',
    ' ',
    'ａ'
  ]
  const dir = t.testdir({})
  exportsIn(
    dir,
    hostile.map((displayName, i) => ({ id: `r${i}`, displayName, rows: training(4) }))
  )
  const run = await cli('study', 'init', dir)
  t.equal(run.code, 0, run.stderr)
  const { selections, analyses, figures } = await historiesOf(t, dir)
  t.same(
    selections.map(s => s.display_name),
    hostile
  )
  const names = selections.map(s => s.name)
  for (const name of names) t.match(name, NAME_PATTERN)
  t.equal(new Set(names).size, names.length)
  t.same(names.slice(3), [
    'proto',
    'constructor',
    'x'.repeat(48),
    'run',
    'run-2',
    'run-7b',
    'a-b',
    'a-b-2',
    'a-b-3',
    'etc',
    'rm-rf',
    'cmd',
    'run-3',
    'run-4'
  ])
  t.equal(new Set(selections.map(s => s.title)).size, names.length)
  for (const { title } of selections) t.ok([...title].length <= 60 && /^[^\p{Cc}\u2028-\u202e]+$/u.test(title), JSON.stringify(title))
  t.notMatch(readFileSync(join(dir, 'study.json'), 'utf8'), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/)
  t.notMatch(run.stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/)
  t.same(
    analyses.map(a => [a.name, a.selections.length]),
    [
      ['training', 6],
      ['training-2', 6],
      ['training-3', 5]
    ],
    'at most six curves an analysis'
  )
  t.same(
    figures.map(f => f.name),
    [
      '01-training-by-step',
      '02-training-over-time',
      '03-training-2-by-step',
      '04-training-2-over-time',
      '05-training-3-by-step',
      '06-training-3-over-time'
    ]
  )
})

t.test('a hostile key is verbatim too', async t => {
  const dir = t.testdir({})
  const key = 'x/__proto__'
  exportsIn(dir, [
    {
      id: 'a',
      displayName: 'a',
      rows: `{"_step": 0, "__proto__": 6, "${key}": 1, "\\u001b[2J": 2, "constructor": 3, "": 4, "${'k'.repeat(201)}": 5}\n`
    }
  ])
  t.match(await cli('study', 'init', dir, '-q'), { code: 0 })
  const { metrics } = await historiesOf(t, dir)
  t.same(
    metrics.map(m => [m.name, m.key, m.title]),
    [
      ['metric-2j', '\u001b[2J', '[2J'],
      ['constructor', 'constructor', 'constructor'],
      ['x-__proto', key, key]
    ],
    "keys that begin with _ are the tracker's own"
  )
})

t.test('what is not a folder of exports is one fault that says what is expected', async t => {
  const layout = 'wandb/runs.json with wandb/history/<label>/<run id>.jsonl (or runs.json with history/…)'
  const dir = t.testdir({
    empty: {},
    'a file': '',
    none: {},
    malformed: {},
    wrong: {},
    twice: {},
    missing: {},
    orphan: { wandb: { history: {} } },
    textual: {}
  })
  const at = (name: string): string => join(dir, name)
  t.equal(await refusal(t, at('nowhere')), 'init no folder: ENOENT no such file or directory, expected a folder of exports (DIR)')
  t.equal(await refusal(t, at('a file')), 'init no folder: file, expected a folder of exports (DIR)')
  t.equal(
    await refusal(t, at('empty')),
    `init nothing to read: neither a list of runs nor a snapshot, expected ${layout}, or a folder with a critic-trace snapshot (DIR)`
  )
  t.equal(
    await refusal(t, at('orphan')),
    `init nothing to read: wandb/history without a list of runs, expected ${layout}, or a folder with a critic-trace snapshot (DIR)`
  )
  exportsIn(at('none'), [])
  t.equal(await refusal(t, at('none')), 'init no runs: an empty list, expected at least one run (DIR/wandb/runs.json)')
  put(at('malformed'), 'runs.json', '[{"id": "a", ]')
  t.equal(
    await refusal(t, at('malformed')),
    'runs malformed JSON: "]" at line 1 column 14, expected a quoted field name (DIR/runs.json, byte 13)'
  )
  put(at('wrong'), 'runs.json', '[{"id": "a", "displayName": 5, "createdAt": "2026-01-01T00:00:00", "label": "x"}]')
  t.equal(await refusal(t, at('wrong')), 'runs wrong field: [0].displayName is 5, expected a text of 1 to 1000 characters (DIR/runs.json)')
  exportsIn(at('twice'), [{ id: 'a', displayName: 'a', rows: training(3) }])
  put(at('twice'), 'runs.json', '[]')
  t.equal(await refusal(t, at('twice')), 'init stated twice: wandb/runs.json and runs.json, expected one list of runs (DIR)')
  exportsIn(at('missing'), [
    { id: 'a', displayName: 'a' },
    { id: 'b', displayName: 'b' }
  ])
  t.equal(
    await refusal(t, at('missing')),
    'init no history to read: 2 runs, 2 of them without one ("a": wandb/history/x/a.jsonl: missing file (nothing); ' +
      `"b": wandb/history/x/b.jsonl: missing file (nothing)), expected ${layout} (DIR)`
  )
  exportsIn(at('textual'), [{ id: 'a', displayName: 'a', rows: '{"_step": "x", "loss": null}\nnot json\n' }])
  t.match(await refusal(t, at('textual')), 'init no history to read: 1 run ("a": no row with a number)')
})

t.test('a run without its history takes its selection out, with the reason in the file and on the terminal', async t => {
  const dir = t.testdir({ outside: {}, in: {} })
  const folder = join(dir, 'in')
  put(dir, 'outside/l.jsonl', lines(training(3)))
  exportsIn(folder, [
    { id: 'a', displayName: 'a', rows: training(3) },
    { id: 'b1', displayName: 'b', rows: training(3) },
    { id: 'b2', displayName: 'b' },
    { id: 'd', displayName: 'd', rows: '' },
    { id: 'e', displayName: 'e', rows: [{ _step: 0, x: 1 }, { x: 2 }] },
    { id: 'l', displayName: 'l' }
  ])
  symlinkSync('../../../../outside/l.jsonl', join(folder, 'wandb/history/x/l.jsonl'))
  const run = await cli('study', 'init', folder, '--json', '-q')
  t.equal(run.code, 0, run.stderr)
  const reasons = [
    '"b": wandb/history/x/b2.jsonl: missing file (nothing)',
    '"d": no row with a number',
    '"l": wandb/history/x/l.jsonl: unsafe path ("wandb/history/x/l.jsonl", a link that leads out of the study)',
    '"e": 1 of 2 rows without _step'
  ]
  t.same((JSON.parse(run.stdout) as { histories: { left_out: string[] } }).histories.left_out, reasons)
  t.ok(readFileSync(join(folder, 'study.json'), 'utf8').includes(JSON.stringify(`Left out: ${reasons.join('; ')}`)))
  const { selections, analyses } = await historiesOf(t, folder)
  t.same(
    selections.map(s => s.name),
    ['a']
  )
  t.equal(analyses[0].statistics.ends?.count, 1, 'windows of a short history do not overlap')
})

t.test('a certificate beside a history that the draft reads is listed as one', async t => {
  const dir = t.testdir({})
  exportsIn(dir, [
    { id: 'a', displayName: 'a' },
    { id: 'b', displayName: 'b', rows: training(3) }
  ])
  put(dir, 'wandb/history/x/a.jsonl.gz', gzipSync(lines(training(3))))
  for (const id of ['a', 'b', 'stray']) put(dir, `wandb/history/x/${id}.certificate.json`, '{}')
  t.match(await cli('study', 'init', dir, '-q'), { code: 0, stderr: '' })
  const { files } = await readManifest(join(dir, 'source_manifest.json'))
  t.same(
    files.filter(({ path }) => path.endsWith('.certificate.json')).map(({ path, role }) => `${path} ${role}`),
    [
      'wandb/history/x/a.certificate.json certificate',
      'wandb/history/x/b.certificate.json certificate',
      'wandb/history/x/stray.certificate.json excluded'
    ]
  )
})

t.test('the other layout, histories in gzip, links inside the folder', async t => {
  const dir = t.testdir({})
  exportsIn(
    dir,
    [
      { id: 'a', displayName: 'a' },
      { id: 'b', displayName: 'b' }
    ],
    'runs.json',
    'history'
  )
  put(dir, 'history/x/a.jsonl.gz', gzipSync(lines(training(3))))
  put(dir, 'raw/b', lines(training(3)))
  symlinkSync('../../raw/b', join(dir, 'history/x/b.jsonl'))
  t.match(await cli('study', 'init', dir, '-q'), { code: 0, stderr: '' })
  const { runs, folder, selections } = await historiesOf(t, dir)
  t.same([runs, folder, selections.length], ['runs.json', 'history', 2])
  t.same(
    (await readManifest(join(dir, 'source_manifest.json'))).files.map(({ path, role }) => `${path} ${role}`),
    ['history/x/a.jsonl.gz history', 'history/x/b.jsonl history', 'raw/b excluded', 'runs.json runs', 'study.json study']
  )
  t.match(await cli('verify', '--study', dir, '-q'), { code: 0, stderr: '' })
})

t.test('one display name in two projects, and one run under two labels, are two selections each', async t => {
  const dir = t.testdir({})
  exportsIn(dir, [
    { id: 'a', displayName: 'same', project: 'p', rows: training(3) },
    { id: 'b', displayName: 'same', project: 'Q 1', rows: training(3) },
    { id: 'c', displayName: 'again', label: 'x', rows: training(3) },
    { id: 'c', displayName: 'again', label: 'y', rows: training(3) },
    { id: 'd', displayName: 'vague', project: null, rows: training(3) },
    { id: 'e', displayName: 'vague', project: 'p', rows: training(3) },
    { id: 'f', displayName: 'half', entity: null, rows: training(3) },
    { id: 'g', displayName: 'half', rows: training(3) }
  ])
  const run = await cli('study', 'init', dir)
  t.equal(run.code, 0, run.stderr)
  const { selections, analyses } = await historiesOf(t, dir)
  t.same(
    selections.map(({ name, title, entity, project, label }) => [name, title, entity, project, label]),
    [
      ['same', 'same', 'e', 'p', null],
      ['same-2', 'same (2)', 'e', 'Q 1', null],
      ['again', 'again', null, null, 'x'],
      ['again-2', 'again (2)', null, null, 'y'],
      ['vague', 'vague', 'e', 'p', null],
      ['half', 'half', 'e', 'p', null]
    ]
  )
  t.match(run.stdout, /^left out: "half": runs that state no entity cannot be told from others of this name$/m)
  t.match(run.stdout, /^left out: "vague": runs that state no project cannot be told from others of this name$/m)
  t.same(
    analyses.map(a => [a.name, a.selections]),
    [
      ['p', ['same', 'again', 'again-2', 'vague', 'half']],
      ['q-1', ['same-2']]
    ],
    'one analysis a project'
  )
})

t.test('a name is told apart by the project alone where no run states an entity', async t => {
  const dir = t.testdir({})
  exportsIn(
    dir,
    ['p', 'q', 'p', null].map((project, i) => ({ id: `r${i}`, displayName: 'same', entity: null, project, rows: training(3) }))
  )
  const run = await cli('study', 'init', dir)
  t.equal(run.code, 0, run.stderr)
  const { selections } = await historiesOf(t, dir)
  t.same(
    selections.map(({ name, entity, project }) => [name, entity, project]),
    [
      ['same', null, 'p'],
      ['same-2', null, 'q']
    ]
  )
  t.same(run.stdout.match(/^left out: .*$/gm), [
    'left out: "same": runs that state no entity and no project cannot be told from others of this name'
  ])
})

t.test('more display names than a draft has room for are counted, not dropped silently', async t => {
  const dir = t.testdir({})
  exportsIn(
    dir,
    Array.from({ length: 130 }, (_, i) => ({ id: `r${i}`, displayName: `run ${i}`, rows: training(2) }))
  )
  const run = await cli('study', 'init', dir)
  t.equal(run.code, 0, run.stderr)
  t.equal((await historiesOf(t, dir)).selections.length, 100)
  t.match(run.stdout, /^left out: "run 100": more than 100 selections$/m)
  t.match(run.stdout, /^left out: and 10 more$/m)
})

t.test('another trainer: its own step key, no known key, no time', async t => {
  const dir = t.testdir({})
  const rows = Array.from({ length: 9 }, (_, i) => ({ step: i, loss: -i, ...(i > 3 ? { 'eval/reward': 1 } : {}), note: 'text' }))
  exportsIn(dir, [{ id: 'a', displayName: 'a', rows }])
  const run = await cli('study', 'init', dir)
  t.equal(run.code, 0, run.stderr)
  const { keys, metrics, figures, analyses } = await historiesOf(t, dir)
  t.same(keys, { step: 'step', timestamp: null, global_step: null })
  t.same(
    metrics.map(m => [m.name, m.key, m.trailing_mean]),
    [
      ['loss', 'loss', null],
      ['eval-reward', 'eval/reward', null]
    ],
    'most often logged first'
  )
  t.same(
    figures.map(f => f.view),
    ['step'],
    'no figure over time'
  )
  t.same(analyses[0].statistics.ends, { count: 4, metrics: ['loss', 'eval-reward'] })
  t.match(run.stdout, /no known key: those logged most often/)
})

t.test('several validation sets, scores beyond 0 to 1, shares of harnesses', async t => {
  const dir = t.testdir({})
  exportsIn(dir, [
    {
      id: 'a',
      displayName: 'a',
      rows: training(4, i => ({
        'val-core/math/reward/mean@8': i,
        'val-core/code/acc/best@4/mean': 0.25,
        'harness_selected/open code/mean': 0.5,
        'response_length/mean': 12
      }))
    }
  ])
  t.match(await cli('study', 'init', dir, '-q'), { code: 0 })
  const { metrics, analyses } = await historiesOf(t, dir)
  t.same(
    metrics.map(m => [m.name, m.axis, m.multiply, m.divide]),
    [
      ['reward', 'Mean reward', 1, 1],
      ['validation-code', 'Validation score (%)', 100, 1],
      ['validation-math', 'Validation score', 1, 1],
      ['response_length', 'Tokens', 1, 1],
      ['harness_open-code', 'Share', 1, 1]
    ]
  )
  t.same(analyses[0].statistics.best, ['validation-code', 'validation-math'])
})

t.test('a snapshot alone makes a study that runs; one beside exports joins them', async t => {
  const dir = t.testdir({ alone: {}, both: {}, two: {}, page: {}, loose: {} })
  const traces = randomTraces(new Random('init'), 2, () => 30)
  await writeSnapshot(join(dir, 'alone/critic_traces'), traces)
  t.match(await cli('study', 'init', join(dir, 'alone'), '-q'), { code: 0, stderr: '' })
  const { study } = await loadStudy(join(dir, 'alone'))
  t.equal(study.critic_traces?.snapshot, 'critic_traces')
  t.equal(study.histories, null)
  const manifest = await readManifest(join(dir, 'alone/source_manifest.json'))
  t.same(manifest.files.map(file => file.role).sort(), ['npz', 'npz', 'npz', 'npz', 'snapshot', 'study'])
  const all = await cli('all', '--study', join(dir, 'alone'), '--out', join(dir, 'out'), '--no-figures', '--json', '-q', '--threads', '1')
  t.match(JSON.parse(all.stdout), { exit_code: 0, statistics: { traces: 4 } }, all.stderr)

  usual(join(dir, 'both'))
  await writeSnapshot(join(dir, 'both'), traces)
  t.match(await cli('study', 'init', join(dir, 'both'), '-q'), { code: 0, stderr: '' })
  const both = (await loadStudy(join(dir, 'both'))).study
  t.equal(both.critic_traces?.snapshot, '.')
  t.equal(both.histories?.selections.length, 2)

  usual(join(dir, 'two'))
  await writeSnapshot(join(dir, 'two/s1'), traces)
  await writeSnapshot(join(dir, 'two/s2'), traces)
  const two = await cli('study', 'init', join(dir, 'two'))
  t.match(two.stdout, /^note: several snapshots, of which a study has one: s1, s2$/m)
  t.equal((await loadStudy(join(dir, 'two'))).study.critic_traces, null)

  put(join(dir, 'dumps'), 'd/step_1.jsonl', lines([{ uid: 'p', step: 1, values: [0.5], returns: [1], response_mask: [1] }]))
  t.match(await cli('study', 'init', join(dir, 'dumps'), '-q'), { code: 0, stderr: '' }, 'a dump')
  t.match((await loadStudy(join(dir, 'dumps'))).study, { synthetic: false, critic_traces: { snapshot: 'd' } })

  usual(join(dir, 'page'))
  put(join(dir, 'page'), 'site/index.html', '<!doctype html><title>x</title><script id="other">{}</script>')
  const page = await cli('study', 'init', join(dir, 'page'))
  t.match(page.stdout, /^note: site\/index\.html is no critic-trace snapshot: no script#data in its first 4 MiB$/m)
  t.equal((await loadStudy(join(dir, 'page'))).study.critic_traces, null)
})

t.test('a snapshot that begins by saying that it is synthetic makes a synthetic study', async t => {
  const label = '"synthetic":true,'
  const snapshots: ReadonlyArray<readonly [name: string, synthetic: boolean, options: SnapshotOptions, npzAlone: boolean]> = [
    ['first', true, { editJson: json => json.replace('{', `{${label}`) }, false],
    ['spaced', true, { editJson: json => json.replace('{', '{ "x": [{"synthetic": false}], "synthetic" : true, ') }, false],
    ['false', false, { editJson: json => json.replace('{', '{"synthetic":false,') }, false],
    ['in-a-trace', false, { editJson: json => json.replace('[{', `[{${label}`) }, false],
    ['broken', false, { editJson: json => json.replace('{', `{${label}`).replace('"alignment"', 'alignment') }, false],
    ['npz', true, { members: [['synthetic', encodeNpyBool(true)]] }, true],
    ['npz-false', false, { members: [['synthetic', encodeNpyBool(false)]] }, true]
  ]
  const dir = t.testdir()
  const traces = randomTraces(new Random('label'), 2, () => 30)
  for (const [name, synthetic, options, npzAlone] of snapshots) {
    const folder = join(dir, name)
    await writeSnapshot(join(folder, 'critic_traces'), traces, options)
    if (npzAlone) rmSync(join(folder, 'critic_traces/index.html'))
    t.match(await cli('study', 'init', folder, '-q'), { code: 0 }, name)
    t.equal((await loadStudy(folder)).study.synthetic, synthetic, name)
    const all = await cli('all', '--study', folder, '--out', join(dir, `${name}-out`), '--no-figures', '--json', '-q', '--threads', '1')
    t.match(JSON.parse(all.stdout), name === 'broken' ? { exit_code: 3 } : { exit_code: 0, synthetic }, `${name}: ${all.stderr}`)
  }
})

t.test('--out elsewhere is a draft alone; an existing manifest stops everything before anything is written', async t => {
  const dir = t.testdir({ in: {}, other: {} })
  const folder = join(dir, 'in')
  usual(folder)
  const before = tree(folder)
  const draft = join(dir, 'other/draft.json')
  const run = await cli('study', 'init', folder, '--out', draft)
  t.equal(run.code, 0, run.stderr)
  t.match(run.stdout, /draft\.json, a draft: its paths are relative to .*in, where study init without --out writes it with a manifest\n$/)
  t.same(tree(folder), before)
  t.equal(
    await refusal(t, folder, '--out', draft),
    `init file exists: draft.json, expected none of this name: nothing is overwritten (${draft})`
  )
  const nowhere = join(dir, 'nowhere/draft.json')
  t.equal(
    await refusal(t, folder, '--out', nowhere),
    `init unwritable: ENOENT no such file or directory, expected a folder that can be written to: ${dirname(nowhere)} (${nowhere})`
  )

  put(folder, 'source_manifest.json', 'mine')
  t.equal(
    await refusal(t, folder),
    'init file exists: source_manifest.json, expected none of this name: nothing is overwritten (DIR/source_manifest.json)'
  )
  t.equal(readFileSync(join(folder, 'source_manifest.json'), 'utf8'), 'mine')

  // In place by another spelling of the path.
  const again = join(dir, 'again')
  usual(again)
  t.match(await cli('study', 'init', again, '--out', join(dir, 'other/../again/study.json'), '-q'), { code: 0 })
  t.ok(existsSync(join(again, 'source_manifest.json')))
  t.equal(readFileSync(join(again, 'study.json'), 'utf8').replace('"name": "again"', '"name": "in"'), readFileSync(draft, 'utf8'))
})

async function sampled(
  text: string | Uint8Array,
  chunk = 1 << 16
): Promise<{ rows: number; unreadable: number; keys: Record<string, unknown> }> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  const sample = emptySample()
  await sampleRows(
    (async function* () {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
    })(),
    sample
  )
  return { rows: sample.rows, unreadable: sample.unreadable, keys: Object.fromEntries(sample.keys) }
}

t.test('rows are looked at tolerantly, at every chunk size alike', async t => {
  const text = [
    '{"a": 1, "b": NaN, "c": -Infinity, "d": "NaN, \\" NaN", "e": [1]}',
    '',
    '{"a": -2.5, "é😀": 7, "f": nan}\r',
    '[1]',
    'null',
    '{"a": 3',
    '{"a": 1e999}',
    '{"x": {"NaN": 1}, "a": 4}'
  ].join('\n')
  const expected = {
    rows: 4,
    unreadable: 3,
    keys: { a: { count: 3, min: -2.5, max: 4 }, 'é😀': { count: 1, min: 7, max: 7 } }
  }
  for (let chunk = 1; chunk <= Buffer.byteLength(text) + 1; chunk++) t.same(await sampled(text, chunk), expected, `chunks of ${chunk}`)
})

t.test('a look ends after 1,000 lines or 16 MiB, and passes over what is too long', async t => {
  t.match(await sampled('{"a": 1}\n'.repeat(1000) + '{"b": 1}\n'), { rows: 1000, keys: { b: undefined } })
  const long = `{"long": "${'x'.repeat(1024 * 1024)}", "b": 1}\n`
  t.same(await sampled(`{"a": 1}\n${long}{"a": 2}\n`), { rows: 2, unreadable: 1, keys: { a: { count: 2, min: 1, max: 2 } } })
  const megabyte = `{"a": 1, "text": "${'x'.repeat(1024 * 1024 - 100)}"}\n`
  const { rows, unreadable } = await sampled(megabyte.repeat(20))
  t.same([rows, unreadable], [16, 0], '16 lines of just less than 1 MiB end within 16 MiB; the 17th is cut')
  const many = await sampled(`{${Array.from({ length: 12_000 }, (_, i) => `"k${i}": 1`).join(',')}}\n`)
  t.equal(Object.keys(many.keys).length, 10_000)
  // Deep nesting and a text without an end.
  t.match(await sampled('['.repeat(1_000_000) + '\n' + '{"a": 1}\n'), { rows: 1, unreadable: 1 })
  t.match(await sampled(`{"a": "${'\\"'.repeat(400_000)}\n{"a": 1}\n`), { rows: 1, unreadable: 1 })
  t.match(await sampled('x'.repeat(40 * 1024 * 1024)), { rows: 0, unreadable: 0 })
})

t.test('names and titles made of texts', t => {
  const taken = new Set<string>()
  t.same(
    ['A/B c', 'a b c', '', '-', '_x', '9', 'é'].map(text => nameLike(text, 'run', taken)),
    ['a-b-c', 'a-b-c-2', 'run', 'run-2', 'x', 'run-9', 'run-3']
  )
  const long = nameLike('y'.repeat(500), 'run', taken)
  t.equal(nameLike('y'.repeat(500), 'run', taken), `${long}-2`)
  const titles = new Set<string>()
  t.same(
    [' a\n\tb ', 'a b', '\u0000', '😀'.repeat(80)].map(text => titleLike(text, 'run', titles)),
    ['a b', 'a b (2)', 'run', `${'😀'.repeat(59)}…`]
  )
  t.end()
})

t.test('rows that the reader refuses are said with file and line, within the lines that are looked at', async t => {
  const dir = t.testdir({})
  const row = (i: number): string => `{"_step": ${i}, "_timestamp": ${1.75e9 + i}, "critic/score/mean": 0.5}\n`
  const rows = (count: number): string => Array.from({ length: count }, (_, i) => row(i)).join('')
  exportsIn(dir, [
    { id: 'fine', displayName: 'fine', rows: rows(20) },
    { id: 'half', displayName: 'half', rows: `${rows(2)}{"_step": 2.5}\n${row(3)}` },
    { id: 'nan', displayName: 'bare', rows: `${rows(3)}{"_step": 3, "critic/score/mean": nan}\n` },
    { id: 'cut', displayName: 'cut', rows: `${rows(4)}{"_step": 4, "critic/sc` },
    { id: 'far', displayName: 'far', rows: `${rows(1000)}{"_step": 1000.5}\n` }
  ])
  const run = await cli('study', 'init', dir, '--json')
  t.equal(run.code, 0, run.stderr)
  const { refused } = JSON.parse(run.stdout)
  t.same(
    refused.map((line: string) => line.replace(/, expected.*/, '')),
    [
      'wandb/history/x/half.jsonl: wrong step (2.5 as "_step" on line 3)',
      'wandb/history/x/nan.jsonl: malformed ("nan" on line 4)',
      'wandb/history/x/cut.jsonl: truncated (the end of the file on line 5)'
    ],
    'line 1,001 is behind those that are looked at'
  )
  const again = t.testdir({})
  exportsIn(again, [{ id: 'nan', displayName: 'bare', rows: `${rows(3)}{"_step": 3, "critic/score/mean": nan}\n` }])
  t.match(
    (await cli('study', 'init', again)).stdout,
    /^to be mended before the study runs: wandb\/history\/x\/nan\.jsonl: malformed \("nan" on line 4\)$/m
  )
})
