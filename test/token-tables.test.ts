/** The tables of tokens: how narrow their columns are, what widens them, and what others read in them. */
import { recordOfBytes } from '../src/compute/diagnostics/packed-record.js'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import { parquetMetadata } from 'hyparquet'
import t, { type Test } from 'tap'
import { layColumns, membersOf } from '../src/compute/traces/columns.js'
import type { TokenArrays } from '../src/compute/traces/contract.js'
import { packSample } from '../src/compute/traces/sample-trace.js'
import { answerTrace } from '../src/compute/traces/trace-task.js'
import { openTracePool, type TracePool } from '../src/compute/traces/pool.js'
import { Fault } from '../src/core/errors.js'
import { SlicePool } from '../src/ingest/json/pool.js'
import { TraceScratch } from '../src/ingest/json/trace.js'
import { encodeNpy, encodeNpyHeader } from '../src/ingest/npz/write.js'
import { readNpy } from '../src/ingest/npz/npy.js'
import type { NpyFile } from '../src/ingest/npz/npz.js'
import { ArrowTraceWriter } from '../src/render/outputs/arrow.js'
import { OUTPUT_PATHS } from '../src/render/outputs/output-names.js'
import { OutputSet, type OutputFs } from '../src/render/outputs/output-set.js'
import type { TokenMetadata } from '../src/render/outputs/token-metadata.js'
import { ParquetTraceWriter } from '../src/render/outputs/token-parquet.js'
import type { TokenTables } from '../src/runs/snapshot-work.js'
import { Random } from '../src/replica/random.js'
import type { Sample } from '../src/schema/samples.js'
import type { TraceIndexDocument } from '../src/schema/outputs/trace-index.js'
import { DEFAULT_KEYS, type ParsedTrace } from '../src/schema/traces.js'
import { parseCsv } from './support/csv-parse.js'
import { runCli } from './support/cli.js'
import { queryDuckDb } from './support/duckdb.js'
import { countingFs, systemError, withHandles } from './support/failing-fs.js'
import { faultOf, sha256, tree } from './support/folders.js'
import { root } from './support/paths.js'
import { run, settings } from './support/run.js'
import { randomTraces, writeSnapshot, type TestTrace } from './support/snapshot.js'

const work = mkdtempSync(join(tmpdir(), 'critic-traces-tables-'))
const pools: TracePool[] = []
t.teardown(async () => {
  for (const pool of pools) await pool.destroy()
  rmSync(work, { recursive: true, force: true })
})
let folders = 0
function fresh(): string {
  const folder = join(work, String(folders++))
  mkdirSync(folder)
  return folder
}

function trace(values: readonly number[], returns: readonly number[], positions: readonly number[]): ParsedTrace {
  const fields = { step: 1, outcome: null, score: null, uid: null, predictionStage: null, npz: null, valueMean: null, valueRmse: null }
  return {
    index: 0,
    fields,
    values: Float64Array.from(values),
    returns: Float64Array.from(returns),
    positions: Float64Array.from(positions),
    spans: null
  }
}

function member(bytes: Uint8Array): NpyFile {
  return { array: readNpy(bytes), bytes, crc32: crc32(bytes) }
}

const POSITIONS = [3, 4, 9, 2 ** 31 - 1]
const SINGLE = [0.5, -0, 0.25, 0.1 + 2 ** -30].map(Math.fround)
const DOUBLE = [0.5, -0, 0.25, 0.1]

t.test('a column is as narrow as loses nothing', async t => {
  const wide = 2 ** 31
  const int64 = (numbers: readonly number[]) => member(encodeNpy(BigInt64Array.from(numbers, BigInt)))
  const int32 = (numbers: readonly number[]) => member(encodeNpy(Int32Array.from(numbers)))
  const float32 = (numbers: readonly number[]) => member(encodeNpy(Float32Array.from(numbers)))
  const float64 = (numbers: readonly number[]) => member(encodeNpy(Float64Array.from(numbers)))
  const bigEndian = member(
    Buffer.concat([encodeNpyHeader('>f4', [4]), ...SINGLE.map(x => new Uint8Array(new Float32Array([x]).buffer).reverse())])
  )
  // A header of 10 + 61 bytes: the elements lie at an odd place. numpy before 1.14 wrote such files.
  const text = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }".padEnd(60) + '\n'
  const odd = member(
    Buffer.concat([
      Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, text.length, 0]),
      Buffer.from(text),
      new Uint8Array(Float64Array.from(DOUBLE).buffer)
    ])
  )
  const cases: ReadonlyArray<readonly [string, NpyFile, NpyFile, NpyFile, string, readonly number[], boolean]> = [
    ['float32 and int64', float32(SINGLE), float32(SINGLE), int64(POSITIONS), 'Float32Array Float32Array Int32Array', SINGLE, true],
    ['int32', float32(SINGLE), float32(SINGLE), int32(POSITIONS), 'Float32Array Float32Array Int32Array', SINGLE, true],
    ['float64 that needs it', float64(DOUBLE), float32(SINGLE), int64(POSITIONS), 'Float64Array Float32Array Int32Array', DOUBLE, true],
    ['float64 that does not', float64(SINGLE), float64(DOUBLE), int64(POSITIONS), 'Float32Array Float64Array Int32Array', SINGLE, false],
    ['big-endian', bigEndian, float32(SINGLE), int64(POSITIONS), 'Float32Array Float32Array Int32Array', SINGLE, false],
    ['an odd header', odd, float32(SINGLE), int64(POSITIONS), 'Float64Array Float32Array Int32Array', DOUBLE, true],
    ['large positions', float32(SINGLE), float32(SINGLE), int64([0, 1, 2, wide]), 'Float32Array Float32Array BigInt64Array', SINGLE, true],
    [
      'small positions',
      float32(SINGLE),
      float32(SINGLE),
      int64([-wide - 1, 1, 2, 3]),
      'Float32Array Float32Array BigInt64Array',
      SINGLE,
      true
    ]
  ]
  for (const [name, values, returns, response_positions, types, numbers, view] of cases) {
    const positions = Array.from(response_positions.array.data as Int32Array | BigInt64Array, Number)
    const own = trace(numbers, Array.from(returns.array.data as Float32Array), positions)
    const columns = layColumns(own, Int32Array.of(1, 2), { values, returns, response_positions }, null)
    const arrays = [columns.values, columns.returns, columns.responsePositions]
    t.equal(arrays.map(array => array.constructor.name).join(' '), types, name)
    t.strictSame(Array.from(columns.values), numbers, name)
    t.ok(Object.is(columns.values[1], -0), `${name}: the sign of zero`)
    t.strictSame(Array.from(columns.responsePositions, Number), positions, name)
    t.strictSame([...columns.boundaries], [1, 2], name)
    const { bytes } = columns.npy.values
    t.strictSame(Buffer.from(bytes), Buffer.from(values.bytes), `${name}: the NPY file as it was`)
    const within = columns.values.byteOffset >= bytes.byteOffset && columns.values.byteOffset < bytes.byteOffset + bytes.length
    t.equal(within, view, `${name}: ${view ? 'a view of the NPY file' : 'a copy'}`)
  }
})

t.test('a trace without an NPZ file is archived as narrow too', async t => {
  const types = (own: ParsedTrace): string[] => Object.values(membersOf(own)).map(({ array }) => array.descr)
  t.strictSame(types(trace(SINGLE, SINGLE, POSITIONS)), ['<f4', '<f4', '<i4'])
  t.strictSame(types(trace(DOUBLE, SINGLE, [...POSITIONS.slice(0, 3), 2 ** 40])), ['<f8', '<f4', '<i8'])
  t.strictSame(Array.from(membersOf(trace([1e300], [1], [0])).values.array.data as Float64Array), [1e300])
})

t.test('a sample of a dump: the tokens with mask 1, in the width of the dump, with its file and row', async t => {
  const buffers = new SlicePool()
  const answer = (arrays: Sample['arrays'], place: Sample['place']) => {
    const fields = { step: 7, outcome: null, score: 1, uid: 'u', truncated: null, rank: null }
    const sample: Sample = { index: 5, place, fields, mask: Uint8Array.of(0, 1, 1, 0, 1), arrays, tokenIds: null }
    const task = {
      kind: 'sample',
      wanted: { columns: true, record: null },
      neighbours: { before: null, behind: null },
      against: null,
      index: 5,
      folder: '.',
      keys: DEFAULT_KEYS,
      jumpThreshold: 0.1,
      successThreshold: 0,
      endMarker: null,
      room: null
    } as const
    return answerTrace({ ...task, sample: packSample(sample, buffers) }, new TraceScratch())
  }
  const single = answer(
    { values: Float32Array.of(9, 1, 2, 9, 3), returns: Float64Array.of(9, 0.1, 0.2, 9, 0.3) },
    { file: '7.npz', trace: 2 }
  )
  if (!single.ok || single.result === null || single.columns === null) throw new Error('refused')
  t.strictSame(single.result.sample, { file: '7.npz', row: 2 })
  t.strictSame([single.columns.values, single.columns.returns], [Float32Array.of(1, 2, 3), Float64Array.of(0.1, 0.2, 0.3)])
  t.strictSame([...single.columns.responsePositions], [1, 2, 4])
  t.strictSame([...single.columns.boundaries], [1])
  const lined = answer({ values: Float32Array.of(9, 1, NaN, 9, 3), returns: Float32Array.of(0, 0, 0, 0, 0) }, { file: '7.jsonl', line: 3 })
  t.match(lined, { ok: false, index: 5, sample: { file: '7.jsonl', row: 2 } })
})

t.test('columns and record are asked for together or alone: each is the same', async t => {
  const fields = { step: 7, outcome: null, score: 1, uid: 'u', truncated: null, rank: null }
  const numbers = Float32Array.from({ length: 40 }, (_, i) => Math.sin(i))
  const arrays = { values: numbers, returns: numbers.map(x => x / 2), advantages: numbers.map(x => x / 4) }
  const mask = Uint8Array.from({ length: 40 }, (_, i) => (i % 9 === 4 ? 0 : 1))
  const sample: Sample = { index: 5, place: { file: '7.npz', trace: 2 }, fields, mask, arrays, tokenIds: null }
  const answer = (columns: boolean, record: boolean, packed = packSample(sample, new SlicePool())) => {
    const given = answerTrace(
      {
        kind: 'sample',
        wanted: { columns, record: record ? { thresholds: [0.1] } : null },
        neighbours: { before: numbers.map(x => 1 - x), behind: null },
        against: null,
        index: 5,
        folder: '.',
        keys: DEFAULT_KEYS,
        jumpThreshold: 0.1,
        successThreshold: 0,
        endMarker: null,
        room: null,
        sample: packed
      },
      new TraceScratch()
    )
    if (!given.ok) throw new Error('refused')
    return given
  }
  const both = answer(true, true)
  const { result, columns, record, sample: source } = answer(true, false)
  t.strictSame({ result: both.result, columns: both.columns, source: both.sample }, { result, columns, source })
  t.equal(record, null)
  const alone = answer(false, true)
  t.strictSame(alone.record, both.record)
  t.strictSame([alone.result, alone.columns], [null, null])
  t.match(recordOfBytes(both.record ?? new Uint8Array()), {
    estimator: { has: { advantages: true }, returns: { before: {} } },
    quality: { outcome: 'success', tokens: 36 }
  })
  const { values, ...without } = arrays
  const bare = answer(false, true, packSample({ ...sample, arrays: without }, new SlicePool()))
  t.match(
    recordOfBytes(bare.record ?? new Uint8Array()),
    { estimator: { has: { values: false, returns: true } } },
    'a record needs no values'
  )
})

const METADATA: TokenMetadata = {
  synthetic: true,
  manifest: null,
  generator: { name: 'critic-traces', version: '0.0.0-test' },
  verified: true,
  snapshotTime: '2001'
}

/** The Arrow and the Parquet file of these traces. */
async function written(
  traces: readonly TokenArrays[],
  fs?: OutputFs
): Promise<{ readonly dir: string; readonly arrow: Buffer; readonly parquet: Buffer }> {
  const dir = fresh()
  const set = await OutputSet.open(dir, fs === undefined ? {} : { fs })
  const writers = [await ArrowTraceWriter.open(set), await ParquetTraceWriter.open(set)]
  await Promise.all(traces.flatMap((arrays, i) => writers.map(writer => writer.write(i, arrays))))
  for (const writer of writers) await writer.finish(METADATA)
  await set.commit()
  t.strictSame(tree(dir), [OUTPUT_PATHS.arrow, OUTPUT_PATHS.parquet], 'no other file stays')
  return { dir, arrow: readFileSync(join(dir, OUTPUT_PATHS.arrow)), parquet: readFileSync(join(dir, OUTPUT_PATHS.parquet)) }
}

const narrow = (k: number, length: number): TokenArrays => ({
  values: Float32Array.from({ length }, (_, i) => k + i / 3),
  returns: Float32Array.from({ length }, (_, i) => -k - i / 7),
  responsePositions: Int32Array.from({ length }, (_, i) => k + 2 * i)
})

t.test('a later trace that needs wider columns: the same bytes as if they had been wide from the first', async t => {
  const small = [narrow(1, 5), narrow(2, 1), narrow(3, 1000), narrow(4, 17)]
  const wideValues: TokenArrays = { ...narrow(5, 9), values: Float64Array.from({ length: 9 }, (_, i) => i / 3) }
  const wideReturns: TokenArrays = { ...narrow(6, 3), returns: Float64Array.of(0.1, 0.2, 0.3) }
  const widePositions: TokenArrays = { ...narrow(7, 2), responsePositions: BigInt64Array.of(-(2n ** 53n), 2n ** 53n) }
  const later = await written([...small, wideValues, narrow(8, 40), widePositions, wideReturns, narrow(9, 2)])
  const widen = ({ values, returns, responsePositions }: TokenArrays): TokenArrays => ({
    values: Float64Array.from(values),
    returns: Float64Array.from(returns),
    responsePositions: BigInt64Array.from(responsePositions as Int32Array, BigInt)
  })
  const [first, ...rest] = small
  const atOnce = await written([widen(first), ...rest, wideValues, narrow(8, 40), widePositions, wideReturns, narrow(9, 2)])
  t.ok(later.arrow.equals(atOnce.arrow), 'Arrow')
  t.ok(later.parquet.equals(atOnce.parquet), 'Parquet')
  const table = tableFromIPC(later.arrow)
  const types = table.schema.fields.map(field => String(field.type))
  t.strictSame(types, ['Int32', 'Float64', 'Float64', 'Int64'])
  const all = [...small, wideValues, narrow(8, 40), widePositions, wideReturns, narrow(9, 2)]
  const numbers = (of: (arrays: TokenArrays) => Iterable<number | bigint>) => all.flatMap(arrays => Array.from(of(arrays), Number))
  const column = (name: string) => Array.from(table.getChild(name) as Iterable<number | bigint>, Number)
  t.strictSame(
    column('value'),
    numbers(a => a.values)
  )
  t.strictSame(
    column('return'),
    numbers(a => a.returns)
  )
  t.strictSame(
    column('response_position'),
    numbers(a => a.responsePositions)
  )
  const read = await queryDuckDb(`select * from '${join(later.dir, OUTPUT_PATHS.parquet)}'`)
  t.strictSame(read.columns, ['trace INTEGER', 'value DOUBLE', 'return DOUBLE', 'response_position BIGINT'])
  t.strictSame(
    read.rows.map(row => row.map(Number)),
    all.flatMap(({ values, returns, responsePositions }, i) =>
      Array.from(values, (v, k) => [i, v, returns[k], Number(responsePositions[k])])
    )
  )
})

t.test('a file that cannot be read back while it is widened leaves nothing', async t => {
  const dir = fresh()
  const fs = withHandles(real => ({ ...real, read: () => Promise.resolve(0) }))
  const set = await OutputSet.open(dir, { fs })
  const writer = await ArrowTraceWriter.open(set)
  await writer.write(0, narrow(0, 10))
  const fault = await faultOf(writer.write(1, { ...narrow(1, 3), values: Float64Array.of(0.1, 0.2, 0.3) }))
  t.match(fault.message, /the file gave 0 bytes of a read/)
  await set.abort()
  t.strictSame(readdirSync(dir), [])
})

t.test('whatever fails while a file is widened: all of it or nothing', async t => {
  const outcomes = new Map<string, Set<string>>()
  let failAt = 0
  for (; ; failAt++) {
    const dir = fresh()
    const { fs, calls } = countingFs(failAt, systemError('EIO', 'i/o error', 'call'))
    const attempt = async (): Promise<void> => {
      const set = await OutputSet.open(dir, { fs, folders: ['training_data'] })
      try {
        const writer = await ArrowTraceWriter.open(set)
        await writer.write(0, narrow(0, 10))
        await writer.write(1, { ...narrow(1, 3), values: Float64Array.of(0.1, 0.2, 0.3) })
        await writer.finish(METADATA)
        await set.commit()
      } finally {
        await set.abort()
      }
    }
    const thrown: unknown = await attempt().then(
      () => null,
      error => error
    )
    const failed = calls[failAt]
    if (failed === undefined) break
    if (thrown !== null && !(thrown instanceof Fault)) throw thrown
    const left = tree(dir)
    if (thrown === null) t.strictSame(left, [OUTPUT_PATHS.arrow], `${failAt} ${failed}`)
    else t.strictSame(left, [], `${failAt} ${failed}`)
    outcomes.set(failed, (outcomes.get(failed) ?? new Set()).add(thrown === null ? 'whole' : 'nothing'))
  }
  t.ok(failAt > 20, `${failAt} operations failed, one at a time`)
  for (const call of ['create', 'writev', 'read', 'unlink', 'sync', 'rename'])
    t.strictSame([...(outcomes.get(call) ?? [])], ['nothing'], call)
})

t.test('Parquet: row groups of whole traces, read by DuckDB', async t => {
  const sizes = [60_000, 60_000, 3_000, 130_000, 5, 1]
  const traces = sizes.map((size, k) => narrow(k, size))
  const { dir, parquet } = await written(traces)
  const { row_groups: groups, created_by: createdBy, key_value_metadata: metadata } = parquetMetadata(Uint8Array.from(parquet).buffer)
  t.strictSame(
    groups.map(group => Number(group.num_rows)),
    [120_000, 3_000, 130_000, 6]
  )
  t.equal(createdBy, 'critic-traces 0.0.0-test')
  t.strictSame(
    metadata?.map(({ key, value }) => [key, value]),
    [
      ['schema', 'critic-traces'],
      ['schema_version', '2'],
      ['synthetic', 'true'],
      ['verified', 'true'],
      ['snapshot_time', '2001'],
      ['generator', 'critic-traces 0.0.0-test']
    ]
  )
  const file = `'${join(dir, OUTPUT_PATHS.parquet)}'`
  const read = await queryDuckDb(
    `select trace, count(*), sum(value::double), sum("return"::double), min(response_position), max(response_position) from ${file} group by trace order by trace`
  )
  const sum = (numbers: ArrayLike<number>): number => Array.from(numbers).reduce((a, b) => a + b, 0)
  for (const [k, { values, returns }] of traces.entries()) {
    const [index, count, valueSum, returnSum, least, greatest] = read.rows[k].map(Number)
    t.strictSame([index, count, least, greatest], [k, sizes[k], k, k + 2 * (sizes[k] - 1)])
    t.ok(Math.abs(valueSum - sum(values)) < 1e-6 * Math.abs(sum(values)) + 1e-9)
    t.ok(Math.abs(returnSum - sum(returns)) < 1e-6 * Math.abs(sum(returns)) + 1e-9)
  }
  const one = await queryDuckDb(`select count(*) from ${file} where trace = 3 and response_position < 103`)
  t.strictSame(one.rows, [[50n]], 'row groups are skipped by their ranges, and no token is lost')
  const none = await written([])
  t.strictSame((await queryDuckDb(`select * from '${join(none.dir, OUTPUT_PATHS.parquet)}'`)).rows, [])
})

/** Traces of which the first are narrow and later ones need wide values, returns and positions. */
function mixedTraces(): TestTrace[] {
  const traces = randomTraces(new Random('mixed'), 4, i => 20 + 10 * i)
  traces[3].values[7] = 0.1
  traces[5].returns[2] = 0.3
  traces[6].response_positions = traces[6].response_positions.map(position => position + 2 ** 40)
  return traces
}

async function outputsOf(t: Test, folder: string, threads: number, chunkBytes: number, tables: TokenTables): Promise<string> {
  const out = fresh()
  const pool = await openTracePool(threads)
  pools.push(pool)
  const judge = { ...settings(), traces: { ...settings().traces }, tables }
  t.equal((await run(folder, out, pool, { settings: judge, chunkBytes })).statistics.traces, 8)
  return out
}

t.test('a snapshot of mixed widths: the same bytes at any number of threads and any size of chunks', async t => {
  const folder = join(fresh(), 'snap')
  const traces = mixedTraces()
  // No check of returns or of stored means stops a run without a study.
  await writeSnapshot(folder, traces)
  const both = { arrow: true, parquet: true }
  const outs = [await outputsOf(t, folder, 1, 1 << 20, both), await outputsOf(t, folder, 3, 777, both)]
  const [one, other] = outs.map(out => tree(out).map(path => [path, sha256(readFileSync(join(out, path)))]))
  t.strictSame(one, other)
  const parquet = join(outs[0], OUTPUT_PATHS.parquet)
  const { columns, rows } = await queryDuckDb(`select * from '${parquet}'`)
  t.strictSame(columns, ['trace INTEGER', 'value DOUBLE', 'return DOUBLE', 'response_position BIGINT'])
  t.strictSame(
    rows.map(row => row.map(Number)),
    traces.flatMap(({ values, returns, response_positions: p }, i) => values.map((v, k) => [i, v, returns[k], p[k]]))
  )
  const none = await outputsOf(t, folder, 1, 1 << 20, { arrow: false, parquet: false })
  t.strictSame(
    tree(none).filter(path => path.includes('critic-traces.')),
    []
  )
  t.strictSame(
    tree(none),
    tree(outs[0]).filter(path => !path.includes('critic-traces.'))
  )
})

t.test('a dump, from its file to index, CSV and tables', async t => {
  const folder = join(fresh(), 'dump')
  mkdirSync(folder)
  const mask = [1, 1, 0, 1, 0]
  const rows = [
    { values: [0.5, 0.25, 9, 0.75, 9], returns: [1, 1, 9, 1, 9], response_mask: mask, score: 1, uid: 'g' },
    { values: [1, 2, 3], returns: [1, 2, 3], response_mask: [0, 0, 0], score: 1, uid: 'g' },
    { values: [1e308, -1e308, 0], returns: [0, 0, 0], response_mask: [1, 1, 1], score: 0, uid: 'g' },
    { values: [0.5, 0.1], returns: [0, 0], response_mask: [1, 1], score: 0, uid: 'h' }
  ]
  writeFileSync(join(folder, 'step_3.jsonl'), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const out = fresh()
  const pool = openTracePool(2)
  pools.push(pool)
  const tables = { arrow: true, parquet: true }
  await run(join(folder, 'step_3.jsonl'), out, pool, {
    settings: { ...settings(), dump: { names: {}, skipBad: true, against: null, tokenizer: null }, tables }
  })
  const text = readFileSync(join(out, OUTPUT_PATHS.index), 'utf8')
  const index = JSON.parse(text) as Pick<TraceIndexDocument, 'dump' | 'traces'>
  const bytes = readFileSync(join(folder, 'step_3.jsonl'))
  t.match(index.dump, {
    mask: 'response_mask',
    files: [{ path: 'step_3.jsonl', sha256: sha256(bytes), bytes: bytes.length }],
    left_out: [
      { index: 1, file: 'step_3.jsonl', row: 1, reason: 'no token with mask 1' },
      { index: 2, file: 'step_3.jsonl', row: 2, reason: /^trace .*overflows: [^(]*$/ }
    ]
  })
  t.notOk(text.includes(work), 'no path of this machine')
  t.strictSame(
    index.traces.map(({ index: i, step, uid, sample, npz }) => [i, step, uid, sample, npz]),
    [
      [0, 3, 'g', { file: 'step_3.jsonl', row: 0 }, null],
      [3, 3, 'h', { file: 'step_3.jsonl', row: 3 }, null]
    ]
  )
  const [heading, ...lines] = parseCsv(readFileSync(join(out, OUTPUT_PATHS.trajectories), 'utf8'))
  t.strictSame(
    lines.map(line => ['trace', 'uid', 'score', 'source_file', 'source_row'].map(name => line[heading.indexOf(name)])),
    [
      ['3', 'h', '0', 'step_3.jsonl', '3'],
      ['0', 'g', '1', 'step_3.jsonl', '0']
    ]
  )
  const { columns, rows: tokens } = await queryDuckDb(`select * from '${join(out, OUTPUT_PATHS.parquet)}'`)
  t.strictSame(columns, ['trace INTEGER', 'value DOUBLE', 'return FLOAT', 'response_position INTEGER'], '0.1 is no float32')
  t.strictSame(tokens, [
    [0, 0.5, 1, 0],
    [0, 0.25, 1, 1],
    [0, 0.75, 1, 3],
    [3, 0.5, 0, 0],
    [3, 0.1, 0, 1]
  ])
})

t.test('--parquet and --no-arrow: other outputs are computed anew, and a file that is not asked for goes', async t => {
  const dir = fresh()
  await writeSnapshot(
    join(dir, 'snap'),
    randomTraces(new Random('options'), 2, () => 30),
    { float32: true }
  )
  const statuses: unknown[] = []
  const tables = async (...options: readonly string[]): Promise<string[]> => {
    const done = await runCli(['traces', 'snap', '--out', 'out', '--no-figures', '--json', ...options], { cwd: dir })
    t.equal(done.code, 0, done.stderr)
    statuses.push((JSON.parse(done.stdout) as { snapshots: ReadonlyArray<{ status: unknown }> }).snapshots[0].status)
    t.equal((await runCli(['verify', '--outputs', 'out', '--quiet'], { cwd: dir })).code, 0)
    return readdirSync(join(dir, 'out/snap/training_data')).filter(name => /^critic-traces\./.test(name))
  }
  t.strictSame(await tables(), ['critic-traces.arrow'])
  t.strictSame(await tables(), ['critic-traces.arrow'])
  t.strictSame(await tables('--parquet'), ['critic-traces.arrow', 'critic-traces.parquet'])
  t.strictSame(await tables('--parquet', '--no-arrow'), ['critic-traces.parquet'])
  t.strictSame(await tables('--no-arrow'), [])
  t.strictSame(await tables('--no-arrow'), [])
  t.strictSame(statuses, ['done', 'unchanged', 'done', 'done', 'done', 'unchanged'])
})

t.test('the SQL of docs/outputs.md, in DuckDB', async t => {
  const folder = join(fresh(), 'snap')
  const traces = randomTraces(new Random('sql'), 3, i => 200 + i)
  await writeSnapshot(folder, traces, { float32: true })
  const out = await fromSql(t, folder)
  const [, sql] = /```sql\n(.*?)```/s.exec(readFileSync(join(root, 'docs/outputs.md'), 'utf8')) ?? []
  const { columns, rows } = await queryDuckDb(
    sql.replaceAll(/'(critic-trace[a-z-]*\.(?:parquet|csv))'/g, `'${join(out, 'training_data')}/$1'`)
  )
  t.strictSame(
    columns.map(column => column.split(' ')[0]),
    ['step', 'boundary', 'transitions', 'jump_rate']
  )
  // The same by a plain loop over the arrays that the page was written from.
  const expected = [...new Set(traces.map(own => own.step))].flatMap(step =>
    [false, true].map(boundary => {
      const changes = traces
        .filter(own => own.step === step)
        .flatMap(({ values, response_positions: p }) =>
          values.slice(1).flatMap((value, i) => ((p[i + 1] - p[i] !== 1) === boundary ? [Math.abs(value - values[i])] : []))
        )
      return [step, boundary, changes.length, changes.filter(change => change > 0.1).length / changes.length]
    })
  )
  t.strictSame(
    rows.map(([step, boundary, transitions, rate]) => [Number(step), boundary, Number(transitions), rate]),
    expected
  )
  t.ok(expected.some(([, boundary, , rate]) => boundary === true && Number(rate) > 0))
})

async function fromSql(t: Test, folder: string): Promise<string> {
  const out = fresh()
  const pool = await openTracePool(1)
  pools.push(pool)
  const { statistics } = await run(folder, out, pool, { settings: { ...settings(), tables: { arrow: false, parquet: true } } })
  t.equal(statistics.traces, 6)
  return out
}
