/** `diagnose` beside `traces` in one folder: each has its record, `verify --outputs` reads both, neither touches what the other wrote. */
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { runCli, type CliResult } from '../support/cli.js'
import { CLEAN, diagnosticDump } from '../support/diagnostic-dumps.js'
import { writeDump, writeLoggedHistory } from '../support/diagnostic-files.js'
import { tree } from '../support/folders.js'
import { hashes } from '../support/run.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-diagnose-record-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

const DUMP = join(work, 'd.jsonl')
const PLAN = { ...CLEAN, samples: 4 }
writeDump(DUMP, diagnosticDump(PLAN))

const traces = (out: string, ...args: readonly string[]): Promise<CliResult> =>
  runCli(['traces', DUMP, '--out', join(work, out), '--no-figures', ...args])
const diagnose = (out: string, ...args: readonly string[]): Promise<CliResult> =>
  runCli(['diagnose', DUMP, '--out', join(work, out), ...(args.includes('--formats') ? [] : ['--no-figures']), ...args])
const verify = (out: string): Promise<CliResult> => runCli(['verify', '--outputs', join(work, out)])
const RECORDS = ['diagnose-run.json', 'run.json']

interface Recorded {
  readonly inputs: readonly { readonly path: string }[]
  readonly outputs: readonly { readonly path: string }[]
}

function recorded(out: string, name: string): Recorded {
  return JSON.parse(readFileSync(join(work, out, 'd', name), 'utf8')) as Recorded
}

t.test('in either order, repeated, everything is listed and whole', async t => {
  for (const [out, runs] of [
    ['traces-first', [traces, diagnose]],
    ['diagnose-first', [diagnose, traces]]
  ] as const) {
    for (const run of [...runs, ...runs]) t.match(await run(out), { code: 0 })
    const listed = RECORDS.flatMap(name => recorded(out, name).outputs.map(({ path }) => path))
    t.strictSame([...listed, ...RECORDS].sort(), tree(join(work, out, 'd')).sort(), `${out}: each file in one record`)
    const { code, stdout } = await verify(out)
    t.equal(code, 0, stdout)
    t.match(stdout, /, 2 records\n\d+ ok, 2 by size only, 0 mismatch, 0 missing, 0 unlisted$/m)
  }
  t.strictSame(hashes(join(work, 'traces-first')), hashes(join(work, 'diagnose-first')), 'the same bytes')
})

t.test('diagnose alone has its record', async t => {
  t.match(await diagnose('alone'), { code: 0 })
  t.match(recorded('alone', 'diagnose-run.json').inputs, [{ path: 'd.jsonl' }])
  t.match(await verify('alone'), { code: 0, stdout: /, 1 record\n/ })
})

t.test('a changed byte in any output of either is found', async t => {
  for (const name of RECORDS) {
    for (const { path } of recorded('traces-first', name).outputs) {
      const out = `changed-${path.replaceAll('/', '-')}`
      cpSync(join(work, 'traces-first'), join(work, out), { recursive: true })
      appendFileSync(join(work, out, 'd', path), ' ')
      const { code, stderr } = await verify(out)
      t.equal(code, 1, path)
      t.match(stderr, `d/${path})`)
      t.equal(stderr.match(/file differs/g)?.length, 1)
    }
  }
})

t.test('an unchanged repeat says so, does nothing, and answers the same', async t => {
  const first = await diagnose('repeat', '--gamma', '1', '--json')
  const before = hashes(join(work, 'repeat'))
  const again = await diagnose('repeat', '--gamma', '1', '--json')
  const told = (run: CliResult): object => ({ ...(JSON.parse(run.stdout) as { snapshots: [object] }).snapshots[0], status: '' })
  t.strictSame([first.code, again.code], [1, 1], 'a told value differs, computed or not')
  t.match(JSON.parse(first.stdout), { snapshots: [{ status: 'done' }] })
  t.match(JSON.parse(again.stdout), { snapshots: [{ status: 'unchanged' }] })
  t.strictSame(told(again), told(first))
  t.strictSame(hashes(join(work, 'repeat')), before)
  const { stdout } = await diagnose('repeat', '--gamma', '1')
  t.match(stdout, /preview\/diagnostics\.html \(unchanged: inputs, settings and outputs are as recorded\)$/m)
  t.match(stdout, /^failed: the told gamma differs/m)
})

t.test('what decides the outputs makes it run again', async t => {
  const status = async (...args: readonly string[]): Promise<unknown> =>
    (JSON.parse((await diagnose('again', ...args, '--json')).stdout) as { snapshots: [{ status: unknown }] }).snapshots[0].status
  t.equal(await status(), 'done')
  t.equal(await status(), 'unchanged')
  t.equal(await status('--fail-on', 'padding-leak'), 'unchanged', 'decides the exit code alone')
  for (const args of [['--gamma', '1'], ['--sampling', 'every trajectory'], ['--jump-above', '0.2'], ['--skip-bad']])
    t.equal(await status(...args), 'done', args.join(' '))
  const history = join(work, 'history.jsonl')
  writeLoggedHistory(history, diagnosticDump(PLAN))
  t.equal(await status('--history', history), 'done')
  t.equal(await status('--history', history), 'unchanged')
  appendFileSync(history, '{"training/global_step": 99, "critic/vf_explained_var": 0}\n')
  t.equal(await status('--history', history), 'done', 'another history')
  t.equal(await status('--against', DUMP), 'done')
  t.equal(await status('--against', DUMP), 'done', 'a comparison is computed each time')
  t.equal(await status(), 'done', 'and its outputs are not taken for those of one set')
  const page = join(work, 'again/d/preview/diagnostics.html')
  appendFileSync(page, ' ')
  t.equal(await status(), 'done', 'an output was changed')
  t.notOk(readFileSync(page, 'utf8').endsWith(' '))
  writeDump(DUMP, diagnosticDump({ ...PLAN, seed: 2 }))
  t.equal(await status(), 'done', 'the dump was changed')
  writeDump(DUMP, diagnosticDump(PLAN))
})

t.test('each removes its own outputs of an earlier run, and nothing of the other', async t => {
  t.match(await traces('own', '--parquet'), { code: 0 })
  t.match(await diagnose('own', '--formats', 'svg'), { code: 0 })
  const at = (path: string): boolean => existsSync(join(work, 'own/d', path))
  t.ok(at('figures/critic-quality.svg') && at('training_data/critic-traces.parquet'))
  t.match(await traces('own'), { code: 0 })
  t.notOk(at('training_data/critic-traces.parquet'))
  t.ok(at('figures/critic-quality.svg') && at('preview/diagnostics.html'), 'traces leaves what diagnose wrote')
  writeFileSync(join(work, 'own/d/figures/boundary-jumps.svg'), 'mine')
  const { stdout } = await diagnose('own')
  t.notOk(at('figures/critic-quality.svg'))
  t.ok(at('training_data/critic-trace-statistics.json'), 'diagnose leaves what traces wrote')
  t.ok(at('figures/boundary-jumps.svg'), 'a file that somebody changed is theirs')
  t.match(stdout, /left because nothing shows that this program made it as it is: figures\/boundary-jumps\.svg$/m)
  t.match(await verify('own'), { code: 1, stderr: /file not recorded: .*figures\/boundary-jumps\.svg\)\n$/ })
})
