/** Training histories through the command line: outputs worked out by hand, one line for what is wrong. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { measureHistories } from '../src/historyRun.js'
import { loadStudy } from '../src/ingest/study.js'
import { OutputSet } from '../src/render/outputs/output-set.js'
import { runCli } from './support/cli.js'
import { parseCsv } from './support/csv-parse.js'
import { RUNS, STUDY, writeHistoryStudy, writeManifest, type FolderOptions } from './support/history-folder.js'
import { schemaProblems } from './support/json-schema.js'
import { root } from './support/paths.js'
import { hashes } from './support/run.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-histories-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))
let folders = 0

function folder(options: FolderOptions = {}): { dir: string; out: string } {
  const dir = join(work, `study${folders}`)
  const out = join(work, `out${folders++}`)
  writeHistoryStudy(dir, options)
  return { dir, out }
}

const all = ({ dir, out }: { dir: string; out: string }, ...more: string[]) => runCli(['all', '--study', dir, '--out', out, ...more])

function table(path: string): Array<Record<string, string | null>> {
  const [head, ...rows] = parseCsv(readFileSync(path, 'utf8'))
  return rows.map(row => Object.fromEntries(head.map((name, i) => [name ?? '', row[i]])))
}

t.test('a study of histories alone: what is kept, what is superseded, what is drawn', async t => {
  const place = folder()
  const run = await all(place)
  t.match(run, { code: 0 }, run.stderr)
  const brief = (rows: Array<Record<string, string | null>>, ...names: string[]): string[] => rows.map(row => names.map(n => row[n] ?? '-').join(' '))

  t.strictSame(brief(table(join(place.out, 'wandb/kept.csv')), 'selection', 'metric', 'step', 'value', 'run', 'global_step', 'elapsed_hours', 'display_hours'), [
    'ref reward 0 0.5 ref - 0 0',
    'ref reward 1 0.75 ref - 1 1',
    'ref score 0 0.25 ref - 0 0',
    'target reward 1 0.25 first 0 0.5 0.25',
    'target reward 2 0.5 second - 3 1.5',
    // Python: (1767240000.5 - 1767225600) / 3600 is 4.0001388888888885
    'target reward 3 0.625 second - 4.0001388888888885 2.0000694444444442',
    'target reward 4 1e-7 second - 5 2.5',
    'target score 2 0.5 first 1 1 0.5',
    'target score 4 0.75 second - 5 2.5'
  ])
  t.strictSame(brief(table(join(place.out, 'wandb/all.csv')).filter(r => r['kept'] === '0'), 'metric', 'step', 'run', 'superseded_by_run', 'restart_step', 'reason'), [
    'reward 2 first second 2 replaced', 'reward 3 first second 2 rolled back'
  ])
  t.strictSame(brief(table(join(place.out, 'wandb/lineage.csv')), 'selection', 'metric', 'step', 'run', 'kept').filter(r => r.startsWith('target reward')), [
    'target reward 1 first 1', 'target reward 2 first 0', 'target reward 3 first 0', 'target reward 2 second 1', 'target reward 3 second 1', 'target reward 4 second 1'
  ])
  t.strictSame(brief(table(join(place.out, 'wandb/points.csv')).filter(r => r['algorithm'] === 'target'), 'view', 'metric', 'x', 'value', 'source_run', 'source_step', 'provenance', 'trailing_mean'), [
    'step reward 0 0.5 ref 0 borrowed_ref 0.5',
    'step reward 1 0.25 first 1 observed 0.375',
    'step reward 2 0.5 second 2 observed 0.375',
    'step reward 3 0.625 second 3 observed 0.5625',
    'step reward 4 1e-7 second 4 observed 0.31250005',
    'step score 0 0.25 ref 0 borrowed_ref -',
    'step score 2 0.5 first 2 observed -',
    'step score 4 0.75 second 4 observed -',
    'time reward 0 0.5 ref 0 borrowed_ref 0.5',
    'time reward 0.25 0.25 first 1 observed 0.375',
    'time reward 0.5 0.375 first 2 observed 0.3125',
    'time reward 0.75 0.125 first 3 observed 0.25',
    'time reward 1.5 0.5 second 2 observed 0.3125',
    'time reward 2.0000694444444442 0.625 second 3 observed 0.5625',
    'time reward 2.5 1e-7 second 4 observed 0.31250005',
    'time score 0 0.25 ref 0 borrowed_ref -',
    'time score 0.5 0.5 first 2 observed -',
    'time score 2.5 0.75 second 4 observed -'
  ])

  const statistics = JSON.parse(readFileSync(join(place.out, 'wandb/both.json'), 'utf8'))
  const { target } = statistics.selections
  t.match(target.metrics.score, { observations: 2, all_attempts: 2, non_finite: { NaN: 1 }, nulls: 1, not_numbers: 0 })
  t.strictSame(target.metrics.reward.first, { mean: 0.375, count: 2, steps: [1, 2] })
  t.strictSame(target.metrics.reward.last, { mean: 0.31250005, count: 2, steps: [3, 4] })
  t.match(target.metrics.score.best, { step: 4, value: 0.75, run: 'second', elapsed_hours: 5, display_hours: 2.5, previous: { step: 2 } })
  t.match(target.thresholds.half, { step: 2, value: 0.5, run: 'first', previous: null })
  t.strictSame(target.rollbacks, [{ run: 'second', steps: [2, 3] }])
  t.strictSame(target.sessions.map((s: { run: string; created_at: string }) => `${s.run} ${s.created_at}`), [
    'first 2026-01-01T00:00:00Z', 'second 2026-01-01T02:00:00'
  ])
  t.strictSame(statistics.excluded_runs, [
    { run: 'aside', display_name: 'target-node', reason: 'companion' }, { run: 'other', display_name: 'targets', reason: 'other display name' }
  ])
  t.strictSame(readdirSync(join(place.out, 'figures')), ['03-both.pdf', '03-both.png', '03-both.svg'])
  t.match(run.stdout, /Target: 2 sessions, 7 rows, went back once/)
})

t.test('documents follow their schemas, and every null has its reason', async t => {
  const place = folder()
  t.match(await all(place, '--no-figures'), { code: 0 })
  for (const [name, path] of [['history-statistics', 'wandb/both.json'], ['history-time-display', 'time_display.json']]) {
    const schema: unknown = JSON.parse(readFileSync(join(root, `docs/schemas/${name}.schema.json`), 'utf8'))
    const document = JSON.parse(readFileSync(join(place.out, path), 'utf8'))
    t.strictSame(schemaProblems(schema, document), [], name)
    t.not(schemaProblems(schema, { ...document, extra: 1 }).length, 0)
    for (const key of Object.keys(document)) {
      const { [key]: _, ...without } = document
      t.not(schemaProblems(schema, without).length, 0, `${name} without ${key} is not valid`)
    }
  }
  const statistics = JSON.parse(readFileSync(join(place.out, 'wandb/both.json'), 'utf8'))
  const nulls: string[] = []
  const walk = (value: unknown, pointer: string): void => {
    if (value === null) nulls.push(pointer)
    else if (typeof value === 'object') for (const [key, inner] of Object.entries(value as object)) walk(inner, `${pointer}/${key}`)
  }
  walk(statistics.selections, '/selections')
  const unexplained = nulls.filter(pointer => !(pointer in statistics.undefined_reasons) && !/\/(looks_sampled|config\/.*)$/.test(pointer))
  t.strictSame(unexplained, [])
  t.ok(nulls.length > 0)
})

interface ArrowTable {
  readonly numRows: number
  readonly schema: { readonly metadata: ReadonlyMap<string, string> }
  getChild(name: string): { get(i: number): unknown } | null
}

t.test('the Arrow file holds the lineage table', async t => {
  const place = folder()
  t.match(await all(place, '--no-figures'), { code: 0 })
  const arrow = createRequire(import.meta.url)('apache-arrow/Arrow.esnext.min') as { tableFromIPC(bytes: Uint8Array): ArrowTable }
  const file = readFileSync(join(place.out, 'wandb/observations.arrow'))
  const lineage = table(join(place.out, 'wandb/lineage.csv'))
  for (const bytes of [file, file.subarray(8)]) {
    const observations = arrow.tableFromIPC(bytes)
    t.equal(observations.numRows, lineage.length)
    t.strictSame(Object.fromEntries(observations.schema.metadata), {
      schema: 'history-observations', schema_version: '1', synthetic: 'false', generator: 'critic-traces 0.1.0'
    })
    for (const [i, row] of lineage.entries()) {
      for (const name of ['selection', 'metric', 'step', 'run', 'session', 'superseded_by_session', 'superseded_by_run', 'restart_step', 'reason']) {
        const cell = observations.getChild(name)?.get(i)
        t.equal(cell === null ? null : String(cell), row[name], `${name} of row ${i}`)
      }
      t.equal(observations.getChild('kept')?.get(i), row['kept'] === '1')
    }
  }
})

t.test('the same bytes at any chunk size', async t => {
  const { dir } = folder()
  const { study } = await loadStudy(dir)
  if (study.histories === null) throw new Error('no histories')
  const found: unknown[] = []
  for (const chunkBytes of [1, 2, 3, 7, 64, 65536]) {
    const out = join(work, `chunks${chunkBytes}`)
    const set = await OutputSet.open(out)
    await measureHistories(set, { dir, study: study.histories, synthetic: false, chunkBytes })
    await set.commit()
    found.push(hashes(out))
  }
  for (const other of found.slice(1)) t.strictSame(other, found[0])
})

t.test('what is wrong is one line with its place, and nothing is written', async t => {
  const edited = (id: string, edit: (lines: readonly string[]) => readonly string[]): FolderOptions => ({
    runs: RUNS.map(run => (run.id === id ? { ...run, lines: edit(run.lines ?? []) } : run))
  })
  const listed = (edit: (entry: Record<string, unknown>) => object): FolderOptions => ({
    list: JSON.stringify(RUNS.map(({ id, displayName, createdAt }) => edit({ id, displayName, createdAt, label: 'runs', config: {} })))
  })
  const histories = (change: object): FolderOptions => ({ study: { ...STUDY, histories: { ...STUDY.histories, ...change } } })
  const cases: ReadonlyArray<readonly [string, FolderOptions, number, RegExp]> = [
    ['a truncated last line', edited('first', lines => [...lines.slice(0, 3), '{"_step": 3, "rew']), 3, /^critic-traces: .*line 4.*first\.jsonl.*byte \d+/],
    ['a bare nan', edited('first', lines => [...lines.slice(0, 3), '{"_step": 3, "reward": nan}']), 3, /line 4/],
    ['a fractional step', edited('first', lines => ['{"_step": 0.5}', ...lines]), 3, /0\.5.*line 1|line 1.*0\.5/],
    ['a missing history', { runs: RUNS.map(run => (run.id === 'second' ? { ...run, lines: null } : run)) }, 3, /missing.*second\.jsonl/],
    ['createdAt that is no time', listed(entry => ({ ...entry, createdAt: 'yesterday' })), 3, /createdAt.*yesterday.*runs\.json/],
    ['a run listed twice', { list: JSON.stringify([...RUNS, RUNS[0]].map(({ id, displayName, createdAt }) => ({ id, displayName, createdAt, label: 'runs', config: {} }))) }, 3, /second.*runs\.json/],
    ['a run id that climbs', listed(entry => ({ ...entry, id: `../${String(entry['id'])}` })), 3, /\.\.\/.*runs\.json/],
    ['a selection without runs', histories({ selections: [STUDY.histories.selections[0], { ...STUDY.histories.selections[1], display_name: 'targt' }] }), 3, /targt.*target/],
    ['a metric that is not defined', histories({ analyses: [{ ...STUDY.histories.analyses[0], metrics: ['reward', 'scores'] }] }), 3, /histories\.analyses\[0\]\.metrics\[1\].*scores.*score/],
    ['a key that is no text', histories({ metrics: [{ ...STUDY.histories.metrics[0], key: 7 }, STUDY.histories.metrics[1]] }), 3, /histories\.metrics\[0\]\.key is 7/]
  ]
  for (const [what, options, code, message] of cases) {
    const place = folder(options)
    const run = await all(place, '--quiet')
    t.equal(run.code, code, `${what}: ${run.stderr}`)
    t.match(run.stderr, message, what)
    t.equal(run.stderr.trimEnd().split('\n').length, 1, `${what}: one line`)
    t.strictSame(readdirSync(work).includes(place.out), false, `${what}: nothing written`)
  }
})

t.test('a history that is not the one that the manifest lists', async t => {
  const place = folder()
  const path = join(place.dir, 'wandb/history/runs/ref.jsonl')
  writeFileSync(path, readFileSync(path, 'utf8').replace('0.75', '0.76'))
  const run = await all(place, '--quiet')
  t.equal(run.code, 1)
  t.match(run.stderr, /manifest .*ref\.jsonl/)
})

t.test('odd input is counted and told, not dropped', async t => {
  const rows500 = Array.from({ length: 500 }, (_, i) => `{"_step": ${i * 3}, "_timestamp": ${1767312000.5 + i}, "reward": 0.5}`)
  const place = folder({
    runs: RUNS.map(run => {
      if (run.id === 'ref') return { ...run, lines: rows500 }
      if (run.id !== 'first') return run
      return { ...run, lines: ['{"_step": 1, "_timestamp": 1767225599, "reward": 0.25}', '{"_step": 2, "reward": "Infinity"}', '{"_step": 2, "reward": 0.5}'] }
    })
  })
  const run = await all(place, '--no-figures')
  t.match(run, { code: 0 }, run.stderr)
  t.match(run.stdout, /500 rows/, 'looks sampled')
  t.match(run.stdout, /Infinity 1/, 'not finite')
  const { selections } = JSON.parse(readFileSync(join(place.out, 'wandb/both.json'), 'utf8'))
  t.match(selections.target.sessions[0], { rows: 2, rows_before_creation: 1, rows_without_timestamp: 1 })
  t.match(selections.target.sessions[1], { run: 'first', rows: 1, first_step: 2 }, 'a duplicate step starts a session')
  t.type(selections.ref.sessions[0].looks_sampled, 'string')
  writeManifest(place.dir)
})

t.test('an empty history is a session without rows', async t => {
  const place = folder({ runs: RUNS.map(run => (run.id === 'second' ? { ...run, lines: [] } : run)) })
  const run = await all(place, '--no-figures')
  t.match(run, { code: 0 }, run.stderr)
  const { selections } = JSON.parse(readFileSync(join(place.out, 'wandb/both.json'), 'utf8'))
  t.match(selections.target, { rows: 4, rollbacks: [] })
  t.match(selections.target.sessions[1], { run: 'second', rows: 0, first_step: null })
})
