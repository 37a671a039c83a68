/**
 * The second half of `npm run build`, after the TypeScript compiler; all files go into `dist/`:
 *
 *     src/replica/                      what the replica copies as it is: claims, article
 *     src/kernel/kernel.wasm            the compiled loops, from AssemblyScript
 *     maps/kernel.wasm.map              their source map, which is not published
 *     bundle/traces.cjs, diagnose.cjs   these commands, each as one file; `merge` is in the first
 *     bundle/all.cjs                    `all`, `audit` and `watch` as one file
 *     bundle/worker.cjs                 the same of the pool's worker
 *     bundle/explorer.js                the script of the explorer's page, with the licences of what it is made of
 *     bundle/figures.js                 the script of the article's figures, likewise
 *     bundle/*.cjs.map                  their source maps to `src/`, which are not published, as those of the modules
 *     bundle/*.compiled                 what the engine compiled of them while it read a tiny snapshot
 *     .built                            a hash of all that these are made of, and of them
 *
 * Before that it removes what no source makes any more (`stale.ts`). Where `.built` still has the hash, it makes nothing.
 *
 * `traces` measures a snapshot in half a second, `diagnose` takes a second. Without bundles a third and a sixth of it was loading
 * some 150 modules and compiling their functions. `all`, `audit` and `watch` are bundled because Node 20 opens the modules of an
 * import side by side: 70 files at once. The other commands run from their modules.
 */
import assemblyscript from 'assemblyscript/asc'
import { build, type Plugin } from 'esbuild'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { sweepThresholds } from '../src/compute/diagnostics/quality/changes.js'
import type { TraceAnswer, TraceTask, TraceWanted } from '../src/compute/traces/trace-task.js'
import { PageSource } from '../src/ingest/traces/page.js'
import { compiledFile, loadBundle, type Bundle } from '../src/core/load.cjs'
import { DEFAULT_CRITIC_TRACE_STUDY, DEFAULT_KEYS } from '../src/schema/traces.js'
import { removeStale } from './stale.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DIST = join(ROOT, 'dist')
const BUNDLES = join(DIST, 'bundle')
/** Bundles are made here and moved to their place when they are whole. */
const NEW_BUNDLES = join(DIST, 'bundle.new')
const BUILT = join(DIST, '.built')
const SNAPSHOT = join(ROOT, 'fixtures/snapshot')

/** Copies files of the replica that are no modules; the TypeScript compiler does not copy them. */
async function copyReplicaFiles(): Promise<void> {
  for (const name of ['claims.json', 'article'])
    await cp(join(ROOT, 'src/replica', name), join(DIST, 'src/replica', name), { recursive: true })
}

async function compileKernel(): Promise<void> {
  const { error, stderr } = await assemblyscript.main([
    'src/kernel/assembly/index.ts',
    '--baseDir',
    ROOT,
    '--outFile',
    'dist/src/kernel/kernel.wasm',
    '--optimizeLevel',
    '3',
    '--noAssert',
    '--runtime',
    'stub',
    '--enable',
    'simd,threads',
    '--importMemory',
    '--sharedMemory',
    '--maximumMemory',
    '65536',
    '--sourceMap',
    '../../maps/kernel.wasm.map'
  ])
  if (error !== null) throw new Error(`the kernel does not compile\n${stderr.toString()}`, { cause: error })
  await mkdir(join(DIST, 'maps'), { recursive: true })
  await rename(join(DIST, 'src/kernel/kernel.wasm.map'), join(DIST, 'maps/kernel.wasm.map'))
}

/**
 * Gives a bundled module the place that its file has in `dist/` or in its package. There it finds the files that it opens
 * relative to itself.
 */
const inPlace: Plugin = {
  name: 'in-place',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const inPackage = path.split(sep).join('/').split('/node_modules/')
      const place =
        inPackage.length === 1 ? `__ours(${quoted(relative(DIST, path))})` : `__package(${quoted(inPackage[inPackage.length - 1])})`
      const text = await readFile(path, 'utf8')
      const contents = text
        // a package that is required on demand is bundled too, and runs when it is required
        .replace(/createRequire\(import\.meta\.url\)\(('[^']+')\)/g, 'require($1)')
        .replaceAll('import.meta.url', `require('node:url').pathToFileURL(${place}).href`)
      return { contents: contents.includes('__dirname') ? `var __dirname = require('node:path').dirname(${place});${contents}` : contents }
    })
  }
}

function quoted(path: string): string {
  return JSON.stringify(path.split(sep).join('/'))
}

/**
 * Where files of this package and of other packages lie. Other packages lie where Node finds them from the bundle, beside
 * this package too.
 */
const PLACES = `
const __ours = path => require('node:path').join(__dirname, '..', path)
const __package = path => require.resolve.paths(path).map(folder => require('node:path').join(folder, path)).find(require('node:fs').existsSync)`

/** Commands in modules of their own: src/cli/cli.ts imports a command's module when it runs that command. */
const COMMANDS = ['all', 'audit', 'diagnose', 'explore', 'fetch', 'manifest', 'merge', 'study', 'traces', 'verify', 'watch']

/** @param commands those that the bundle has; it loads the modules of others */
async function bundle(name: string, entry: string, commands: readonly string[] = []): Promise<void> {
  const { warnings } = await build({
    entryPoints: [join(DIST, entry)],
    outfile: join(NEW_BUNDLES, `${name}.cjs`),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    charset: 'ascii',
    sourcemap: 'linked',
    sourcesContent: false,
    preserveSymlinks: true,
    logLevel: 'silent',
    plugins: [inPlace],
    banner: { js: PLACES },
    // canvas has a binary of the machine beside its JavaScript; the others draw with it
    external: [
      '@huggingface/tokenizers',
      'canvas',
      'chart.js',
      'chartjs-plugin-annotation',
      ...COMMANDS.filter(command => !commands.includes(command)).map(command => join(DIST, `src/cli/${command}.js`))
    ]
  })
  if (warnings.length > 0) throw new Error(`the bundle ${name} has warnings: ${warnings.map(w => w.text).join('; ')}`)
}

interface PageScript {
  /** of the script in `bundle/` */
  readonly name: string
  readonly entry: string
  /** most bytes that it may have with gzip */
  readonly maxBytes: number
}

const PAGE_SCRIPTS: readonly PageScript[] = [
  { name: 'explorer', entry: 'src/render/explorer/browser/main.js', maxBytes: 150_000 },
  { name: 'figures', entry: 'src/render/page/browser/figures.js', maxBytes: 15_000 }
]

/** A page has the script as it is, so that licences stand in it. */
async function bundlePageScript({ name, entry, maxBytes }: PageScript): Promise<void> {
  const { warnings, outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(DIST, entry)],
    outfile: join(NEW_BUNDLES, `${name}.js`),
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    charset: 'ascii',
    legalComments: 'none',
    preserveSymlinks: true,
    logLevel: 'silent',
    metafile: true,
    write: false
  })
  const fail = (what: string): never => {
    throw new Error(`the page script ${name} ${what}`)
  }
  if (warnings.length > 0) fail(`has warnings: ${warnings.map(w => w.text).join('; ')}`)
  const packages = new Set(Object.keys(metafile.inputs).flatMap(path => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  const licences = [...packages].sort().map(folder => `/*!\n${readFileSync(join(ROOT, folder, 'LICENSE'), 'utf8').trim()}\n*/\n`)
  const script = [...licences, outputFiles[0].text].join('')
  const { length } = gzipSync(script)
  if (length > maxBytes) fail(`has ${length} bytes with gzip, expected at most ${maxBytes}`)
  if (/<\/script|<!--/i.test(script)) fail('ends the element that holds it')
  await writeFile(join(NEW_BUNDLES, `${name}.js`), script)
}

async function keepCompiled(name: string, use: (exports: object) => Promise<void>): Promise<void> {
  const loaded: Bundle = loadBundle(name)
  await use(loaded.exports)
  const temp = join(NEW_BUNDLES, name)
  await writeFile(temp, loaded.compiled())
  await rename(temp, compiledFile(name))
}

async function useCommand(command: string, exports: object, ...options: readonly string[]): Promise<void> {
  const { main } = exports as typeof import('../src/cli/program.js')
  const out = await mkdtemp(join(tmpdir(), 'critic-traces-build-'))
  let told = ''
  const kept = {
    write: (text: string) => {
      told += text
      return true
    }
  } as unknown as NodeJS.WriteStream
  const io = { stdout: kept, stderr: kept, env: {}, now: () => performance.now(), signal: new AbortController().signal }
  try {
    const code = await main([command, SNAPSHOT, '--no-figures', '--out', out, ...options], io)
    if (code !== 0) throw new Error(`the bundled program ended with ${code}: ${told.trimEnd()}`)
  } finally {
    await rm(out, { recursive: true })
  }
}

/** Has the worker answer the traces of a tiny snapshot, as `traces` asks and as `diagnose` does, and resample two units. */
async function useWorker(exports: object): Promise<void> {
  const { default: answer } = exports as typeof import('../workers/trace.js')
  const measure = (task: TraceTask) => answer(task) as TraceAnswer
  const { jump_threshold: jumpThreshold, success_threshold: successThreshold } = DEFAULT_CRITIC_TRACE_STUDY
  const wishes: readonly TraceWanted[] = [
    { columns: true, record: null },
    { columns: false, record: { thresholds: sweepThresholds(jumpThreshold) } }
  ]
  for (const wanted of wishes) {
    const page = new PageSource(join(SNAPSHOT, 'index.html'), { keys: DEFAULT_KEYS })
    for await (const slice of page.slices()) {
      const answered = measure({
        kind: 'snapshot',
        wanted,
        folder: SNAPSHOT,
        keys: DEFAULT_KEYS,
        jumpThreshold,
        successThreshold,
        endMarker: '<|im_end|>',
        room: null,
        ...slice
      })
      if (!answered.ok) throw new Error('the bundled worker does not read the snapshot', { cause: answered.fault })
    }
  }
  const numbers = { order: Int32Array.of(0, 1), rows: new Float64Array(8), blocks: Int32Array.of(0, 8), columns: 1, ranks: [] }
  answer({ kind: 'resamples', numbers, draws: { seed: 0, resamples: 2, stream: 0 }, from: 0, to: 2 })
}

/** What the files of this program are made of, and these files; `dist/` has compiled modules and copied files. */
function hashOfBuild(): string {
  const hash = createHash('sha256').update(process.version)
  for (const folder of [
    'dist/src',
    'dist/workers',
    'dist/bundle',
    'dist/maps',
    'dist/tools',
    'src/kernel/assembly',
    'src/replica',
    'fixtures/snapshot'
  ]) {
    if (!existsSync(join(ROOT, folder))) continue
    const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    for (const path of entries.map(entry => relative(ROOT, join(entry.parentPath, entry.name))).sort()) {
      hash.update(`\0${path}\0`).update(readFileSync(join(ROOT, path)))
    }
  }
  for (const path of ['package.json', 'package-lock.json']) hash.update(readFileSync(join(ROOT, path)))
  return hash.digest('hex')
}

async function make(): Promise<void> {
  for (const folder of [BUNDLES, NEW_BUNDLES]) await rm(folder, { recursive: true, force: true })
  await copyReplicaFiles()
  await compileKernel()
  await bundle('traces', 'src/cli/program.js', ['traces', 'merge'])
  await bundle('worker', 'workers/trace.js')
  for (const script of PAGE_SCRIPTS) await bundlePageScript(script)
  await bundle('diagnose', 'src/cli/program.js', ['diagnose'])
  await bundle('all', 'src/cli/program.js', ['all', 'audit', 'watch'])
  await rename(NEW_BUNDLES, BUNDLES)
  await mkdir(NEW_BUNDLES)
  await keepCompiled('worker', useWorker)
  await keepCompiled('traces', exports => useCommand('traces', exports))
  await keepCompiled('diagnose', exports => useCommand('diagnose', exports))
  await keepCompiled('all', exports => useCommand('watch', exports, '--once'))
  await rm(NEW_BUNDLES, { recursive: true })
}

await removeStale(ROOT)
if (!existsSync(BUILT) || readFileSync(BUILT, 'utf8') !== hashOfBuild()) {
  await rm(BUILT, { force: true })
  await make()
  await writeFile(BUILT, hashOfBuild())
}
