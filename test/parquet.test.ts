/**
 * The Parquet reader: every file against pyarrow's reading of it (fixtures/parquet, made by make.py there, and the files
 * of public repositories), counts against DuckDB's, and files that are damaged, hostile or not Parquet.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { brotliCompressSync, constants, crc32, gzipSync } from 'node:zlib'
import { parquetMetadata } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { parquetWriteBuffer } from 'hyparquet-writer'
import t, { type Test } from 'tap'
import { EXIT, Fault } from '../src/core/errors.js'
import { auditParquet, type DatasetAudit, type DatasetRequest } from '../src/ingest/parquet/audit.js'
import { decodeValues } from '../src/ingest/parquet/values.js'
import { decodeDelta, decodeHybrid } from '../src/ingest/parquet/bits.js'
import { toParquetFault } from '../src/ingest/parquet/faults.js'
import { endOfStruct } from '../src/ingest/parquet/thrift.js'
import { faultOf } from './support/folders.js'
import { craft, plainPage } from './support/parquet-craft.js'
import { readColumns, type ColumnReading } from './support/parquet-rows.js'
import { fixture, root } from './support/paths.js'

const CASES = process.env.CRITIC_TRACES_CASES ?? join(root, '../shared/cases')
const FOLDER = fixture('parquet')

type Reading =
  | { readonly error: string }
  | {
      readonly rows: number
      readonly row_groups: number
      readonly leaves: readonly string[]
      readonly columns: Record<string, Partial<ColumnReading>>
    }

function readings(name: string): Record<string, Reading> {
  return (JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as { files: Record<string, Reading> }).files
}

/** One file against pyarrow's reading. */
async function compare(t: Test, path: string, name: string, expected: Reading): Promise<void> {
  if ('error' in expected) {
    const fault = await faultOf(auditParquet(path))
    t.match(fault.message, /^parquet /, `${name} is refused: ${fault.message}`)
    t.equal(fault.place.file, path, `${name}: the file is named`)
    return
  }
  const audit = await auditParquet(path)
  t.same(
    [audit.rows, audit.rowGroups, audit.columns, audit.columnsDecoded],
    [expected.rows, expected.row_groups, expected.leaves.length, expected.leaves.length],
    name
  )
  const { footer, columns } = await readColumns(path)
  t.same(
    footer.schema.leaves.map(leaf => leaf.path.join('.')),
    expected.leaves,
    `${name}: columns`
  )
  for (const [column, want] of Object.entries(expected.columns)) {
    if (want.first !== undefined) t.equal(columns[column].first, want.first, `${name} ${column}: first row`)
    if (want.last !== undefined) t.equal(columns[column].last, want.last, `${name} ${column}: last row`)
    t.equal(columns[column].sha256, want.sha256, `${name} ${column}: all rows`)
  }
}

t.test('a decoder that meets what is not there is told in our words', t => {
  const told = (error: unknown): string => toParquetFault(error, 'malformed footer', { file: 'a.parquet' }).message
  t.equal(
    told(new TypeError("Cannot read properties of undefined (reading 'map')")),
    'parquet malformed footer: fields that do not fit each other, expected an intact file (a.parquet)'
  )
  t.equal(told(new Error('thrift end')), 'parquet malformed footer: thrift end, expected an intact file (a.parquet)')
  t.end()
})

t.test('files that pyarrow 25.0.1 and DuckDB 1.5.6 wrote', async t => {
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.parquet'))
  const expected = readings('expected')
  t.same(files, Object.keys(expected).sort(), 'every file has a reading')
  t.ok(files.length >= 15)
  for (const name of files) await compare(t, join(FOLDER, name), name, expected[name])
})

t.test('files of public repositories', { skip: existsSync(CASES) ? false : `no ${CASES}` }, async t => {
  const table = readFileSync(join(CASES, 'CASES.tsv'), 'utf8')
    .split('\n')
    .map(line => line.split('\t'))
    .filter(([path]) => path.startsWith('parquet/'))
  const expected = readings('public')
  t.equal(table.length, 31)
  t.same(table.map(([path]) => path.slice('parquet/'.length)).sort(), Object.keys(expected).sort(), 'every case has a reading')
  for (const row of table) {
    const name = row[0].slice('parquet/'.length)
    const path = join(CASES, row[0])
    const text = row[6]
    await compare(t, path, name, expected[name])
    if ('error' in expected[name]) continue
    const audit = await auditParquet(path)
    // The table's own words: codec (pyarrow calls LZ4 UNKNOWN), encodings, writer.
    const said = (key: string): string =>
      new RegExp(`${key}=(.*?) (?:row_groups|leaf_columns|codec|encodings|created_by|schema)=`).exec(text)?.[1] ?? ''
    t.equal(audit.codecs.join('/').replace(/^LZ4$/, 'UNKNOWN'), said('codec'), `${name}: codec`)
    t.equal(audit.encodings.join('/'), said('encodings'), `${name}: encodings`)
    const by = said('created_by')
    t.ok((audit.createdBy ?? '').startsWith(by.replace(/…$/, '')), `${name}: written by ${by}`)
    t.equal(`${audit.rows}`, /read ok rows=(\d+)/.exec(text)?.[1], `${name}: rows`)
  }
  t.match(
    (await faultOf(auditParquet(join(CASES, 'parquet/uniform_encryption.parquet.encrypted')))).message,
    /^parquet encrypted: magic PARE/
  )
  const checked = await auditParquet(join(CASES, 'parquet/adam_genotypes.parquet'))
  t.same(checked.checked, { pages: 91, checksummed: 91 })
})

/** DuckDB 1.5.6: count(*) filter (p like '%swegen%') and so on, over extra_info.task_path of the 60 rows. */
const REQUEST: DatasetRequest = {
  texts: {
    columns: ['task_path', 'extra_info.task_path'],
    patterns: { swegen: 'swegen', openswe: 'openswe', digit: { regex: 'task-[0-9]$' } }
  },
  field: 'extra_info.agent_harness'
}

const VERL_TEXTS = { column: 'extra_info.task_path', matches: { swegen: 24, openswe: 24, digit: 6 }, several: 18, unmatched: 11, nulls: 13 }
const VERL_FIELDS: Readonly<Record<string, number>> = {
  'extra_info.agent_harness': 18,
  extra_info: 55,
  'extra_info.tags': 55,
  'extra_info.tags.list.element': 27,
  'extra_info.tags.list': 27,
  prompt: 60,
  data_source: 60
}

t.test('what a request counts', async t => {
  const files = readdirSync(FOLDER).filter(name => name.startsWith('verl-'))
  t.equal(files.length, 12)
  for (const name of files) {
    const path = join(FOLDER, name)
    const { texts, field, checked } = await auditParquet(path, { ...REQUEST, decode: 'requested' })
    t.same(texts, VERL_TEXTS, `${name}: texts`)
    t.same(
      field,
      { path: 'extra_info.agent_harness', inSchema: true, nonNullRows: VERL_FIELDS['extra_info.agent_harness'] },
      `${name}: field`
    )
    const all = await auditParquet(path, REQUEST)
    t.same([all.texts, all.field], [texts, field], `${name}: with all columns decoded`)
    t.ok(checked.pages < all.checked.pages, `${name}: only the columns asked for are decoded`)
    t.equal(all.checked.checksummed, name.includes('zstd') ? all.checked.pages : 0, `${name}: checksums`)
  }
  const path = join(FOLDER, 'verl-zstd-v2.parquet')
  for (const [field, rows] of Object.entries(VERL_FIELDS)) {
    t.same((await auditParquet(path, { field })).field, { path: field, inSchema: true, nonNullRows: rows }, field)
  }
  t.same((await auditParquet(path, { field: 'extra_info.harness' })).field, { path: 'extra_info.harness', inSchema: false, nonNullRows: 0 })
  const duckdb = await auditParquet(join(FOLDER, 'duckdb.parquet'), {
    texts: { columns: ['extra_info.task', 'task_path'], patterns: { swegen: { regex: '/swegen$' }, openswe: { regex: '/openswe$' } } },
    field: 'extra_info.task_path'
  })
  t.same(duckdb.texts, { column: 'task_path', matches: { swegen: 150, openswe: 150 }, several: 0, unmatched: 0, nulls: 0 })
  t.equal(duckdb.field?.nonNullRows, 225)
  const none = await auditParquet(path, { decode: 'requested' })
  t.same([none.texts, none.field, none.checked], [null, null, { pages: 0, checksummed: 0 }], 'nothing is requested, nothing decoded')
})

t.test('what a file says of itself', async t => {
  const path = join(FOLDER, 'verl-snappy-v1.parquet')
  const bytes = readFileSync(path)
  const heard: number[] = []
  const audit = await auditParquet(path, {}, { onBytes: n => heard.push(n) })
  t.equal(audit.sha256, createHash('sha256').update(bytes).digest('hex'))
  t.equal(
    heard.reduce((a, b) => a + b, 0),
    bytes.length
  )
  const { bytes: size, rows, rowGroups, columns, columnsDecoded, createdBy, codecs, encodings, metadataKeys } = audit
  t.same(
    { size, rows, rowGroups, columns, columnsDecoded, createdBy, codecs, encodings, metadataKeys },
    {
      size: bytes.length,
      rows: 60,
      rowGroups: 3,
      columns: 10,
      columnsDecoded: 10,
      createdBy: 'parquet-cpp-arrow version 25.0.1',
      codecs: ['SNAPPY'],
      encodings: ['PLAIN', 'RLE', 'RLE_DICTIONARY'],
      metadataKeys: []
    }
  )
  const leaf = (name: string): object => ({ name, type: 'BYTE_ARRAY', logical: 'STRING', repetition: 'OPTIONAL', children: [] })
  t.same(audit.schema.slice(0, 2), [
    leaf('data_source'),
    {
      name: 'prompt',
      type: null,
      logical: 'LIST',
      repetition: 'OPTIONAL',
      children: [
        {
          name: 'list',
          type: null,
          logical: null,
          repetition: 'REPEATED',
          children: [
            {
              name: 'element',
              type: null,
              logical: null,
              repetition: 'OPTIONAL',
              children: [leaf('role'), leaf('content')]
            }
          ]
        }
      ]
    }
  ])
  t.same(
    audit.schema[4].children.map(({ name, type, logical }) => [name, type, logical]),
    [
      ['index', 'INT64', null],
      ['task_path', 'BYTE_ARRAY', 'STRING'],
      ['agent_harness', 'BYTE_ARRAY', 'STRING'],
      ['tags', null, 'LIST']
    ]
  )
})

t.test('files of hyparquet-writer', async t => {
  const dir = t.testdir()
  const path = join(dir, 'own.parquet')
  for (const codec of ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI'] as const) {
    const names = Array.from({ length: 5000 }, (_, i) => (i % 50 === 0 ? null : `task/${i % 3 === 0 ? 'swegen' : 'openswe'}/${i}`))
    writeFileSync(
      path,
      Buffer.from(
        parquetWriteBuffer({
          codec,
          rowGroupSize: 1000,
          pageSize: 4096,
          compressors: { GZIP: gzipSync, BROTLI: brotliCompressSync },
          columnData: [
            { name: 'task.path', data: names, type: 'STRING' },
            { name: 'n', data: names.map((_, i) => BigInt(i)), type: 'INT64' },
            { name: 'flag', data: names.map((_, i) => i % 2 === 0), type: 'BOOLEAN' }
          ],
          kvMetadata: [{ key: 'private', value: 'not shown' }]
        })
      )
    )
    const audit = await auditParquet(path, {
      texts: { columns: ['task.path'], patterns: { swegen: 'swegen', openswe: 'openswe' } },
      field: 'n'
    })
    const present = names.filter(name => name !== null)
    const swegen = present.filter(name => name.includes('swegen')).length
    t.same(
      audit.texts,
      { column: 'task.path', matches: { swegen, openswe: present.length - swegen }, several: 0, unmatched: 0, nulls: 100 },
      codec
    )
    t.same([audit.rows, audit.rowGroups, audit.field?.nonNullRows, audit.codecs, audit.metadataKeys], [5000, 5, 5000, [codec], ['private']])
    t.notMatch(JSON.stringify(audit), /not shown/)
  }
})

t.test('requests that a file cannot answer', async t => {
  const path = join(FOLDER, 'verl-zstd-v2.parquet')
  const refused = async (request: DatasetRequest): Promise<Fault> => faultOf(auditParquet(path, request))
  const texts = (...columns: string[]): DatasetRequest => ({ texts: { columns, patterns: {} } })
  t.match((await refused(texts('a', 'b'))).message, `parquet missing column: none of a, b, expected one of them in the schema (${path})`)
  t.match(
    (await refused(texts('extra_info.task_pth'))).message,
    `none of extra_info.task_pth, expected one of them in the schema; did you mean extra_info.task_path? (${path})`
  )
  t.match((await refused(texts('extra_info'))).message, /wrong column type: extra_info is a group, expected a text/)
  t.match((await refused(texts('extra_info.index'))).message, /wrong column type: INT64, expected BYTE_ARRAY, a text/)
  t.match((await refused(texts('prompt.list.element.role'))).message, /unsupported: a list of texts in each row/)
  const usage = await refused({ texts: { columns: ['ability'], patterns: { p: { regex: '(' } } } })
  t.equal(usage.exitCode, EXIT.usage)
  t.match((await faultOf(auditParquet(join(FOLDER, 'absent')))).message, /^file unreadable: ENOENT/)
  t.match((await faultOf(auditParquet(FOLDER))).message, /^file unreadable: a folder/)
})

/** Files as bytes, tried one after the other. */
function trial(t: Test): (bytes: Uint8Array, request?: DatasetRequest) => Promise<DatasetAudit | Fault> {
  const path = join(t.testdir(), 'trial.parquet')
  return async (bytes, request = {}) => {
    writeFileSync(path, bytes)
    try {
      return await auditParquet(path, request)
    } catch (error) {
      if (error instanceof Fault) return error
      throw error
    }
  }
}

t.test('truncated anywhere', async t => {
  const attempt = trial(t)
  for (const name of ['duckdb.parquet', 'verl-brotli-v2.parquet', 'delta.parquet']) {
    const bytes = readFileSync(join(FOLDER, name))
    const accepted: number[] = []
    for (let length = 0; length < bytes.length; length += length < 20 || length > bytes.length - 20 ? 1 : 97) {
      if (!((await attempt(bytes.subarray(0, length))) instanceof Fault)) accepted.push(length)
    }
    t.same(accepted, [], `${name}: every cut is a fault`)
    // A cut with the footer kept: the pages are gone.
    const footer = bytes.subarray(bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8))
    for (const keep of [4, 100, 1000]) {
      t.type(await attempt(Buffer.concat([bytes.subarray(0, keep), footer])), Fault, `${name}: ${keep} bytes and the footer`)
    }
  }
})

/** First byte and end of what each page's checksum covers. */
function pageBodies(bytes: Buffer): [number, number][] {
  const file = new Uint8Array(bytes).buffer
  return parquetMetadata(file).row_groups.flatMap(group =>
    group.columns.flatMap(({ meta_data: meta }) => {
      const found: [number, number][] = []
      const start = Number(meta!.dictionary_page_offset ?? meta!.data_page_offset)
      for (let at = start; at < start + Number(meta!.total_compressed_size); ) {
        const reader = { view: new DataView(file), offset: at }
        const { compressed_page_size: size } = parquetHeader(reader)
        found.push([reader.offset, reader.offset + size])
        at = reader.offset + size
      }
      return found
    })
  )
}

t.test('one byte flipped', async t => {
  const attempt = trial(t)
  for (const [name, step] of [
    ['verl-zstd-v1.parquet', 37],
    ['delta.parquet', 41],
    ['verl-snappy-v1.parquet', 53],
    ['duckdb.parquet', 43]
  ] as const) {
    const bytes = readFileSync(join(FOLDER, name))
    const whole = (await attempt(bytes)) as DatasetAudit
    const bodies = pageBodies(bytes)
    let inBodies = 0
    let refused = 0
    let accepted = 0
    const silent: number[] = []
    for (let at = 0; at < bytes.length; at += step) {
      const damaged = Buffer.from(bytes)
      damaged[at] ^= [0x01, 0x80, 0xff, 0x10][at % 4]
      const inBody = bodies.some(([start, end]) => at >= start && at < end)
      if (inBody) inBodies++
      const result = await attempt(damaged)
      if (result instanceof Fault) {
        refused++
        if (!/^parquet |^usage /.test(result.message)) t.fail(result.message)
        continue
      }
      accepted++
      if (result.rows !== whole.rows || result.rowGroups !== whole.rowGroups) t.fail(`byte ${at}: other rows`)
      if (inBody) silent.push(at)
    }
    t.ok(refused > accepted / 4, `${name}: ${refused} refused, ${accepted} read`)
    // What a checksum covers cannot change unseen. Elsewhere a statistic, a name or a plain number can.
    if (whole.checked.checksummed > 0) {
      t.ok(inBodies > 20, `${name}: ${inBodies} flips in page bodies`)
      t.same(silent, [], `${name}: all of them refused`)
    }
  }
})

t.test('checksums', async t => {
  const attempt = trial(t)
  const body = Buffer.from(new Int32Array([1, 2, 3, 4]).buffer)
  const right = crc32(body) | 0
  t.same(((await attempt(craft({ pages: [plainPage(body, 4, { crc: right })] }))) as DatasetAudit).checked, { pages: 1, checksummed: 1 })
  const wrong = (await attempt(craft({ pages: [plainPage(body, 4, { crc: right ^ 1 })] }))) as Fault
  t.match(
    wrong.message,
    /^parquet wrong checksum: CRC-32 [0-9a-f]{8}, expected [0-9a-f]{8} as its header states \(.*trial\.parquet, member row group 0, column c, byte 4\)$/
  )
  t.equal(wrong.exitCode, EXIT.checkFailed)
})

t.test('what would inflate too far is refused before it does', async t => {
  const attempt = trial(t)
  const before = process.memoryUsage.rss()
  const said = async (bytes: Uint8Array): Promise<string> => {
    const result = await attempt(bytes)
    return result instanceof Fault ? result.message.replace(/ \(.*/, '') : 'read'
  }
  const zeros = Buffer.alloc(16 * 1024 * 1024)
  for (const [codec, bomb] of [
    ['BROTLI', brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ['GZIP', gzipSync(zeros)]
  ] as const) {
    t.equal(
      await said(craft({ pages: [plainPage(bomb, 4, { uncompressed_page_size: 16 })], meta: { codec, total_uncompressed_size: 40n } })),
      `parquet page inflates too far: more than 16 bytes of ${codec}, expected 16 as its header states`
    )
    t.equal(
      await said(
        craft({ pages: [plainPage(bomb, 4, { uncompressed_page_size: 2 ** 31 - 1 })], meta: { codec, total_uncompressed_size: 2n ** 31n } })
      ),
      'parquet impossible uncompressed page size: 2147483647, expected an integer from 0 to 268435456'
    )
    t.equal(
      await said(
        craft({ pages: [plainPage(bomb, 4, { uncompressed_page_size: 64 * 1024 * 1024 })], meta: { codec, total_uncompressed_size: 40n } })
      ),
      'parquet pages too large: 67108864 bytes, expected 40 as the footer states'
    )
    t.match(
      await said(craft({ pages: [plainPage(bomb, 4)], meta: { codec, total_uncompressed_size: 2n ** 40n } })),
      /^parquet inflates too far: 1099511627776 bytes from \d+, expected at most 4294967296$/
    )
  }
  const zstdFrame = (header: number[]): Buffer => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, ...header, 0x03 | 0x02, 0, 0])
  const zstd = async (body: Uint8Array): Promise<string> =>
    said(craft({ pages: [plainPage(body, 4, { uncompressed_page_size: 16 })], meta: { codec: 'ZSTD', total_uncompressed_size: 40n } }))
  t.match(await zstd(zstdFrame([0xa0, 0xff, 0xff, 0xff, 0x7f])), /^parquet corrupt zstd: /)
  t.match(
    await zstd(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0xff, 0xff, 0xff, 0x7f, 0x01, 0, 0])),
    /^parquet corrupt zstd: a content of 2147483647 bytes, expected 16/
  )
  t.match(
    await zstd(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0, 0])),
    /^parquet unsupported zstd: a window of 2199023255552 bytes/
  )
  t.match(
    await zstd(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 16, 0x43, 0, 0, 7])),
    /^parquet wrong page size: 8 bytes, expected 16/,
    'a frame that holds less than it states'
  )
  const blocks = Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00]),
    Buffer.concat(Array.from({ length: 5000 }, () => Buffer.from([0x02, 0x00, 0x10, 7]))),
    Buffer.from([1, 0, 0])
  ])
  t.match(await zstd(blocks), /^parquet zstd page too large: blocks for \d+ bytes/)
  const lz4 = (codec: 'LZ4' | 'LZ4_RAW', body: Uint8Array): Promise<string> =>
    said(craft({ pages: [plainPage(body, 4, { uncompressed_page_size: 16 })], meta: { codec, total_uncompressed_size: 40n } }))
  t.match(await lz4('LZ4_RAW', Buffer.from([0x40, 1, 2, 3, 4])), 'parquet corrupt lz4: 4 bytes instead of 16')
  t.match(await lz4('LZ4_RAW', Buffer.from([0x1f, 1, 1, 0, 255, 255, 255, 0])), /^parquet corrupt lz4: a match of \d+ bytes/)
  t.match(await lz4('LZ4', Buffer.from([0x1f, 1, 9, 0, 1])), /^parquet corrupt lz4: offset 9/)
  t.ok(process.memoryUsage.rss() - before < 400 * 1024 * 1024, 'in bounded memory')
})

t.test('counts that do not agree', async t => {
  const attempt = trial(t)
  const said = async (crafted: Parameters<typeof craft>[0]): Promise<string> => {
    const result = await attempt(craft(crafted))
    return result instanceof Fault ? result.message.replace(/ \(\/.*?trial\.parquet/, ' (F') : 'read'
  }
  const body = Buffer.from(new Int32Array([1, 2, 3, 4]).buffer)
  const page = plainPage(body, 4)
  t.equal(await said({ pages: [page] }), 'read')
  t.equal(
    await said({ pages: [page], fileRows: 5n }),
    `parquet row counts differ: 4 in the row groups, expected 5 as the footer states (F, byte ${craft({ pages: [page] }).length - footerLength(craft({ pages: [page] }))})`
  )
  t.match(
    await said({ pages: [page], rows: 8n }),
    /^parquet missing page: 0 bytes without a whole page header, expected the next page \(F, member row group 0, column c, byte \d+\)$/
  )
  t.equal(
    await said({ pages: [page, page], rows: 5n }),
    'parquet row counts differ: 8 values in 8 rows, expected 5 in 5 (F, member row group 0, column c, byte 37)'.replace(
      '37',
      String(4 + pageLength())
    )
  )
  t.match(
    await said({ pages: [plainPage(body.subarray(0, 12), 4)] }),
    /^parquet truncated page: 12 bytes for 4 values, expected 16 or more \(F/
  )
  t.match(
    await said({ pages: [plainPage(body, 2 ** 30)], rows: 2n ** 30n }),
    /^parquet impossible number of values: 1073741824, expected an integer from 0 to 16777216 \(F/
  )
  t.match(
    await said({ pages: [page], rows: 2n ** 40n }),
    /^parquet too many values: 1099511627776 in \d+ bytes, expected at most 1073741824/
  )
  t.match(await said({ pages: [page], meta: { data_page_offset: 2n ** 40n } }), /^parquet impossible data page offset: 1099511627776/)
  t.match(await said({ pages: [page], meta: { total_compressed_size: -5n } }), /^parquet impossible compressed size: -5/)
  t.match(await said({ pages: [page], meta: { num_values: 3n } }), /^parquet row counts differ: 3 values, expected 4 rows/)
  t.match(await said({ pages: [page], meta: { codec: 'LZO' } }), /^parquet unsupported codec: LZO, expected UNCOMPRESSED, SNAPPY/)
  t.match(
    await said({ pages: [page], meta: { path_in_schema: ['d'] } }),
    /^parquet wrong column: d, expected the columns of the schema in order/
  )
  // PARQUET-816: sizes without the dictionary page's header, forgiven to the writers that had the fault.
  const short = { total_compressed_size: BigInt(pageLength() - 10) }
  t.equal(await said({ pages: [page], meta: short, createdBy: 'parquet-mr version 1.2.8 (build x)' }), 'read')
  t.match(
    await said({ pages: [page], meta: short, createdBy: 'parquet-mr version 1.2.9 (build x)' }),
    /^parquet impossible page size: 16, expected an integer from 0 to 6/
  )
  t.match(await said({ pages: [page], meta: short }), /^parquet impossible page size/)
  const indexes = plainPage(Buffer.from([3, 0x08, 0x07]), 4, {
    data_page_header: { num_values: 4, encoding: 'RLE_DICTIONARY', definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' }
  })
  t.match(await said({ pages: [indexes] }), /^parquet missing dictionary/)
  const dictionary = {
    body,
    header: {
      type: 'DICTIONARY_PAGE' as const,
      uncompressed_page_size: 16,
      compressed_page_size: 16,
      dictionary_page_header: { num_values: 4, encoding: 'PLAIN' as const }
    }
  }
  t.match(await said({ pages: [dictionary, indexes] }), /^parquet wrong index: 7, expected below 4, the dictionary's size/)
  t.match(await said({ pages: [dictionary, dictionary, indexes] }), /^parquet malformed page: a second dictionary, expected one a column/)
  t.match(
    await said({
      pages: [
        plainPage(body, 4, {
          data_page_header: { num_values: 4, encoding: 'BIT_PACKED', definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' }
        })
      ]
    }),
    /^parquet unsupported encoding: BIT_PACKED/
  )

  function pageLength(): number {
    const bytes = craft({ pages: [page] })
    return bytes.length - footerLength(bytes) - 4
  }
})

function footerLength(bytes: Uint8Array): number {
  return 8 + Buffer.from(bytes).readUInt32LE(bytes.length - 8)
}

/** Numbers of `width` bits, least significant bit first, by BigInt: nothing of the reader's arithmetic. */
function pack(values: readonly bigint[], width: number): Buffer {
  const all = values.reduce((sum, value, i) => sum | (value << BigInt(i * width)), 0n)
  return Buffer.from(all.toString(16).padStart((values.length * width) / 4, '0'), 'hex').reverse()
}

t.test('INT96 with negative nanoseconds keeps its day', async t => {
  // Julian day 2440588 is 1970-01-01.
  const days = [2440588, 2440588, 2440587, 0, -1]
  const nanoseconds = [-1n, 0n, 86_399_999_999_999n, -(2n ** 63n), -1n]
  const bytes = new Uint8Array(12 * days.length)
  const view = new DataView(bytes.buffer)
  days.forEach((day, i) => {
    view.setBigInt64(12 * i, nanoseconds[i], true)
    view.setInt32(12 * i + 8, day, true)
  })
  const { values } = decodeValues({ bytes, start: 0, encoding: 'PLAIN', count: days.length }, { name: 'c', type: 'INT96' }, null)
  const stored = Array.from(values as readonly bigint[])
  t.strictSame(
    stored.map(value => [Number(value >> 64n), BigInt.asIntN(64, value)]),
    days.map((day, i) => [day, nanoseconds[i]])
  )
  const sinceEpoch = (value: bigint): bigint => ((value >> 64n) - 2440588n) * 86_400_000_000_000n + BigInt.asIntN(64, value)
  t.strictSame(stored.slice(0, 3).map(sinceEpoch), [-1n, 0n, -1n], 'one nanosecond before 1970, written in two ways')
})

t.test('bit widths', async t => {
  for (let width = 1; width <= 64; width++) {
    const mask = (1n << BigInt(width)) - 1n
    const values = Array.from({ length: 32 }, (_, i) => ((0x9e3779b97f4a7c15n * BigInt(i + 1)) >> 3n) & mask)
    if (width <= 32) {
      const output = new Uint32Array(30)
      t.equal(decodeHybrid(Buffer.concat([Buffer.from([9]), pack(values, width)]), 0, width, output), 1 + width * 4)
      t.same([...output], values.slice(0, 30).map(Number), `${width} bits`)
    }
    // One miniblock of 32 values behind a first value of 0, minimum 0: the running sums.
    const sums = new BigInt64Array(33)
    decodeDelta(Buffer.concat([Buffer.from([32, 1, 33, 0, 0, width]), pack(values, width)]), 0, sums)
    let sum = 0n
    t.same([...sums], [0n, ...values.map(value => (sum = BigInt.asIntN(64, sum + value)))], `${width} bits, deltas`)
  }
})

t.test('hostile encodings end', async t => {
  // A run of 2^30 values, a bit-packed group without bytes, an empty run: the output does not grow.
  const output = new Uint8Array(5)
  t.equal(decodeHybrid(Buffer.from([0x80, 0x80, 0x80, 0x80, 0x08, 1]), 0, 1, output), 6)
  t.same([...output], [1, 1, 1, 1, 1])
  t.throws(() => decodeHybrid(Buffer.from([0x03]), 0, 3, output), /truncated page/)
  t.throws(() => decodeHybrid(Buffer.from([0x00, 0]), 0, 3, output), /an empty run/)
  t.throws(() => decodeHybrid(Buffer.alloc(20, 0x80), 0, 3, output), /more than 10 bytes/)
  t.throws(() => decodeDelta(Buffer.from([0x80, 1, 0, 5, 0]), 0, new Int32Array(5)), /0 miniblocks/)
  t.throws(() => decodeDelta(Buffer.from([0x80, 1, 4, 6, 0]), 0, new Int32Array(5)), /6 deltas, expected 5/)
  // parquet-format Encodings.md, DELTA_BINARY_PACKED: 7, 5, 3, 1, 2, 3, 4, 5 has deltas -2 -2 -2 1 1 1 1, minimum -2, packed in 2 bits.
  const example = new Int32Array(8)
  decodeDelta(Buffer.from([0x80, 0x01, 0x04, 0x08, 0x0e, 0x03, 0x02, 0, 0, 0, 0b11_000000, 0b00_111111, 0, 0, 0, 0, 0, 0]), 0, example)
  t.same([...example], [7, 5, 3, 1, 2, 3, 4, 5])
  // Thrift: a list of 2^31 elements, nesting without end, a number without end, a map.
  t.equal(endOfStruct(Buffer.from([0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x07, 0]), 0, 100), null)
  t.throws(() => endOfStruct(Buffer.alloc(1000, 0x1c), 0, 1e6), /more than 24 levels/)
  t.throws(() => endOfStruct(Buffer.concat([Buffer.from([0x16]), Buffer.alloc(1000, 0x80)]), 0, 100), /more than 10 bytes/)
  t.throws(() => endOfStruct(Buffer.from([0x1b, 0]), 0, 100), /type 11/)
  t.throws(() => endOfStruct(Buffer.concat([Buffer.alloc(200, 0x11), Buffer.from([0])]), 0, 100), /more than 100 fields/)
  t.equal(endOfStruct(Buffer.from([0x15, 2, 0, 9]), 0, 100), 3)
})

t.test('a file that is not what it was', async t => {
  const dir = t.testdir()
  const path = join(dir, 'moving.parquet')
  writeFileSync(path, readFileSync(join(FOLDER, 'duckdb.parquet')))
  const touched = await faultOf(
    auditParquet(
      path,
      {},
      {
        onBytes: () => {
          utimesSync(path, 1, 1)
        }
      }
    )
  )
  t.equal(touched.exitCode, EXIT.checkFailed)
  t.match(touched.message, /^parquet changed while it was read: another modification time/)
  const controller = new AbortController()
  const reason = new Error('stop')
  await t.rejects(
    auditParquet(
      path,
      {},
      {
        signal: controller.signal,
        onBytes: () => {
          controller.abort(reason)
        }
      }
    ),
    reason
  )
  mkdirSync(join(dir, 'plain'))
  for (const [name, content, message] of [
    ['empty', '', /^parquet not a Parquet file: 0 bytes/],
    ['text', 'a text that is long enough', /^parquet not a Parquet file: magic "ough", expected PAR1 at start and end/],
    ['half', 'PAR1 and no footer behind it', /^parquet not a Parquet file: magic "d it"/],
    ['length', 'PAR1xxxx\xff\xff\xff\x7fPAR1', /^parquet impossible footer length: 2147483647/],
    ['footer', 'PAR1\x19\xf5\xff\xff\xff\xff\x07\x07\0\0\0PAR1', /^parquet malformed footer: its end inside the metadata/]
  ] as const) {
    const file = join(dir, 'plain', name)
    writeFileSync(file, Buffer.from(content, 'latin1'))
    t.match((await faultOf(auditParquet(file))).message, message, name)
  }
})

interface ParquetJs {
  readonly ParquetSchema: new (fields: object) => object
  readonly ParquetWriter: {
    openFile(schema: object, path: string): Promise<{ appendRow(row: object): Promise<void>; close(): Promise<void> }>
  }
  readonly ParquetReader: { openFile(path: string): Promise<{ getCursor(): { next(): Promise<object | null> }; close(): Promise<void> }> }
}

t.test('parquetjs-lite: a plain file that it writes is read; why it is not the reader', async t => {
  const library = createRequire(import.meta.url)('parquetjs-lite') as ParquetJs
  const path = join(t.testdir({}), 'plain.parquet')
  const schema = new library.ParquetSchema({ task_path: { type: 'UTF8' }, score: { type: 'DOUBLE' } })
  const writer = await library.ParquetWriter.openFile(schema, path)
  for (const [i, task] of ['/openswe/a', '/swegen/b', '/openswe/c'].entries()) await writer.appendRow({ task_path: task, score: i / 4 })
  await writer.close()
  const audit = await auditParquet(path, { texts: { columns: ['task_path'], patterns: { openswe: 'openswe', swegen: 'swegen' } } })
  t.match(audit, { rows: 3, texts: { matches: { openswe: 2, swegen: 1 }, unmatched: 0, nulls: 0 } })

  // None of the files that pyarrow and DuckDB wrote, as training frameworks do, can be read with it.
  const readable: string[] = []
  for (const name of readdirSync(FOLDER).filter(file => file.endsWith('.parquet'))) {
    const rows = async (): Promise<object | null> => {
      const reader = await library.ParquetReader.openFile(join(FOLDER, name))
      const row = await reader.getCursor().next()
      await reader.close()
      return row
    }
    if (
      await rows().then(
        row => row !== null,
        () => false
      )
    )
      readable.push(name)
  }
  t.strictSame(readable, [])
})
