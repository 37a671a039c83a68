/** The outputs of one run of `all` on the replica, in a folder of the test's own: what a user has. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import type { Test } from 'tap'
import { defaultCacheDir, ensureReplica } from '../../src/replica/index.js'
import { runCli } from './cli.js'

/**
 * Names, in the environment, the outputs of a run that `tools/test.ts` has made for all files; each takes a copy. A test file that is
 * run by itself makes its own.
 */
export const REPLICA_RUN = 'CRITIC_TRACES_REPLICA_RUN'

export interface ReplicaRun {
  /** the study's folder */
  readonly study: string
  /** the output folder, gone with the test */
  readonly out: string
}

/** @param more options of `all`; with any, the run is the test's own */
export async function runReplica(t: Test, ...more: readonly string[]): Promise<ReplicaRun> {
  const study = await ensureReplica({ cacheDir: defaultCacheDir(process.env) })
  const out = mkdtempSync(join(tmpdir(), 'critic-traces-replica-run-'))
  t.teardown(() => rmSync(out, { recursive: true, force: true }))
  const shared = process.env[REPLICA_RUN]
  if (shared !== undefined && more.length === 0) {
    cpSync(shared, out, { recursive: true })
    return { study, out }
  }
  const { code, stderr } = await runCli(['all', '--out', out, '--quiet', ...more])
  if (code !== 0) throw new Error(`all ended with ${code}: ${stderr}`)
  return { study, out }
}

const SHEET = 'xl/worksheets/sheet3.xml'

/** One run on a replica whose workbook scores GSPO 0.714 where 0.704 is published, with a manifest of its own: `all` ends with 1. */
export async function runWrongReplica(t: Test, ...more: readonly string[]): Promise<ReplicaRun> {
  const dir = mkdtempSync(join(tmpdir(), 'critic-traces-wrong-replica-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const [study, out] = [join(dir, 'study'), join(dir, 'out')]
  cpSync(await ensureReplica({ cacheDir: defaultCacheDir(process.env) }), study, { recursive: true })
  const workbook = join(study, 'sources/evaluation.xlsx')
  const files = unzipSync(readFileSync(workbook))
  const changed = strFromU8(files[SHEET]).replace(/(<c r="C8"[^>]*><v>)0\.70399999999999996(?=<)/, '$10.714')
  writeFileSync(workbook, zipSync({ ...files, [SHEET]: strToU8(changed) }))
  const written = await runCli(['manifest', '--study', study, '--write'])
  if (written.code !== 0) throw new Error(`manifest ended with ${written.code}: ${written.stderr}`)
  const { code, stderr } = await runCli(['all', '--study', study, '--out', out, '--quiet', ...more])
  if (code !== 1) throw new Error(`all ended with ${code}: ${stderr}`)
  return { study, out }
}
