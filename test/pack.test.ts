/** What is published: the files of `npm pack`, and that they are enough in an empty folder. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { removeStale, sourceOf } from '../tools/stale.js'
import { runCli } from './support/cli.js'
import { tree } from './support/folders.js'
import { install, packedFiles, runIn } from './support/installed.js'
import { fixture, root } from './support/paths.js'
import { runReplica } from './support/replica-run.js'
import { hashes } from './support/run.js'

const BUNDLES = ['traces.cjs', 'traces.compiled', 'worker.cjs', 'worker.compiled']

function below(folder: string): string[] {
  return tree(join(root, folder)).map(path => join(folder, path))
}

/** What the compiler makes of a module. */
function compiled(source: string): string[] {
  return source.endsWith('.cts')
    ? [source.replace(/\.cts$/, '.cjs'), source.replace(/\.cts$/, '.d.cts')]
    : [source.replace(/\.ts$/, '.js'), source.replace(/\.ts$/, '.d.ts')]
}

t.test('every module and document is packed, and nothing else', t => {
  const sources = [...below('src'), ...below('workers')].filter(path => !path.startsWith('src/kernel/assembly/'))
  const modules = sources.filter(path => /\.c?ts$/.test(path)).flatMap(compiled)
  const copied = sources.filter(path => /^src\/replica\/(?:claims\.json$|article\/)/.test(path))
  const built = ['run.js', ...modules, ...copied, 'src/kernel/kernel.wasm', ...BUNDLES.map(name => `bundle/${name}`)]
  const wanted = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', ...built.map(path => `dist/${path}`), ...below('docs')]
  t.strictSame(packedFiles(), wanted.sort())
  t.end()
})

t.test('a build removes what no source makes any more', async t => {
  const kept = {
    'run.js': '', 'run.d.ts': '',
    src: { 'a.js': '', 'a.d.ts': '', 'b.cjs': '', 'b.d.cts': '', kernel: { 'kernel.wasm': '' }, replica: { 'claims.json': '' } },
    bundle: { 'traces.cjs': '' }
  }
  const dir = t.testdir({
    'run.ts': '', src: { 'a.ts': '', 'b.cts': '', replica: { 'claims.json': '' } },
    dist: { ...kept, src: { ...kept.src, 'moved.js': '', 'moved.d.ts': '', 'a.cjs': '', room: { deep: { 'old.js': '' } } }, test: { 'old.test.js': '' } }
  })
  await removeStale(dir)
  t.strictSame(tree(join(dir, 'dist')), [
    'bundle/traces.cjs', 'run.d.ts', 'run.js', 'src/a.d.ts', 'src/a.js', 'src/b.cjs', 'src/b.d.cts', 'src/kernel/kernel.wasm', 'src/replica/claims.json'
  ])
  t.strictSame(readdirSync(join(dir, 'dist')).sort(), ['bundle', 'run.d.ts', 'run.js', 'src'], 'no empty folder')
  t.strictSame(readdirSync(join(dir, 'dist/src')).sort(), ['a.d.ts', 'a.js', 'b.cjs', 'b.d.cts', 'kernel', 'replica'])
  await t.resolves(removeStale(dir), 'nothing to remove')
  const orphans = ['src', 'workers', 'tools', 'test'].flatMap(folder => below(`dist/${folder}`))
    .filter(path => !path.endsWith('/kernel.wasm') && !existsSync(join(root, sourceOf(relative('dist', path)))))
  t.strictSame(orphans, [], 'this build has none')
})

t.test('installed in an empty folder', async t => {
  const project = install(t)
  const { out } = await runReplica(t)

  await t.test('npx critic-traces all: the same outputs, of a replica of its own', async t => {
    const { code, stderr } = await runIn(project, 'npx', ['--no-install', 'critic-traces', 'all', '--out', 'all', '--quiet'], {
      CRITIC_TRACES_CACHE: join(project, 'cache')
    })
    t.equal(code, 0, stderr)
    const { counts } = JSON.parse(readFileSync(join(project, 'all/audit.json'), 'utf8'))
    const claims = (JSON.parse(readFileSync(join(root, 'src/replica/claims.json'), 'utf8')) as { readonly claims: readonly unknown[] }).claims
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
    const { code, stderr } = await runIn(project, 'npx', ['--no-install', 'critic-traces', 'traces', 'snapshot', '--out', 'traces', '--quiet'])
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
