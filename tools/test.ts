/**
 * Runs the tests after a build, in as many processes as there are cores:
 *
 *     npm test            test/*.test.ts
 *     npm test -- npz     test/npz.test.ts alone, also by its path; all/fetch is test/all/fetch.test.ts; several names, several files
 *     npm run test:all    test/all/*.test.ts, and the property tests with more rounds from another seed
 *     npm run soak        the property tests with many rounds (ROUNDS) from a seed of the day (SEED), which is printed
 *
 * Property tests are the files that import `test/support/rounds.ts`. One run of `all` on the replica is made first, for all files
 * that look at its outputs; files that are named make their own. A file is a program that writes TAP. Here each has a line, one that fails
 * says what failed; tables among its comments are printed; the last line adds the counts, those of skipped tests too.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { REPLICA_RUN } from '../test/support/replica-run.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** What takes longest begins first: else one of them is waited for at the end, on one core. */
const LONG = [
  'audit-mutations',
  'diagnose',
  'article-browser',
  'page-browser',
  'slurm',
  'page',
  'all',
  'fetch',
  'html',
  'fetch-checks',
  'pipeline',
  'replica',
  'docs',
  'output-folder',
  'secrets'
]
const COUNTS = ['total', 'pass', 'fail', 'skip', 'todo'] as const

type Environment = Readonly<Record<string, string>>
type Counts = Record<(typeof COUNTS)[number], number>

interface FileResult {
  readonly code: number | null
  readonly output: string
  /** the last line of the file's TAP; null where it did not come so far */
  readonly counts: Counts | null
}

function testsIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter(name => name.endsWith('.test.js'))
    .sort()
    .map(name => `${folder}/${name}`)
}

const everyTest = testsIn('dist/test')
const rest = testsIn('dist/test/all')
const properties = [...everyTest, ...rest].filter(path => readFileSync(join(ROOT, path), 'utf8').includes('support/rounds.js'))

function turnOf(path: string): number {
  const at = LONG.indexOf(basename(path, '.test.js'))
  return at < 0 ? LONG.length : at
}

/** tap's own summary: `# { total: 3, pass: 2, skip: 1 }`. */
function countsIn(output: string): Counts | null {
  const line = /^# (\{ total: .*\})$/m.exec(output)?.[1]
  if (line === undefined) return null
  const of = (name: string): number => Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0)
  return Object.fromEntries(COUNTS.map(name => [name, of(name)])) as Counts
}

/** What failed, with what tap says of it; the end of a file that did not come so far. */
function failuresIn(output: string): string {
  const found = output.match(/^( *)not ok .*\n(?:\1 {2}---\n[\s\S]*?^\1 {2}\.\.\.$)?/gm)
  return found?.join('\n') ?? output.split('\n').slice(-60).join('\n')
}

/** Nothing in a file may hang, and no file is to hurry: TAP_TIMEOUT is half an hour, in seconds. */
function runFile(path: string, env: Environment): Promise<FileResult> {
  // An error that fails a test names lines of TypeScript.
  const child = spawn(process.execPath, ['--enable-source-maps', path], {
    cwd: ROOT,
    env: { TAP_TIMEOUT: '1800', ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  return new Promise(resolve => {
    child.on('error', error => resolve({ code: null, output: String(error), counts: null }))
    child.on('close', code => resolve({ code, output, counts: countsIn(output) }))
  })
}

/** The file of a test's name (`npz`, `npz.test.ts`) or path (`test/npz.test.ts`); null where there is none. */
function fileOf(name: string): string | null {
  const path = `dist/test/${bareName(name)}.test.js`
  return [...everyTest, ...rest].includes(path) ? path : null
}

function bareName(name: string): string {
  return name
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/)?(?:dist\/)?(?:test\/)?/, '')
    .replace(/(?:\.test)?(?:\.[jt]s)?$/, '')
}

function nearestTo(name: string): string {
  const bare = bareName(name)
  const far = (known: string): number => Math.min(editsBetween(bare, known), editsBetween(bare, basename(known)))
  return [...everyTest, ...rest].map(bareName).reduce((best, known) => (far(known) < far(best) ? known : best))
}

/** Characters to insert, remove or replace (Levenshtein). */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, k) => k)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let k = 1; k <= b.length; k++) next.push(Math.min(next[k - 1] + 1, row[k] + 1, row[k - 1] + (letter === b[k - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]
}

/** Whether all passed. */
async function runTests(files: readonly string[], env: Environment): Promise<boolean> {
  const sum: Counts = { total: 0, pass: 0, fail: 0, skip: 0, todo: 0 }
  const queue = [...files].sort((a, b) => turnOf(a) - turnOf(b))
  const failed: string[] = []
  const work = async (): Promise<void> => {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      const began = performance.now()
      const { code, output, counts } = await runFile(path, env)
      const ok = code === 0 && counts !== null && counts.fail === 0
      if (!ok) {
        failed.push(path)
        console.log(failuresIn(output))
      }
      for (const name of COUNTS) sum[name] += counts?.[name] ?? 0
      for (const [, row] of output.matchAll(/^ *# (\|.*)$/gm)) console.log(row)
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      console.log(
        `${ok ? 'ok' : 'not ok'} - ${path} # ${counts?.pass ?? 0} of ${counts?.total ?? '?'}${counts !== null && counts.skip > 0 ? `, ${counts.skip} skipped` : ''}, ${seconds} s`
      )
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work))
  for (const path of failed) console.log(`# failed: ${path}`)
  console.log(`# { ${COUNTS.map(name => `${name}: ${sum[name]}`).join(', ')} }`)
  return failed.length === 0
}

async function withReplicaRun(run: (env: Environment) => Promise<boolean>): Promise<boolean> {
  const out = mkdtempSync(join(tmpdir(), 'critic-traces-tests-'))
  try {
    const { status } = spawnSync(process.execPath, ['dist/run.js', 'all', '--out', out, '--quiet'], { cwd: ROOT, stdio: 'inherit' })
    return status === 0 && (await run({ [REPLICA_RUN]: out }))
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** The line that is printed is what makes a failure happen again. */
function runProperties(rounds: string, seed: string): Promise<boolean> {
  console.log(`# property tests: ROUNDS=${rounds} SEED=${seed}`)
  return runTests(properties, { ROUNDS: rounds, SEED: seed })
}

async function main(names: readonly string[]): Promise<boolean> {
  const [part] = names
  if (part === undefined) return withReplicaRun(env => runTests(everyTest, env))
  if (part === 'rest') {
    const fine = await withReplicaRun(env => runTests(rest, env))
    return (await runProperties('4', '1000003')) && fine
  }
  if (part === 'soak')
    return runProperties(process.env['ROUNDS'] ?? '100', process.env['SEED'] ?? String(Math.floor(Date.now() / 86_400_000)))
  const files = names.map(fileOf)
  const unknown = names.filter((_, k) => files[k] === null)
  for (const name of unknown) console.error(`no test ${name}, expected a name such as ${nearestTo(name)}`)
  return (
    unknown.length === 0 &&
    (await runTests(
      files.filter(path => path !== null),
      {}
    ))
  )
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
