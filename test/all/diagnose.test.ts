/** `diagnose`, through the real command: dumps with a planted fault and clean ones, what is told, exit codes, hostile texts, threads. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CRITIC_DIAGNOSTICS, type CriticDiagnosticsDocument } from '../../src/schema/outputs/critic-diagnostics.js'
import { DIAGNOSTIC_PATHS } from '../../src/render/outputs/output-names.js'
import { runCli, type CliResult } from '../support/cli.js'
import { parseCsv } from '../support/csv-parse.js'
import { CLEAN, diagnosticDump, type DumpPlan } from '../support/diagnostic-dumps.js'
import { writeDump, writeLoggedHistory } from '../support/diagnostic-files.js'
import { hashes } from '../support/run.js'
import { fixture, root } from '../support/paths.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-diagnose-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

const SMALL: DumpPlan = { ...CLEAN, samples: 16, steps: 2 }

/** Writes a dump. @returns its path */
function dumpOf(name: string, plan: DumpPlan): string {
  const path = join(work, `${name}.jsonl`)
  writeDump(path, diagnosticDump(plan))
  return path
}

function diagnose(out: string, ...args: readonly string[]): Promise<CliResult> {
  return runCli(['diagnose', ...args, '--out', join(work, out), ...(args.includes('--formats') ? [] : ['--no-figures'])])
}

function documentOf(out: string, name: string): CriticDiagnosticsDocument {
  return JSON.parse(readFileSync(join(work, out, name, 'training_data/critic-diagnostics.json'), 'utf8')) as CriticDiagnosticsDocument
}

function near(t: Test, found: unknown, expected: number, within: number, name: string): void {
  t.ok(typeof found === 'number' && Math.abs(found - expected) <= within, `${name}: ${String(found)}, expected ${expected}`)
}

t.test('a clean dump has no finding, and the estimator that made it comes back', async t => {
  const run = await diagnose('clean', dumpOf('clean', SMALL))
  t.match(run, { code: 0 }, run.stderr)
  t.match(run.stdout, /^findings: None of the known faults shows in these numbers\.$/m)
  t.match(run.stdout, /^discount γ {2,}0\.99$/m)
  t.ok(run.stdout.split('\n').length <= 40, 'the summary fits a screen')
  const { audit, findings, quality, source, against, settings } = documentOf('clean', 'clean')
  t.strictSame(findings, [])
  t.match(audit, {
    rule: 'carry',
    value_alignment: 'pre-action',
    whitening: 'batch',
    final_reward: 'last trainable token',
    told: [],
    not_identifiable: []
  })
  near(t, audit.gamma, 0.99, 1e-3, 'gamma')
  near(t, audit.lambda_returns, 0.95, 1e-3, 'lambda of returns')
  near(t, audit.lambda_advantages, 0.95, 1e-3, 'lambda of advantages')
  t.match(source, { name: 'clean.jsonl', kind: 'dump', format: 'one row a sample', samples: 16, left_out: 0 })
  t.equal(quality.sampling, 'not stated')
  t.equal(against, null)
  t.strictSame(settings, { success_threshold: 0, jump_threshold: 0.1, history: null })
})

t.test('explained variance, error and bias are those of the tokens with mask 1', async t => {
  const { samples } = diagnosticDump(SMALL)
  const pairs = samples.flatMap(({ mask, arrays: { values, returns } }) =>
    [...mask].flatMap((m, i) => (m === 1 ? [[values![i], returns![i]] as const] : []))
  )
  const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length
  const variance = (list: readonly number[]): number => mean(list.map(x => (x - mean(list)) ** 2))
  const errors = pairs.map(([v, r]) => r - v)
  await diagnose('quality', dumpOf('quality', SMALL))
  const { quality } = documentOf('quality', 'quality')
  t.equal(quality.tokens, pairs.length)
  near(t, quality.explained_variance.value, 1 - variance(errors) / variance(pairs.map(([, r]) => r)), 1e-12, 'explained variance')
  near(t, quality.mse.value, mean(errors.map(e => e * e)), 1e-12, 'mse')
  near(t, quality.bias.value, -mean(errors), 1e-12, 'bias')
  t.equal(quality.by_decile.length, 10)
  t.strictSame(
    quality.by_step.map(({ step }) => step),
    [0, 1]
  )
})

t.test('a planted fault is found, with its place and its report', async t => {
  const run = await diagnose('shifted', dumpOf('shifted', { ...SMALL, fault: 'values-off-by-one' }))
  t.match(run, { code: 0 }, run.stderr)
  t.match(run.stdout, /^ {2}FAULT values-off-by-one: /m)
  const { findings, audit } = documentOf('shifted', 'shifted')
  t.equal(findings.length, 1)
  t.match(findings[0], { kind: 'values-off-by-one', severity: 'fault', place: { file: 'shifted.jsonl' }, report: /^https:\/\// })
  const { sample, row, uid } = findings[0].place!
  t.equal(row, sample, 'a row a sample')
  t.equal(uid, diagnosticDump(SMALL).samples[sample].fields.uid)
  t.equal(audit.value_alignment, 'shifted by one')
  const page = readFileSync(join(work, 'shifted/shifted/preview/diagnostics.html'), 'utf8')
  t.match(page, '<h3><span class="severity">fault</span>values-off-by-one</h3>')
  t.ok(page.indexOf('values-off-by-one') < page.indexOf('How the returns were made</a></h2>'), 'findings first')
})

t.test('exit 1 where a told value differs or a named kind is found, and nowhere else', async t => {
  const shifted = dumpOf('exit-shifted', { ...SMALL, fault: 'values-off-by-one' })
  const clean = dumpOf('exit-clean', SMALL)
  const code = async (...args: readonly string[]): Promise<number | null> => (await diagnose('exit', ...args)).code
  t.equal(await code(clean, '--gamma', '0.99', '--lambda-returns', '0.95', '--lambda-advantages', '0.95'), 0, 'what was told agrees')
  t.equal(await code(clean, '--gamma', '1'), 1, 'a told value differs')
  t.equal(await code(clean, '--lambda-advantages', 'adaptive:0.1'), 1, 'another kind of lambda differs')
  t.equal(await code(clean, '--fail-on', 'values-off-by-one'), 0, 'the kind is not there')
  t.equal(await code(shifted, '--fail-on', 'values-off-by-one'), 1, 'the kind is there')
  t.equal(await code(shifted, '--fail-on', 'padding-leak'), 0, 'another kind')
  t.equal(await code(join(work, 'nothing.jsonl')), 3, 'an input that is not there')
  const told = documentOf('exit', 'exit-clean').audit.told
  t.strictSame(told, [])
  const run = await diagnose('exit', clean, '--gamma', '1')
  t.match(run.stdout, /^failed: the told gamma differs/m)
  const reason =
    /^critic-traces: estimator gamma differs: 0\.98\d* in the numbers, expected 1 as it was told \(.*critic-diagnostics\.json\)\n$/
  t.match(await diagnose('exit', clean, '--gamma', '1', '-q'), { code: 1, stdout: '', stderr: reason })
  t.match(await diagnose('exit', shifted, '--fail-on', 'values-off-by-one', '-q'), {
    code: 1,
    stderr: /^critic-traces: diagnosis values-off-by-one was found, expected none, as --fail-on asks \(/
  })
  t.match(documentOf('exit', 'exit-clean').audit.told, [{ name: 'gamma', told: 1, agrees: false }])
})

t.test('what is no command line says what one is', async t => {
  for (const [args, expected] of [
    [[], 'usage no path: diagnose without PATH'],
    [['x', '--gamma', 'much'], 'usage wrong --gamma: "much", expected a number from 0 to 1'],
    [['x', '--gamma', '2'], 'usage wrong --gamma: "2", expected a number from 0 to 1'],
    [['x', '--sampling', 'every'], 'usage wrong --sampling: "every", expected every trajectory, stratified by outcome, not stated'],
    [['x', '--fail-on', 'value-off-by-one'], /usage wrong --fail-on: .*did you mean values-off-by-one\?/],
    [['x', '--key', 'values'], 'usage wrong --key: "values", expected NAME=THEIRS'],
    [['x', '--lambda-advantages', 'adaptive:0'], 'usage wrong --lambda-advantages'],
    [['x', '--parquet'], 'usage option not for diagnose: --parquet']
  ] as const) {
    const { code, stderr } = await runCli(['diagnose', ...args])
    t.equal(code, 2, args.join(' '))
    t.match(stderr, expected)
  }
})

t.test('a history that logged another explained variance is told from one that logged this one', async t => {
  const plan: DumpPlan = { ...SMALL, fault: 'explained-variance-log' }
  const dump = dumpOf('logged', plan)
  const history = join(work, 'history.jsonl')
  writeLoggedHistory(history, diagnosticDump(plan))
  t.equal((await diagnose('logged', dump, '--history', history, '--fail-on', 'explained-variance-log')).code, 1)
  const { settings, findings } = documentOf('logged', 'logged')
  t.match(settings.history, {
    file: { path: 'history.jsonl' },
    key: 'critic/vf_explained_var',
    step_key: 'training/global_step',
    points: 2,
    common_steps: 2,
    left_out: []
  })
  t.match(findings, [{ kind: 'explained-variance-log' }])
  writeLoggedHistory(history, diagnosticDump(SMALL))
  t.equal((await diagnose('logged', dumpOf('logged', SMALL), '--history', history, '--fail-on', 'explained-variance-log')).code, 0)
  const rows = [...diagnosticDump(SMALL).loggedExplainedVariance].map(([step, value]) => `${step},${value}`)
  writeFileSync(history, ['step,explained_variance', ...rows, ''].join('\n'))
  t.equal((await diagnose('logged', dump, '--history', history)).code, 0)
  t.match(documentOf('logged', 'logged').settings.history, { key: 'explained_variance', step_key: 'step', points: 2 })
  writeFileSync(history, 'step,explained_variance\n99,0.5\n100,x\n')
  const apart = await diagnose('logged', dump, '--history', history)
  const said = 'None of its 1 step is one of the samples: nothing was compared. Rows left out: 1 (value no number).'
  t.match(apart, { code: 0, stdout: new RegExp(said.replaceAll(/[.()]/g, '\\$&')) })
  t.match(readFileSync(join(work, 'logged/logged', DIAGNOSTIC_PATHS.page), 'utf8'), said)
  t.match(documentOf('logged', 'logged').settings.history, { common_steps: 0, left_out: [{ reason: 'value no number', rows: 1 }] })
  writeFileSync(history, 'step,loss\n1,2\n')
  t.match(await diagnose('logged', dump, '--history', history), { code: 3, stderr: /history no logged explained variance: no key of 2/ })
})

t.test('two critics: both, and the difference', async t => {
  const run = await diagnose('two', dumpOf('a', SMALL), '--against', dumpOf('b', { ...SMALL, seed: 2 }), '--json')
  t.match(run, { code: 0 }, run.stderr)
  const { quality, against } = documentOf('two', 'a')
  t.match(against!.source, { name: 'b.jsonl', samples: 16 })
  const { mse } = against!.comparison
  t.strictSame(mse.a.value, quality.mse.value)
  t.strictSame(mse.b.value, against!.quality.mse.value)
  t.equal(mse.difference.value, quality.mse.value! - against!.quality.mse.value!)
  t.ok(mse.difference.low! <= mse.difference.value! && mse.difference.value! <= mse.difference.high!)
  const report = JSON.parse(run.stdout) as { readonly snapshots: readonly { readonly audit: unknown; readonly against: object }[] }
  t.match(report.snapshots[0], { name: 'a', audit: { rule: 'carry' }, against: { comparison: { pairing: {} } } })
  const csv = parseCsv(readFileSync(join(work, 'two/a/training_data/critic-quality-by-decile.csv'), 'utf8'))
  t.strictSame([...new Set(csv.slice(1).map(row => row[0]))], ['this', 'against', 'difference'])
})

t.test('two critics: findings of both, labelled, and either fails', async t => {
  const shifted = dumpOf('shifted', { ...SMALL, fault: 'values-off-by-one', seed: 4 })
  const run = await diagnose('both', dumpOf('a', SMALL), '--against', shifted, '--fail-on', 'values-off-by-one')
  t.match(run, { code: 1 }, run.stderr)
  t.match(run.stdout, /^findings of a\.jsonl: None of the known faults shows in these numbers\.$/m)
  t.match(run.stdout, /^findings against: shifted\.jsonl\n {2}FAULT values-off-by-one/m)
  t.match(run.stdout, /^failed: values-off-by-one was found \(--fail-on\)$/m)
  t.match(run.stdout, /^Intervals of differences are paired: 16 pairs by uid\.$/m)
  t.match(readFileSync(join(work, 'both/a/preview/diagnostics.html'), 'utf8'), /Intervals of differences are paired: 16 pairs by uid\./)
  const other = join(work, 'other-uids.jsonl')
  writeDump(other, diagnosticDump(SMALL), (row, i) => ({ ...row, uid: `other ${i}` }))
  const unpaired = await diagnose('unpaired', dumpOf('a', SMALL), '--against', other, '--fail-on', 'values-off-by-one')
  t.match(unpaired, { code: 0 }, unpaired.stderr)
  t.match(unpaired.stdout, /^Intervals of differences are unpaired: the uids of the two differ\.$/m)
})

t.test('no finding says little where no relation holds', async t => {
  const path = join(work, 'whole-numbers.jsonl')
  const whole = (numbers: unknown): number[] => (numbers as number[]).map(x => Math.round(10 * x))
  writeDump(path, diagnosticDump({ ...SMALL, advantages: false }), row => ({
    ...row,
    values: whole(row['values']),
    returns: whole(row['returns']),
    kl: whole(row['values']).map(() => Number.NaN)
  }))
  const run = await diagnose('whole-numbers', path)
  t.match(run, { code: 0 }, run.stderr)
  t.match(run.stdout, /^findings: No known fault shows, but no relation was found that one could break: these numbers do not\ntell\.$/m)
  const note = 'kl of 16 of 16 samples hold no finite number at retained tokens, and are left out'
  t.match(run.stdout, new RegExp(`^note: ${note}$`, 'm'))
  t.strictSame(documentOf('whole-numbers', 'whole-numbers').source.notes.filter(n => n === note).length, 1)
})

t.test('the tables hold what the document holds', async t => {
  await diagnose('tables', dumpOf('tables', SMALL))
  const { quality } = documentOf('tables', 'tables')
  const read = (name: string): Record<string, string>[] => {
    const [head, ...rows] = parseCsv(readFileSync(join(work, `tables/tables/training_data/critic-quality-by-${name}.csv`), 'utf8'))
    return rows.map(cells => Object.fromEntries(cells.map((cell, i) => [head[i], cell])))
  }
  const steps = read('step').filter(row => row['outcome'] === 'all')
  t.strictSame(
    steps.map(row => [Number(row['step']), Number(row['mse']), Number(row['mse_low']), Number(row['boundary_jump_rate'])]),
    quality.by_step.map(row => [row.step, row.mse.value, row.mse.low, row.changes.boundary.jump_rate.value])
  )
  const deciles = read('decile').filter(row => row['outcome'] === 'all')
  t.strictSame(
    deciles.map(row => [Number(row['explained_variance']), Number(row['auc'])]),
    quality.by_decile.map((row, d) => [row.explained_variance.value, quality.auc_by_decile[d].value])
  )
  const turns = read('turn').filter(row => row['outcome'] === 'success' && row['from'] === 'end')
  t.strictSame(
    turns.map(row => [Number(row['turn']), Number(row['change'])]),
    quality.by_outcome.success!.by_turn.from_end.map(row => [row.turn, row.change.value])
  )
})

t.test('a sampling design makes pooled statistics refused by name, within each outcome given', async t => {
  const run = await diagnose('strata', dumpOf('strata', SMALL), '--sampling', 'stratified by outcome')
  t.match(run.stdout, /^explained variance {2,}- {2}refused: the sample is stratified by outcome$/m)
  t.match(run.stdout, /^successes: mean squared error {2,}0\.\d+ /m)
  const { quality } = documentOf('strata', 'strata')
  t.equal(quality.mse.value, null)
  t.type(quality.by_outcome.failure!.mse.value, 'number')
  t.type(quality.auc_by_decile[0].value, 'number')
})

t.test('the same bytes at any number of threads', async t => {
  const dump = dumpOf('threads', { ...SMALL, samples: 24 })
  for (const n of ['1', '2', '3', '5']) {
    t.equal((await runCli(['diagnose', dump, '--out', join(work, `threads-${n}`), '--threads', n, '--formats', 'svg'])).code, 0)
  }
  const one = hashes(join(work, 'threads-1'))
  t.ok(Object.keys(one).length >= 10)
  t.strictSame(hashes(join(work, 'threads-2')), one)
  for (const n of ['3', '5']) t.strictSame(hashes(join(work, `threads-${n}`)), one)
})

t.test('text of the inputs has no effect', async t => {
  const folder = join(work, '<img src=x onerror=alert(1)>')
  mkdirSync(folder)
  const hostile = '<script>alert("uid")</script>\u202e=cmd'
  writeDump(join(folder, 'dump.jsonl'), diagnosticDump({ ...SMALL, fault: 'values-off-by-one' }), row => ({ ...row, uid: hostile }))
  const run = await runCli(['diagnose', folder, '--out', join(work, 'hostile'), '--formats', 'svg'])
  t.match(run, { code: 0 }, run.stderr)
  t.notMatch(run.stdout, /\u202e/, 'a direction of text is shown as an escape')
  const [name] = readdirSync(join(work, 'hostile'))
  const page = readFileSync(join(work, 'hostile', name, 'preview/diagnostics.html'), 'utf8')
  t.notMatch(page, /<script|<img src=x|\u202e/)
  t.match(page, /&lt;script&gt;alert\(&quot;uid&quot;\)&lt;\/script&gt;\\u202e=cmd/)
  t.match(page, /&lt;img src=x onerror=alert\(1\)&gt;/)
  const svg = readFileSync(join(work, 'hostile', name, 'figures/critic-quality.svg'), 'utf8')
  t.notMatch(svg, /<img|<script/)
  t.equal(documentOf('hostile', name).findings[0].place!.uid, hostile, 'verbatim in the document')
})

t.test('characters that no font has are named once, however many figures have them', async t => {
  const path = join(work, 'critic \u{13080}.jsonl')
  writeDump(path, diagnosticDump(SMALL))
  // Without fontconfig's list; the optional package has no hieroglyphs.
  const run = await runCli(['diagnose', path, '--out', join(work, 'signs'), '--formats', 'png,svg'], { env: { PATH: '/nonexistent' } })
  t.match(run, { code: 0 }, run.stderr)
  t.same(run.stderr.match(/^note: figures have boxes in place of .*$/gm), [
    'note: figures have boxes in place of \u{13080}, which no font here has: npm install @expo-google-fonts/noto-sans-sc (Chinese), or install a font that has them'
  ])
})

t.test('a bad sample stops the dump, or is left out and counted', async t => {
  const path = join(work, 'bad.jsonl')
  writeDump(path, diagnosticDump(SMALL), (row, index) =>
    index === 3 ? { ...row, values: (row['values'] as readonly number[]).map(() => NaN) } : row
  )
  t.match(await diagnose('bad', path), { code: 1, stderr: /trace number that is not finite: NaN, expected finite numbers/ })
  const withNaN = join(work, 'bad-first')
  mkdirSync(withNaN)
  for (const name of ['a', 'b']) {
    writeDump(join(withNaN, `${name}.jsonl`), diagnosticDump(SMALL), (row, index) =>
      name === 'b' && index === 3 ? { ...row, values: (row['values'] as readonly number[]).map((x, k) => (k === 0 ? NaN : x)) } : row
    )
  }
  const placeIn = ({ stderr }: { readonly stderr: string }): string | undefined => /\((.*), values, index 0\)$/m.exec(stderr)?.[1]
  const traces = await runCli(['traces', withNaN, '--no-figures', '--out', join(work, 'bad-traces')])
  t.match(placeIn(traces), /bad-first\/b\.jsonl, trace \d+, uid /)
  t.equal(placeIn(await diagnose('bad', withNaN)), placeIn(traces), 'the place that traces states')
  t.equal((await diagnose('bad', path, '--skip-bad')).code, 0)
  t.match(documentOf('bad', 'bad').source, { samples: 15, left_out: 1 })
})

t.test('a snapshot: gamma and lambda of its returns, and what it cannot tell', async t => {
  const run = await diagnose('snapshot', fixture('snapshot'))
  t.match(run, { code: 0 }, run.stderr)
  const { audit, source } = documentOf('snapshot', 'snapshot')
  t.match(source, { kind: 'html', samples: 4 })
  near(t, audit.gamma, 1, 1e-9, 'gamma')
  near(t, audit.lambda_returns, 1, 1e-9, 'lambda of returns')
  t.equal(audit.value_alignment, null)
  t.ok(audit.not_identifiable.includes('value_alignment') && audit.not_identifiable.includes('rule'))
  const { code } = await diagnose('snapshot', fixture('snapshot'), '--gamma', '1', '--lambda-returns', '1')
  t.equal(code, 0)
})

t.test('figures and page', async t => {
  const run = await diagnose('figures', dumpOf('figures', SMALL), '--formats', 'png')
  t.match(run, { code: 0 }, run.stderr)
  t.strictSame(readdirSync(join(work, 'figures/figures/figures')).sort(), ['boundary-jumps.png', 'critic-quality.png'])
  const page = readFileSync(join(work, 'figures/figures/preview/diagnostics.html'), 'utf8')
  t.equal(page.match(/<figure [^>]*>\n<div class="wide(?: tall)?"><svg /g)?.length, 2)
  t.match(page, /default-src 'none'; img-src data:; style-src 'sha256-/)
  t.notMatch(page, /<script|https?:\/\/(?!github\.com|www\.w3\.org\/2000\/svg")/)
})

t.test('the example of docs/diagnostics.md is what the command prints', async t => {
  const run = await runCli(['diagnose', 'final-reward-masked.jsonl', '--gamma', '1', '--out', join(work, 'example'), '--no-figures'], {
    cwd: fixture('diagnostics')
  })
  t.equal(run.code, 1)
  const docs = readFileSync(join(root, 'docs/diagnostics.md'), 'utf8')
  t.equal(/^```\n\$ node [^\n]*\n(.*?)^```$/ms.exec(docs)?.[1], run.stdout.replace(join(work, 'example'), 'out'))
})

t.test('every document follows its kind', t => {
  for (const [out, name] of [
    ['clean', 'clean'],
    ['two', 'a'],
    ['strata', 'strata'],
    ['snapshot', 'snapshot']
  ]) {
    const document = documentOf(out, name)
    t.strictSame(CRITIC_DIAGNOSTICS.read(document, '', { format: 'test', place: {}, paths: [] }), document, name)
  }
  t.end()
})
