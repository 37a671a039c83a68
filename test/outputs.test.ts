/**
 * The formats under src/render/outputs; how files are written is in output-set.test.ts. Expected files in fixtures/outputs were written by Python 3.11.7 (json, csv) and
 * numpy 2.4.6 (statistics, np.savez) from the same input; the hashes of the Arrow and the Parquet file were pinned after pyarrow
 * 25.0.1 had read them equal, the Arrow file as a file, as a stream and mapped.
 */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as fullArrow from 'apache-arrow'
import t from 'tap'
import type { TraceColumns, TraceResult } from '../src/compute/traces/contract.js'
import type { Outcome } from '../src/schema/traces.js'
import type { ReadDump } from '../src/schema/samples.js'
import { csvMetadataPath, MAX_LISTED_EXCEPTIONS } from '../src/schema/outputs.js'
import { openNpz } from '../src/ingest/npz/npz.js'
import { TraceArchiveWriter } from '../src/render/outputs/archive.js'
import { ArrowTraceWriter } from '../src/render/outputs/arrow.js'
import { csvRow, type CsvCell } from '../src/render/outputs/csv.js'
import {
  boundaryAuditDocument,
  statisticsDocument,
  traceIndexDocument,
  writeBoundaryAudit,
  writeStatistics,
  writeTraceIndex,
  type BoundaryAudit
} from '../src/render/outputs/documents.js'
import { jsonText } from '../src/render/outputs/json-text.js'
import { OUTPUT_PATHS, tracePrefix, type Origin } from '../src/render/outputs/output-names.js'
import { OutputSet } from '../src/render/outputs/output-set.js'
import type { TokenMetadata } from '../src/render/outputs/token-metadata.js'
import { ParquetTraceWriter } from '../src/render/outputs/token-parquet.js'
import { compareCodePoints, compareTraces, trajectoriesCsv, writeTrajectories } from '../src/render/outputs/trajectories.js'
import { parseCsv } from './support/csv-parse.js'
import { unprefixed } from './support/csv-tables.js'
import { withHandles } from './support/failing-fs.js'
import { faultOf, sha256, tree } from './support/folders.js'
import { nullPointers, schemaProblems } from './support/json-schema.js'
import { expectedFile, outputFixture, ROOT, traceColumns, type OutputFixture } from './support/output-fixture.js'

const fixture = outputFixture('three-traces')
const ORIGIN: Origin = { synthetic: true, manifest: null, generator: fixture.generator }
const VERIFIED: Origin = { ...ORIGIN, manifest: { path: 'source_manifest.json', sha256: '0123456789abcdef'.repeat(4), files: 7 } }
const FILES = [...Object.values(OUTPUT_PATHS), csvMetadataPath(OUTPUT_PATHS.trajectories)]
const METADATA: TokenMetadata = { ...ORIGIN, verified: true, snapshotTime: fixture.statistics.snapshot_time }

/** Everything that a run writes, as the pipeline drives it. */
async function writeEverything(dir: string, fixture: OutputFixture, overlap: boolean): Promise<void> {
  const { html, excluded, alignment, generator, statistics, results: traces } = fixture
  const { synthetic, verified, snapshot_time: snapshotTime } = statistics
  const origin = { synthetic, manifest: null, generator }
  const set = await OutputSet.open(dir)
  const arrow = await ArrowTraceWriter.open(set)
  const archive = await TraceArchiveWriter.open(set)
  const parquet = await ParquetTraceWriter.open(set)
  const pending: Array<Promise<void>> = []
  for (const [i, columns] of fixture.columns.entries()) {
    pending.push(arrow.write(i, columns), archive.write(i, columns), parquet.write(i, columns))
    if (!overlap) await Promise.all(pending)
  }
  await Promise.all(pending)
  await arrow.finish({ ...origin, verified, snapshotTime })
  await parquet.finish({ ...origin, verified, snapshotTime })
  await archive.finish(origin)
  await writeTraceIndex(set, { verified, html, dump: null, snapshotTime, alignment, traces, excluded }, origin)
  await writeBoundaryAudit(set, { htmlSha256: html.sha256, endMarker: fixture.end_marker, traces }, origin)
  await writeTrajectories(set, { traces, page: html.path }, origin)
  await writeStatistics(set, statistics, origin)
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
      t.strictSame(tree(join(dir, 'one')), FILES.slice().sort(), 'these files and no others')
      for (const path of FILES) {
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

  async function write(columns: readonly TraceColumns[], metadata: TokenMetadata = METADATA): Promise<Buffer> {
    const set = await OutputSet.open(dir)
    try {
      const writer = await ArrowTraceWriter.open(set)
      for (const [i, c] of columns.entries()) await writer.write(i, c)
      await writer.finish(metadata)
      await set.commit()
    } finally {
      await set.abort()
    }
    return readFileSync(path)
  }

  t.test('reads back through the full package: values, types, batches, metadata', async t => {
    const bytes = await write(fixture.columns)
    const table = fullArrow.tableFromIPC(bytes)
    t.strictSame(
      table.schema.fields.map(f => `${f.name} ${f.type} ${f.nullable}`),
      ['trace Int32 false', 'value Float32 false', 'return Float32 false', 'response_position Int32 false']
    )
    t.strictSame(
      [...table.schema.metadata],
      [
        ['schema', 'critic-traces'],
        ['schema_version', '2'],
        ['synthetic', 'true'],
        ['verified', 'true'],
        ['snapshot_time', '2001-02-03T04:05:06.000007+00:00'],
        ['generator', 'critic-traces 0.0.0-test']
      ]
    )
    t.strictSame(
      table.batches.map(b => b.numRows),
      [9, 1, 4],
      'one batch a trace'
    )
    const verified = fullArrow.tableFromIPC(await write(fixture.columns, { ...METADATA, ...VERIFIED }))
    t.strictSame([...verified.schema.metadata].at(-1), ['inputs_manifest_sha256', '0123456789abcdef'.repeat(4)])
    const column = (name: string): unknown[] => [...(table.getChild(name) ?? [])]
    t.strictSame(column('trace'), [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2])
    t.strictSame(
      column('value'),
      fixture.columns.flatMap(c => [...c.values])
    )
    t.ok(Object.is(column('value')[10], -0), 'the sign of zero is kept')
    t.strictSame(
      column('return'),
      fixture.columns.flatMap(c => [...c.returns])
    )
    t.strictSame(
      column('response_position'),
      fixture.columns.flatMap(c => [...c.responsePositions])
    )
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
    for (const i of [2, 1]) {
      const values = random.readRecordBatch(i)?.getChild('value') ?? []
      t.strictSame([...values], [...(fixture.columns[i]?.values ?? [])], `batch ${i} by the footer alone`)
    }

    const stream = fullArrow.RecordBatchReader.from(bytes.subarray(8)).open()
    t.equal(stream.isFile(), false)
    t.equal(stream.schema.metadata.get('synthetic'), 'true', 'a stream reader finds schema and metadata')
    t.strictSame(
      [...stream].map(b => b.numRows),
      [9, 1, 4],
      'and the batches'
    )
  })

  t.test('metadata: no snapshot time leaves the key out; one that cannot be kept is refused', async t => {
    const least = { ...METADATA, synthetic: false, verified: false, snapshotTime: null }
    const none = fullArrow.tableFromIPC(await write(fixture.columns, least))
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
    t.equal(fullArrow.tableFromIPC(bytes).schema.fields.length, 4)
  })

  t.test('columns leave as views, and buffers are reused: nothing grows with the number of traces', async t => {
    const n = 5000
    const indexes = Array.from({ length: n }, (_, i) => i)
    const columns = traceColumns(
      indexes.map(i => i / 7),
      indexes.map(() => 1),
      indexes.map(i => 2 * i)
    )
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
    t.equal(buffers.size, 4, 'and one buffer for the trace')
  })

  t.test('overlapping writes of growing traces keep each its own trace', async t => {
    const sizes = [3, 50, 1, 400, 20]
    const all = sizes.map((n, k) => {
      const indexes = Array.from({ length: n }, (_, i) => i)
      return traceColumns(
        indexes.map(i => k + i),
        indexes.map(() => k),
        indexes
      )
    })
    const set = await OutputSet.open(dir)
    const writer = await ArrowTraceWriter.open(set)
    await Promise.all(all.map((c, i) => writer.write(10 * i, c)))
    await writer.finish(METADATA)
    await set.commit()
    const table = fullArrow.tableFromIPC(readFileSync(path))
    t.strictSame(
      [...(table.getChild('trace') ?? [])],
      sizes.flatMap((n, k) => new Array<number>(n).fill(10 * k))
    )
    t.strictSame(
      [...(table.getChild('value') ?? [])],
      sizes.flatMap((n, k) => Array.from({ length: n }, (_, i) => k + i))
    )
  })

  t.test('a trace out of order or with unequal columns is a mistake of the caller', async t => {
    const set = await OutputSet.open(dir)
    const writer = await ArrowTraceWriter.open(set)
    const [first] = fixture.columns
    if (first === undefined) throw new Error('no fixture')
    await writer.write(4, first)
    t.throws(() => void writer.write(4, first), { message: 'trace 4 after trace 4' })
    t.throws(() => void writer.write(5, { ...first, returns: new Float64Array(3) }), {
      message: 'trace 5 has columns of 9, 3 and 9 elements'
    })
    await set.abort()
  })
})

t.test('archive', async t => {
  t.test('trace numbers: three digits, more from 1,000 on, the same while streaming', async t => {
    t.strictSame([0, 7, 42, 999, 1000, 123456].map(tracePrefix), [
      'trace_000',
      'trace_007',
      'trace_042',
      'trace_999',
      'trace_1000',
      'trace_123456'
    ])
  })

  t.test('our own reader gives every array back, in order, stored, in its dtype', async t => {
    const dir = t.testdir()
    const set = await OutputSet.open(dir)
    const writer = await TraceArchiveWriter.open(set)
    for (const [i, columns] of fixture.columns.entries()) await writer.write(999 + i, columns)
    await writer.finish(VERIFIED)
    await set.commit()
    const npz = openNpz(readFileSync(join(dir, OUTPUT_PATHS.archive)))
    t.strictSame(npz.names, [
      ...['trace_999', 'trace_1000', 'trace_1001'].flatMap(p => [`${p}_values`, `${p}_returns`, `${p}_response_positions`]),
      'synthetic',
      'inputs_manifest_sha256'
    ])
    const manifest = npz.read('inputs_manifest_sha256')
    t.strictSame([manifest.descr, manifest.shape, manifest.data], ['|S64', [], ['0123456789abcdef'.repeat(4)]])
    const flag = npz.read('synthetic')
    t.strictSame([flag.descr, flag.shape, Number(flag.data[0])], ['|b1', [], 1])
    for (const [i, columns] of fixture.columns.entries()) {
      const read = (name: string) => npz.read(`${tracePrefix(999 + i)}_${name}`).data
      t.strictSame(read('values'), Float32Array.from(columns.values))
      t.strictSame(read('returns'), Float32Array.from(columns.returns))
      t.strictSame(read('response_positions'), BigInt64Array.from(columns.responsePositions, BigInt))
    }
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
    const writer = await TraceArchiveWriter.open(set)
    const [first] = fixture.columns
    if (first === undefined) throw new Error('no fixture')
    await writer.write(0, first)
    t.throws(() => void writer.write(0, first), { message: 'trace 0 after trace 0' })
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
      [['\rx', '=a,b', '\n=1'], '"\'\rx","\'=a,b","\'\n=1"'],
      [['\uff1d1', '\uff0b1', '\uff0d1', '\uff20x', '\uff1c1'], "'\uff1d1,'\uff0b1,'\uff0d1,'\uff20x,\uff1c1"],
      [['a=1', ' =1', "'=1"], "a=1, =1,'=1"],
      [[-1.5, -0, 0, 0.1, 1e-7, 1e21, 5e-324], '-1.5,-0,0,0.1,1e-7,1e+21,5e-324'],
      [[1.7976931348623157e308], '1.7976931348623157e+308'],
      [[0.30000000000000004, 123456789012345680000, 0.000001], '0.30000000000000004,123456789012345680000,0.000001']
    ]
    for (const [cells, text] of cases) t.equal(csvRow(cells), `${text}\r\n`)
    for (const bad of [NaN, Infinity, -Infinity]) {
      t.throws(() => csvRow([bad]), { message: `csv cell not finite: ${bad}, expected a finite number or null` })
    }
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
    const [heading, ...rows] = parseCsv(trajectoriesCsv({ traces: fixture.results, page: 'snapshot/index.html' }))
    t.strictSame(heading, [
      'trace',
      'step',
      'outcome',
      'uid',
      'score',
      'tokens',
      'boundaries',
      'first_value',
      'last_value',
      'delta',
      'mean_value',
      'rmse',
      'first_half_mean',
      'second_half_mean',
      'boundary_mean_abs_change',
      'internal_mean_abs_change',
      'max_boundary_from_index',
      'max_boundary_from',
      'max_boundary_to',
      'max_boundary_delta',
      'outcome_from',
      'source_file',
      'source_row'
    ])
    const at = (row: number, name: string | null): string | null | undefined => rows[row]?.[heading?.indexOf(name) ?? -1]
    t.strictSame(
      rows.map((_, i) => [at(i, 'step'), at(i, 'outcome'), at(i, 'outcome_from'), at(i, 'tokens')]),
      [
        ['6', null, null, '4'],
        ['7', 'failure', 'outcome', '1'],
        ['7', 'success', 'outcome', '9']
      ]
    )
    t.strictSame(
      heading?.filter(name => at(1, name) === null),
      [
        'first_half_mean',
        'boundary_mean_abs_change',
        'internal_mean_abs_change',
        'max_boundary_from_index',
        'max_boundary_from',
        'max_boundary_to',
        'max_boundary_delta',
        'source_row'
      ],
      'one token: no first half, no transition; no dump'
    )
    t.ok(Object.is(Number(at(0, 'first_value')), -0))
    const s = fixture.results[0]?.statistics
    t.equal(Number(at(2, 'boundary_mean_abs_change')), s?.boundary.meanAbs)
    const jump = ['from_index', 'from', 'to', 'delta'].map(name => Number(at(2, `max_boundary_${name}`)))
    t.strictSame(jump, [2, 0.75, 0.62109375, -0.12890625], 'numpy: 0.75 -> 0.62109375 at retained index 2')
  })

  t.test('rows are sorted by step, outcome, uid in code points, canonical index; nulls last', async t => {
    const [template] = fixture.results
    if (template === undefined) throw new Error('no fixture')
    const trace = (index: number, step: number | null, outcome: Outcome | null, uid: string | null): TraceResult => ({
      ...template,
      index,
      fields: { ...template.fields, step, outcome, uid }
    })
    // sorted by Python: sorted(…, key=lambda t: (step or inf, outcome or U+10FFFF, uid or U+10FFFF, index))
    const sorted = [
      trace(5, 2, 'success', 'z'),
      trace(3, 10, 'failure', ''),
      trace(8, 10, 'failure', 'B'),
      trace(2, 10, 'failure', 'a'),
      trace(9, 10, 'failure', 'a'),
      trace(4, 10, 'failure', 'ab'),
      trace(1, 10, 'failure', '\uffee'),
      trace(0, 10, 'failure', '\u{1f600}'),
      trace(7, 10, 'failure', null),
      trace(6, 10, 'success', 'a'),
      trace(11, 10, null, 'a'),
      trace(10, null, 'failure', 'a'),
      trace(12, null, null, null)
    ]
    for (const before of [[...sorted].reverse(), [...sorted].sort((a, b) => ((a.index * 7) % 13) - ((b.index * 7) % 13))]) {
      t.strictSame(
        before.sort(compareTraces).map(x => x.index),
        sorted.map(x => x.index)
      )
    }
    t.ok(compareCodePoints('\u{1f600}', '\uffee') > 0, 'UTF-16 order would say otherwise')
    t.ok('\u{1f600}' < '\uffee')
    const points = ['', 'a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}']
    for (const [i, a] of points.entries()) {
      for (const [j, b] of points.entries()) t.equal(Math.sign(compareCodePoints(a, b)), Math.sign(i - j), `${i} ${j}`)
    }
  })
})

t.test('a dump: the index says what was read and what gave no trace, the table where each trace comes from', async t => {
  const [first, second] = fixture.results
  const inputs = [
    { path: '7_0.pt', sha256: 'a'.repeat(64), bytes: 10 },
    { path: '7_1.pt', sha256: 'b'.repeat(64), bytes: 20 }
  ]
  const traces: TraceResult[] = [
    { ...first, index: 0, npz: null, compared: false, sample: { file: '7_1.pt', row: 4 } },
    { ...second, index: 2, npz: null, compared: false, sample: { file: '7_0.pt', row: null } }
  ]
  const dump: ReadDump = {
    facts: { kind: 'slime debug dump, version 2', mask: 'loss_masks', end: 'response_lengths', notes: ['one note'] },
    inputs,
    against: null,
    tokenizer: { sha256: 'e'.repeat(64), bytes: 7 },
    leftOut: [
      { index: 1, place: { file: '7_0.pt', trace: 0 }, reason: 'no token with mask 1' },
      { index: 3, place: { file: 'a.jsonl', line: 8 }, reason: 'dump empty response: 0 tokens, expected at least one' },
      { index: 4, place: {}, reason: 'unknown' }
    ]
  }
  const document = traceIndexDocument(
    { verified: false, html: null, dump, snapshotTime: null, alignment: null, traces, excluded: [] },
    ORIGIN
  )
  t.strictSame(document.dump, {
    kind: 'slime debug dump, version 2',
    mask: 'loss_masks',
    end: 'response_lengths',
    notes: ['one note'],
    files: inputs,
    tokenizer: { sha256: 'e'.repeat(64), bytes: 7 },
    left_out: [
      { index: 1, file: '7_0.pt', row: 0, reason: 'no token with mask 1' },
      { index: 3, file: 'a.jsonl', row: 7, reason: 'dump empty response: 0 tokens, expected at least one' },
      { index: 4, file: null, row: null, reason: 'unknown' }
    ]
  })
  t.strictSame(
    document.traces.map(({ index, npz, sample, archive_prefix: prefix }) => [index, npz, sample, prefix]),
    [
      [0, null, { file: '7_1.pt', row: 4 }, 'trace_000'],
      [2, null, { file: '7_0.pt', row: null }, 'trace_002']
    ]
  )
  const schema: unknown = JSON.parse(readFileSync(new URL('docs/schemas/critic-trace-index.schema.json', ROOT), 'utf8'))
  t.strictSame(schemaProblems(schema, JSON.parse(jsonText(document))), [])
  const [heading, ...rows] = parseCsv(trajectoriesCsv({ traces, page: null }))
  const at = ['trace', 'source_file', 'source_row'].map(name => heading.indexOf(name))
  t.strictSame(
    rows.map(row => at.map(c => row[c])),
    [
      ['2', '7_0.pt', null],
      ['0', '7_1.pt', '4']
    ]
  )
  const alone = { ...first, npz: null, compared: false }
  const [, row] = parseCsv(trajectoriesCsv({ traces: [alone], page: 'snap/index.html' }))
  t.strictSame(
    at.map(c => row[c]),
    ['0', 'snap/index.html', null],
    'a trace of the page alone'
  )
  t.throws(() => trajectoriesCsv({ traces: [alone], page: null }), { message: 'a trace without a source' })
})

t.test('JSON text', async t => {
  const value = {
    empty: {},
    none: [],
    nested: [[1, [2.5]], { a: null, b: [true, false] }],
    text: 'é一\u{1f600}"\\\n\u0000\u2028</script>',
    lone: '\ud800',
    numbers: [0, -1, 1e-7, 1e21, 5e-324, 0.1, 12345678901234567890],
    'key "q"': 1,
    '': 2
  }
  t.equal(jsonText(value), `${JSON.stringify(value, null, 2)}\n`, 'laid out as JSON.stringify does')
  t.equal(jsonText({ z: -0 }), '{\n  "z": -0\n}\n', 'but -0 keeps its sign')
  t.ok(Object.is(JSON.parse(jsonText(-0)), -0))
  const refused: ReadonlyArray<readonly [unknown, string, string]> = [
    [{ a: [1, NaN] }, 'NaN', '/a/1'],
    [{ a: Infinity }, 'Infinity', '/a'],
    [-Infinity, '-Infinity', '/'],
    [{ a: undefined }, 'undefined', '/a'],
    [[undefined], 'undefined', '/0'],
    [new Array<number>(1), 'undefined', '/0'],
    [{ 'x/y~z': 1n }, 'bigint', '/x~1y~0z'],
    [{ f: () => 0 }, 'function', '/f'],
    [{ s: Symbol('s') }, 'symbol', '/s'],
    [{ a: new Float64Array(1) }, 'a Float64Array', '/a'],
    [{ m: new Map() }, 'a Map', '/m'],
    [{ d: new Date(0) }, 'a Date', '/d']
  ]
  for (const [bad, found, pointer] of refused) {
    const expected = 'null, true, false, a finite number, a text, an array or a plain object'
    t.throws(() => jsonText(bad), { message: `output not JSON: ${found}, expected ${expected} (member ${pointer})` })
  }
})

t.test('JSON documents follow their schemas', async t => {
  const FILE_OF: Readonly<Record<string, string>> = { 'csv-metadata': 'critic-trace-trajectories.csv-metadata.json' }
  const NAMES = ['critic-trace-index', 'critic-turn-boundary-audit', 'critic-trace-statistics', 'csv-metadata']
  const schemas = readdirSync(new URL('docs/schemas/', ROOT))
  for (const name of NAMES) t.ok(schemas.includes(`${name}.schema.json`), `${name} has a schema`)
  for (const name of NAMES) {
    const schema: unknown = JSON.parse(readFileSync(new URL(`docs/schemas/${name}.schema.json`, ROOT), 'utf8'))
    const document = JSON.parse(expectedFile('three-traces', FILE_OF[name] ?? `${name}.json`).text)
    t.strictSame(schemaProblems(schema, document), [], `${name} is valid`)
    const plain = unprefixed(document)
    const from = Object.keys(plain).indexOf('schema_version')
    t.strictSame(Object.keys(plain).slice(from, from + 5), ['schema_version', 'schema', 'synthetic', 'inputs_verified', 'generator'])
    t.equal(from, name === 'csv-metadata' ? 4 : 0)
    t.equal(plain['schema'], name)
    for (const key of Object.keys(document)) {
      const { [key]: _, ...without } = document
      t.not(schemaProblems(schema, without).length, 0, `${name} without ${key} is not valid`)
      const wrong = typeof document[key] === 'string' ? 1 : 'some text'
      t.not(schemaProblems(schema, { ...document, [key]: wrong }).length, 0, `${key} has a type`)
    }
    t.strictSame(schemaProblems(schema, { ...document, extra: 1 }), ['/extra: nothing is allowed here'])
  }
  t.throws(() => schemaProblems({ format: 'date' }, 'x'), { message: 'keyword format is not supported (schema at )' })
})

t.test('statistics: the keys that readers count on, and a reason for every null', async t => {
  const document = statisticsDocument(fixture.statistics, VERIFIED)
  const keys = (value: object): string[] => Object.keys(value)
  for (const key of [
    'synthetic',
    'traces',
    'tokens',
    'distinct_uids',
    'steps',
    'threshold',
    'boundary',
    'internal',
    'jump_rate_ratio',
    'traces_boundary_exceeds_internal',
    'success',
    'failure',
    'examples'
  ]) {
    t.ok(Object.hasOwn(document, key), key)
  }
  t.strictSame(keys(document.boundary), ['transitions', 'mean_abs_change', 'jumps', 'jump_rate'])
  t.strictSame(keys(document.internal), keys(document.boundary))
  t.strictSame(
    [keys(document.success), keys(document.failure)],
    [
      ['traces', 'positive_delta'],
      ['traces', 'negative_delta']
    ]
  )
  t.strictSame(keys(document.examples), ['success', 'failure'])
  t.strictSame(nullPointers(document), Object.keys(document.undefined_reasons))
  const backwards = Object.fromEntries(Object.entries(fixture.statistics).reverse())
  t.equal(jsonText(statisticsDocument({ ...fixture.statistics, ...backwards }, VERIFIED)), jsonText(document))
  const reordered = statisticsDocument(Object.assign({}, backwards, fixture.statistics), VERIFIED)
  t.strictSame(Object.keys(reordered), Object.keys(document), 'key order does not depend on who made the object')
})

t.test('boundary audit', async t => {
  const audit = (traces: readonly TraceResult[], from: Partial<BoundaryAudit> = {}) => {
    const data = { htmlSha256: 'a'.repeat(64), endMarker: 'END', traces, ...from }
    return boundaryAuditDocument(data, VERIFIED)
  }
  const url = new URL('docs/schemas/critic-turn-boundary-audit.schema.json', ROOT)
  const schema: unknown = JSON.parse(readFileSync(url, 'utf8'))
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
    const none = new Array<number>(701).fill(0)
    const many = audit([trace(0, 700, none), trace(1, 0, [1]), trace(2, 700, none)])
    t.match(many, {
      boundaries: 1400,
      boundaries_with_end_marker: 0,
      exceptions_total: 1400,
      exceptions_listed: MAX_LISTED_EXCEPTIONS
    })
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
    const MARKED = 'boundaries_with_end_marker'
    for (const [document, nulls] of [
      [audit([trace(0, 1, [1, 1]), trace(1, 1, null)]), [`/${MARKED}`, `/traces/1/${MARKED}`, '/exceptions_total']],
      [
        audit([trace(0, 1, null)], { endMarker: null, htmlSha256: null }),
        ['/source_html_sha256', '/end_marker', `/${MARKED}`, `/traces/0/${MARKED}`, '/exceptions_total']
      ]
    ] as const) {
      t.strictSame(nullPointers(document), nulls)
      t.strictSame(Object.keys(Object(document.undefined_reasons)).sort(), [...nulls].sort())
      t.strictSame(schemaProblems(schema, JSON.parse(jsonText(document))), [])
    }
  })

  t.test('an audit that contradicts its own counts is not written', async t => {
    t.throws(
      () => audit([{ ...trace(0, 2, [1, 0, 1]), boundariesWithMarker: 2 }]),
      /trace 0 has 2 boundaries with the marker and 1 without, of 2/
    )
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
  const cwd = new URL('.', import.meta.url)
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd })
  t.equal(stdout, '0 1 true')
})
