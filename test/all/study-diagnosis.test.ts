/** The critic of a study's own traces, through `all`: what is told and what is refused, and traces that leave much undefined. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Random } from '../../src/replica/random.js'
import type { CriticDiagnosticsDocument } from '../../src/schema/outputs/critic-diagnostics.js'
import { runCli, type CliResult } from '../support/cli.js'
import { randomTraces, writeSnapshot, type SnapshotOptions, type TestTrace } from '../support/snapshot.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-study-diagnosis-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

const TRACES = randomTraces(new Random('study-diagnosis/1'), 3, i => 40 + i)
const FILES = [
  'training_data/critic-diagnostics.json',
  'training_data/critic-quality-by-step.csv',
  'training_data/critic-quality-by-turn.csv',
  'training_data/critic-quality-by-decile.csv'
]

/** Writes a study of a snapshot. @returns its folder and that of its outputs */
async function studyOf(
  name: string,
  traces: readonly TestTrace[],
  section: object,
  options: SnapshotOptions = {}
): Promise<readonly [dir: string, out: string]> {
  const dir = join(work, name)
  mkdirSync(join(dir, 'snap'), { recursive: true })
  await writeSnapshot(join(dir, 'snap'), traces, options)
  writeFileSync(join(dir, 'study.json'), JSON.stringify({ schema_version: 1, name, critic_traces: { snapshot: 'snap', ...section } }))
  const { code, stderr } = await runCli(['manifest', '--study', dir, '--write'])
  if (code !== 0) throw new Error(stderr)
  return [dir, join(work, `${name}-out`)]
}

function all([dir, out]: readonly [string, string], ...more: string[]): Promise<CliResult> {
  return runCli(['all', '--study', dir, '--out', out, '--no-figures', ...more])
}

function documentIn(out: string): CriticDiagnosticsDocument {
  return JSON.parse(readFileSync(join(out, FILES[0]), 'utf8')) as CriticDiagnosticsDocument
}

t.test('the estimator comes back from values, returns and positions alone, with what they cannot tell', async t => {
  const study = await studyOf('told', TRACES, { sampling: 'stratified by outcome', estimator: { gamma: 1, lambda_returns: 1 } })
  const run = await all(study)
  t.match(run, { code: 0 }, run.stderr)
  t.match(run.stdout, /^critic findings: None of the known faults shows in these numbers\.$/m)
  const { audit, quality, source } = documentIn(study[1])
  t.ok(Math.abs(Number(audit.gamma) - 1) < 1e-9 && Math.abs(Number(audit.lambda_returns) - 1) < 1e-9)
  t.match(audit.not_identifiable, ['rule', 'value_alignment', 'lambda_advantages', 'whitening', 'final_reward'])
  t.match(audit.told, [
    { name: 'gamma', told: 1, agrees: true },
    { name: 'lambda_returns', told: 1, agrees: true }
  ])
  t.match(source, { name: 'snap/index.html', kind: 'html', samples: 6, files: [{ path: 'index.html' }] })
  for (const name of ['explained_variance', 'mse', 'calibration'] as const) {
    t.equal(quality[name].value, null, name)
    t.match(quality.undefined_reasons[`/${name}/value`], /^refused: the sample is stratified by outcome/)
  }
  const errors = TRACES.filter(({ outcome }) => outcome === 'failure').flatMap(({ values, returns }) =>
    values.map((v, i) => v - returns[i])
  )
  const bias = errors.reduce((a, b) => a + b, 0) / errors.length
  t.ok(Math.abs(Number(quality.by_outcome.failure?.bias.value) - bias) < 1e-12, 'within an outcome it is given')
  const record = readFileSync(join(study[1], 'run.json'), 'utf8')
  for (const path of FILES) t.ok(record.includes(`"${path}"`), `${path} is recorded`)
  t.equal((await runCli(['verify', '--outputs', study[1]])).code, 0)
  t.match((await all(study)).stdout, 'unchanged since the last run')
  rmSync(join(study[1], FILES[1]))
  t.notMatch((await all(study)).stdout, 'unchanged')
  t.ok(existsSync(join(study[1], FILES[1])), 'a document that is gone is made again')
})

t.test('a told value that the traces contradict fails the run, and the unchanged run after it', async t => {
  const study = await studyOf('differs', TRACES, { estimator: { gamma: 0.9 } })
  for (const state of ['done', 'unchanged']) {
    const { code, stderr, stdout } = await all(study)
    t.equal(code, 1, state)
    t.match(stderr, /^critic-traces: estimator gamma differs: .* in the numbers, expected 0\.9 as the study says \(training_data\/critic/m)
    t.match(stdout, /^verdict: FAILED, .*1 problem/m)
    t.equal(/unchanged since/.test(stdout), state === 'unchanged')
  }
  const run = await runCli(['diagnose', join(study[0], 'snap'), '--study', study[0], '--out', join(work, 'diagnose'), '--no-figures'])
  t.equal(run.code, 1, 'diagnose holds the same against the traces')
  t.match(run.stdout, 'failed: the told gamma differs from the one that the numbers show')
})

t.test('traces of one outcome, or a single one, leave statistics undefined and stop nothing', async t => {
  for (const [name, traces] of [
    ['one-outcome', TRACES.filter(({ outcome }) => outcome === 'success')],
    ['one-trace', TRACES.slice(0, 1)]
  ] as const) {
    const study = await studyOf(name, traces, {})
    const run = await runCli(['all', '--study', study[0], '--out', study[1], '--formats', 'svg'])
    t.match(run, { code: 0 }, run.stderr)
    const { quality } = documentIn(study[1])
    t.equal(quality.auc_by_decile[0].value, null)
    t.type(quality.undefined_reasons['/auc_by_decile/0/value'], 'string')
    for (const figure of ['critic-quality', 'boundary-jumps']) t.ok(existsSync(join(study[1], `figures/${figure}.svg`)), figure)
  }
})

t.test('what a snapshot says of itself: all, traces and diagnose end alike', async t => {
  const [dir, out] = await studyOf('denied', TRACES, {}, { editJson: json => json.replace('{', '{"synthetic": true, ') })
  for (const command of [['all'], ['traces', join(dir, 'snap')], ['diagnose', join(dir, 'snap')]]) {
    const run = await runCli([...command, '--study', dir, '--out', out, '--no-figures'])
    t.match(run, { code: 1, stderr: /synthetic differs: true in the page, false in the study, expected true in the study too/ }, command[0])
  }
})

t.test('a told lambda of the advantages may be adaptive', async t => {
  const study = await studyOf('adaptive', TRACES, { estimator: { lambda_advantages: { adaptive_alpha: 0.05 } } })
  t.equal((await all(study)).code, 0)
  t.match(documentIn(study[1]).audit.told, [{ name: 'lambda_advantages', told: { adaptive_alpha: 0.05 }, agrees: null }])
  for (const wrong of [{ adaptive_alpha: 0 }, { alpha: 1 }, 2, 'x'])
    await t.rejects(studyOf('wrong', TRACES, { estimator: { lambda_advantages: wrong } }), /estimator\.lambda_advantages/)
})
