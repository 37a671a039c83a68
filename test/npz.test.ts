/**
 * The NPZ and NPY reader and writer, against real numpy: files that it wrote (fixtures/npz, made by make.py there), files
 * of public repositories with numpy's reading of each, and numpy's own bytes for what the writer writes.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import * as fflate from 'fflate'
import npyjs from 'npyjs'
import t from 'tap'
import { EXIT, Fault } from '../src/core/errors.js'
import { asFloat64, isText, rawNpyParts, readNpy, type NpyArray, type NpyData } from '../src/ingest/npz/npy.js'
import { openNpz } from '../src/ingest/npz/npz.js'
import { saysSynthetic } from '../src/ingest/traces/npz-fields.js'
import {
  encodeNpy,
  encodeNpyBool,
  encodeNpyFloat,
  encodeNpyHeader,
  encodeNpyInt,
  encodeNpyText,
  npyParts,
  NpzWriter
} from '../src/ingest/npz/write.js'
import { readZipDirectory } from '../src/ingest/zip/zip.js'
import { DEFAULT_KEYS } from '../src/schema/traces.js'
import { archive, bomb, idleBits, type Member } from './support/archives.js'
import { expectedOf, faultOf, load, readAll, sameData, sha256, VALID, words } from './support/npz-fixtures.js'
import { caseOf, casesOf, type Case } from './support/cases.js'
import { fixture } from './support/paths.js'
import { parseArchiveReading, parseArrayReading, parseWord, type ArrayReading } from './support/numpy-text.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CASES = process.env.CRITIC_TRACES_CASES ?? join(ROOT, '../shared/cases')
const INVALID = casesOf<{ readonly message: string }>('npz/invalid')

/** Files that lie beside a table, or in its folder, and are no case of it. */
function filesWithoutCase(folder: string, cases: readonly Case[]): string[] {
  return readdirSync(fixture(folder)).filter(name => /\.np[yz]$/.test(name) && !cases.some(one => one.name === name))
}

t.test('files that numpy wrote', async t => {
  t.ok(VALID.length >= 31, `${VALID.length} files`)
  t.same(filesWithoutCase('npz', VALID), [])
  for (const { name, bytes, arrays: expected } of VALID) {
    const arrays = readAll(name, bytes.slice())
    t.same([...arrays.keys()], Object.keys(expected), `${name}: names in order`)
    for (const [key, want] of Object.entries(expected)) {
      const array = arrays.get(key)!
      const label = `${name} ${key}`
      t.same([array.descr, array.fortranOrder, array.shape], [want.descr, want.fortran_order, want.shape], `${label}: header`)
      const isFloat = /f\d/.test(want.descr)
      const wanted = want.data.map(w => (isFloat ? parseWord(w) : w))
      const got = words(array)
      const differs = got.findIndex((v, i) => !Object.is(v, wanted[i]))
      t.equal(
        differs < 0 && got.length === wanted.length ? 'equal' : `${differs}: ${got[differs]} for ${wanted[differs]}`,
        'equal',
        `${label}: elements`
      )
      t.equal(sha256(array.raw), want.raw_sha256, `${label}: raw bytes`)
      t.equal(sha256(...rawNpyParts(array)), want.resaved_sha256, `${label}: as numpy saves it in C order`)
    }
  }
})

t.test('files that are refused, with the message of each', async t => {
  t.ok(INVALID.length >= 115, `${INVALID.length} files`)
  t.same(filesWithoutCase('npz/invalid', INVALID), [])
  for (const { name, bytes, message } of INVALID) {
    const fault = faultOf(() => readAll(name, bytes))
    t.equal(fault.message, message, name)
    t.equal(fault.exitCode, EXIT.badInput, `${name}: exit code`)
  }
})

t.test('an object member is refused when it is read, the others are not', async t => {
  const npz = openNpz(caseOf('npz/invalid', 'object.npz').bytes, { file: 'object.npz' })
  t.same(npz.names, ['values', 'extra'])
  t.same(npz.read('values').data, Float32Array.of(0, 1, 2))
  t.equal(npz.has('extra'), true)
  t.match(faultOf(() => npz.read('extra')).message, /object array.*never evaluated/)
  t.match(faultOf(() => npz.header('extra')).message, /object array/)
})

t.test('a label is a 0-d bool that is true; what else goes by its name is not read', async t => {
  const raw = (descr: string, shape: readonly number[], ...data: number[]): Uint8Array =>
    Buffer.concat([encodeNpyHeader(descr, shape), Buffer.from(data)])
  const cases: ReadonlyArray<readonly [what: string, label: boolean, npy: Uint8Array | null]> = [
    ['true', true, encodeNpyBool(true)],
    ['false', false, encodeNpyBool(false)],
    ['none', false, null],
    ['a byte that numpy takes for true', true, raw('|b1', [], 2)],
    ['as old numpy spelt it', true, raw('b1', [], 1)],
    ['one bool in a list', false, raw('|b1', [1], 1)],
    ['no bool', false, raw('|b1', [0])],
    ['a byte', false, raw('|u1', [], 1)],
    ['an integer', false, encodeNpyInt(1)],
    ['a number', false, encodeNpyFloat(1)],
    ['a text', false, encodeNpyText('true')],
    ['a pickled object', false, raw('|O', [], 0x80, 4, 0x88, 0x2e)],
    ['no array', false, Buffer.from('true')],
    ['nothing', false, Buffer.from('')]
  ]
  for (const [what, label, npy] of cases) {
    for (const deflate of [false, true]) {
      const npz = openNpz(
        await archive([['values', encodeNpyFloat(1)], ...(npy === null ? [] : [['synthetic', npy, { deflate }] satisfies Member])])
      )
      t.equal(saysSynthetic(npz, DEFAULT_KEYS), label, what)
    }
  }
  const renamed = openNpz(
    await archive([
      ['generated', encodeNpyBool(true)],
      ['synthetic', encodeNpyBool(false)]
    ])
  )
  t.equal(saysSynthetic(renamed, { ...DEFAULT_KEYS, synthetic: 'generated' }), true)
  const broken = await archive([['synthetic', encodeNpyBool(true)]])
  broken[30 + 'synthetic.npy'.length + 20 + encodeNpyBool(true).length - 1] ^= 1
  t.match(faultOf(() => saysSynthetic(openNpz(broken), DEFAULT_KEYS)).message, /CRC/, 'a label whose bytes changed is no false')
})

t.test('names', async t => {
  const npz = openNpz(load('odd-names.npz'), { file: 'x.npz' })
  t.same(npz.names, ['../outside', 'a/b', 'C:\\x', 'naïve 漢', '', 'bare'], 'text, never paths')
  t.equal(npz.has('values'), false)
  t.equal(
    faultOf(() => npz.read('values')).message,
    "npz missing array: only ../outside, a/b, C:\\x, naïve 漢, , bare, expected an array 'values' (x.npz)"
  )
  t.equal(
    faultOf(() => openNpz(load('empty-archive.npz')).header('values')).message,
    "npz missing array: an empty archive, expected an array 'values'"
  )
})

t.test('header() tells shape and dtype before anything else is inflated', async t => {
  for (const name of ['trace-stored.npz', 'trace-deflated.npz', 'dtypes-big-f.npz', 'versions.npz', 'empty-shapes.npz']) {
    const npz = openNpz(load(name))
    for (const [key, want] of Object.entries(expectedOf(name))) {
      const { descr, shape, fortranOrder, count } = npz.header(key)
      t.same([descr, shape, fortranOrder, count], [want.descr, want.shape, want.fortran_order, want.data.length], `${name} ${key}`)
    }
  }
})

t.test('header() of a damaged member speaks of its header alone; read() behind it checks all that read() checks', async t => {
  const npy = encodeNpy(Float64Array.of(0.5, -1, 3))
  const bytes = await archive([
    ['values', npy, { deflate: true }],
    ['flag', encodeNpyBool(true)]
  ])
  const outcome = (run: () => unknown): unknown => {
    try {
      return run()
    } catch (error) {
      if (error instanceof Fault) return error.message
      throw error
    }
  }
  const wrong: string[] = []
  let kept = 0
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    bytes[bit >> 3] ^= 1 << (bit & 7)
    const opened = outcome(() => openNpz(bytes, { file: 'x.npz' }))
    if (typeof opened !== 'string') {
      for (const name of ['values', 'flag']) {
        const alone = outcome(() => openNpz(bytes, { file: 'x.npz' }).readFile(name))
        const npz = openNpz(bytes, { file: 'x.npz' })
        const header = outcome(() => npz.header(name))
        if (JSON.stringify(outcome(() => npz.header(name))) !== JSON.stringify(header)) wrong.push(`bit ${bit}, ${name}: another header`)
        for (const time of ['first', 'second']) {
          const behind = outcome(() => npz.readFile(name))
          if (JSON.stringify(behind, plain) !== JSON.stringify(alone, plain)) wrong.push(`bit ${bit}, ${name}, ${time}`)
        }
        if (typeof header !== 'string' && typeof alone === 'string') kept++
      }
    }
    bytes[bit >> 3] ^= 1 << (bit & 7)
  }
  t.same(wrong, [])
  t.ok(kept > 100, `${kept} members with a header and broken elements`)
})

/** Typed arrays as lists, bigints as text. */
function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value
}

t.test('half floats: all 65,536', async t => {
  const halves = Uint16Array.from({ length: 65536 }, (_, i) => i)
  const npy = Buffer.concat([encodeNpyHeader('<f2', [65536]), new Uint8Array(halves.buffer)])
  const { data } = readNpy(npy)
  if (!(data instanceof Float32Array)) return t.fail('not widened to float32')
  const numbers = data.filter(v => !Number.isNaN(v))
  t.equal(numbers.length, 63490)
  // numpy 2.4.6: sha256(h.view('f2').astype('f4')[~isnan].tobytes())
  t.equal(sha256(new Uint8Array(numbers.buffer)), '680bbc22915f61aa1bbfc7265bc3882a6aa42d299bfd2c571807196e5544de2e')
  t.ok(
    halves.every(h => Number.isNaN(data[h]) === ((h & 0x7c00) === 0x7c00 && (h & 0x3ff) !== 0)),
    'NaN where numpy has NaN'
  )
})

t.test('asFloat64', async t => {
  const of = (data: Parameters<typeof encodeNpy>[0]): NpyArray => readNpy(encodeNpy(data))
  const limit = 2n ** 53n
  t.same(
    asFloat64(of(BigInt64Array.of(0n, -1n, 1n, limit, -limit, 1n - limit, 4294967296n, -4294967297n, 2147483648n))),
    Float64Array.of(0, -1, 1, 2 ** 53, -(2 ** 53), 1 - 2 ** 53, 4294967296, -4294967297, 2147483648)
  )
  t.same(asFloat64(of(BigUint64Array.of(0n, limit, 0xffffffffn, limit - 1n))), Float64Array.of(0, 2 ** 53, 0xffffffff, 2 ** 53 - 1))
  for (const [data, text] of [
    [BigInt64Array.of(1n, limit + 1n), '9007199254740993'],
    [BigInt64Array.of(1n, -limit - 1n), '-9007199254740993'],
    [BigInt64Array.of(1n, 2n ** 63n - 1n), '9223372036854775807'],
    [BigInt64Array.of(1n, -(2n ** 63n)), '-9223372036854775808'],
    [BigUint64Array.of(1n, 2n ** 64n - 1n), '18446744073709551615'],
    [BigUint64Array.of(1n, limit + 1n), '9007199254740993']
  ] as const) {
    const fault = faultOf(() => asFloat64(of(data), { file: 'a.npz', member: 'p.npy', array: 'positions' }))
    t.equal(
      fault.message,
      `npy integer out of range: ${text}, expected at most 2^53 in size, where every integer has a ` +
        'double of its own (a.npz, member p.npy, positions, index 1)'
    )
  }
  // Every 64-bit pattern of exponents near the limits, against BigInt's own conversion.
  const many = BigInt64Array.from({ length: 4000 }, (_, i) => ((1n << BigInt(i % 54)) - BigInt(i % 7)) * (i % 2 === 0 ? 1n : -1n))
  const inside = many.filter(v => v <= limit && v >= -limit)
  t.ok(inside.length > 3900)
  t.same(asFloat64(of(inside)), Float64Array.from(inside, Number))
  const f8 = of(Float64Array.of(0.1, NaN))
  t.equal(asFloat64(f8), f8.data, 'float64 is not copied')
  t.same(asFloat64(of(Float32Array.of(0.1, -0))), Float64Array.of(Math.fround(0.1), -0))
  t.same(asFloat64(of(Int8Array.of(-128, 127))), Float64Array.of(-128, 127))
  t.same(asFloat64(readNpy(load('bool-bytes.npy'))), Float64Array.of(0, 1, 1, 1), 'any non-zero byte is true, as in numpy')
  t.match(faultOf(() => asFloat64(readNpy(encodeNpyText('abc')))).message, /npy wrong dtype: text \(<U3\), expected numbers/)
})

t.test('memory: views where the file allows, never a changed input', async t => {
  const npy = encodeNpy(Float64Array.of(1, 2, 3))
  const aligned = readNpy(npy)
  t.equal((aligned.data as Float64Array).buffer, npy.buffer, 'an aligned file is viewed')
  const shifted = new Uint8Array(npy.length + 1)
  shifted.set(npy, 1)
  t.same(readNpy(shifted.subarray(1)).data, Float64Array.of(1, 2, 3), 'an unaligned one is copied')
  for (const name of ['dtypes-big-f.npz', 'dtypes-big-c.npz', 'bool-bytes.npy']) {
    const before = Buffer.from(load(name))
    // A Buffer's slice() is a view where a Uint8Array's is a copy: swapping bytes in it would change the file's.
    readAll(name, before)
    t.equal(sha256(before), sha256(load(name)), `${name}: bytes as they were`)
  }
  const { data } = readNpy(Buffer.from(encodeNpy(Uint8Array.of(1, 2))))
  t.equal(Buffer.isBuffer(data), false, 'u1 data are a plain Uint8Array')
  const shared = new Uint8Array(new SharedArrayBuffer(load('trace-deflated.npz').length))
  shared.set(load('trace-deflated.npz'))
  t.same(readAll('s.npz', shared).get('values')!.data, readAll('s.npz', load('trace-deflated.npz')).get('values')!.data)
})

t.test('one flipped bit', async t => {
  // Whole archives, every bit: found out, or every array is the same.
  for (const [name, sameByLuck] of [
    ['small.npz', 0],
    ['small-zip64.npz', 0],
    ['descriptors-zip64.npz', 9],
    ['comment.npz', 0]
  ] as const) {
    const bytes = load(name)
    const before = readAll(name, bytes)
    const idle = idleBits(bytes)
    const commentAt = name === 'comment.npz' ? bytes.length - 'made by hand'.length : bytes.length
    let silent = 0
    let idleSeen = 0
    const wrong: string[] = []
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      bytes[bit >> 3] ^= 1 << (bit & 7)
      try {
        const after = readAll(name, bytes)
        const same =
          after.size === before.size &&
          [...before].every(([key, { data, shape, descr }]) => {
            const now = after.get(key)
            return now !== undefined && sameData(data, now.data) && String(shape) === String(now.shape) && descr === now.descr
          })
        if (!same) wrong.push(`bit ${bit}: other arrays`)
        else if (idle.has(bit) || bit >= commentAt * 8) idleSeen++
        else silent++
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        if (idle.has(bit) || bit >= commentAt * 8) wrong.push(`bit ${bit}: ${error.message}`)
      }
      bytes[bit >> 3] ^= 1 << (bit & 7)
    }
    t.same(wrong, [], `${name}: ${bytes.length * 8} bits, ${idleSeen} without meaning`)
    // Bits in a deflate stream that decode to the same bytes: padding after its end, an equal earlier match.
    t.equal(silent, sameByLuck, `${name}: other bits that change nothing`)
  }
})

t.test('a bare .npy has no checksum: a flipped bit gives a fault or an array, never another error', async t => {
  let faults = 0
  for (const name of ['unaligned-v1.npy', 'odd-header.npy', 'python2-long.npy']) {
    const bytes = load(name)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      bytes[bit >> 3] ^= 1 << (bit & 7)
      try {
        const { shape, data } = readNpy(bytes)
        t.equal(
          shape.reduce((a, b) => a * b, 1),
          data.length
        )
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        faults++
      }
      bytes[bit >> 3] ^= 1 << (bit & 7)
    }
  }
  t.ok(faults > 1000, `${faults} faults`)
})

t.test('truncated at every byte, and followed by bytes', async t => {
  for (const name of ['small.npz', 'descriptors-zip64.npz', 'small-zip64.npz', 'comment.npz', 'unaligned-v2.npy', 'odd-header.npy']) {
    const bytes = load(name)
    for (let length = 0; length < bytes.length; length++) faultOf(() => readAll(name, bytes.slice(0, length)))
    for (const more of [1, 2, 22, 300]) faultOf(() => readAll(name, Buffer.concat([bytes, Buffer.alloc(more)])))
    t.pass(`${name}: ${bytes.length} lengths`)
  }
})

t.test('zip bombs: 292 KB that inflate to 300 MB', async t => {
  const ten = encodeNpyHeader('<f4', [10])
  const liar = bomb('values.npy', ten, 300)
  t.ok(liar.length > 250_000 && liar.length < 320_000, `${liar.length} bytes`)
  const memory = (): number => process.memoryUsage().arrayBuffers
  const before = memory()
  t.equal(
    faultOf(() => openNpz(liar, { file: 'b.npz', maxMemberBytes: 2 ** 30 }).read('values')).message,
    'npy trailing bytes: 314572800 bytes of data, expected 40 for (10,) of <f4 (b.npz, member values.npy)'
  )
  t.ok(memory() - before < 2 ** 23, 'stopped by the NPY header, before the data are inflated')

  const small = bomb('values.npy', ten, 300, ten.length + 40)
  t.equal(
    faultOf(() => openNpz(small, { file: 'b.npz' }).read('values')).message,
    `zip wrong size: more than 168 bytes, expected the declared 168 (b.npz, member values.npy)`
  )
  const honest = bomb('values.npy', encodeNpyHeader('<f4', [300 * 2 ** 18]), 300)
  t.equal(
    faultOf(() => openNpz(honest, { file: 'b.npz' }).read('values')).message,
    'zip member too large: 314572928 bytes, expected at most 268435456 (b.npz, member values.npy)'
  )
  t.same(openNpz(honest, { maxMemberBytes: 2 ** 30 }).header('values').shape, [300 * 2 ** 18])
  t.ok(memory() - before < 2 ** 24, 'nor by the others')
  const twoMiB = bomb('values.npy', encodeNpyHeader('<f4', [2 ** 19]), 2)
  t.ok(sameData(openNpz(twoMiB).read('values').data, new Float32Array(2 ** 19)), 'an honest one of 2 MiB is read')
  const empty = bomb('values.npy', new Uint8Array(0), 0, 200)
  t.match(faultOf(() => openNpz(empty).header('values')).message, /zip wrong size: 0 bytes, expected the declared 200/)
})

t.test('many members, a long comment', async t => {
  const members: Member[] = Array.from({ length: 3000 }, (_, i) => [`trace_${i}`, encodeNpyInt(i)])
  const bytes = await archive(members)
  const npz = openNpz(bytes)
  t.equal(npz.names.length, 3000)
  t.equal(npz.names.map(n => npz.read(n).data[0]).join(), members.map((_, i) => i).join())
  const long = Buffer.concat([load('trace-stored.npz').subarray(0, -2), Buffer.from([0xff, 0xff]), Buffer.alloc(65535, 'PK')])
  t.equal(openNpz(long).names.length, 5)
})

t.test("writer: headers are numpy's", async t => {
  const { shapes, sha256: want } = JSON.parse(readFileSync(fixture('npz/numpy-headers.json'), 'utf8')) as {
    shapes: number[][]
    sha256: Record<string, string>
  }
  t.equal(shapes.length * Object.keys(want).length, 73 * 18)
  for (const [key, digest] of Object.entries(want)) {
    const [descr, order] = key.split(' ')
    t.equal(sha256(...shapes.map(shape => encodeNpyHeader(descr, shape, order === 'F'))), digest, key)
  }
  for (const shape of [[-1], [1.5], [NaN], [2 ** 40, 2 ** 40]]) t.throws(() => encodeNpyHeader('<f4', shape), Fault)
  t.throws(() => encodeNpyHeader("<f4', 'x': '", [1]), Fault)
  t.throws(() => encodeNpy(Float32Array.of(1, 2), [3]), Fault)
})

t.test("writer: 0-d scalars are numpy's", async t => {
  const want = expectedOf('scalars.npz')
  const scalars: Record<string, Uint8Array> = {
    step: encodeNpyInt(131),
    score: encodeNpyFloat(1),
    uid: encodeNpyText('abc-\u{1F600}'),
    yes: encodeNpyBool(true),
    single: encodeNpy(Float32Array.of(0.1), []),
    big: encodeNpy(BigUint64Array.of(2n ** 63n), [])
  }
  for (const [name, npy] of Object.entries(scalars)) t.equal(sha256(npy), want[name].resaved_sha256, name)
  t.same(readNpy(encodeNpyInt(-(2n ** 63n))).data, BigInt64Array.of(-(2n ** 63n)))
  t.same(readNpy(encodeNpyBool(false)).data, Uint8Array.of(0))
  t.same(readNpy(encodeNpyText('')).data, [''], 'numpy saves an empty text as <U1')
  for (const bad of ['a\0', '\ud800', 'x\udc00y']) t.throws(() => encodeNpyText(bad), Fault)
  for (const bad of [2n ** 63n, -(2n ** 63n) - 1n, 2 ** 53, 0.5, NaN]) t.throws(() => encodeNpyInt(bad), Fault)
})

t.test('writer: every kind of typed array', async t => {
  const kinds = [
    Int8Array.of(-1, 2),
    Uint8Array.of(1, 255),
    Int16Array.of(-1, 2),
    Uint16Array.of(1, 65535),
    Int32Array.of(-1, 2),
    Uint32Array.of(1, 2 ** 32 - 1),
    BigInt64Array.of(-1n, 2n),
    BigUint64Array.of(1n, 2n ** 64n - 1n),
    Float32Array.of(0.5, -0),
    Float64Array.of(0.1, NaN)
  ]
  t.same(
    kinds.map(k => readNpy(encodeNpy(k)).descr),
    ['|i1', '|u1', '<i2', '<u2', '<i4', '<u4', '<i8', '<u8', '<f4', '<f8']
  )
  for (const kind of kinds) t.ok(sameData(readNpy(encodeNpy(kind, [2, 1])).data, kind), kind.constructor.name)
  const part = new Float32Array([9, 1, 2, 9]).subarray(1, 3)
  t.same(readNpy(Buffer.concat(npyParts(part))).data, Float32Array.of(1, 2), 'a view inside a larger buffer')
})

t.test("writer: archives are np.savez's, byte for byte", async t => {
  for (const [name, options] of [
    ['trace-stored.npz', {}],
    ['zip64-limit-100.npz', { zip64Limit: 100, countLimit: 1 }],
    ['empty-archive.npz', {}],
    ['small-count-zip64.npz', { countLimit: 1 }],
    ['scalars.npz', {}],
    ['dtypes-little-c.npz', {}]
  ] as const) {
    const bytes = load(name)
    const npz = openNpz(bytes)
    // numpy keeps `>f2` in one scalar: that member goes in as it came.
    const members = npz.names.map((n): Member => {
      const array = npz.read(n)
      const entry = readZipDirectory(bytes).find(e => e.name === `${n}.npy`)!
      const whole = bytes.subarray(entry.dataOffset, entry.dataOffset + entry.size)
      return [n, array.rawDescr === array.descr ? rawNpyParts(array) : whole]
    })
    t.equal(sha256(await archive(members, options)), sha256(bytes), name)
    const deflated = members.map(([n, npy]): Member => [n, npy, { deflate: true }])
    const again = await archive(deflated, options)
    for (const n of npz.names) {
      t.ok(sameData(openNpz(again).read(n).data, npz.read(n).data), `${name} ${n}: deflated and back`)
    }
    t.equal(sha256(again), sha256(await archive(deflated, options)), 'the same again')
  }
})

t.test('writer: offsets and sizes beyond 4 GiB', async t => {
  // 70 x 64 MiB of zeros as one member, then a small one. The bytes between the zeros are hashed with their offsets.
  // zipfile (CRC-32 of every member) and numpy 2.4.6 have read the file that has these bytes and zeros elsewhere.
  const zeros = new Uint8Array(2 ** 26)
  const hash = createHash('sha256')
  let offset = 0
  const writer = new NpzWriter(bytes => {
    if (bytes.length < zeros.length) hash.update(`${offset}:`).update(bytes)
    offset += bytes.length
  })
  const header = encodeNpyHeader('<f8', [70 * 2 ** 23])
  await writer.add('huge', [header, ...new Array<Uint8Array>(70).fill(zeros)], { crc32: 0x364fed79 })
  await writer.add('last', encodeNpy(Float32Array.of(1, 2, 3)))
  await writer.finish()
  t.equal(offset, writer.bytesWritten)
  t.equal(offset, 4697621102)
  t.equal(hash.digest('hex'), '88da84d1daccb663197ff3162697e837c6649efa65a471e2c6fb32df3fa26d0a')
})

t.test('writer: a large size takes the zip64 field though the deflated size is small', async t => {
  const bytes = await archive([['zeros', encodeNpy(new Float64Array(1000)), { deflate: true }]], { zip64Limit: 1000 })
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const at = Buffer.from(bytes).indexOf('PK\x01\x02')
  t.same([view.getUint32(at + 20, true), view.getUint32(at + 24, true)], [0xffffffff, 0xffffffff])
  t.equal(Buffer.from(bytes).indexOf('PK\x06\x06'), -1, 'the directory itself needs none')
  t.ok(sameData(openNpz(bytes).read('zeros').data, new Float64Array(1000)))
})

t.test('writer: waits for its sink, and stops with it', async t => {
  let inside = 0
  let most = 0
  const pieces: Buffer[] = []
  const slow = new NpzWriter(async bytes => {
    most = Math.max(most, ++inside)
    await new Promise(resolve => setTimeout(resolve, 1))
    pieces.push(Buffer.from(bytes))
    inside--
  })
  await slow.add('values', npyParts(Float32Array.of(1, 2)))
  await slow.add('none', npyParts(new Float32Array(0)))
  await t.rejects(slow.add('values', encodeNpyInt(1)), /npz duplicate member: 'values'/)
  const pending = slow.add('step', encodeNpyInt(5))
  await t.rejects(slow.add('other', encodeNpyInt(6)), /npz writer not ready: busy/)
  await t.rejects(slow.finish(), /busy/)
  await pending
  await slow.finish()
  await t.rejects(slow.add('late', encodeNpyInt(6)), /finished/)
  t.equal(most, 1, 'one write at a time')
  const written = openNpz(Buffer.concat(pieces))
  t.same(written.names, ['values', 'none', 'step'])
  // Node's crc32 of an empty view is 0 whatever came before it: an empty data part must not wipe the header's.
  t.same(written.read('none').shape, [0])
  const full = new NpzWriter(() => {
    throw new Error('disk full')
  })
  await t.rejects(full.add('values', encodeNpyInt(1)), /disk full/)
  await t.rejects(full.finish(), /npz writer not ready: broken/)
  const given = await archive([['a', encodeNpyInt(1), { crc32: crc32(encodeNpyInt(1)) }]])
  t.same(given, await archive([['a', encodeNpyInt(1)]]), 'a CRC-32 that the caller has')
})

t.test('fflate reads what is written, and is read', async t => {
  const values = Float64Array.from({ length: 500 }, (_, i) => Math.sqrt(i))
  const npy = encodeNpy(values)
  const ours = await archive(
    [
      ['values', npy],
      ['naïve 漢', npy, { deflate: true }],
      ['none', encodeNpy(new Int8Array(0))]
    ],
    { zip64Limit: 1000 }
  )
  const read = fflate.unzipSync(ours)
  t.same(Object.keys(read), ['values.npy', 'naïve 漢.npy', 'none.npy'])
  for (const name of ['values.npy', 'naïve 漢.npy']) t.equal(sha256(read[name]), sha256(npy), name)

  const odd = fflate.zipSync(
    {
      'values.npy': [
        npy,
        {
          level: 9,
          mtime: '2001-02-03',
          os: 3,
          attrs: 0o644 << 16,
          comment: 'a comment',
          extra: { [0x7875]: Uint8Array.of(1, 2) }
        }
      ],
      'stored.npy': [npy, { level: 0 }],
      folder: { 'x.npy': [npy, { level: 1 }] },
      'naïve.npy': [npy, { level: 6 }],
      'text.txt': Uint8Array.of(1)
    },
    { comment: 'the archive' }
  )
  const npz = openNpz(odd)
  for (const name of ['values', 'stored', 'folder/x', 'naïve']) t.same(npz.read(name).data, values, name)
  t.match(faultOf(() => npz.read('text.txt')).message, /npy not recognised: bytes 01/)

  const chunks: Uint8Array[] = []
  const zip = new fflate.Zip((error, chunk) => {
    if (error) throw error
    chunks.push(chunk)
  })
  for (const entry of [new fflate.ZipDeflate('values.npy'), new fflate.ZipPassThrough('stored.npy')]) {
    zip.add(entry)
    entry.push(npy.slice(0, 1000))
    entry.push(npy.slice(1000), true)
  }
  zip.end()
  const streamed = openNpz(Buffer.concat(chunks))
  for (const name of streamed.names) t.same(streamed.read(name).data, values, `streamed ${name}`)
})

t.test('npyjs agrees on little-endian files in C order', async t => {
  const reader = new npyjs()
  let compared = 0
  for (const file of ['dtypes-little-c.npz', 'trace-stored.npz', 'versions.npz']) {
    const bytes = load(file)
    const npz = openNpz(bytes)
    for (const entry of readZipDirectory(bytes)) {
      const name = entry.name.replace(/\.npy$/, '')
      const array = npz.read(name)
      // npyjs fails on S, and reads Fortran order and big-endian files as they lie.
      if (/S|>/.test(array.descr) || array.fortranOrder) continue
      const theirs = reader.parse(bytes.slice(entry.dataOffset, entry.dataOffset + entry.size).buffer)
      t.same(theirs.shape, array.shape, `${file} ${name}: shape`)
      if (isText(array.data) || array.descr === '|b1') continue
      t.ok(sameData(theirs.data as unknown as NpyData, array.data), `${file} ${name}: elements`)
      compared++
    }
  }
  t.ok(compared >= 16, `${compared} arrays`)
})

const skip = existsSync(join(CASES, 'CASES.tsv')) ? false : `${CASES} is not there (CRITIC_TRACES_CASES names another)`
t.test('public files, as numpy reads them', { skip }, async t => {
  const rows = readFileSync(join(CASES, 'CASES.tsv'), 'utf8')
    .split(/\r?\n/)
    .map(line => line.split('\t'))
  const numpy = rows.filter(row => row[0].startsWith('numpy/'))
  t.equal(numpy.length, 25)

  const check = (label: string, want: ArrayReading | null, read: () => NpyArray): void => {
    if (want === null || want.descr === '<f16') {
      const descr = want === null ? 'object array' : 'long double array'
      t.match(faultOf(read).message, new RegExp(`^npy unsupported dtype: descr '.*' \\(${descr}`), `${label}: refused`)
      return
    }
    const array = read()
    t.same([array.shape, array.descr], [want.shape, want.descr], `${label}: shape and dtype`)
    if (want.fortran) t.equal(array.fortranOrder, true, `${label}: order`)
    const data = isText(array.data) ? array.data : asFloat64(array)
    t.same([...data.slice(0, 4)], want.first, `${label}: first`)
    t.same(data.at(-1) ?? null, want.last, `${label}: last`)
    const count = { nan: 0, inf: 0 }
    let [sum, scale] = [0, 0]
    for (const v of data) {
      if (typeof v === 'string') continue
      if (Number.isNaN(v)) count.nan++
      else if (!Number.isFinite(v)) count.inf++
      else {
        sum += v
        scale += Math.abs(v)
      }
    }
    if (want.nan !== null) t.equal(count.nan, want.nan, `${label}: NaN`)
    if (want.inf !== null) t.equal(count.inf, want.inf, `${label}: inf`)
    if (want.sum !== null) t.ok(Math.abs(sum - want.sum) <= 1e-12 * scale, `${label}: sum ${sum}, numpy ${want.sum}`)
  }

  for (const [path, , , , , , reading] of numpy) {
    const bytes = new Uint8Array(readFileSync(join(CASES, path)))
    if (path.endsWith('.npy')) {
      const m = /^v(\d)\.0 hdr=(.*?) \| (.*)$/.exec(reading)
      if (m === null) throw new Error(`row ${path}`)
      check(path, parseArrayReading(m[3]), () => readNpy(bytes, { file: path }))
      t.equal(bytes[6], Number(m[1]), `${path}: version`)
      continue
    }
    const { count, members } = parseArchiveReading(reading)
    const npz = openNpz(bytes, { file: path })
    const entries = readZipDirectory(bytes)
    t.equal(npz.names.length, count, `${path}: members`)
    for (const member of members) {
      const entry = entries.find(e => e.name === member.name)
      t.same([entry?.method, entry?.crc32], [member.method, member.crc32], `${path} ${member.name}: method and CRC-32`)
      check(`${path} ${member.name}`, member.array, () => npz.read(member.name.replace(/\.npy$/, '')))
    }
    // The members that the table leaves out: read, or refused for their dtype.
    const listed = new Set(members.map(m => m.name))
    for (const name of npz.names.filter(n => !listed.has(`${n}.npy`))) {
      const { descr } = path.includes('longdouble') ? { descr: '<f16' } : npz.header(name)
      if (descr === '<f16') t.match(faultOf(() => npz.read(name)).message, /long double array/, `${path} ${name}`)
      else t.equal(npz.read(name).descr, descr, `${path} ${name}`)
    }
  }
})
