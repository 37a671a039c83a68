/** One run of every kind of input on one machine, and in shards, inside the test's process. */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { recordOfBytes } from '../../src/compute/diagnostics/packed-record.js'
import type { TracePool } from '../../src/compute/traces/pool.js'
import { Failures, Fault } from '../../src/core/errors.js'
import { unpackValue } from '../../src/core/packed.js'
import { Random as SeededRandom } from '../../src/replica/random.js'
import { runBatch } from '../../src/runs/batch.js'
import { runDiagnose } from '../../src/runs/diagnose.js'
import type { ShardSettings } from '../../src/runs/shards/contract.js'
import { mergePartials, type MergeOutcome } from '../../src/runs/shards/merge.js'
import type { PartialRow } from '../../src/runs/shards/contract.js'
import { readPartial } from '../../src/runs/shards/partial-file.js'
import { runShard, type ShardOutcome } from '../../src/runs/shards/run-shard.js'
import type { SnapshotSettings } from '../../src/runs/snapshot-work.js'
import { findSnapshots } from '../../src/study/inventory.js'
import { CLEAN, diagnosticDump } from './diagnostic-dumps.js'
import { writeDump } from './diagnostic-files.js'
import { npzFile, torchFile, type TestArray, type TestArrays } from './dump-files.js'
import { Random } from './random.js'
import { hashes, settings } from './run.js'
import { npzOf, page, randomTraces, writeSnapshot } from './snapshot.js'

export interface ShardedOptions {
  readonly skipBad?: boolean
  readonly formats?: readonly 'svg'[]
}

function snapshotSettings({ skipBad = false }: ShardedOptions): SnapshotSettings {
  return { ...settings(), synthetic: false, dump: { names: {}, skipBad, against: null, tokenizer: null } }
}

export function shardSettings(options: ShardedOptions = {}): ShardSettings {
  const told = { gamma: null, lambdaReturns: null, lambdaAdvantages: null, sampling: 'not stated' } as const
  return { snapshot: snapshotSettings(options), told, history: null, failOn: [], tokenizerSha256: null }
}

/** What `traces --no-arrow` and `diagnose` write. */
export async function onOneMachine(paths: readonly string[], out: string, pool: TracePool, options: ShardedOptions = {}): Promise<void> {
  const [own, { formats = [] }] = [snapshotSettings(options), options]
  await runBatch({ paths, settings: { ...own, tables: { arrow: false, parquet: false } }, pool, out, formats })
  const { told } = shardSettings(options)
  for (const plan of await findSnapshots(paths, () => undefined)) {
    const run = { plan, against: null, settings: own, told: { ...told, history: null }, pool, out: join(out, plan.name), formats }
    await runDiagnose(run).catch((error: unknown) => {
      if (!(error instanceof Fault || error instanceof Failures)) throw error
    })
  }
}

export async function inShards(
  paths: readonly string[],
  count: number,
  out: string,
  pool: TracePool,
  options: ShardedOptions = {}
): Promise<readonly ShardOutcome[]> {
  const outcomes: ShardOutcome[] = []
  for (let index = 0; index < count; index++)
    outcomes.push(await runShard({ paths, settings: shardSettings(options), shard: { index, count }, pool, out }))
  return outcomes
}

export function merged(paths: readonly string[], out: string, { formats = [] }: ShardedOptions = {}): Promise<MergeOutcome> {
  return mergePartials({ paths, out, formats, threads: 1 })
}

/**
 * Every trace of some partials as text, in which is what was made of its neighbours: by snapshot and canonical index. Not as bytes:
 * V8 has two ways to write some texts.
 */
export function statesOf(folder: string): readonly string[] {
  const texts = readdirSync(folder).flatMap(name =>
    Array.from(readPartial(join(folder, name)).rows(), row => ({ snapshot: row.snapshot, trace: row.trace, text: textOf(row) }))
  )
  texts.sort((a, b) => a.snapshot - b.snapshot || a.trace - b.trace)
  return texts.map(({ snapshot, trace, text }) => `${snapshot}/${trace} ${createHash('sha256').update(text).digest('hex')}`)
}

function textOf({ head, record }: PartialRow): string {
  const { estimator, quality, omitted } = record.length === 0 ? { estimator: null, quality: null, omitted: [] } : recordOfBytes(record)
  const { sums, counts, cells } = quality?.histogram ?? {}
  const whole = [unpackValue(head), omitted, estimator, estimator?.ends?.gaps.numbers, quality, sums, counts, cells]
  return inspect(whole, { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity })
}

/** Hashes of what a merge and one machine both write. */
export function outputsOf(out: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(hashes(out)).filter(
      ([path]) => !/(?:^|\/)(?:(?:diagnose-|merge-)?run\.json|critic-trace-arrays\.npz|preview\/traces\.html)$/.test(path)
    )
  )
}

/** Of a folder that the shards wrote into as well. */
export function mergedOutputsOf(out: string): Record<string, string> {
  return Object.fromEntries(Object.entries(outputsOf(out)).filter(([path]) => !/^(?:partials|tokens)\//.test(path)))
}

/** Folders with one kind of input each, by name. */
export async function writeInputs(folder: string): Promise<Readonly<Record<string, string>>> {
  const at = (name: string): string => {
    const path = join(folder, name)
    mkdirSync(path, { recursive: true })
    return path
  }
  const traces = randomTraces(new SeededRandom('shards'), 6, i => 5 + 17 * (i % 5))
  await writeSnapshot(at('page'), traces)
  // Beside the page, and named by no trace.
  copyFileSync(join(folder, 'page', traces[3].npz), join(folder, 'page', 'step_99_other.npz'))
  await writeSnapshot(at('packed'), traces.slice(0, 5), { page: json => page(json) })
  const packed = join(at('gzip'), 'index.html.gz')
  writeFileSync(packed, gzipSync(page(JSON.stringify({ traces: traces.slice(2, 9).map(({ npz: _npz, ...trace }) => trace) }))))
  for (const trace of traces.slice(0, 7)) writeFileSync(join(at('npz'), trace.npz), await npzOf(trace))
  const padded = at('padded')
  for (const [step, rows, empty] of [
    [1, 7, []],
    [2, 5, [0, 4]],
    [10, 6, [2, 3]],
    [11, 2, [0, 1]],
    [12, 3, []]
  ] as const) {
    writeFileSync(join(padded, `step_${step}.npz`), await npzFile(paddedBatch(step, rows, empty)))
  }
  const ranks = at('ranks')
  for (const rank of [0, 1]) writeFileSync(join(ranks, `4_rank${rank}.pt`), rankFile(rank))
  const lines = at('lines')
  const { samples, ...dump } = diagnosticDump({ ...CLEAN, seed: 5, samples: 11, steps: 2, fault: 'foreign-bootstrap' })
  const firstStep = samples[0].fields.step
  for (const isFirst of [true, false]) {
    const own = samples.filter(({ fields: { step } }) => (step === firstStep) === isFirst)
    writeDump(join(lines, `dump_${isFirst ? 'a' : 'b'}.jsonl`), { ...dump, samples: own })
  }
  const bad = at('bad')
  writeFileSync(join(bad, 'step_5.npz'), await npzFile(withNaN(paddedBatch(5, 8, [1]), [3, 6])))
  writeFileSync(join(bad, 'step_6.npz'), await npzFile(paddedBatch(6, 4, [])))
  const { values: _values, returns: _returns, ...without } = paddedBatch(7, 9, [4])
  writeFileSync(join(at('lengths'), 'step_7.npz'), await npzFile(without))
  const names = ['page', 'packed', 'gzip', 'npz', 'padded', 'ranks', 'lines', 'bad', 'lengths']
  return Object.fromEntries(names.map(name => [name, join(folder, name)]))
}

const COLUMNS = 24

/** A padded batch whose end is known by its zeros alone. @param empty rows without a token of the policy */
function paddedBatch(seed: number, rows: number, empty: readonly number[]): TestArrays {
  const random = new Random(seed)
  const [values, returns, advantages, mask, score]: number[][] = [[], [], [], [], []]
  for (let row = 0; row < rows; row++) {
    const length = 9 + random.below(COLUMNS - 9)
    const outcome = random.below(2)
    score.push(outcome)
    for (let t = 0; t < COLUMNS; t++) {
      const isThere = t < length
      const value = isThere ? Math.fround(random.unit()) : 0
      values.push(value)
      returns.push(isThere ? outcome : 0)
      advantages.push(isThere ? Math.fround(outcome - value) : 0)
      mask.push(isThere && !empty.includes(row) && t % 7 !== 5 ? 1 : 0)
    }
  }
  const of = (data: readonly number[]): TestArray => ({ dtype: 'float32', shape: [rows, COLUMNS], data })
  return {
    values: of(values),
    returns: of(returns),
    advantages: of(advantages),
    response_mask: { ...of(mask), dtype: 'int64' },
    score: { dtype: 'float64', shape: [rows], data: score },
    step: { dtype: 'int64', shape: [], data: [seed] }
  }
}

/** Two ranks whose samples take turns in the rollout. */
function rankFile(rank: number): Uint8Array {
  const random = new Random(40 + rank)
  const tokens = (length: number, of: () => number): TestArray => ({ dtype: 'float32', shape: [length], data: Array.from({ length }, of) })
  const samples = Array.from({ length: 5 }, (_, i) => {
    const length = 8 + random.below(9)
    return {
      rollout_position: 2 * i + rank,
      sample_index: 2 * i + rank,
      response_lengths: length,
      total_lengths: length + 3,
      tokens: { dtype: 'int64', shape: [length + 3], data: Array.from({ length: length + 3 }, () => random.below(100)) },
      rewards: i % 2,
      truncated: 0,
      loss_masks: { dtype: 'int32', shape: [length], data: Array.from({ length }, (_, t) => (t === 4 ? 0 : 1)) },
      values: tokens(length, () => Math.fround(random.unit())),
      returns: tokens(length, () => i % 2)
    }
  })
  return torchFile({ format_version: 2, rollout_id: 4, rank, samples })
}

function withNaN(arrays: TestArrays, rows: readonly number[]): TestArrays {
  const { values } = arrays
  const data = values.data.map((x, k) => (rows.some(row => k === row * COLUMNS + 1) ? NaN : x))
  return { ...arrays, values: { ...values, data } }
}
