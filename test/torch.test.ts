/**
 * The reader of torch files: every file against torch's own reading of it (fixtures/torch, made by make.py there, and the
 * files of public repositories), pickles against CPython, and files that are damaged, hostile or of another format.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import t from 'tap'
import { Fault } from '../src/core/errors.js'
import { openStill } from '../src/core/still-file.js'
import { isTensor, Opaque, type Tensor } from '../src/ingest/tensors/tensor.js'
import { readPickle } from '../src/ingest/torch/pickle.js'
import { TorchNames } from '../src/ingest/torch/names.js'
import { readZipDirectory } from '../src/ingest/zip/zip.js'
import { readTorch, recogniseTorch, type TorchValue } from '../src/ingest/torch/torch.js'
import { bomb } from './support/archives.js'
import { cpuMs } from './support/cpu.js'
import { faultOf } from './support/folders.js'
import { fixture, root } from './support/paths.js'
import { Random } from './support/random.js'
import { rounds, seedOf } from './support/rounds.js'
import {
  archive,
  byte,
  call,
  dict,
  floats,
  get,
  global,
  int,
  join,
  legacy,
  list,
  MAGIC,
  OrderedDict,
  pickle,
  put,
  raw,
  sourceOf,
  storage,
  tensor,
  tensorArguments,
  text,
  tuple,
  typedTensor,
  zip,
  type Code
} from './support/torch-files.js'
import { readingOf } from './support/torch-readings.js'

const FOLDER = fixture('torch')
const CASES = joinPath(process.env.CRITIC_TRACES_CASES ?? joinPath(root, '../shared/cases'), 'torch')
const NO_CASES = { skip: existsSync(CASES) ? false : `${CASES} is not there (CRITIC_TRACES_CASES names another folder of cases)` }

const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(joinPath(FOLDER, name)))
const read = (bytes: Uint8Array): Promise<TorchValue> => readTorch(sourceOf(bytes))
const messageOf = async (work: Promise<unknown>): Promise<string> => (await faultOf(work)).message

/** A value of the tree by keys and indices. */
function at(tree: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((node, key) => (node instanceof Map ? node.get(key) : (node as readonly unknown[])[Number(key)]), tree)
}

async function elements(value: unknown): Promise<unknown[]> {
  if (!isTensor(value)) throw new TypeError('no tensor')
  return [...(await value.read())]
}

t.test('files that torch 2.14.1 wrote', async t => {
  const expected = JSON.parse(readFileSync(joinPath(FOLDER, 'expected.json'), 'utf8')) as Record<string, unknown>
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.pt'))
  t.same([...Object.keys(expected).filter(name => name.endsWith('.pt')), 'module.pt', 'module-legacy.pt'].sort(), files)
  for (const [name, want] of Object.entries(expected).filter(([name]) => name.endsWith('.pt'))) {
    const source = sourceOf(bytesOf(name))
    t.equal(await recogniseTorch(source), name.includes('legacy') ? 'legacy' : 'zip', name)
    t.same(await readingOf(await readTorch(source), want), want, name)
  }
  for (const name of ['module.pt', 'module-legacy.pt']) {
    t.equal(
      await messageOf(readTorch(sourceOf(bytesOf(name)), { file: name })),
      `torch global refused: torch.nn.modules.linear.Linear, expected a plain value or a tensor (${name})`
    )
  }
})

interface Reading {
  readonly file: string
  readonly error?: string
  readonly contents?: readonly {
    readonly path: string
    readonly value?: unknown
    readonly dtype?: string
    readonly shape?: readonly number[]
    readonly first?: readonly string[]
    readonly last?: readonly string[]
    readonly sum?: string
  }[]
}

const DTYPES: Readonly<Record<string, string>> = { Float: 'F32', Double: 'F64', Half: 'F16', BFloat16: 'BF16', Long: 'I64', Bool: 'BOOL' }

/** As Python's `str(float)` writes the numbers of the readings. */
function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  return Number.isInteger(value) ? `${value}.0` : `${value}`
}

/** Every tensor and plain value of a tree by its dotted path. */
function leaves(value: TorchValue, path = ''): [string, TorchValue][] {
  if (value instanceof Map) return [...value].flatMap(([key, item]) => leaves(item, path === '' ? String(key) : `${path}.${String(key)}`))
  if (Array.isArray(value)) return value.flatMap((item: TorchValue, i) => leaves(item, `${path}[${i}]`))
  return [[path, value]]
}

t.test('values of numpy', async t => {
  const pickles = JSON.parse(readFileSync(joinPath(FOLDER, 'numpy.json'), 'utf8')) as Record<string, string>
  const codeOf = (name: string): Buffer => Buffer.from(pickles[name], 'base64')
  for (const name of ['protocol 2', 'protocol 3', 'protocol 5']) {
    const tree = await read(archive(codeOf(name)))
    const scalars = ['f8', 'f4', 'i8', 'u1', 'b', 'big', 's'].map(key => at(tree, key))
    t.same(scalars, [0.1, Math.fround(0.1), -3, 200, true, 4611686018427387904n, 'é'], name)
    t.same(await elements(at(tree, 'a')), [1.5, -2])
    t.same(await elements(at(tree, 'again')), [1.5, -2], 'referred to before its state is known')
    t.same(await elements(at(tree, 'be')), [1, -2])
    t.same(await elements(at(tree, 'f')), [0, 1, 2, 3, 4, 5])
    t.same((at(tree, 'f') as Tensor).shape, [2, 3])
    // 0.1 as numpy rounds it to half precision
    t.same(await elements(at(tree, 'h')), [0.0999755859375])
    t.same(await elements(at(tree, 'e')), [])
    t.same(at(tree, 'o'), ['x', null, 3])
    t.same(at(tree, 'u'), ['ab', 'c'])
  }
  const refused = await read(archive(codeOf('refused')))
  t.same(
    ['d', 'c', 't'].map(key => (at(refused, key) as Opaque).name),
    ['numpy.dtype(M8)', 'numpy.dtype(c16)', 'numpy.dtype(V8)']
  )
})

t.test('what contradicts itself in values of numpy', async t => {
  const dtype = (code: Code, order = '<'): Code =>
    join(call(global('numpy', 'dtype'), code), tuple(int(3), text(order), raw('N'), raw('N')), raw('b'))
  const bytes = (value: string): Code => call(global('_codecs', 'encode'), text(value), text('latin1'))
  const scalar = (...args: readonly Code[]): Code => call(global('numpy.core.multiarray', 'scalar'), ...args)
  const array = (...state: readonly Code[]): Code => join(call(global('numpy._core.multiarray', '_reconstruct')), tuple(...state), raw('b'))
  const [f4, no] = [dtype(text('f4')), byte(0x89)]
  const cases: readonly (readonly [what: Code, message: string])[] = [
    [scalar(f4, bytes('abc')), 'numpy elements of 3 bytes, expected 4 as dtype and shape say'],
    [scalar(f4, text('abcd')), 'numpy elements of a string, expected bytes'],
    [scalar(text('f4'), bytes('abcd')), 'a string as dtype, expected a dtype of numpy'],
    [scalar(f4, bytes('ab\u0100')), 'a text beyond Latin-1, expected bytes'],
    [dtype(int(4)), 'a dtype of a number, expected of a text'],
    [dtype(text('f4'), '?'), 'a dtype without a byte order, expected <, > or |'],
    [array(int(1), tuple(int(2 ** 31), int(2 ** 31)), f4, no, bytes('abcd')), 'numpy elements of 4 bytes, expected'],
    [array(int(1), tuple(text('x')), f4, no, bytes('abcd')), 'an array without a shape, expected a tuple of integers'],
    [array(int(1), tuple(int(2)), dtype(text('O8'), '|'), no, list(int(1))), 'an array of 1 objects, expected 2 as its shape says'],
    [scalar(dtype(text('U1')), bytes('\u00ff\u00ff\u00ff\u00ff')), 'a character of 4294967295, expected one of Unicode']
  ]
  for (const [code, message] of cases) {
    const fault = await messageOf(read(archive(pickle(dict({ x: code })))))
    t.equal(fault.slice(0, 24 + message.length), `torch malformed pickle: ${message}`)
  }
  const unbuilt = await read(archive(pickle(dict({ x: call(global('numpy._core.multiarray', '_reconstruct')) }))))
  t.equal((at(unbuilt, 'x') as Opaque).name, 'numpy.ndarray', 'an array without its state')
})

t.test('files of public repositories', NO_CASES, async t => {
  const readings = readFileSync(joinPath(CASES, 'readings.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Reading)
  t.same(
    readings.map(({ file }) => file).sort(),
    readdirSync(CASES)
      .filter(name => /\.pth?$/.test(name))
      .sort()
  )
  for (const { file: name, error, contents = [] } of readings) {
    const file = await openStill(joinPath(CASES, name))
    if (error !== undefined) {
      t.equal(await recogniseTorch(file), null, name)
      t.equal(
        await messageOf(readTorch(file, { file: name })),
        `torch not recognised: bytes 61 62 63, expected a ZIP archive, or a pickle with the magic number of torch (${name})`
      )
      await file.close()
      continue
    }
    const found = new Map(leaves(await readTorch(file)))
    t.same(
      [...found.keys()],
      contents.map(({ path }) => path),
      `${name}: paths`
    )
    for (const { path, value, dtype, shape, first, last, sum } of contents) {
      const got = found.get(path)
      if (!isTensor(got)) {
        t.equal(got, value, `${name} ${path}`)
        continue
      }
      const data = [...(await got.readNumbers())]
      t.same([got.dtype, got.shape], [DTYPES[dtype ?? ''], shape], `${name} ${path}`)
      t.same(data.slice(0, 4).map(pythonFloat), first, `${name} ${path}: first`)
      t.same(data.slice(-2).map(pythonFloat), last, `${name} ${path}: last`)
      const total = data.reduce((a, b) => a + b, 0)
      const near = Math.abs(total - Number(sum)) <= 1e-12 * data.reduce((a, b) => a + Math.abs(b), 0)
      t.ok(sum === 'nan' ? Number.isNaN(total) : near, `${name} ${path}: sum ${total}`)
    }
    await file.close()
  }
})

t.test('pickles of CPython in every protocol', async t => {
  const table = JSON.parse(readFileSync(joinPath(FOLDER, 'pickles.json'), 'utf8')) as {
    readonly name: string
    readonly protocol: number
    readonly value: unknown
    readonly pickle: string
  }[]
  t.equal(table.length, 25 * 6)
  for (const { name, protocol, value, pickle: code } of table) {
    const bytes = new Uint8Array(Buffer.from(code, 'base64'))
    const got = readPickle(bytes, new TorchNames({}), { bytes: 2 ** 20, memory: 2 ** 24 }, {})
    t.equal(got.length, bytes.length, `${name}, protocol ${protocol}: length`)
    t.same(await readingOf(got.value, value), value, `${name}, protocol ${protocol}`)
  }
})

t.test('what Python 2 and older torch write', async t => {
  const values = pickle(
    dict({
      // a str of Python 2: text where it is UTF-8
      text: raw('U\x02ab'),
      long: raw('T\x03\x00\x00\x00\xe4\xb8\xad'),
      bytes: raw('U\x02\xff\xfe'),
      // an int of 64 bits, which Python 2 writes as text, and a float and a bool of protocol 0
      int: raw('I-9007199254740993\n'),
      float: raw('F-1e-3\n'),
      flag: raw('I01\n'),
      // OrderedDict with its items as argument
      ordered: call(global('collections', 'OrderedDict'), list(list(text('b'), int(1)), list(text('a'), int(2)))),
      old: call(global('torch._utils', '_rebuild_tensor'), ...tensorArguments({ count: 3, offset: 1 }).slice(0, 4)),
      parameter: call(global('torch._utils', '_rebuild_parameter'), tensor({ count: 3 }), raw('\x88'), OrderedDict)
    })
  )
  const tree = await read(archive(values, { 0: floats(1, 2, 3) }))
  t.equal(at(tree, 'text'), 'ab')
  t.equal(at(tree, 'long'), '中')
  t.same(at(tree, 'bytes'), new Uint8Array([255, 254]))
  t.equal(at(tree, 'int'), -9007199254740993n)
  t.equal(at(tree, 'float'), -0.001)
  t.equal(at(tree, 'flag'), true)
  t.same(
    at(tree, 'ordered'),
    new Map([
      ['b', 1],
      ['a', 2]
    ])
  )
  t.same(await elements(at(tree, 'old')), [2, 3])
  t.same(await elements(at(tree, 'parameter')), [1, 2])
})

t.test('a storage that is a part of another one, in the older format', async t => {
  const part = (start: number, count: number): Code =>
    join(
      tuple(text('storage'), global('torch', 'FloatStorage'), text('7'), text('cpu'), int(6), tuple(text('8'), int(start), int(count))),
      raw('Q')
    )
  const view = (start: number, count: number): Code =>
    pickle(call(global('torch._utils', '_rebuild_tensor_v2'), part(start, count), ...tensorArguments({ shape: [2], offset: 1 }).slice(1)))
  const storages = [{ key: '7', count: 6, bytes: floats(0, 1, 2, 3, 4, 5) }]
  t.same(await elements(await read(legacy(view(2, 3), storages))), [3, 4])
  const outside = legacy(view(4, 3), storages)
  t.equal(
    await messageOf(read(outside)),
    `torch view outside of its storage: 12 bytes from byte 16, expected at most 24 (byte ${Buffer.from(outside).indexOf('Q')})`
  )
})

t.test('a dtype beside an untyped storage', async t => {
  const code = pickle(typedTensor('uint16', { count: 6, shape: [2], offset: 1 }))
  const value = await read(archive(code, { 0: new Uint8Array([1, 0, 2, 0, 3, 1]) }))
  t.same(await elements(value), [2, 259])
  const beyond = pickle(typedTensor('uint16', { count: 6, shape: [3], offset: 1 }))
  t.equal(
    await messageOf(read(archive(beyond, { 0: new Uint8Array(6) }))),
    `torch tensor outside of its storage: (3,) with strides (1,) from element 1, expected elements below 3 (member a/data.pkl, byte ${beyond.lastIndexOf('R')})`
  )
})

t.test('only the pickle and the storages that are asked for are read', async t => {
  const large = new Uint8Array(2 ** 22)
  const shared = { key: '1', count: 2 ** 20, shape: [2 ** 9, 2 ** 11] }
  const code = pickle(dict({ large: tensor({ shape: [2 ** 20] }), rows: tensor(shared), small: tensor({ key: '2' }) }))
  const numbers = Float32Array.from({ length: 2 ** 20 }, (_, i) => i)
  const source = sourceOf(archive(code, { 0: large, 1: new Uint8Array(numbers.buffer), 2: floats(1, 2) }))
  const tree = await readTorch(source)
  t.ok(source.read < 80_000, `${source.read} bytes for the tree`)
  t.same(await elements(at(tree, 'small')), [1, 2])
  t.ok(source.read < 82_000, `${source.read} bytes with a small tensor`)
  const rows = at(tree, 'rows')
  if (!isTensor(rows)) throw new TypeError('no tensor')
  const two = rows.rows(3, 5)
  t.same([two.shape, two.offset, two.length], [[2, 2 ** 11], 3 * 2 ** 11, 2 ** 12])
  const data = await two.read()
  t.equal(data.length, 2 ** 12)
  t.ok(data.every((value, i) => value === 3 * 2 ** 11 + i))
  // the CRC-32 once, a megabyte at a time, and then the part
  t.ok(source.read < 2 ** 22 + 120_000, `${source.read} bytes with two rows`)
  await rows.rows(0, 1).read()
  t.ok(source.read < 2 ** 22 + 130_000, `${source.read} bytes with one more`)
  t.equal(source.largest, 2 ** 20)
  t.throws(() => rows.rows(0, 513), new RangeError('rows 0 to 513 of 512'))
  t.throws(() => rows.rows(2, 1), RangeError)
  const none = rows.rows(512, 512)
  t.same([none.shape, (await none.read()).length], [[0, 2 ** 11], 0])
})

t.test('a damaged storage is told when it is read, by a part too', async t => {
  const code = pickle(dict({ a: tensor({ shape: [100, 2] }), b: tensor({ key: '1' }) }))
  const bytes = archive(code, { 0: new Uint8Array(800), 1: floats(1, 2) })
  const place = Buffer.from(bytes).indexOf(Buffer.alloc(800))
  bytes[place + 700] ^= 1
  const tree = await readTorch(sourceOf(bytes), { file: 'x.pt' })
  t.same(await elements(at(tree, 'b')), [1, 2])
  const a = at(tree, 'a')
  if (!isTensor(a)) throw new TypeError('no tensor')
  const message = /^zip damaged member: CRC-32 0x[0-9a-f]{8}, expected 0x[0-9a-f]{8} \(x\.pt, member a\/data\/0\)$/
  t.match(await messageOf(a.read()), message)
  t.match(await messageOf(a.rows(0, 1).read()), message)
})

t.test('integers beyond 2^53 have no double', async t => {
  const numbers = new BigInt64Array([1n, -(2n ** 53n), 2n ** 53n + 1n])
  const code = pickle(dict({ a: tensor({ type: 'LongStorage', count: 3 }), b: tensor({ type: 'LongStorage', count: 3, offset: 1 }) }))
  const tree = await read(archive(code, { 0: new Uint8Array(numbers.buffer) }))
  const [a, b] = [at(tree, 'a'), at(tree, 'b')]
  if (!isTensor(a) || !isTensor(b)) throw new TypeError('no tensor')
  t.same(await a.readNumbers(), new Float64Array([1, -(2 ** 53)]))
  t.same(await b.read(), numbers.subarray(1))
  t.equal(
    await messageOf(b.readNumbers()),
    `torch integer out of range: 9007199254740993, expected at most 2^53 in size, where every integer has a double of its own (member a/data.pkl, index 1, byte ${code.lastIndexOf('R')})`
  )
})

const PLAIN = 'expected a plain value or a tensor'
const system = global('os', 'system')

t.test('names that are not known', async t => {
  const tree = await read(
    archive(
      pickle(
        dict({
          name: system,
          called: call(system, text('touch /tmp/x')),
          // attributes, items and members of an object, and a call of one
          built: join(call(global('trainer', 'State')), dict({ a: int(1) }), raw('b')),
          listed: join(call(global('trainer', 'List')), raw('('), int(1), int(2), raw('e')),
          keyed: join(call(global('trainer', 'Dict')), raw('('), text('a'), int(2), raw('u')),
          member: join(raw('\x8f('), int(1), raw('\x90')),
          chained: call(call(system, text('a')), text('b')),
          created: join(global('trainer', 'New'), tuple(int(1)), raw('\x81')),
          named: join(global('trainer', 'Named'), tuple(), dict({ a: int(1) }), raw('\x92')),
          old: join(raw('('), int(1), raw('itrainer\nOld\n')),
          older: join(raw('('), global('trainer', 'Older'), int(1), raw('o')),
          // a dotted name is no way to one that is known
          dotted: join(text('torch'), text('_utils._rebuild_tensor_v2'), raw('\x93')),
          eval: global('builtins', 'eval'),
          extension: raw('\x82\x07'),
          storage: storage({ type: 'FooStorage', key: '9' }),
          over: tensor({ type: 'FooStorage', key: '9' }),
          complex: tensor({ type: 'ComplexFloatStorage', key: '1' }),
          float8: typedTensor('float8_e4m3fn', { key: '2' }),
          itself: global('torch._utils', '_rebuild_tensor_v2'),
          made: call(global('torch', 'FloatStorage'), int(4)),
          read: tensor()
        })
      ),
      { 0: floats(1, 2), 1: new Uint8Array(16), 2: new Uint8Array(2) }
    )
  )
  const names = new Map([...(tree as Map<string, TorchValue>)].map(([key, value]) => [key, value instanceof Opaque ? value.name : 'read']))
  t.same(Object.fromEntries(names), {
    name: 'os.system',
    called: 'os.system',
    built: 'trainer.State',
    listed: 'trainer.List',
    keyed: 'trainer.Dict',
    member: 'builtins.set',
    chained: 'os.system',
    created: 'trainer.New',
    named: 'trainer.Named',
    old: 'trainer.Old',
    older: 'trainer.Older',
    dotted: 'torch._utils._rebuild_tensor_v2',
    eval: 'builtins.eval',
    extension: 'copyreg.extension 7',
    storage: 'torch.FooStorage',
    over: 'torch.FooStorage',
    complex: 'torch.ComplexFloatStorage',
    float8: 'torch.float8_e4m3fn',
    itself: 'torch._utils._rebuild_tensor_v2',
    made: 'torch.FloatStorage',
    read: 'read'
  })
  const dotted = join(text('torch'), text('_utils._rebuild_tensor_v2'), raw('\x93'))
  const builtByDotted = await read(archive(pickle(list(call(dotted, ...tensorArguments()))), { 0: floats(1, 2) }))
  t.ok(at(builtByDotted, 0) instanceof Opaque, 'a dotted name builds no tensor')
  const called = at(tree, 'called')
  if (!(called instanceof Opaque)) throw new TypeError('no Opaque')
  t.equal(
    called.fault({ file: 'x.pt', array: 'samples[0].values' }).message,
    `torch global refused: os.system, ${PLAIN} (x.pt, samples[0].values)`
  )
})

t.test('a class that is not known refuses the file where it is the value, or where its size must be known', async t => {
  for (const [code, name] of [
    [system, 'os.system'],
    [call(system, text('touch /tmp/x')), 'os.system'],
    [join(call(global('trainer', 'Batch')), dict({ a: int(1) }), raw('b')), 'trainer.Batch'],
    [call(global('__builtin__', 'eval'), text('1')), '__builtin__.eval'],
    [storage({}), 'torch.FloatStorage'],
    [global('a\u0007b', 'c'), 'a\\u0007b.c']
  ] as const) {
    t.equal(await messageOf(read(archive(pickle(code), { 0: floats(1, 2) }))), `torch global refused: ${name}, ${PLAIN}`)
    if (name !== 'torch.FloatStorage') t.equal(await messageOf(read(legacy(pickle(code)))), `torch global refused: ${name}, ${PLAIN}`)
  }
  const unknown = legacy(pickle(list(tensor({ type: 'FooStorage' }))), [{ key: '0', count: 2, bytes: floats(1, 2) }])
  const count = unknown.length - 16
  t.equal(await messageOf(read(unknown)), `torch global refused: torch.FooStorage, ${PLAIN} (storage 0, byte ${count})`)
  const complex = legacy(pickle(list(tensor({ type: 'ComplexFloatStorage' }), tensor({ key: '1' }))), [
    { key: '0', count: 2, bytes: new Uint8Array(16) },
    { key: '1', count: 2, bytes: floats(1, 2) }
  ])
  t.same(await elements(at(await read(complex), 1)), [1, 2], 'a known size is passed over')
})

t.test('what is wrong with a file is told, with the place', async t => {
  const good = archive(pickle(tensor()), { 0: floats(1, 2) })
  const code = pickle(tensor())
  const legacyGood = legacy(code, [{ key: '0', count: 2, bytes: floats(1, 2) }])
  const end = legacyGood.length - 16
  const cases: readonly (readonly [what: string, bytes: Uint8Array, message: string])[] = [
    [
      'nothing',
      new Uint8Array(0),
      'torch not recognised: nothing, expected a ZIP archive, or a pickle with the magic number of torch (x.pt)'
    ],
    [
      'a plain pickle',
      new Uint8Array(pickle(dict({}))),
      'torch not recognised: bytes 80 02 7d 28 75 2e, expected a ZIP archive, or a pickle with the magic number of torch (x.pt)'
    ],
    [
      'a ZIP of other things',
      zip([['a.npy', floats(1)]]),
      'torch not recognised: a ZIP archive without a pickle, expected a member <prefix>/data.pkl (x.pt)'
    ],
    [
      'a pickle without a folder',
      zip([['data.pkl', code]]),
      'torch not recognised: a ZIP archive without a pickle, expected a member <prefix>/data.pkl (x.pt)'
    ],
    [
      'two pickles',
      zip([
        ['a/data.pkl', code],
        ['b/data.pkl', code]
      ]),
      'torch ambiguous archive: members a/data.pkl, b/data.pkl, expected one <prefix>/data.pkl (x.pt)'
    ],
    ['no storage', archive(code), 'torch missing storage: no such member, expected 8 bytes (x.pt, member a/data/0)'],
    [
      'a short storage',
      archive(code, { 0: floats(1) }),
      'torch wrong storage size: 4 bytes, expected 8 as the pickle states (x.pt, member a/data/0)'
    ],
    [
      'a long storage',
      archive(code, { 0: floats(1, 2, 3) }),
      'torch wrong storage size: 12 bytes, expected 8 as the pickle states (x.pt, member a/data/0)'
    ],
    [
      'a byte order',
      archive(code, { 0: floats(1, 2) }, [['a/byteorder', Buffer.from('middle')]]),
      'torch unknown byte order: middle, expected little or big (x.pt, member a/byteorder)'
    ],
    [
      'a version',
      archive(code, { 0: floats(1, 2) }, [['a/version', Buffer.from('11\n')]]),
      'torch unsupported version: 11, expected 1 to 10 (x.pt, member a/version)'
    ],
    [
      'no version',
      archive(code, { 0: floats(1, 2) }, [['a/version', Buffer.from('three')]]),
      'torch unsupported version: three, expected 1 to 10 (x.pt, member a/version)'
    ],
    [
      'bytes behind the pickle',
      archive(join(code, raw('..')), { 0: floats(1, 2) }),
      `torch trailing bytes: 2 bytes after the pickle, expected none (x.pt, member a/data.pkl, byte ${code.length})`
    ],
    [
      'a pickle that ends',
      archive(code.subarray(0, 40)),
      'torch truncated pickle: the end of its 40 bytes, expected the rest of it (x.pt, member a/data.pkl)'
    ],
    [
      'half an archive',
      good.subarray(0, good.length - 1),
      `zip truncated: no end of central directory, expected an end record in the last ${good.length - 1} bytes (x.pt)`
    ],
    ['a version of the older format', legacy(code, [], 1002), 'torch unsupported version: 1002, expected 1001 (x.pt)'],
    [
      'the older format, half a pickle',
      new Uint8Array(Buffer.concat([MAGIC, MAGIC.subarray(0, 5)])),
      'torch truncated pickle: the end of the file after 5 bytes, expected the rest of it (x.pt, byte 15)'
    ],
    [
      'no storage in the older format',
      legacy(code),
      `torch missing storage: no storage 0, expected 1 more (x.pt, byte ${legacy(code).length})`
    ],
    [
      'a storage too many',
      legacy(pickle(int(1)), [{ key: '0', count: 2, bytes: floats(1, 2) }]),
      `torch unexpected storage: no tensor of this key, or a second one, expected one that the pickle refers to (x.pt, storage 0, byte ${legacy(pickle(int(1)), [{ key: '0', count: 0, bytes: floats() }]).length - 8})`
    ],
    [
      'a storage of another size',
      legacy(code, [{ key: '0', count: 3, bytes: floats(1, 2, 3) }]),
      `torch wrong storage size: 3 elements of 4 bytes, expected 8 bytes as the pickle states (x.pt, storage 0, byte ${end})`
    ],
    [
      'a storage that ends',
      legacyGood.subarray(0, -1),
      `torch truncated: 15 bytes, expected 16 for this storage (x.pt, storage 0, byte ${end})`
    ],
    [
      'bytes behind the storages',
      new Uint8Array(Buffer.concat([legacyGood, raw('.')])),
      `torch trailing bytes: 1 bytes, expected none (x.pt, byte ${legacyGood.length})`
    ],
    [
      'keys of no text',
      new Uint8Array(Buffer.concat([legacy(code).subarray(0, legacy(code).length - pickle(list()).length), pickle(list(int(1)))])),
      'torch malformed list of storages: a list, expected a list of their keys (x.pt)'
    ]
  ]
  for (const [what, bytes, message] of cases) {
    const told = await messageOf(readTorch(sourceOf(bytes), { file: 'x.pt' }))
    t.ok(told.startsWith(message), `${what}: ${told}`)
  }
  t.equal(
    await messageOf(readTorch(sourceOf(good), { maxPickleBytes: 100 })),
    `zip member too large: ${code.length} bytes, expected at most 100 (member a/data.pkl)`
  )
  t.equal(
    await messageOf(readTorch(sourceOf(legacyGood), { maxPickleBytes: 100 })),
    `torch pickle too large: more than 100 bytes, expected at most 100 (byte ${legacyGood.length - 16 - pickle(list(text('0'))).length - code.length})`
  )
})

t.test('what is wrong with a tensor is told before memory is taken', async t => {
  const huge = 2 ** 52
  const cases: readonly (readonly [what: string, code: Code, message: string])[] = [
    [
      'beyond',
      tensor({ count: 2, shape: [3] }),
      'torch tensor outside of its storage: (3,) with strides (1,) from element 0, expected elements below 2'
    ],
    [
      'beyond by offset',
      tensor({ count: 2, offset: 1 }),
      'torch tensor outside of its storage: (2,) with strides (1,) from element 1, expected elements below 2'
    ],
    [
      'beyond by stride',
      tensor({ count: 2, stride: [2] }),
      'torch tensor outside of its storage: (2,) with strides (2,) from element 0, expected elements below 2'
    ],
    [
      'a huge stride',
      tensor({ count: 2, shape: [huge], stride: [huge] }),
      `torch tensor outside of its storage: (${huge},) with strides (${huge},) from element 0, expected elements below 2`
    ],
    [
      'a huge shape',
      tensor({ count: 2, shape: [huge, huge], stride: [0, 0] }),
      `torch impossible shape: (${huge}, ${huge}), expected at most 2^53 elements`
    ],
    [
      'a huge storage',
      tensor({ count: huge, shape: [1] }),
      `torch impossible storage: ${huge} elements of 4 bytes, expected fewer than 2^53 bytes`
    ],
    ['axes and strides', tensor({ shape: [1, 2], stride: [1] }), 'torch impossible stride: 1 strides, expected 2, as the shape has axes'],
    ['65 axes', tensor({ shape: new Array<number>(65).fill(1) }), 'torch impossible shape: 65 axes, expected at most 64'],
    ['a negative stride', tensor({ shape: [2], stride: [-1] }), 'torch malformed pickle: -1 as stride, expected an integer from 0 to 2^53'],
    ['a negative offset', tensor({ offset: -1 }), 'torch malformed pickle: -1 as offset, expected an integer from 0 to 2^53'],
    [
      'a text for a shape',
      call(global('torch._utils', '_rebuild_tensor_v2'), storage({}), int(0), text('ab'), tuple(int(1)), raw('\x89'), OrderedDict),
      'torch malformed pickle: a string as shape, expected a tuple of integers'
    ],
    [
      'few arguments',
      call(global('torch._utils', '_rebuild_tensor_v2'), storage({}), int(0), tuple(int(2)), tuple(int(1))),
      'torch malformed pickle: a tensor of 4 arguments, expected 6 or more'
    ],
    [
      'no storage',
      call(global('torch._utils', '_rebuild_tensor_v2'), int(1), int(0), tuple(), tuple(), raw('\x89'), OrderedDict),
      'torch malformed pickle: a tensor over a number, expected over a storage'
    ],
    [
      'no dtype',
      call(global('torch._utils', '_rebuild_tensor_v3'), ...tensorArguments(), text('float32')),
      'torch malformed pickle: a string as dtype, expected a dtype'
    ],
    [
      'no tensor',
      call(global('torch._utils', '_rebuild_parameter'), int(1)),
      'torch malformed pickle: a parameter of a number, expected of a tensor'
    ],
    [
      'two sizes',
      list(tensor({ count: 2 }), tensor({ count: 3 })),
      'torch contradicting storages: 12 bytes for storage 0, expected 8 as before'
    ],
    ['a foreign id', join(text('x'), raw('Q')), 'torch malformed pickle: a persistent id of a string, expected a tuple'],
    [
      'an unknown id',
      join(tuple(text('file'), text('x')), raw('Q')),
      'torch malformed pickle: a persistent id of file, expected a storage'
    ],
    [
      'a count',
      join(tuple(text('storage'), global('torch', 'FloatStorage'), text('0'), text('cpu'), raw('G\x40\x04\0\0\0\0\0\0')), raw('Q')),
      'torch malformed pickle: 2.5 as count of a storage, expected an integer from 0 to 2^53'
    ]
  ]
  for (const [what, code, message] of cases) {
    const fault = await faultOf(read(archive(pickle(code), { 0: floats(1, 2) })))
    t.ok(fault.message.startsWith(`${message} (member a/data.pkl, byte `), `${what}: ${fault.message}`)
  }
  // torch writes these: elements that are repeated without being stored
  const expanded = async (shape: readonly number[]): Promise<unknown> =>
    read(archive(pickle(tensor({ count: 1, shape, stride: shape.map(() => 0) })), { 0: floats(7) }))
  t.same(await elements(await expanded([2, 2])), [7, 7, 7, 7])
  const repeated = await expanded([2 ** 40])
  if (!isTensor(repeated)) throw new TypeError('no tensor')
  t.match(
    await messageOf(repeated.read()),
    /^torch tensor too large: 1099511627776 elements over 1 stored ones, expected at most 67108864 /
  )
  t.same(await elements(repeated.rows(5, 7)), [7, 7])
})

/** Every one is refused at its first wrong opcode, which is the last here. */
const MALFORMED: readonly (readonly [what: string, code: Code, message: string])[] = [
  ['an empty stack', raw('0'), 'an empty stack, expected a value on it'],
  ['nothing for STOP', raw('.'), 'an empty stack, expected a value on it'],
  ['two values at STOP', raw('NN.'), '1 values and marks left at the end, expected none'],
  ['a mark at STOP', raw('N(N.'), '2 values and marks left at the end, expected none'],
  ['no mark', raw('N]e'), 'no mark, expected one'],
  ['a pop beyond a mark', raw('N(a'), 'an empty stack, expected a value on it'],
  ['a pair beyond a mark', raw('NN(\x86'), '0 values on the stack, expected 2'],
  ['a memo entry', raw('h\x05'), 'memo entry 5, expected one that was stored'],
  ['a memo entry of 30 digits', raw(`g${'9'.repeat(30)}\n`), 'memo entry 999999999999999999999999999999, expected an index below 2^32'],
  ['a negative memo entry', raw('Np-1\n'), 'memo entry -1, expected an index below 2^32'],
  ['items for a tuple', raw(')Na'), 'items for a tuple, expected for a list'],
  ['items for None', raw('NNa'), 'items for None, expected for a list'],
  ['items for bytes', raw('C\x01aNa'), 'items for bytes, expected for a list'],
  ['items for a dict', raw('}Na'), 'items for a dict, expected for a list'],
  ['keys for a list', raw(']NNs'), 'keys for a list, expected for a dict'],
  ['keys for bytes', raw('C\x01aK\x00K\x00s'), 'keys for bytes, expected for a dict'],
  ['a key without a value', raw('}(Nu'), 'a key without a value, expected pairs'],
  ['a list as key', raw('}]Ns'), 'a list as a key, expected a text, a number or a tuple'],
  ['a dict as key', raw('}}Ns'), 'a dict as a key, expected a text, a number or a tuple'],
  ['a key twice', join(raw('}('), text('a'), raw('N'), text('a'), raw('Nu')), 'the key a twice, expected each key once'],
  ['members for a list', raw('](\x90'), 'members for a list, expected for a set'],
  ['attributes for a list', raw(']}b'), 'attributes for a list, expected for an object'],
  ['attributes for a number', raw('K\x01}b'), 'attributes for a number, expected for an object'],
  ['attributes for a tensor', join(tensor(), raw('}b')), 'attributes for a tensor, expected for an object'],
  ['a call of a text', join(text('os.system'), raw(')R')), 'a call of a string, expected of a name'],
  ['a call of a dict', raw('})R'), 'a call of a dict, expected of a name'],
  ['arguments in a list', join(global('collections', 'OrderedDict'), raw(']R')), 'a list of arguments, expected a tuple'],
  [
    'items of an OrderedDict',
    call(global('collections', 'OrderedDict'), int(1)),
    'a number as items of an OrderedDict, expected a list of pairs'
  ],
  [
    'an item of an OrderedDict',
    call(global('collections', 'OrderedDict'), list(tuple(int(1)))),
    'a tuple as item of an OrderedDict, expected key and value'
  ],
  [
    'an OrderedDict with a key twice',
    call(global('collections', 'OrderedDict'), list(tuple(int(1), int(2)), tuple(int(1), int(3)))),
    'the key 1 twice, expected each key once'
  ],
  ['a global of numbers', raw('K\x01K\x02\x93'), 'a global without a name, expected texts for module and name'],
  ['protocol 6', raw('\x80\x06'), 'protocol 6, expected at most 5'],
  ['a frame that cuts a number', raw('\x95\x02\0\0\0\0\0\0\0J\x01\0\0\0'), 'an opcode across the end of a frame, expected one within it'],
  ['an opcode', raw('\xff'), 'opcode 0xff, expected one that a pickle in one piece has'],
  ['a buffer outside', raw('\x97'), 'opcode 0x97, expected one that a pickle in one piece has'],
  ['a string of protocol 0', raw("S'a'\n"), 'opcode 0x53, expected one that a pickle in one piece has'],
  ['a persistent id in text', raw('Pa\n'), 'opcode 0x50, expected one that a pickle in one piece has']
]

/** The same, told at the operand. */
const OPERANDS: readonly (readonly [what: string, code: Code, message: string])[] = [
  ['text that is not UTF-8', raw('X\x02\0\0\0\xff\xfe'), 'text that is not UTF-8, expected UTF-8'],
  ['text with a lone continuation', raw('X\x04\0\0\0\xed\xa0\x80\x80'), 'text that is not UTF-8, expected UTF-8'],
  ['a length of 2^63', raw('\x8d\0\0\0\0\0\0\0\x80'), 'an impossible length, expected one below 2^53'],
  ['an integer of 5000 bytes', join(raw('\x8b\x88\x13\0\0'), Buffer.alloc(5000)), 'an integer of 5000 bytes, expected at most 4096'],
  ['an INT with a leading zero', raw('I0101\n'), 'a line without an integer, expected decimal digits'],
  ['an INT of minus zero', raw('I-0\n'), 'a line without an integer, expected decimal digits'],
  ['an escape', raw('V\\u12\n'), 'an escape without digits, expected four or eight hexadecimal ones'],
  ['a name', raw('ca\nb\xff\n'), 'a name that is not UTF-8, expected UTF-8'],
  ['an INT of letters', raw('Iabc\n'), 'a line without an integer, expected decimal digits'],
  ['a LONG of letters', raw('L0x10L\n'), 'a line without an integer, expected decimal digits'],
  ['a FLOAT of letters', raw('F1,5\n'), 'a line without a number, expected a float'],
  ['a character', raw('V\\U00110000\n'), 'a character beyond U+10FFFF, expected Unicode'],
  ['a long line', join(raw('c'), Buffer.alloc(10_001, 'a'), raw('\n')), 'a line of more than 10000 bytes, expected a shorter one']
]

t.test('malformed pickles', async t => {
  for (const [what, code, message] of [...MALFORMED, ...OPERANDS]) {
    const fault = await faultOf(read(archive(join(raw('\x80\x02'), code, raw('.')), { 0: floats(1, 2) })))
    t.equal(fault.message.replace(/byte \d+\)$/, 'byte)'), `torch malformed pickle: ${message} (member a/data.pkl, byte)`, what)
  }
  // the place is that of the opcode, or of its operand
  t.equal((await faultOf(read(archive(raw('\x80\x02NNa.'))))).place.offset, 4)
  t.equal((await faultOf(read(archive(raw('\x80\x02NIabc\n.'))))).place.offset, 4)
  t.equal((await faultOf(read(legacy(raw('\x80\x02NNa.'))))).place.offset, legacy(raw('')).length - pickle(list()).length + 4)
})

t.test('a deflated pickle is read where it is not many times larger than its bytes', async t => {
  const told = await messageOf(readTorch(sourceOf(bomb('a/data.pkl', pickle(raw('N')), 17)), { file: 'x.pt' }))
  t.match(told, /^torch pickle too large: 17825796 bytes out of \d+, expected at most 64 times as many \(x\.pt, member a\/data\.pkl\)$/)
  const small = bomb('a/data.pkl', pickle(raw('N')), 1)
  t.match(await messageOf(readTorch(sourceOf(small))), /^torch trailing bytes: 1048576 bytes after the pickle/, 'a small one is read')
})

t.test('hostile pickles', async t => {
  const nested = (levels: number): Code => pickle(raw(']'.repeat(levels)), raw('a'.repeat(levels - 1)))
  const started = process.cpuUsage()
  let deep: unknown = await read(archive(nested(1024)))
  for (let level = 1; level < 1024; level++) deep = at(deep, 0)
  t.same(deep, [], '1024 levels')
  const tooDeep = 'torch pickle too deep: more than 1024 levels, expected fewer'
  for (const levels of [1025, 2_000_000]) t.equal(await messageOf(read(archive(nested(levels)))), tooDeep, `${levels} levels`)
  // a list of 600 levels within one of 600
  const twice = join(nested(600).subarray(2, -1), put(0), raw('0'), raw(']'.repeat(600)), get(0), raw('a'.repeat(600)))
  t.equal(await messageOf(read(archive(pickle(list(twice, get(0)))))), tooDeep)

  const itself = 'torch malformed pickle: a list or dict that contains itself, expected a tree'
  t.equal(await messageOf(read(archive(pickle(raw(']q\0h\0a'))))), itself, 'a list')
  t.equal(await messageOf(read(archive(pickle(raw('}q\0'), text('a'), raw('h\0s'))))), itself, 'a dict')
  t.equal(await messageOf(read(archive(pickle(raw(']q\0h\0\x85a'))))), itself, 'a tuple in a list')
  t.equal(await messageOf(read(archive(pickle(raw(']2a'))))), itself, 'a list by DUP')

  // 40 lists of two references each: a tree of 2^40
  const doubled = pickle(raw(']q\0'), ...Array.from({ length: 40 }, () => raw('0](h\0h\0eq\0')))
  const most = 2 ** 20 + 64 * doubled.length
  t.equal(await messageOf(read(archive(doubled))), `torch pickle too large: a tree of more than ${most} values, expected at most ${most}`)
  const once = pickle(list(join(list(int(1), int(2)), put(0)), ...Array.from({ length: 50 }, () => get(0))))
  t.same(
    await read(archive(once)),
    Array.from({ length: 51 }, () => [1, 2]),
    'a list may stand at many places'
  )

  for (const [what, code] of [
    ['a text of 4 GiB', raw('X\xff\xff\xff\xff')],
    ['bytes of 2^52', raw('\x8e\0\0\0\0\0\0\x10\0')],
    ['a frame of 2^52', raw('\x95\0\0\0\0\0\0\x10\0N')],
    ['an integer of 4 GiB', raw('\x8b\xff\xff\xff\xff')]
  ] as const) {
    t.match(
      await messageOf(read(archive(pickle(code)))),
      /^torch truncated pickle: the end of its \d+ bytes, expected the rest of it/,
      what
    )
    t.match(
      await messageOf(read(legacy(pickle(code)))),
      /^torch truncated pickle: the end of the file after \d+ bytes, expected the rest/,
      what
    )
  }
  t.same(await read(archive(pickle(raw('K\x07r\xff\xff\xff\xff0](N0j\xff\xff\xff\xffe')))), [7], 'a memo index of 2^32 - 1')

  const limited = (code: Code): Promise<string> => messageOf(readTorch(sourceOf(archive(code)), { maxTreeBytes: 2 ** 20 }))
  const tooLarge = /^torch pickle too large: values of more than 1048576 bytes, expected at most 1048576 \(member a\/data\.pkl, byte \d+\)$/
  t.match(await limited(pickle(raw('('), raw('}'.repeat(5000)), raw('l'))), tooLarge, 'dicts')
  t.match(await limited(pickle(raw('('), raw(']'.repeat(12_000)), raw('l'))), tooLarge, 'lists')
  t.match(await limited(pickle(raw('('), raw('C\0'.repeat(5000)), raw('l'))), tooLarge, 'bytes')
  t.match(
    await limited(pickle(raw('('), ...Array.from({ length: 300 }, () => join(raw('\x8b\0\x10\0\0'), Buffer.alloc(4096, 1))), raw('l'))),
    tooLarge,
    'integers'
  )
  const pairs = join(list(...Array.from({ length: 500 }, (_, i) => tuple(int(i), int(i)))), put(0), raw('0'))
  const calls = Array.from({ length: 60 }, () => join(global('collections', 'OrderedDict'), get(0), raw('\x85R0')))
  t.match(await limited(pickle(pairs, ...calls, raw('N'))), tooLarge, 'calls with one list')
  t.match(await limited(pickle(raw('N'), ...Array.from({ length: 4100 }, () => storageOpcode()), raw('N'))), tooLarge, 'storages')
  t.ok(cpuMs(started) < 20_000, 'in time')
})

/** A storage that is dropped again: its id is in the memo. */
function storageOpcode(): Code {
  return join(storage({}), raw('0'))
}

t.test('no prototype is touched', async t => {
  const before = JSON.stringify([Object.getOwnPropertyNames(Object.prototype), Object.getOwnPropertyNames(Map.prototype)])
  const evil = dict({ polluted: raw('\x88') })
  const proto = dict({ __proto__: evil, constructor: evil, toString: evil })
  const own = join(raw('}('), text('__proto__'), evil, text('constructor'), raw('Nu'))
  const tree = await read(
    archive(
      pickle(
        dict({
          own,
          proto,
          built: join(OrderedDict, own, raw('b')),
          ordered: call(global('collections', 'OrderedDict'), list(tuple(text('__proto__'), evil))),
          name: join(global('torch', 'FloatStorage'), own, raw('b')),
          builder: join(global('torch._utils', '_rebuild_tensor_v2'), own, raw('b')),
          module: global('__proto__', 'polluted'),
          inherited: global('toString', 'constructor'),
          tensor: tensor()
        })
      ),
      { 0: floats(1, 2) }
    )
  )
  t.same(at(tree, 'own', '__proto__', 'polluted'), true)
  t.same(at(tree, 'built'), new Map())
  t.same(at(tree, 'ordered', '__proto__', 'polluted'), true)
  t.same(await elements(at(tree, 'tensor')), [1, 2])
  t.equal((at(tree, 'module') as Opaque).name, '__proto__.polluted')
  t.equal((at(tree, 'inherited') as Opaque).name, 'toString.constructor')
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
  t.equal((() => 0 as unknown as { polluted?: unknown })().polluted, undefined)
  t.equal(JSON.stringify([Object.getOwnPropertyNames(Object.prototype), Object.getOwnPropertyNames(Map.prototype)]), before)
})

t.test('a file that ends at any byte is refused', async t => {
  for (const name of ['layouts.pt', 'layouts-legacy.pt', 'tensor.pt']) {
    const bytes = bytesOf(name)
    const wrong: number[] = []
    for (let length = 0; length < bytes.length; length++) {
      const fault = await faultOf(read(bytes.subarray(0, length)))
      if (!/^(?:torch|zip) /.test(fault.message)) wrong.push(length)
    }
    t.same(wrong, [], name)
  }
  const code = Buffer.from(bytesOf('plain-legacy.pt'))
  const small = pickle(dict({ a: tensor(), b: list(int(2 ** 40), text('x')) }))
  for (let length = 0; length < small.length; length++) {
    t.match(
      await messageOf(read(archive(small.subarray(0, length)))),
      /^torch truncated pickle: the end of its/,
      `${length} bytes of a pickle`
    )
  }
  t.ok(code.length > 2 ** 14, 'and the pickles of the older format are larger than one read')
})

/** Everything in a tree, tensors read; null where it is refused. Anything but a Fault is thrown. */
async function wholeReading(bytes: Uint8Array): Promise<string | null> {
  const source = sourceOf(bytes)
  try {
    const tree = await readTorch(source)
    const reading = JSON.stringify(await readingOf(tree, null))
    if (source.largest > bytes.length) throw new Error('more read than there is')
    return reading
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/** Changes some bytes: one bit, a byte, a piece dropped, doubled or moved. */
function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  let out = Buffer.from(bytes)
  for (let k = 1 + random.below(3); k > 0 && out.length > 0; k--) {
    const place = random.below(out.length)
    const length = 1 + random.below(8)
    switch (random.below(5)) {
      case 0:
        out[place] ^= 1 << random.below(8)
        break
      case 1:
        out[place] = random.pick([...Buffer.from('NNNN(()]}}tuesaRQbqhjr.0012c\x85\x86\x87\x94\x81\x93', 'latin1'), random.below(256)])
        break
      case 2:
        out = Buffer.concat([out.subarray(0, place), out.subarray(place + length)])
        break
      case 3:
        out = Buffer.concat([out.subarray(0, place + length), out.subarray(place)])
        break
      default: {
        const from = random.below(out.length)
        out = Buffer.concat([out.subarray(0, place), out.subarray(from, from + length), out.subarray(place)])
      }
    }
  }
  return new Uint8Array(out)
}

t.test('a mutated file is refused, or read as it was; a mutated pickle is refused or read', async t => {
  const random = new Random(seedOf(1951))
  const names = ['layouts.pt', 'dtypes.pt', 'slime.pt', 'big-endian.pt', 'protocol-4.pt', 'refused.pt']
  const originals = await Promise.all(names.map(async name => ({ name, bytes: bytesOf(name), reading: await wholeReading(bytesOf(name)) })))
  let refused = 0
  let read = 0
  for (let k = 0; k < rounds(1500); k++) {
    const { name, bytes, reading } = random.pick(originals)
    const flipped = bytes.slice()
    const bit = random.below(8 * bytes.length)
    flipped[bit >> 3] ^= 1 << (bit & 7)
    const got = await wholeReading(flipped)
    if (got === null) refused++
    else if (got !== reading) t.fail(`${name}: another reading with bit ${bit}`)
  }
  t.ok(refused > rounds(1500) / 4, `${refused} of ${rounds(1500)} refused`)
  refused = 0
  const codes = names.map(name => pickleOf(bytesOf(name)))
  const older = ['layouts-legacy.pt', 'dtypes-legacy.pt', 'slime-legacy.pt', 'protocol-5-legacy.pt'].map(bytesOf)
  for (let k = 0; k < rounds(3000); k++) {
    const [file, what] = random.chance(0.5)
      ? [mutate(random.pick(older), random), 'older format']
      : [remade(random.pick(codes), random), 'pickle']
    try {
      if ((await wholeReading(file)) === null) refused++
      else read++
    } catch (error) {
      t.fail(`round ${k}, ${what}: ${error instanceof Error ? error.stack : String(error)}\n${Buffer.from(file).toString('base64')}`)
    }
  }
  t.ok(refused > rounds(3000) / 4 && read > rounds(3000) / 100, `${refused} refused, ${read} read`)
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
})

interface Unzipped {
  readonly code: Code
  readonly storages: Readonly<Record<string, Uint8Array>>
}

/** Pickle and storages of an archive that torch wrote. */
function pickleOf(bytes: Uint8Array): Unzipped {
  const entries = readZipDirectory(bytes)
  const content = ({ dataOffset, size }: (typeof entries)[number]): Uint8Array => bytes.subarray(dataOffset, dataOffset + size)
  const code = entries.find(({ name }) => name.endsWith('/data.pkl'))
  if (code === undefined) throw new TypeError('no pickle')
  const storages = entries.filter(({ name }) => name.includes('/data/')).map(entry => [entry.name.split('/')[2], content(entry)] as const)
  return { code: Buffer.from(content(code)), storages: Object.fromEntries(storages) }
}

/** An archive whose sums are right around a pickle with changes. */
function remade({ code, storages }: Unzipped, random: Random): Uint8Array {
  return archive(Buffer.from(mutate(code, random)), storages)
}

t.test('what is a torch file', async t => {
  const cases: readonly (readonly [what: string, bytes: Uint8Array, kind: 'zip' | 'legacy' | null])[] = [
    ['an archive', archive(pickle(raw('N'))), 'zip'],
    ['the older format', legacy(pickle(raw('N'))), 'legacy'],
    ['the older format, cut', MAGIC, 'legacy'],
    ['an archive of arrays', zip([['values.npy', floats(1)]]), null],
    ['an empty archive', zip([]), null],
    ['an archive that ends', archive(pickle(raw('N'))).subarray(0, 100), null],
    ['a pickle', pickle(raw('N')), null],
    ['nothing', new Uint8Array(0), null],
    ['text', Buffer.from('{"a": 1}\n'), null]
  ]
  for (const [what, bytes, kind] of cases) t.equal(await recogniseTorch(sourceOf(bytes)), kind, what)
})
