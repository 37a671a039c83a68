/** `traces` as a bundle: the same bytes as from its modules, with and without what the engine compiled before. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'
import t from 'tap'
import { sealed } from '../src/core/load.cjs'
import { fixture, root } from './support/paths.js'

const BUNDLES = ['traces', 'worker']

/** Every output of a run over a snapshot, by path. */
function outputs(program: string, out: string, flags: readonly string[] = [], snapshot = fixture('snapshot')): Record<string, string> {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env
  const args = [...flags, program, 'traces', snapshot, '--no-figures', '--out', out]
  const child = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  if (child.status !== 0) throw new Error(child.stderr)
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter(path => statSync(join(out, path)).isFile())
  return Object.fromEntries(files.sort().map(path => [path, readFileSync(join(out, path), 'latin1')]))
}

t.test('bundles and modules write the same bytes, whatever the engine kept', t => {
  // a copy that may be damaged, as deep as the original
  const dir = t.testdir()
  const dist = join(dir, 'copy/dist')
  mkdirSync(dist, { recursive: true })
  for (const part of ['run.js', 'src', 'workers', 'bundle']) cpSync(join(root, 'dist', part), join(dist, part), { recursive: true })
  for (const part of ['package.json', 'node_modules']) symlinkSync(join(root, part), join(dir, 'copy', part))
  writeFileSync(join(dist, 'modules.js'), "await (await import('./src/cli/program.js')).run()\n")
  const compiled = (name: string): string => join(dist, 'bundle', `${name}.compiled`)
  // Outputs name their own folder nowhere: one may be compared with another.
  let runs = 0
  const of = (program: string, flags?: readonly string[]): Record<string, string> => outputs(program, join(dir, `out-${++runs}`), flags)

  const wanted = of(join(dist, 'modules.js'))
  t.equal(Object.keys(wanted).length, 13)
  t.strictSame(of(join(root, 'dist/run.js')), wanted, 'as built')
  t.strictSame(of(join(dist, 'run.js'), ['--no-opt']), wanted, 'in an engine with other settings')
  for (const name of BUNDLES) truncateSync(compiled(name), 1000)
  t.strictSame(of(join(dist, 'run.js')), wanted, 'cut short')
  for (const name of BUNDLES) writeFileSync(compiled(name), Buffer.alloc(5000, 0xa5))
  t.strictSame(of(join(dist, 'run.js')), wanted, 'garbage')
  for (const name of BUNDLES) {
    const content = readFileSync(join(root, 'dist/bundle', `${name}.compiled`))
    writeFileSync(compiled(name), content.fill(0, 40_960, 45_056))
  }
  t.strictSame(of(join(dist, 'run.js')), wanted, 'a block lost: the engine itself would end by a signal')
  for (const name of BUNDLES) {
    const content = readFileSync(join(root, 'dist/bundle', `${name}.compiled`)).subarray(0, -8)
    writeFileSync(compiled(name), sealed(readFileSync(join(dist, 'bundle', `${name}.cjs`)), content.fill(0, 40_960, 45_056)))
  }
  writeFileSync(join(dir, 'another.cjs'), "Object.defineProperty(process, 'version', { value: 'v20.15.0' })\n")
  t.strictSame(of(join(dist, 'run.js'), ['--require', join(dir, 'another.cjs')]), wanted, 'of another release of Node')
  for (const name of BUNDLES) unlinkSync(compiled(name))
  t.strictSame(of(join(dist, 'run.js')), wanted, 'none')
  // dependencies beside the package, as npm lays them
  mkdirSync(join(dir, 'flat/node_modules'), { recursive: true })
  renameSync(join(dir, 'copy'), join(dir, 'flat/node_modules/critic-traces'))
  unlinkSync(join(dir, 'flat/node_modules/critic-traces/node_modules'))
  for (const name of readdirSync(join(root, 'node_modules')))
    symlinkSync(join(root, 'node_modules', name), join(dir, 'flat/node_modules', name))
  const flat = join(dir, 'flat/node_modules/critic-traces/dist')
  t.strictSame(of(join(flat, 'run.js')), wanted, 'dependencies beside it')
  unlinkSync(join(flat, 'bundle/traces.cjs'))
  const unbuilt = spawnSync(process.execPath, [join(flat, 'run.js'), 'traces', fixture('snapshot')], { encoding: 'utf8' })
  t.equal(unbuilt.status, 3)
  t.match(unbuilt.stderr, /^critic-traces: program not built: no dist\/bundle\/traces\.cjs, expected what "npm run build" writes\n$/)
  t.end()
})

t.test('a page on which parse5 decides', t => {
  const dir = t.testdir()
  const snapshot = join(dir, 'snapshot')
  cpSync(fixture('snapshot'), snapshot, { recursive: true })
  const page = readFileSync(join(snapshot, 'index.html'), 'utf8')
  writeFileSync(join(snapshot, 'index.html'), page.replace('<body>', '<body><template><script id="data">decoy</script></template>'))
  t.not(readFileSync(join(snapshot, 'index.html'), 'utf8'), page)
  const without = (files: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(files).filter(([path]) => /\.(?:arrow|csv|npz)$/.test(path)))
  const plain = without(outputs(join(root, 'dist/run.js'), join(dir, 'plain')))
  t.ok(Object.keys(plain).length > 2)
  t.strictSame(without(outputs(join(root, 'dist/run.js'), join(dir, 'unusual'), [], snapshot)), plain)
  t.end()
})

t.test('a source map leads from a bundle, and from a module, to the line of the source', t => {
  const lines = {
    'traces.cjs': ['src/cli/args.ts', 'no command'],
    'worker.cjs': ['src/ingest/json/faults.ts', 'duplicate key']
  } as const
  const built = Object.entries(lines).map(([name, [source, text]]) => ({ file: join(root, 'dist/bundle', name), source, text }))
  const modules = built.map(({ source, text }) => ({ file: join(root, 'dist', source.replace(/ts$/, 'js')), source, text }))
  for (const { file, source, text } of [...built, ...modules]) {
    const content = readFileSync(file, 'utf8')
    t.match(content, new RegExp(`\\n//# sourceMappingURL=${basename(file)}\\.map\\n*$`))
    const before = content.slice(0, content.search(new RegExp(`['"]${text}['"]`))).split('\n')
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')) as SourceMapPayload)
    const found = map.findEntry(before.length - 1, before[before.length - 1].length)
    if (!('originalSource' in found)) throw new Error(`${file}: nothing is mapped there`)
    const original = join(dirname(file), found.originalSource)
    t.equal(original, join(root, source))
    t.match(readFileSync(original, 'utf8').split('\n')[found.originalLine], `'${text}'`)
  }
  t.end()
})

t.test('what the build kept is what this engine takes', t => {
  for (const name of [...BUNDLES, 'diagnose', 'all']) {
    const file = join(root, 'dist/bundle', name)
    const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(`${file}.cjs`, 'latin1')}\n})`
    const compiled = readFileSync(`${file}.compiled`)
    const code = compiled.subarray(0, -8)
    const own = compiled.equals(sealed(readFileSync(`${file}.cjs`), code))
    t.ok(own, `${name} is compiled by this release of Node`)
    // Another's code may end the process.
    if (own) t.equal(new Script(source, { cachedData: code }).cachedDataRejected, false, name)
    const lines = source.split('\n').filter(line => !/^\s*(?:\/\*\*|\*|\/\/)/.test(line))
    t.strictSame(
      lines.filter(line => /[^\x00-\x7f]/.test(line)),
      [],
      `${name} is ASCII but for comments: it is read as Latin-1`
    )
  }
  t.end()
})
