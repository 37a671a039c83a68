/**
 * One shard of a run: its traces measured, its partial and its files of the dataset written.
 *
 *     paths ──► plan ──► cut ──► parts of snapshots ──► threads ──► rows ──► OUT/partials/shard-3-of-8.arrow
 *                                                         └──► tokens ──► OUT/tokens/snapshot=…/step=…/part-3-0.parquet
 *
 * The partial is written last. One that is there and whole, of the same inputs and settings, and without a fault, is not made again.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { TracePool } from '../../compute/traces/pool.js'
import { EXIT, Fault } from '../../core/errors.js'
import { GENERATOR } from '../../core/version.js'
import { refuseOutputsAtInputs } from '../../render/outputs/output-place.js'
import type { SnapshotPlan } from '../../study/inventory.js'
import { isSameFileAs, RUN_VERSIONS } from '../record.js'
import type { MeasuredPart, PartialMeta, ShardNumber, ShardSettings } from './contract.js'
import { KeptRows } from './kept-rows.js'
import { partsOf, planHash, planOf, type RunPlan } from './cut.js'
import { plansThatDiffer } from './foreign-plan.js'
import { measurePart } from './measure-part.js'
import { countOfName, isTokenPart, partialPath, PARTIALS_FOLDER, shardDigits, TOKENS_FOLDER } from './names.js'
import { readPartial, type OpenPartial } from './partial-file.js'
import { writePartial } from './partial-write.js'

export interface ShardRun {
  readonly paths: readonly string[]
  readonly settings: ShardSettings
  readonly shard: ShardNumber
  readonly pool: TracePool
  readonly out: string
  readonly signal?: AbortSignal | undefined
  /** called before the part of each snapshot; returns what takes the amount done */
  readonly onPart?: ((plan: SnapshotPlan) => (done: number) => void) | undefined
}

export interface ShardOutcome {
  readonly status: 'done' | 'unchanged'
  /** relative to the output folder */
  readonly partial: string
  readonly snapshots: number
  readonly traces: number
  readonly tokens: number
  /** files of the dataset */
  readonly files: number
  readonly faults: readonly Fault[]
}

/** @throws Fault where the folder has partials of another number of shards, an output cannot be written, or it was interrupted */
export async function runShard(run: ShardRun): Promise<ShardOutcome> {
  const { paths, settings, shard, out } = run
  refuseOutputsAtInputs(paths, out)
  await refuseOtherShards(out, shard)
  // 1. Plan and cut
  const plan = await planOf(paths)
  const head = headOf(plan, settings, shard)
  const path = partialPath(shard)
  // 2. What an earlier run left
  const earlier = earlierPartial(join(out, path))
  if (earlier !== null) refuseOtherPlan(earlier, plan, head, join(out, path))
  if (earlier !== null && (await isUnchanged(earlier, head, plan, run))) return outcomeOf('unchanged', path, earlier.meta, earlier.rows())
  await rm(join(out, path), { force: true })
  await removeTokens(out, shard)
  const rows = new KeptRows(out)
  try {
    return await measuredShard(run, plan, head, rows)
  } finally {
    rows.close()
  }
}

async function measuredShard(run: ShardRun, plan: RunPlan, head: PartialHead, rows: KeptRows): Promise<ShardOutcome> {
  const { settings, shard, out, pool } = run
  const path = partialPath(shard)
  // 3. Measure
  const parts: MeasuredPart[] = []
  for (const { snapshot, part } of partsOf(plan.snapshots, shard)) {
    const { plan: own } = plan.snapshots[snapshot]
    const { signal, onPart } = run
    const work = {
      plan: own,
      settings: settings.snapshot,
      pool,
      part,
      snapshot,
      shard: shard.index,
      shardName: shardDigits(shard),
      out,
      rows,
      signal
    }
    parts.push(await measurePart({ ...work, onProgress: onPart?.(own) }))
  }
  // 4. Write
  const planned = [...new Set(parts.map(({ snapshot }) => snapshot))].map(number => ({ number, ...plan.snapshots[number] }))
  const meta: PartialMeta = { ...head, shards: [shard.index], planned, parts }
  await writePartial(join(out, path), meta, rows.inOrder())
  // Another cut may have begun meanwhile. The partial stands before this look, so of two cuts one at least sees the other.
  try {
    await refuseOtherShards(out, shard)
  } catch (error) {
    await rm(join(out, path), { force: true })
    await removeTokens(out, shard)
    throw error
  }
  return outcomeOf('done', path, meta, rows.all)
}

type PartialHead = Omit<PartialMeta, 'shards' | 'planned' | 'parts'>

function headOf(plan: RunPlan, settings: ShardSettings, { count }: ShardNumber): PartialHead {
  const plain = plainSettings(settings)
  return {
    generator: GENERATOR,
    versions: RUN_VERSIONS,
    settings: plain,
    settingsSha256: createHash('sha256').update(JSON.stringify(plain)).digest('hex'),
    planSha256: planHash(plan, count),
    count,
    snapshots: plan.snapshots.length,
    failed: plan.failed
  }
}

/** As JSON gives them back. */
function plainSettings(settings: ShardSettings): ShardSettings {
  return JSON.parse(JSON.stringify(settings)) as ShardSettings
}

/** Files of two cuts in one dataset would hold tokens twice. */
async function refuseOtherShards(out: string, { count }: ShardNumber): Promise<void> {
  const names = await readdir(join(out, PARTIALS_FOLDER)).catch(() => [])
  const other = names.find(name => (countOfName(name) ?? count) !== count)
  if (other === undefined) return
  throw new Fault({
    format: 'usage',
    problem: 'other shards in the output folder',
    found: `${PARTIALS_FOLDER}/${other}`,
    expected: `shards of ${count}, or a folder without partials and tokens`,
    exitCode: EXIT.usage
  })
}

/** The partial of a run over other inputs, or over the same in another order, is not replaced: its other shards may lie there too. */
function refuseOtherPlan({ meta, planned }: OpenPartial, plan: RunPlan, head: PartialHead, file: string): void {
  if (meta.planSha256 === head.planSha256) return
  const now = plan.snapshots.map((snapshot, number) => ({ number, ...snapshot }))
  const { found, expected } = plansThatDiffer({ ...meta, planned: planned() }, { ...head, planned: now })
  throw new Fault({
    format: 'usage',
    problem: 'partial of other inputs in the output folder',
    found,
    expected: `${expected}, as these inputs have: take another --out, or delete it`,
    place: { file },
    exitCode: EXIT.usage
  })
}

/** Null where there is none, or none that can be used: it is then written anew. */
function earlierPartial(path: string): OpenPartial | null {
  if (!existsSync(path)) return null
  try {
    return readPartial(path)
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

async function isUnchanged(
  { meta }: OpenPartial,
  head: PartialHead,
  { snapshots }: RunPlan,
  { shard, out, pool }: ShardRun
): Promise<boolean> {
  const { shards, parts, failed: _failed, ...earlier } = meta
  const { failed: _now, ...now } = head
  if (!isDeepStrictEqual(earlier, JSON.parse(JSON.stringify(now))) || !isDeepStrictEqual(shards, [shard.index])) return false
  if (parts.some(({ faults, statisticsFault }) => faults.length > 0 || statisticsFault !== null)) return false
  for (const { snapshot, inputs, tokens } of parts) {
    const { folder } = snapshots[snapshot].plan
    const read = inputs.map(file => isSameFileAs(join(folder, file.path), file, 'follow', pool))
    const written = tokens.map(file => isTokenPart(file.path, shard) && isSameFileAs(join(out, file.path), file, 'refuse', pool))
    if ((await Promise.all([...read, ...written])).includes(false)) return false
  }
  return true
}

/** Files of the dataset that an earlier run of this shard left, with a partial or without: beside new ones they would hold tokens twice. */
async function removeTokens(out: string, shard: ShardNumber): Promise<void> {
  const foldersIn = async (path: string): Promise<string[]> => {
    const entries = await readdir(join(out, path), { withFileTypes: true }).catch(() => [])
    return entries.filter(entry => entry.isDirectory()).map(({ name }) => `${path}/${name}`)
  }
  for (const snapshot of await foldersIn(TOKENS_FOLDER)) {
    for (const step of await foldersIn(snapshot)) {
      const files = (await readdir(join(out, step))).map(name => `${step}/${name}`)
      for (const file of files) if (isTokenPart(file, shard)) await rm(join(out, file), { force: true })
    }
  }
}

function outcomeOf(
  status: ShardOutcome['status'],
  partial: string,
  { parts, failed }: OpenPartial['meta'],
  rows: Iterable<{ readonly tokens: number }>
): ShardOutcome {
  let [traces, tokens] = [0, 0]
  for (const row of rows) {
    traces++
    tokens += row.tokens
  }
  const faults = [
    ...failed,
    ...parts.flatMap(({ faults: own, statisticsFault }) => [...own, ...(statisticsFault === null ? [] : [{ fault: statisticsFault }])])
  ]
  const files = parts.reduce((sum, part) => sum + part.tokens.length, 0)
  return { status, partial, snapshots: parts.length, traces, tokens, files, faults: faults.map(({ fault }) => Fault.deserialize(fault)) }
}
