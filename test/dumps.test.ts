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
import { faultOf, sha256 } from './support/folders.js'
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

t.test('a dump that torch itself wrote', async t => {
  for (const name of ['slime.pt', 'slime-legacy.pt']) {
    const { items, dump } = await readAll([write(name, readFileSync(fixture('torch', name)))])
    const [first] = items as Sample[]
    t.same(seen({ items, dump }).slice(0, 2), [
      { index: 0, mask: [1, 1, 0, 1], values: [0, 0.125, 0.25, 0.375], returns: [0.125, 0.25, 0.375, 0.5], ids: [2, 3, 4, 5], score: 0, uid: null, step: 7 },
      {
        index: 1,
        mask: [1, 1, 0, 1, 1],
        values: [0.125, 0.25, 0.375, 0.5, 0.625],
        returns: [0.25, 0.375, 0.5, 0.625, 0.75],
        ids: [2, 3, 4, 5, 6],
        score: 1,
        uid: null,
        step: 7
      }
    ])
    t.equal(items.length, 3)
    t.same([first.fields.rank, first.fields.truncated, first.place], [0, false, { file: name, trace: 0 }])
    t.same(Array.from(first.arrays.kl ?? []), [0, 1 / 8192, 2 / 8192, 3 / 8192])
    t.same(dump.facts, { kind: 'slime debug dump, version 2', mask: 'loss_masks', end: 'response_lengths', notes: [] })
    t.same([...dump.arrays], [
      ['values', 'float32'],
      ['returns', 'float32'],
      ['advantages', 'float32'],
      ['kl', 'float32']
    ])
  }
})

t.test('rows as pyarrow and NeMo-RL write them', async t => {
  for (const name of ['rows.parquet', 'train_data_step12.jsonl']) {
    const expected = JSON.parse(readFileSync(fixture('dumps', name.replace(/\.\w+$/, '.expected.json')), 'utf8')) as ExpectedSample[]
    const read = await readAll([write(name, readFileSync(fixture('dumps', name)))])
    compare(t, read, expected, name)
    if (name.endsWith('.jsonl')) {
      t.same([...read.dump.arrays.keys()], ['advantages', 'log_probs', 'rollout_log_probs'], 'no critic')
      t.same(read.dump.facts, {
        kind: 'one row a sample',
        mask: 'token_loss_mask',
        end: 'input_lengths',
        notes: ['the arrays hold the prompt too: positions are counted from the first token of the response']
      })
    } else t.equal(read.dump.arrays.get('returns'), 'float64')
  }
})

function lists(length: number, first: number): TestArray {
  return array('float32', [length], Array.from({ length }, (_, i) => first + i))
}

/** A sample of slime with as many tokens as its number says. */
function plainSample(position: number, more: Readonly<Record<string, TorchItem>> = {}): Record<string, TorchItem> {
  const length = position + 1
  return {
    tokens: array('int64', [length + 1], Array.from({ length: length + 1 }, (_, i) => 10 * position + i)),
    total_lengths: length + 1,
    response_lengths: length,
    loss_masks: array('int32', [length], new Array<number>(length).fill(1)),
    rewards: -position,
    values: lists(length, position),
    returns: lists(length, position),
    ...more
  }
}

const PLAIN = ['tokens', 'total_lengths', 'response_lengths', 'loss_masks', 'rewards', 'values', 'returns']

function rankFile(rank: number, positions: readonly number[], top: Readonly<Record<string, TorchItem>>, names: readonly string[] = PLAIN): Uint8Array {
  const samples = positions.map(position => plainSample(position, { partition: position }))
  return torchFile({ rollout_id: 3, rank, rollout_data: { ...columnsOf(samples, names), ...top } })
}

function lengthsOf({ items }: ReadDump): (number | string)[] {
  return items.map(item => (isLeftOut(item) ? item.reason : item.mask.length))
}

t.test('ranks of a rollout are merged', async t => {
  const a = write('r/3_0.pt', rankFile(0, [3, 1], {}, [...PLAIN, 'partition']))
  const b = write('r/3_1.pt', rankFile(1, [0, 2], {}, [...PLAIN, 'partition']))
  const merged = await readAll([b, a])
  t.same(lengthsOf(merged), [1, 2, 3, 4], 'by their places in the rollout')
  t.same(merged.items.map(({ place }) => [place.file, place.trace]), [[b, 0], [a, 1], [b, 1], [a, 0]])
  t.same(merged.dump.inputs.map(({ path }) => path), [a, b])
  t.equal(merged.dump.facts.kind, 'slime debug dump, before version 2')

  const c = write('r/3_2.pt', rankFile(0, [3, 1], {}))
  const d = write('r/3_3.pt', rankFile(1, [0, 2], {}))
  t.same(lengthsOf(await readAll([d, c])), [4, 2, 1, 3], 'without places by rank')

  const copy = write('r/3_4.pt', rankFile(2, [3, 1], {}))
  const copied = await readAll([c, d, copy])
  t.same(lengthsOf(copied), [4, 2, 1, 3], 'a copy of another rank, by the token ids')
  t.equal(copied.dump.rows, 4)
  t.same(copied.dump.facts.notes, ['1 file holds the same samples as the file of another rank: each sample is taken once'])
  t.equal(copied.dump.inputs.length, 3)

  const without = PLAIN.filter(name => name !== 'values')
  const early = write('r/3_5.pt', rankFile(0, [3, 1], {}, [...without, 'partition']))
  const late = write('r/3_6.pt', rankFile(1, [3, 1], {}, [...PLAIN, 'partition']))
  const stages = await readAll([early, late])
  t.same([lengthsOf(stages), [...stages.dump.arrays.keys()]], [[2, 4], ['values', 'returns']], 'the stage that has the values')
})

t.test('raw_reward is of the whole rollout', async t => {
  const raw = { raw_reward: [10, 11, 12, 13] }
  const scores = async (bytes: Uint8Array): Promise<(number | null)[]> =>
    ((await readAll([write('raw.pt', bytes)])).items as Sample[]).map(({ fields }) => fields.score)
  t.same(await scores(rankFile(0, [3, 1], raw, [...PLAIN, 'partition'])), [11, 13], 'by the places in the rollout')
  t.same(await scores(rankFile(0, [3, 1, 0, 2], raw)), [10, 11, 12, 13], 'by their order, where the file has all samples')
  t.same(await scores(rankFile(0, [3, 1], raw)), [-3, -1], 'else the rewards')
  const { dump } = await readAll(['raw.pt'])
  t.match(dump.facts.notes.join(), /raw_reward is a list over the whole rollout/)
  const tensors = { ...columnsOf([0, 1].map(i => plainSample(i)), PLAIN), rewards: array('float32', [2], [0.5, 0.25]) }
  t.same(await scores(torchFile(tensors)), [0.5, 0.25], 'rewards as one tensor')
})

t.test('files of a folder are one series over steps', async t => {
  const names = [10, 9, 100].map(step => write(`steps/${step}.pt`, torchFile({ format_version: 2, rank: 0, samples: [plainSample(step % 7)] })))
  const series = await readAll(names)
  t.same((series.items as Sample[]).map(({ index, fields }) => [index, fields.step]), [[0, 9], [1, 10], [2, 100]])
  const stated = await readAll([write('steps/1.pt', torchFile({ rollout_id: 200, samples: [plainSample(0)] })), ...names])
  t.same((stated.items as Sample[]).map(({ fields }) => fields.step), [9, 10, 100, 200], 'rollout_id before the name')
  t.same(stated.dump.rows, 4)

  const many = await Promise.all(Array.from({ length: 12 }, async (_, i) => write(`many/step_${11 - i}.npz`, await npzFile(CASES[0].arrays))))
  const progress: number[] = []
  const all = await readAll(many, { onProgress: bytes => progress.push(bytes) })
  t.equal(all.items.length, 12 * CASES[0].samples.length, 'more files than stay open')
  t.same(all.items.map(item => (isLeftOut(item) ? null : item.fields.step)), Array.from({ length: 12 }, (_, i) => [i, i, i]).flat())
  t.same(progress, progress.toSorted((a, b) => a - b), 'progress does not go back')
  t.equal(progress.at(-1), all.dump.inputs.reduce((sum, { bytes }) => sum + bytes, 0))
  t.same(all.dump.inputs[0], { path: 'many/step_0.npz', sha256: sha256(await npzFile(CASES[0].arrays)), bytes: all.dump.inputs[0].bytes })
})
