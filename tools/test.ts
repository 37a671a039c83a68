/**
 * Runs the tests after a build, in as many processes as there are cores:
 *
 *     npm test            test/*.test.ts
 *     npm run test:all    test/all/*.test.ts, and the property tests with more rounds from another seed
 *     npm run soak        the property tests with many rounds (ROUNDS) from a seed of the day (SEED), which is printed
 *
 * Property tests are the files that import `test/support/rounds.ts`. One run of `all` on the replica is made first, for all files
 * that look at its outputs. A file is a program that writes TAP: `node dist/test/npz.test.js` runs one. Here each has a line, one that
 * fails all its output; the last line adds the counts, those of skipped tests too.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { REPLICA_RUN } from '../test/support/replica-run.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const COUNTS = ['total', 'pass', 'fail', 'skip', 'todo'] as const

type Environment = Readonly<Record<string, string>>
type Counts = Record<typeof COUNTS[number], number>

interface FileResult {
  readonly code: number | null
  readonly output: string
  /** the last line of the file's TAP; null where it did not come so far */
  readonly counts: Counts | null
}

function testsIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).filter(name => name.endsWith('.test.js')).sort().map(name => `${folder}/${name}`)
}

const everyTest = testsIn('dist/test')
const rest = testsIn('dist/test/all')
const properties = [...everyTest, ...rest].filter(path => readFileSync(join(ROOT, path), 'utf8').includes('support/rounds.js'))

/** tap's own summary: `# { total: 3, pass: 2, skip: 1 }`. */
function countsIn(output: string): Counts | null {
  const line = /^# (\{ total: .*\})$/m.exec(output)?.[1]
  if (line === undefined) return null
  const of = (name: string): number => Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0)
  return Object.fromEntries(COUNTS.map(name => [name, of(name)])) as Counts
}

/** Nothing in a file may hang, and no file is to hurry: TAP_TIMEOUT is half an hour, in seconds. */
function runFile(path: string, env: Environment): Promise<FileResult> {
  const child = spawn(process.execPath, [path], { cwd: ROOT, env: { TAP_TIMEOUT: '1800', ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => { output += text })
  return new Promise(resolve => {
    child.on('error', error => resolve({ code: null, output: String(error), counts: null }))
    child.on('close', code => resolve({ code, output, counts: countsIn(output) }))
  })
}

/** Whether all passed. The longest sources first: they take longest, and should not be what is waited for at the end. */
async function runTests(files: readonly string[], env: Environment): Promise<boolean> {
  const sum: Counts = { total: 0, pass: 0, fail: 0, skip: 0, todo: 0 }
  const queue = [...files].sort((a, b) => statSync(join(ROOT, b)).size - statSync(join(ROOT, a)).size)
  const failed: string[] = []
  const work = async (): Promise<void> => {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      const began = performance.now()
      const { code, output, counts } = await runFile(path, env)
      const ok = code === 0 && counts !== null && counts.fail === 0
      if (!ok) {
        failed.push(path)
        console.log(output)
      }
      for (const name of COUNTS) sum[name] += counts?.[name] ?? 0
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      console.log(`${ok ? 'ok' : 'not ok'} - ${path} # ${counts?.pass ?? 0} of ${counts?.total ?? '?'}${counts !== null && counts.skip > 0 ? `, ${counts.skip} skipped` : ''}, ${seconds} s`)
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
    return status === 0 && await run({ [REPLICA_RUN]: out })
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** The line that is printed is what makes a failure happen again. */
function runProperties(rounds: string, seed: string): Promise<boolean> {
  console.log(`# property tests: ROUNDS=${rounds} SEED=${seed}`)
  return runTests(properties, { ROUNDS: rounds, SEED: seed })
}

async function main(part: string | undefined): Promise<boolean> {
  if (part === undefined) return withReplicaRun(env => runTests(everyTest, env))
  if (part === 'rest') {
    const fine = await withReplicaRun(env => runTests(rest, env))
    return await runProperties('4', '1000003') && fine
  }
  if (part === 'soak') return runProperties(process.env['ROUNDS'] ?? '100', process.env['SEED'] ?? String(Math.floor(Date.now() / 86_400_000)))
  throw new Error(`tests: no part ${part}, expected rest or soak`)
}

process.exitCode = await main(process.argv[2]) ? 0 : 1
