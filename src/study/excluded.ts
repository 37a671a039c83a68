/**
 * NPZ files in a snapshot's folder that the snapshot does not name. They are listed with their hash and step, and never
 * used in statistics. The step is that of their 0-d member, else the number after `step` in the name, else null. For a
 * file that is no readable archive the name decides.
 */
import { Fault } from '../core/errors.js'
import { stepFromName } from '../core/file-names.js'
import type { SnapshotKeys } from '../schema/traces.js'
import { readStillSync } from '../core/still-file-sync.js'
import { excludedNpz, resolveBeside, type SnapshotPlan } from './inventory.js'
import { openNpz } from '../ingest/npz/npz.js'
import { stepOfNpz } from '../ingest/traces/npz-fields.js'

export interface ExcludedFile {
  /** relative to the snapshot folder */
  readonly path: string
  readonly step: number | null
  readonly sha256: string
  readonly bytes: number
}

/** In the order of the plan's NPZ files. */
export function excludedFiles(plan: SnapshotPlan, named: ReadonlySet<string>, keys: SnapshotKeys): ExcludedFile[] {
  return excludedNpz(plan, named).map(({ path }) => {
    const { bytes, sha256 } = readStillSync(resolveBeside(plan.folder, path), 'npz')
    return { path, step: stepOf(bytes, path, keys), sha256, bytes: bytes.length }
  })
}

function stepOf(bytes: Uint8Array, path: string, keys: SnapshotKeys): number | null {
  try {
    return stepOfNpz(openNpz(bytes), path, keys)
  } catch (error) {
    if (error instanceof Fault) return stepFromName(path)
    throw error
  }
}
