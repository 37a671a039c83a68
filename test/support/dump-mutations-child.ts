/**
 * Reads mutated dumps, in a process of its own: a hang or a crash ends this process alone, and the last line says at which round.
 *
 *     node dump-mutations-child.js FOLDER SEED FIRST COUNT
 *
 * A round depends on its own number and the seed alone.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Fault } from '../../src/core/errors.js'
import { openDump } from '../../src/ingest/dumps/formats.js'
import { sampleKeys } from '../../src/schema/sample-keys.js'
import { SAMPLE_ARRAYS } from '../../src/schema/samples.js'
import { jsonLines, npzFile, parquetFile, safetensorsFile, torchFile, type TestArray, type TestArrays } from './dump-files.js'
import { fixture } from './paths.js'
import { Random } from './random.js'

/** More samples than any of the dumps can hold: its rows have one byte at least. */
const MOST_SAMPLES = 2 ** 17
/** CPU time of one round in microseconds: a thousand times what a round takes. */
const MOST_CPU = 5e6

const array = (dtype: string, shape: readonly number[], data: readonly (number | string)[]): TestArray => ({ dtype, shape, data })
const BATCH: TestArrays = {
  values: array('float32', [3, 4], [1, 2, 3, 4, 0.5, -1, 0.25, 0, 1, 1, 1, 1]),
  returns: array('float64', [3, 4], [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1]),
  response_mask: array('int64', [3, 4], [1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]),
  responses: array('int64', [3, 4], [5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4]),
  response_length: array('int32', [3], [4, 3, 4]),
  score: array('float16', [3], [1, 0, 0.5])
}
const row = (at: number) => ({ values: [0.5, at, 2], returns: [1, 1, 1], response_mask: [1, 0, 1], token_ids: [7, 8, 9], score: at })
const list = (dtype: string, data: readonly number[]): TestArray => array(dtype, [data.length], data)
const sample = (at: number) => ({
  rollout_position: at,
  tokens: list('int64', [1, 2, 3, 4, 5]),
  total_lengths: 5,
  response_lengths: 3,
  rewards: at / 2,
  loss_masks: list('int32', [1, 0, 1]),
  values: list('float32', [0.5, at, 2]),
  returns: list('float32', [1, 1, 1])
})

export async function mutableDumps(): Promise<Readonly<Record<string, Uint8Array>>> {
  const rows = [row(0), row(1), row(2)]
  const uid = array('text', [3], ['a', 'b', 'c'])
  const columns = { rewards: [0, 1], response_lengths: [3, 3], values: [sample(0).values, sample(1).values] }
  return {
    'stored.npz': await npzFile({ ...BATCH, uid }),
    'deflated.npz': await npzFile({ ...BATCH, uid }, { deflate: true }),
    'fortran.npz': await npzFile(BATCH, { fortran: true, bigEndian: true }),
    'samples.pt': torchFile({ format_version: 2, rollout_id: 1, rank: 0, samples: [sample(0), sample(1)] }),
    'columns.pt': torchFile({
      rollout_id: 1,
      rank: 0,
      rollout_data: { ...columns, returns: columns.values, loss_masks: [sample(0).loss_masks, sample(1).loss_masks] }
    }),
    'padded.pt': torchFile(BATCH),
    'legacy.pt': readFileSync(fixture('torch/slime-legacy.pt')),
    'padded.safetensors': safetensorsFile(BATCH, { step: '3' }),
    'rows.jsonl': jsonLines(rows),
    'nemo.jsonl': readFileSync(fixture('dumps/train_data_step12.jsonl')),
    'made.parquet': parquetFile(rows, { values: 'FLOAT', returns: 'DOUBLE', response_mask: 'INT32', token_ids: 'INT64', score: 'DOUBLE' }),
    'rows.parquet': readFileSync(fixture('dumps/rows.parquet'))
  }
}

const EDGES = [0, 1, 0x7f, 0x80, 0xff]

function mutated(original: Uint8Array, random: Random): Uint8Array {
  let bytes = new Uint8Array(original)
  for (let i = 1 + random.below(3); i > 0; i--) {
    const at = random.below(bytes.length)
    const length = Math.min(1 + random.below(16), bytes.length - at)
    const kind = random.below(6)
    if (kind <= 1) bytes[at] = random.below(256)
    else if (kind === 2) bytes.fill(random.pick(EDGES), at, at + Math.min(length, 8))
    else if (kind === 3) bytes.copyWithin(at, random.below(bytes.length), random.below(bytes.length))
    else if (kind === 4) bytes = new Uint8Array([...bytes.subarray(0, at), ...bytes.subarray(at + length)])
    else bytes = new Uint8Array([...bytes.subarray(0, at + length), ...bytes.subarray(at)])
    if (bytes.length === 0) return bytes
  }
  return random.chance(0.1) ? bytes.subarray(0, random.below(bytes.length)) : bytes
}

/** Makes the sums of stored members right again: behind a wrong sum nothing is looked at. */
function summedAgain(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at + 46 <= bytes.length; at++) {
    if (view.getUint32(at, true) !== 0x02014b50) continue
    const [size, local] = [view.getUint32(at + 24, true), view.getUint32(at + 42, true)]
    if (view.getUint16(at + 10, true) !== 0 || local + 30 > bytes.length) continue
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
    if (start + size > bytes.length) continue
    const sum = crc32(bytes.subarray(start, start + size))
    for (const place of [at + 16, local + 14]) view.setUint32(place, sum, true)
  }
}

async function readAll(folder: string, files: readonly string[], skipBad: boolean): Promise<number> {
  const dump = await openDump(folder, files, { keys: sampleKeys(), skipBad })
  let count = 0
  try {
    for await (const item of dump.samples(SAMPLE_ARRAYS, true)) {
      count++
      if (item.index >= MOST_SAMPLES) throw new Error(`sample ${item.index}`)
    }
  } finally {
    await dump.close()
  }
  return count
}

async function main(folder: string, seed: number, first: number, count: number): Promise<void> {
  const originals = Object.entries(await mutableDumps())
  for (const [name, bytes] of originals) writeFileSync(join(folder, `whole-${name}`), bytes)
  const counts = { refused: 0, read: 0 }
  let slowest = 0
  for (let round = first; round < first + count; round++) {
    const random = new Random(seed * 2 ** 20 + round)
    const [name, original] = random.pick(originals)
    const bytes = mutated(original, random)
    if (random.chance(0.7)) summedAgain(bytes)
    writeFileSync(join(folder, name), bytes)
    const files = random.chance(0.2) ? [name, `whole-${name}`] : [name]
    // The last line of a process that did not come to its end.
    process.stdout.write(`round ${round} ${name}\n`)
    const before = process.cpuUsage()
    try {
      await readAll(folder, files, random.chance(0.5))
      counts.read++
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      counts.refused++
    }
    const { user, system } = process.cpuUsage(before)
    slowest = Math.max(slowest, user + system)
    if (user + system > MOST_CPU) throw new Error(`${(user + system) / 1e6} s of CPU time`)
  }
  process.stdout.write(`${JSON.stringify({ ...counts, slowest, maxRss: process.resourceUsage().maxRSS })}\n`)
}

if (process.argv.length === 6) await main(process.argv[2], ...(process.argv.slice(3).map(Number) as [number, number, number]))
