/**
 * The streaming JSON reader: numbers against JSON.parse and Python, documents against JSON.parse and Python, faults
 * against written messages, every chunk size, every truncation, every single-byte change of a small document.
 */

import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { Fault } from '../src/core/errors.js'
import { DEFAULT_KEYS, type SnapshotKeys } from '../src/schema/traces.js'
import { MAX_DEPTH } from '../src/ingest/json/faults.js'
import { DoubleColumn, scanNumberArray } from '../src/ingest/json/number-array.js'
import { scanNumber } from '../src/ingest/json/number.js'
import { SlicePool } from '../src/ingest/json/pool.js'
import { TraceSlicer } from '../src/ingest/json/slicer.js'
import { EndMarker } from '../src/ingest/json/string.js'
import { KernelText } from '../src/ingest/json/kernel-text.js'
import { TraceScratch, parseTrace } from '../src/ingest/json/trace.js'
import { caseOf, casesOf } from './support/cases.js'
import { WHOLE, inPiecesOf, randomDocument, readSnapshot, type Pieces, type ReadOptions, type ReadSnapshot } from './support/json-reader.js'
import { fixture } from './support/paths.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'

const VALID = casesOf<{ readonly expected: Expected }>('json/valid')
const INVALID = casesOf<{ readonly message: string }>('json/invalid')

const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8')

/** The big-endian bits of each double, as 16 hexadecimal digits. */
function bits(values: ArrayLike<number>): string[] {
  const copy = Float64Array.from(values)
  return Buffer.from(copy.buffer).swap64().toString('hex').match(/.{16}/g) ?? []
}

/** What reading throws; null when it throws nothing. */
function faultOf(read: () => unknown): Fault | null {
  try {
    read()
    return null
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

// ---------------------------------------------------------------------------------------------------------- numbers

/** Reads the texts as one array, and one by one by the general scanner; says where either differs from JSON.parse. */
function differences(texts: readonly string[]): string[] {
  const source = `[${texts.join(', ')}]`
  const expected = JSON.parse(source) as number[]
  const text = new KernelText()
  text.load({ index: 0, offset: 0, bytes: utf8(source) })
  const column = new DoubleColumn()
  const end = scanNumberArray(text, 1, column, 'values')
  if (end !== source.length || column.length !== texts.length) return [`read ${column.length} of ${texts.length}`]
  const one = new Float64Array(1)
  const wrong: string[] = []
  let at = 1
  for (let k = 0; k < texts.length; k++) {
    const stop = scanNumber(text, at, one, 0)
    if (stop !== at + texts[k].length) wrong.push(`${texts[k]} ends at ${stop - at}`)
    if (!Object.is(column.data[k], expected[k])) wrong.push(`${texts[k]} in an array gives ${column.data[k]}`)
    if (!Object.is(one[0], expected[k])) wrong.push(`${texts[k]} alone gives ${one[0]}`)
    at += texts[k].length + 2
  }
  return wrong
}

/** Python's repr of a double: JavaScript's digits, its own choice of notation and a two-digit exponent. */
function python(value: number): string {
  const [digits, exponent] = value.toExponential().split('e')
  const e = Number(exponent)
  if (value !== 0 && (e < -4 || e >= 16)) {
    return `${digits}e${e < 0 ? '-' : '+'}${String(Math.abs(e)).padStart(2, '0')}`
  }
  // toString leaves decimal notation below 1e-6 and from 1e21 on; Python does at 1e-4 and 1e16
  const text = String(value)
  return text.includes('.') ? text : `${text}.0`
}

/** A positive double as an integer times a power of two. */
function parts(value: number): { readonly m: bigint; readonly e: number } {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const raw = view.getBigUint64(0)
  const biased = Number(raw >> 52n) & 0x7ff
  const fraction = raw & (2n ** 52n - 1n)
  return biased === 0 ? { m: fraction, e: -1074 } : { m: fraction + 2n ** 52n, e: biased - 1075 }
}

/** Exact decimal text of m * 2^e, as digits and a power of ten. */
function exactDecimal(m: bigint, e: number): { readonly digits: bigint; readonly exponent: number } {
  return e >= 0 ? { digits: m << BigInt(e), exponent: 0 } : { digits: m * 5n ** BigInt(-e), exponent: e }
}

t.test('the pinned numbers have the bits that Python gives them, and JSON.parse too', t => {
  const table = readFileSync(fixture('json/numbers.txt'), 'utf8')
  const lines = table.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  t.ok(lines.length > 200, 'the table is there')
  const texts = lines.map(line => line.split(' ')[0])
  const expected = lines.map(line => line.split(' ')[1])
  const text = new KernelText()
  text.load({ index: 0, offset: 0, bytes: utf8(`[${texts.join(',')}]`) })
  const column = new DoubleColumn()
  scanNumberArray(text, 1, column, 'values')
  t.strictSame(bits(column.view()), expected)
  t.strictSame(bits(texts.map(x => Number(JSON.parse(x)))), expected)
  t.strictSame(differences(texts), [])
  t.strictSame(differences(texts.map(x => (x.startsWith('-') ? x.slice(1) : `-${x}`))), [], 'negated')
  t.end()
})

t.test('a number repeated thousands of times, then another, is what JSON.parse reads', t => {
  const column = new DoubleColumn()
  const text = new KernelText()
  for (const separator of [',', ', ', ' ,\n\t ']) {
    for (const number of ['1.0', '3', '-0.0', '-1.5e-7', '0.10000000149011612']) {
      for (const count of [511, 513, 1022, 1023, 1024, 1025, 3000]) {
        // what ends a run: the last digit alone, one digit more, other white space; anywhere in a block, its last element too
        const run = Array<string>(count).fill(number)
        const texts = [
          '7',
          ...run,
          number.replace(/[0-9]$/, '5'),
          ...run,
          number.replace(/[0-9]$/, '$&1'),
          ...run,
          `${number}${separator.trim()} 9`,
          ...run
        ]
        const source = `[${texts.join(separator)}]`
        text.load({ index: 0, offset: 0, bytes: utf8(source) })
        const end = scanNumberArray(text, 1, column, 'returns')
        const expected = JSON.parse(source) as number[]
        const same = end === source.length && column.length === expected.length && expected.every((x, i) => Object.is(x, column.data[i]))
        if (!same) t.fail(`${number} ${count} times with ${JSON.stringify(separator)}`)
      }
    }
  }
  for (const broken of ['1.0, 1.0x', '1.0,, 1.0', '1.0, 01.0']) {
    const source = `[${Array<string>(2000).fill('1.0').join(', ')}, ${broken}]`
    text.load({ index: 0, offset: 0, bytes: utf8(source) })
    t.throws(() => scanNumberArray(text, 1, column, 'returns'), /\(trace 0, returns, index 200[01], byte /, broken)
  }
  t.end()
})

t.test('every count of digits before and behind the point, with and without a sign or an exponent', t => {
  const random = new Random(seedOf(1617))
  const digits = (n: number): string => Array.from({ length: n }, () => random.below(10)).join('')
  const texts: string[] = []
  for (let k = 0; k < rounds(40); k++) {
    for (let before = 1; before <= 11; before++) {
      const whole = random.chance(0.1) ? '9'.repeat(before) : `${1 + random.below(9)}${digits(before - 1)}`
      for (let behind = 0; behind <= 26; behind++) {
        const zeros = random.chance(0.3) ? random.below(behind + 1) : 0
        const fraction = random.chance(0.1) ? '9'.repeat(behind) : '0'.repeat(zeros) + digits(behind - zeros)
        const number = `${random.chance(0.3) ? '0' : whole}${behind > 0 ? '.' : ''}${fraction}`
        texts.push(number, `-${number}`, `${number}${random.pick(['e', 'E', 'e+', 'e-'])}${random.below(30)}`)
      }
    }
  }
  // around the integers that a double, and a 64-bit integer, still hold
  for (const edge of [2n ** 53n, 10n ** 19n, 2n ** 64n, 1023n * 10n ** 15n, 1024n * 10n ** 15n]) {
    for (let step = -3n; step <= 3n; step++) {
      const all = String(edge + step)
      for (let place = 1; place < all.length; place++)
        texts.push(`${all.slice(0, place)}.${all.slice(place)}`, `-0.${'0'.repeat(place)}${all}`)
    }
  }
  t.strictSame(differences(texts).slice(0, 5), [], `${texts.length} texts`)
  // each one last in its text
  t.strictSame(
    texts
      .slice(0, 4_000)
      .flatMap(one => differences([one]))
      .slice(0, 5),
    []
  )
  t.end()
})

t.test('integers that count up, and what ends the count or looks like it', t => {
  const text = new KernelText()
  const column = new DoubleColumn()
  const wrong: string[] = []
  const read = (source: string): void => {
    text.load({ index: 0, offset: 0, bytes: utf8(source) })
    const end = scanNumberArray(text, 1, column, 'response_positions')
    const expected = JSON.parse(source) as number[]
    const same = end === source.length && column.length === expected.length && expected.every((x, i) => Object.is(x, column.data[i]))
    if (!same) wrong.push(source)
  }
  for (const separator of [',', ', ', ' , ', ',  ', ' ,\n\t ']) {
    for (const first of [
      0, 1, 7, 8, 9, 95, 98, 990, 9_989, 12_345, 99_990, 123_454, 999_985, 1_234_561, 9_999_990, 99_999_990, 999_999_985
    ]) {
      for (let count = 1; count <= 24; count++) {
        const run = Array.from({ length: count }, (_, k) => String(first + k))
        const next = first + count
        const ends = [
          '7',
          String(next - 1),
          String(next + 1),
          `${next}.5`,
          `${next}e1`,
          `${next}E0`,
          `${next}5`,
          `-${next}`,
          `${next} `,
          ` ${next}`,
          '-0',
          '0.10'
        ]
        for (const end of ends) read(`[${[...run, end, ...run].join(separator)}]`)
        read(`[${run.join(separator)}]`)
        read(`[${run.map(x => `-${x}`).join(separator)}]`)
        read(`[${run.map(x => `${x}.0`).join(separator)}]`)
      }
    }
  }
  t.strictSame(wrong.slice(0, 5), [])
  t.end()
})

t.test('a run that ends with its text, over the rest of a longer one', t => {
  const text = new KernelText()
  const column = new DoubleColumn()
  for (const number of ['1.0', '3', '-0', '12345']) {
    for (const separator of [',', ', ']) {
      const long = `[${Array<string>(100).fill(number).join(separator)}]`
      const wrong: number[] = []
      for (let length = 2; length < long.length; length++) {
        for (const source of [long, long.slice(0, length)]) {
          text.load({ index: 0, offset: 0, bytes: utf8(source) })
          const fault = faultOf(() => scanNumberArray(text, 1, column, 'returns'))
          const expected = source === long ? undefined : length
          if (fault?.place.offset !== expected) wrong.push(length)
        }
      }
      t.strictSame(wrong, [], `${number}${separator}`)
    }
  }
  t.end()
})

t.test('NaN and the infinities as Python writes them', t => {
  const text = new KernelText()
  text.load({ index: 0, offset: 0, bytes: utf8('[NaN,Infinity , -Infinity, 0]') })
  const column = new DoubleColumn()
  scanNumberArray(text, 1, column, 'values')
  t.strictSame(Array.from(column.view()), [NaN, Infinity, -Infinity, 0])
  t.end()
})

const SPELLINGS: ReadonlyArray<readonly [name: string, count: number, make: (random: Random) => string]> = [
  ['shortest text of random bits', 125_000, r => String(r.anyDouble())],
  ['shortest text of random bits, exponent form', 50_000, r => r.anyDouble().toExponential()],
  ['shortest text of doubles near 1', 125_000, r => String(r.normal())],
  ['float32 values, Python spelling', 150_000, r => python(Math.fround(r.normal()))],
  ['float32 values of all sizes, Python spelling', 75_000, r => python(Math.fround(r.normal() * 10 ** (r.below(76) - 38)))],
  ['small float32 values, Python spelling', 50_000, r => python(Math.fround(r.normal() * 10 ** -r.below(8)))],
  ['float64 values, Python spelling', 100_000, r => python(r.normal() * 10 ** (r.below(30) - 15))],
  ['bfloat16 grid', 75_000, r => python((r.below(512) - 256) / 2 ** r.below(24))],
  ['integers', 50_000, r => String(r.below(10 ** r.below(16)))],
  ['toPrecision', 75_000, r => r.anyDouble().toPrecision(1 + r.below(30))],
  ['toPrecision near 1', 50_000, r => r.normal().toPrecision(1 + r.below(30))],
  ['toFixed', 75_000, r => (r.normal() * 10 ** r.below(12)).toFixed(r.below(30))],
  ['toExponential', 50_000, r => (r.normal() * 10 ** (r.below(160) - 80)).toExponential(r.below(25))],
  [
    '17 to 25 random digits',
    50_000,
    r => {
      const digits = Array.from({ length: 17 + r.below(9) }, () => r.below(10)).join('')
      const point = r.below(digits.length - 1)
      const whole = point === 0 ? '0' : digits.slice(0, point).replace(/^0+(?=.)/, '')
      const text = `${whole}.${digits.slice(point)}`
      return r.chance(0.3) ? `${text}E${r.pick(['+', '-', ''])}${r.below(40)}` : text
    }
  ],
  ['subnormals', 15_000, r => String(r.below(2 ** 52) * 2 ** -1074)],
  ['zeros around', 25_000, r => `${r.pick(['', '-'])}0.${'0'.repeat(r.below(28))}${r.below(1e9)}${'0'.repeat(r.below(20))}`]
]

t.test('random numbers are what JSON.parse gives, to the last bit', t => {
  const random = new Random(seedOf(20261007))
  let total = 0
  for (const [name, once, make] of SPELLINGS) {
    const count = rounds(once)
    const wrong: string[] = []
    for (let done = 0; done < count; done += 10_000) {
      wrong.push(...differences(Array.from({ length: Math.min(10_000, count - done) }, () => make(random))))
    }
    t.strictSame(wrong.slice(0, 5), [], `${name}: ${count}`)
    total += count
  }
  t.ok(total > 1_000_000)
  t.end()
})

t.test('arrays of every length up to three calls of the scanner, into a column that starts empty', t => {
  const wrong: string[] = []
  for (let length = 1; length <= 1600; length += length < 40 || length % 512 > 500 || length % 512 < 12 ? 1 : 37) {
    wrong.push(...differences(Array.from({ length }, (_, i) => String(i % 10))).map(d => `${length}: ${d}`))
  }
  t.strictSame(wrong, [])
  t.end()
})

t.test('halfway between two doubles, and next to it', t => {
  const random = new Random(seedOf(7))
  const texts: string[] = []
  for (let k = 0; k < rounds(4_000); k++) {
    // exponents near zero give few digits (the exact methods' own ground), far ones up to 767
    const value = k % 4 === 0 ? Math.abs(random.anyDouble()) : Math.abs(random.normal()) * 2 ** (random.below(140) - 60)
    const { m, e } = parts(value)
    const { digits, exponent } = exactDecimal(2n * m + 1n, e - 1)
    texts.push(`${digits}e${exponent}`, `${digits}1e${exponent - 1}`, `${digits * 10n - 1n}e${exponent - 1}`)
    for (const keep of [17, 18, 19, 25]) {
      const whole = String(digits)
      const dropped = whole.length - keep
      if (dropped > 0) {
        const head = BigInt(whole.slice(0, keep))
        texts.push(`${head}e${exponent + dropped}`, `${head + 1n}e${exponent + dropped}`)
      }
    }
  }
  // ties with at most 18 digits, with a point in every place
  for (let k = 0; k < rounds(20_000); k++) {
    const odd = 2n ** 53n + 2n * BigInt(random.below(2 ** 40)) + 1n
    const { digits, exponent } = exactDecimal(odd, -random.below(4))
    const whole = String(digits)
    texts.push(`${whole}e${exponent}`)
    if (exponent === 0) continue
    const pointed = `${whole.slice(0, exponent)}.${whole.slice(exponent)}`
    texts.push(pointed, `${pointed}1`)
  }
  t.strictSame(differences(texts).slice(0, 5), [], `${texts.length} texts`)
  t.end()
})

// -------------------------------------------------------------------------------------------------------- documents

interface Expected {
  readonly keys: Partial<SnapshotKeys>
  readonly endMarker: string
  readonly header: unknown
  readonly traces: unknown
}

const optionalBits = (value: number | null): string | null => (value === null ? null : bits([value])[0])

/** A reading in the form of the table's `expected`. */
function plain({ header, traces }: ReadSnapshot): unknown {
  return {
    header,
    traces: traces.map(({ offset, length, trace: { fields, values, returns, positions, spans } }) => ({
      offset,
      length,
      fields: {
        ...fields,
        score: optionalBits(fields.score),
        valueMean: optionalBits(fields.valueMean),
        valueRmse: optionalBits(fields.valueRmse)
      },
      values: bits(values),
      returns: bits(returns),
      positions: bits(positions),
      spans: spans === null ? null : Array.from(spans.endsWithMarker)
    }))
  }
}

for (const { name, bytes, expected } of VALID) {
  t.test(`fixtures/json/valid: ${name} reads as Python reads it, in chunks of every size`, t => {
    const options: ReadOptions = { keys: { ...DEFAULT_KEYS, ...expected.keys }, endMarker: expected.endMarker }
    const wanted = { header: expected.header, traces: expected.traces }
    t.strictSame(plain(readSnapshot(bytes, WHOLE, options)), wanted)
    const wantedText = JSON.stringify(wanted)
    const scratch = new TraceScratch()
    const wrong: string[] = []
    for (let size = 1; size <= bytes.length; size++) {
      const got = JSON.stringify(plain(readSnapshot(bytes, inPiecesOf(size), { ...options, scratch })))
      if (got !== wantedText) wrong.push(`chunks of ${size}: ${got}`)
    }
    t.strictSame(wrong.slice(0, 3), [])
    t.end()
  })
}

t.test('fixtures/json/invalid: one fault each, exit code 3, the written message, in chunks of any size', t => {
  const scratch = new TraceScratch()
  for (const { name, bytes, message } of INVALID) {
    const fault = faultOf(() => readSnapshot(bytes, WHOLE, { scratch }))
    t.equal(fault?.message, message, name)
    t.equal(fault?.exitCode, 3, name)
    const wrong: string[] = []
    for (let size = 1; size <= 40; size++) {
      const again = faultOf(() => readSnapshot(bytes, inPiecesOf(size), { scratch }))?.message
      if (again !== message) wrong.push(`chunks of ${size}: ${again ?? 'accepted'}`)
    }
    t.strictSame(wrong.slice(0, 3), [], name)
  }
  t.ok(INVALID.length > 100, 'the table is there')
  t.end()
})

/** Compares a reading with the objects of JSON.parse. */
function compare(t: Test, read: ReadSnapshot, document: Record<string, unknown>, label: string): void {
  const traces = document.traces as Array<Record<string, unknown>>
  const wanted = {
    header: {
      snapshotTime: document.snapshot_time ?? null,
      alignment: document.alignment ?? null,
      synthetic: document.synthetic === true,
      traceCount: traces.length
    },
    traces: traces.map(trace => ({
      fields: {
        step: trace.step ?? null,
        outcome: trace.outcome ?? null,
        score: trace.score ?? null,
        uid: trace.uid ?? null,
        predictionStage: trace.prediction_stage ?? null,
        npz: trace.npz ?? null,
        valueMean: trace.value_mean ?? null,
        valueRmse: trace.value_rmse ?? null
      },
      values: trace.values,
      returns: trace.returns,
      positions: trace.response_positions,
      spans: Array.isArray(trace.segment_texts) ? trace.segment_texts.map(text => Number(String(text).endsWith('<|im_end|>'))) : null
    }))
  }
  const got = {
    header: read.header,
    traces: read.traces.map(({ trace: { fields, values, returns, positions, spans } }) => ({
      fields,
      values: Array.from(values),
      returns: Array.from(returns),
      positions: Array.from(positions),
      spans: spans === null ? null : Array.from(spans.endsWithMarker)
    }))
  }
  // JSON has no -0 when written by JavaScript, and no infinity
  const signs = (_: string, value: unknown): unknown => {
    if (Object.is(value, -0)) return 'minus zero'
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
  }
  t.equal(JSON.stringify(got, signs), JSON.stringify(wanted, signs), label)
}

t.test('random documents: same slices, header and numbers as JSON.parse, for every chunk size and random cuts', t => {
  const random = new Random(seedOf(112131))
  const scratch = new TraceScratch()
  for (let k = 0; k < rounds(150); k++) {
    const { text, places } = randomDocument(random)
    const bytes = utf8(text)
    const document = JSON.parse(text) as Record<string, unknown>
    const whole = readSnapshot(bytes, WHOLE, { scratch, baseOffset: 0 })
    t.strictSame(
      whole.traces.map(({ offset, length }) => ({ offset, length })),
      places,
      `places of document ${k}`
    )
    compare(t, whole, document, `document ${k}`)
    const wanted = JSON.stringify(plain(whole))
    const cuts: Array<readonly [string, Pieces]> =
      k < 2
        ? Array.from({ length: Math.min(bytes.length, 1000) }, (_, n) => [`chunks of ${n + 1}`, inPiecesOf(n + 1)])
        : [3, 40, 600].map(longest => [`random cuts up to ${longest}`, length => random.pieces(length, longest)])
    const read = (pieces: Pieces): string => JSON.stringify(plain(readSnapshot(bytes, pieces, { scratch })))
    const wrong = cuts.filter(([, pieces]) => read(pieces) !== wanted).map(([label]) => label)
    t.strictSame(wrong, [], `document ${k} in pieces`)
  }
  t.end()
})

t.test('offsets count from the base offset', t => {
  const bytes = caseOf('json/valid', 'compact').bytes
  const at = readSnapshot(bytes, WHOLE).traces.map(trace => trace.offset + 34_000_000)
  t.strictSame(
    readSnapshot(bytes, WHOLE, { baseOffset: 34_000_000 }).traces.map(trace => trace.offset),
    at
  )
  const fault = faultOf(() => readSnapshot(utf8('{"traces": [{"values": [1, x]}]}'), WHOLE, { baseOffset: 1e10 }))
  t.equal(fault?.place.offset, 1e10 + 27)
  t.end()
})

// ----------------------------------------------------------------------------------------------- broken documents

const SMALL =
  '{"zeta": {"a": [1, "b\\"]", null]}, "snapshot_time": "t\\u0031", "traces": [{"step": 112, ' +
  '"outcome": "success", "score": -0.0, "uid": "u", "npz": null, ' +
  '"values": [0.5, -1e-07, NaN, 12345, 0.001876, -23.75], "returns": [1.0,1], ' +
  '"response_positions": [ ], "x": {"y": [true, {"z": "}"}]}, "segment_texts": ["a{<|im_end|>", "\\n"]}, ' +
  '{"values": [1], "returns": [-Infinity], "response_positions": [2]}], "synthetic": true, "alignment": null}'

t.test('cut off after any byte: exactly one fault, exit code 3, at the end of the input', t => {
  const bytes = utf8(SMALL)
  const scratch = new TraceScratch()
  t.equal(readSnapshot(bytes, WHOLE, { scratch }).traces.length, 2)
  const faults = Array.from(bytes, (_, length) => {
    const whole = faultOf(() => readSnapshot(bytes.subarray(0, length), WHOLE, { scratch }))
    const single = faultOf(() => readSnapshot(bytes.subarray(0, length), inPiecesOf(1), { scratch }))
    const same = whole?.message === single?.message
    return { problem: whole?.details.problem, exit: whole?.exitCode, at: whole?.place.offset, same }
  })
  t.strictSame(
    faults,
    faults.map((_, length) => ({ problem: 'truncated', exit: 3, at: length, same: true }))
  )
  t.end()
})

/** What the reader should say to a text, from JSON.parse and the rules of the format; null: accept. */
function verdict(text: string): string | null {
  // bare non-finite numbers are values: null stands in for the grammar, a number for the types. In a string nothing
  // changes; what is glued to another token stays glued, so "1NaN" stays wrong.
  const token = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g
  const replace = (by: string): string => text.replace(token, found => (found.startsWith('"') ? found : by))
  try {
    JSON.parse(replace('null'))
  } catch {
    return 'grammar'
  }
  const document = JSON.parse(replace('1e999')) as Record<string, unknown>
  const isText = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string'
  const isNumber = (value: unknown): boolean => value === undefined || value === null || typeof value === 'number'
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return 'root'
  if (!isText(document.snapshot_time) || !isText(document.alignment)) return 'header'
  if (!Array.isArray(document.traces) || document.traces.length === 0) return 'traces'
  for (const trace of document.traces as Array<Record<string, unknown> | null>) {
    if (typeof trace !== 'object' || trace === null || Array.isArray(trace)) return 'trace'
    for (const array of [trace.values, trace.returns, trace.response_positions]) {
      if (!Array.isArray(array) || array.some(value => typeof value !== 'number')) return 'array'
    }
    const { step, outcome, segment_texts: texts } = trace
    if (!isNumber(step) || (typeof step === 'number' && !Number.isSafeInteger(step))) return 'step'
    if (outcome !== undefined && outcome !== null && outcome !== 'success' && outcome !== 'failure') return 'outcome'
    if (!isNumber(trace.score) || !isText(trace.uid) || !isText(trace.npz)) return 'field'
    const areTexts = Array.isArray(texts) && texts.every(x => typeof x === 'string')
    if (texts !== undefined && texts !== null && !areTexts) return 'texts'
  }
  return null
}

t.test('every change of one byte gets the verdict of JSON.parse and the format', t => {
  const bytes = Buffer.from(SMALL, 'latin1')
  const scratch = new TraceScratch()
  const replacements = Buffer.from('\0\t\n\x0b\x1f "\\/{}[]:,.+-0159eEuxnNIftas\x7f\x80\xa0\xbf\xc2\xef\xff', 'latin1')
  let accepted = 0
  let refused = 0
  const wrong: string[] = []
  const judge = (changed: Buffer, label: string): void => {
    // as latin-1, so that JSON.parse judges bytes: what is not ASCII is free in strings and wrong elsewhere
    const wanted = verdict(changed.toString('latin1'))
    const fault = faultOf(() => readSnapshot(changed, WHOLE, { scratch }))
    if ((fault === null) !== (wanted === null)) {
      wrong.push(`${label}: ${wanted ?? 'right'}, but ${fault?.message ?? 'accepted'}`)
    }
    if (fault !== null && fault.exitCode !== 3) wrong.push(`${label}: exit code ${fault.exitCode}`)
    if (wanted === null) accepted++
    else refused++
  }
  judge(bytes, 'unchanged')
  for (let at = 0; at < bytes.length; at++) {
    for (const byte of replacements) {
      const changed = Buffer.from(bytes)
      changed[at] = byte
      judge(changed, `byte ${at} becomes 0x${byte.toString(16)}`)
    }
    judge(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]), `byte ${at} removed`)
    judge(Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at)]), `byte ${at} doubled`)
  }
  t.strictSame(wrong.slice(0, 10), [], `${accepted} accepted, ${refused} refused`)
  t.ok(accepted > 3_000 && refused > 10_000)
  t.end()
})

/** JSON values and near misses; JSON.parse says which is which. */
const VALUES = [
  '0',
  '-0',
  '-1',
  '10',
  '00',
  '01',
  '-01',
  '1.',
  '.1',
  '1.0',
  '-.1',
  '1.5.5',
  '1e5',
  '1E+5',
  '1e-5',
  '1e',
  '1e+',
  '1e5.5',
  '0e0',
  '0x1',
  '1_0',
  '+1',
  '--1',
  '-',
  '1 2',
  '1a',
  '0.0e',
  '1e1e1',
  '123456789012345678901234567890',
  '1.0e+',
  '-a',
  '9.e1',
  'true',
  'false',
  'null',
  'tru',
  'True',
  'nul',
  'nulll',
  'falsey',
  'undefined',
  'nan',
  '-nan',
  'inf',
  'infinity',
  '-infinity',
  '""',
  '"a',
  'a"',
  '"\\"',
  '"\\""',
  '"\\\\"',
  '"\\\\\\"',
  '"\\a"',
  '"\\u12"',
  '"\\u12g4"',
  '"\\u123"',
  '"\\u123z"',
  '"\\u1234"',
  '"\\ud800"',
  '"\\U0041"',
  '"\\x41"',
  '"\t"',
  '"\n"',
  '"\u007f"',
  '"\u2028"',
  '"\\/"',
  '"/"',
  "'a'",
  '"a""b"',
  '"\\u00"',
  '"\\"a"',
  '"é路😀"',
  '"\\\n"',
  '[]',
  '[',
  ']',
  '[1',
  '[1,',
  '[1,]',
  '[,]',
  '[,1]',
  '[1,,2]',
  '[1 2]',
  '[1}',
  '[[]',
  '[[]]',
  '[[],]',
  '[[[1]],[[]]]',
  '[ ]',
  '[\n]',
  '[1]]',
  '["]"]',
  '[true,false]',
  '[1:2]',
  '(1)',
  '[1;2]',
  '[\f1]',
  '[1\u00a0]',
  '[\v]',
  '[/**/]',
  '[1]//',
  '#',
  '[-]',
  '[""',
  '{}',
  '{',
  '}',
  '{"a"}',
  '{"a":}',
  '{"a":1',
  '{"a":1,}',
  '{,}',
  '{"a" 1}',
  '{"a":1 "b":2}',
  '{a:1}',
  '{1:1}',
  '{"a":1]',
  '{"a"::1}',
  '{"a":1,"a":2}',
  '{"a":{"b":{}}}',
  '{"a":[{}]}',
  '{"":1}',
  '{"}":1}',
  '{ }',
  '{null:1}',
  '{"a":1,,"b":2}',
  '{"a",1}',
  '{"a":1;}',
  '{[]:1}',
  '{"a":1}}',
  '{"__proto__":1}',
  '{"a\\":1}',
  '{"a\\"":1}',
  '{"a":{}',
  '[{]}',
  '[{}',
  '{[}]',
  '{"a":[}',
  ''
]

t.test('values in every position: the verdict of JSON.parse', t => {
  const scratch = new TraceScratch()
  const rest = '"values": [1], "returns": [1], "response_positions": [1]'
  const positions: ReadonlyArray<readonly [name: string, make: (value: string) => string]> = [
    ['of an unknown key of the document', v => `{"u": ${v}, "traces": [{${rest}}]}`],
    ['of the label', v => `{"synthetic": ${v}, "traces": [{${rest}}], "synthetic": ${v}}`],
    ['of an unknown key behind the traces', v => `{"traces": [{${rest}}], "u":${v}}`],
    ['deep in the document', v => `{"u": {"v": [0, ${v}]}, "traces": [{${rest}}]}`],
    ['of an unknown key of a trace', v => `{"traces": [{"u":${v},${rest}}]}`],
    ['deep in a trace', v => `{"traces": [{${rest}, "u": [{"w": ${v} }, 0]}]}`]
  ]
  for (const [name, make] of positions) {
    const wrong: string[] = []
    for (const value of VALUES) {
      const text = make(value)
      const wanted = verdict(text)
      for (const pieces of [WHOLE, inPiecesOf(1)]) {
        const fault = faultOf(() => readSnapshot(utf8(text), pieces, { scratch }))
        if ((fault === null) !== (wanted === null)) wrong.push(`${value}: ${fault?.message ?? 'accepted'}`)
      }
    }
    t.strictSame(wrong, [], name)
  }
  t.end()
})

t.test('depth is counted, capped and does not recurse', t => {
  const rest = '"values": [1], "returns": [1], "response_positions": [1]'
  const nested = (n: number): string => '['.repeat(n) + ']'.repeat(n)
  const objects = (n: number): string => '{"a":'.repeat(n) + '1' + '}'.repeat(n)
  const inDocument = (value: string): string => `{"u": ${value}, "traces": [{${rest}}]}`
  const inTrace = (value: string): string => `{"traces": [{${rest}, "u": ${value}}]}`
  const read = (text: string): Fault | null => faultOf(() => readSnapshot(utf8(text), WHOLE))
  const expected = `json too deep: bracket ${MAX_DEPTH + 1}, expected at most ${MAX_DEPTH} open brackets`
  for (const make of [nested, objects]) {
    t.equal(read(inDocument(make(MAX_DEPTH - 1))), null)
    t.match(read(inDocument(make(MAX_DEPTH)))?.message, expected)
    t.equal(read(inTrace(make(MAX_DEPTH - 3))), null)
    const fault = read(inTrace(make(MAX_DEPTH - 2)))
    t.match(fault?.message, expected)
    t.equal(fault?.place.trace, 0)
  }
  const bomb = 1_000_000
  const bombs = [
    inDocument(nested(bomb)),
    inTrace(nested(bomb)),
    inTrace(objects(bomb)),
    inDocument('['.repeat(bomb)),
    inTrace('{'.repeat(bomb))
  ]
  for (const text of bombs) {
    const whole = read(text)
    t.equal(whole?.exitCode, 3)
    const chunks = faultOf(() => readSnapshot(utf8(text), inPiecesOf(60_000)))
    t.equal(chunks?.message, whole?.message)
  }
  const earlier = 'json malformed: "{", expected "}" or a key'
  t.match(read(inTrace('{'.repeat(bomb)))?.message, earlier, 'an earlier fault wins')
  t.end()
})

// --------------------------------------------------------------------------------------------------------- slicing

t.test('a trace has a size limit, checked before it is kept', t => {
  const text = '{"traces": [{"values": [1.25, 2.5], "returns": [1], "response_positions": [1]}]}'
  const size = text.length - 2 - text.indexOf('{"values')
  t.equal(readSnapshot(utf8(text), WHOLE, { maxTraceBytes: size }).traces.length, 1)
  for (const pieces of [WHOLE, inPiecesOf(1), inPiecesOf(9)]) {
    t.equal(
      faultOf(() => readSnapshot(utf8(text), pieces, { maxTraceBytes: size - 1 }))?.message,
      `json too long: a trace, expected at most ${size - 1} bytes (trace 0, byte ${12 + size - 1})`
    )
    t.equal(
      faultOf(() => readSnapshot(utf8(text.replace('2.5', '2.x')), pieces, { maxTraceBytes: size - 1 }))?.message,
      'json malformed: "x", expected a number (trace 0, values, index 1, byte 32)',
      'an earlier fault wins'
    )
  }
  t.end()
})

t.test('kept texts have a size limit, skipped ones and keys do not', t => {
  const long = 'x'.repeat(2 ** 20 + 1)
  const rest = '"values": [1], "returns": [1], "response_positions": [1]'
  const doc = (header: string, trace = ''): Uint8Array => utf8(`{${header}"traces": [{${trace}${rest}}]}`)
  for (const pieces of [WHOLE, inPiecesOf(10_000)]) {
    const skipped = `"u": "${long}", "synthetic": "${long}", "${long}": 1, `
    t.equal(readSnapshot(doc(skipped, skipped), pieces).traces.length, 1)
    t.equal(readSnapshot(doc(`"alignment": "${long.slice(1)}",`), pieces).header.alignment?.length, 2 ** 20)
    t.equal(
      faultOf(() => readSnapshot(doc(`"alignment": "${long}",`), pieces))?.message,
      'json too long: a text, expected at most 1048576 bytes (member alignment, byte 14)'
    )
    t.equal(
      faultOf(() => readSnapshot(doc('', `"uid": "${long}",`), pieces))?.message,
      'json too long: a text, expected at most 1048576 bytes (member uid, trace 0, byte 20)'
    )
  }
  t.end()
})

t.test('complete traces come before the fault, and the fault stays', t => {
  const trace = '{"values": [1], "returns": [1], "response_positions": [1]}'
  const slicer = new TraceSlicer({ keys: DEFAULT_KEYS })
  const slices = slicer.push(utf8(`{"traces": [${trace}, ${trace}, 7, ${trace}]}`))
  t.strictSame(
    slices.map(slice => slice.index),
    [0, 1]
  )
  const expected = { message: 'json wrong type: a number, expected an object (traces, index 2, byte 132)' }
  t.throws(() => slicer.push(utf8(']}')), expected)
  t.throws(() => slicer.end(), expected)
  t.end()
})

t.test('slices are shared buffers hardly larger than their trace; a pool reuses them', t => {
  const trace = (n: number): string => `{"values": [${Array(n).fill('0.25').join(', ')}], "returns": [], "response_positions": []}`
  const text = `{"traces": [${[20_000, 19_900, 100, 19_000].map(trace).join(', ')}]}`
  for (const size of [1000, 65_536, 1e9]) {
    const pool = new SlicePool()
    const slicer = new TraceSlicer({ keys: DEFAULT_KEYS, pool })
    const buffers: unknown[] = []
    for (const [from, to] of inPiecesOf(size)(text.length)) {
      for (const slice of slicer.push(utf8(text.slice(from, to)))) {
        const { buffer, byteLength } = slice.bytes
        t.ok(buffer instanceof SharedArrayBuffer)
        t.ok(buffers.includes(buffer) || buffer.byteLength <= 1.125 * byteLength)
        t.equal(Buffer.from(slice.bytes).toString(), text.slice(slice.offset, slice.offset + byteLength))
        buffers.push(buffer)
        pool.give(slice.bytes)
      }
    }
    t.equal(slicer.end().traceCount, 4)
    // within one push the caller has no chance to give anything back
    t.equal(new Set(buffers).size, size === 1e9 ? 4 : 2)
  }
  t.end()
})

t.test('a scratch is reused: a short trace after a long one keeps nothing of it', t => {
  const scratch = new TraceScratch()
  const options = { keys: DEFAULT_KEYS, endMarker: null, scratch }
  const parse = (text: string, index: number): number[][] => {
    const { values, returns, positions, spans } = parseTrace({ index, offset: 0, bytes: utf8(text) }, options)
    return [Array.from(values), Array.from(returns), Array.from(positions), Array.from(spans?.endsWithMarker ?? [9])]
  }
  const many = Array.from({ length: 10_000 }, (_, k) => k / 8)
  const texts = Array(3_000).fill('""').join()
  const array = `[${many}]`
  const long = `{"values": ${array}, "returns": ${array}, "response_positions": ${array}, "segment_texts": [${texts}]}`
  t.strictSame(parse(long, 0), [many, many, many, Array(3_000).fill(0)])
  const short = '{"values": [5], "returns": [], "response_positions": [7, 8]}'
  t.strictSame(parse(short, 1), [[5], [], [7, 8], [9]])
  const message = 'json malformed: byte 0x20, expected the end of the trace (trace 1, byte 60)'
  t.throws(() => parse(`${short} `, 1), { message })
  t.end()
})

t.test('a key mapping that gives one key two meanings is refused as usage', t => {
  const text = utf8('{"traces": [{"values": [1], "returns": [1], "response_positions": [1]}]}')
  for (const [keys, names] of [
    [{ returns: 'values' }, '"values" for values and returns'],
    [{ alignment: 'traces' }, '"traces" for alignment and traces']
  ] as const) {
    const fault = faultOf(() => readSnapshot(text, WHOLE, { keys: { ...DEFAULT_KEYS, ...keys } }))
    t.equal(fault?.message, `json key mapping ambiguous: ${names}, expected a key of its own for each`)
    t.equal(fault?.exitCode, 2)
  }
  // the header's keys and a trace's do not meet
  t.equal(readSnapshot(text, WHOLE, { keys: { ...DEFAULT_KEYS, alignment: 'values' } }).traces.length, 1)
  t.end()
})

const TRACE = '{"values": [1], "returns": [1], "response_positions": [1]}'

/** Where the label stands, how it is spelt, and what is none. */
const LABELS: ReadonlyArray<readonly [label: boolean, text: string, keys?: Partial<SnapshotKeys>]> = [
  [true, `{"synthetic": true, "traces": [${TRACE}]}`],
  [true, `{"traces": [${TRACE}, ${TRACE}], "alignment": "a", "synthetic":true}`],
  [true, `{"traces": [${TRACE}], "synthetic"\n:\t true , "snapshot_time": null}`],
  [true, `{"s\\u0079nth\\u0065tic": true, "traces": [${TRACE}]}`],
  [true, `{"\\u0073\\u0079\\u006e\\u0074\\u0068\\u0065\\u0074\\u0069\\u0063": true, "traces": [${TRACE}]}`],
  [false, `{"synthetic": false, "traces": [${TRACE}]}`],
  [false, `{"traces": [${TRACE}]}`],
  // stated twice: one true is enough, whatever the other says
  [true, `{"synthetic": true, "synthetic": false, "traces": [${TRACE}]}`],
  [true, `{"synthetic": false, "traces": [${TRACE}], "synthetic": true}`],
  [true, `{"synthetic": true, "traces": [${TRACE}], "synthetic": {"share": 1}}`],
  [false, `{"synthetic": false, "synthetic": false, "traces": [${TRACE}]}`],
  // another trainer's own key: skipped like any that is unknown
  ...['"true"', '1', '-Infinity', 'NaN', 'null', '[true]', '{"synthetic": true}', '[{"synthetic": [true, "x"]}]', '""', '{}'].map(
    (value): readonly [boolean, string] => [false, `{"synthetic": ${value}, "traces": [${TRACE}], "u": true}`]
  ),
  // of the same name elsewhere
  [false, `{"traces": [${TRACE.replace('{', '{"synthetic": true, ')}, ${TRACE.replace('}', ', "synthetic": true}')}]}`],
  [false, `{"u": {"synthetic": true}, "v": [{"synthetic": true}, true], "traces": [${TRACE}]}`],
  [false, `{"Synthetic": true, "synthetic ": true, "synthetics": true, "\\\\u0073ynthetic": true, "traces": [${TRACE}]}`],
  [false, `{"u": "synthetic", "v": "\\"synthetic\\": true", "traces": [${TRACE}]}`],
  // renamed
  [true, `{"généré": true, "synthetic": false, "traces": [${TRACE}]}`, { synthetic: 'généré' }],
  [false, `{"synthetic": true, "traces": [${TRACE}]}`, { synthetic: 'generated' }],
  [true, `{"values": true, "traces": [${TRACE}]}`, { synthetic: 'values' }]
]

t.test('a page is synthetic where its outermost object says true, in chunks of every size', t => {
  const scratch = new TraceScratch()
  for (const [label, text, keys] of LABELS) {
    const bytes = utf8(text)
    const options: ReadOptions = { keys: { ...DEFAULT_KEYS, ...keys }, scratch }
    const sizes = Array.from(bytes, (_, i) => i + 1)
    const wrong = sizes.filter(size => readSnapshot(bytes, inPiecesOf(size), options).header.synthetic !== label)
    t.strictSame(wrong, [], `${String(label)}: ${text}`)
  }
  const inside = faultOf(() => readSnapshot(utf8('{"synthetic": {"a": tru}, "traces": []}'), WHOLE))
  t.equal(inside?.message, 'json malformed: "}", expected true (member synthetic, byte 23)')
  t.end()
})

t.test('ends of texts are judged as decoded, however they are escaped', t => {
  const random = new Random(seedOf(3))
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  const short: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '/': '\\/' }
  const spell = (text: string): string =>
    text
      .split('')
      .map(unit => {
        if (random.chance(0.2)) return escaped(unit)
        const plain = unit >= ' ' && unit !== '"' && unit !== '\\' && !/[\ud800-\udfff]/.test(unit)
        return plain && random.chance(0.9) ? unit : (short[unit] ?? (plain ? unit : escaped(unit)))
      })
      .join('')
  const markers = ['<|im_end|>', '', '>', '\\', '"', 'n>', '\n', '路', '😀', '\\n', 'u003e', '3e', '\\\\', '</s>', '\u001f', '\ude00', 'é"']
  const pieces = [...markers, 'x', ' ', '\\', '<|im_end|', '\\u003e', 'n', '0', '\ud83d', '\ufffd', 'a'.repeat(29)]
  const counts = [0, 0]
  const wrong: string[] = []
  for (const text of markers) {
    const marker = new EndMarker(text)
    for (let k = 0; k < rounds(1_500); k++) {
      const raw = spell(Array.from({ length: random.below(5) }, () => random.pick(pieces)).join(''))
      const bytes = Buffer.from(`"${raw}"`)
      const wanted = (JSON.parse(bytes.toString()) as string).endsWith(text)
      counts[Number(wanted)]++
      if (marker.ends(bytes, 1, bytes.length - 1) !== wanted) wrong.push(`${bytes} ends with ${JSON.stringify(text)}`)
    }
  }
  t.strictSame(wrong.slice(0, 5), [])
  t.ok(counts[0] > 1_000 && counts[1] > 1_000, `${counts[0]} do not, ${counts[1]} do`)
  t.end()
})
