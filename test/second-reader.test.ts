/**
 * The second reader: every right file of the fixtures and of public repositories goes through it and is never "different"; a value
 * that our side reads wrong is, with its place; what a library does never ends or holds the program.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { parquetWriteBuffer } from 'hyparquet-writer'
import t, { type Test } from 'tap'
import { runVerify } from '../src/cli/verify.js'
import { Fault } from '../src/core/errors.js'
import type { HistoryKeys } from '../src/ingest/histories/rows.js'
import { parseHistory } from '../src/ingest/histories/parse.js'
import { readNpy } from '../src/ingest/npz/npy.js'
import { openNpz } from '../src/ingest/npz/npz.js'
import { encodeNpy } from '../src/ingest/npz/write.js'
import { columnPages } from '../src/ingest/parquet/pages.js'
import { DEFAULT_KEYS, type ParsedTrace } from '../src/schema/traces.js'
import type { Study } from '../src/schema/study.js'
import { taskOf } from '../src/second/formats.js'
import { compareHistory, type OwnHistory } from '../src/second/history.js'
import { compareNpy, compareNpz, type OpenOwn } from '../src/second/npz.js'
import { compareElement, comparePage, MAX_SECOND_PAGE_BYTES, openOwnPage, type OwnPage } from '../src/second/page.js'
import { compareParquet, type OwnPages } from '../src/second/parquet.js'
import { Comparison, type SecondReading } from '../src/second/reading.js'
import { runSecond } from '../src/second/run.js'
import { archive } from './support/archives.js'
import { caseOf, casesOf, writeCases, type Case } from './support/cases.js'
import { runCli } from './support/cli.js'
import { writeHistoryStudy } from './support/history-folder.js'
import { fixture, root } from './support/paths.js'

const CASES = process.env['CRITIC_TRACES_CASES'] ?? join(root, '../shared/cases')
const NO_CASES = { skip: existsSync(CASES) ? false : `no ${CASES}` }
const REQUEST = { keys: DEFAULT_KEYS, endMarker: '<|im_end|>' }
const KEYS: HistoryKeys = { step: '_step', timestamp: '_timestamp', global_step: 'training/global_step' }

const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(folder)
    .filter(name => ending.test(name))
    .map(name => join(folder, name))

/** The file's status; where it is a difference, the words. */
const told = (reading: SecondReading): string =>
  reading.status === 'different' ? `different: ${JSON.stringify(reading.fault)}` : reading.status

interface Tally {
  same: number
  'not readable': number
  refused: number
}

/** Every reading, counted; a difference is a failure of the test. */
async function never<Input extends string | Case>(
  t: Test,
  inputs: readonly Input[],
  read: (input: Input) => Promise<SecondReading>
): Promise<Tally> {
  const tally: Tally = { same: 0, 'not readable': 0, refused: 0 }
  for (const input of inputs) {
    const file = typeof input === 'string' ? input : input.name
    const reading = await read(input)
    if (reading.status === 'different') t.fail(`${file}: ${told(reading)}`)
    else tally[reading.status]++
    if (reading.status === 'not readable') t.ok(reading.unreadParts > 0 && reading.unread.every(u => u.reason !== ''), `${file}: says why`)
  }
  return tally
}

t.test('fixtures/npz', async t => {
  const dir = t.testdir({ valid: {}, invalid: {} })
  writeCases(join(dir, 'valid'), casesOf('npz/valid'))
  writeCases(join(dir, 'invalid'), casesOf('npz/invalid'))
  t.strictSame(await never(t, filesIn(join(dir, 'valid'), /\.npz$/), file => compareNpz(file)), {
    same: 13,
    'not readable': 11,
    refused: 0
  })
  const { same } = await never(t, filesIn(join(dir, 'valid'), /\.npy$/), file => readOneNpy(file))
  t.ok(same >= 3, `${same} .npy files are the same`)
  const invalid = await never(t, filesIn(join(dir, 'invalid'), /\.npz$/), file => compareNpz(file))
  t.equal(invalid.same, 0, 'what our reader refuses is no reading')
  t.ok(invalid.refused > 40, `${invalid.refused} are refused`)
})

/** An `.npy` file alone, as a member of an archive is read. */
function readOneNpy(file: string): Promise<SecondReading> {
  const bytes = new Uint8Array(readFileSync(file))
  const comparison = new Comparison('npz', 'npyjs', file)
  return comparison.run(() => compareNpy(comparison, readNpy(bytes), bytes, ''))
}

t.test('fixtures/snapshot', async t => {
  t.strictSame(await never(t, filesIn(fixture('snapshot'), /\.npz$/), file => compareNpz(file)), { same: 5, 'not readable': 0, refused: 0 })
  const page = await comparePage(fixture('snapshot', 'index.html'), REQUEST)
  t.match(page, { status: 'same', unread: [], fault: null })
  t.ok(page.values > 7000, `${page.values} values`)
})

t.test('fixtures/html: the element, as the fixture states it', async t => {
  interface Element {
    readonly content: string
    readonly contentOffset: number
    readonly encoding?: string
  }
  const tally = await never(t, casesOf<Element>('html/valid'), ({ name, bytes, content, contentOffset: offset, encoding = 'utf-8' }) => {
    const comparison = new Comparison('page', 'cheerio', name)
    return comparison.run(async () => {
      await compareElement(comparison, Buffer.from(bytes), { content: Buffer.from(content), offset, encoding })
    })
  })
  t.strictSame({ ...tally, same: tally.same > 75 }, { same: true, 'not readable': tally['not readable'], refused: 0 })
  t.ok(tally['not readable'] < 25, `${tally['not readable']} are not for parse5 to judge`)
})

t.test('fixtures/parquet: none of what Arrow and DuckDB write with dictionaries or other codecs can be judged', async t => {
  t.strictSame(await never(t, filesIn(fixture('parquet'), /\.parquet$/), file => compareParquet(file)), {
    same: 0,
    'not readable': 16,
    refused: 0
  })
})

t.test('fixtures/histories', async t => {
  const dir = t.testdir({ valid: {}, invalid: {} })
  const tally = await never(t, writeCases(join(dir, 'valid'), casesOf('histories/valid'), '.jsonl'), file => {
    const { expected } = caseOf<{ readonly expected: { readonly keys: HistoryKeys } }>('histories/valid', basename(file, '.jsonl'))
    return compareHistory(file, expected.keys)
  })
  t.strictSame(tally, { same: 20, 'not readable': 3, refused: 0 }, 'three have NaN or Infinity as bare words')
  const invalid = await never(t, writeCases(join(dir, 'invalid'), casesOf('histories/invalid'), '.jsonl'), file =>
    compareHistory(file, { step: '_step', timestamp: '_timestamp', global_step: null })
  )
  t.ok(invalid.refused > 50, `${invalid.refused} are refused`)
})

t.test('files of public repositories', NO_CASES, async t => {
  const parquet = await never(t, filesIn(join(CASES, 'parquet'), /\.parquet$/), file => compareParquet(file))
  // By pyarrow's reading, a file whose values are plain and not compressed, or by gzip or snappy.
  for (const name of ['adam_genotypes', 'concatenated_gzip_members', 'old_list_structure', 'struct_strings']) {
    t.equal(told(await compareParquet(join(CASES, `parquet/${name}.parquet`))), 'same', name)
  }
  t.ok(parquet.same >= 4)
  const npz = await never(t, filesIn(join(CASES, 'numpy'), /^(?!.*80BAU3B).*\.npz$/), file => compareNpz(file))
  t.ok(npz.same >= 3)
  const real = await compareHistory(join(CASES, 'wandb/tada_grpo_metrics.jsonl'), { step: 'step', timestamp: null, global_step: null })
  t.match(real, { status: 'same' })
})

/** Ends in a difference at a place, as a Fault of exit 1 in our grammar. */
function differs(t: Test, reading: SecondReading, place: object, message: RegExp): void {
  t.equal(reading.status, 'different')
  if (reading.fault === null) throw new Error('no fault')
  const fault = Fault.deserialize(reading.fault)
  t.equal(fault.exitCode, 1)
  t.match(fault.place, place)
  t.match(fault.message, message)
}

t.test('a value that our side reads wrong is different, with its place: page', async t => {
  const file = fixture('snapshot', 'index.html')
  const planted = (change: (page: OwnPage) => Partial<OwnPage>) =>
    comparePage(file, REQUEST, (path, request) => {
      const own = openOwnPage(path, request)
      return { ...own, ...change(own) }
    })
  const inTrace = (index: number, change: (trace: ParsedTrace) => object) =>
    planted(own => ({
      async *traces() {
        for await (const trace of own.traces()) yield trace.index === index ? { ...trace, ...change(trace) } : trace
      }
    }))
  differs(
    t,
    await inTrace(2, ({ values }) => ({ values: values.with(7, values[7] + 2 ** -40) })),
    { file, trace: 2, array: 'values', index: 7 },
    /^page second reader differs: -?[\d.]+ from cheerio and JSON\.parse, expected -?[\d.e-]+ as our reader reads/
  )
  differs(
    t,
    await inTrace(0, ({ positions }) => ({ positions: positions.subarray(1) })),
    { trace: 0, array: 'response_positions', index: 0 },
    /differs/
  )
  differs(t, await inTrace(1, ({ returns }) => ({ returns: returns.subarray(0, -1) })), { trace: 1, array: 'returns' }, /numbers/)
  differs(
    t,
    await inTrace(3, ({ fields }) => ({ fields: { ...fields, uid: 'other' } })),
    { trace: 3, member: 'uid' },
    /as our reader reads/
  )
  differs(
    t,
    await inTrace(1, ({ spans }) => ({
      spans: { count: spans?.count, endsWithMarker: spans?.endsWithMarker.map((e, i) => (i === 0 ? 1 - e : e)) }
    })),
    { trace: 1, array: 'segment_texts', index: 0 },
    /expected false as our reader reads/
  )
  differs(
    t,
    await planted(own => ({ header: () => ({ ...own.header(), snapshotTime: null }) })),
    { member: 'snapshot_time' },
    /expected null/
  )
  differs(
    t,
    await planted(own => ({
      async *traces() {
        for await (const trace of own.traces()) if (trace.index < 3) yield trace
      }
    })),
    { array: 'traces' },
    /differs: 4 from .*, expected 3/
  )
})

t.test('… the element itself', async t => {
  const bytes = Buffer.from('<!doctype html><p><script id=data>{"traces":[1]}</script>')
  const ours = { content: Buffer.from('{"traces":[1]}'), offset: bytes.indexOf('{'), encoding: 'utf-8' }
  const read = (page: Buffer, own: typeof ours): Promise<SecondReading> => {
    const comparison = new Comparison('page', 'cheerio', 'x.html')
    return comparison.run(async () => {
      await compareElement(comparison, page, own)
    })
  }
  t.equal(told(await read(bytes, ours)), 'same')
  differs(
    t,
    await read(bytes, { ...ours, content: Buffer.from('{"traces":[2]}') }),
    { file: 'x.html' },
    /other content \(14 characters for 14\)/
  )
  differs(
    t,
    await read(Buffer.from('<p>no script {"traces":[1]}'), ours),
    { file: 'x.html' },
    /0 of them from cheerio, expected .*one script#data/
  )
})

t.test('… NPZ', async t => {
  const file = fixture('npz', 'trace-stored.npz')
  const planted: OpenOwn = (bytes, name) => {
    const npz = openNpz(bytes, { file: name })
    return {
      names: npz.names,
      read: array => {
        const read = npz.read(array)
        return array === 'values' && read.data instanceof Float32Array ? { ...read, data: read.data.with(3, 0.5) } : read
      }
    }
  }
  differs(
    t,
    await compareNpz(file, planted),
    { file, member: 'values', index: 3 },
    /^npz second reader differs: -?[\d.e-]+ from fflate and npyjs, expected 0\.5/
  )
  differs(
    t,
    await compareNpz(file, (bytes, name) => {
      const npz = openNpz(bytes, { file: name })
      return { names: npz.names, read: array => ({ ...npz.read(array), shape: [1, 2] }) }
    }),
    { member: 'values', array: 'shape' },
    /expected \(1, 2\) as our reader reads/
  )
  const path = join(t.testdir({}), 'zero.npz')
  writeFileSync(path, await archive([['values', encodeNpy(Float64Array.of(1, -0))]]))
  t.equal(told(await compareNpz(path)), 'same', 'a negative zero is itself')
  differs(
    t,
    await compareNpz(path, bytes => {
      const npz = openNpz(bytes)
      return { names: npz.names, read: array => ({ ...npz.read(array), data: Float64Array.of(1, 0) }) }
    }),
    { member: 'values', index: 1 },
    /differs: -0 from .* expected 0/
  )
})

interface ParquetJs {
  readonly ParquetSchema: new (fields: object) => object
  readonly ParquetWriter: {
    openFile(schema: object, path: string): Promise<{ appendRow(row: object): Promise<void>; close(): Promise<void> }>
  }
}

t.test('… parquet', async t => {
  const dir = t.testdir({})
  const path = join(dir, 'plain.parquet')
  const names = Array.from({ length: 300 }, (_, i) => (i % 50 === 0 ? null : `task/${i}`))
  writeFileSync(
    path,
    Buffer.from(
      parquetWriteBuffer({
        codec: 'SNAPPY',
        rowGroupSize: 100,
        columnData: [
          { name: 'task', data: names, type: 'STRING' },
          { name: 'score', data: names.map((_, i) => i / 7), type: 'DOUBLE' },
          { name: 'n', data: names.map((_, i) => BigInt(i)), type: 'INT64' }
        ]
      })
    )
  )
  const library = createRequire(import.meta.url)('parquetjs-lite') as ParquetJs
  const own = join(dir, 'own.parquet')
  const schema = new library.ParquetSchema({
    task_path: { type: 'UTF8', compression: 'GZIP' },
    score: { type: 'DOUBLE', optional: true },
    ok: { type: 'BOOLEAN' }
  })
  const writer = await library.ParquetWriter.openFile(schema, own)
  for (let i = 0; i < 40; i++)
    await writer.appendRow({ task_path: `/openswe/${i}`, ...(i % 3 === 0 ? {} : { score: i / 4 }), ok: i % 2 === 0 })
  await writer.close()
  // 294 texts, 300 numbers twice; 40 texts, 26 scores, 40 flags
  t.match(await compareParquet(path), { status: 'same', values: 894 })
  t.match(await compareParquet(own), { status: 'same', values: 106 })
  const planted = (column: string, change: (values: unknown[]) => void): OwnPages =>
    async function* (source, footer, group, chunk) {
      for await (const page of columnPages(source, footer.groups[group], chunk, { pages: 0, checksummed: 0 })) {
        const values = [...(page.values as Iterable<unknown>)]
        if (group === 1 && chunk.leaf.path.join('.') === column) change(values)
        yield { ...page, values: values as Uint8Array[] }
      }
    }
  differs(
    t,
    await compareParquet(
      path,
      planted('score', values => {
        values[5] = 0.5
      })
    ),
    { file: path, member: 'row group 1', array: 'column score', index: 5 },
    /^parquet second reader differs: 15 from parquetjs-lite, expected 0\.5 as our reader reads/
  )
  differs(
    t,
    await compareParquet(
      path,
      planted('task', values => {
        values[0] = Buffer.from('task/x')
      })
    ),
    { array: 'column task', index: 0 },
    /differs: bytes [0-9a-f]+ from/
  )
  differs(
    t,
    await compareParquet(
      path,
      planted('n', values => {
        values.pop()
      })
    ),
    { array: 'column n' },
    /differs: 100 from .* expected 99/
  )
})

t.test('… history', async t => {
  const path = join(t.testdir({}), 'h.jsonl')
  writeFileSync(
    path,
    '{"_step":0,"_timestamp":1.5,"a":0.1}\n{"_step":1,"_timestamp":2.5,"a":null,"b":"nan"}\n{"_step":2,"_timestamp":3.5,"a":1e999,"b":[1]}\n'
  )
  const keys = { step: '_step', timestamp: '_timestamp', global_step: null }
  const planted = (change: (rows: Awaited<ReturnType<OwnHistory>>) => object) =>
    compareHistory(path, keys, async (text, k, wanted) => {
      const rows = await parseHistory(
        (async function* whole() {
          yield text
        })(),
        { keys: k, wanted }
      )
      return { ...rows, ...change(rows) }
    })
  const inColumn = (key: string, change: object) =>
    planted(({ columns }) => ({ columns: columns.map(column => (column.key === key ? { ...column, ...change } : column)) }))
  t.match(await compareHistory(path, keys), { status: 'same' })
  differs(
    t,
    await inColumn('a', { value: Float64Array.of(0.25) }),
    { file: path, line: 1, array: 'a' },
    /^history second reader differs: 0\.1 from JSON\.parse, expected 0\.25 as our reader reads/
  )
  differs(
    t,
    await inColumn('a', { row: Int32Array.of(0, 2), value: Float64Array.of(0.1, 3) }),
    { line: 3, array: 'a' },
    /nothing from JSON\.parse, expected 3/
  )
  differs(t, await inColumn('a', { row: Int32Array.of(), value: Float64Array.of() }), { line: 1, array: 'a' }, /expected nothing/)
  differs(t, await inColumn('a', { nulls: 0 }), { array: 'a' }, /differs: 1 from .* expected 0/)
  differs(t, await inColumn('b', { nonFinite: {} }), { array: 'b' }, /differs: 1 from/)
  differs(t, await planted(({ timestamp }) => ({ timestamp: timestamp.with(1, 2) })), { line: 2, array: '_timestamp' }, /2\.5 from/)
  differs(t, await planted(() => ({ rows: 4 })), {}, /differs: 3 from .* expected 4/)
})

t.test('what JSON.parse does not take is not readable, and what our reader refuses is refused', async t => {
  const dir = t.testdir({})
  const path = join(dir, 'index.html')
  const trace = '{"step":1,"outcome":"success","score":1,"values":[0.5,NUMBER],"returns":[1,1],"response_positions":[3,4]}'
  const page = (number: string): void => {
    writeFileSync(path, `<script id=data>{"traces":[${trace.replace('NUMBER', number)}]}</script>`)
  }
  page('0.25')
  t.match(await comparePage(path, REQUEST), { status: 'same' })
  for (const word of ['NaN', '-Infinity']) {
    page(word)
    t.match(await comparePage(path, REQUEST), {
      status: 'not readable',
      unread: [{ part: null, reason: `JSON.parse: the bare word ${word.replace('-', '')}, which Python writes and JSON does not have` }]
    })
  }
  page('1.')
  t.match(await comparePage(path, REQUEST), { status: 'refused', fault: { format: 'json', problem: 'malformed' } })
  page('1.5')
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)))
  t.match(await comparePage(`${path}.gz`, REQUEST), { status: 'same' })
  writeFileSync(`${path}.gz`, gzipSync(Buffer.concat([readFileSync(path), Buffer.alloc(MAX_SECOND_PAGE_BYTES, ' ')])))
  t.match(await comparePage(`${path}.gz`, REQUEST), {
    status: 'not readable',
    unread: [{ reason: `more than ${MAX_SECOND_PAGE_BYTES} bytes: cheerio would take more than a gigabyte of memory` }]
  })
  writeFileSync(path, `<template><p></template>${readFileSync(path, 'utf8')}`)
  t.match(await comparePage(path, REQUEST), {
    status: 'same',
    notes: [/^<template> before the script: cheerio stands on parse5, so where our reader asks parse5 too/]
  })
  const history = join(dir, 'h.jsonl')
  writeFileSync(history, '{"_step":0,"a":NaN}\n{"_step":1,"a":2}\n')
  t.match(await compareHistory(history, { ...KEYS, timestamp: null }), {
    status: 'not readable',
    values: 4,
    unreadParts: 1,
    unread: [{ part: 'line 1', reason: /bare word NaN/ }]
  })
})

t.test('every form of an outcome, and every other field that our reader makes one of several forms, is the same', async t => {
  const dir = t.testdir({})
  const path = join(dir, 'index.html')
  const read = (trace: string, header = ''): Promise<SecondReading> => {
    writeFileSync(
      path,
      `<script id=data>{${header}"traces":[{"step":1,${trace}"values":[0.5],"returns":[1],"response_positions":[3]}]}</script>`
    )
    return comparePage(path, REQUEST)
  }
  for (const form of ['true', 'false', '1', '0', '1.0', '0.0', '-0', '1e0', '"success"', '"failure"', '"\\u0073uccess"', 'null']) {
    t.match(await read(`"outcome":${form},`), { status: 'same', unread: [], fault: null }, form)
  }
  t.match(await read(''), { status: 'same' }, 'none')
  for (const uid of ['7', '-7', '"7"', 'null']) t.match(await read(`"uid":${uid},`), { status: 'same' }, uid)
  for (const field of ['"score":-0,', '"score":1e999,', '"value_mean":1.50,', '"segment_texts":null,', '"npz":null,'])
    t.match(await read(field), { status: 'same' }, field)
  for (const synthetic of ['true', 'false', '1', '"true"', 'null', '{"synthetic":true}']) {
    const twice = synthetic.startsWith('{')
    t.match(await read('', `"synthetic":${synthetic},`), { status: twice ? 'not readable' : 'same' }, synthetic)
  }
  t.match(
    await read('', '"synthetic":true,"synthetic":false,'),
    { status: 'not readable', unread: [{ part: 'synthetic' }] },
    'our reader keeps the label, JSON.parse the last value'
  )
  const wrong = await comparePage(path, REQUEST, (file, request) => {
    const own = openOwnPage(file, request)
    return {
      ...own,
      async *traces() {
        for await (const trace of own.traces()) yield { ...trace, fields: { ...trace.fields, outcome: 'failure' } }
      }
    }
  })
  differs(t, wrong, { trace: 0, member: 'outcome' }, /null from .* expected "failure"/)
})

t.test('what our reader refuses is refused, whatever the second can judge of the file', async t => {
  const dir = t.testdir({})
  const path = join(dir, 'index.html')
  const trace = (score = '1'): string =>
    `{"step":1,"outcome":"success","score":${score},"values":[0.5],"returns":[1],"response_positions":[3]}`
  const refused: ReadonlyArray<readonly [what: string, page: string, problem: string]> = [
    ['traces twice', `<script id=data>{"traces":[${trace()},${trace()}],"traces":[${trace('0')}]}</script>`, 'duplicate key'],
    [
      'a key twice behind a trace that differs',
      `<script id=data>{"traces":[${trace()}],"alignment":"a","traces":[]}</script>`,
      'duplicate key'
    ],
    ['in markup that is not for cheerio', `<select></select><script id=data>{"traces":[${trace('1.')}]}</script>`, 'malformed']
  ]
  for (const [what, page, problem] of refused) {
    writeFileSync(path, page)
    t.match(await comparePage(path, REQUEST), { status: 'refused', fault: { format: 'json', problem } }, what)
  }
  for (const [score, status] of [
    ['1', 'not readable'],
    ['1.', 'refused']
  ]) {
    const page = `<script id=data>{"traces":[${trace(score)}]}</script>`
    writeFileSync(path, page)
    writeFileSync(`${path}.gz`, gzipSync(page))
    for (const file of [path, `${path}.gz`]) t.match(await comparePage(file, REQUEST, undefined, 80), { status }, `over the limit: ${file}`)
  }
  const history = join(dir, 'h.jsonl')
  const keys = { ...KEYS, timestamp: null }
  writeFileSync(history, '{"_step":0,"a":1}\n{"_step":1,"a":1.}\n')
  t.match(await compareHistory(history, keys, undefined, 10), { status: 'refused' }, 'a history over the limit')
  writeFileSync(history, `{"_step":0${Array.from({ length: 20_001 }, (_, i) => `,"k${i}":1`).join('')}}\n`)
  t.match(await compareHistory(history, keys), { status: 'not readable', unread: [{ reason: 'more than 20000 different keys' }] })
  writeFileSync(history, `${readFileSync(history, 'utf8')}{"_step":1,}\n`)
  t.match(await compareHistory(history, keys), { status: 'refused' }, 'a history of many keys')
  const parquet = join(dir, 'x.parquet')
  writeFileSync(
    parquet,
    Buffer.from(
      parquetWriteBuffer({
        codec: 'UNCOMPRESSED',
        columnData: [{ name: 'n', data: Array.from({ length: 300 }, (_, i) => i / 7), type: 'DOUBLE' }]
      })
    )
  )
  t.match(await compareParquet(parquet, undefined, 100), { status: 'not readable', unread: [{ reason: /^more than 100 bytes/ }] })
  const bytes = readFileSync(parquet)
  // the first page's header
  bytes.fill(0xff, 4, 12)
  writeFileSync(parquet, bytes)
  t.match(await compareParquet(parquet, undefined, 100), { status: 'refused' }, 'a parquet file over the limit')
  const npz = join(dir, 'x.npz')
  const good = await archive([
    ['b', encodeNpy(Float64Array.of(1, 2))],
    ['a', encodeNpy(Float64Array.of(3, 4))]
  ])
  const broken = Buffer.from(good)
  broken[broken.lastIndexOf(Buffer.from(Float64Array.of(3).buffer))] ^= 1
  writeFileSync(npz, broken)
  t.match(await compareNpz(npz), { status: 'refused' })
  t.match(
    await compareNpz(npz, (all, name) => {
      const own = openNpz(all, { file: name })
      return { names: own.names, read: array => (array === 'b' ? { ...own.read(array), data: Float64Array.of(1, 0) } : own.read(array)) }
    }),
    { status: 'refused' },
    'a broken member behind one that differs'
  )
  writeFileSync(npz, Buffer.concat([Buffer.from('junk'), broken]))
  t.match(await compareNpz(npz), { status: 'refused' }, 'bytes before a broken archive')
})

t.test('a member that is no array is not readable, and the arrays beside it are compared', async t => {
  const npz = join(t.testdir({}), 'x.npz')
  const array = ['values.npy', encodeNpy(Float64Array.of(1, 2))] as const
  const zip = (members: Record<string, Uint8Array>): void => {
    writeFileSync(npz, zipSync(members))
  }
  zip({ 'readme.txt': Buffer.from('what is in here'), 'd/': new Uint8Array(0), empty: new Uint8Array(0), [array[0]]: array[1] })
  t.match(await compareNpz(npz), {
    status: 'not readable',
    values: 2,
    unreadParts: 3,
    unread: [
      { part: 'readme.txt', reason: /^no \.npy file: npy not recognised/ },
      { part: 'd/', reason: /^no \.npy file/ },
      { part: 'empty' }
    ]
  })
  zip({ plain: array[1], [array[0]]: array[1] })
  t.match(await compareNpz(npz), { status: 'same', values: 4 }, 'an array by its content needs no ending')
  zip({ 'other.npy': Buffer.from('what is in here'), [array[0]]: array[1] })
  t.match(await compareNpz(npz), { status: 'refused' }, 'what is called an array has to be one')
})

/** A study of the snapshot in fixtures/, with its manifest. */
async function snapshotStudy(dir: string): Promise<void> {
  mkdirSync(dir, { recursive: true })
  cpSync(fixture('snapshot'), join(dir, 'snap'), { recursive: true })
  writeFileSync(join(dir, 'study.json'), JSON.stringify({ schema_version: 1, name: 'copied', critic_traces: { snapshot: 'snap' } }))
  const { code, stderr } = await runCli(['manifest', '--study', dir, '--write', '--quiet'])
  if (code !== 0) throw new Error(stderr)
}

t.test('verify --second-reader', async t => {
  const dir = join(t.testdir({}), 'study')
  await snapshotStudy(dir)
  const run = await runCli(['verify', '--study', dir, '--second-reader'])
  t.match(run, { code: 0, stdout: /^second reader: 6 same, 0 different, 0 not readable by the second; [\d,]+ values compared$/m })
  const json = JSON.parse((await runCli(['verify', '--study', dir, '--second-reader', '--json'])).stdout) as {
    second_reader: { path: string; format: string; status: string }[]
  }
  t.strictSame(
    json.second_reader.map(({ path, format, status }) => [path.slice(5), format, status]),
    [
      ['index.html', 'page', 'same'],
      ...readdirSync(fixture('snapshot'))
        .filter(name => name.endsWith('.npz'))
        .sort()
        .map(name => [name, 'npz', 'same'])
    ]
  )
  writeFileSync(join(dir, 'snap/index.html'), `${readFileSync(join(dir, 'snap/index.html'), 'utf8')} `)
  t.match(await runCli(['verify', '--study', dir, '--second-reader']), {
    code: 1,
    stdout: /^second reader: not asked, since files differ from the manifest$/m,
    stderr: /file differs/
  })
  writeFileSync(join(dir, 'snap/index.html'), '<p>none</p>')
  await runCli(['manifest', '--study', dir, '--write', '--quiet'])
  t.match(await runCli(['verify', '--study', dir, '--second-reader']), {
    code: 3,
    stdout: /1 refused by ours/,
    stderr: /^critic-traces: html missing element.*index\.html/m
  })
})

t.test("plain verify loads none of the second reader's libraries", async t => {
  const work = t.testdir({})
  const dir = join(work, 'study')
  await snapshotStudy(dir)
  const names = '/^(?:cheerio|npyjs|fflate|parquetjs-lite)$/'
  const hook = `export async function resolve(name, context, next) { if (${names}.test(name)) throw new Error('loaded ' + name); return next(name, context) }`
  writeFileSync(
    join(work, 'refuse.cjs'),
    `
const loader = require('node:module')
const load = loader._load
loader._load = function (name, ...rest) { if (${names}.test(name)) throw new Error('loaded ' + name); return load.call(this, name, ...rest) }
loader.register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}), require('node:url').pathToFileURL(__filename))
`
  )
  const env = { NODE_OPTIONS: `--require ${join(work, 'refuse.cjs')}` }
  t.match(await runCli(['verify', '--study', dir], { env }), { code: 0, stdout: /^7 ok/m })
  const asked = await runCli(['verify', '--study', dir, '--second-reader'], { env })
  t.match(asked.stdout, /0 same, 0 different, 6 not readable by the second/, 'it is these that it needs')
  for (const name of ['cheerio', 'fflate']) t.match(asked.stdout, `loaded ${name}`)
})

t.test('which files are read twice, and what the readers are told', async t => {
  const traces = { keys: DEFAULT_KEYS, expectations: { boundary_end_marker: '<end>' } }
  const study = { critic_traces: traces, histories: { keys: { step: '_step' } } } as unknown as Study
  const told = (path: string, role: string, of = study): unknown => {
    const task = taskOf(`/study/${path}`, { path, role }, of)
    return task === null ? null : [task.file, task.format, task.request]
  }
  t.strictSame(told('a.NPZ', 'excluded'), ['/study/a.NPZ', 'npz', {}])
  t.strictSame(told('rows.parquet', 'excluded'), ['/study/rows.parquet', 'parquet', {}])
  t.strictSame(told('rows', 'dataset'), ['/study/rows', 'parquet', {}], 'a dataset of any name')
  t.strictSame(told('h/r.jsonl', 'history'), ['/study/h/r.jsonl', 'history', { step: '_step' }])
  t.strictSame(told('p.html', 'snapshot'), ['/study/p.html', 'page', { keys: DEFAULT_KEYS, endMarker: '<end>' }])
  t.equal(told('p.html', 'excluded'), null)
  t.equal(told('study.json', 'study'), null)
  const neither = { critic_traces: null, histories: null } as unknown as Study
  t.equal(told('h/r.jsonl', 'history', neither), null)
  t.equal(told('p.html', 'snapshot', neither), null)
})

const CHILD = fileURLToPath(new URL('./support/second-child.js', import.meta.url))

t.test('a reader that is wrong: exit 1 and its place; one that dies: not readable, and the rest goes on', async t => {
  const dir = join(t.testdir({}), 'study')
  writeHistoryStudy(dir)
  const text = { stdout: '', stderr: '' }
  const io = {
    stdout: {
      // Wide enough for the reason, which is cut else.
      isTTY: true,
      columns: 400,
      write: (part: string) => {
        text.stdout += part
        return true
      }
    },
    stderr: {
      write: (part: string) => {
        text.stderr += part
        return true
      }
    },
    env: { NO_COLOR: '1' },
    now: () => 0,
    signal: new AbortController().signal
  }
  const options = {
    study: dir,
    outputs: null,
    figures: null,
    secondReader: true,
    format: 'text',
    json: false,
    quiet: false,
    verbose: false
  } as const
  const { exitCode } = await runVerify(options, io, { child: CHILD })
  t.equal(exitCode, 1)
  t.match(text.stdout, /^second reader: 0 same, 1 different, 2 not readable by the second; /m)
  t.match(text.stdout, /ref\.jsonl +0 +its process ended with exit code 1/, 'what is thrown later')
  t.match(text.stdout, /second\.jsonl +\d+ +line 2: JSON\.parse: the bare word NaN/, 'a file behind the one that ended its process')
  t.match(
    text.stderr,
    /^critic-traces: history second reader differs: 0\.25 from JSON\.parse, expected 0\.25000000000000\d+ as our reader reads \(.*first\.jsonl, reward, line 2\)$/m
  )
})

t.test('a reader that hangs is ended; an interruption ends the reading', async t => {
  const task = { path: 'hang.npz', task: { file: 'hang.npz', format: 'npz', request: {} } } as const
  t.match(await runSecond([task], { child: CHILD, limitMs: 500 }), [
    { path: 'hang.npz', status: 'not readable', unread: [{ reason: 'no answer within 0.5 seconds' }] }
  ])
  const controller = new AbortController()
  const reason = new Error('enough')
  const running = runSecond([task], { child: CHILD, signal: controller.signal })
  controller.abort(reason)
  await t.rejects(running, reason)
  t.match(await runSecond([task], { child: join(root, 'no-such-file.js') }), [
    { status: 'not readable', unread: [{ reason: /^its process/ }] }
  ])
})
