/** One run of `all` on the replica into a folder of its own: what a user has, for all tests of a file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { defaultCacheDir, ensureReplica } from '../../fixtures/replica/index.js'
import { runCli } from './cli.js'

export interface ReplicaRun {
  /** the study's folder */
  readonly study: string
  /** the output folder, gone with the test */
  readonly out: string
}

export async function runReplica(t: Test, ...more: readonly string[]): Promise<ReplicaRun> {
  const study = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const out = mkdtempSync(join(tmpdir(), 'critic-traces-replica-run-'))
  t.teardown(() => rmSync(out, { recursive: true, force: true }))
  const { code, stderr } = await runCli(['all', '--out', out, '--quiet', ...more])
  if (code !== 0) throw new Error(`all ended with ${code}: ${stderr}`)
  return { study, out }
}
