/** What is published: the files of `npm pack`. That they are enough in an empty folder: all/pack-installed.test.ts. */
import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { removeStale, sourceOf } from '../tools/stale.js'
import { tree } from './support/folders.js'
import { packedFiles } from './support/installed.js'
import { root } from './support/paths.js'

const BUNDLES = ['all', 'traces', 'worker', 'diagnose'].flatMap(name => [`${name}.cjs`, `${name}.compiled`])

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
  const built = [
    'run.js',
    ...modules,
    ...copied,
    'src/kernel/kernel.wasm',
    ...BUNDLES.map(name => `bundle/${name}`),
    'bundle/explorer.js',
    'bundle/figures.js'
  ]
  const wanted = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'package.json',
    ...built.map(path => `dist/${path}`),
    ...below('deploy'),
    ...below('docs'),
    ...below('examples').filter(path => path.endsWith('.py'))
  ]
  t.strictSame(packedFiles(), wanted.sort())
  t.end()
})

t.test('a build removes what no source makes any more', async t => {
  const kept = {
    'run.js': '',
    'run.d.ts': '',
    src: { 'a.js': '', 'a.d.ts': '', 'b.cjs': '', 'b.d.cts': '', kernel: { 'kernel.wasm': '' }, replica: { 'claims.json': '' } },
    bundle: { 'traces.cjs': '' }
  }
  const dir = t.testdir({
    'run.ts': '',
    src: { 'a.ts': '', 'b.cts': '', replica: { 'claims.json': '' } },
    dist: {
      ...kept,
      src: { ...kept.src, 'moved.js': '', 'moved.d.ts': '', 'a.cjs': '', room: { deep: { 'old.js': '' } } },
      test: { 'old.test.js': '' }
    }
  })
  await removeStale(dir)
  t.strictSame(tree(join(dir, 'dist')), [
    'bundle/traces.cjs',
    'run.d.ts',
    'run.js',
    'src/a.d.ts',
    'src/a.js',
    'src/b.cjs',
    'src/b.d.cts',
    'src/kernel/kernel.wasm',
    'src/replica/claims.json'
  ])
  t.strictSame(readdirSync(join(dir, 'dist')).sort(), ['bundle', 'run.d.ts', 'run.js', 'src'], 'no empty folder')
  t.strictSame(readdirSync(join(dir, 'dist/src')).sort(), ['a.d.ts', 'a.js', 'b.cjs', 'b.d.cts', 'kernel', 'replica'])
  await t.resolves(removeStale(dir), 'nothing to remove')
  const orphans = ['src', 'workers', 'tools', 'test']
    .flatMap(folder => below(`dist/${folder}`))
    .filter(path => !path.endsWith('/kernel.wasm') && !existsSync(join(root, sourceOf(relative('dist', path)))))
  t.strictSame(orphans, [], 'this build has none')
})
