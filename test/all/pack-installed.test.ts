/** What is published is enough in an empty folder. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runCli } from '../support/cli.js'
import { install, runIn } from '../support/installed.js'
import { fixture, root } from '../support/paths.js'
import { runReplica } from '../support/replica-run.js'
import { hashes } from '../support/run.js'

t.test('installed in an empty folder', async t => {
  const project = install(t)
  const { out } = await runReplica(t)

  await t.test('npx critic-traces all: the same outputs, of a replica of its own', async t => {
    const { code, stderr } = await runIn(project, 'npx', ['--no-install', 'critic-traces', 'all', '--out', 'all', '--quiet'], {
      CRITIC_TRACES_CACHE: join(project, 'cache')
    })
    t.equal(code, 0, stderr)
    const { counts } = JSON.parse(readFileSync(join(project, 'all/audit.json'), 'utf8'))
    const claims = (JSON.parse(readFileSync(join(root, 'src/replica/claims.json'), 'utf8')) as { readonly claims: readonly unknown[] })
      .claims
    t.match(counts, { differs: 0, not_computable: 0 })
    t.equal(counts.agrees + counts.source + counts.quoted, claims.length)
    // timings.json has times
    const { 'timings.json': ours, ...checkout } = hashes(out)
    const { 'timings.json': theirs, ...installed } = hashes(join(project, 'all'))
    t.ok(ours !== undefined && theirs !== undefined)
    t.ok(Object.keys(checkout).length > 60)
    t.strictSame(installed, checkout)
  })

  await t.test('npx critic-traces traces: the bundles find what they open', async t => {
    cpSync(fixture('snapshot'), join(project, 'snapshot'), { recursive: true })
    const { code, stderr } = await runIn(project, 'npx', [
      '--no-install',
      'critic-traces',
      'traces',
      'snapshot',
      '--out',
      'traces',
      '--quiet'
    ])
    t.equal(code, 0, stderr)
    const checkout = t.testdir()
    t.match(await runCli(['traces', 'snapshot', '--out', checkout, '--quiet'], { cwd: project }), { code: 0 })
    t.strictSame(hashes(join(project, 'traces')), hashes(checkout))
  })

  await t.test("import 'critic-traces': the first example of docs/library.md", async t => {
    const doc = readFileSync(join(project, 'node_modules/critic-traces/docs/library.md'), 'utf8')
    writeFileSync(join(project, 'example.mjs'), /^```js\n([\s\S]*?)^```$/m.exec(doc)?.[1] ?? '')
    mkdirSync(join(project, 'snapshots'))
    cpSync(fixture('snapshot'), join(project, 'snapshots/tiny'), { recursive: true })
    t.match(await runIn(project, process.execPath, ['example.mjs']), { code: 0, stderr: '', stdout: /^tiny done \d+ \d+\n$/ })
  })
})
