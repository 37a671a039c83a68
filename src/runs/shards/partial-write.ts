/**
 * Writes a partial, batch by batch: an Arrow file with a row a trace, in canonical order, and in the schema's metadata what the
 * partial says of its run. Before the footer, where Arrow's format leaves room, stands the SHA-256 of all other bytes.
 *
 * Columns: `snapshot`, `trace` int32; `step` float64; `outcome`, `uid` utf8; `tokens` int32; `head`, `record`, `curve` binary.
 */
import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import type { Data, DataType } from 'apache-arrow'
import { bitmap } from '../../render/outputs/arrow-columns.js'
import { collectingSink, schemaMessage } from '../../render/outputs/arrow-file.js'
import { shiftBlockOffsets } from '../../render/outputs/arrow-frame.js'
import { loadArrow, type ArrowLibrary } from '../../render/outputs/arrow-library.js'
import { OutputSet } from '../../render/outputs/output-set.js'
import type { PartialMeta, PartialRow } from './contract.js'
import { footerStart, PARTIAL_SCHEMA } from './partial-file.js'

/** Bytes of the rows of one batch, about. */
const BATCH_BYTES = 2 ** 20

/** @param path of the file. @param rows by snapshot and trace, each increasing; one is asked for when those before it are written */
export async function writePartial(path: string, meta: PartialMeta, rows: Iterable<PartialRow>): Promise<void> {
  const set = await OutputSet.open(dirname(path))
  try {
    const file = await set.file(basename(path))
    for (const chunk of partialChunks(meta, rows)) await file.write(chunk)
    await file.end()
    await set.commit()
  } catch (error) {
    await set.abort()
    throw error
  }
}

/** The bytes of a partial. */
export function* partialChunks(meta: PartialMeta, rows: Iterable<PartialRow>): Iterable<Uint8Array> {
  const arrow = loadArrow()
  const schema = schemaOf(arrow, meta)
  const type = new arrow.Struct(schema.fields)
  const sink = collectingSink(arrow)
  const writer = new arrow.RecordBatchFileWriter()
  const hash = createHash('sha256')
  function* taken(): Iterable<Uint8Array> {
    for (const chunk of sink.take()) {
      hash.update(chunk)
      yield chunk
    }
  }
  writer.reset(sink.queue, schema)
  yield* taken()
  const message = schemaMessage(arrow, schema)
  hash.update(message)
  yield message
  for (const batch of inBatches(rows)) {
    const data = arrow.makeData({ type, length: batch.length, children: columnsOf(arrow, batch), nullCount: 0 })
    writer.write(new arrow.RecordBatch(schema, data))
    yield* taken()
  }
  writer.close()
  const end = Buffer.concat(sink.take())
  shiftBlockOffsets(end, message.length)
  const footer = footerStart(end)
  yield end.subarray(0, footer)
  yield hash.update(end).digest()
  yield end.subarray(footer)
}

function schemaOf(arrow: ArrowLibrary, { planned, ...own }: PartialMeta) {
  const metadata = new Map([
    ['schema', PARTIAL_SCHEMA.name],
    ['schema_version', PARTIAL_SCHEMA.version],
    ['generator', `${own.generator.name} ${own.generator.version}`],
    ['partial', JSON.stringify(own)],
    ['planned', JSON.stringify(planned)]
  ])
  const field = (name: string, type: DataType, nullable = false) => new arrow.Field(name, type, nullable)
  const [int, bytes, words] = [new arrow.Int32(), new arrow.Binary(), new arrow.Utf8()]
  const fields = [
    field('snapshot', int),
    field('trace', int),
    field('step', new arrow.Float64(), true),
    field('outcome', words, true),
    field('uid', words, true),
    field('tokens', int),
    field('head', bytes),
    field('record', bytes),
    field('curve', bytes)
  ]
  return new arrow.Schema(fields, metadata)
}

function* inBatches(rows: Iterable<PartialRow>): Iterable<readonly PartialRow[]> {
  let batch: PartialRow[] = []
  let bytes = 0
  for (const row of rows) {
    const size = row.head.length + row.record.length + row.curve.length
    if (bytes > 0 && bytes + size > BATCH_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

function columnsOf(arrow: ArrowLibrary, rows: readonly PartialRow[]): Data[] {
  const { length } = rows
  const ints = (of: (row: PartialRow) => number): Data =>
    arrow.makeData({ type: new arrow.Int32(), length, data: Int32Array.from(rows, of) })
  const nulls = (of: (row: PartialRow) => unknown) => ({
    nullCount: rows.filter(row => of(row) === null).length,
    nullBitmap: bitmap(length, k => of(rows[k]) !== null)
  })
  const joined = (pieces: readonly Uint8Array[]) => {
    const valueOffsets = new Int32Array(length + 1)
    for (const [k, piece] of pieces.entries()) valueOffsets[k + 1] = valueOffsets[k] + piece.length
    return { length, valueOffsets, data: Buffer.concat(pieces) }
  }
  const words = (of: (row: PartialRow) => string | null): Data =>
    arrow.makeData({ type: new arrow.Utf8(), ...joined(rows.map(row => Buffer.from(of(row) ?? '', 'utf8'))), ...nulls(of) })
  const bytes = (of: (row: PartialRow) => Uint8Array): Data => arrow.makeData({ type: new arrow.Binary(), ...joined(rows.map(of)) })
  return [
    ints(row => row.snapshot),
    ints(row => row.trace),
    arrow.makeData({
      type: new arrow.Float64(),
      length,
      data: Float64Array.from(rows, ({ step }) => step ?? 0),
      ...nulls(row => row.step)
    }),
    words(row => row.outcome),
    words(row => row.uid),
    ints(row => row.tokens),
    bytes(row => row.head),
    bytes(row => row.record),
    bytes(row => row.curve)
  ]
}
