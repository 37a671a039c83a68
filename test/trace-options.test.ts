/** Options of `traces` that decide how a snapshot is read and judged: they reach the outputs, and go before a study. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Random } from '../src/replica/random.js'
import { dumpNames, KEY_NAMES, snapshotKeys } from '../src/schema/key-names.js'
import { SAMPLE_KEY_NAMES } from '../src/schema/sample-keys.js'
import { DEFAULT_KEYS } from '../src/schema/traces.js'
import { runCli } from './support/cli.js'
import { randomTraces, writeSnapshot } from './support/snapshot.js'

function temp(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-options-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const RUN = ['--out', 'out', '--no-figures', '--json', '-q'] as const

interface Told {
  readonly snapshots: ReadonlyArray<{
    readonly status: string
    readonly statistics: {
      readonly threshold: number
      readonly success_threshold: number
      readonly boundary: { readonly jumps: number }
      readonly outcome_from: object
    }
    readonly checks: ReadonlyArray<{
      readonly check: string
      readonly expected: boolean
      readonly total: number
      readonly passed: number | null
    }>
  }>
}

async function told(t: Test, dir: string, argv: readonly string[], path = 'snap'): Promise<Told['snapshots'][number]> {
  const run = await runCli(['traces', path, ...RUN, ...argv], { cwd: dir })
  t.match(run, { code: 0 }, run.stderr)
  return (JSON.parse(run.stdout) as Told).snapshots[0]
}

t.test('a name is one mapping for pages, NPZ members and dumps', t => {
  t.equal(new Set(KEY_NAMES).size, KEY_NAMES.length)
  for (const name of [...SAMPLE_KEY_NAMES, ...Object.keys(DEFAULT_KEYS)]) t.ok((KEY_NAMES as readonly string[]).includes(name), name)
  const keys = { ...DEFAULT_KEYS, values: 'v', npz: 'file' }
  t.same(snapshotKeys({}, keys), keys)
  t.same(snapshotKeys({ values: 'vf', response_mask: 'm' }, keys), { ...keys, values: 'vf' })
  t.same(dumpNames({}, DEFAULT_KEYS), {}, 'the names that trainers use hold')
  t.same(dumpNames({ response_mask: 'm', returns: 'r' }, keys), { values: 'v', response_mask: 'm', returns: 'r' })
  t.end()
})

t.test('each option reaches the statistics, and makes the run another one', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('options'), 2, () => 60)
  )
  const plain = await told(t, dir, [])
  t.match(plain, { status: 'done', statistics: { threshold: 0.1, success_threshold: 0 } })
  t.equal((await told(t, dir, [])).status, 'unchanged')
  const all = await told(t, dir, ['--jump-above', '0', '--success-above=-0.5'])
  t.match(all, { status: 'done', statistics: { threshold: 0, success_threshold: -0.5 } })
  t.match(await told(t, dir, ['--success-above', '-1']), { statistics: { success_threshold: -1 } }, 'a negative number')
  for (const option of ['--success-above', '--jump-above', '--marker', '--tokenizer']) {
    const twice = await runCli(['traces', 'snap', ...RUN, option, '1', option, '2'], { cwd: dir })
    t.equal(twice.code, 2, option)
    t.match(twice.stderr + twice.stdout, `contradiction: ${option} twice`)
  }
  t.ok(all.statistics.boundary.jumps >= plain.statistics.boundary.jumps)
  t.equal((await told(t, dir, ['--jump-above', '1e300'])).statistics.boundary.jumps, 0)
  const marks = (await told(t, dir, ['--marker', 'no text ends so'])).checks.find(({ check }) => check === 'end marker')
  t.match(marks, { expected: false, passed: 0 })
  t.ok((marks?.total ?? 0) > 0)
  t.equal((await told(t, dir, ['--marker', 'no text ends so', '--skip-bad'])).status, 'done')
})

t.test('keys of a page and of its NPZ files', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('keys'), 1, () => 20),
    { editJson: json => json.replaceAll('"score":', '"reward":') }
  )
  t.match(await told(t, dir, []), { checks: [{}, { check: 'outcomes per step' }, { check: 'score and outcome', total: 0 }] })
  t.match(await told(t, dir, ['--key', 'score=reward']), { checks: [{}, {}, { check: 'score and outcome', total: 2, passed: 2 }] })
  const missing = await runCli(['traces', 'snap', ...RUN, '--key', 'values=critic_values'], { cwd: dir })
  t.match(missing, { code: 3, stderr: /critic_values/ })
  const twice = await runCli(['traces', 'snap', ...RUN, '--key', 'values=returns'], { cwd: dir })
  t.match(twice, { code: 2, stderr: /^critic-traces: usage key named twice: .*"returns", expected a different name for each key\n/ })
})

t.test('an option goes before a study, and says so', async t => {
  const dir = temp(t)
  await writeSnapshot(
    join(dir, 'study/snap'),
    randomTraces(new Random('study'), 1, () => 20)
  )
  const section = { snapshot: 'snap', jump_threshold: 0.25, success_threshold: 0.5 }
  writeFileSync(join(dir, 'study/study.json'), JSON.stringify({ schema_version: 1, name: 'n', critic_traces: section }))
  t.match(await told(t, dir, ['--study', 'study'], 'study/snap'), { statistics: { threshold: 0.25, success_threshold: 0.5 } })
  const run = await runCli(
    [
      'traces',
      'study/snap',
      '--out',
      'out',
      '--no-figures',
      '--study',
      'study',
      '--jump-above',
      '0.3',
      '--success-above',
      '0.5',
      '--marker',
      '</s>'
    ],
    { cwd: dir }
  )
  t.match(run, { code: 1 }, 'what a study is told to expect is expected')
  t.match(run.stderr, /^note: --jump-above 0\.3 in place of the study's 0\.25$/m)
  t.match(run.stderr, /^note: --marker <\/s> in place of the study's none$/m)
  t.notMatch(run.stderr, /--success-above/, 'what is equal takes the place of nothing')
  t.match(await told(t, dir, ['--study', 'study', '--jump-above', '0.3'], 'study/snap'), {
    statistics: { threshold: 0.3, success_threshold: 0.5 }
  })
  const statistics = JSON.parse(readFileSync(join(dir, 'out/snap/training_data/critic-trace-statistics.json'), 'utf8')) as object
  t.match(statistics, { threshold: 0.3 })
})
