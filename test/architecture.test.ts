/** The shape of the project: allowed dependencies at exact versions, import directions, no cycle. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import t from 'tap'
import { root } from './support/paths.js'

const ALLOWED_DEPENDENCIES = [
  'apache-arrow',
  'canvas',
  'chart.js',
  'chartjs-plugin-annotation',
  'cheerio',
  'cli-progress',
  'dejavu-fonts-ttf',
  'fflate',
  'htmlparser2',
  'hyparquet',
  'hyparquet-compressors',
  'hyparquet-writer',
  'marked',
  'ndarray',
  'npyjs',
  'parquetjs-lite',
  'piscina'
]

const ALLOWED_DEV_DEPENDENCIES = [
  '@types/cli-progress',
  '@types/ndarray',
  '@types/node',
  'assemblyscript',
  'axe-core',
  'esbuild',
  'graphql',
  'parse5',
  'playwright-core',
  'tap',
  'typescript'
]

/** What each part may import, besides itself, node's modules and packages. Data flows left to right. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/secrets': [],
  'src/errors': ['src/secrets', 'src/system/error'],
  'src/secretGuard': ['src/secrets', 'src/errors'],
  // What the operating system is asked for, by everybody: errors in words, files that are opened, folders, left-overs.
  'src/system': ['src/errors'],
  'src/schema': [],
  'src/kernel': ['src/errors'],
  'src/ingest': ['src/errors', 'src/system', 'src/schema', 'src/kernel'],
  'src/compute': ['src/errors', 'src/schema', 'src/kernel', 'src/ingest'],
  // The NPZ writer is a format: it knows bytes only. Render writes the archive with it.
  'src/render': ['src/errors', 'src/system', 'src/version', 'src/schema', 'src/compute', 'src/ingest/npz/write'],
  'src/version': [],
  // The files that tie the stages together.
  'src/transaction': ['src/errors', 'src/render'],
  'src/drawing': ['src/transaction', 'src/render'],
  'src/pipeline': ['src/transaction', 'src/drawing', 'src/version', 'src/errors', 'src/schema', 'src/ingest', 'src/compute', 'src/render'],
  'src/runRecord': ['src/pipeline', 'src/version', 'src/errors', 'src/system', 'src/ingest', 'src/compute', 'src/render'],
  'src/outputsCheck': ['src/version', 'src/errors', 'src/system', 'src/ingest', 'src/render'],
  // Reads again what ingest reads, with other libraries.
  'src/second': ['src/errors', 'src/schema', 'src/system', 'src/ingest'],
  'src/batch': ['src/pipeline', 'src/runRecord', 'src/version', 'src/errors', 'src/system', 'src/ingest', 'src/compute', 'src/render'],
  'src/historyRun': ['src/transaction', 'src/runRecord', 'src/version', 'src/errors', 'src/schema', 'src/ingest', 'src/compute', 'src/render'],
  'src/evidenceRun': ['src/transaction', 'src/runRecord', 'src/version', 'src/errors', 'src/schema', 'src/ingest', 'src/compute', 'src/render'],
  'src/auditRun': ['src/historyRun', 'src/evidenceRun', 'src/pipeline', 'src/errors', 'src/schema', 'src/ingest', 'src/compute', 'src/render'],
  'src/articleRun': ['src/auditRun', 'src/runRecord', 'src/version', 'src/errors', 'src/schema', 'src/ingest', 'src/compute', 'src/render'],
  'src/studyRun': ['src/articleRun', 'src/version', 'src/auditRun', 'src/historyRun', 'src/evidenceRun', 'src/pipeline', 'src/runRecord', 'src/transaction', 'src/drawing', 'src/errors', 'src/schema', 'src/ingest', 'src/compute', 'src/render'],
  'src/fetchRows': ['src/errors', 'src/schema', 'src/ingest', 'src/render'],
  'src/fetchRun': ['src/fetchRows', 'src/errors', 'src/system', 'src/schema', 'src/ingest', 'src/render'],
  'src/cli': ['*'],
  'src/index': ['*'],
  'src/program': ['src/cli', 'src/errors'],
  'src/load': [],
  'src/build': ['src/program', 'src/load', 'src/schema', 'src/ingest', 'src/compute'],
  workers: ['src/errors', 'src/system', 'src/schema', 'src/ingest', 'src/compute', 'src/render', 'src/load'],
  fixtures: ['src/errors', 'src/system', 'src/schema', 'src/ingest'],
  run: ['src/program', 'src/load', 'src/system/last-words']
}

/** Whoever may throw a Fault may ask the filter for secrets. */
const FILTER = ['src/secrets', 'src/secretGuard']

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

t.test('dependencies are the allowed ones, at exact versions', t => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  t.same(Object.keys(manifest.dependencies).sort(), ALLOWED_DEPENDENCIES)
  t.same(Object.keys(manifest.devDependencies).sort(), ALLOWED_DEV_DEPENDENCIES)
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    t.match(version, /^\d+\.\d+\.\d+$/, `${name} is pinned`)
  }
  t.end()
})

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    // AssemblyScript: its modules import one another only, which its compiler checks
    if (entry.isDirectory()) return entry.name === 'assembly' ? [] : sources(path)
    return /\.c?ts$/.test(entry.name) ? [path] : []
  })
}

/** Relative imports of a source file, as paths of source files. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'|new URL\('(\.[^']+\.c?js)'/g)]
  return specifiers.map(m => normalize(join(dirname(file), m[1] ?? m[2])).replace(/\.(c?)js$/, '.$1ts'))
}

function partOf(file: string): string {
  const path = file.replace(/\.c?ts$/, '')
  const [first, second] = path.split('/')
  return first === 'src' ? `src/${second}` : first
}

t.test('imports go one way, without cycles', t => {
  const files = ['run.ts', ...sources('src'), ...sources('workers'), ...sources('fixtures')]
  t.ok(files.length > 20)
  const graph = new Map(files.map(file => [file, importsOf(file)]))
  for (const [file, imports] of graph) {
    const part = partOf(file)
    const allowed = MAY_IMPORT[part]
    t.ok(allowed !== undefined, `${part} is a known part (${file})`)
    for (const target of imports) {
      t.ok(statSync(join(root, target), { throwIfNoEntry: false })?.isFile(), `${file}: ${target} exists`)
      const inside = partOf(target) === part
      // A pool names its worker's file: that is a message, not an import of its code.
      const worker = target.startsWith('workers/')
      const fits = [...allowed, ...(allowed.includes('src/errors') ? FILTER : [])].some(a => a === '*' || target.replace(/\.c?ts$/, '') === a || target.startsWith(`${a}/`))
      t.ok(inside || worker || fits, `${relative('.', file)} may import ${target}`)
    }
  }
  t.same(cycles(graph), [], 'no cycle')
  t.end()
})

function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      return
    }
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) if (!next.startsWith('workers/')) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}

/** Files of this package (its code, its manifest), and new files, which are created and fail where something is there. */
const OPENS_BY_ITSELF = [
  'src/system/open.ts', 'src/system/folder.ts', 'src/build.ts', 'src/version.ts', 'src/load.cts', 'src/kernel/kernel.ts',
  'src/render/outputs/output-fs.ts', 'src/cli/study.ts', 'fixtures/replica/bytes.ts'
]

t.test('whatever a run reads is opened by src/system/open.ts, which does not wait', t => {
  for (const file of [...sources('src'), ...sources('workers'), ...sources('fixtures')]) {
    const text = readFileSync(join(root, file), 'utf8')
    const names = [...text.matchAll(/import ([^;]*?) from 'node:fs(?:\/promises)?'/g)].map(match => match[1]).join(' ')
    const opens = /\b(?:open|openSync|readFile|readFileSync|createReadStream)\b|\* as/.test(names)
    if (opens) t.ok(OPENS_BY_ITSELF.includes(file), `${file} opens no file by itself`)
    t.notMatch(text, /mkdir\([^)]*recursive/, `${file}: makeFolder makes folders`)
  }
  t.end()
})
