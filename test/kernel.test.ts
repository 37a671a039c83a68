/** The compiled loops against the same questions asked in plain JavaScript, at every length around their strides. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Kernel, kernelOfThread, Status, type Comparable } from '../src/kernel/kernel.js'
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

t.test('forced to, every loop that may decline declines everything', t => {
  const own = new Kernel()
  const text = Buffer.from('1, 2]')
  const load = (): void => {
    own.begin(64).fill(0).set(text)
  }
  const one = Float64Array.of(1)
  for (const forced of [false, true, false]) {
    own.forceGeneralScanners(forced)
    load()
    t.strictSame([own.numbers(0, 3), own.status, own.count], forced ? [0, Status.Odd, 3] : [5, Status.Closed, 5])
    text.set(Buffer.from('"a"]'))
    load()
    own.marker = new Uint8Array(0)
    t.strictSame([own.texts(0, 3), own.status, own.count], forced ? [0, Status.Odd, 3] : [4, Status.Closed, 4])
    text.set(Buffer.from('1, 2]'))
    t.equal(own.sound(one, one, one), !forced)
    t.equal(own.difference(one, Float32Array.of(1)), forced ? 0 : -1)
  }
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
  const own = new Kernel()
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
  const own = new Kernel()
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
    const own = new Kernel()
    own.begin(0)
    const bytes = own.take(2 * 65_536 - own.used - rest).fill(0x20)
    bytes.set(Buffer.from('<'), bytes.length - 1)
    t.equal(own.nextTag(bytes, 0), bytes.length - 1)
    t.equal(own.skim(bytes, 0, { depth: 1, state: 0 }), -1)
  }
  t.end()
})

t.test('memory grows under its views, is free again behind begin, and has an end', t => {
  const own = new Kernel()
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
