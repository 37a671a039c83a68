/**
 * The compiled loops may decline what the general code behind them reads. A run without them (`src/kernel/plain.ts`) writes
 * the same bytes, and its faults are the same.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openTracePool, type TracePool } from '../src/compute/traces/pool.js'
import { answerTrace } from '../src/compute/traces/trace-task.js'
import { TraceScratch } from '../src/ingest/json/trace.js'
import { setKernelOfThread } from '../src/kernel/open.js'
import { PlainKernel } from '../src/kernel/plain.js'
import { defaultCacheDir, ensureReplica } from '../src/replica/index.js'
import { fixture } from './support/paths.js'
import { faultsOf, hashes, run } from './support/run.js'

const workers = openTracePool(1)
t.teardown(() => workers.destroy())

let scratch = new TraceScratch()
/** Measures traces in this thread, whose kernel a test can choose. */
const here: TracePool = { ...workers, run: task => Promise.resolve(answerTrace(task, scratch)) }

async function forced<T>(work: () => Promise<T>): Promise<T> {
  setKernelOfThread(new PlainKernel())
  scratch = new TraceScratch()
  try {
    return await work()
  } finally {
    setKernelOfThread(null)
    scratch = new TraceScratch()
  }
}

async function sameOutputs(t: Test, snapshot: string): Promise<void> {
  const dir = t.testdir()
  await run(snapshot, join(dir, 'workers'), workers)
  await run(snapshot, join(dir, 'here'), here)
  await forced(() => run(snapshot, join(dir, 'forced'), here))
  const wanted = hashes(join(dir, 'workers'))
  t.ok(Object.keys(wanted).length > 3)
  t.strictSame(hashes(join(dir, 'here')), wanted, 'in this thread')
  t.strictSame(hashes(join(dir, 'forced')), wanted, 'by the general scanners')
}

t.test('fixtures/snapshot', t => sameOutputs(t, fixture('snapshot')))

t.test("the replica's page", async t => {
  await sameOutputs(t, join(await ensureReplica({ cacheDir: defaultCacheDir(process.env) }), 'critic_traces'))
})

t.test('the same faults', async t => {
  const dir = t.testdir()
  const snapshot = join(dir, 'snapshot')
  cpSync(fixture('snapshot'), snapshot, { recursive: true })
  const path = join(snapshot, 'index.html')
  const page = readFileSync(path, 'utf8')
  const changes: ReadonlyArray<readonly [what: string, from: RegExp, to: string]> = [
    ['another value', /("values": \[0\.5, )0\.50390625/, '$10.25'],
    ['NaN', /("returns": \[[^\]]*?, )[0-9.]+/, '$1NaN'],
    ['a position twice', /("response_positions": \[)0, 1/, '$10, 0'],
    ['a number that is none', /("values": \[0\.5, )0\.50390625/, '$10.'],
    ['a text that is none', /("segment_texts": \[)"/, '$1"\\x'],
    ['a number among texts', /("segment_texts": \[)/, '$10, ']
  ]
  const seen = new Set<string>()
  for (const [what, from, to] of changes) {
    const changed = page.replace(from, to)
    t.not(changed, page, what)
    writeFileSync(path, changed)
    const messages = async (): Promise<string[]> => (await faultsOf(run(snapshot, join(dir, 'out'), here))).map(({ message }) => message)
    const wanted = await messages()
    t.equal(wanted.length, 1, wanted.join())
    t.strictSame(await forced(messages), wanted, what)
    seen.add(wanted.join().split(':')[0])
  }
  t.ok(seen.size >= 4, [...seen].join(', '))
})
