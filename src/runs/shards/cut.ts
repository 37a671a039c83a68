/**
 * The cut of a run into shards. All inputs stand on one line of bytes: the snapshots in their order, in each its page, its NPZ files
 * or the files of its dump. Shard I of N has the I-th N-th of the line, and a trace belongs to the shard in whose part it begins.
 */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Fault } from '../../core/errors.js'
import { realPlace } from '../../core/system/folder.js'
import { secretFault } from '../../core/secret-guard.js'
import { isSecretText } from '../../core/secrets.js'
import type { PartRange } from '../../ingest/dumps/contract.js'
import { DEFAULT_OUT } from '../../render/outputs/output-names.js'
import { findSnapshots, type SnapshotPlan } from '../../study/inventory.js'
import type { FailedPath, PlannedSnapshot, ShardNumber } from './contract.js'

export interface RunPlan {
  readonly snapshots: readonly PlannedSnapshot[]
  readonly failed: readonly FailedPath[]
}

/** A part of a snapshot: of the bytes of its page or its dump, or of its NPZ files by their place. */
export interface SnapshotPart {
  readonly snapshot: number
  readonly part: PartRange
}

/** The snapshots of the paths, as `traces` takes them, with the sizes of their files. Nothing is opened beyond its first bytes. */
export async function planOf(paths: readonly string[]): Promise<RunPlan> {
  const failed: FailedPath[] = []
  const fail = (fault: Fault, source: string): void => {
    failed.push({ source, fault: fault.serialize() })
  }
  const snapshots: PlannedSnapshot[] = []
  for (const plan of await findSnapshots(paths, fail, realPlace(DEFAULT_OUT))) {
    if (isSecretText(plan.name, 'name') || isSecretText(plan.source, 'source')) {
      fail(secretFault('snapshot', 'the name of a folder or page', { file: plan.html ?? plan.folder }), plan.source)
    } else snapshots.push({ plan, files: await Promise.all(filesOf(plan).map(path => sized(plan.folder, path))) })
  }
  return { snapshots, failed }
}

function filesOf({ html, npzFiles, dumpFiles }: SnapshotPlan): readonly string[] {
  if (html !== null) return [basename(html)]
  return dumpFiles.length > 0 ? dumpFiles : npzFiles
}

/** A file that is not there any more has no bytes. Who reads it says so. */
async function sized(folder: string, path: string): Promise<PlannedSnapshot['files'][number]> {
  const bytes = await stat(join(folder, path)).then(
    ({ size }) => size,
    () => 0
  )
  return { path, bytes }
}

/** What decides the cut: two shards of one run have the same. Where the inputs lie is no part of it. */
export function planHash({ snapshots, failed }: RunPlan, count: number): string {
  const known = snapshots.map(({ plan: { kind, source, name, npzFiles, passedOver = 0 }, files }) => [
    kind,
    source,
    name,
    npzFiles,
    passedOver,
    files.map(({ path, bytes }) => [path, bytes])
  ])
  return createHash('sha256')
    .update(JSON.stringify([count, known, failed.map(({ source }) => source)]))
    .digest('hex')
}

/** Every file has a place on the line, an empty one too. */
function lengthOf({ bytes }: PlannedSnapshot['files'][number]): number {
  return Math.max(1, bytes)
}

/** The parts of one shard, in the order of the snapshots. */
export function partsOf(snapshots: readonly PlannedSnapshot[], { index, count }: ShardNumber): readonly SnapshotPart[] {
  const lengths = snapshots.map(({ files }) => files.reduce((sum, file) => sum + lengthOf(file), 0))
  const line = BigInt(lengths.reduce((sum, length) => sum + length, 0))
  const from = Number((BigInt(index) * line) / BigInt(count))
  const to = Number((BigInt(index + 1) * line) / BigInt(count))
  let start = 0
  return snapshots.flatMap((planned, snapshot) => {
    const own = start
    start += lengths[snapshot]
    const part = { from: Math.max(0, from - own), to: Math.min(lengths[snapshot], to - own) }
    if (part.from >= part.to) return []
    return [{ snapshot, part: planned.plan.kind === 'npz-folder' ? filesWithin(planned, part) : part }]
  })
}

/** The files that begin in a part of the bytes, by their place. */
function filesWithin({ files }: PlannedSnapshot, { from, to }: PartRange): PartRange {
  let start = 0
  const starts = files.map(file => {
    const own = start
    start += lengthOf(file)
    return own
  })
  const firstFrom = (at: number): number => {
    const found = starts.findIndex(own => own >= at)
    return found < 0 ? files.length : found
  }
  return { from: firstFrom(from), to: firstFrom(to) }
}
