/** Elements of tensors by their strides, against a plain loop; parts of ZIP members; what a tensor says of itself. */
import t from 'tap'
import { storedTensor } from '../src/ingest/tensors/stored-tensor.js'
import { contiguousStride, cut, gather, isContiguous, lengthOf, elementSpan } from '../src/ingest/tensors/strides.js'
import { isTensor, Opaque, type TensorDtype } from '../src/ingest/tensors/tensor.js'
import { openZipFile } from '../src/ingest/zip/zip-file.js'
import { archive as npzOf } from './support/archives.js'
import { faultOf } from './support/folders.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'
import { sourceOf, zip } from './support/torch-files.js'

/** Positions of the elements in C order: the definition of strides. */
function positions(shape: readonly number[], stride: readonly number[], offset: number): number[] {
  let places = [offset]
  shape.forEach((n, axis) => {
    places = places.flatMap(place => Array.from({ length: n }, (_, i) => place + i * stride[axis]))
  })
  return places
}

t.test('shapes and strides', t => {
  t.equal(lengthOf([]), 1)
  t.equal(lengthOf([2 ** 62, 0, 2 ** 62]), 0, 'no element, whatever the other axes say')
  t.equal(lengthOf([2 ** 30, 2 ** 30]), Number.POSITIVE_INFINITY)
  t.equal(elementSpan([2, 3], [10, 1]), 13)
  t.equal(elementSpan([2 ** 40, 2], [2 ** 40, 1]), Number.POSITIVE_INFINITY)
  t.same(contiguousStride([2, 3, 4]), [12, 4, 1])
  t.same(contiguousStride([2, 0, 4]), [4, 4, 1], 'as torch has them')
  t.ok(isContiguous([2, 1, 4], [4, 99, 1]), 'an axis of one item has no stride')
  t.notOk(isContiguous([2, 3], [1, 2]))
  t.ok(isContiguous([], []))
  t.end()
})

t.test('elements in C order, whole and in parts', t => {
  const random = new Random(seedOf(77))
  const storage = Uint8Array.from({ length: 4096 }, () => random.below(256))
  for (let k = 0; k < rounds(2000); k++) {
    const itemSize = random.pick([1, 2, 4, 8])
    const shape = Array.from({ length: random.below(5) }, () => 1 + random.below(5))
    const stride = shape.map(() => random.pick([0, 1, 2, 3, 7, 20]))
    const offset = random.below(10)
    const expected = positions(shape, stride, offset).flatMap(place => [...storage.subarray(place * itemSize, (place + 1) * itemSize)])
    const most = random.pick([1, 2, 5, 16, 4096])
    const out = new Uint8Array(lengthOf(shape) * itemSize)
    let largest = 0
    let smallest = 0
    for (const block of cut({ shape, stride, offset, outStride: contiguousStride(shape), outOffset: 0 }, most)) {
      const span = elementSpan(block.shape, block.stride)
      largest = Math.max(largest, span)
      smallest++
      gather(storage.slice(block.offset * itemSize, (block.offset + span) * itemSize), block, itemSize, out)
    }
    const what = JSON.stringify({ itemSize, shape, stride, offset, most })
    if (Buffer.compare(out, Buffer.from(expected)) !== 0) t.fail(`other elements: ${what}`)
    if (largest > most) t.fail(`a part of ${largest}: ${what}`)
    if (smallest > lengthOf(shape)) t.fail(`${smallest} parts: ${what}`)
  }
  // a column of a large matrix is read row by row, not as a span over all of it
  const blocks = [...cut({ shape: [1000, 2], stride: [1000, 1], offset: 0, outStride: [2, 1], outOffset: 0 }, 100)]
  t.equal(blocks.length, 1000)
  t.ok(blocks.every(block => elementSpan(block.shape, block.stride) === 2))
  t.end()
})

t.test('a storage in either byte order', async t => {
  const cases: readonly (readonly [dtype: TensorDtype, hex: string, values: readonly (number | bigint)[]])[] = [
    ['F64', '3ff80000000000004008000000000000', [1.5, 3]],
    ['F32', '3fc00000c0100000', [1.5, -2.25]],
    ['F16', '3e00fbff0001', [1.5, -65504, 2 ** -24]],
    ['BF16', '3fc0c010', [1.5, -2.25]],
    ['I64', 'fffffffffffffffe', [-2n]],
    ['U64', 'fffffffffffffffe', [2n ** 64n - 2n]],
    ['I32', 'fffffffe00000001', [-2, 1]],
    ['U32', 'fffffffe', [2 ** 32 - 2]],
    ['I16', 'fffe', [-2]],
    ['U16', 'fffe', [2 ** 16 - 2]],
    ['I8', 'fe', [-2]],
    ['U8', 'fe', [254]],
    ['BOOL', '000102ff', [0, 1, 1, 1]]
  ]
  for (const [dtype, hex, values] of cases) {
    for (const bigEndian of [true, false]) {
      const bytes = new Uint8Array(Buffer.from(hex, 'hex'))
      const itemSize = bytes.length / values.length
      if (!bigEndian) for (let i = 0; i < bytes.length; i += itemSize) bytes.subarray(i, i + itemSize).reverse()
      const storage = { name: 's', bytes: bytes.length, bigEndian, slice: async (a: number, b: number) => bytes.slice(a, b) }
      const tensor = storedTensor(storage, { dtype, shape: [values.length], stride: [1], offset: 0 }, 'torch', {})
      t.same([...(await tensor.read())], values, `${dtype}, ${bigEndian ? 'big' : 'little'}-endian`)
      const reversed = storedTensor(storage, { dtype, shape: [values.length, 2], stride: [1, 0], offset: 0 }, 'torch', {})
      t.same(
        [...(await reversed.read())],
        values.flatMap(value => [value, value]),
        `${dtype}: each twice`
      )
    }
  }
})

t.test('a tensor, and what is none', async t => {
  const storage = { name: 's', bytes: 8, bigEndian: false, slice: async (a: number, b: number) => new Uint8Array(b - a) }
  const tensor = storedTensor(storage, { dtype: 'F32', shape: [], stride: [], offset: 1 }, 'torch', {})
  t.ok(isTensor(tensor))
  t.same([tensor.length, tensor.storage, tensor.shape], [1, 's', []])
  t.throws(() => tensor.rows(0, 1), new RangeError('rows of a scalar'))
  for (const other of [null, undefined, 1, 'readNumbers', [], new Map(), new Opaque('torch', 'a.b', 'c')]) t.notOk(isTensor(other))
  t.equal(new Opaque('safetensors', 'F4', 'another').fault({ array: 'x' }).message, 'safetensors dtype refused: F4, expected another (x)')
  const large = { ...storage, bytes: 2 ** 40 }
  const many = storedTensor(large, { dtype: 'U8', shape: [2 ** 30], stride: [1], offset: 0 }, 'torch', {})
  t.equal(
    (await faultOf(many.read())).message,
    'torch tensor too large: 1073741824 elements over 1099511627776 stored ones, expected at most 268435456'
  )
})

t.test('ZIP archives by parts', async t => {
  const data = Uint8Array.from({ length: 300_000 }, (_, i) => i % 251)
  const bytes = zip([
    ['small', data.subarray(0, 10)],
    ['large', data],
    ['empty', new Uint8Array(0)]
  ])
  const source = sourceOf(bytes)
  const file = await openZipFile(source, { file: 'x.zip' })
  t.same(file.names, ['small', 'large', 'empty'])
  t.same([file.has('large'), file.has('none'), file.size('large')], [true, false, 300_000])
  t.same(await file.read('small', 10), data.slice(0, 10))
  t.same(await file.read('empty', 0), new Uint8Array(0))
  t.same(await file.slice('large', 1000, 1005), data.slice(1000, 1005))
  const before = source.read
  t.same(await file.slice('large', 7, 9), data.slice(7, 9))
  t.equal(source.read - before, 2, 'the sum was checked before')
  t.same(await file.slice('large', 0, 300_000), data)
  t.same((await file.slice('large', 5, 5)).length, 0)
  const message = async (work: Promise<unknown>): Promise<string> => (await faultOf(work)).message
  t.equal(await message(file.read('small', 9)), 'zip member too large: 10 bytes, expected at most 9 (x.zip, member small)')
  t.equal(await message(file.read('none', 9)), 'zip missing member: none of this name, expected one (x.zip, member none)')
  t.equal(await message(openZipFile(sourceOf(new Uint8Array(0)))), 'zip empty: 0 bytes, expected a ZIP archive')

  const zip64 = sourceOf(
    await npzOf(
      [
        ['a', data],
        ['b', data.subarray(0, 9)]
      ],
      { zip64Limit: 5, countLimit: 1 }
    )
  )
  const wide = await openZipFile(zip64)
  t.same(await wide.read('b.npy', 9), data.slice(0, 9), 'zip64')
  t.same(await wide.slice('a.npy', 299_990, 299_992), data.slice(299_990, 299_992), 'zip64, a part')

  const deflated = await openZipFile(sourceOf(await npzOf([['a', data, { deflate: true }]])))
  const [name] = deflated.names
  t.same(await deflated.read(name, data.length), data, 'deflated')
  t.equal(await message(deflated.slice(name, 0, 5)), `zip unsupported: a part of a deflated member, expected a stored one (member ${name})`)
})

t.test('members that lie or overlap', async t => {
  const bytes = zip([
    ['first', Buffer.from('0123456789')],
    ['second', Buffer.from('abcdefghij')]
  ])
  const at = (needle: string, from = 0): number => Buffer.from(bytes).indexOf(needle, from)
  const changed = (change: (copy: Buffer) => void): Uint8Array => {
    const copy = Buffer.from(bytes)
    change(copy)
    return new Uint8Array(copy)
  }
  const central = at('first', at('PK\u0001\u0002')) - 46
  const message = async (copy: Uint8Array): Promise<string> => {
    return (await faultOf(openZipFile(sourceOf(copy)).then(file => Promise.all(file.names.map(name => file.read(name, 100)))))).message
  }
  t.match(await message(changed(copy => (copy[at('first')] = 0x46))), /^zip local header disagrees: another member name/)
  t.match(await message(changed(copy => (copy[at('0123')] ^= 1))), /^zip damaged member: CRC-32 0x/)
  t.match(
    await message(changed(copy => copy.writeUInt32LE(at('second') - 30, central + 42))),
    /^zip overlapping members: a local header inside/
  )
  t.match(
    await message(changed(copy => copy.writeUInt32LE(2 ** 31, central + 42))),
    /^zip bad member offset: a local header at byte 2147483648/
  )
  const longer = changed(copy => {
    for (const place of [at('first') - 30 + 18, at('first') - 30 + 22, central + 20, central + 24]) copy.writeUInt32LE(60, place)
  })
  t.match(
    await message(longer),
    /^zip overlapping members: 60 bytes at byte \d+, expected data that ends before byte \d+ \(member first\)$/
  )
})

t.test('sums that the writer left out', async t => {
  const bytes = Buffer.from(
    zip([
      ['a', Buffer.from('data')],
      ['b', Buffer.from('more')]
    ])
  )
  for (let at = bytes.indexOf('PK'); at >= 0; at = bytes.indexOf('PK', at + 1)) {
    if (bytes[at + 2] === 3) bytes.writeUInt32LE(0, at + 14)
    if (bytes[at + 2] === 1) bytes.writeUInt32LE(0, at + 16)
  }
  const source = sourceOf(new Uint8Array(bytes))
  t.match((await faultOf((await openZipFile(source)).read('a', 4))).message, /^zip damaged member/)
  const file = await openZipFile(source, {}, { sumsMayBeZero: true })
  t.equal(Buffer.from(await file.read('a', 4)).toString(), 'data')
  t.equal(Buffer.from(await file.slice('b', 1, 3)).toString(), 'or')
})
