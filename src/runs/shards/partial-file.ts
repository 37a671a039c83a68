/**
 * A partial as an Arrow file: a row a trace, in canonical order, and in the schema's metadata what the partial says of its run.
 * Before the footer, where Arrow's format leaves room, stands the SHA-256 of all other bytes. It is looked at before the library
 * parses anything: a length that was changed would keep it busy for ever.
 *
 * Columns: `snapshot`, `trace` int32; `step` float64; `outcome`, `uid` utf8; `tokens` int32; `state`, `curve` binary (`state.ts`).
 */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Data, DataType, RecordBatch } from 'apache-arrow'
import { Fault } from '../../core/errors.js'
import { openStillSync } from '../../core/still-file-sync.js'
import { wordsOf } from '../../core/still.js'
import { bitmap } from '../../render/outputs/arrow-columns.js'
import { loadArrow, type ArrowLibrary } from '../../render/outputs/arrow-library.js'
import type { PartialMeta, PartialRow } from './contract.js'

export const PARTIAL_SCHEMA = { name: 'critic-trace-partial', version: '1' } as const

/** Bytes of the rows of one batch, about. Offsets of Arrow's binary columns end at 2 GiB. */
const BATCH_BYTES = 2 ** 26

export interface OpenPartial {
  readonly path: string
  readonly meta: Omit<PartialMeta, 'planned'>
  /** parsed at each call: all partials of a run say the same of a snapshot */
  planned(): PartialMeta['planned']
  /** @param snapshot null: of all of them */
  rows(snapshot?: number | null): Iterable<PartialRow>
}

/** The bytes of a partial. @param rows by snapshot and trace, each increasing */
export function encodePartial(meta: PartialMeta, rows: readonly PartialRow[]): Uint8Array {
  const arrow = loadArrow()
  const { planned, ...own } = meta
  const metadata = new Map([
    ['schema', PARTIAL_SCHEMA.name],
    ['schema_version', PARTIAL_SCHEMA.version],
    ['generator', `${meta.generator.name} ${meta.generator.version}`],
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
    field('state', bytes),
    field('curve', bytes)
  ]
  const schema = new arrow.Schema(fields, metadata)
  const type = new arrow.Struct(fields)
  const batches = inBatches(rows).map(
    batch => new arrow.RecordBatch(schema, arrow.makeData({ type, length: batch.length, children: columnsOf(arrow, batch), nullCount: 0 }))
  )
  return withHash(arrow.RecordBatchFileWriter.writeAll(batches).toUint8Array(true))
}

const HASH_BYTES = 32
const MAGIC = Buffer.from('ARROW1')
/** size of the footer, int32, and the magic */
const END_BYTES = 4 + MAGIC.length

/** Where the footer of an Arrow file begins. Not checked. */
function footerStart(bytes: Uint8Array): number {
  const end = bytes.length - END_BYTES
  return end - new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(end, true)
}

function withHash(file: Uint8Array): Uint8Array {
  const [before, footer] = [file.subarray(0, footerStart(file)), file.subarray(footerStart(file))]
  return Buffer.concat([before, createHash('sha256').update(before).update(footer).digest(), footer])
}

function hasItsHash(bytes: Uint8Array): boolean {
  if (bytes.length < MAGIC.length + HASH_BYTES + END_BYTES) return false
  const start = footerStart(bytes)
  const end = start - HASH_BYTES
  if (end < MAGIC.length) return false
  const hash = createHash('sha256').update(bytes.subarray(0, end)).update(bytes.subarray(start)).digest()
  return hash.equals(bytes.subarray(end, start))
}

/** At least one batch: the writer takes the schema from it. */
function inBatches(rows: readonly PartialRow[]): PartialRow[][] {
  const batches: PartialRow[][] = [[]]
  let bytes = 0
  for (const row of rows) {
    const size = row.state.length + row.curve.length
    if (bytes > 0 && bytes + size > BATCH_BYTES) {
      batches.push([])
      bytes = 0
    }
    batches[batches.length - 1].push(row)
    bytes += size
  }
  return batches
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
    bytes(row => row.state),
    bytes(row => row.curve)
  ]
}

type TakeMemory = (length: number) => Uint8Array

/** Memory that every file takes in its turn: what was read before is gone. */
export function scratchMemory(): TakeMemory {
  let memory = Buffer.alloc(0)
  return length => {
    if (memory.length < length) memory = Buffer.allocUnsafeSlow(length)
    return memory.subarray(0, length)
  }
}

/**
 * @param known the file as it was read before: as long as it stands still, its hash is not computed again
 * @param allocate gives memory that stays as long as rows are read
 * @throws Fault for a file that is none, is torn or was changed, or is of another version
 */
export function readPartial(path: string, known: PartialState | null = null, allocate: TakeMemory = Buffer.allocUnsafeSlow): OpenPartial {
  const file = openStillSync(path, wordsOf('partial'))
  try {
    const bytes = file.whole(allocate)
    return decodePartial(bytes, path, known !== null && isDeepStrictEqual(known, stateOfFile(path)))
  } finally {
    file.close()
  }
}

/** What changes where a file does. */
export interface PartialState {
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

export function stateOfFile(path: string): PartialState {
  const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
  return { ino, size, mtimeNs, ctimeNs }
}

/** @param isChecked its content was found to have its hash */
export function decodePartial(bytes: Uint8Array, path: string, isChecked = false): OpenPartial {
  const fault = (problem: string, found: string, expected: string, cause?: unknown): Fault =>
    new Fault({ format: 'partial', problem, found, expected, place: { file: path }, cause })
  const whole = 'a whole partial, as traces --shard writes it: run that shard again'
  if (!isChecked && !hasItsHash(bytes)) {
    if (!isOwn(bytes)) throw fault('not recognised', 'a file that is not a partial', 'a partial, as traces --shard writes it')
    throw fault('torn', `${bytes.length} bytes of another hash than they state`, whole)
  }
  const { schema, batches } = tableOf(bytes, cause => fault('torn', `${bytes.length} bytes that are no Arrow file`, whole, cause))
  const { metadata } = schema
  if (metadata.get('schema') !== PARTIAL_SCHEMA.name) throw fault('not recognised', 'another Arrow file', whole)
  const version = metadata.get('schema_version')
  if (version !== PARTIAL_SCHEMA.version)
    throw fault('of another version', String(version).slice(0, 20), `version ${PARTIAL_SCHEMA.version}`)
  // This program wrote it: it has its hash.
  return {
    path,
    meta: JSON.parse(metadata.get('partial') ?? '') as OpenPartial['meta'],
    planned: () => JSON.parse(metadata.get('planned') ?? '') as PartialMeta['planned'],
    rows: (snapshot = null) => rowsOf(batches, snapshot)
  }
}

/** Whether it is a partial with something changed, or an Arrow file that was cut. */
function isOwn(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (file.includes(PARTIAL_SCHEMA.name)) return true
  const head = file.subarray(0, MAGIC.length)
  return head.equals(MAGIC.subarray(0, head.length)) && !file.subarray(-MAGIC.length).equals(MAGIC)
}

function tableOf(bytes: Uint8Array, torn: (cause: unknown) => Fault) {
  try {
    return loadArrow().tableFromIPC(bytes)
  } catch (cause) {
    throw torn(cause)
  }
}

function* rowsOf(batches: readonly RecordBatch[], wanted: number | null): Iterable<PartialRow> {
  for (const { numRows, data } of batches) {
    const [snapshot, trace, step, outcome, uid, tokens, state, curve] = data.children
    const bytesAt = ({ values, valueOffsets: offsets }: Data, k: number): Uint8Array =>
      (values as Uint8Array).subarray((offsets as Int32Array)[k], (offsets as Int32Array)[k + 1])
    const wordAt = (column: Data, k: number): string | null =>
      column.getValid(k) ? Buffer.from(bytesAt(column, k)).toString('utf8') : null
    for (let k = 0; k < numRows; k++) {
      if (wanted !== null && (snapshot.values as Int32Array)[k] !== wanted) continue
      yield {
        snapshot: (snapshot.values as Int32Array)[k],
        trace: (trace.values as Int32Array)[k],
        step: step.getValid(k) ? (step.values as Float64Array)[k] : null,
        outcome: wordAt(outcome, k),
        uid: wordAt(uid, k),
        tokens: (tokens.values as Int32Array)[k],
        state: bytesAt(state, k),
        curve: bytesAt(curve, k)
      }
    }
  }
}
