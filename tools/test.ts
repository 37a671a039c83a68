/**
 * Runs the tests after a build, in as many processes as there are cores:
 *
 *     npm test            test/*.test.ts
 *     npm run test:all    test/all/*.test.ts, and the property tests with more rounds from another seed
 *     npm run soak        the property tests with many rounds (ROUNDS) from a seed of the day (SEED), which is printed
 *
 * Property tests are the files that import `test/support/rounds.ts`. One run of `all` on the replica is made first, for all files
 * that look at its outputs.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { REPLICA_RUN } from '../test/support/replica-run.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

type Environment = Readonly<Record<string, string>>

function testsIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).filter(name => name.endsWith('.test.js')).sort().map(name => `${folder}/${name}`)
}

const everyTest = testsIn('dist/test')
const rest = testsIn('dist/test/all')
const properties = [...everyTest, ...rest].filter(path => readFileSync(join(ROOT, path), 'utf8').includes('support/rounds.js'))

/** The exit code of tap. */
function runTests(files: readonly string[], env: Environment): number {
  const tap = join(ROOT, 'node_modules/.bin/tap')
  const args = ['run', '--disable-coverage', '--allow-empty-coverage', `--jobs=${Math.max(2, availableParallelism())}`, ...files]
  return spawnSync(tap, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env }, shell: process.platform === 'win32' }).status ?? 1
}

function withReplicaRun(run: (env: Environment) => number): number {
  const out = mkdtempSync(join(tmpdir(), 'critic-traces-tests-'))
  try {
    const { status } = spawnSync(process.execPath, ['dist/run.js', 'all', '--out', out, '--quiet'], { cwd: ROOT, stdio: 'inherit' })
    return status === 0 ? run({ [REPLICA_RUN]: out }) : status ?? 1
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** The property tests; one with a fixed seed fails alike each time, one with another seed prints what fails it again. */
function runProperties(rounds: string, seed: string): number {
  console.log(`# property tests: ROUNDS=${rounds} SEED=${seed}`)
  return runTests(properties, { ROUNDS: rounds, SEED: seed })
}

function main(part: string | undefined): number {
  if (part === undefined) return withReplicaRun(env => runTests(everyTest, env))
  if (part === 'rest') return withReplicaRun(env => runTests(rest, env)) || runProperties('4', '1000003')
  if (part === 'soak') return runProperties(process.env['ROUNDS'] ?? '100', process.env['SEED'] ?? String(Math.floor(Date.now() / 86_400_000)))
  throw new Error(`tests: no part ${part}, expected rest or soak`)
}

process.exitCode = main(process.argv[2])
