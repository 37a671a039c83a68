/** One snapshot through the whole pipeline inside the test's process. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TracePool } from '../../src/compute/traces/pool.js'
import { Failures, type Fault } from '../../src/core/errors.js'
import { findSnapshots } from '../../src/study/inventory.js'
import { DEFAULT_CRITIC_TRACE_STUDY, REPORTED_WITHOUT_STUDY } from '../../src/schema/traces.js'
import { analyseSnapshot, type SnapshotOutcome, type SnapshotRun } from '../../src/runs/snapshot.js'
import type { SnapshotSettings } from '../../src/runs/snapshot-work.js'

/** As `traces` without a study; `enforced` as a study that expects what the replica's does. */
export function settings(enforced = false): SnapshotSettings {
  return {
    traces: DEFAULT_CRITIC_TRACE_STUDY,
    expectations: REPORTED_WITHOUT_STUDY,
    enforced,
    examplesRequired: false,
    synthetic: true
  }
}

export async function run(
  folder: string,
  out: string,
  pool: TracePool,
  options: Partial<Pick<SnapshotRun, 'chunkBytes' | 'formats' | 'settings' | 'signal' | 'verified'>> = {}
): Promise<SnapshotOutcome> {
  const [plan] = await findSnapshots([folder])
  return analyseSnapshot({ plan, settings: settings(), pool, out, formats: [], ...options })
}

/** The faults that a run ends with; none when it succeeds. */
export async function faultsOf(attempt: Promise<unknown>): Promise<readonly Fault[]> {
  try {
    await attempt
    return []
  } catch (error) {
    return error instanceof Failures ? error.faults : [error as Fault]
  }
}

/** SHA-256 of every file below a folder, by relative path. */
export function hashes(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  const walk = (path: string): void => {
    for (const name of readdirSync(join(folder, path)).sort()) {
      const child = path === '' ? name : `${path}/${name}`
      if (statSync(join(folder, child)).isDirectory()) walk(child)
      else
        found[child] = createHash('sha256')
          .update(readFileSync(join(folder, child)))
          .digest('hex')
    }
  }
  walk('')
  return found
}
