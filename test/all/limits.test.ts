/**
 * Runs below limits of addresses, data, open files and cores write the bytes of a run without them, or say in one line which limit is
 * too low. The built program, in processes of its own.
 */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { defaultCacheDir, ensureReplica } from '../../src/replica/index.js'
import { fixture, root } from '../support/paths.js'
import { hashes } from '../support/run.js'

const GIB = 1048576

/** Shell commands before the program, and whether a note must say what they cost. */
const LIMITS: ReadonlyArray<readonly [limit: string, note: RegExp | null]> = [
  [
    `ulimit -v ${8 * GIB}`,
    /^note: the system limits addresses to 8,192 MiB \(ulimit -v\).*general scanners serve; the outputs are the same$/m
  ],
  [
    `ulimit -v ${4 * GIB}`,
    /^note: the system limits addresses to 4,096 MiB \(ulimit -v\).*general scanners serve; the outputs are the same$/m
  ],
  [
    `ulimit -v ${2 * GIB}`,
    /^note: the system limits addresses to 2,048 MiB \(ulimit -v\).*general scanners serve; the outputs are the same$/m
  ],
  ['ulimit -d 262144', null],
  [
    'ulimit -n 32',
    /^note: the system limits open files to 32 \(ulimit -n\); no thread of 3 beside the main one; the outputs are the same$/m
  ],
  ['taskset -cp 0 $$ >/dev/null', null]
]

const LOW =
  /^critic-traces: system limit too low: (?:addresses|data|open files) to [\d,]+(?: MiB)? \(ulimit -[vdn]\), expected [\d,]+(?: MiB)? for \w+\n$/

function below(limit: string, args: readonly string[]): SpawnSyncReturns<string> {
  // Without the test runner's own modules, which it asks every child to load.
  return spawnSync('sh', ['-c', `unset NODE_OPTIONS; ${limit}; exec "$0" "$@"`, process.execPath, ...args], { encoding: 'utf8' })
}

/** Limits below which this Node starts at all: 24 needs some 560 MiB of data. */
const STARTED = LIMITS.filter(([limit]) => below(limit, ['-e', '0']).status === 0)

/** What `audit` and `watch`, which share their code with the others, are tried with. */
const LOWEST = STARTED.filter(([limit]) => /-d|-n/.test(limit) || limit.endsWith(` ${2 * GIB}`))

/** Nothing but `timings.json` differs from run to run. */
function outputsOf(folder: string): Record<string, string> {
  return Object.fromEntries(Object.entries(hashes(folder)).filter(([path]) => path !== 'timings.json'))
}

/** @returns the limits below which the command ran */
function sameBelow(t: Test, command: readonly string[], limits = STARTED): string[] {
  const out = join(mkdtempSync(join(tmpdir(), 'critic-traces-limits-')), 'out')
  t.teardown(() => rmSync(dirname(out), { recursive: true, force: true }))
  const args = [join(root, 'dist/run.js'), ...command, '--threads', '3', '--out', out]
  const free = below(':', args)
  t.equal(free.status, 0, free.stderr)
  t.notMatch(free.stderr, /the system limits/)
  const wanted = outputsOf(out)
  const ran: string[] = []
  for (const [limit, note] of limits) {
    rmSync(out, { recursive: true, force: true })
    const { status, stderr } = below(limit, args)
    if (status === 3) t.match(stderr, LOW, limit)
    else {
      t.equal(status, 0, `${limit}: ${stderr}`)
      t.strictSame(outputsOf(out), wanted, limit)
      if (note !== null) t.match(stderr, note)
      t.ok(stderr.split('the system limits').length <= 2, 'one note')
      ran.push(limit)
    }
  }
  return ran
}

const EVERY = STARTED.map(([limit]) => limit)
/** Of 2 GiB of addresses, Node 24 leaves too little to `all` and `audit`. */
const LEAST = Number(process.versions.node.split('.')[0]) < 24 ? EVERY : EVERY.filter(limit => !limit.endsWith(` ${2 * GIB}`))

async function snapshot(): Promise<string> {
  return join(await ensureReplica({ cacheDir: defaultCacheDir(process.env) }), 'critic_traces')
}

t.test('traces: page and NPZ, with a figure', async t => {
  t.strictSame(sameBelow(t, ['traces', await snapshot()]), EVERY)
})

t.test('traces: a folder of NPZ files, a file of torch.save', t => {
  const folder = join(t.testdir(), 'arrays')
  cpSync(fixture('snapshot'), folder, { recursive: true, filter: path => !path.endsWith('.html') })
  t.strictSame(sameBelow(t, ['traces', folder, fixture('torch', 'slime.pt')]), EVERY)
  t.end()
})

t.test('diagnose', async t => {
  t.strictSame(sameBelow(t, ['diagnose', await snapshot()]), EVERY)
})

t.test('merge of two shards of a page and of a dump', t => {
  const folder = t.testdir()
  for (const index of [0, 1]) {
    const inputs = [fixture('snapshot'), fixture('torch', 'slime.pt')]
    const { status, stderr } = below(':', [join(root, 'dist/run.js'), 'traces', ...inputs, '--shard', `${index}/2`, '--out', folder])
    t.equal(status, 0, stderr)
  }
  // It reads no trace: which loops serve makes nothing slower.
  const limits = STARTED.map(([limit]) => [limit, null] as const)
  t.strictSame(sameBelow(t, ['merge', join(folder, 'partials')], limits), EVERY)
  t.end()
})

t.test('all, with every figure and page', t => {
  t.strictSame(sameBelow(t, ['all', '--no-cache']), LEAST)
  t.end()
})

t.test('audit', t => {
  t.strictSame(
    sameBelow(t, ['audit'], LOWEST),
    LEAST.filter(limit => LOWEST.some(([lowest]) => lowest === limit))
  )
  t.end()
})

t.test('watch', t => {
  t.strictSame(
    sameBelow(t, ['watch', fixture('snapshot'), '--once'], LOWEST),
    EVERY.filter(limit => LOWEST.some(([lowest]) => lowest === limit))
  )
  t.end()
})

t.test('a limit that is too low is said before anything is written', t => {
  const { status, stderr } = below('ulimit -n 31', [join(root, 'dist/run.js'), 'all', '--out', join(t.testdir(), 'out')])
  t.equal(status, 3)
  t.equal(stderr, 'critic-traces: system limit too low: open files to 31 (ulimit -n), expected 32 for all\n')
  t.end()
})
