/** CSV files and what stands beside them: every cell is what its column says, and each names synthetic and manifest as the JSON outputs do. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { defaultCacheDir, ensureReplica } from '../src/replica/index.js'
import { Random } from '../src/replica/random.js'
import { encodeNpy, NpzWriter } from '../src/ingest/npz/write.js'
import { runCli } from './support/cli.js'
import { cellProblems, describedTables, unprefixed, vocabularyProblems, type DescribedTable } from './support/csv-tables.js'
import { sha256, tree } from './support/folders.js'
import { RUNS, STUDY, writeHistoryStudy } from './support/history-folder.js'
import { schemaProblems } from './support/json-schema.js'
import { root } from './support/paths.js'
import { randomTraces, writeSnapshot } from './support/snapshot.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-csv-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const schema: unknown = json(join(root, 'docs/schemas/csv-metadata.schema.json'))

/** Columns by the title of their table, and whether any test found one of their cells empty. */
const found = new Map<string, boolean>()

/** @param beside a JSON output of the same run */
function check(t: Test, out: string, beside: string, recorded = 'run.json'): DescribedTable[] {
  const tables = describedTables(out)
  const { synthetic, inputs_verified: verified, generator } = json(join(out, beside))
  const record: Array<{ path: string; sha256: string; bytes: number }> = json(join(out, recorded)).outputs
  for (const table of tables) {
    const { path, metadata, columns, rows } = table
    t.strictSame(schemaProblems(schema, metadata), [], path)
    t.strictSame(vocabularyProblems(table, out), [], path)
    t.strictSame(cellProblems(table), [], path)
    t.ok(rows.length > 0, path)
    const { synthetic: said, inputs_verified: named, generator: by } = unprefixed(metadata)
    t.strictSame([said, named, by], [synthetic, verified, generator], path)
    const bytes = readFileSync(join(out, `${path}-metadata.json`))
    t.ok(bytes.length < 2000 + 240 * columns.length, `${path} has ${bytes.length} bytes of metadata`)
    t.strictSame(
      record.find(f => f.path === `${path}-metadata.json`),
      { path: `${path}-metadata.json`, sha256: sha256(bytes), bytes: bytes.length }
    )
    for (const [c, { name, required }] of columns.entries()) {
      if (required) continue
      const key = `${String(metadata['dc:title'])}: ${name}`
      found.set(key, found.get(key) === true || rows.some(row => row[c] === null))
    }
  }
  t.strictSame(
    tree(out).filter(path => path.endsWith('-metadata.json')),
    tables.map(({ path }) => `${path}-metadata.json`)
  )
  return tables
}

t.test('the replica', async t => {
  const study = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const out = join(work, 'replica')
  const run = await runCli(['all', '--study', study, '--out', out, '--no-figures', '--quiet'])
  t.match(run, { code: 0 }, run.stderr)
  const tables = check(t, out, 'audit.json')
  t.equal(tables.length, 10)
  const manifest = sha256(readFileSync(join(study, 'source_manifest.json')))
  for (const { path, metadata } of tables) {
    t.match(unprefixed(metadata), { synthetic: true, inputs_verified: { manifest_sha256: manifest } }, path)
  }
  const docs = readFileSync(join(root, 'docs/outputs.md'), 'utf8')
  for (const { path, columns } of tables) {
    // The ends of an interval have the name of their statistic.
    for (const { name } of columns)
      t.ok(docs.includes(`\`${name.replace(/_(low|high)$/, '')}\``), `docs/outputs.md explains ${name} of ${path}`)
  }
})

const KEY = '=1+1, "x"\r\n#'

/** Names that want quotes, cells that are empty for every reason there is, numbers at the ends of the double range. */
function hostileStudy(dir: string): void {
  const [reference, target] = STUDY.histories.selections
  const [reward, score] = STUDY.histories.metrics
  const [both] = STUDY.histories.analyses
  const logged = (rest: string): string => `{${rest.replace('KEY', JSON.stringify(KEY))}}`
  writeHistoryStudy(dir, {
    runs: [
      {
        id: '-1, a',
        displayName: 'target',
        createdAt: '2026-01-01T02:00:00Z',
        lines: [
          logged('"_step": 2, "_timestamp": 1767236400.0, "reward": -0.0, "global": 0.5'),
          logged('"_step": 3, "reward": 1.7e308, KEY: NaN'),
          logged('"_step": 9007199254740991, "_timestamp": 1e300, "reward": 1.7e308, KEY: 0.75')
        ]
      },
      ...RUNS.filter(({ id }) => id !== 'second').map(run => ({
        ...run,
        lines: run.lines?.map(line => line.replace('"score"', JSON.stringify(KEY))) ?? null
      }))
    ],
    study: {
      ...STUDY,
      histories: {
        ...STUDY.histories,
        selections: [reference, { ...target, display_time: { multiply: 1e300 } }],
        metrics: [reward, { ...score, key: KEY }],
        analyses: [
          {
            ...both,
            supplied: null,
            shared_reference: {
              metric: 'score',
              selections: ['target'],
              step: 1,
              value: 0.125,
              label: 'l',
              source: 's',
              output: 'shared.json'
            }
          }
        ]
      }
    }
  })
}

t.test('a hostile study', async t => {
  const dir = join(work, 'hostile')
  hostileStudy(dir)
  const out = join(work, 'hostile-out')
  const run = await runCli(['all', '--study', dir, '--out', out, '--no-figures'])
  t.match(run, { code: 0 }, run.stderr)
  const tables = check(t, out, 'wandb/both.json')
  t.strictSame(
    tables.map(({ path }) => path),
    ['wandb/all.csv', 'wandb/kept.csv', 'wandb/lineage.csv', 'wandb/points.csv']
  )
  const [{ columns, rows, metadata }] = tables
  const column = (name: string): Set<string | null> => new Set(rows.map(row => row[columns.findIndex(c => c.name === name)]))
  t.strictSame(column('key'), new Set(['reward', `'${KEY}`]), 'what would be a formula has an apostrophe, and the metadata says so')
  t.match(metadata['dc:description'], /formula has a leading apostrophe/)
  t.ok(column('run').has("'-1, a"))
  t.ok(column('value').has('-0') && column('value').has('1.7e+308'))
  t.ok(column('step').has('9007199254740991'))
})

t.test('a batch of snapshots, verified against nothing', async t => {
  const dir = join(work, 'batch')
  await writeSnapshot(
    join(dir, 'one'),
    randomTraces(new Random('csv'), 2, i => (i === 3 ? 1 : 40))
  )
  // an NPZ alone, which states neither step nor outcome
  mkdirSync(join(dir, 'two'))
  const chunks: Uint8Array[] = []
  const npz = new NpzWriter(bytes => {
    chunks.push(bytes.slice())
  })
  for (const name of ['values', 'returns']) await npz.add(name, encodeNpy(Float64Array.of(1e-7, -0, 1e21)))
  await npz.add('response_positions', encodeNpy(BigInt64Array.of(1n, 2n, 9n)))
  await npz.finish()
  writeFileSync(join(dir, 'two/a.npz'), Buffer.concat(chunks))
  const out = join(dir, 'out')
  const run = await runCli(['traces', 'one', 'two', '--out', out, '--no-figures', '--quiet'], { cwd: dir })
  t.match(run, { code: 0 }, run.stderr)
  for (const name of ['one', 'two']) {
    const [table] = check(t, join(out, name), 'training_data/critic-trace-statistics.json')
    t.equal(table.path, 'training_data/critic-trace-trajectories.csv')
    t.strictSame(unprefixed(table.metadata)['inputs_verified'], null)
  }
})

t.test('turns of one trajectory, which have no interval', async t => {
  const dump = join(work, 'one.jsonl')
  const rows = [2, 4].map(tokens => ({ step: 1, values: [0.1, 0.3, 0.2, 0.4].slice(0, tokens), returns: [1, 1, 1, 1].slice(0, tokens) }))
  const lines = rows.map(row => JSON.stringify({ ...row, loss_mask: row.values.map((_, i) => (i === 2 ? 0 : 1)), score: 1 }))
  writeFileSync(dump, `${lines.join('\n')}\n`)
  const out = join(work, 'one-out')
  const run = await runCli(['diagnose', dump, '--out', out, '--no-figures'])
  t.match(run, { code: 0 }, run.stderr)
  check(t, join(out, 'one'), 'training_data/critic-diagnostics.json', 'diagnose-run.json')
})

t.test('a column is not called optional that is never empty', t => {
  t.ok(found.size >= 25)
  t.strictSame(
    [...found].filter(([, empty]) => !empty).map(([column]) => column),
    []
  )
  t.end()
})

t.test('the checks of this file see what is wrong', t => {
  const [table] = describedTables(join(work, 'hostile-out'))
  const broken = (change: Partial<DescribedTable>): string[] => [
    ...vocabularyProblems({ ...table, ...change }, join(work, 'hostile-out')),
    ...cellProblems({ ...table, ...change })
  ]
  const as = (name: string, change: object) => ({ columns: table.columns.map(c => (c.name === name ? { ...c, ...change } : c)) })
  t.strictSame(broken({}), [])
  for (const change of [
    as('global_step', { required: true }),
    as('value', { datatype: 'integer' }),
    as('run', { datatype: 'number' }),
    as('step', { titles: 'Step' }),
    as('kept', { datatype: 'bool' }),
    as('step', { name: 'value' }),
    as('step', { unit: 'x' }),
    { columns: table.columns.slice(1) },
    { metadata: { ...table.metadata, synthetic: true } },
    { metadata: { ...table.metadata, url: 'kept.csv' } }
  ])
    t.not(broken(change).length, 0, JSON.stringify(change).slice(0, 200))
  t.end()
})
