/** The examples of docs/library.md, run as another project would: the package is found by its name. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import * as library from '../src/index.js'
import type { CriticDiagnosticsDocument } from '../src/schema/outputs/critic-diagnostics.js'
import { runCli } from './support/cli.js'
import { CLEAN, diagnosticDump } from './support/diagnostic-dumps.js'
import { writeDump } from './support/diagnostic-files.js'
import { root } from './support/paths.js'
import { writeSnapshot, type TestTrace } from './support/snapshot.js'

const DOC = readFileSync(join(root, 'docs/library.md'), 'utf8')
const [SNAPSHOTS, CRITIC, STUDY] = [...DOC.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text]) => text)

/** A project that has this package installed as `npm install ../critic-traces` does it. */
function project(t: Test, example: string): string {
  const dir = t.testdir({ 'example.mjs': example, node_modules: {} })
  symlinkSync(root.replace(/\/$/, ''), join(dir, 'node_modules/critic-traces'))
  return dir
}

async function run(dir: string): Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number }> {
  return promisify(execFile)(process.execPath, ['example.mjs'], { cwd: dir }).then(
    output => ({ ...output, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => ({ stdout: error.stdout, stderr: error.stderr, code: error.code })
  )
}

/** One boundary, between the second and the third token; it and the last transition are jumps, of 0.5 and of 0.25. */
function trace(outcome: 'success' | 'failure'): TestTrace {
  const end = outcome === 'success' ? 1 : 0
  return {
    step: 7,
    outcome,
    score: end,
    uid: outcome,
    prediction_stage: 'before_critic_update',
    npz: `${outcome}.npz`,
    values: [0.25, 0.25, 0.75, 0.5],
    returns: [end, end, end, end],
    response_positions: [0, 1, 9, 10],
    segment_texts: ['a<|im_end|>', 'b']
  }
}

t.test('every snapshot below a folder', async t => {
  const dir = project(t, SNAPSHOTS)
  await writeSnapshot(join(dir, 'snapshots/one'), [trace('success'), trace('failure')])
  await writeSnapshot(join(dir, 'snapshots/two'), [trace('success')])
  t.same(await run(dir), { code: 0, stderr: '', stdout: 'one done 8 2\ntwo done 4 1\n' })
  t.ok(existsSync(join(dir, 'artifacts/one/figures/08-critic-traces.svg')))
  t.same(await run(dir), { code: 0, stderr: '', stdout: 'one unchanged 8 2\ntwo unchanged 4 1\n' })
  // Another array than the page's: its own result, and the exit code of the command line.
  await writeSnapshot(join(dir, 'snapshots/two'), [trace('success')], { editJson: json => json.replace('0.75', '0.7') })
  const { code, stdout } = await run(dir)
  t.equal(code, 1)
  t.match(stdout, /^one unchanged 8 2\ntwo failed undefined undefined .+two/)
})

t.test('a critic', async t => {
  const dir = project(t, CRITIC)
  writeDump(join(dir, 'dump.jsonl'), diagnosticDump({ ...CLEAN, fault: 'values-off-by-one' }))
  const stdout = (status: string, of: string): string =>
    `${status} 0.990 carry values-off-by-one at ${of}\ngamma differs values-off-by-one\n`
  const first = await run(dir)
  t.match(first, { code: 0, stderr: '' })
  const { findings, quality, audit } = JSON.parse(
    readFileSync(join(dir, 'artifacts/dump/training_data/critic-diagnostics.json'), 'utf8')
  ) as CriticDiagnosticsDocument
  t.match(audit.told, [{ name: 'gamma', told: 1, agrees: false }])
  const lines = first.stdout.split('\n')
  t.equal(lines.splice(1, 1)[0], `explained variance ${quality.explained_variance.value?.toFixed(4)}`)
  t.equal(lines.join('\n'), stdout('done', String(findings[0].place?.sample)))
  const again = await run(dir)
  t.equal(again.stdout, first.stdout.replace('done', 'unchanged'))
  writeDump(join(dir, 'dump.jsonl'), diagnosticDump(CLEAN), (row, i) => (i === 2 ? { ...row, values: [] } : row))
  const { code, stderr } = await run(dir)
  t.equal(code, 1)
  t.match(stderr, /Failures|Fault/, 'a bad sample is an exception')
})

t.test('a study', async t => {
  const dir = project(t, STUDY)
  const claims = readFileSync(join(root, 'docs/claims.md'), 'utf8')
  for (const [, name, text] of claims.matchAll(/^`([^`]+)`[^\n]*:\n\n```\w+\n([\s\S]*?)^```$/gm)) {
    mkdirSync(dirname(join(dir, 'my-study', name)), { recursive: true })
    writeFileSync(join(dir, 'my-study', name), text)
  }
  t.match(await runCli(['manifest', '--study', join(dir, 'my-study'), '--write', '--quiet']), { code: 0 })
  const { code, stdout, stderr } = await run(dir)
  t.equal(code, 0, stderr)
  t.match(stdout, /agrees: 2,\s+differs: 0,/)
  writeFileSync(join(dir, 'my-study/claims.json'), '{}')
  t.match(await run(dir), { code: 1, stderr: 'a file is not as the manifest lists it' })
})

t.test('the table of exports has every value, and no other', t => {
  const table = DOC.slice(DOC.indexOf('## What there is'))
  const named = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  t.strictSame(named.sort(), Object.keys(library).sort())
  t.end()
})
