/**
 * Readers of dumps. What numpy finds in padded batches is in `fixtures/dumps/padded.jsonl`; every container must give the same
 * samples. Rollouts that are built here from their samples must give these samples back.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { isLeftOut, type Dump, type DumpOptions } from '../src/ingest/dumps/contract.js'
import { linesOf } from '../src/ingest/dumps/json-line-reader.js'
import { readAhead } from '../src/ingest/dumps/read-ahead.js'
import { uidField } from '../src/ingest/dumps/fields.js'
import { openDump, recogniseDump } from '../src/ingest/dumps/formats.js'
import { sampleKeys, type SampleKeyName } from '../src/schema/sample-keys.js'
import { SAMPLE_ARRAYS, type LeftOut, type Sample } from '../src/schema/samples.js'
import {
  isText,
  jsonLines,
  npzFile,
  parquetFile,
  parquetWithMessages,
  safetensorsFile,
  testRowsOf,
  torchFile,
  type TestArray,
  type TestArrays,
  type TorchItem
} from './support/dump-files.js'
import { rowsOf } from './support/cases.js'
import { faultOf, sha256 } from './support/folders.js'
import { encodeNpy, encodeNpyHeader } from '../src/ingest/npz/encode.js'
import { archive, bomb } from './support/archives.js'
import { fixture } from './support/paths.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'
import { archive as torchArchive, dict, floats, list as torchList, pickle, tensor } from './support/torch-files.js'

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

const CASES = rowsOf<PaddedCase>('dumps/padded')

const DIR = t.testdir()

function write(name: string, bytes: Uint8Array): string {
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
    // In rows a response ends where the row says, or with the row.
    if (end !== undefined) compare(t, await readAll([write('a.jsonl', jsonLines(testRowsOf(arrays)))]), samples, `${name}: rows`)
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
    return {
      index,
      mask: plain(mask),
      values: plain(arrays.values),
      returns: plain(arrays.returns),
      ids: plain(tokenIds),
      score,
      uid,
      step
    }
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
    {
      response_lengths: array(
        'int64',
        [rows],
        list.map(({ mask }) => mask.length)
      )
    },
    {
      attention_mask: array(
        'int64',
        [rows, prompts + columns],
        withPrompt(attended, ({ prompt }, i) => Number(i >= prompts - prompt))
      )
    }
  ])
  const shape = [rows, columns]
  const wideShape = [rows, prompts + columns]
  return {
    values: array('float32', shape, pad('values')),
    returns: array('float32', shape, pad('returns')),
    [random.pick(['response_mask', 'loss_mask', 'action_mask', 'completion_mask'])]: wide
      ? array(
          'int32',
          wideShape,
          withPrompt(pad('mask'), () => 0)
        )
      : array(random.pick(['int64', 'bool', 'float32']), shape, pad('mask')),
    [wide ? 'token_ids' : 'responses']: wide
      ? array(
          'int64',
          wideShape,
          withPrompt(pad('ids'), (_, i) => i)
        )
      : array('int32', shape, pad('ids')),
    score: array(
      'float64',
      [rows],
      list.map(({ score }) => score)
    ),
    uid: array(
      'text',
      [rows],
      list.map(({ uid }) => uid)
    ),
    ...ends
  }
}

function sampleItem(
  { mask, values, returns, ids, prompt, score, uid }: Trajectory,
  position: number,
  asLists: boolean
): Record<string, TorchItem> {
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
  for (let round = 0; round < rounds(40); round++) {
    const list = trajectories(random)
    const longest = Math.max(...list.map(({ mask }) => mask.length))
    const arrays = padded(list, longest + random.below(3), random)
    const expected = samplesOf(list, 7)
    const step = {
      step: random.chance(0.5)
        ? array('int64', [], [7])
        : array(
            'int64',
            [list.length],
            list.map(() => 7)
          )
    }
    const npz = write('step_7.npz', await npzFile(arrays, { deflate: random.chance(0.3), fortran: random.chance(0.3) }))
    t.same(seen(await readAll([npz])), expected, 'NPZ, step of the name')
    t.same(seen(await readAll([write('b.pt', torchFile({ ...arrays, ...step }))])), expected, 'a dictionary of tensors')
    const { uid: _uid, ...numbers } = arrays
    const uids = {
      uid: array(
        'int64',
        [list.length],
        list.map((_, i) => i)
      )
    }
    const safetensors = write('s.safetensors', safetensorsFile({ ...numbers, ...uids }, { step: '7' }))
    t.same(
      seen(await readAll([safetensors])),
      expected.map((item, i) => ('reason' in (item as object) ? item : { ...(item as object), uid: `${i}` })),
      'safetensors'
    )

    const asLists = random.chance(0.4)
    const samples = list.map((item, i) => sampleItem(item, i, asLists))
    const shuffled = random.shuffle(samples)
    const version2 = { format_version: 2, rollout_id: 7, rank: 0, samples: shuffled, dp_shards: [] }
    t.same(seen(await readAll([write('7.pt', torchFile(version2))])), expected, 'slime, version 2, samples in any order')
    const before = { rollout_id: 7, rank: 0, rollout_data: columnsOf(samples, COLUMNS) }
    t.same(seen(await readAll([write('7.pt', torchFile(before))])), expected, 'slime, before version 2')

    const rows = list.map(({ mask, values, returns, ids, score, uid }) => ({
      values,
      returns,
      response_mask: mask,
      token_ids: ids,
      score,
      uid,
      step: 7
    }))
    t.same(seen(await readAll([write('rows.jsonl', jsonLines(rows))])), expected, 'JSON Lines')
    const types = {
      values: 'FLOAT',
      returns: 'FLOAT',
      response_mask: 'INT32',
      token_ids: 'INT64',
      score: 'DOUBLE',
      uid: 'STRING',
      step: 'INT64'
    }
    const parquet = parquetFile(rows, types, 1 + random.below(4), random.pick([16, 64, 1000]))
    t.same(seen(await readAll([write('rows.parquet', parquet)])), expected, 'Parquet')
  }
})

const ROW = { values: [1, 2], returns: [1, 1], response_mask: [1, 1] }
const BATCH: TestArrays = {
  values: array('float32', [2, 2], [1, 2, 3, 4]),
  returns: array('float32', [2, 2], [1, 1, 1, 1]),
  response_mask: array('int64', [2, 2], [1, 1, 1, 1])
}

t.test('a dump that torch itself wrote', async t => {
  for (const name of ['slime.pt', 'slime-legacy.pt']) {
    const { items, dump } = await readAll([write(name, readFileSync(fixture('torch', name)))])
    const [first] = items as Sample[]
    t.same(seen({ items, dump }).slice(0, 2), [
      {
        index: 0,
        mask: [1, 1, 0, 1],
        values: [0, 0.125, 0.25, 0.375],
        returns: [0.125, 0.25, 0.375, 0.5],
        ids: [2, 3, 4, 5],
        score: 0,
        uid: null,
        step: 7
      },
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
    t.same(
      [...dump.arrays],
      [
        ['values', 'float32'],
        ['returns', 'float32'],
        ['advantages', 'float32'],
        ['kl', 'float32']
      ]
    )
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
  return array(
    'float32',
    [length],
    Array.from({ length }, (_, i) => first + i)
  )
}

/** A sample of slime with as many tokens as its number says. */
function plainSample(position: number, more: Readonly<Record<string, TorchItem>> = {}): Record<string, TorchItem> {
  const length = position + 1
  return {
    tokens: array(
      'int64',
      [length + 1],
      Array.from({ length: length + 1 }, (_, i) => 10 * position + i)
    ),
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

function rankFile(
  rank: number,
  positions: readonly number[],
  top: Readonly<Record<string, TorchItem>>,
  names: readonly string[] = PLAIN
): Uint8Array {
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
  t.same(
    merged.items.map(({ place }) => [place.file, place.trace]),
    [
      [b, 0],
      [a, 1],
      [b, 1],
      [a, 0]
    ]
  )
  t.same(
    merged.dump.inputs.map(({ path }) => path),
    [a, b]
  )
  t.equal(merged.dump.facts.kind, 'slime debug dump, before version 2')

  const c = write('r/3_2.pt', rankFile(0, [3, 1], {}))
  const d = write('r/3_3.pt', rankFile(1, [0, 2], {}))
  t.same(lengthsOf(await readAll([d, c])), [4, 2, 1, 3], 'without places by rank')

  const ranks = [1, 0, 1].map((rank, i) => plainSample(i, { data_parallel_rank: rank }))
  t.same(
    lengthsOf(await readAll([write('r/ranks.pt', torchFile({ rollout_id: 3, samples: ranks }))])),
    [2, 1, 3],
    'by the rank of each sample'
  )

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
  t.same(
    [lengthsOf(stages), [...stages.dump.arrays.keys()]],
    [
      [2, 4],
      ['values', 'returns']
    ],
    'the stage that has the values'
  )
})

t.test('copies of a sample in several ranks must be the same', async t => {
  const sample = (position: number, more: Readonly<Record<string, TorchItem>> = {}): Record<string, TorchItem> =>
    plainSample(position, { partition: position, ...more })
  const file = (rank: number, samples: readonly Record<string, TorchItem>[], names: readonly string[]): Uint8Array =>
    torchFile({ rollout_id: 3, rank, rollout_data: columnsOf(samples, names) })
  const placed = [...PLAIN, 'partition']
  const a = write('copies/0.pt', file(0, [sample(0), sample(1)], placed))
  const faultFor = async (more: Record<string, TorchItem>, names = placed): Promise<string> => {
    const b = write('copies/1.pt', file(1, [sample(1, more), sample(0)], names))
    return (await faultOf(readAll([a, b]))).message
  }
  const as = 'as in copies/0.pt, trace 1 (copies/1.pt, trace 0'
  t.equal(await faultFor({ values: [1, 9] }), `torch copies differ: 9, expected 2, ${as}, values, index 1)`)
  t.equal(await faultFor({ returns: [0.5, 2] }), `torch copies differ: 0.5, expected 1, ${as}, returns, index 0)`)
  t.equal(await faultFor({ loss_masks: [1, 0] }), `torch copies differ: 0, expected 1, ${as}, loss_masks, index 1)`)
  t.equal(await faultFor({ tokens: [10, 11, 99] }), `torch copies differ: 99, expected 12, ${as}, tokens, index 2)`)
  t.equal(await faultFor({ rewards: 4 }), `torch copies differ: 4, expected -1, ${as}, rewards)`)
  const b = write('copies/1.pt', file(1, [sample(1), sample(1, { values: [1, 9] })], placed))
  t.equal(
    (await faultOf(readAll([a, b]))).message,
    'torch copies differ: 2 samples of place 1 in the rollout, expected 1, as in copies/0.pt (copies/1.pt)'
  )
  const same = write('copies/2.pt', file(2, [sample(1), sample(0)], placed))
  t.same(lengthsOf(await readAll([a, same])), [1, 2])
  const [c, d] = [sample(0), sample(0, { values: [7] })].map((item, rank) => write(`copies/by-ids-${rank}.pt`, file(rank, [item], PLAIN)))
  t.equal(
    (await faultOf(readAll([c, d]))).message,
    'torch copies differ: 7, expected 0, as in copies/by-ids-0.pt, trace 0 (copies/by-ids-1.pt, trace 0, values, index 0)',
    'files without places, the same by their token ids'
  )
  const left = (await readAll([c, d], { skipBad: true })).items
  t.match(left, [{ index: 0, reason: /copies differ/ }])
})

t.test('two files of one rank and step are not merged', async t => {
  const a = write('twice/a.pt', rankFile(0, [0, 1], {}))
  const b = write('twice/b.pt', rankFile(0, [0, 1], {}))
  t.equal(
    (await faultOf(readAll([a, b]))).message,
    'torch stated twice: rank 0 of step 3 in twice/a.pt too, expected one file for each rank and step (twice/b.pt)'
  )
})

t.test('an array that is not asked for tells the end of a response too', async t => {
  const arrays = {
    values: array('float32', [1, 3], [1, 0, 0]),
    returns: array('float32', [1, 3], [1, 0, 0]),
    kl: array('float32', [1, 3], [0, 2, 0])
  }
  const dump = await openDump(DIR, [write('kl.npz', await npzFile(arrays))], options())
  for await (const item of dump.samples(['values'])) {
    t.same(isLeftOut(item) ? null : [item.mask.length, Object.keys(item.arrays), item.tokenIds], [2, ['values'], null])
  }
  await dump.close()
})

t.test('what a trace does not need may be unreadable', async t => {
  const arrays = { ...BATCH, entropys: array('float32', [2, 3], [1, 1, 1, 1, 1, 1]), score: array('float32', [2], [1, 0]) }
  const unread = await readAll([write('unread.npz', await npzFile(arrays))])
  t.same([...unread.dump.arrays.keys()], ['values', 'returns'])
  t.same(unread.dump.facts.notes, ['entropys is not read: its shape is (2, 3), not (2, 2)'])
  const objects = await archive([
    ...Object.entries(BATCH).map(([name, { shape, data }]) => [name, encodeNpy(Float32Array.from(data as number[]), shape)] as const),
    ['uid', [encodeNpyHeader('|O', [2]), new Uint8Array(9)]]
  ])
  const object = await readAll([write('object.npz', objects)])
  t.equal((object.items as Sample[])[0].fields.uid, null)
  t.match(object.dump.facts.notes[0], /^not read: npy unsupported dtype: .*object array/)
})

t.test('what nobody asked for refuses no file', async t => {
  const names = {
    'a list of lists of dictionaries': { messages: [[{ role: 'user', content: 'x' }], [{ role: 'user', content: 'y' }]] },
    'a list of lists of numbers': { turn_lengths: [[1, 2], [3]] },
    'lists in lists': { nest: [[[[1]]], []] }
  }
  for (const [what, more] of Object.entries(names)) {
    const { items } = await readAll([write('more.pt', torchFile({ ...BATCH, ...more }))])
    t.same(
      (items as Sample[]).map(({ arrays }) => [Array.from(arrays.values ?? []), Array.from(arrays.returns ?? [])]),
      [
        [
          [1, 2],
          [1, 1]
        ],
        [
          [3, 4],
          [1, 1]
        ]
      ],
      what
    )
  }
  const file = write('messages.parquet', parquetWithMessages([[1, 2], [3]]))
  const { items } = await readAll([file])
  t.same(
    (items as Sample[]).map(({ arrays }) => Array.from(arrays.values ?? [])),
    [[1, 2], [3]]
  )
  t.equal(
    (await faultOf(readAll([file], { keys: sampleKeys({ values: 'messages.list' }) }))).message.split(',')[0],
    'parquet wrong values: messages.list of another shape or dtype'
  )
})

/** What torch.save writes of values of numpy, in base64: two samples of tokens 1 and 2, or 3 and 4, with scores 1 and -1, uids p and q. */
const OF_NUMPY: readonly (readonly [name: string, pickle: string, withoutUid: boolean])[] = [
  [
    'samples',
    'gAJ9cQBYBwAAAHNhbXBsZXNxAV1xAih9cQMoWAYAAAB2YWx1ZXNxBGNudW1weS5fY29yZS5tdWx0aWFycmF5Cl9yZWNvbnN0cnVjdApxBWNudW1weQpuZGFycmF5CnEGSwCFcQdjX2NvZGVjcwplbmNvZGUKcQhYAQAAAGJxCVgGAAAAbGF0aW4xcQqGcQtScQyHcQ1ScQ4oSwFLAoVxD2NudW1weQpkdHlwZQpxEFgCAAAAZjRxEYmIh3ESUnETKEsDWAEAAAA8cRROTk5K/////0r/////SwB0cRViiWgIWAkAAAAAAMKAPwAAAEBxFmgKhnEXUnEYdHEZYlgHAAAAcmV0dXJuc3EaaAVoBksAhXEbaAyHcRxScR0oSwFLAoVxHmgTiWgIWAoAAAAAAMKAPwAAwoA/cR9oCoZxIFJxIXRxImJYCgAAAHJhd19yZXdhcmRxI2NudW1weS5fY29yZS5tdWx0aWFycmF5CnNjYWxhcgpxJGgQWAIAAABmOHEliYiHcSZScScoSwNoFE5OTkr/////Sv////9LAHRxKGJoCFgJAAAAAAAAAAAAw7A/cSloCoZxKlJxK4ZxLFJxLVgMAAAAcm9sbG91dF9zdGVwcS5oJGgQWAIAAABpOHEviYiHcTBScTEoSwNoFE5OTkr/////Sv////9LAHRxMmJoCFgIAAAABwAAAAAAAABxM2gKhnE0UnE1hnE2UnE3WAMAAAB1aWRxOGgkaBBYAgAAAFUxcTmJiIdxOlJxOyhLA2gUTk5OSwRLBEsIdHE8YmgIWAQAAABwAAAAcT1oCoZxPlJxP4ZxQFJxQXV9cUIoaARoBWgGSwCFcUNoDIdxRFJxRShLAUsChXFGaBOJaAhYCQAAAAAAwoA/AAAAQHFHaAqGcUhScUl0cUpiaBpoBWgGSwCFcUtoDIdxTFJxTShLAUsChXFOaBOJaAhYCgAAAAAAwoA/AADCgD9xT2gKhnFQUnFRdHFSYmgjaCRoJ2gIWAoAAAAAAAAAAADDsMK/cVNoCoZxVFJxVYZxVlJxV2guaCRoMWgIWAgAAAAHAAAAAAAAAHFYaAqGcVlScVqGcVtScVxoOGgkaBBYAgAAAFUxcV2JiIdxXlJxXyhLA2gUTk5OSwRLBEsIdHFgYmgIWAQAAABxAAAAcWFoCoZxYlJxY4ZxZFJxZXVlcy4=',
    false
  ],
  [
    'batch',
    'gAJ9cQAoWAYAAAB2YWx1ZXNxAWNudW1weS5fY29yZS5tdWx0aWFycmF5Cl9yZWNvbnN0cnVjdApxAmNudW1weQpuZGFycmF5CnEDSwCFcQRjX2NvZGVjcwplbmNvZGUKcQVYAQAAAGJxBlgGAAAAbGF0aW4xcQeGcQhScQmHcQpScQsoSwFLAksChnEMY251bXB5CmR0eXBlCnENWAIAAABmNHEOiYiHcQ9ScRAoSwNYAQAAADxxEU5OTkr/////Sv////9LAHRxEmKJaAVYEgAAAAAAwoA/AAAAQAAAQEAAAMKAQHETaAeGcRRScRV0cRZiWAcAAAByZXR1cm5zcRdoAmgDSwCFcRhoCYdxGVJxGihLAUsCSwKGcRtoEIloBVgUAAAAAADCgD8AAMKAPwAAwoA/AADCgD9xHGgHhnEdUnEedHEfYlgDAAAAdWlkcSBoAmgDSwCFcSFoCYdxIlJxIyhLAUsChXEkaA1YAgAAAE84cSWJiIdxJlJxJyhLA1gBAAAAfHEoTk5OSv////9K/////0s/dHEpYoldcSooWAEAAABwcStYAQAAAHFxLGV0cS1iWAUAAABzY29yZXEuXXEvKGNudW1weS5fY29yZS5tdWx0aWFycmF5CnNjYWxhcgpxMGgNWAIAAABmOHExiYiHcTJScTMoSwNoEU5OTkr/////Sv////9LAHRxNGJoBVgJAAAAAAAAAAAAw7A/cTVoB4ZxNlJxN4ZxOFJxOWgwaDNoBVgKAAAAAAAAAAAAw7DCv3E6aAeGcTtScTyGcT1ScT5ldS4=',
    false
  ],
  [
    'classes',
    'gAJ9cQBYBwAAAHNhbXBsZXNxAV1xAih9cQMoWAYAAAB2YWx1ZXNxBGNudW1weS5fY29yZS5tdWx0aWFycmF5Cl9yZWNvbnN0cnVjdApxBWNudW1weQpuZGFycmF5CnEGSwCFcQdjX2NvZGVjcwplbmNvZGUKcQhYAQAAAGJxCVgGAAAAbGF0aW4xcQqGcQtScQyHcQ1ScQ4oSwFLAoVxD2NudW1weQpkdHlwZQpxEFgCAAAAZjRxEYmIh3ESUnETKEsDWAEAAAA8cRROTk5K/////0r/////SwB0cRViiWgIWAkAAAAAAMKAPwAAAEBxFmgKhnEXUnEYdHEZYlgHAAAAcmV0dXJuc3EaaAVoBksAhXEbaAyHcRxScR0oSwFLAoVxHmgTiWgIWAoAAAAAAMKAPwAAwoA/cR9oCoZxIFJxIXRxImJYCgAAAHJhd19yZXdhcmRxI2NudW1weS5fY29yZS5tdWx0aWFycmF5CnNjYWxhcgpxJGgQWAIAAABmOHEliYiHcSZScScoSwNoFE5OTkr/////Sv////9LAHRxKGJoCFgJAAAAAAAAAAAAw7A/cSloCoZxKlJxK4ZxLFJxLVgMAAAAcm9sbG91dF9zdGVwcS5oJGgQWAIAAABpOHEviYiHcTBScTEoSwNoFE5OTkr/////Sv////9LAHRxMmJoCFgIAAAABwAAAAAAAABxM2gKhnE0UnE1hnE2UnE3WAMAAAB1aWRxOGN1dWlkClVVSUQKcTkpgXE6fXE7WAMAAABpbnRxPEsBc2J1fXE9KGgEaAVoBksAhXE+aAyHcT9ScUAoSwFLAoVxQWgTiWgIWAkAAAAAAMKAPwAAAEBxQmgKhnFDUnFEdHFFYmgaaAVoBksAhXFGaAyHcUdScUgoSwFLAoVxSWgTiWgIWAoAAAAAAMKAPwAAwoA/cUpoCoZxS1JxTHRxTWJoI2gkaCdoCFgKAAAAAAAAAAAAw7DCv3FOaAqGcU9ScVCGcVFScVJoLmgkaDFoCFgIAAAABwAAAAAAAABxU2gKhnFUUnFVhnFWUnFXaDhoOSmBcVh9cVloPEsCc2J1ZXMu',
    true
  ],
  [
    'batch of classes',
    'gAJ9cQAoWAYAAAB2YWx1ZXNxAWNudW1weS5fY29yZS5tdWx0aWFycmF5Cl9yZWNvbnN0cnVjdApxAmNudW1weQpuZGFycmF5CnEDSwCFcQRjX2NvZGVjcwplbmNvZGUKcQVYAQAAAGJxBlgGAAAAbGF0aW4xcQeGcQhScQmHcQpScQsoSwFLAksChnEMY251bXB5CmR0eXBlCnENWAIAAABmNHEOiYiHcQ9ScRAoSwNYAQAAADxxEU5OTkr/////Sv////9LAHRxEmKJaAVYEgAAAAAAwoA/AAAAQAAAQEAAAMKAQHETaAeGcRRScRV0cRZiWAcAAAByZXR1cm5zcRdoAmgDSwCFcRhoCYdxGVJxGihLAUsCSwKGcRtoEIloBVgUAAAAAADCgD8AAMKAPwAAwoA/AADCgD9xHGgHhnEdUnEedHEfYlgDAAAAdWlkcSBoAmgDSwCFcSFoCYdxIlJxIyhLAUsChXEkaA1YAgAAAE84cSWJiIdxJlJxJyhLA1gBAAAAfHEoTk5OSv////9K/////0s/dHEpYoldcSooY3V1aWQKVVVJRApxKymBcSx9cS1YAwAAAGludHEuSwFzYmgrKYFxL31xMGguSwJzYmV0cTFiWAUAAABzY29yZXEyXXEzKEc/8AAAAAAAAEe/8AAAAAAAAGV1Lg==',
    true
  ]
]

t.test('values of numpy in a .pt file', async t => {
  for (const [name, code, withoutUid] of OF_NUMPY) {
    const { items, dump } = await readAll([write('numpy.pt', torchArchive(Buffer.from(code, 'base64')))])
    t.same(
      (items as Sample[]).map(({ arrays, fields: { score, uid } }) => [Array.from(arrays.values ?? []), score, uid]),
      [
        [[1, 2], 1, withoutUid ? null : 'p'],
        [name.startsWith('batch') ? [3, 4] : [1, 2], -1, withoutUid ? null : 'q']
      ],
      name
    )
    const why = dump.facts.notes.filter(note => note.startsWith('not read: torch global refused: uuid.UUID, '))
    t.equal(why.length, withoutUid ? 1 : 0, dump.facts.notes.join())
  }
})

t.test('raw_reward is of the whole rollout', async t => {
  const raw = { raw_reward: [10, 11, 12, 13] }
  const scores = async (bytes: Uint8Array): Promise<(number | null)[]> =>
    ((await readAll([write('raw.pt', bytes)])).items as Sample[]).map(({ fields }) => fields.score)
  t.same(await scores(rankFile(0, [3, 1], raw, [...PLAIN, 'partition'])), [11, 13], 'by the places in the rollout')
  t.same(await scores(rankFile(0, [3, 1, 0, 2], raw)), [10, 11, 12, 13], 'by their order, where the file has all samples')
  t.same(
    await scores(rankFile(0, [3, 1, 0, 2], raw, [...PLAIN, 'partition'])),
    [10, 11, 12, 13],
    'by the places, where it has as many numbers'
  )
  t.same(await scores(rankFile(0, [3, 1], raw)), [-3, -1], 'else the rewards')
  const { dump } = await readAll(['raw.pt'])
  t.match(dump.facts.notes.join(), /raw_reward is a list over the whole rollout/)
  const tensors = {
    ...columnsOf(
      [0, 1].map(i => plainSample(i)),
      PLAIN
    ),
    rewards: array('float32', [2], [0.5, 0.25])
  }
  t.same(await scores(torchFile(tensors)), [0.5, 0.25], 'rewards as one tensor')
})

t.test('raw_reward by the indexes of the samples', async t => {
  const file = (rank: number, indexes: readonly number[], total: number, more: Readonly<Record<string, TorchItem>> = {}): string => {
    const names = [...PLAIN.filter(name => name !== 'rewards'), 'sample_indices']
    const samples = indexes.map(i => plainSample(i % 4, { sample_indices: i }))
    const raw_reward = Array.from({ length: total }, (_, i) => 10 + i)
    const top = { ...columnsOf(samples, names), raw_reward, ...more }
    return write(`raw/${rank}.pt`, torchFile({ rollout_id: 3, rank, rollout_data: top }))
  }
  const scores = async (...files: readonly string[]): Promise<unknown> => {
    const { items, dump } = await readAll(files)
    const noted = dump.facts.notes.some(note => note.startsWith('raw_reward is a list over the whole rollout'))
    return [(items as Sample[]).map(({ arrays, fields }) => [arrays.values?.[0], fields.score]), noted]
  }
  const stated = [
    [
      [0, 10],
      [1, 11]
    ],
    false
  ]
  t.same(await scores(file(0, [1, 0], 2)), stated)
  t.same(await scores(file(0, [1], 2), file(1, [0], 2)), stated, 'over the ranks')
  t.same(await scores(file(0, [1, 0], 2), file(1, [1, 0], 2)), stated, 'ranks with the same samples')
  const none = [
    [
      [0, null],
      [1, null]
    ],
    true
  ]
  t.same(await scores(file(0, [1, 0], 3)), none, 'a sample is missing')
  t.same(await scores(file(0, [5, 4], 2)), none, 'indexes count on from an earlier rollout')
  t.same(
    await scores(file(0, [1], 2), file(1, [4], 2)),
    [
      [
        [1, null],
        [0, null]
      ],
      true
    ],
    'one rank has an index beyond the list'
  )
  const [zero, five] = [file(0, [0], 2, { rewards: [-5] }), file(1, [1], 3, { rewards: [-6] })]
  t.same(
    await scores(zero, five),
    [
      [
        [0, -5],
        [1, -6]
      ],
      true
    ],
    'lists of two lengths: the rewards'
  )
})

t.test('a list under a known name has one value a sample', async t => {
  const two: [string, TorchItem, string][] = [
    ['loss_masks', [[1, 0]], '1 value'],
    ['loss_masks', [[1], [1, 0], [1]], '3 values'],
    ['rewards', [1], '1 value'],
    ['rewards', array('float32', [3], [1, 0, 1]), '3 values'],
    ['scores', [1, 0, 1], '3 values'],
    ['uid', ['a'], '1 value'],
    ['truncated', [0, 0, 0, 1], '4 values'],
    ['loss_masks', array('int64', [2, 2], [1, 0, 1, 1]), 'a tensor of shape (2, 2)']
  ]
  for (const [name, value, found] of two) {
    const fault = await faultOf(readAll([write('uneven.pt', rankFile(0, [0, 1], { [name]: value }))]))
    t.equal(fault.message, `torch lengths differ: ${found}, expected 2, one for each sample (uneven.pt, ${name})`)
  }
  t.equal(
    (await faultOf(readAll([write('flat.pt', rankFile(0, [0, 1], { loss_masks: [1, 0] }))]))).message,
    'torch wrong response_mask: one value a sample, expected a list of numbers a sample (flat.pt, loss_masks)'
  )
  const others = { raw_reward: [1, 2, 3, 4], prompt: ['a'], dp_shards: [1, 2, 3] }
  t.equal((await readAll([write('uneven.pt', rankFile(0, [0, 1], others))])).items.length, 2, 'lists that nobody asks for, and raw_reward')
})

t.test('files of a folder are one series over steps', async t => {
  const names = [10, 9, 100].map(step =>
    write(`steps/${step}.pt`, torchFile({ format_version: 2, rank: 0, samples: [plainSample(step % 7)] }))
  )
  const series = await readAll(names)
  t.same(
    (series.items as Sample[]).map(({ index, fields }) => [index, fields.step]),
    [
      [0, 9],
      [1, 10],
      [2, 100]
    ]
  )
  const stated = await readAll([write('steps/1.pt', torchFile({ rollout_id: 200, samples: [plainSample(0)] })), ...names])
  t.same(
    (stated.items as Sample[]).map(({ fields }) => fields.step),
    [9, 10, 100, 200],
    'rollout_id before the name'
  )
  t.same(stated.dump.rows, 4)

  const many = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => write(`many/step_${11 - i}.npz`, await npzFile(CASES[0].arrays)))
  )
  const progress: number[] = []
  const all = await readAll(many, { onProgress: bytes => progress.push(bytes) })
  t.equal(all.items.length, 12 * CASES[0].samples.length, 'more files than stay open')
  t.same(
    all.items.map(item => (isLeftOut(item) ? null : item.fields.step)),
    Array.from({ length: 12 }, (_, i) => [i, i, i]).flat()
  )
  t.same(
    progress,
    progress.toSorted((a, b) => a - b),
    'progress does not go back'
  )
  t.equal(
    progress.at(-1),
    all.dump.inputs.reduce((sum, { bytes }) => sum + bytes, 0)
  )
  t.same(all.dump.inputs[0], { path: 'many/step_0.npz', sha256: sha256(await npzFile(CASES[0].arrays)), bytes: all.dump.inputs[0].bytes })
})

t.test('one file without values takes them from no other', async t => {
  const { values, returns, ...rest } = BATCH
  const whole = write('lack/step_1.npz', await npzFile(BATCH))
  const misnamed = write('lack/step_2.npz', await npzFile({ ...rest, returns, valuess: values }))
  t.equal(
    (await faultOf(readAll([whole, misnamed]))).message,
    'npz missing array: no values; is it valuess?, expected values, as lack/step_1.npz has (lack/step_2.npz, values)'
  )
  const without = write('lack/step_3.npz', await npzFile({ ...rest, values }))
  t.equal(
    (await faultOf(readAll([without, whole]))).message,
    'npz missing array: no returns, expected returns, as lack/step_1.npz has (lack/step_3.npz, returns)'
  )
  const none = await readAll([without, write('lack/step_4.npz', await npzFile({ ...rest, values }))])
  t.same([...none.dump.arrays.keys()], ['values'], 'no file has them')
})

t.test('a first line without values', async t => {
  const { values: _values, ...row } = ROW
  const file = write('first.jsonl', jsonLines([row, ROW]))
  const message = 'jsonl missing array: nothing, expected a list of numbers, as in line 2'
  t.equal((await faultOf(readAll([file]))).message, `${message} (first.jsonl, trace 0, values, line 1)`)
  t.match(lengthsOf(await readAll([file], { skipBad: true })), [message, 2])
  t.same([...(await readAll([write('none.jsonl', jsonLines([row, row]))])).dump.arrays.keys()], ['returns'], 'no line has them')
})

t.test('notes on padding and on what is nearly there', async t => {
  const wide = (row: readonly number[]): number[] => [...row, ...new Array<number>(1500).fill(0)]
  const shape = [2, 1503]
  const data = [...wide([1, 2, 3]), ...wide([1, 0, 0])]
  const arrays = { values: array('float32', shape, data), returns: array('float32', shape, data) }
  const notesOf = async (more: TestArrays): Promise<readonly string[]> =>
    (await readAll([write('notes.npz', await npzFile({ ...arrays, ...more }))])).dump.facts.notes
  t.same(await notesOf({}), ['up to 1,502 trailing columns that are 0 in every array, in 2 rows, taken for padding'])
  t.same(await notesOf({ response_mask: array('int64', shape, [...wide([1, 1, 1]), ...wide([1, 0, 0])]) }), [], 'the mask ends there too')
  t.same(
    await notesOf({ response_mask: array('int64', shape, [...wide([1, 1, 0]), ...wide([1, 0, 0])]) }),
    ['1,500 trailing columns that are 0 in every array, in 1 row, taken for padding'],
    'behind the mask there are values'
  )
  t.same(await notesOf({ response_length: array('int64', [2], [3, 1]) }), [])
  const sample = { values: lists(2, 1), returns: lists(2, 1), loss_mask: null }
  t.same((await readAll([write('none.pt', torchFile({ samples: [sample] }))])).dump.facts.notes, [
    'no response_mask; loss_mask is None in the first sample'
  ])
  t.same((await readAll([write('null.jsonl', jsonLines([{ ...ROW, response_mask: null }]))])).dump.facts.notes, [
    'response_mask is null wherever it stands: taken as not there'
  ])
})

interface BadDump {
  readonly what: string
  readonly bytes: Uint8Array | Promise<Uint8Array>
  readonly message: string | RegExp
  /** what `--skip-bad` leaves of it: lengths, or nothing where the whole file is refused */
  readonly left?: readonly (number | string | RegExp)[]
  readonly keys?: Partial<Record<SampleKeyName, string>>
}

const BAD: readonly BadDump[] = [
  {
    what: 'a mask of 2',
    bytes: npzFile({ ...BATCH, response_mask: array('int64', [2, 2], [1, 1, 1, 2]) }),
    message: 'npz wrong mask: 2, expected 0 or 1 (bad, trace 1, response_mask, index 1)',
    left: [2, /^npz wrong mask/]
  },
  {
    what: 'a mask of NaN',
    bytes: npzFile({ ...BATCH, response_mask: array('float32', [2, 2], [1, 'NaN', 1, 1]) }),
    message: 'npz wrong mask: NaN, expected 0 or 1 (bad, trace 0, response_mask, index 1)',
    left: [/wrong mask/, 2]
  },
  {
    what: 'a response of length 0',
    bytes: npzFile({ ...BATCH, response_lengths: array('int64', [2], [2, 0]) }),
    message: 'npz empty response: 0 tokens, expected at least one (bad, trace 1)',
    left: [2, /empty response/]
  },
  {
    what: 'an attention mask of 0 alone',
    bytes: npzFile({ ...BATCH, attention_mask: array('int64', [2, 3], [1, 1, 1, 1, 0, 0]) }),
    message: 'npz empty response: 0 tokens, expected at least one (bad, trace 1)',
    left: [2, /empty response/]
  },
  {
    what: 'a mask of 1 behind the end',
    bytes: npzFile({ ...BATCH, response_lengths: array('int64', [2], [2, 1]) }),
    message: 'npz wrong mask: 1, expected 0 behind the end of the response, which has 1 tokens (bad, trace 1, response_mask, index 1)',
    left: [2, /behind the end/]
  },
  {
    what: 'a length beyond the columns',
    bytes: npzFile({ ...BATCH, response_lengths: array('int64', [2], [3, 2]) }),
    message: 'npz lengths differ: 3, expected at most 2, the length of the arrays (bad, trace 0, response_lengths)',
    left: [/lengths differ/, 2]
  },
  {
    what: 'a length that is no integer',
    bytes: npzFile({ ...BATCH, response_lengths: array('float64', [2], [1.5, 2]) }),
    message: 'npz wrong response length: 1.5, expected an integer from 0 to 2^53 (bad, trace 0, response_lengths)',
    left: [/wrong response length/, 2]
  },
  {
    what: 'an outcome of another form',
    bytes: npzFile({ ...BATCH, outcome: array('text', [2], ['success', 'won']) }),
    message: 'npz wrong outcome: "won", expected "success", "failure", true, false, 1, 0 or null (bad, trace 1, outcome)',
    left: [2, /wrong outcome/]
  },
  {
    what: 'a score of NaN',
    bytes: npzFile({ ...BATCH, score: array('float32', [2], [1, 'NaN']) }),
    message: 'npz wrong score: NaN, expected a finite number (bad, trace 1, score)',
    left: [2, /wrong score/]
  },
  {
    what: 'a step that is no integer',
    bytes: npzFile({ ...BATCH, step: array('float64', [], [0.5]) }),
    message: 'npz wrong step: 0.5, expected an integer from 0 to 2^53 (bad, trace 0, step)',
    left: [/wrong step/, /wrong step/]
  },
  {
    what: 'arrays of two shapes',
    bytes: npzFile({ ...BATCH, returns: array('float32', [2, 3], [1, 1, 1, 1, 1, 1]) }),
    message: 'npz wrong shape: (2, 3), expected (2, 2) (bad, returns)'
  },
  {
    what: 'a mask of fewer columns',
    bytes: npzFile({ ...BATCH, response_mask: array('int64', [2, 1], [1, 1]), loss_mask: array('int64', [3, 2], [1, 1, 1, 1, 1, 1]) }),
    message: 'npz wrong shape: (3, 2), expected (2, 2), or more columns with the prompt before them (bad, loss_mask)'
  },
  {
    what: 'a field of another length',
    bytes: npzFile({ ...BATCH, score: array('float32', [3], [1, 1, 1]) }),
    message: 'npz wrong shape: (3,), expected (2,), one a row (bad, score)'
  },
  {
    what: 'no array of tokens under a known name',
    bytes: npzFile({ value: BATCH['values'], other: BATCH['returns'] }),
    message: 'npz no values: value, other, expected values (--key values=value?) (bad)'
  },
  {
    what: 'a name of the user that is not there',
    bytes: npzFile(BATCH),
    keys: { values: 'critic_value' },
    message: 'npz no values: values, returns, response_mask, expected critic_value (--key values=values?) (bad)'
  },
  {
    what: 'a name of the user of another shape',
    bytes: npzFile({ ...BATCH, score: array('float32', [2], [1, 1]) }),
    keys: { returns: 'score' },
    message: 'npz wrong returns: score of another shape or dtype, expected numbers a row: [B, T] in a batch (bad)'
  },
  {
    what: 'a piece of a response',
    bytes: torchFile({ rollout_id: 1, samples: [plainSample(2), plainSample(2, { response_lengths: 5 })] }),
    message: 'torch lengths differ: 3, expected 5, as response_lengths says (bad, trace 1, values)',
    left: [3, /lengths differ/]
  },
  {
    what: 'arrays of two lengths',
    bytes: torchFile({ rollout_id: 1, samples: [plainSample(2), plainSample(2, { returns: lists(2, 0) })] }),
    message: 'torch lengths differ: 2, expected 3, the length of values (bad, trace 1, returns)',
    left: [3, /lengths differ/]
  },
  {
    what: 'a mask of another length',
    bytes: torchFile({ rollout_id: 1, samples: [plainSample(2, { loss_masks: [1, 1, 1, 1] }), plainSample(0)] }),
    message: 'torch lengths differ: 4, expected 3, the length of the arrays (bad, trace 0, loss_masks)',
    left: [/lengths differ/, 1]
  },
  {
    what: 'a sample without values',
    bytes: torchFile({ rollout_id: 1, samples: [plainSample(2), plainSample(1, { values: null })] }),
    message: 'torch missing array: nothing, expected a list of numbers, as in the first row (bad, trace 1, values)',
    left: [3, /missing array/]
  },
  {
    what: 'a list with text in it',
    bytes: torchFile({ rollout_id: 1, samples: [plainSample(0), plainSample(1, { returns: [1, 'x'] })] }),
    message: 'torch wrong value: string, expected a list of numbers (bad, trace 1, returns, index 1)',
    left: [1, /wrong value/]
  },
  {
    what: 'a tensor alone',
    bytes: torchFile(lists(3, 0)),
    message: 'torch no dump: a tensor, expected a dictionary, or a list of dictionaries (bad)'
  },
  {
    what: 'a line with a text in a list',
    bytes: Buffer.from(`${JSON.stringify(ROW)}\n\n{"values":[1,"x"],"returns":[1,2],"response_mask":[1,1]}\n`),
    message: 'jsonl wrong type: a string, expected a number (bad, trace 1, values, index 1, byte 69, line 3)',
    left: [2, /wrong type/]
  },
  {
    what: 'a line that is cut',
    bytes: Buffer.from(`${JSON.stringify(ROW)}\n{"values":[1,`),
    message: /^jsonl truncated: end of input, expected a number \(bad, trace 1, values, index 1, byte \d+, line 2\)$/,
    left: [2, /truncated/]
  },
  {
    what: 'a line without returns',
    bytes: jsonLines([ROW, { values: [1], response_mask: [1] }]),
    message: 'jsonl missing array: nothing, expected a list of numbers, as in the first row (bad, trace 1, returns, line 2)',
    left: [2, /missing array/]
  },
  {
    what: 'a first line without the mask that another line has',
    bytes: jsonLines([{ values: [1, 2, 3], returns: [1, 1, 1] }, ROW]),
    message: 'jsonl missing array: nothing, expected a list of numbers, as in line 2 (bad, trace 0, response_mask, line 1)',
    left: [/missing array/, 2]
  },
  {
    what: 'a first line without the values that another line has',
    bytes: jsonLines([{ returns: [1, 1, 1], response_mask: [1, 1, 1] }, ROW]),
    message: 'jsonl missing array: nothing, expected a list of numbers, as in line 2 (bad, trace 0, values, line 1)',
    left: [/missing array/, 2]
  },
  ...(['attention_mask', 'response_positions'] as const).map(name => ({
    what: `a first line without the ${name} that another line has`,
    bytes: jsonLines([ROW, { ...ROW, [name]: name === 'attention_mask' ? [1, 1] : [0, 3] }]),
    message: `jsonl missing array: nothing, expected a list of numbers, as in line 2 (bad, trace 0, ${name}, line 1)`,
    left: [/missing array/, name === 'attention_mask' ? 2 : 4]
  })),
  {
    what: 'a mask that is one number',
    bytes: jsonLines([
      { ...ROW, response_mask: 1 },
      { ...ROW, response_mask: null }
    ]),
    message: 'jsonl wrong response_mask: "1", expected a list of numbers (bad, trace 0, response_mask, line 1)',
    left: [/wrong response_mask/, /missing array/]
  },
  {
    what: 'a mask of texts',
    bytes: jsonLines([ROW, { ...ROW, response_mask: ['1', '1'] }]),
    message:
      'jsonl wrong response_mask: a list with a string in it, expected a list of numbers, as in the first row (bad, trace 1, response_mask, line 2)',
    left: [2, /wrong response_mask/]
  },
  {
    what: 'a mask that is null in the first line',
    bytes: jsonLines([{ ...ROW, response_mask: null }, ROW]),
    message: 'jsonl missing array: nothing, expected a list of numbers, as in line 2 (bad, trace 0, response_mask, line 1)',
    left: [/missing array/, 2]
  },
  {
    what: 'values in a list of lists',
    bytes: jsonLines([{ ...ROW, values: [[1, 2]] }]),
    message: 'jsonl wrong values: a list with an array in it, expected a list of numbers (bad, trace 0, values, line 1)',
    left: [/wrong values/]
  },
  {
    what: 'values that are a text',
    bytes: jsonLines([{ ...ROW, values: '1,2' }]),
    message: 'jsonl wrong values: "1,2", expected a list of numbers (bad, trace 0, values, line 1)',
    left: [/wrong values/]
  },
  {
    what: 'a score that is an object',
    bytes: jsonLines([ROW, { ...ROW, score: { right: 1 } }]),
    message: 'jsonl wrong score: an object, expected one value (bad, trace 1, score, line 2)',
    left: [2, /wrong score/]
  },
  {
    what: 'an empty list',
    bytes: jsonLines([ROW, { values: [], returns: [], response_mask: [] }]),
    message: 'jsonl empty response: 0 tokens, expected at least one (bad, trace 1, line 2)',
    left: [2, /empty response/]
  },
  {
    what: 'positions that do not increase',
    bytes: jsonLines([
      { ...ROW, response_positions: [0, 3] },
      { ...ROW, response_positions: [3, 3] }
    ]),
    message: 'jsonl wrong position: 3, expected positions that increase from 0 on (bad, trace 1, response_positions, index 1, line 2)',
    left: [4, /wrong position/]
  },
  {
    what: 'a value that is an integer which no double holds',
    bytes: Buffer.from(`${JSON.stringify(ROW)}\n{"values":[1, 9007199254740993],"returns":[1,1],"response_mask":[1,1]}\n`),
    message:
      'jsonl integer out of range: 9007199254740993, expected an integer that a double holds, as each below 2^53 is (bad, trace 1, values, index 1, byte 69, line 2)',
    left: [2, /integer out of range/]
  },
  {
    what: 'a uid that is an integer which no double holds',
    bytes: Buffer.from(`${JSON.stringify(ROW)}\n{"uid":-12345678901234567890,"values":[1,2],"returns":[1,1],"response_mask":[1,1]}\n`),
    message: /^jsonl integer out of range: -12345678901234567890, expected .* \(bad, trace 1, uid, byte 62, line 2\)$/,
    left: [2, /integer out of range/]
  },
  ...(
    [
      ['half a surrogate pair', '"\\ud800"', 'wrong encoding: half a surrogate pair, expected text', ', byte 62'],
      ['other bytes than UTF-8', '"\xff\xfe"', 'wrong encoding: bytes that are not UTF-8, expected text', ', byte 62'],
      ['NaN', 'NaN', 'wrong uid: NaN, expected text or an integer', ''],
      ['an infinity', '-Infinity', 'wrong uid: -Infinity, expected text or an integer', ''],
      ['an object', '{"id":"a"}', 'wrong uid: an object, expected one value', ''],
      ['a list', '["a"]', 'wrong uid: a list with a string in it, expected one value', '']
    ] as const
  ).map(([what, uid, message, at]) => ({
    what: `a uid of ${what}`,
    bytes: Buffer.from(`${JSON.stringify(ROW)}\n{"uid":${uid},"values":[1,2],"returns":[1,1],"response_mask":[1,1]}\n`, 'latin1'),
    message: `jsonl ${message} (bad, trace 1, uid${at}, line 2)`,
    left: [2, new RegExp(message)]
  })),
  {
    what: 'a mask of one number a row in Parquet',
    bytes: parquetFile([{ ...ROW, response_mask: 1 }], { values: 'FLOAT', returns: 'FLOAT', response_mask: 'INT32' }),
    message: 'parquet wrong response_mask: a column of INT32, expected a column of lists of numbers (bad, response_mask)'
  },
  {
    what: 'values of text in Parquet',
    bytes: parquetFile([{ ...ROW, values: '1,2' }], { values: 'STRING', returns: 'FLOAT', response_mask: 'INT32' }),
    message: 'parquet wrong values: a column of BYTE_ARRAY, expected a column of lists of numbers (bad, values)'
  },
  {
    what: 'a null list in Parquet',
    bytes: parquetFile([ROW, { ...ROW, returns: null }], { values: 'FLOAT', returns: 'FLOAT', response_mask: 'INT32' }),
    message: 'parquet missing array: nothing, expected a list of numbers, as in the first row (bad, trace 1, returns)',
    left: [2, /missing array/]
  },
  {
    what: 'a null in a mask of Parquet',
    bytes: parquetFile([ROW, { ...ROW, response_mask: [1, null] }], { values: 'FLOAT', returns: 'FLOAT', response_mask: 'INT32' }),
    message: 'parquet wrong mask: NaN, expected 0 or 1 (bad, trace 1, response_mask, index 1)',
    left: [2, /wrong mask/]
  },
  { what: 'another format', bytes: Buffer.from('step,value\n1,2\n'), message: /^dump not recognised: .* \(bad\)$/ }
]

t.test('what is wrong is said with its place; --skip-bad leaves the row out', async t => {
  for (const { what, bytes, message, left, keys } of BAD) {
    const files = [write('bad', await bytes)]
    const fault = await faultOf(readAll(files, { keys: sampleKeys(keys) }))
    if (typeof message === 'string') t.equal(fault.message, message, what)
    else t.match(fault.message, message, what)
    if (left === undefined) t.equal((await faultOf(readAll(files, { keys: sampleKeys(keys), skipBad: true }))).message, fault.message)
    else t.match(lengthsOf(await readAll(files, { skipBad: true })), left, `${what}, skipped`)
  }
})

t.test('fields that single lines lack', async t => {
  const rows = [
    ROW,
    { ...ROW, step: 5, score: 1, uid: 'b' },
    { ...ROW, reward: 2, outcome: 'failure', response_length: 1, response_mask: [1, 0] },
    { ...ROW, score: null, reward: null }
  ]
  const { items } = await readAll([write('late.jsonl', jsonLines(rows))])
  t.same(
    (items as Sample[]).map(({ mask, fields: { step, score, uid, outcome } }) => [mask.length, step, score, uid, outcome]),
    [
      [2, null, null, null, null],
      [2, 5, 1, 'b', null],
      [1, null, 2, null, 'failure'],
      [2, null, null, null, null]
    ]
  )
})

t.test('an array that is null in every line is not there, which is said', async t => {
  const rows = [ROW, ROW].map(row => ({ ...row, response_mask: null, values: null }))
  const { dump, items } = await readAll([write('nulls.jsonl', jsonLines(rows))])
  t.same([dump.facts.mask, [...dump.arrays.keys()]], [null, ['returns']])
  t.same([...dump.facts.notes].sort(), [
    'response_mask is null wherever it stands: taken as not there',
    'values is null wherever it stands: taken as not there'
  ])
  t.equal(items.length, 2)
})

t.test('large integers that a double holds are taken as they are written', async t => {
  const line = '{"uid":12345678901234567168,"values":[9007199254740994,1e20, 1e400],"returns":[9007199254740992,1,1]}\n'
  const [{ fields, arrays }] = (await readAll([write('large.jsonl', Buffer.from(line))])).items as Sample[]
  t.equal(fields.uid, '12345678901234567168')
  t.same(Array.from(arrays.values ?? []), [9007199254740994, 1e20, Infinity])
})

t.test('a uid in Parquet that is no text', async t => {
  const rows = [
    { ...ROW, uid: 'ab' },
    { ...ROW, uid: 'qqzz' }
  ]
  const bytes = Buffer.from(parquetFile(rows, { values: 'FLOAT', returns: 'FLOAT', response_mask: 'INT32', uid: 'STRING' }))
  for (let at = bytes.indexOf('qqzz'); at >= 0; at = bytes.indexOf('qqzz')) bytes.writeUInt16BE(0xfffe, at)
  const fault = await faultOf(readAll([write('uid.parquet', bytes)]))
  t.equal(fault.message, 'parquet wrong uid: bytes that are not UTF-8, expected one value (uid.parquet, trace 1, uid)')
  t.match(lengthsOf(await readAll(['uid.parquet'], { skipBad: true })), [2, /wrong uid/])
})

t.test('a text that looks like a name is none', async t => {
  const rows = [
    { values: [1, 2], returns: [1, 1], text: '"response_mask": [1, 0]' },
    { values: [1, 2], returns: [1, 1], text: '"response_mask" : [1, 0], "score":1', nested: { response_mask: [1, 0] } }
  ]
  const { dump } = await readAll([write('text.jsonl', jsonLines(rows))])
  t.equal(dump.facts.mask, null)
})

t.test('a row that is left out has its place beside the reason', async t => {
  const bytes = await npzFile({ ...BATCH, response_mask: array('int64', [2, 2], [1, 1, 1, 2]) })
  const { items, dump } = await readAll([write('left.npz', bytes)], { skipBad: true })
  t.same(items[1], {
    index: 1,
    place: { file: 'left.npz', trace: 1, array: 'response_mask', index: 1 },
    reason: 'npz wrong mask: 2, expected 0 or 1'
  })
  t.equal(dump.rows, 2)
})

t.test('a batch of tensors that lie in another order', async t => {
  const transposed = tensor({ key: 'x', count: 6, shape: [2, 3], stride: [1, 2] })
  const expanded = tensor({ key: 'y', count: 3, shape: [2, 3], stride: [0, 1] })
  const bytes = torchArchive(pickle(dict({ values: transposed, returns: expanded })), { x: floats(1, 2, 3, 4, 5, 6), y: floats(7, 8, 9) })
  const { items } = await readAll([write('strides.pt', bytes)])
  t.same(
    (items as Sample[]).map(({ arrays }) => [Array.from(arrays.values ?? []), Array.from(arrays.returns ?? [])]),
    [
      [
        [1, 3, 5],
        [7, 8, 9]
      ],
      [
        [2, 4, 6],
        [7, 8, 9]
      ]
    ]
  )
})

t.test('a token that is not attended is padding, on either side', async t => {
  const attention_mask = array('int64', [2, 4], [0, 0, 1, 1, 1, 1, 1, 0])
  const four = { values: array('float32', [2, 4], [9, 9, 1, 2, 1, 2, 3, 9]), returns: array('float32', [2, 4], [0, 0, 1, 1, 1, 1, 1, 0]) }
  const masks = async (name: string, bytes: Uint8Array): Promise<unknown> =>
    ((await readAll([write(name, bytes)])).items as Sample[]).map(({ mask }) => [...mask])
  const expected = [
    [0, 0, 1, 1],
    [1, 1, 1]
  ]
  const batch = { ...four, attention_mask }
  t.same(await masks('left.npz', await npzFile(batch)), expected)
  t.same(await masks('left.pt', torchFile(batch)), expected)
  t.same(await masks('left.jsonl', jsonLines(testRowsOf(batch))), expected)
  const withPrompt = array('int64', [2, 6], [0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0])
  t.same(await masks('prompt.npz', await npzFile({ ...four, attention_mask: withPrompt })), expected)
  const response_mask = array('int64', [2, 4], [0, 0, 0, 1, 1, 0, 1, 0])
  t.same(await masks('both.npz', await npzFile({ ...batch, response_mask })), [
    [0, 0, 0, 1],
    [1, 0, 1]
  ])
  const odd = await npzFile({ ...batch, response_mask: array('int64', [2, 4], [0, 1, 0, 1, 1, 0, 1, 0]) })
  t.equal(
    (await faultOf(readAll([write('odd.npz', odd)]))).message,
    'npz wrong mask: 1, expected 0 where attention_mask is 0 (odd.npz, trace 0, response_mask, index 1)'
  )
})

t.test('an array that repeats one number without end', async t => {
  const one = tensor({ key: 'x', count: 1, shape: [100_000, 1_000_000], stride: [0, 0] })
  const bytes = torchArchive(pickle(dict({ values: one, returns: one })), { x: floats(1) })
  t.equal(
    (await faultOf(readAll([write('repeated.pt', bytes)]))).message,
    'torch tensor too large: 100000000000 elements over 1 stored ones, expected at most 268435456 (repeated.pt, values)'
  )
  const values = tensor({ key: 'x', count: 4, shape: [2, 2], stride: [2, 1] })
  const wide = tensor({ key: 'x', count: 4, shape: [100_000, 1_000_000], stride: [0, 0] })
  const beside = torchArchive(pickle(dict({ values, returns: values, kl: wide })), { x: floats(1, 2, 3, 4) })
  const { items, dump } = await readAll([write('beside.pt', beside)])
  t.equal(items.length, 2)
  t.match(dump.facts.notes[0], /^not read: torch tensor too large: 100000000000 elements over 1 stored ones/)
})

t.test('a row of more tokens than any response has', async t => {
  const columns = 17 * 2 ** 20
  const npz = write('long.npz', bomb('values.npy', encodeNpyHeader('|i1', [1, columns]), 17))
  t.equal((await faultOf(readAll([npz]))).message, 'npz wrong shape: (1, 17825792), expected at most 16777216 columns (long.npz, values)')
  const values = tensor({ type: 'ByteStorage', key: 'x', count: columns, shape: [columns], stride: [1] })
  const pt = write('long.pt', torchArchive(pickle(dict({ samples: torchList(dict({ values })) })), { x: new Uint8Array(columns) }))
  t.equal(
    (await faultOf(readAll([pt]))).message,
    'torch row too long: 17825792 tokens, expected at most 16777216 (long.pt, trace 0, values)'
  )
})

t.test('rows of retained tokens alone', async t => {
  const rows = [{ values: [1, 2], returns: [3, 4], token_ids: [8, 9], response_positions: [1, 4] }]
  const [sample] = (await readAll([write('kept.jsonl', jsonLines(rows))])).items as Sample[]
  t.same(Array.from(sample.mask), [0, 1, 0, 0, 1])
  t.same(Array.from(sample.arrays.values ?? []), [NaN, 1, NaN, NaN, 2])
  t.same(Array.from(sample.tokenIds ?? []), [-1, 8, -1, -1, 9])
})

t.test('a mask of true and false in JSON Lines', async t => {
  const rows = [
    { ...ROW, response_mask: [false, true], outcome: true, score: 'NaN' },
    { ...ROW, response_mask: [true, true], outcome: null, score: 2 }
  ]
  const bytes = Buffer.from(Buffer.from(jsonLines(rows)).toString().replace('"NaN"', 'null'))
  const { items } = await readAll([write('flags.jsonl', bytes)])
  t.same(
    (items as Sample[]).map(({ mask, fields: { outcome, score } }) => [[...mask], outcome, score]),
    [
      [[0, 1], 'success', null],
      [[1, 1], null, 2]
    ]
  )
})

t.test('what is a dump is told by its content', async t => {
  const formatOf = async (bytes: Uint8Array): Promise<string | null> => (await recogniseDump(join(DIR, write('x', bytes))))?.name ?? null
  t.equal(await formatOf(await npzFile(BATCH)), 'npz')
  t.equal(await formatOf(torchFile(BATCH)), 'torch')
  t.equal(await formatOf(readFileSync(fixture('torch/slime-legacy.pt'))), 'torch')
  t.equal(await formatOf(safetensorsFile(BATCH)), 'safetensors')
  t.equal(await formatOf(jsonLines([ROW])), 'jsonl')
  t.equal(await formatOf(jsonLines([{ text: 'x'.repeat(10_000), ...ROW }])), 'jsonl', 'a list far behind in the first line')
  t.equal(await formatOf(readFileSync(fixture('dumps/rows.parquet'))), 'parquet')
  const trace = { values: lists(3, 0), returns: lists(3, 0), response_positions: array('int64', [3], [0, 1, 2]) }
  t.equal(await formatOf(await npzFile(trace)), null, 'the NPZ file of one trace')
  t.equal(await formatOf(parquetFile([{ a: 1 }], { a: 'DOUBLE' })), null, 'Parquet without lists')
  for (const text of ['', ' ', '{', '{"a":1}\n{"a":2}\n', '{\n  "a": [1, 2]\n}\n', '[1,2]\n', 'PK\u0003\u0004', 'PAR1', '<html>']) {
    t.equal(await formatOf(Buffer.from(text)), null, JSON.stringify(text))
  }
})

t.test('files of two formats are no dump', async t => {
  const a = write('two/a', await npzFile(BATCH))
  const b = write('two/b', jsonLines([ROW]))
  t.equal((await faultOf(readAll([a, b]))).message, 'dump several formats: jsonl, expected npz, as the files before it (two/b)')
})

t.test('a row of zeros without a mask is left out as what it is', async t => {
  const zeros = { values: array('float32', [2, 2], [1, 2, 0, 0]), returns: array('float32', [2, 2], [1, 1, 0, 0]) }
  t.same(lengthsOf(await readAll([write('zeros.npz', await npzFile(zeros))])), [2, 'every array of the row is 0: padding'])
  const masked = { ...zeros, response_mask: array('int64', [2, 2], [1, 1, 0, 0]) }
  t.same(lengthsOf(await readAll([write('masked.npz', await npzFile(masked))])), [2, NO_MASK])
})

t.test('masks of the files of a series', async t => {
  const { response_mask: mask, ...unmasked } = BATCH
  const rest = unmasked as TestArrays
  const none = write('masks/step_1.npz', await npzFile(rest))
  const a = write('masks/step_2.npz', await npzFile(BATCH))
  const b = write('masks/step_3.npz', await npzFile({ ...rest, loss_mask: mask, response_lengths: array('int64', [2], [2, 2]) }))
  const expected =
    'dump missing mask: no mask, expected one as in masks/step_2.npz, which has response_mask, or none in any file (masks/step_1.npz)'
  for (const skipBad of [false, true]) t.equal((await faultOf(readAll([none, a, b], { skipBad }))).message, expected)
  const { facts } = (await readAll([a, b])).dump
  t.equal(facts.mask, 'response_mask, loss_mask')
  t.equal(facts.end, 'columns behind it that are 0 in every array, response_lengths')
})

t.test('a damaged member is found when its last row was read', async t => {
  const bytes = await npzFile({ ...BATCH, kl: BATCH['returns'] })
  const at = Buffer.from(bytes).indexOf(Buffer.from(Float32Array.of(3, 4).buffer))
  bytes[at]++
  const fault = await faultOf(readAll([write('crc.npz', bytes)]))
  t.match(fault.message, /^zip damaged member: CRC-32 .* \(crc\.npz, member values\.npy\)$/)
})

t.test('batches larger than a block', async t => {
  const [rows, columns] = [130, 3000]
  const data = Array.from({ length: rows * columns }, (_, i) => i + 1)
  const big = {
    values: array('float32', [rows, columns], data),
    returns: array('float64', [rows, columns], data),
    response_mask: array(
      'int8',
      [rows, columns],
      data.map(i => i & 1)
    )
  }
  for (const [name, bytes] of [
    ['stored.npz', await npzFile(big)],
    ['deflated.npz', await npzFile(big, { deflate: true })],
    ['fortran.npz', await npzFile(big, { fortran: true })],
    ['big.pt', torchFile(big)],
    ['big.jsonl', jsonLines(testRowsOf(big))]
  ] as const) {
    const { items } = await readAll([write(name, bytes)])
    t.equal(items.length, rows)
    const wrong = (items as Sample[]).filter(({ index, mask, arrays: { values, returns } }) =>
      mask.some(
        (bit, i) => bit !== ((index * columns + i + 1) & 1) || values?.[i] !== index * columns + i + 1 || returns?.[i] !== values[i]
      )
    )
    t.same(
      wrong.map(({ index }) => index),
      [],
      name
    )
  }
})

t.test('an integer that no double holds is named by its index in the whole array', async t => {
  const [rows, columns] = [60, 3000]
  const data = new Array<number>(rows * columns).fill(1).with(-2, 2 ** 60)
  const wide = { values: array('int64', [rows, columns], data) }
  const fault = await faultOf(readAll([write('wide.npz', await npzFile(wide))]))
  t.equal(
    fault.message,
    'npy integer out of range: 1152921504606846976, expected at most 2^53 in size, where every integer has a double of its own (wide.npz, member values.npy, index 179998)'
  )
})

t.test('lines are the same at every chunk size', async t => {
  const text = Buffer.from('\ufeff{"a":1}\r\n\n{"b":"\u00e4"}\n   \n{"c":3}')
  const source = { size: text.length, slice: (start: number, end: number) => Promise.resolve(new Uint8Array(text.subarray(start, end))) }
  for (let chunk = 1; chunk <= text.length + 1; chunk++) {
    const lines: unknown[] = []
    for await (const { bytes, offset, place } of linesOf(source, 'x', chunk))
      lines.push([Buffer.from(bytes).toString(), offset, place.line])
    t.same(lines, [
      ['{"a":1}\r', 3, 1],
      ['{"b":"\u00e4"}', 13, 3],
      ['{"c":3}', 28, 5]
    ])
  }
})

t.test('reading ahead gives the same bytes', async t => {
  const random = new Random(seedOf(23))
  const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 2654435761) >>> 24))
  const source = { size: bytes.length, slice: (start: number, end: number) => Promise.resolve(new Uint8Array(bytes.subarray(start, end))) }
  const ahead = readAhead(source)
  let at = 0
  for (let i = 0; i < rounds(300); i++) {
    at = random.chance(0.1) ? random.below(bytes.length) : Math.min(bytes.length, at + random.below(100))
    const asked: (readonly [number, number])[] = []
    for (let n = random.below(4); n >= 0; n--) {
      const end = Math.min(bytes.length, at + random.below(random.chance(0.1) ? 400_000 : 20_000))
      asked.push([at, end])
      at = end
    }
    const got = await Promise.all(asked.map(([start, end]) => ahead.slice(start, end)))
    t.ok(got.every((part, k) => Buffer.from(part).equals(bytes.subarray(...asked[k]))))
  }
})

t.test('a uid is text or an integer, and no secret', t => {
  const field = (value: string | number | bigint | boolean) => () =>
    uidField({ format: 'dump', place: { file: 'x', trace: 3 } }, { name: 'uid', value })
  for (const [value, uid] of [
    ['a', 'a'],
    [7, '7'],
    [2n ** 60n, '1152921504606846976'],
    ['', '']
  ] as const)
    t.equal(field(value)(), uid)
  for (const value of [true, 1.5, NaN])
    t.throws(field(value), { message: `dump wrong uid: ${value}, expected text or an integer (x, trace 3, uid)` })
  t.throws(field(`gh${'p_'}${'abcdefghijklmnopqrstuvwxyz0123456789'}`), {
    message: 'dump secret refused: a uid holds what looks like a secret, expected a text without one (x, trace 3, uid)'
  })
  t.end()
})
