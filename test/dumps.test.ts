/**
 * Readers of dumps. What numpy finds in padded batches is in `fixtures/dumps/padded.jsonl`; every container must give the same
 * samples. Rollouts that are built here from their samples must give these samples back.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { isLeftOut, type Dump, type DumpOptions } from '../src/ingest/dumps/contract.js'
import { openDump, recogniseDump } from '../src/ingest/dumps/formats.js'
import { sampleKeys, type SampleKeyName } from '../src/schema/sample-keys.js'
import { SAMPLE_ARRAYS, type LeftOut, type Sample } from '../src/schema/samples.js'
import {
  isText,
  jsonLines,
  npzFile,
  numbersOf,
  parquetFile,
  rowsOf,
  safetensorsFile,
  torchFile,
  type TestArray,
  type TestArrays,
  type TorchItem
} from './support/dump-files.js'
import { fixture } from './support/paths.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'

interface ExpectedSample {
  readonly index: number
  readonly reason?: string
  readonly length: number
  readonly positions: readonly number[]
  readonly fields: Readonly<Record<string, number | string | null>>
  readonly values?: readonly (number | string)[]
  readonly returns?: readonly (number | string)[]
  readonly advantages?: readonly (number | string)[]
  readonly tokenIds?: readonly number[]
}

interface PaddedCase {
  readonly name: string
  readonly arrays: TestArrays
  readonly keys?: Partial<Record<SampleKeyName, string>>
  readonly samples: readonly ExpectedSample[]
  readonly mask?: string
  readonly end?: string
  readonly summed?: string
  readonly width?: Readonly<Record<string, string>>
}

const CASES = readFileSync(fixture('dumps/padded.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => JSON.parse(line) as PaddedCase)

const DIR = t.testdir()

export function write(name: string, bytes: Uint8Array): string {
  const path = join(DIR, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  return name
}

function options(more: Partial<DumpOptions> = {}): DumpOptions {
  return { keys: sampleKeys(), skipBad: false, ...more }
}

interface ReadDump {
  readonly items: readonly (Sample | LeftOut)[]
  readonly dump: Dump
}

async function readAll(files: readonly string[], more: Partial<DumpOptions> = {}): Promise<ReadDump> {
  const dump = await openDump(DIR, files, options(more))
  const items: (Sample | LeftOut)[] = []
  try {
    for await (const item of dump.samples(SAMPLE_ARRAYS, true)) items.push(item)
  } finally {
    await dump.close()
  }
  return { items, dump }
}

/** A sample in the words of the table of cases. */
function wordsOf(item: Sample | LeftOut, like: ExpectedSample): unknown {
  if (isLeftOut(item)) return { index: item.index, reason: item.reason }
  const { index, mask, arrays, fields, tokenIds } = item
  const positions = Array.from(mask.keys()).filter(i => mask[i] === 1)
  return {
    index,
    length: mask.length,
    positions,
    fields: Object.fromEntries(Object.keys(like.fields).map(name => [name, fields[name as 'score']])),
    ...Object.fromEntries(
      (['values', 'returns', 'advantages'] as const)
        .filter(name => arrays[name] !== undefined)
        .map(name => [name, Array.from(arrays[name] ?? [])])
    ),
    ...(tokenIds === null ? {} : { tokenIds: Array.from(tokenIds) })
  }
}

function compare(t: Test, { items }: ReadDump, expected: readonly ExpectedSample[], what: string): void {
  t.same(
    items.map((item, i) => wordsOf(item, expected[i])),
    expected,
    what
  )
}

t.test('padded batches in every container give the samples that numpy finds', async t => {
  t.ok(CASES.length > 30)
  for (const { name, arrays, keys, samples, mask, end, summed, width } of CASES) {
    const containers: Record<string, Uint8Array> = {
      'a.npz': await npzFile(arrays),
      'deflated.npz': await npzFile(arrays, { deflate: true }),
      'fortran.npz': await npzFile(arrays, { fortran: true }),
      'big-endian.npz': await npzFile(arrays, { bigEndian: true }),
      'a.pt': torchFile(arrays)
    }
    if (!Object.values(arrays).some(isText)) containers['a.safetensors'] = safetensorsFile(arrays)
    for (const [file, bytes] of Object.entries(containers)) {
      const read = await readAll([write(file, bytes)], { keys: sampleKeys(keys) })
      compare(t, read, samples, `${name}: ${file}`)
      const { facts, rows, arrays: known } = read.dump
      t.equal(rows, samples.length)
      if (mask !== undefined) t.equal(facts.mask, mask)
      if (end !== undefined) t.equal(facts.end, end)
      if (summed !== undefined) t.ok(facts.notes.includes(`the score is the sum of ${summed} over the response`), facts.notes.join())
      if (width !== undefined) t.same(Object.fromEntries(known), width)
    }
  }
})

/** A trajectory as a test makes it: what every container of it must give. */
interface Trajectory {
  readonly mask: readonly number[]
  /** single precision; not 0 at the last token, so that zeros behind it are padding */
  readonly values: readonly number[]
  readonly returns: readonly number[]
  readonly ids: readonly number[]
  readonly prompt: number
  readonly score: number
  readonly uid: string
}

function single(random: Random): number {
  return Math.fround(random.normal())
}

function trajectories(random: Random): Trajectory[] {
  return Array.from({ length: 1 + random.below(6) }, (_, i) => {
    const length = 1 + random.below(9)
    const array = (): number[] => Array.from({ length }, () => (random.chance(0.2) ? 0 : single(random)))
    const mask = Array.from({ length }, () => Number(random.chance(0.7)))
    if (random.chance(0.9)) mask[random.below(length)] = 1
    return {
      mask,
      values: array().with(-1, 0.5),
      returns: array(),
      ids: Array.from({ length }, () => random.below(150_000)),
      prompt: random.below(4),
      score: random.below(3) - 1,
      uid: `p${i >> 1}`
    }
  })
}

const NO_MASK = 'no token with mask 1'

/** What a sample must be, whatever the container. */
function samplesOf(list: readonly Trajectory[], step: number | null): unknown[] {
  return list.map(({ mask, values, returns, ids, score, uid }, index) =>
    mask.includes(1) ? { index, mask, values, returns, ids, score, uid, step } : { index, reason: NO_MASK }
  )
}

function seen({ items }: ReadDump): unknown[] {
  return items.map(item => {
    if (isLeftOut(item)) return { index: item.index, reason: item.reason }
    const { index, mask, arrays, tokenIds, fields } = item
    const plain = (array: ArrayLike<number> | null | undefined): number[] => Array.from(array ?? [])
    const { score, uid, step } = fields
    return { index, mask: plain(mask), values: plain(arrays.values), returns: plain(arrays.returns), ids: plain(tokenIds), score, uid, step }
  })
}

function array(dtype: string, shape: readonly number[], data: TestArray['data']): TestArray {
  return { dtype, shape, data }
}

/** The trajectories in arrays of `columns`; prompts stand before mask and ids, to the left. */
function padded(list: readonly Trajectory[], columns: number, random: Random): TestArrays {
  const rows = list.length
  const prompts = Math.max(0, ...list.map(({ prompt }) => prompt))
  const pad = (name: 'mask' | 'values' | 'returns' | 'ids'): number[] =>
    list.flatMap(item => [...item[name], ...new Array<number>(columns - item.mask.length).fill(0)])
  const withPrompt = (rest: number[], fill: (item: Trajectory, i: number) => number): number[] =>
    list.flatMap((item, row) => [
      ...Array.from({ length: prompts }, (_, i) => fill(item, i)),
      ...rest.slice(row * columns, (row + 1) * columns)
    ])
  const wide = random.chance(0.5)
  const attended = list.flatMap(({ mask }) => Array.from({ length: columns }, (_, i) => Number(i < mask.length)))
  const ends: TestArrays = random.pick([
    {},
    { response_lengths: array('int64', [rows], list.map(({ mask }) => mask.length)) },
    { attention_mask: array('int64', [rows, prompts + columns], withPrompt(attended, ({ prompt }, i) => Number(i >= prompts - prompt))) }
  ])
  const shape = [rows, columns]
  const wideShape = [rows, prompts + columns]
  return {
    values: array('float32', shape, pad('values')),
    returns: array('float32', shape, pad('returns')),
    [random.pick(['response_mask', 'loss_mask', 'action_mask', 'completion_mask'])]: wide
      ? array('int32', wideShape, withPrompt(pad('mask'), () => 0))
      : array(random.pick(['int64', 'bool', 'float32']), shape, pad('mask')),
    [wide ? 'token_ids' : 'responses']: wide ? array('int64', wideShape, withPrompt(pad('ids'), (_, i) => i)) : array('int32', shape, pad('ids')),
    score: array('float64', [rows], list.map(({ score }) => score)),
    uid: array('text', [rows], list.map(({ uid }) => uid)),
    ...ends
  }
}

function sampleItem({ mask, values, returns, ids, prompt, score, uid }: Trajectory, position: number, asLists: boolean): Record<string, TorchItem> {
  const row = (dtype: string, data: readonly number[]): TorchItem => (asLists ? [...data] : array(dtype, [data.length], data))
  return {
    data_parallel_rank: position % 2,
    rollout_position: position,
    sample_index: 100 + position,
    tokens: row('int64', [...new Array<number>(prompt).fill(7), ...ids]),
    total_lengths: prompt + ids.length,
    response_lengths: ids.length,
    loss_masks: row('int32', mask),
    rewards: score,
    truncated: 0,
    uid,
    values: row('float32', values),
    returns: row('float32', returns)
  }
}

/** Lists over samples, as before version 2. */
function columnsOf(samples: readonly Readonly<Record<string, TorchItem>>[], names: readonly string[]): Record<string, TorchItem> {
  return Object.fromEntries(names.map(name => [name, samples.map(sample => sample[name] ?? null)]))
}

const COLUMNS = ['tokens', 'total_lengths', 'response_lengths', 'loss_masks', 'rewards', 'uid', 'values', 'returns']

t.test('trajectories come back from every container', async t => {
  const random = new Random(seedOf(21))
  for (let round = 0; round < rounds(60); round++) {
    const list = trajectories(random)
    const longest = Math.max(...list.map(({ mask }) => mask.length))
    const arrays = padded(list, longest + random.below(3), random)
    const expected = samplesOf(list, 7)
    const step = { step: random.chance(0.5) ? array('int64', [], [7]) : array('int64', [list.length], list.map(() => 7)) }
    const npz = write('step_7.npz', await npzFile(arrays, { deflate: random.chance(0.3), fortran: random.chance(0.3) }))
    t.same(seen(await readAll([npz])), expected, 'NPZ, step of the name')
    t.same(seen(await readAll([write('b.pt', torchFile({ ...arrays, ...step }))])), expected, 'a dictionary of tensors')
    const { uid: _uid, ...numbers } = arrays
    const uids = { uid: array('int64', [list.length], list.map((_, i) => i)) }
    const safetensors = write('s.safetensors', safetensorsFile({ ...numbers, ...uids }, { step: '7' }))
    t.same(seen(await readAll([safetensors])), expected.map((item, i) => ('reason' in (item as object) ? item : { ...(item as object), uid: `${i}` })), 'safetensors')

    const asLists = random.chance(0.4)
    const samples = list.map((item, i) => sampleItem(item, i, asLists))
    const shuffled = random.shuffle(samples)
    const version2 = { format_version: 2, rollout_id: 7, rank: 0, samples: shuffled, dp_shards: [] }
    t.same(seen(await readAll([write('7.pt', torchFile(version2))])), expected, 'slime, version 2, samples in any order')
    const before = { rollout_id: 7, rank: 0, rollout_data: columnsOf(samples, COLUMNS) }
    t.same(seen(await readAll([write('7.pt', torchFile(before))])), expected, 'slime, before version 2')

    const rows = list.map(({ mask, values, returns, ids, score, uid }) => ({ values, returns, response_mask: mask, token_ids: ids, score, uid, step: 7 }))
    t.same(seen(await readAll([write('rows.jsonl', jsonLines(rows))])), expected, 'JSON Lines')
    const types = { values: 'FLOAT', returns: 'FLOAT', response_mask: 'INT32', token_ids: 'INT64', score: 'DOUBLE', uid: 'STRING', step: 'INT64' }
    const parquet = parquetFile(rows, types, 1 + random.below(4), random.pick([16, 64, 1000]))
    t.same(seen(await readAll([write('rows.parquet', parquet)])), expected, 'Parquet')
  }
})
