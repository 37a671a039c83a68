/** From a project to figures in three commands: fetch, all, look. And which runs come, with a study or without one. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runCli } from '../support/cli.js'
import { contents, tree } from '../support/folders.js'
import { start, type Emulator, type EmulatorOptions } from '../support/wandb/emulator.js'
import type { EmulatedRun } from '../support/wandb/store.js'
import { CANARY, fetchInto, run, upTo } from '../support/wandb/study.js'

const INTO = { entity: 'team', project: 'project', names: ['gspo', 'sao r7'] }

function rowsOf(steps: readonly number[], score: (step: number) => number): string[] {
  return steps.map(
    step =>
      `{"_step": ${step}, "_timestamp": ${1786256585 + 60 * step}.5, "critic/score/mean": ${score(step)}, "note": "x", ` +
      `"rollout/table": {"_type": "table-file", "nrows": 2}, "done": false}`
  )
}

const RUNS: readonly EmulatedRun[] = [
  run('g1', 'gspo', [], { rows: rowsOf(upTo(120), step => step / 1000) }),
  run('s1', 'sao r7', [], { rows: rowsOf(upTo(60), step => step / 500), createdAt: '2026-08-10T00:00:00Z' }),
  run('s2', 'sao r7', [], { rows: rowsOf([61, 62, 64], () => 0.25), createdAt: '2026-08-11T00:00:00Z' }),
  run('x1', 'gspo-trainnode', upTo(2)),
  run('x2', 'other', upTo(2))
]

async function served(test: Test, options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  const emulator = await start({ key: CANARY, runs: [...RUNS], ...options })
  test.teardown(() => emulator.close())
  return emulator
}

interface Statistics {
  readonly selections: Readonly<Record<string, { readonly metrics: Readonly<Record<string, { readonly observations: number }>> }>>
}

function statisticsIn(out: string): Statistics {
  return JSON.parse(readFileSync(join(out, 'wandb/training-statistics.json'), 'utf8')) as Statistics
}

function studyIn(dir: string): { readonly [field: string]: unknown; readonly fetch: unknown; readonly histories: unknown } {
  return JSON.parse(readFileSync(join(dir, 'study.json'), 'utf8')) as ReturnType<typeof studyIn>
}

t.test('three commands from a project to figures', async t => {
  const emulator = await served(t)
  const base = t.testdir()
  const [dir, out] = [join(base, 'runs'), join(base, 'out')]
  const env = { WANDB_API_KEY: CANARY, WANDB_BASE_URL: emulator.url }
  const fetched = await runCli(['fetch', 'team/project', 'gspo', 'sao r7', '--into', dir], { env })
  t.equal(fetched.code, 0, fetched.stderr)
  t.match(fetched.stdout, /^left out of the rows of 3 runs: 185 objects \(media, histograms, nested values\), 185 texts, 185 flags$/m)
  t.match(fetched.stdout, /^wrote wandb\/runs\.json, study\.json, source_manifest\.json$/m)
  t.match(fetched.stdout, `next: node dist/run.js all --study ${dir}\n`)
  t.match(studyIn(dir).fetch, {
    runs: [
      { label: 'gspo', entity: 'team', project: 'project', display_name: 'gspo' },
      { label: 'sao-r7', entity: 'team', project: 'project', display_name: 'sao r7' }
    ]
  })
  t.same(
    (JSON.parse(readFileSync(join(dir, 'source_manifest.json'), 'utf8')) as { files: { path: string; role: string }[] }).files.map(
      ({ path, role }) => `${role} ${path}`
    ),
    [
      'study study.json',
      'certificate wandb/history/gspo/g1.certificate.json',
      'history wandb/history/gspo/g1.jsonl',
      'certificate wandb/history/sao-r7/s1.certificate.json',
      'history wandb/history/sao-r7/s1.jsonl',
      'certificate wandb/history/sao-r7/s2.certificate.json',
      'history wandb/history/sao-r7/s2.jsonl',
      'runs wandb/runs.json'
    ]
  )

  const all = await runCli(['all', '--study', dir, '--out', out, '--formats', 'png'])
  t.same([all.code, all.stderr.split('\n').filter(line => line.startsWith('critic-traces:'))], [0, []])
  t.match(all.stdout, /certificates: 3 of 3 histories whole, 185 rows/)
  t.match(all.stdout, /between its rows 1 step is missing \(63\)/, 'a hole is noted')

  const figures = tree(out).filter(path => path.endsWith('.png'))
  t.same(figures, ['figures/01-training-by-step.png', 'figures/02-training-over-time.png'])
  for (const path of figures) t.same([...readFileSync(join(out, path)).subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47])
  t.match(statisticsIn(out), {
    selections: { gspo: { metrics: { reward: { observations: 121 } } }, 'sao-r7': { metrics: { reward: { observations: 64 } } } }
  })

  // The same command again, and the study's own fetch, find nothing to do; the study stays.
  const before = contents(dir)
  const again = await runCli(['fetch', 'team/project', 'gspo', 'sao r7', '--into', dir], { env })
  t.match(again, { code: 0, stdout: /^nothing changed$/m })
  t.match(await runCli(['fetch', '--study', dir], { env }), { code: 0, stdout: /^nothing changed$/m })
  t.same(contents(dir), before)
  const others = await runCli(['fetch', 'team/project', 'other', '--into', dir], { env })
  t.match(others, {
    code: 2,
    stderr: /^critic-traces: usage study exists: study\.json, which fetches other runs, expected fetch --study /m
  })
  t.same(contents(dir), before)
})

t.test("a study with fetch alone: the first fetch drafts its histories, the author's text stays", async t => {
  const emulator = await served(t)
  const base = t.testdir()
  const [dir, out] = [join(base, 'study'), join(base, 'out')]
  mkdirSync(dir)
  const written =
    '{ "schema_version": 1,\n  "name": "mine", "// why": "a {comment}",\n' +
    '  "fetch": { "runs": [{ "label": "g", "entity": "team", "project": "project", "display_name": "gspo" }] }\n}\n'
  writeFileSync(join(dir, 'study.json'), written)
  const early = await runCli(['all', '--study', dir, '--out', out])
  t.match(early, {
    code: 3,
    stderr: /^critic-traces: study nothing fetched yet: fetch alone, expected histories, which "node dist\/run\.js fetch --study/m
  })
  const result = await fetchInto(dir, emulator.url)
  t.equal(result.code, 0, result.fault?.message ?? 'fetched')
  const text = readFileSync(join(dir, 'study.json'), 'utf8')
  t.ok(text.startsWith(written.slice(0, written.lastIndexOf('}')).trimEnd()))
  t.match(studyIn(dir), { name: 'mine', fetch: { runs: [{ label: 'g' }] }, histories: { runs: 'wandb/runs.json' } })
  const all = await runCli(['all', '--study', dir, '--out', out, '--formats', 'svg', '--quiet'])
  t.same([all.code, all.stderr], [0, ''])
  t.match(statisticsIn(out), { selections: { gspo: { metrics: { reward: { observations: 121 } } } } })
})

t.test('runs chosen by id: in a draft they stay chosen, with a study they are chosen once', async t => {
  const emulator = await served(t)
  const base = t.testdir()
  const dir = join(base, 'draft')
  const ids = (folder: string): string[] => tree(join(folder, 'wandb/history')).filter(path => path.endsWith('.jsonl'))
  t.match(await fetchInto(dir, emulator.url, { into: INTO, notIds: ['s2'] }), {
    code: 0,
    stdout: /^not fetched, as their ids say: s2$/m
  })
  t.same(ids(dir), ['gspo/g1.jsonl', 'sao-r7/s1.jsonl'])
  t.match(studyIn(dir).fetch, { runs: [{ display_name: 'gspo' }, { display_name: 'sao r7', not_ids: ['s2'] }] })
  t.notMatch(readFileSync(join(dir, 'wandb/runs.json'), 'utf8'), '"s2"')
  // A later fetch of the study keeps to it.
  t.match(await fetchInto(dir, emulator.url), { code: 0, report: { runs: [{ id: 'g1' }, { id: 's1' }] } })
  t.same(ids(dir), ['gspo/g1.jsonl', 'sao-r7/s1.jsonl'])
  const checked = await runCli(['verify', '--study', dir])
  t.match(checked, { code: 0, stdout: /certificates: 2 of 2 histories whole/ })

  const one = join(base, 'one')
  t.match(await fetchInto(one, emulator.url, { into: { ...INTO, names: [] }, ids: ['s1'] }), { code: 0, report: { runs: [{ id: 's1' }] } })
  t.match(studyIn(one).fetch, { runs: [{ label: 'sao-r7', display_name: 'sao r7', ids: ['s1'] }] })

  const study = join(base, 'study')
  t.equal((await fetchInto(study, emulator.url, { into: INTO })).code, 0)
  emulator.store.grow('g1', 1)
  emulator.store.grow('s1', 1)
  const restricted = await fetchInto(study, emulator.url, { ids: ['g1'] })
  t.match(restricted, { code: 0, stdout: /^not asked for this time: s1, s2$/m, report: { runs: [{ id: 'g1', rows: 122 }] } })
  t.same(
    (JSON.parse(readFileSync(join(study, 'wandb/runs.json'), 'utf8')) as { id: string }[]).map(({ id }) => id),
    ['g1', 'x1', 'x2', 's1', 's2'],
    'the others stay listed'
  )
  t.match(await runCli(['verify', '--study', study]), { code: 0 })
  const unknown = await fetchInto(study, emulator.url, { ids: ['zz'] })
  t.match(unknown, { code: 2, fault: { message: /^usage unknown run: zz is none of 3 selected runs, expected the id of a run/ } })
})

t.test('a run that cannot be fetched is named; the draft is of the others and runs', async t => {
  const emulator = await served(t, {
    script: [{ operation: 'History', variables: { run: 's1' }, times: 1, then: { kind: 'status', status: 422 } }]
  })
  const base = t.testdir()
  const dir = join(base, 'draft')
  const result = await fetchInto(dir, emulator.url, { into: INTO })
  t.equal(result.code, 3)
  t.equal(result.stderr.split('\n').filter(line => line.startsWith('critic-traces:')).length, 1)
  t.match(
    result.stderr,
    /^critic-traces: wandb request failed: HTTP 422 .*, expected HTTP 200 \(http.*, steps 0 to 60 of run s1 of team\/project\)$/m
  )
  t.match(result.stdout, /^stopped: s1 of team\/project, request failed; the next fetch asks for it again$/m)
  const out = join(base, 'out')
  const all = await runCli(['all', '--study', dir, '--out', out, '--no-figures', '--quiet'])
  t.same([all.code, all.stderr], [0, ''])
  t.match(statisticsIn(out), { selections: { 'sao-r7': { metrics: { reward: { observations: 3 } } } } })
  t.match(await fetchInto(dir, emulator.url), { code: 0, report: { runs: [{ id: 'g1' }, { id: 's1' }, { id: 's2' }], stopped: [] } })
  t.notOk(tree(dir).some(path => path.includes('partial')))
  t.match(await runCli(['verify', '--study', dir]), { code: 0, stdout: /certificates: 3 of 3 histories whole/ })
})

t.test('a name of which no run came: a later fetch says that no selection takes it, and how to draft anew', async t => {
  const emulator = await served(t, {
    script: [{ operation: 'History', variables: { run: 'g1' }, times: 1, then: { kind: 'status', status: 422 } }]
  })
  const dir = join(t.testdir(), 'draft')
  t.match(await fetchInto(dir, emulator.url, { into: INTO }), { code: 3, report: { runs: [{ id: 's1' }, { id: 's2' }], unselected: [] } })
  const later = await fetchInto(dir, emulator.url)
  t.match(later, {
    code: 0,
    stdout: /^in no selection of the study: "gspo"; add one to histories\.selections, or remove histories from study\.json/m
  })
  const { histories: _histories, ...rest } = studyIn(dir)
  writeFileSync(join(dir, 'study.json'), JSON.stringify(rest))
  t.match(await fetchInto(dir, emulator.url), { code: 0, report: { drafted: true, unselected: [] } })
  t.match(studyIn(dir).histories, { selections: [{ display_name: 'gspo' }, { display_name: 'sao r7' }] })
  t.match(await runCli(['verify', '--study', dir]), { code: 0 })
})

t.test('no run can be fetched: no study is drafted, and the same fetch goes on later', async t => {
  const emulator = await served(t, { script: [{ operation: 'History', then: { kind: 'status', status: 400 } }] })
  const dir = join(t.testdir(), 'draft')
  t.match(await fetchInto(dir, emulator.url, { into: INTO }), { code: 3, report: { runs: [], stopped: [{}, {}, {}], drafted: false } })
  t.notOk(existsSync(join(dir, 'study.json')))
  emulator.setScript([])
  t.match(await fetchInto(dir, emulator.url, { into: INTO }), { code: 0, report: { drafted: true } })
})

t.test('the manifest takes over what the fetch wrote and nothing else', async t => {
  const emulator = await served(t)
  const dir = join(t.testdir(), 'draft')
  mkdirSync(dir)
  writeFileSync(join(dir, 'notes.txt'), 'first')
  t.equal((await fetchInto(dir, emulator.url, { into: INTO })).code, 0)
  t.match(await runCli(['verify', '--study', dir]), { code: 0 })
  writeFileSync(join(dir, 'notes.txt'), 'other')
  emulator.store.grow('g1', 2)
  t.match(await fetchInto(dir, emulator.url), { code: 0, report: { written: ['source_manifest.json'] } })
  const checked = await runCli(['verify', '--study', dir])
  t.equal(checked.code, 1)
  t.match(checked.stderr, /^critic-traces: manifest file differs: .*notes\.txt\)$/m)
  t.notMatch(checked.stderr, /jsonl|runs\.json/)
})
