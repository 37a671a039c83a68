/** `all` on the replica, killed and run again. */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { defaultCacheDir, ensureReplica } from '../../src/replica/index.js'
import { runCli, type CliResult } from '../support/cli.js'
import { hashes } from '../support/run.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-killed-'))
t.teardown(() => rmSync(work, { recursive: true, force: true }))

function withoutTimings(out: string): Record<string, string> {
  const { 'timings.json': timings, ...rest } = hashes(out)
  if (timings === undefined) throw new Error('no timings.json')
  return rest
}

t.test('the replica at 1, 2 and 7 threads, killed at any moment and run again: the same bytes', async t => {
  const replica = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const run = (out: string, threads: number, onStart: (child: ChildProcess) => void = () => undefined): Promise<CliResult> =>
    runCli(['all', '--study', replica, '--out', join(work, out), '--formats', 'png,svg', '--threads', String(threads), '-q'], { onStart })
  t.match(await run('whole', 1), { code: 0, stderr: '' })
  let killed = 0
  for (const after of [500, 1200, 1900, 2600, 3300]) {
    const { code, signal } = await run('part', 2, child => {
      setTimeout(() => child.kill('SIGKILL'), after)
    })
    t.ok(signal === 'SIGKILL' || code === 0)
    if (signal === 'SIGKILL') killed++
  }
  t.ok(killed >= 2, `killed ${killed} times`)
  t.match(await run('part', 7), { code: 0, stderr: '' })
  t.strictSame(withoutTimings(join(work, 'part')), withoutTimings(join(work, 'whole')), 'no temporary file is left either')
})
