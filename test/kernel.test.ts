/** The compiled loops against the same questions asked in plain JavaScript, at every length around their strides. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Status, type Comparable } from '../src/kernel/kernel.js'
import { kernelOfThread, openKernel } from '../src/kernel/open.js'
import { PlainKernel } from '../src/kernel/plain.js'
import { root } from './support/paths.js'
import { Random } from './support/random.js'

const kernel = kernelOfThread()
const LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33]

/** A stored array of every kind that is compared, and the doubles that it holds. */
const KINDS: ReadonlyArray<readonly [name: string, stored: (n: number) => Comparable, other: number | bigint]> = [
  ['float32', n => Float32Array.from({ length: n }, (_, i) => (i % 3 === 0 ? -1 : 1) * 1.1 ** i), 0.3],
  ['int64', n => BigInt64Array.from({ length: n }, (_, i) => (i % 2 === 0 ? -1n : 1n) * (2n ** 53n - 1n - BigInt(i))), 5n]
]

t.test('the first difference is found at every index of every length, for every stored kind', t => {
  for (const [name, make, other] of KINDS) {
    const wrong: string[] = []
    for (const n of LENGTHS) {
      const same = make(n)
      const doubles = Float64Array.from(same as ArrayLike<number | bigint>, Number)
      if (kernel.difference(doubles, same) !== -1) wrong.push(`${n}: a difference in equal arrays`)
      for (let i = 0; i < n; i++) {
        const stored = make(n)
        stored[i] = other
        stored[n - 1] = other
        if (kernel.difference(doubles, stored) !== i) wrong.push(`${n}: not at ${i}`)
      }
    }
    t.strictSame(wrong, [], name)
  }
  t.end()
})

t.test('equal as numbers: NaN equals nothing, 0 equals -0, and a bit is a difference', t => {
  t.equal(kernel.difference(Float64Array.of(1, NaN), Float32Array.of(1, NaN)), 1)
  t.equal(kernel.difference(Float64Array.of(NaN), Float32Array.of(NaN)), 0)
  t.equal(kernel.difference(Float64Array.of(0, -0, 1), Float32Array.of(-0, 0, 1)), -1)
  t.equal(kernel.difference(Float64Array.of(0, -0, 1), Float32Array.of(-0, 0, 1 + 2 ** -23)), 2)
  t.equal(kernel.difference(Float64Array.of(-0), BigInt64Array.of(0n)), -1)
  t.equal(kernel.difference(Float64Array.of(2 ** 53 - 1), BigInt64Array.of(2n ** 53n)), 0)
  t.end()
})

interface Arrays {
  readonly values: Float64Array
  readonly returns: Float64Array
  readonly positions: Float64Array
}

function isSound({ values, returns, positions }: Arrays): boolean {
  return (
    [...values, ...returns].every(Number.isFinite) &&
    positions.every((p, i) => Number.isSafeInteger(p) && (i === 0 || p > positions[i - 1]))
  )
}

t.test('soundness is what the invariants say, with one number spoilt at a time', t => {
  const spoils: ReadonlyArray<readonly [keyof Arrays, number]> = [
    ...[NaN, Infinity, -Infinity, -0, 5e-324, 1.7976931348623157e308].flatMap(
      x =>
        [
          ['values', x],
          ['returns', x]
        ] as const
    ),
    ...[NaN, Infinity, -Infinity, -0, 0.5, 2 ** 53, -(2 ** 53), 2 ** 53 - 1, -(2 ** 53) + 1, 3, 4].map(x => ['positions', x] as const)
  ]
  let sound = 0
  const wrong: string[] = []
  for (const n of LENGTHS) {
    for (let i = 0; i < n; i++) {
      for (const [array, x] of spoils) {
        const arrays: Arrays = {
          values: Float64Array.from({ length: n }, (_, k) => k / 7),
          returns: new Float64Array(n),
          positions: Float64Array.from({ length: n }, (_, k) => 3 * k - 7)
        }
        arrays[array][i] = x
        const wanted = isSound(arrays)
        if (wanted) sound++
        if (kernel.sound(arrays.values, arrays.returns, arrays.positions) !== wanted) wrong.push(`${n}, ${array}[${i}] = ${x}`)
      }
    }
  }
  t.strictSame(wrong, [])
  t.ok(sound > 500, 'some stay sound')
  t.end()
})

t.test('boundaries are where positions do not go up by one', t => {
  const random = new Random(20)
  for (const n of LENGTHS) {
    for (let round = 0; round < 20; round++) {
      const positions = new Float64Array(n)
      for (let i = 1; i < n; i++) positions[i] = positions[i - 1] + (random.below(3) === 0 ? 1 + random.below(5) : 1)
      const wanted = Array.from({ length: n - 1 }, (_, i) => i).filter(i => positions[i + 1] - positions[i] !== 1)
      const got = [...kernel.boundaries(positions)]
      if (String(got) !== String(wanted)) t.strictSame(got, wanted)
    }
  }
  t.end()
})

t.test('what types cannot say is refused, not computed with', t => {
  const of = (...x: number[]): Float64Array => Float64Array.from(x)
  t.throws(() => kernel.measure(of(), of(), new Int32Array(0), 0.1, 1), RangeError)
  t.throws(() => kernel.measure(of(1, 2, 3), of(1), new Int32Array(0), 0.1, 1), RangeError)
  t.throws(() => kernel.sound(of(), of(), of()), RangeError)
  t.throws(() => kernel.sound(of(1), of(1), of(1, 2)), RangeError)
  t.throws(() => kernel.difference(of(1, 2), Float32Array.of(1)), RangeError)
  t.throws(() => kernel.boundaries(Float32Array.of(1, 2, 4) as unknown as Float64Array), TypeError)
  t.equal(kernel.difference(of(), Float32Array.of()), -1)
  t.strictSame([...kernel.boundaries(of())], [])
  t.end()
})

t.test('without WebAssembly, every loop that may decline declines everything', t => {
  const one = Float64Array.of(1)
  for (const own of [openKernel(), new PlainKernel()]) {
    const plain = own instanceof PlainKernel
    const load = (text: string): void => {
      own.begin(64).fill(0).set(Buffer.from(text))
    }
    load('1, 2]')
    t.strictSame([own.numbers(0, 3), own.status, own.count], plain ? [0, Status.Odd, 3] : [5, Status.Closed, 5])
    load('"a"]')
    own.marker = new Uint8Array(0)
    t.strictSame([own.texts(0, 3), own.status, own.count], plain ? [0, Status.Odd, 3] : [4, Status.Closed, 4])
    t.equal(own.sound(one, one, one), !plain)
    t.equal(own.difference(one, Float32Array.of(1)), plain ? 0 : -1)
  }
  t.end()
})

t.test('without WebAssembly, the other loops give the same bits', t => {
  const random = new Random(7)
  const plain = new PlainKernel()
  const bits = (results: Float64Array): string => Buffer.from(results.buffer, results.byteOffset, results.byteLength).toString('hex')
  const differ: string[] = []
  for (let round = 0; round < 300; round++) {
    const n = 1 + random.below(60)
    // Magnitudes that cancel, so that the low parts of the sums count.
    const number = (): number => (random.unit() - 0.5) * 10 ** (random.below(33) - 16)
    const values = Float64Array.from({ length: n }, number)
    const returns = Float64Array.from({ length: n }, (_, i) => (random.below(4) === 0 ? values[i] : random.below(2)))
    const positions = new Float64Array(n)
    for (let i = 1; i < n; i++) positions[i] = positions[i - 1] + 1 + (random.below(3) === 0 ? random.below(9) : 0)
    const marks = kernel.boundaries(positions)
    if (String(plain.boundaries(positions)) !== String(marks)) differ.push(`boundaries ${round}`)
    const of = [values, returns, marks, 10 ** (random.below(9) - 6), random.below(2)] as const
    if (bits(plain.measure(...of)) !== bits(kernel.measure(...of))) differ.push(`measure ${round}`)
    const alphabet = Buffer.from('<</!x"\\\\{{}} ')
    const bytes = Uint8Array.from({ length: n }, () => alphabet[random.below(alphabet.length)])
    const from = random.below(n)
    if (plain.nextTag(bytes, from) !== kernel.nextTag(kernel.hold(bytes), from)) differ.push(`nextTag ${round}`)
    const marked = [0, 0].map(() => ({ depth: 1 + (round % 3), state: round % 2 }))
    const ends = [plain.skim(bytes, from, marked[0]), kernel.skim(kernel.hold(bytes), from, marked[1])]
    if (ends[0] !== ends[1] || JSON.stringify(marked[0]) !== JSON.stringify(marked[1])) differ.push(`skim ${round}`)
  }
  t.strictSame(differ, [])
  t.end()
})

t.test('without WebAssembly, what is taken stays as it is until begin, also beyond the memory', t => {
  const own = new PlainKernel()
  own.begin(16)
  const all = [1, 100, 64, 30 * 2 ** 20, 8].map((length, i) => own.take(length).fill(i))
  for (const [i, bytes] of all.entries()) {
    t.equal(bytes.byteOffset % 8, 0)
    t.ok(bytes.every(byte => byte === i))
  }
  const mark = own.used
  own.take(10)
  own.release(mark)
  t.equal(own.used, mark)
  own.begin(16)
  t.equal(own.take(100).buffer, own.take(30 * 2 ** 20).buffer, 'one memory, as large as was needed')
  t.ok(own.doubles().length >= 0)
  t.end()
})

t.test('the source map, beside what is published, knows every module of the loops', t => {
  const wasm = new URL('../src/kernel/kernel.wasm', import.meta.url)
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(readFileSync(wasm)), 'sourceMappingURL')
  // behind the length of the text, one byte
  const url = Buffer.from(section).toString('latin1', 1)
  const { sources } = JSON.parse(readFileSync(new URL(url, wasm), 'utf8')) as { sources: string[] }
  const modules = readdirSync(join(root, 'src/kernel/assembly'))
    .filter(file => file.endsWith('.ts'))
    .map(file => `src/kernel/assembly/${file}`)
  t.strictSame(sources.filter(path => path.startsWith('src/')).sort(), modules.sort())
  t.end()
})

t.test('addresses beyond 2 GiB are not negative', t => {
  const own = openKernel()
  own.begin(0)
  own.take(2 ** 31)
  const bytes = Buffer.from('{"a": "}"} </script>')
  t.equal(own.skim(own.hold(bytes), 0, { depth: 0, state: 0 }), 10)
  t.equal(own.nextTag(own.hold(bytes), 0), 11)
  t.end()
})

/** The index behind the brace that closes the last of `depth`, a byte at a time. */
function plainSkim(bytes: Uint8Array, from: number, depth: number): number {
  let state: 'outside' | 'inside' | 'escaped' = 'outside'
  for (let i = from; i < bytes.length; i++) {
    const char = String.fromCharCode(bytes[i])
    if (state === 'escaped') state = 'inside'
    else if (char === '"') state = state === 'inside' ? 'outside' : 'inside'
    else if (state === 'inside') state = char === '\\' ? 'escaped' : 'inside'
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return i + 1
  }
  return -1
}

t.test('a byte that matters is found at every distance, among bytes beyond ASCII and above the letters', t => {
  const wrong: string[] = []
  const filling = Buffer.from('0.5, ~|\x7f\x80\xff-1 ', 'latin1')
  for (const mark of ['}', '{}}', '"}"}', '"\\"}"}', '{"a": "\\\\"}}', '</', '<!', '<b', '<']) {
    for (let before = 0; before < 150; before++) {
      for (const behind of [0, 1, 17, 64, 70]) {
        const bytes = Buffer.alloc(before + mark.length + behind)
        for (let i = 0; i < bytes.length; i++) bytes[i] = filling[i % filling.length]
        bytes.write(mark, before, 'latin1')
        kernel.begin(0)
        const held = kernel.hold(bytes)
        const tag = bytes.findIndex(
          (byte, i) => byte === 0x3c && (i === bytes.length - 1 || bytes[i + 1] === 0x2f || bytes[i + 1] === 0x21)
        )
        if (kernel.nextTag(held, 0) !== tag) wrong.push(`nextTag: ${mark} at ${before} before ${behind}`)
        if (kernel.skim(held, 0, { depth: 1, state: 0 }) !== plainSkim(bytes, 0, 1))
          wrong.push(`skim: ${mark} at ${before} before ${behind}`)
      }
    }
  }
  t.strictSame(wrong, [])
  t.end()
})

t.test('a copy is aligned and has the bytes, whatever lies where', t => {
  const outside = Uint8Array.from({ length: 100 }, (_, i) => 7 * i)
  kernel.begin(0)
  const inside = kernel.take(100)
  inside.set(outside)
  for (const source of [outside, inside]) {
    for (let from = 0; from < 9; from++) {
      const copy = kernel.copy(source.subarray(from, 91 + from))
      t.equal(copy.byteOffset % 8, 0)
      t.strictSame(Array.from(copy), Array.from(outside.subarray(from, 91 + from)))
    }
  }
  t.end()
})

t.test('a text is read at every phase', t => {
  const own = openKernel()
  own.fillTables({ POWERS: new Float64Array(64).fill(1), POWER_HIGH: new Float64Array(129), POWER_LOW: new Float64Array(129) })
  for (let phase = 0; phase < 8; phase++) {
    const bytes = own.begin(64, phase).fill(0)
    bytes.write('[12, -3]', 'latin1')
    t.equal(bytes.byteOffset % 8, phase)
    t.equal(own.numbers(1, 0), 8)
    t.strictSame([own.status, own.count, ...own.doubles().subarray(0, 2)], [Status.Closed, 2, 12, -3])
  }
  t.end()
})

t.test('what lies at the end of a page of memory is read like all else', t => {
  for (const rest of [0, 8, 16, 24]) {
    const own = openKernel()
    own.begin(0)
    const bytes = own.take(2 * 65_536 - own.used - rest).fill(0x20)
    bytes.set(Buffer.from('<'), bytes.length - 1)
    t.equal(own.nextTag(bytes, 0), bytes.length - 1)
    t.equal(own.skim(bytes, 0, { depth: 1, state: 0 }), -1)
  }
  t.end()
})

t.test('memory grows under its views, is free again behind begin, and has an end', t => {
  const own = openKernel()
  own.begin(16)
  const first = own.take(100).fill(7)
  const large = own.take(30 * 2 ** 20).fill(9)
  t.ok(
    first.every(byte => byte === 7),
    'a view from before the growth'
  )
  first[0] = 1
  t.equal(large.byteOffset % 8, 0)
  t.equal(own.difference(new Float64Array(large.buffer, large.byteOffset, 4).fill(0.5), Float32Array.of(0.5, 0.5, 0.5, 0.5)), -1)
  own.begin(16)
  t.equal(own.take(100).byteOffset, first.byteOffset, 'used again')
  t.throws(() => own.take(2 ** 32), {
    message: /^trace too large: \d+ bytes of memory needed, expected a trace that fits in the 4 GiB of the compiled loops$/,
    exitCode: 3
  })
  t.throws(() => own.begin(2 ** 30), /^trace too large/)
  t.end()
})

/** Every lane, block and tail of the loops of the bootstrap: units around a block of eight, resamples around a vector of two. */
t.test('weighted sums have the bits of the same additions in plain JavaScript', t => {
  const random = new Random(11)
  for (const units of [1, 2, 7, 8, 9, 16, 17, 129, 137]) {
    const columns = 1 + random.below(9)
    const width = 2 * (1 + random.below(4))
    const padded = 8 * Math.ceil(units / 8)
    // Behind the last unit rows are 0.
    const number = (unit: number): number => (unit < units ? (random.unit() - 0.5) * 10 ** random.below(8) : 0)
    const table = Array.from({ length: padded }, (_, unit) => Array.from({ length: columns }, () => number(unit)))
    const rows = new Float64Array(padded * columns)
    table.forEach((row, i) => row.forEach((x, c) => (rows[Math.floor(i / 8) * 8 * columns + 8 * c + (i % 8)] = x)))
    const order = Int32Array.from({ length: units }, (_, i) => units - 1 - i)
    const counts = Uint16Array.from({ length: units * width }, () => random.below(4))
    const blocks = Int32Array.from({ length: padded / 8 + 1 }, (_, i) => i * 8 * columns)
    const wrong: string[] = []
    for (const own of [kernel, new PlainKernel()]) {
      const sums = own.addRows({ rows, order, blocks, columns }, { counts, width })
      for (let b = 0; b < width; b++) {
        for (let c = 0; c < columns; c++) {
          let sum = 0
          for (let u = 0; u < padded; u += 8) {
            const [p0, p1, p2, p3, p4, p5, p6, p7] = Array.from(
              { length: 8 },
              (_, i) => (counts[order[Math.min(u + i, units - 1)] * width + b] ?? 0) * table[u + i][c]
            )
            sum += p0 + p1 + (p2 + p3) + (p4 + p5 + (p6 + p7))
          }
          const found = sums[(b - (b % 2)) * columns + 2 * c + (b % 2)]
          if (!Object.is(found, sum)) wrong.push(`${units} units, resample ${b}, column ${c}: ${found}, expected ${sum}`)
        }
      }
    }
    t.strictSame(wrong, [], `${units} units, ${width} resamples`)
  }
  t.end()
})

t.test('pairs are those that two loops over all traces count, with ties and groups', t => {
  const random = new Random(12)
  for (const n of [1, 2, 3, 8, 40]) {
    const width = 2 * (1 + random.below(3))
    const traces = Array.from({ length: n }, () => ({
      unit: random.below(n),
      group: random.below(3),
      score: random.below(4),
      good: random.chance(0.5)
    }))
    traces.sort((a, b) => a.group - b.group || a.score - b.score)
    const flags = Uint8Array.from(traces, ({ group, score, good }, i) => {
      const next = traces[i + 1]
      const ends = next?.group !== group
      return (ends || next.score !== score ? 1 : 0) + (ends ? 2 : 0) + (good ? 4 : 0)
    })
    const counts = Uint16Array.from({ length: n * width }, () => random.below(4))
    const units = Int32Array.from(traces, ({ unit }) => unit)
    const expected = new Float64Array(2 * width)
    for (let b = 0; b < width; b++) {
      for (const good of traces.filter(trace => trace.good)) {
        for (const bad of traces.filter(trace => !trace.good && trace.group === good.group)) {
          const pairs = counts[good.unit * width + b] * counts[bad.unit * width + b]
          expected[b] += pairs
          expected[width + b] += pairs * (good.score > bad.score ? 2 : good.score === bad.score ? 1 : 0)
        }
      }
    }
    for (const own of [kernel, new PlainKernel()]) {
      t.strictSame([...own.countPairs(units, flags, { counts, width })], [...expected], `${n} traces, ${width} resamples`)
    }
  }
  t.end()
})
