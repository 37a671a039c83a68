/**
 * Everything under src/render/outputs. Expected files in fixtures/outputs were written by Python 3.11.7 (json, csv) and
 * numpy 2.4.6 (statistics, np.savez) from the same input; the Arrow file's hash was pinned after pyarrow 25.0.1 had read
 * it, as a file, as a stream and mapped.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import * as nodeFs from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as fullArrow from 'apache-arrow'
import t from 'tap'
import type { TraceColumns, TraceResult } from '../src/compute/contract.js'
import { Fault } from '../src/errors.js'
import { TraceArchiveWriter } from '../src/render/outputs/archive.js'
import { ArrowTraceWriter, type ArrowMetadata } from '../src/render/outputs/arrow.js'
import { csvRow, type CsvCell } from '../src/render/outputs/csv.js'
import {
  boundaryAuditDocument, MAX_LISTED_EXCEPTIONS, statisticsDocument, writeBoundaryAudit, writeStatistics, writeTraceIndex
} from '../src/render/outputs/documents.js'
import { jsonText } from '../src/render/outputs/json-text.js'
import { outputFault } from '../src/render/outputs/output-fault.js'
import { nodeOutputFs } from '../src/render/outputs/output-fs.js'
import { OUTPUT_PATHS, tracePrefix } from '../src/render/outputs/output-names.js'
import { OutputSet } from '../src/render/outputs/output-set.js'
import { isLeftOver, parseTempName, tempName } from '../src/render/outputs/temp-names.js'
import { compareCodePoints, compareTraces, trajectoriesCsv, writeTrajectories } from '../src/render/outputs/trajectories.js'
import { parseCsv } from './support/csv-parse.js'
import { countingFs, systemError, withHandles } from './support/failing-fs.js'
import { nullPointers, schemaProblems } from './support/json-schema.js'
import { expectedFile, outputFixture, ROOT, traceColumns, type OutputFixture } from './support/output-fixture.js'

const fixture = outputFixture('three-traces')
const METADATA: ArrowMetadata = {
  synthetic: true, verified: true, snapshotTime: fixture.statistics.snapshot_time, generator: fixture.generator
}

/** All files below a folder, relative, sorted: what a user sees, temporary files included. */
function tree(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const error: unknown = await work.then(() => null, thrown => thrown)
  if (error instanceof Fault) return error
  throw new Error(`expected a Fault, got ${error instanceof Error ? error.stack : String(error)}`)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Everything that a run writes, as the pipeline drives it. */
async function writeEverything(dir: string, fixture: OutputFixture, overlap: boolean): Promise<void> {
  const { html, excluded, alignment, generator, statistics, results: traces } = fixture
  const { synthetic, verified, snapshot_time: snapshotTime } = statistics
  const set = await OutputSet.open(dir)
  const arrow = await ArrowTraceWriter.open(set)
  const archive = await TraceArchiveWriter.open(set, synthetic)
  const pending: Array<Promise<void>> = []
  for (const [i, columns] of fixture.columns.entries()) {
    pending.push(arrow.write(i, columns), archive.write(i, columns.npy))
    if (!overlap) await Promise.all(pending)
  }
  await Promise.all(pending)
  await arrow.finish({ synthetic, verified, snapshotTime, generator })
  await archive.finish()
  await writeTraceIndex(set, { synthetic, verified, html, snapshotTime, alignment, traces, excluded }, generator)
  await writeBoundaryAudit(set, { synthetic, htmlSha256: html.sha256, endMarker: fixture.end_marker, traces }, generator)
  await writeTrajectories(set, traces)
  await writeStatistics(set, statistics, generator)
  await set.commit()
}

t.test('every output equals what Python made of the same input', async t => {
  const cases = readdirSync(new URL('fixtures/outputs/', ROOT), { withFileTypes: true }).filter(e => e.isDirectory())
  t.ok(cases.length > 0)
  for (const { name } of cases) {
    t.test(name, async t => {
      const dir = t.testdir()
      const data = outputFixture(name)
      await writeEverything(join(dir, 'one'), data, false)
      await writeEverything(join(dir, 'two'), data, true)
      t.strictSame(tree(join(dir, 'one')), Object.values(OUTPUT_PATHS).slice().sort(), 'these files and no others')
      for (const path of Object.values(OUTPUT_PATHS)) {
        const bytes = readFileSync(join(dir, 'one', path))
        const expected = expectedFile(name, path.slice('training_data/'.length))
        if (expected.hashed) t.equal(sha256(bytes), expected.text, path)
        else t.equal(bytes.toString('utf8'), expected.text, path)
        t.ok(readFileSync(join(dir, 'two', path)).equals(bytes), `${path}: the same bytes again, writes overlapping`)
      }
    })
  }
})

t.test('Arrow', async t => {
  const dir = t.testdir()
  const path = join(dir, OUTPUT_PATHS.arrow)

  async function write(columns: readonly TraceColumns[], metadata: ArrowMetadata = METADATA): Promise<Buffer> {
    const set = await OutputSet.open(dir)
    const writer = await ArrowTraceWriter.open(set)
    for (const [i, c] of columns.entries()) await writer.write(i, c)
    await writer.finish(metadata)
    await set.commit()
    return readFileSync(path)
  }

  t.test('reads back through the full package: values, types, batches, metadata', async t => {
    const bytes = await write(fixture.columns)
    const table = fullArrow.tableFromIPC(bytes)
    t.strictSame(table.schema.fields.map(f => `${f.name} ${f.type} ${f.nullable}`), [
      'trace Int32 false', 'index Int32 false', 'value Float64 false', 'return Float64 false', 'response_position Int64 false'
    ])
    t.strictSame([...table.schema.metadata], [
      ['schema', 'critic-traces'], ['schema_version', '1'], ['synthetic', 'true'], ['verified', 'true'],
      ['snapshot_time', '2001-02-03T04:05:06.000007+00:00'], ['generator', 'critic-traces 0.0.0-test']
    ])
    t.strictSame(table.batches.map(b => b.numRows), [9, 1, 4], 'one batch a trace')
    const column = (name: string): unknown[] => [...table.getChild(name) ?? []]
    t.strictSame(column('trace'), [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2])
    t.strictSame(column('index'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 1, 2, 3])
    t.strictSame(column('value'), fixture.columns.flatMap(c => [...c.values]))
    t.ok(Object.is(column('value')[10], -0), 'the sign of zero is kept')
    t.strictSame(column('return'), fixture.columns.flatMap(c => [...c.returns]))
    t.strictSame(column('response_position'), fixture.columns.flatMap(c => [...c.responsePositions]))
  })

  t.test('byte by byte: magic, schema message, aligned blocks, end mark, footer', async t => {
    const bytes = await write(fixture.columns)
    t.equal(bytes.subarray(0, 8).toString('latin1'), 'ARROW1\0\0')
    t.equal(bytes.subarray(-6).toString('latin1'), 'ARROW1')
    t.equal(bytes.readInt32LE(8), -1, 'a message starts after the magic')
    t.equal(bytes.readInt32LE(12), 4096 - 16, 'the schema message fills the room up to byte 4,096')
    const footerStart = bytes.length - 10 - bytes.readInt32LE(bytes.length - 10)
    t.strictSame([bytes.readInt32LE(footerStart - 8), bytes.readInt32LE(footerStart - 4)], [-1, 0], 'end mark before the footer')

    // walk the embedded stream, and compare with where the footer says the batches are
    const starts: number[] = []
    let at = 8
    while (bytes.readInt32LE(at + 4) !== 0) {
      t.equal(bytes.readInt32LE(at), -1, `continuation at ${at}`)
      t.equal(at % 8, 0, `aligned at ${at}`)
      const metadataLength = bytes.readInt32LE(at + 4)
      t.equal(metadataLength % 8, 0)
      const message = fullArrow.Message.decode(bytes.subarray(at + 8, at + 8 + metadataLength))
      starts.push(at)
      at += 8 + metadataLength + message.bodyLength
    }
    t.equal(at + 8, footerStart, 'messages follow each other up to the footer')
    t.equal(starts.length, 4, 'schema and three batches')
    t.equal(starts[1], 4096)
    const random = fullArrow.RecordBatchReader.from(bytes).open()
    if (!(random instanceof fullArrow.RecordBatchFileReader)) throw new Error('not read as a file')
    t.strictSame([...random.readRecordBatch(2)?.getChild('value') ?? []], [...fixture.columns[2]?.values ?? []], 'by footer alone')
    t.strictSame([...random.readRecordBatch(1)?.getChild('value') ?? []], [...fixture.columns[1]?.values ?? []])

    const stream = fullArrow.RecordBatchReader.from(bytes.subarray(8)).open()
    t.equal(stream.isFile(), false)
    t.equal(stream.schema.metadata.get('synthetic'), 'true', 'a stream reader finds schema and metadata')
    t.strictSame([...stream].map(b => b.numRows), [9, 1, 4], 'and the batches')
  })

  t.test('metadata: no snapshot time leaves the key out; one that cannot be kept is refused', async t => {
    const none = fullArrow.tableFromIPC(await write(fixture.columns, { ...METADATA, synthetic: false, verified: false, snapshotTime: null }))
    t.strictSame([...none.schema.metadata.keys()], ['schema', 'schema_version', 'synthetic', 'verified', 'generator'])
    t.strictSame([none.schema.metadata.get('synthetic'), none.schema.metadata.get('verified')], ['false', 'false'])
    const long = await write(fixture.columns, { ...METADATA, snapshotTime: 'é'.repeat(1500) })
    t.equal(fullArrow.tableFromIPC(long).schema.metadata.get('snapshot_time'), 'é'.repeat(1500), '3,000 bytes still fit')
    const tooLong = await faultOf(write(fixture.columns, { ...METADATA, snapshotTime: 'x'.repeat(5000) }))
    t.match(tooLong.message, /^arrow schema metadata too long: \d+ bytes, expected at most 4080/)
    const lone = await faultOf(write(fixture.columns, { ...METADATA, snapshotTime: 'a\ud800' }))
    t.match(lone.message, /^arrow schema metadata refused: .*expected text without lone surrogates/)
  })

  t.test('no traces at all', async t => {
    const bytes = await write([])
    t.equal(fullArrow.tableFromIPC(bytes).numRows, 0)
    t.equal(fullArrow.tableFromIPC(bytes).schema.fields.length, 5)
  })

  t.test('columns leave as views, and buffers are reused: nothing grows with the number of traces', async t => {
    const n = 5000
    const columns = traceColumns(Array.from({ length: n }, (_, i) => i / 7), new Array<number>(n).fill(1), Array.from({ length: n }, (_, i) => 2 * i))
    const buffers = new Map<ArrayBufferLike, number>()
    const set = await OutputSet.open(join(dir, 'views'), {
      fs: withHandles(real => ({
        ...real,
        async writev(chunks, position) {
          for (const c of chunks) if (c.byteLength >= 4 * n) buffers.set(c.buffer, (buffers.get(c.buffer) ?? 0) + 1)
          return real.writev(chunks, position)
        }
      }))
    })
    const writer = await ArrowTraceWriter.open(set)
    for (let i = 0; i < 20; i++) await writer.write(i, columns)
    await set.abort()
    t.equal(buffers.get(columns.values.buffer), 20)
    t.equal(buffers.get(columns.returns.buffer), 20)
    t.equal(buffers.get(columns.responsePositions.buffer), 20)
    t.equal(buffers.size, 5, 'and one buffer each for trace and index')
  })

  t.test('overlapping writes of growing traces keep each its own trace and index', async t => {
    const sizes = [3, 50, 1, 400, 20]
    const all = sizes.map((n, k) => traceColumns(Array.from({ length: n }, (_, i) => k + i), new Array<number>(n).fill(k), Array.from({ length: n }, (_, i) => i)))
    const set = await OutputSet.open(dir)
    const writer = await ArrowTraceWriter.open(set)
    await Promise.all(all.map((c, i) => writer.write(10 * i, c)))
    await writer.finish(METADATA)
    await set.commit()
    const table = fullArrow.tableFromIPC(readFileSync(path))
    t.strictSame([...table.getChild('trace') ?? []], sizes.flatMap((n, k) => new Array<number>(n).fill(10 * k)))
    t.strictSame([...table.getChild('index') ?? []], sizes.flatMap(n => Array.from({ length: n }, (_, i) => i)))
  })

  t.test('a trace out of order or with unequal columns is a mistake of the caller', async t => {
    const set = await OutputSet.open(dir)
    const writer = await ArrowTraceWriter.open(set)
    const [first] = fixture.columns
    if (first === undefined) throw new Error('no fixture')
    await writer.write(4, first)
    t.throws(() => void writer.write(4, first), { message: 'trace 4 after trace 4' })
    await t.rejects(writer.write(5, { ...first, returns: new Float64Array(3) }), { message: 'trace 5 has columns of 9, 3 and 9 elements' })
    await set.abort()
  })
})

t.test('archive', async t => {
  t.test('trace numbers: three digits, more from 1,000 on, the same while streaming', async t => {
    t.strictSame([0, 7, 42, 999, 1000, 123456].map(tracePrefix),
      ['trace_000', 'trace_007', 'trace_042', 'trace_999', 'trace_1000', 'trace_123456'])
  })

  t.test('arrays leave as views', async t => {
    const seen = new Set<ArrayBufferLike>()
    const set = await OutputSet.open(t.testdir(), {
      fs: withHandles(real => ({
        ...real,
        async writev(chunks, position) {
          for (const c of chunks) seen.add(c.buffer)
          return real.writev(chunks, position)
        }
      }))
    })
    const writer = await TraceArchiveWriter.open(set, false)
    const [first] = fixture.columns
    if (first === undefined) throw new Error('no fixture')
    await writer.write(0, first.npy)
    t.throws(() => void writer.write(0, first.npy), { message: 'trace 0 after trace 0' })
    await set.abort()
    for (const { bytes } of Object.values(first.npy)) t.ok(seen.has(bytes.buffer))
  })
})

t.test('CSV', async t => {
  t.test('cells', async t => {
    const cases: ReadonlyArray<readonly [readonly CsvCell[], string]> = [
      [[1, 'a', null, 'b'], '1,a,,b'],
      [[null, null], ','],
      [['', null], '"",'],
      [['say "hi"', 'a,b', 'a\nb', 'a\r\nb'], '"say ""hi""","a,b","a\nb","a\r\nb"'],
      [['=1+1', '+1', '-1', '@x', '\tx'], "'=1+1,'+1,'-1,'@x,'\tx"],
      [['\rx', '=a,b'], '"\'\rx","\'=a,b"'],
      [['a=1', ' =1', "'=1"], "a=1, =1,'=1"],
      [[-1.5, -0, 0, 0.1, 1e-7, 1e21, 5e-324, 1.7976931348623157e308], '-1.5,-0,0,0.1,1e-7,1e+21,5e-324,1.7976931348623157e+308'],
      [[0.30000000000000004, 123456789012345680000, 0.000001], '0.30000000000000004,123456789012345680000,0.000001']
    ]
    for (const [cells, text] of cases) t.equal(csvRow(cells), `${text}\r\n`)
    for (const bad of [NaN, Infinity, -Infinity]) t.throws(() => csvRow([bad]), { message: `csv cell not finite: ${bad}, expected a finite number or null` })
  })

  t.test('an independent parser reads every text and every double back', async t => {
    const texts = ['plain', '"', '""', ',', 'a\r\n', 'a"b,c\nd', '一,二', '\ud83d\ude00"', ' lead', 'x'.repeat(5000)]
    const doubles = [1 / 3, -0, 2 ** -1074, 2 ** 1023, 0.1 + 0.2, 1e-7, 123e-20, -4.5e300]
    const rows = parseCsv(csvRow(texts) + csvRow(doubles) + csvRow([null, '', 'x']))
    t.strictSame(rows[0], texts)
    t.ok((rows[1] ?? []).every((cell, i) => Object.is(Number(cell), doubles[i])))
    t.strictSame(rows[2], [null, '', 'x'])
  })

  t.test('the trajectory table: columns, order, null cells, values', async t => {
    const [heading, ...rows] = parseCsv(trajectoriesCsv(fixture.results))
    t.strictSame(heading, ['step', 'outcome', 'tokens', 'boundaries', 'first_value', 'last_value', 'delta', 'mean_value',
      'first_half_mean', 'second_half_mean', 'boundary_mean_abs_change', 'internal_mean_abs_change', 'max_boundary_from_index',
      'max_boundary_from', 'max_boundary_to', 'max_boundary_delta'])
    const at = (row: number, name: string | null): string | null | undefined => rows[row]?.[heading?.indexOf(name) ?? -1]
    t.strictSame(rows.map((_, i) => [at(i, 'step'), at(i, 'outcome'), at(i, 'tokens')]),
      [['6', null, '4'], ['7', 'failure', '1'], ['7', 'success', '9']])
    t.strictSame(heading?.filter(name => at(1, name) === null), ['first_half_mean', 'boundary_mean_abs_change',
      'internal_mean_abs_change', 'max_boundary_from_index', 'max_boundary_from', 'max_boundary_to', 'max_boundary_delta'],
    'one token: no first half, no transition')
    t.ok(Object.is(Number(at(0, 'first_value')), -0))
    const s = fixture.results[0]?.statistics
    t.equal(Number(at(2, 'boundary_mean_abs_change')), s?.boundary.meanAbs)
    t.strictSame(['max_boundary_from_index', 'max_boundary_from', 'max_boundary_to', 'max_boundary_delta'].map(n => Number(at(2, n))),
      [2, 0.75, 0.62109375, -0.12890625], 'numpy: 0.75 -> 0.62109375 at retained index 2')
  })

  t.test('rows are sorted by step, outcome, uid in code points, canonical index; nulls last', async t => {
    const [template] = fixture.results
    if (template === undefined) throw new Error('no fixture')
    const trace = (index: number, step: number | null, outcome: 'success' | 'failure' | null, uid: string | null): TraceResult =>
      ({ ...template, index, fields: { ...template.fields, step, outcome, uid } })
    // sorted by Python: sorted(…, key=lambda t: (step or inf, outcome or U+10FFFF, uid or U+10FFFF, index))
    const sorted = [
      trace(5, 2, 'success', 'z'),
      trace(3, 10, 'failure', ''), trace(8, 10, 'failure', 'B'), trace(2, 10, 'failure', 'a'), trace(9, 10, 'failure', 'a'),
      trace(4, 10, 'failure', 'ab'), trace(1, 10, 'failure', '\uffee'), trace(0, 10, 'failure', '\u{1f600}'), trace(7, 10, 'failure', null),
      trace(6, 10, 'success', 'a'), trace(11, 10, null, 'a'), trace(10, null, 'failure', 'a'), trace(12, null, null, null)
    ]
    for (const before of [[...sorted].reverse(), [...sorted].sort((a, b) => (a.index * 7 % 13) - (b.index * 7 % 13))]) {
      t.strictSame(before.sort(compareTraces).map(x => x.index), sorted.map(x => x.index))
    }
    t.ok(compareCodePoints('\u{1f600}', '\uffee') > 0, 'UTF-16 order would say otherwise')
    t.ok('\u{1f600}' < '\uffee')
    const points = ['', 'a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}']
    for (const [i, a] of points.entries()) {
      for (const [j, b] of points.entries()) t.equal(Math.sign(compareCodePoints(a, b)), Math.sign(i - j), `${i} ${j}`)
    }
  })
})

t.test('JSON text', async t => {
  const value = {
    empty: {}, none: [], nested: [[1, [2.5]], { a: null, b: [true, false] }], text: 'é一\u{1f600}"\\\n\u0000\u2028</script>',
    lone: '\ud800', numbers: [0, -1, 1e-7, 1e21, 5e-324, 0.1, 12345678901234567890], 'key "q"': 1, '': 2
  }
  t.equal(jsonText(value), `${JSON.stringify(value, null, 2)}\n`, 'laid out as JSON.stringify does')
  t.equal(jsonText({ z: -0 }), '{\n  "z": -0\n}\n', 'but -0 keeps its sign')
  t.ok(Object.is(JSON.parse(jsonText(-0)), -0))
  const refused: ReadonlyArray<readonly [unknown, string, string]> = [
    [{ a: [1, NaN] }, 'NaN', '/a/1'], [{ a: Infinity }, 'Infinity', '/a'], [-Infinity, '-Infinity', '/'],
    [{ a: undefined }, 'undefined', '/a'], [[undefined], 'undefined', '/0'], [new Array<number>(1), 'undefined', '/0'],
    [{ 'x/y~z': 1n }, 'bigint', '/x~1y~0z'], [{ f: () => 0 }, 'function', '/f'], [{ s: Symbol('s') }, 'symbol', '/s'],
    [{ a: new Float64Array(1) }, 'a Float64Array', '/a'], [{ m: new Map() }, 'a Map', '/m'], [{ d: new Date(0) }, 'a Date', '/d']
  ]
  for (const [bad, found, pointer] of refused) {
    t.throws(() => jsonText(bad), { message: `output not JSON: ${found}, expected null, true, false, a finite number, a text, an array or a plain object (member ${pointer})` })
  }
})

t.test('JSON documents follow their schemas', async t => {
  const NAMES = ['critic-trace-index', 'critic-turn-boundary-audit', 'critic-trace-statistics']
  const schemas = readdirSync(new URL('docs/schemas/', ROOT))
  for (const name of NAMES) t.ok(schemas.includes(`${name}.schema.json`), `${name} has a schema`)
  for (const name of NAMES) {
    const schema: unknown = JSON.parse(readFileSync(new URL(`docs/schemas/${name}.schema.json`, ROOT), 'utf8'))
    const document = JSON.parse(expectedFile('three-traces', `${name}.json`).text)
    t.strictSame(schemaProblems(schema, document), [], `${name} is valid`)
    t.strictSame(Object.keys(document).slice(0, 4), ['schema_version', 'schema', 'synthetic', 'generator'])
    t.equal(document.schema, name)
    for (const key of Object.keys(document)) {
      const { [key]: _, ...without } = document
      t.not(schemaProblems(schema, without).length, 0, `${name} without ${key} is not valid`)
      t.not(schemaProblems(schema, { ...document, [key]: 'some text' }).length + (typeof document[key] === 'string' ? 1 : 0), 0, `${key} has a type`)
    }
    t.strictSame(schemaProblems(schema, { ...document, extra: 1 }), ['/extra: nothing is allowed here'])
  }
  t.throws(() => schemaProblems({ format: 'date' }, 'x'), { message: 'keyword format is not supported (schema at )' })
})

t.test('statistics: the keys that readers count on, and a reason for every null', async t => {
  const document = statisticsDocument(fixture.statistics, fixture.generator)
  const keys = (value: object): string[] => Object.keys(value)
  for (const key of ['synthetic', 'traces', 'tokens', 'distinct_uids', 'steps', 'threshold', 'boundary', 'internal', 'jump_rate_ratio',
    'traces_boundary_exceeds_internal', 'success', 'failure', 'examples']) t.ok(Object.hasOwn(document, key), key)
  t.strictSame(keys(document.boundary), ['transitions', 'mean_abs_change', 'jumps', 'jump_rate'])
  t.strictSame(keys(document.internal), keys(document.boundary))
  t.strictSame([keys(document.success), keys(document.failure)], [['traces', 'positive_delta'], ['traces', 'negative_delta']])
  t.strictSame(keys(document.examples), ['success', 'failure'])
  t.strictSame(nullPointers(document), Object.keys(document.undefined_reasons))
  const backwards = Object.fromEntries(Object.entries(fixture.statistics).reverse())
  t.equal(jsonText(statisticsDocument({ ...fixture.statistics, ...backwards }, fixture.generator)), jsonText(document))
  t.strictSame(Object.keys(statisticsDocument(Object.assign({}, backwards, fixture.statistics), fixture.generator)), Object.keys(document),
    'key order does not depend on who made the object')
})

t.test('boundary audit', async t => {
  const audit = (traces: readonly TraceResult[], endMarker: string | null = 'END', htmlSha256: string | null = 'a'.repeat(64)) =>
    boundaryAuditDocument({ synthetic: false, htmlSha256, endMarker, traces }, fixture.generator)
  const schema: unknown = JSON.parse(readFileSync(new URL('docs/schemas/critic-turn-boundary-audit.schema.json', ROOT), 'utf8'))
  const [template] = fixture.results
  if (template === undefined) throw new Error('no fixture')
  const trace = (index: number, boundaries: number, ends: readonly number[] | null): TraceResult => ({
    ...template,
    index,
    statistics: { ...template.statistics, boundary: { ...template.statistics.boundary, transitions: boundaries } },
    spans: ends === null ? null : { count: ends.length, endsWithMarker: Uint8Array.from(ends) },
    boundariesWithMarker: ends === null ? null : ends.slice(0, boundaries).reduce((a, b) => a + b, 0)
  })

  t.test('exceptions are listed up to a cap and counted beyond it', async t => {
    const many = audit([trace(0, 700, new Array<number>(701).fill(0)), trace(1, 0, [1]), trace(2, 700, new Array<number>(701).fill(0))])
    t.strictSame([many.boundaries, many.boundaries_with_end_marker, many.exceptions_total, many.exceptions_listed], [1400, 0, 1400, MAX_LISTED_EXCEPTIONS])
    const listed = many.exceptions
    if (!Array.isArray(listed)) throw new Error('no list')
    t.match(listed[999], { trace: 2, span: 299 })
    t.strictSame(schemaProblems(schema, JSON.parse(jsonText(many))), [])
  })

  t.test('the last span is no boundary', async t => {
    const last = audit([trace(0, 2, [1, 1, 0])])
    t.strictSame([last.boundaries_with_end_marker, last.exceptions_total], [2, 0])
  })

  t.test('what is not known is null with a reason', async t => {
    for (const [document, nulls] of [
      [audit([trace(0, 1, [1, 1]), trace(1, 1, null)]), ['/boundaries_with_end_marker', '/traces/1/boundaries_with_end_marker', '/exceptions_total']],
      [audit([trace(0, 1, null)], null, null), ['/source_html_sha256', '/end_marker', '/boundaries_with_end_marker', '/traces/0/boundaries_with_end_marker', '/exceptions_total']]
    ] as const) {
      t.strictSame(nullPointers(document), nulls)
      t.strictSame(Object.keys(Object(document.undefined_reasons)).sort(), [...nulls].sort())
      t.strictSame(schemaProblems(schema, JSON.parse(jsonText(document))), [])
    }
  })

  t.test('an audit that contradicts its own counts is not written', async t => {
    t.throws(() => audit([{ ...trace(0, 2, [1, 0, 1]), boundariesWithMarker: 2 }]), /trace 0 has 2 boundaries with the marker and 1 without, of 2/)
  })
})

const OLD = { 'a.txt': 'old a', sub: { 'b.bin': 'old b' } }

/** Writes a.txt, sub/b.bin (both there before) and sub/new.txt (not there before). */
async function replaceThree(dir: string, fs = nodeOutputFs): Promise<void> {
  const set = await OutputSet.open(dir, { fs, folders: ['sub', 'training_data'] })
  const a = await set.file('a.txt')
  const b = await set.file('sub/b.bin')
  await a.write(Buffer.from('new '))
  await b.write([Buffer.from('new'), Buffer.from(' b')])
  await a.write(Buffer.from('a'))
  await a.end()
  await set.write('sub/new.txt', 'new c')
  await set.commit()
}

function contents(dir: string): Record<string, string> {
  return Object.fromEntries(tree(dir).map(path => [path, readFileSync(join(dir, path), 'utf8')]))
}

const BEFORE = { 'a.txt': 'old a', 'sub/b.bin': 'old b' }
const AFTER = { 'a.txt': 'new a', 'sub/b.bin': 'new b', 'sub/new.txt': 'new c' }

t.test('a transaction: all files or none', async t => {
  t.test('nothing is visible before commit, everything after', async t => {
    const dir = t.testdir(OLD)
    const set = await OutputSet.open(dir, { folders: ['sub'] })
    await set.write('a.txt', 'new a')
    const file = await set.file('sub/b.bin', { sha256: true })
    await file.write(Buffer.from('new '))
    t.equal(file.bytes, 4)
    t.equal(readFileSync(join(dir, 'a.txt'), 'utf8'), 'old a')
    await file.write(Buffer.from('b'))
    const [, summary] = await set.commit()
    t.strictSame(summary, { path: 'sub/b.bin', bytes: 5, sha256: sha256(Buffer.from('new b')) })
    t.strictSame(contents(dir), { 'a.txt': 'new a', 'sub/b.bin': 'new b' })
    await set.abort()
    t.strictSame(contents(dir), { 'a.txt': 'new a', 'sub/b.bin': 'new b' }, 'abort after commit does nothing')
    t.equal((await set.commit()).length, 2, 'a second commit answers the same')
    await t.rejects(set.file('c.txt'), { message: `the output set of ${dir} is committed` })
  })

  t.test('abort restores the folder, removes folders that it made, and may be called twice', async t => {
    const dir = t.testdir(OLD)
    const out = join(dir, 'x/y')
    const set = await OutputSet.open(out)
    const file = await set.file('training_data/deep/z.bin')
    await file.write(new Uint8Array(1_000_000))
    const write = faultOf(file.write(new Uint8Array(1_000_000)))
    t.ok(existsSync(join(out, 'training_data/deep')))
    await Promise.all([set.abort(), set.abort()])
    const fault = await write
    t.equal(fault.message, `output given up (${out})`, 'a write that had not begun fails')
    await set.abort()
    t.notOk(existsSync(join(dir, 'x')), 'folders that it created are gone')
    t.strictSame(contents(dir), BEFORE)
    t.equal(await faultOf(file.write(new Uint8Array(1))), fault)
    t.equal(await faultOf(set.commit()), fault)
    t.equal(await faultOf(set.file('other')), fault)
  })

  t.test('folders that were there, or hold something, stay after abort', async t => {
    const dir = t.testdir({ sub: {} })
    const set = await OutputSet.open(dir)
    await set.write('sub/a', 'a')
    await set.write('made/a', 'a')
    writeFileSync(join(dir, 'made/foreign'), 'x')
    await set.abort()
    t.strictSame(tree(dir), ['made/foreign'])
    t.ok(existsSync(join(dir, 'sub')))
  })

  t.test('every operation fails once: old files untouched, no temporary file, a Fault with exit code 3', async t => {
    const error = systemError('EIO', 'i/o error', 'test')
    const outcomes = new Map<string, Set<string>>()
    let failAt = 0
    for (; ; failAt++) {
      const dir = t.testdir(OLD)
      const { fs, calls } = countingFs(failAt, error)
      const thrown: unknown = await replaceThree(dir, fs).then(() => null, e => e)
      const failed = calls[failAt]
      if (failed === undefined) {
        t.equal(thrown, null)
        t.strictSame(contents(dir), AFTER, 'without a failure everything is new')
        break
      }
      let outcome = 'old'
      if (thrown === null) {
        outcome = 'new'
        t.strictSame(contents(dir), AFTER, `${failAt} ${failed}`)
      } else if (failed === 'unlink') {
        outcome = 'new, an old copy left'
        t.match(contents(dir), AFTER, `${failAt} ${failed}`)
      } else t.strictSame(contents(dir), BEFORE, `${failAt} ${failed}`)
      if (thrown !== null) {
        if (!(thrown instanceof Fault)) throw thrown
        t.equal(thrown.exitCode, 3)
        t.match(thrown.message, /^output unwritable: EIO i\/o error, expected a disk without errors \(.+\)$/, `${failAt} ${failed}`)
      }
      outcomes.set(failed, (outcomes.get(failed) ?? new Set()).add(outcome))
    }
    t.ok(failAt > 35, `${failAt} operations failed, one at a time`)
    t.strictSame(Object.fromEntries([...outcomes].map(([k, v]) => [k, [...v]]).sort()), {
      checkWritable: ['old'], close: ['old'], create: ['old'], inspect: ['old'],
      link: ['new'], // falls back to a rename
      list: ['old'], makeFolder: ['old'], realPath: ['old'], rename: ['old'], sync: ['old'], syncFolder: ['old'],
      unlink: ['new, an old copy left'], writev: ['old']
    })
  })

  t.test('without hard links the old file is moved aside, and comes back when a later rename fails', async t => {
    const noLinks = { ...nodeOutputFs, link: () => Promise.reject(systemError('EPERM', 'operation not permitted', 'link')) }
    const dir = t.testdir(OLD)
    await replaceThree(dir, noLinks)
    t.strictSame(contents(dir), AFTER)
    for (const failing of ['a.txt', 'b.bin', 'new.txt']) {
      const again = t.testdir(OLD)
      const fs = {
        ...noLinks,
        rename: (from: string, to: string) => from.endsWith('.tmp') && to.endsWith(failing)
          ? Promise.reject(systemError('EACCES', 'permission denied', 'rename'))
          : nodeOutputFs.rename(from, to)
      }
      const fault = await faultOf(replaceThree(again, fs))
      t.match(fault.message, /^output unwritable: EACCES permission denied, expected a writable folder \(.+\)$/)
      t.equal(fault.place.file?.endsWith(failing), true)
      t.strictSame(contents(again), BEFORE, failing)
    }
  })

  t.test('old files that cannot be put back are named', async t => {
    const dir = t.testdir(OLD)
    let commits = 0
    const fs = {
      ...nodeOutputFs,
      rename: (from: string, to: string) => {
        commits += 1
        return commits === 1 ? nodeOutputFs.rename(from, to) : Promise.reject(systemError('EIO', 'i/o error', 'rename'))
      }
    }
    const fault = await faultOf(replaceThree(dir, fs))
    t.match(fault.message, /^output not restored: .*a\.txt \(output unwritable: EIO i\/o error.*expected the earlier files back in place/)
    t.match(Object(fault.cause).message, /output unwritable: EIO/)
  })

  t.test('a file that fails takes its set with it: later calls say the first reason', async t => {
    const dir = t.testdir(OLD)
    const fs = withHandles((real, path) => path.includes('b.bin')
      ? { ...real, writev: () => Promise.reject(systemError('ENOSPC', 'no space left on device', 'write')) }
      : real)
    const set = await OutputSet.open(dir, { fs })
    const a = await set.file('a.txt')
    const b = await set.file('sub/b.bin')
    await a.write(Buffer.from('x'))
    const full = await faultOf(b.write(Buffer.from('x')))
    t.equal(full.message, `output unwritable: ENOSPC no space left on device, expected free space on the disk (${join(dir, 'sub/b.bin')})`)
    t.strictSame(contents(dir), BEFORE, 'already gone, before anybody calls abort')
    t.equal(await faultOf(set.commit()), full)
    t.equal(await faultOf(set.file('c')), full)
    t.equal(await faultOf(a.write(Buffer.from('y'))), full)
    await set.abort()
    t.strictSame(contents(dir), BEFORE)
  })

  t.test('/dev/full', async t => {
    const dir = t.testdir(OLD)
    const set = await OutputSet.open(dir, {
      fs: withHandles((real, path) => {
        if (!path.includes('critic-traces.arrow')) return real
        const full = nodeFs.open('/dev/full', 'w')
        return {
          writev: async (chunks, position) => (await (await full).writev([...chunks], position)).bytesWritten,
          datasync: () => real.datasync(),
          sync: () => real.sync(),
          async close() {
            await (await full).close()
            await real.close()
          }
        }
      })
    })
    const fault = await faultOf(ArrowTraceWriter.open(set))
    t.match(fault.message, /^output unwritable: ENOSPC no space left on device, expected free space on the disk \(.*critic-traces\.arrow\)$/)
    t.equal(fault.exitCode, 3)
    t.strictSame(contents(dir), BEFORE)
  })

  t.test('a failure while a file is being made or a commit is running leaves nothing', async t => {
    const dir = t.testdir(OLD)
    const set = await OutputSet.open(dir)
    const making = set.file('sub/late.txt')
    const aborting = set.abort()
    t.equal((await faultOf(making)).message, `output given up (${dir})`)
    await aborting
    t.strictSame(contents(dir), BEFORE)
    const second = await OutputSet.open(dir)
    await second.write('a.txt', 'new a')
    const commit = second.commit()
    await second.abort()
    await commit
    t.strictSame(contents(dir), { ...BEFORE, 'a.txt': 'new a' }, 'abort waits for a commit that has begun')
  })
})

t.test('streams', async t => {
  t.test('short writes are continued; a file that takes nothing is an error', async t => {
    const dir = t.testdir()
    const sizes = [1, 3, 7, 2, 100]
    let turn = 0
    const set = await OutputSet.open(dir, {
      fs: withHandles(real => ({
        ...real,
        writev: (chunks, position) => {
          const limit = sizes[turn++ % sizes.length] ?? 1
          return real.writev([Buffer.concat(chunks).subarray(0, limit)], position)
        }
      }))
    })
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251))
    const file = await set.file('x', { sha256: true })
    await file.write([bytes.subarray(0, 0), bytes.subarray(0, 10), bytes.subarray(10, 11), bytes.subarray(11, 500)])
    await file.write([])
    await file.write(bytes.subarray(500))
    const [summary] = await set.commit()
    t.strictSame(summary, { path: 'x', bytes: 1000, sha256: sha256(bytes) })
    t.ok(readFileSync(join(dir, 'x')).equals(bytes))
    const stuck = await OutputSet.open(dir, { fs: withHandles(real => ({ ...real, writev: () => Promise.resolve(0) })) })
    t.match((await faultOf((await stuck.file('y')).write(bytes))).message, /^output failed: the file took 0 bytes of a write/)
  })

  t.test('writes land in the order of the calls, awaited or not', async t => {
    const dir = t.testdir()
    const set = await OutputSet.open(dir)
    const file = await set.file('x')
    const pieces = Array.from({ length: 200 }, (_, i) => Buffer.from(`${i} `.repeat(1 + (i * 37) % 50)))
    const writes = pieces.map(piece => file.write(piece))
    t.equal(file.bytes, Buffer.concat(pieces).length)
    await Promise.all([...writes, file.end()])
    await t.rejects(file.write(Buffer.from('x')), { message: 'x has ended' })
    await set.commit()
    t.ok(readFileSync(join(dir, 'x')).equals(Buffer.concat(pieces)))
  })

  t.test('overwrite changes earlier bytes only, and not under a hash', async t => {
    const dir = t.testdir()
    const set = await OutputSet.open(dir)
    const file = await set.file('x')
    await file.write(Buffer.from('0123456789'))
    await file.overwrite(2, Buffer.from('ab'))
    t.throws(() => file.overwrite(9, Buffer.from('ab')), { message: 'x ends before the bytes to write over' })
    await file.write(Buffer.from('!'))
    const hashed = await set.file('y', { sha256: true })
    await hashed.write(Buffer.from('0123456789'))
    t.throws(() => hashed.overwrite(0, Buffer.from('a')), { message: 'y is hashed as it is written and cannot be written over' })
    await set.commit()
    t.equal(readFileSync(join(dir, 'x'), 'utf8'), '01ab456789!')
  })

  t.test('write-back starts early, one at a time; its failure is not lost', async t => {
    const dir = t.testdir()
    const log: string[] = []
    let running = 0
    const fs = withHandles(real => ({
      ...real,
      writev: (chunks, position) => { log.push('w'); return real.writev(chunks, position) },
      datasync: async () => {
        log.push('d')
        running += 1
        t.equal(running, 1)
        await real.datasync()
        running -= 1
      },
      sync: async () => { log.push('s'); t.equal(running, 0); await real.sync() }
    }))
    const set = await OutputSet.open(dir, { fs })
    const file = await set.file('x')
    const megabyte = new Uint8Array(1 << 20)
    for (let i = 0; i < 20; i++) await file.write(megabyte)
    t.equal(log.indexOf('d'), 8, 'after eight of twenty megabytes')
    await set.commit()
    t.equal(log.filter(x => x === 's').length, 1)
    t.equal(log.at(-1), 's')

    let count = 0
    const quick = await OutputSet.open(dir, { fs: withHandles(real => ({ ...real, datasync: () => { count += 1; return Promise.resolve() } })) })
    const often = await quick.file('z')
    for (let i = 0; i < 25; i++) await often.write(megabyte)
    await quick.abort()
    t.equal(count, 3, 'again after every eight megabytes')

    const error = systemError('EIO', 'i/o error', 'fdatasync')
    let synced = 0
    const late = await OutputSet.open(dir, {
      fs: withHandles(real => ({
        ...real,
        datasync: () => new Promise((_, reject) => setTimeout(() => reject(error), 50)),
        // the system reports a failed write-back to one call only
        sync: () => { synced += 1; return real.sync() }
      }))
    })
    const tail = await late.file('w')
    for (let i = 0; i < 8; i++) await tail.write(megabyte)
    await tail.end()
    t.match((await faultOf(late.commit())).message, /^output unwritable: EIO i\/o error, expected a disk without errors/, 'a write-back that fails after the last write')
    t.equal(synced, 0)

    const lost = await OutputSet.open(dir, {
      fs: withHandles(real => ({ ...real, datasync: () => Promise.reject(systemError('ENOSPC', 'no space left on device', 'fdatasync')) }))
    })
    const big = await lost.file('y')
    const fault = await faultOf((async () => {
      for (let i = 0; i < 9; i++) await big.write(megabyte)
      await lost.commit()
    })())
    t.match(fault.message, /^output unwritable: ENOSPC no space left on device, expected free space on the disk \(.*y\)$/)
    t.strictSame(tree(dir), ['x'])
  })
})

t.test('where outputs may go', async t => {
  t.test('paths that leave the folder, or are none, are refused', async t => {
    const dir = t.testdir({ out: {} })
    const set = await OutputSet.open(join(dir, 'out'))
    for (const bad of ['', '/etc/x', '../x', 'a/../../x', 'a/..', './x', 'a//b', 'a/', 'a\\b', 'a\0b', '..']) {
      const fault = await faultOf(set.file(bad))
      t.match(fault.message, /^output path refused: .*, expected a relative path inside the output folder$/, JSON.stringify(bad))
    }
    await set.write('ok', 'ok')
    await t.rejects(set.file('ok'), { message: 'ok is already being written' })
    await set.commit()
    t.strictSame(tree(dir), ['out/ok'])
  })

  t.test('a linked output folder is fine; a link inside that leads out is not', async t => {
    const dir = t.testdir({ real: { 'a.txt': 'old' }, outside: {} })
    symlinkSync('real', join(dir, 'link'))
    symlinkSync('../outside', join(dir, 'real/sub'))
    const set = await OutputSet.open(join(dir, 'link'))
    await set.write('a.txt', 'new')
    await set.write('made/b.txt', 'b')
    await set.commit()
    t.equal(readFileSync(join(dir, 'real/a.txt'), 'utf8'), 'new')
    for (const path of ['sub/x', 'sub/deep/x']) {
      const second = await OutputSet.open(join(dir, 'link'))
      const fault = await faultOf(second.file(path))
      t.match(fault.message, /^output unwritable: a link to .*outside, expected a folder inside the output folder \(.*sub\)$/)
    }
    t.strictSame(readdirSync(join(dir, 'outside')), [], 'nothing was created there')
    symlinkSync('../outside/target.txt', join(dir, 'real/linked.txt'))
    const third = await OutputSet.open(join(dir, 'link'))
    await third.write('linked.txt', 'x')
    await third.commit()
    t.strictSame(readdirSync(join(dir, 'outside')), [], 'a linked file is replaced, not written through')
  })

  t.test('a file where a folder should be, a folder where a file should be, no rights', async t => {
    const dir = t.testdir({ file: 'x', out: { 'a.json': {}, sub: 'x' } })
    const opened = async (path: string): Promise<string> => (await faultOf(OutputSet.open(join(dir, path)))).message
    t.equal(await opened('file'), `output unwritable: a file, expected a folder (${join(dir, 'file')})`)
    t.equal(await opened('file/deeper'), `output unwritable: ENOTDIR not a directory, expected a writable folder (${join(dir, 'file/deeper')})`)
    const within = async (path: string): Promise<string> => (await faultOf((await OutputSet.open(join(dir, 'out'))).file(path))).message
    t.equal(await within('a.json'), `output unwritable: a folder, expected a file (${join(dir, 'out/a.json')})`)
    t.equal(await within('sub/a'), `output unwritable: a file, expected a folder (${join(dir, 'out/sub')})`)
    t.match(await within('n'.repeat(300)), /^output unwritable: ENAMETOOLONG name too long, expected a shorter path/)
    const denied = { ...nodeOutputFs, checkWritable: () => Promise.reject(systemError('EACCES', 'permission denied', 'access')) }
    const fault = await faultOf(OutputSet.open(join(dir, 'new'), { fs: denied }))
    t.equal(fault.message, `output unwritable: EACCES permission denied, expected a writable folder (${join(dir, 'new')})`)
    t.equal(fault.exitCode, 3)
    t.notOk(existsSync(join(dir, 'new')), 'the folder that it had just made is gone')
    mkdirSync(join(dir, 'locked'))
    chmodSync(join(dir, 'locked'), 0o555)
    const locked = OutputSet.open(join(dir, 'locked'))
    if (process.getuid?.() === 0) await (await locked).abort()
    else t.match((await faultOf(locked)).message, /^output unwritable: EACCES/)
    t.strictSame(tree(dir), ['file', 'out/sub'])
  })

  t.test('faults pass through, other errors are wrapped with their cause', async t => {
    const inner = new Fault({ format: 'npz', problem: 'broken' })
    t.equal(outputFault(inner, '/x'), inner)
    const wrapped = outputFault(new TypeError('boom'), '/x')
    t.equal(wrapped.message, 'output failed: boom (/x)')
    t.equal(Object(wrapped.cause).message, 'boom')
    t.equal(outputFault('text', '/x').message, 'output failed: text (/x)')
  })
})

t.test('temporary files of runs that are gone', async t => {
  const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
  const dead = await (async () => {
    const child = spawn(process.execPath, ['-e', ''])
    await once(child, 'exit')
    return child.pid ?? 0
  })()

  t.test('names', async t => {
    const name = tempName('critic-traces.arrow', 'tmp')
    t.match(name, new RegExp(`^\\.critic-traces\\.arrow\\.ct${process.pid}-${host}-[0-9a-f]{8}\\.tmp$`))
    t.not(tempName('x', 'tmp'), tempName('x', 'tmp'))
    t.strictSame(parseTempName(name), { name: 'critic-traces.arrow', pid: process.pid, host, kind: 'tmp' })
    for (const other of ['x.tmp', '.x.tmp', '.x.ct12-0123abcd.tmp', `.x.ct0-${host}-00000000.tmp`, `x.ct12-${host}-00000000.tmp`,
      `.x.ct12-${host}-00000000.tmp2`, `.x.ct12-${host}-0000000g.tmp`, `.x.12-${host}-00000000.tmp`]) t.equal(parseTempName(other), null, other)
    const of = (pid: number, h = host) => ({ name: 'x', pid, host: h, kind: 'tmp' as const })
    t.equal(isLeftOver(of(dead), Date.now()), true)
    t.equal(isLeftOver(of(dead, '00000000'), 0), false, 'another host')
    t.equal(isLeftOver(of(process.ppid), 0), false, 'a process that lives')
    t.equal(isLeftOver(of(1), 0), false, 'a process of somebody else')
    t.equal(isLeftOver(of(process.pid), Date.now()), false, 'this process')
    t.equal(isLeftOver(of(process.pid), Date.now() - process.uptime() * 1000 - 60_000), true, 'an earlier process with this number')
  })

  t.test('exactly those go', async t => {
    const dir = t.testdir({
      [`.a.ct${dead}-${host}-00000001.tmp`]: 'left over',
      [`.a.ct${dead}-${host}-00000002.bak`]: 'old copy, the file is there',
      a: 'a',
      [`.gone.ct${dead}-${host}-00000003.bak`]: 'old copy, the file is not there',
      [`.a.ct${process.pid}-${host}-00000004.tmp`]: 'this process',
      [`.a.ct${process.ppid}-${host}-00000005.tmp`]: 'another live process',
      [`.a.ct${dead}-00000000-00000006.tmp`]: 'another host',
      [`.dir.ct${dead}-${host}-00000007.tmp`]: { inside: 'a folder of that name' },
      '.somebody.tmp': 'x', 'b.tmp': 'x',
      training_data: { [`.b.ct${dead}-${host}-00000008.tmp`]: 'left over' },
      other: { [`.c.ct${dead}-${host}-00000009.tmp`]: 'left over', keep: 'x' }
    })
    symlinkSync('a', join(dir, `.l.ct${dead}-${host}-0000000a.tmp`))
    utimesSync(join(dir, `.a.ct${process.pid}-${host}-00000004.tmp`), 1, 1)
    const set = await OutputSet.open(dir)
    const kept = [
      `.a.ct${process.pid}-${host}-00000004.tmp`, `.a.ct${process.ppid}-${host}-00000005.tmp`, `.a.ct${dead}-00000000-00000006.tmp`,
      `.dir.ct${dead}-${host}-00000007.tmp/inside`, `.l.ct${dead}-${host}-0000000a.tmp`, '.somebody.tmp', 'a', 'b.tmp', 'gone', 'other/keep'
    ]
    t.strictSame(tree(dir), [...kept, `other/.c.ct${dead}-${host}-00000009.tmp`].sort())
    t.equal(readFileSync(join(dir, 'gone'), 'utf8'), 'old copy, the file is not there')
    await (await set.file('other/d')).end()
    await set.abort()
    t.strictSame(tree(dir), kept.sort(), 'another folder is cleaned when it is first used')
  })

  const MODULE = new URL('../src/render/outputs/output-set.js', import.meta.url).href

  /** Runs `code` (with `dir`, `OutputSet`, `nodeOutputFs`) in a process of its own until it says `ready`, then kills it. */
  async function killedRun(dir: string, code: string, whileAlive: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const program = `import { OutputSet, nodeOutputFs } from ${JSON.stringify(MODULE)}\nconst dir = ${JSON.stringify(dir)}\n` +
      `const ready = () => { process.stdout.write('ready\\n'); return new Promise(() => setInterval(() => {}, 1000)) }\n${code}`
    const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    if (child.stdout === null) throw new Error('no output')
    const said = await Promise.race([once(child.stdout, 'data'), exited])
    if (String(said[0]) !== 'ready\n') throw new Error(`the child said ${String(said[0])}`)
    await whileAlive()
    child.kill('SIGKILL')
    await exited
  }

  t.test('killed while writing: old files intact, the next open cleans', async t => {
    const dir = t.testdir({ ...OLD, training_data: {} })
    await killedRun(dir, `
      const set = await OutputSet.open(dir)
      const a = await set.file('a.txt')
      const b = await set.file('training_data/b.bin')
      await Promise.all([a.write(new Uint8Array(3e6)), b.write(new Uint8Array(10))])
      await ready()`, async () => {
      t.equal(tree(dir).length, 4)
      await (await OutputSet.open(dir)).abort()
      t.equal(tree(dir).length, 4, 'while the process lives its files stay')
    })
    t.equal(tree(dir).length, 4, 'two temporary files are left')
    t.match(contents(dir), BEFORE)
    await replaceThree(dir)
    t.strictSame(contents(dir), AFTER)
  })

  t.test('killed between two renames: every file whole, in the order of creation', async t => {
    const dir = t.testdir(OLD)
    await killedRun(dir, `
      let renames = 0
      const set = await OutputSet.open(dir, { fs: { ...nodeOutputFs, rename: (a, b) => ++renames === 2 ? ready() : nodeOutputFs.rename(a, b) } })
      await set.write('a.txt', 'new a')
      await set.write('sub/b.bin', 'new b')
      await set.commit()`)
    t.match(contents(dir), { 'a.txt': 'new a', 'sub/b.bin': 'old b' })
    t.equal(tree(dir).length, 5)
    await (await OutputSet.open(dir, { folders: ['sub'] })).abort()
    t.strictSame(contents(dir), { 'a.txt': 'new a', 'sub/b.bin': 'old b' })
  })

  t.test('killed while an old file is moved aside: the next open puts it back', async t => {
    const dir = t.testdir(OLD)
    await killedRun(dir, `
      const set = await OutputSet.open(dir, { fs: { ...nodeOutputFs,
        link: () => Promise.reject(Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })),
        rename: (a, b) => a.endsWith('.tmp') ? ready() : nodeOutputFs.rename(a, b) } })
      await set.write('a.txt', 'new a')
      await set.commit()`)
    t.notOk(existsSync(join(dir, 'a.txt')))
    await (await OutputSet.open(dir)).abort()
    t.strictSame(contents(dir), BEFORE)
  })
})

t.test('apache-arrow is loaded only when asked for, and not its 150 modules', async t => {
  const program = `
    const url = name => ${JSON.stringify(new URL('../src/render/outputs/', import.meta.url).href)} + name
    await import(url('arrow.js'))
    const { createRequire } = await import('node:module')
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter(p => p.includes('apache-arrow')).length
    const before = loaded()
    const { loadArrow } = await import(url('arrow-library.js'))
    const same = loadArrow() === loadArrow()
    process.stdout.write([before, loaded(), same].join(' '))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: new URL('.', import.meta.url) })
  t.equal(stdout, '0 1 true')
})
