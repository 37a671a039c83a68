/**
 * The reader of safetensors: a file of safetensors' own against its reading (fixtures/torch), a file of a public repository,
 * and headers that are wrong.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Fault } from '../src/core/errors.js'
import { openStill } from '../src/core/still-file.js'
import { readSafetensors, recogniseSafetensors } from '../src/ingest/safetensors/safetensors.js'
import { isTensor } from '../src/ingest/tensors/tensor.js'
import { faultOf } from './support/folders.js'
import { fixture, root } from './support/paths.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'
import { archive, pickle, raw, sourceOf } from './support/torch-files.js'
import { readingOf } from './support/torch-readings.js'

const CASES = join(process.env.CRITIC_TRACES_CASES ?? join(root, '../shared/cases'), 'torch')
const NO_CASES = { skip: existsSync(CASES) ? false : `${CASES} is not there (CRITIC_TRACES_CASES names another folder of cases)` }

const ALL = new Uint8Array(readFileSync(fixture('torch', 'all.safetensors')))

function fileOf(header: string | Uint8Array, data: Uint8Array = new Uint8Array(0), length?: bigint): Uint8Array {
  const text = Buffer.from(header)
  const head = Buffer.alloc(8)
  head.writeBigUInt64LE(length ?? BigInt(text.length))
  return new Uint8Array(Buffer.concat([head, text, data]))
}

/** One tensor `a` with these fields over `bytes` zeros. */
function withEntry(fields: Readonly<Record<string, unknown>>, bytes = 8): Uint8Array {
  const entry = { dtype: 'F32', shape: [2], data_offsets: [0, 8], ...fields }
  return fileOf(JSON.stringify({ a: entry }), new Uint8Array(bytes))
}

t.test('a file that safetensors 0.8.0 wrote', async t => {
  const expected = (JSON.parse(readFileSync(fixture('torch', 'expected.json'), 'utf8')) as Record<string, unknown>)['all.safetensors']
  const { tensors, metadata } = await readSafetensors(sourceOf(ALL))
  const sorted = new Map([...tensors].sort(([a], [b]) => (a < b ? -1 : 1)))
  t.same(await readingOf(sorted, expected), expected)
  t.same(
    new Map([...metadata].sort()),
    new Map([
      ['__proto__', 'x'],
      ['format', 'pt']
    ])
  )
  t.equal(({} as { x?: unknown }).x, undefined)
})

t.test('a file of a public repository', NO_CASES, async t => {
  const path = join(CASES, 'encodec-jfk-codes.safetensors')
  const file = await openStill(path)
  t.equal(await recogniseSafetensors(file), true)
  const { tensors, metadata } = await readSafetensors(file)
  t.same([[...tensors.keys()], metadata.size], [['codes'], 0])
  const codes = tensors.get('codes')
  if (!isTensor(codes)) throw new TypeError('no tensor')
  t.same([codes.dtype, codes.shape], ['I64', [1, 2, 828]])
  // numpy on the bytes behind the header: first, last, sum, largest
  const numbers = [...(await codes.readNumbers())]
  t.same([...numbers.slice(0, 4), ...numbers.slice(-2)], [865, 62, 408, 408, 796, 889])
  t.same([numbers.reduce((a, b) => a + b, 0), numbers.reduce((a, b) => Math.max(a, b), 0)], [960640, 1023])
  await file.close()
})

t.test('what is wrong with a header is told', async t => {
  const two = (first: readonly number[], second: readonly number[]): string =>
    JSON.stringify({ a: { dtype: 'U8', shape: [4], data_offsets: first }, b: { dtype: 'U8', shape: [4], data_offsets: second } })
  const cases: readonly (readonly [what: string, bytes: Uint8Array, message: string])[] = [
    ['nothing', new Uint8Array(0), 'truncated: 0 bytes, expected a length of 8 bytes (x)'],
    ['half a length', new Uint8Array(7), 'truncated: 7 bytes, expected a length of 8 bytes (x)'],
    ['a header that ends', fileOf('{}', new Uint8Array(0), 3n), 'impossible header length: 3 bytes, expected at most 2 (x)'],
    ['2^63', fileOf('{}', new Uint8Array(0), 2n ** 63n), 'impossible header length: 9223372036854776000 bytes, expected at most 2 (x)'],
    ['no header', fileOf(''), 'malformed header: byte none, expected a JSON object (x, byte 8)'],
    ['a space first', fileOf(' {}'), 'malformed header: byte 32, expected a JSON object (x, byte 8)'],
    ['a list', fileOf('[]'), 'malformed header: byte 91, expected a JSON object (x, byte 8)'],
    ['no JSON', fileOf('{a}'), 'malformed JSON: "a" at line 1 column 2, expected a quoted field name (x, byte 1)'],
    ['bytes', fileOf(Uint8Array.of(0x7b, 0x22, 0xff, 0x22)), 'wrong encoding: bytes that are not UTF-8, expected UTF-8 (x)'],
    ['a name twice', fileOf('{"a":1,"a":1}'), 'field stated twice: "a" at line 1 column 8, expected each field once (x, byte 7)'],
    ['no object', fileOf('{"a":[]}'), 'malformed tensor: a list, expected an object (x, a)'],
    ['metadata', fileOf('{"__metadata__":{"a":1}}'), 'malformed metadata: a number for a, expected a text (x, __metadata__)'],
    ['metadata in a list', fileOf('{"__metadata__":[]}'), 'malformed metadata: a list, expected an object (x, __metadata__)'],
    ['no dtype', withEntry({ dtype: 4 }), 'malformed dtype: a number, expected a text (x, a)'],
    ['an unknown dtype', withEntry({ dtype: 'F33' }), 'unknown dtype: F33, expected a dtype of safetensors (x, a)'],
    ['an inherited dtype', withEntry({ dtype: 'toString' }), 'unknown dtype: toString, expected a dtype of safetensors (x, a)'],
    ['no shape', withEntry({ shape: 2 }), 'malformed shape: a number, expected a list of integers from 0 to 2^53 (x, a)'],
    ['a negative shape', withEntry({ shape: [-2] }), 'malformed shape: [-2], expected a list of integers from 0 to 2^53 (x, a)'],
    ['half a shape', withEntry({ shape: [0.5] }), 'malformed shape: [0.5], expected a list of integers from 0 to 2^53 (x, a)'],
    [
      'a huge shape',
      withEntry({ shape: [2 ** 40, 2 ** 40] }),
      `wrong size: 8 bytes, expected Infinity for F32 of shape [${2 ** 40}, ${2 ** 40}] (x, a)`
    ],
    ['another size', withEntry({ shape: [3] }), 'wrong size: 8 bytes, expected 12 for F32 of shape [3] (x, a)'],
    ['half bytes', withEntry({ dtype: 'F4', shape: [3] }), 'wrong size: 8 bytes, expected 1.5 for F4 of shape [3] (x, a)'],
    ['one offset', withEntry({ data_offsets: [8] }), 'malformed data_offsets: [8], expected start and end (x, a)'],
    ['three offsets', withEntry({ data_offsets: [0, 8, 8] }), 'malformed data_offsets: [0,8,8], expected start and end (x, a)'],
    ['a turn', withEntry({ data_offsets: [8, 0] }), 'malformed data_offsets: [8,0], expected start and end (x, a)'],
    [
      'no offsets',
      withEntry({ data_offsets: undefined }),
      'malformed data_offsets: nothing, expected a list of integers from 0 to 2^53 (x, a)'
    ],
    ['data that end', withEntry({}, 7), 'truncated: 7 bytes of data, expected 8 for this tensor (x, a)'],
    ['bytes behind', withEntry({}, 9), 'trailing bytes: 1 bytes behind the last tensor, expected none (x)'],
    [
      'a hole first',
      fileOf(two([4, 8], [8, 12]), new Uint8Array(12)),
      'hole in the data: 4 bytes in front of byte 4, expected none (x, a)'
    ],
    [
      'a hole between',
      fileOf(two([0, 4], [5, 9]), new Uint8Array(9)),
      'hole in the data: 1 bytes in front of byte 5, expected none (x, b)'
    ],
    ['an overlap', fileOf(two([0, 4], [3, 7]), new Uint8Array(7)), 'overlapping tensors: a start at byte 3, expected byte 4 (x, b)'],
    ['the same place', fileOf(two([0, 4], [0, 4]), new Uint8Array(4)), 'overlapping tensors: a start at byte 0, expected byte 4 (x, b)']
  ]
  for (const [what, bytes, message] of cases) {
    t.equal((await faultOf(readSafetensors(sourceOf(bytes), { file: 'x' }))).message, `safetensors ${message}`, what)
  }
  const digits = fileOf('{"a":{"dtype":"U8","shape":[9007199254740993],"data_offsets":[0,0]}}')
  t.match(
    (await faultOf(readSafetensors(sourceOf(digits)))).message,
    /^safetensors inexact number: 9007199254740993 at line 1 column 29, expected digits that a double has \(byte 28\)$/
  )
})

t.test('what the format allows', async t => {
  const padded = fileOf(
    '{"b":{"dtype":"U8","shape":[],"data_offsets":[2,3],"more":1},"a":{"shape":[2],"dtype":"I8","data_offsets":[0,2]}}   ',
    Uint8Array.of(255, 1, 7)
  )
  const { tensors } = await readSafetensors(sourceOf(padded))
  t.same([...tensors.keys()], ['a', 'b'], 'in the order of the bytes, with spaces behind the header')
  const [a, b] = [tensors.get('a'), tensors.get('b')]
  if (!isTensor(a) || !isTensor(b)) throw new TypeError('no tensor')
  t.same([[...(await a.read())], [...(await b.read())], b.shape], [[-1, 1], [7], []])
  t.same((await readSafetensors(sourceOf(fileOf('{}')))).tensors.size, 0)
  const empty = fileOf(
    '{"a":{"dtype":"F64","shape":[0,5],"data_offsets":[0,0]},"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
    Uint8Array.of(3)
  )
  t.same([...(await readSafetensors(sourceOf(empty))).tensors.keys()], ['a', 'b'], 'a tensor without elements takes no place')
})

t.test('what is a safetensors file, and what of it is read', async t => {
  t.equal(await recogniseSafetensors(sourceOf(ALL)), true)
  for (const [what, bytes] of [
    ['nothing', new Uint8Array(0)],
    ['a length', new Uint8Array(8)],
    ['text', Buffer.from('{"a": 1}{"b": 2}\n')],
    ['a torch archive', archive(pickle(raw('N')))],
    ['a header that ends', fileOf('{}', new Uint8Array(0), 3n)]
  ] as const) {
    t.equal(await recogniseSafetensors(sourceOf(bytes)), false, what)
  }
  const entry = (at: number): object => ({ dtype: 'U8', shape: [2 ** 20], data_offsets: [at, at + 2 ** 20] })
  const source = sourceOf(fileOf(JSON.stringify({ a: entry(0), b: entry(2 ** 20) }), new Uint8Array(2 ** 21)))
  const { tensors } = await readSafetensors(source)
  t.ok(source.read < 200, `${source.read} bytes for the header`)
  const b = tensors.get('b')
  if (!isTensor(b)) throw new TypeError('no tensor')
  await b.rows(5, 15).read()
  t.ok(source.read < 210, 'and ten bytes of a tensor')
})

t.test('a mutated or cut file is refused or read, with no other error', async t => {
  for (let length = 0; length < ALL.length; length++) await faultOf(readSafetensors(sourceOf(ALL.subarray(0, length))))
  const random = new Random(seedOf(88))
  let refused = 0
  for (let k = 0; k < rounds(1500); k++) {
    const bytes = ALL.slice()
    for (let n = 1 + random.below(2); n > 0; n--)
      bytes[random.below(random.chance(0.8) ? 1300 : bytes.length)] = random.chance(0.5) ? random.below(256) : 0x30 + random.below(10)
    const source = sourceOf(bytes)
    try {
      const { tensors } = await readSafetensors(source)
      for (const tensor of tensors.values()) if (isTensor(tensor)) await tensor.read()
    } catch (error) {
      if (!(error instanceof Fault)) t.fail(`round ${k}: ${error instanceof Error ? error.stack : String(error)}`)
      refused++
    }
    if (source.largest > bytes.length) t.fail(`round ${k}: ${source.largest} bytes read at once`)
  }
  t.ok(refused > rounds(1500) / 4 && refused < rounds(1500), `${refused} refused`)
})
