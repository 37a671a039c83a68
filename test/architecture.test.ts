/** The shape of the project: allowed dependencies at exact versions, import directions, no cycle. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import t from 'tap'
import { root } from './support/paths.js'

const ALLOWED_DEPENDENCIES = [
  '@huggingface/tokenizers',
  '@uwdata/flechette',
  'apache-arrow',
  'canvas',
  'chart.js',
  'chartjs-plugin-annotation',
  'cheerio',
  'cli-progress',
  'csv-parse',
  'dejavu-fonts-ttf',
  'fflate',
  'fzstd',
  'htmlparser2',
  'https-proxy-agent',
  'hyparquet',
  'hyparquet-writer',
  'ini',
  'marked',
  'ndarray',
  'npyjs',
  'parquetjs-lite',
  'parse5',
  'piscina'
]

const ALLOWED_DEV_DEPENDENCIES = [
  '@biomejs/biome',
  '@duckdb/node-api',
  '@types/cli-progress',
  '@types/ini',
  '@types/ndarray',
  '@types/node',
  'assemblyscript',
  'axe-core',
  'esbuild',
  'graphql',
  'kubernetes-types',
  'playwright-core',
  'tap',
  'typescript',
  'yaml'
]

/**
 * The rooms of the house, from the ground up: each imports itself and those above it in this list, besides Node's modules and
 * packages.
 */
const ROOMS = [
  'src/core',
  'src/schema',
  'src/kernel',
  'src/ingest',
  'src/study',
  'src/compute',
  'src/render',
  'src/second',
  'src/fetch',
  'src/runs',
  'src/replica',
  'src/cli',
  'src/index',
  'workers',
  'run',
  'tools'
]

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

t.test('dependencies are the allowed ones, at exact versions', t => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  t.same(Object.keys(manifest.dependencies).sort(), ALLOWED_DEPENDENCIES)
  t.same(Object.keys(manifest.devDependencies).sort(), ALLOWED_DEV_DEPENDENCIES)
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    t.match(version, /^\d+\.\d+\.\d+(?:-r\.\d+)?$/, `${name} is pinned`)
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

function roomOf(file: string): string {
  const path = file.replace(/\.c?ts$/, '')
  const [first, second] = path.split('/')
  return first === 'src' ? `src/${second}` : first
}

t.test('imports go one way, without cycles', t => {
  const files = ['run.ts', ...sources('src'), ...sources('workers'), ...sources('tools')]
  t.ok(files.length > 20)
  const graph = new Map(files.map(file => [file, importsOf(file)]))
  for (const [file, imports] of graph) {
    const floor = ROOMS.indexOf(roomOf(file))
    t.ok(floor >= 0, `${roomOf(file)} is a known room (${file})`)
    for (const target of imports) {
      t.ok(statSync(join(root, target), { throwIfNoEntry: false })?.isFile(), `${file}: ${target} exists`)
      // A pool names its worker's file: that is a message, not an import of its code.
      if (!target.startsWith('workers/')) t.ok(ROOMS.indexOf(roomOf(target)) <= floor, `${relative('.', file)} may import ${target}`)
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

t.test('what a class keeps to itself is a #name', t => {
  for (const file of ['run.ts', ...sources('src'), ...sources('workers'), ...sources('tools'), ...sources('test')]) {
    // a constructor can have no #name
    t.notMatch(readFileSync(join(root, file), 'utf8'), /^ +private (?!constructor\()|[(,] *private (?:readonly )?\w+\??:/m, file)
  }
  t.end()
})

/**
 * The lines of assertions on promises that nothing waits for: no `await`, `return` or arrow stands before them, nor an equals sign
 * (the compiler refuses a name that is not used).
 */
function lostAssertions(text: string): readonly number[] {
  const lost = text.matchAll(/(?<!\b(?:await|return) |=>? )\b\w+\.(?:rejects|resolves|resolveMatch)\(/g)
  return [...lost].map(({ index }) => text.slice(0, index).split('\n').length)
}

t.test('no assertion on a promise is lost', t => {
  t.same(lostAssertions('t.rejects(p)\nvoid t.resolves(p)\n\nall.push(t.resolveMatch(p))'), [1, 2, 4])
  t.same(lostAssertions('await t.rejects(p)\nreturn t.resolves(p)\neach(p => t.rejects(p))\nconst left = t.rejects(p)'), [])
  let assertions = 0
  for (const file of sources('test').filter(path => path !== 'test/architecture.test.ts')) {
    const text = readFileSync(join(root, file), 'utf8')
    assertions += text.match(/await t\.(?:rejects|resolves)\(/g)?.length ?? 0
    t.same(lostAssertions(text), [], `${file}: lines`)
  }
  t.ok(assertions > 20)
  t.end()
})

/** Definitions at the top level of a module: the kind of declaration, its name, whether it is exported. */
function definitionsOf(file: string): { readonly name: string; readonly isType: boolean; readonly isExported: boolean }[] {
  const pattern =
    /^(export )?(?:default )?(?:declare )?(?:async )?(?:abstract )?(class|interface|type|function\*?|(?:const )?enum|const|let) (\w+)/gm
  return [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, exported, kind, name]) => ({
    name,
    isType: /class|interface|type|enum/.test(kind),
    isExported: exported !== undefined
  }))
}

t.test('a type, and a name that is exported, is defined in one module', t => {
  const modules = new Map<string, { readonly all: string[]; readonly exporting: string[]; isType: boolean }>()
  for (const file of [...sources('src'), ...sources('workers')]) {
    for (const { name, isType, isExported } of definitionsOf(file)) {
      const known = modules.get(name) ?? { all: [], exporting: [], isType: false }
      modules.set(name, known)
      if (!known.all.includes(file)) known.all.push(file)
      if (isExported && !known.exporting.includes(file)) known.exporting.push(file)
      known.isType ||= isType
    }
  }
  t.ok(modules.size > 2000)
  for (const [name, { all, exporting, isType }] of modules) {
    if (isType ? all.length > 1 : exporting.length > 1) t.fail(`${name} is defined in ${(isType ? all : exporting).join(', ')}`)
  }
  t.end()
})

t.test('names of files are in kebab-case', t => {
  const files = ['src', 'workers', 'tools', 'test'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  )
  for (const file of files.filter(entry => entry.isFile() && entry.name !== 'README.md')) {
    t.match(file.name, /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test)?\.[a-z]+$/, join(relative(root, file.parentPath), file.name))
  }
  t.end()
})

/** Files of this package (its code, its manifest), and new files, which are created and fail where something is there. */
const OPENS_BY_ITSELF = [
  'src/render/explorer/page.ts',
  'src/render/page/readings.ts',
  'src/core/system/open.ts',
  'src/core/system/folder.ts',
  'src/core/system/limits.ts',
  'src/core/version.ts',
  'src/core/load.cts',
  'src/kernel/kernel.ts',
  'src/render/outputs/output-fs.ts',
  'src/runs/spill-file.ts',
  'src/cli/drafting.ts',
  'src/replica/bytes.ts'
]

t.test('whatever a run reads is opened by src/core/system/open.ts, which does not wait', t => {
  for (const file of [...sources('src'), ...sources('workers')]) {
    const text = readFileSync(join(root, file), 'utf8')
    const names = [...text.matchAll(/import ([^;]*?) from 'node:fs(?:\/promises)?'/g)].map(match => match[1]).join(' ')
    const opens = /\b(?:open|openSync|readFile|readFileSync|createReadStream)\b|\* as/.test(names)
    if (opens) t.ok(OPENS_BY_ITSELF.includes(file), `${file} opens no file by itself`)
    t.notMatch(text, /mkdir\([^)]*recursive/, `${file}: makeFolder makes folders`)
  }
  t.end()
})
