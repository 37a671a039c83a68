/** `all` run again, and `manifest`: what is computed once, what is told, what is written. */
import { createHash } from 'node:crypto'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import t from 'tap'
import { defaultCacheDir, ensureReplica } from '../src/replica/index.js'
import { runCli, type CliResult } from './support/cli.js'
import { unprefixed } from './support/csv-tables.js'
import { tree } from './support/folders.js'
import { STUDY, writeHistoryStudy } from './support/history-folder.js'
import { schemaProblems } from './support/json-schema.js'
import { root } from './support/paths.js'
import { inflatePdf } from './support/pdf-text.js'
import { hashes } from './support/run.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-all-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))
let folders = 0

function place(): { dir: string; out: string } {
  const dir = join(work, `study${folders}`)
  writeHistoryStudy(dir)
  return { dir, out: join(work, `out${folders++}`) }
}

const all = ({ dir, out }: { dir: string; out: string }, ...more: string[]): Promise<CliResult> =>
  runCli(['all', '--study', dir, '--out', out, '--no-figures', ...more])

function withoutTimings(out: string): Record<string, string> {
  const { 'timings.json': timings, ...rest } = hashes(out)
  if (timings === undefined) throw new Error('no timings.json')
  return rest
}

t.test('a second run with nothing changed computes nothing', async t => {
  const study = place()
  t.match(await all(study), { code: 0 })
  const first = withoutTimings(study.out)
  const written = statSync(join(study.out, 'wandb/both.json')).mtimeMs
  const again = await all(study, '--json')
  t.match(again, { code: 0 })
  t.match(JSON.parse(again.stdout), { unchanged: true })
  t.equal(statSync(join(study.out, 'wandb/both.json')).mtimeMs, written)
  const timings = JSON.parse(readFileSync(join(study.out, 'timings.json'), 'utf8'))
  t.match(timings, { schema: 'timings', synthetic: false, unchanged: true })
  t.strictSame(schemaProblems(JSON.parse(readFileSync(join(root, 'docs/schemas/timings.schema.json'), 'utf8')), timings), [])
  t.match(JSON.parse((await all(study, '--json', '--no-cache')).stdout), { unchanged: false })
  t.strictSame(withoutTimings(study.out), first)
  const record = JSON.parse(readFileSync(join(study.out, 'run.json'), 'utf8'))
  t.strictSame(schemaProblems(JSON.parse(readFileSync(join(root, 'docs/schemas/run.schema.json'), 'utf8')), record), [])
  t.match(record, { versions: { node: process.versions.node, 'chart.js': '4.6.1' } })
  t.strictSame(record.inputs.map((f: { path: string }) => f.path).sort(), [
    'study.json',
    'wandb/history/runs/first.jsonl',
    'wandb/history/runs/ref.jsonl',
    'wandb/history/runs/second.jsonl',
    'wandb/runs.json'
  ])
})

t.test('a file that the manifest excludes is not read', async t => {
  const study = place()
  const path = join(study.dir, 'source_manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  for (const [name, hint] of [
    ['wandb/history/runs/ref.jsonl', ' in the manifest'],
    ['wandb/runs.json', ' (manifest --write gives it one)']
  ]) {
    const files = manifest.files.map((f: { path: string }) => (f.path === name ? { ...f, role: 'excluded' } : f))
    writeFileSync(path, JSON.stringify({ ...manifest, files }))
    const { code, stderr } = await all(study)
    t.equal(code, 1)
    t.match(
      stderr,
      `critic-traces: manifest excluded file read: the role "excluded", expected another role${hint}, or a study that does not read the file (${join(study.dir, name)})\n`
    )
    t.notOk(existsSync(study.out), 'nothing was written')
  }
  // A manifest that is made anew gives it the role that the study does.
  const made = await runCli(['manifest', '--study', study.dir, '--write'])
  t.match(made, { code: 0, stdout: /^not excluded any more +wandb\/runs\.json$/m })
  t.match(await all(study), { code: 0 })
  const roles = new Map(JSON.parse(readFileSync(path, 'utf8')).files.map((f: { path: string; role: string }) => [f.path, f.role]))
  t.same([roles.get('wandb/runs.json'), roles.get('wandb/history/runs/second.jsonl')], ['runs', 'input'], 'the others keep theirs')
})

t.test('a path of the study is one file however it is written', async t => {
  const study = place()
  t.match(await all(study), { code: 0 })
  const { 'run.json': _record, ...first } = withoutTimings(study.out)
  const path = join(study.dir, 'study.json')
  const plain = readFileSync(path, 'utf8')
  const changed = plain.replace('"wandb/runs.json"', '"./wandb//runs.json"').replace('"wandb/history"', '"wandb/./history/"')
  t.not(changed, plain)
  writeFileSync(path, changed)
  rmSync(join(study.dir, 'source_manifest.json'))
  t.match(await runCli(['manifest', '--study', study.dir, '--write']), { code: 0 })
  const roles = JSON.parse(readFileSync(join(study.dir, 'source_manifest.json'), 'utf8')).files.map((f: { role: string }) => f.role)
  t.strictSame(new Set(roles), new Set(['study', 'history', 'runs']))
  t.match(await all(study, '-q'), { code: 0, stderr: '' }, 'and it is listed')
  t.strictSame(Object.keys(withoutTimings(study.out)).sort(), [...Object.keys(first), 'run.json'].sort())
})

t.test('outputs do not go into the study, by no way', async t => {
  const study = place()
  const link = join(work, 'link')
  symlinkSync(study.dir, link)
  for (const [dir, out] of [
    [study.dir, join(study.dir, 'out')],
    [study.dir, join(link, 'new/out')],
    [link, join(study.dir, 'out')],
    [link, study.dir]
  ]) {
    t.match(await all({ dir, out }), { code: 2, stderr: /^critic-traces: usage output inside the study: / }, out)
    t.match(await runCli(['audit', '--study', dir, '--out', out]), { code: 2, stderr: /output inside the study/ }, `audit ${out}`)
  }
  t.match(await all({ dir: link, out: study.out }), { code: 0 })
  t.match(await runCli(['verify', '--study', study.dir]), { code: 0 })
})

t.test('anything that changed is computed again', async t => {
  const study = place()
  t.match(await all(study), { code: 0 })
  const first = withoutTimings(study.out)
  const changes: ReadonlyArray<readonly [string, () => unknown]> = [
    ['an output with other bytes', () => appendFileSync(join(study.out, 'wandb/both.json'), ' ')],
    [
      'an output that is gone',
      () => {
        rmSync(join(study.out, 'wandb/lineage.csv'))
      }
    ],
    [
      'a record of another program',
      () => {
        const path = join(study.out, 'run.json')
        writeFileSync(path, readFileSync(path, 'utf8').replace(/"version": "[^"]*"/, '"version": "0.0.0"'))
      }
    ],
    [
      'a record of another library',
      () => {
        const path = join(study.out, 'run.json')
        writeFileSync(path, readFileSync(path, 'utf8').replace(/"chart.js": "[^"]*"/, '"chart.js": "0.0.0"'))
      }
    ],
    ...Object.entries({ synthetic: true, inputs: [], manifest: null, more: 1 }).map(([field, value]): [string, () => unknown] => [
      `a record with another ${field}`,
      () => {
        const path = join(study.out, 'run.json')
        writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), [field]: value }))
      }
    ]),
    [
      'a record without outputs',
      () => {
        const path = join(study.out, 'run.json')
        writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), outputs: [] }))
      }
    ],
    [
      'a description of a CSV that is gone',
      () => {
        rmSync(join(study.out, 'wandb/lineage.csv-metadata.json'))
      }
    ],
    [
      'no record',
      () => {
        rmSync(join(study.out, 'run.json'))
      }
    ]
  ]
  for (const [what, change] of changes) {
    change()
    t.match(JSON.parse((await all(study, '--json')).stdout), { unchanged: false }, what)
    t.strictSame(withoutTimings(study.out), first, `${what}: the same bytes again`)
  }
  t.match(JSON.parse((await all(study, '--json')).stdout), { unchanged: true }, 'and then no more')
})

t.test('every output names the manifest that its inputs were verified against', async t => {
  const study = place()
  t.match(await all(study), { code: 0 })
  const manifest = readFileSync(join(study.dir, 'source_manifest.json'))
  const sha256 = createHash('sha256').update(manifest).digest('hex')
  const documents = tree(study.out).filter(path => path.endsWith('.json'))
  t.strictSame(documents, [
    'figure_constants.json',
    'run.json',
    'time_display.json',
    'timings.json',
    'wandb/all.csv-metadata.json',
    'wandb/both.json',
    'wandb/kept.csv-metadata.json',
    'wandb/lineage.csv-metadata.json',
    'wandb/points.csv-metadata.json'
  ])
  for (const path of documents) {
    const written = JSON.parse(readFileSync(join(study.out, path), 'utf8'))
    const document = unprefixed(written)
    t.strictSame(
      schemaProblems(JSON.parse(readFileSync(join(root, `docs/schemas/${document['schema']}.schema.json`), 'utf8')), written),
      [],
      path
    )
    const [name, stated] = Object.entries(document)[Object.keys(document).indexOf('synthetic') + 1]
    if (path === 'run.json') {
      const files: number = JSON.parse(manifest.toString('utf8')).files.length
      t.strictSame([name, stated], ['manifest', { path: 'source_manifest.json', sha256, files }], path)
    } else t.strictSame([name, stated], ['inputs_verified', { manifest_sha256: sha256 }], path)
  }
  const tables = tree(study.out).filter(path => path.endsWith('.arrow'))
  t.ok(tables.length > 0)
  for (const path of tables) {
    t.equal(tableFromIPC(readFileSync(join(study.out, path))).schema.metadata.get('inputs_manifest_sha256'), sha256, path)
  }
  const record = readFileSync(join(study.out, 'run.json'), 'utf8')
  writeFileSync(join(study.out, 'run.json'), record.replace(/"manifest": \{[^}]*\},\s*/, ''))
  t.match(
    JSON.parse((await all(study, '--json')).stdout),
    { unchanged: false },
    'outputs of a program that did not say it are computed again'
  )
  t.equal(readFileSync(join(study.out, 'run.json'), 'utf8'), record)
})

t.test('every figure names it behind its description', async t => {
  const study = place()
  t.match(await runCli(['all', '--study', study.dir, '--out', study.out, '--formats', 'png,svg,pdf']), { code: 0 })
  const sha256 = createHash('sha256')
    .update(readFileSync(join(study.dir, 'source_manifest.json')))
    .digest('hex')
  const says = `Inputs verified against manifest ${sha256.slice(0, 12)}.`
  const figures = tree(study.out).filter(path => path.startsWith('figures/'))
  t.ok(figures.length >= 3)
  for (const path of figures) {
    const bytes = readFileSync(join(study.out, path))
    // A PDF has it as Latin-1 or, where another character stands before it, as UTF-16.
    const utf16 = Buffer.from(says, 'utf16le').swap16().toString('hex')
    const text = path.endsWith('.pdf') ? inflatePdf(bytes) : bytes.toString('latin1')
    t.ok(text.includes(says) || text.toLowerCase().includes(utf16), path)
  }
})

t.test('the notes list what was read, and apart from it what was not', async t => {
  const { dir, out } = place()
  writeFileSync(join(dir, 'study.json'), JSON.stringify({ ...STUDY, article: { article: 'a.md', notes: 'n.md' } }))
  writeFileSync(join(dir, 'a.md'), '# A\n')
  writeFileSync(join(dir, 'n.md'), '# N\n\n{{sources}}\n')
  writeFileSync(join(dir, 'aside.txt'), 'aside')
  t.match(await runCli(['manifest', '--study', dir, '--write']), { code: 0 })
  const run = await runCli(['all', '--study', dir, '--out', out, '--formats', 'png'])
  t.match(run, { code: 0 }, run.stderr)
  const manifest = readFileSync(join(dir, 'source_manifest.json'))
  const sha256 = createHash('sha256').update(manifest).digest('hex')
  const line = `All ${JSON.parse(manifest.toString('utf8')).files.length} input files were verified against source_manifest.json (sha256 ${sha256})`
  for (const path of ['article.md', 'source-notes.md', 'preview/article.html', 'preview/source-notes.html']) {
    t.ok(readFileSync(join(out, path), 'utf8').replaceAll('\\', '').includes(line), path)
  }
  const [read, aside] = readFileSync(join(out, 'source-notes.md'), 'utf8').split('Files of the study that enter no statistic')
  for (const path of ['study.json', 'wandb/runs.json', 'wandb/history/runs/first.jsonl', 'a.md', 'n.md']) t.match(read, `| ${path} |`)
  t.notMatch(read, 'aside.txt')
  t.match(aside, '| aside.txt |')
  t.notMatch(aside, 'a.md')
})

t.test('manifest: what changed, and with --write a new one', async t => {
  const { dir, out } = place()
  const path = join(dir, 'source_manifest.json')
  const manifest = (...more: string[]): Promise<CliResult> => runCli(['manifest', '--study', dir, ...more])
  t.match(await manifest(), { code: 0, stdout: /nothing changed/ })
  const before = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...before, revisions: { trainer: 'abc' } }))
  appendFileSync(join(dir, 'wandb/history/runs/ref.jsonl'), '{"_step": 2, "_timestamp": 1767319200.5, "reward": 0.25}\n')
  writeFileSync(join(dir, 'notes.txt'), 'aside')
  rmSync(join(dir, 'wandb/history/runs/second.jsonl'))
  t.match(await all({ dir, out }), { code: 1 })
  const report = JSON.parse((await manifest('--json')).stdout)
  t.match(report, {
    added: ['notes.txt'],
    removed: ['wandb/history/runs/second.jsonl'],
    changed: ['wandb/history/runs/ref.jsonl'],
    written: false
  })
  t.match(await runCli(['verify', '--study', dir]), { code: 1 }, 'nothing was written')
  t.match(await manifest('--write'), { code: 0 })
  t.match(await runCli(['verify', '--study', dir]), { code: 0 })
  const after = JSON.parse(readFileSync(path, 'utf8'))
  t.match(after, { snapshot: before.snapshot, revisions: { trainer: 'abc' } })
  t.equal(after.files.find((f: { path: string }) => f.path === 'notes.txt').role, 'excluded')
  rmSync(path)
  t.match(await manifest('--write'), { code: 0 })
  const roles = JSON.parse(readFileSync(path, 'utf8')).files.map((f: { path: string; role: string }) => `${f.role} ${f.path}`)
  t.strictSame(roles, [
    'excluded notes.txt',
    'study study.json',
    'history wandb/history/runs/first.jsonl',
    'history wandb/history/runs/ref.jsonl',
    'runs wandb/runs.json'
  ])
  t.match(await runCli(['manifest']), { code: 2, stderr: /no study/ })
})

t.test('the replica with a manifest made anew: what configurations inherit from is excluded by it, and read', async t => {
  const dir = join(work, 'anew')
  cpSync(await ensureReplica({ cacheDir: defaultCacheDir(process.env) }), dir, { recursive: true })
  const path = join(dir, 'source_manifest.json')
  rmSync(path)
  t.match(await runCli(['manifest', '--study', dir, '--write']), { code: 0 })
  const roles = new Map(JSON.parse(readFileSync(path, 'utf8')).files.map((f: { path: string; role: string }) => [f.path, f.role]))
  t.equal(roles.get('configs/base/openswe.env'), 'excluded')
  t.match(await all({ dir, out: join(work, 'anew-out') }, '-q'), { code: 0, stderr: '' })
})

t.test("the replica's snapshot, copied elsewhere without its study, still says that it is synthetic", async t => {
  const replica = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  for (const [name, keep] of [
    ['whole', () => true],
    ['arrays', (path: string) => !path.endsWith('.html')]
  ] as const) {
    const copy = join(work, 'elsewhere', name)
    cpSync(join(replica, 'critic_traces'), copy, { recursive: true, filter: keep })
    const out = join(work, `elsewhere-${name}`)
    const run = await runCli(['traces', copy, '--out', out, '--no-figures', '--json', '-q'])
    t.match(run, { code: 0 }, run.stderr)
    const statistics = name === 'whole' ? { verified: true, traces: 40 } : { verified: false, traces: 42 }
    t.match(JSON.parse(run.stdout), { synthetic: true, snapshots: [{ statistics: { synthetic: true, ...statistics } }] })
    const documents = tree(out).filter(path => path.endsWith('.json'))
    t.equal(documents.length, 7)
    for (const path of documents) t.match(unprefixed(JSON.parse(readFileSync(join(out, path), 'utf8'))), { synthetic: true }, path)
  }
})
