/**
 * A partial as an Arrow file: a row a trace, in canonical order, and in the schema's metadata what the partial says of its run.
 * `content_sha256` is the hash of that and of every buffer of the columns. A file that was cut, or in which anything was changed,
 * has another one.
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
  const text = JSON.stringify(own)
  const plannedText = JSON.stringify(planned)
  const columns = inBatches(rows).map(batch => columnsOf(arrow, batch))
  const metadata = new Map([
    ['schema', PARTIAL_SCHEMA.name],
    ['schema_version', PARTIAL_SCHEMA.version],
    ['generator', `${meta.generator.name} ${meta.generator.version}`],
    ['content_sha256', contentHash(text + plannedText, columns)],
    ['partial', text],
    ['planned', plannedText]
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
  const batches = columns.map(
    children => new arrow.RecordBatch(schema, arrow.makeData({ type, length: children[0].length, children, nullCount: 0 }))
  )
  return arrow.RecordBatchFileWriter.writeAll(batches).toUint8Array(true)
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

/** Bytes of the first buffers of a column, as long as its rows say: a file pads them. */
function buffersOf({ length, values, valueOffsets, nullBitmap, nullCount }: Data): Uint8Array[] {
  const offsets = valueOffsets as Int32Array | undefined
  const raw = (array: ArrayBufferView, bytes: number): Uint8Array => new Uint8Array(array.buffer, array.byteOffset, bytes)
  const data = values as ArrayBufferView & { readonly BYTES_PER_ELEMENT: number }
  return [
    ...(nullCount === 0 || nullBitmap === null ? [] : [raw(nullBitmap, Math.ceil(length / 8))]),
    ...(length === 0 ? [] : offsets === undefined ? [raw(data, length * data.BYTES_PER_ELEMENT)] : [raw(offsets, 4 * (length + 1))]),
    ...(length === 0 || offsets === undefined ? [] : [raw(data, offsets[length])])
  ]
}

/** @param batches the columns of each */
function contentHash(text: string, batches: ReadonlyArray<readonly Data[]>): string {
  const hash = createHash('sha256').update(text)
  for (const columns of batches) {
    hash.update(`;${columns[0].length}`)
    for (const buffer of columns.flatMap(buffersOf)) {
      hash.update(`;${buffer.length};`)
      hash.update(buffer)
    }
  }
  return hash.digest('hex')
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
  const { metadata, batches } = tableOf(bytes, cause => fault('torn', `${bytes.length} bytes that are no Arrow file`, whole, cause))
  if (metadata.get('schema') !== PARTIAL_SCHEMA.name) throw fault('not recognised', 'another Arrow file', whole)
  const version = metadata.get('schema_version')
  if (version !== PARTIAL_SCHEMA.version)
    throw fault('of another version', String(version).slice(0, 20), `version ${PARTIAL_SCHEMA.version}`)
  const text = metadata.get('partial') ?? ''
  const plannedText = metadata.get('planned') ?? ''
  if (!isChecked && metadata.get('content_sha256') !== hashOf(text + plannedText, batches))
    throw fault('torn', 'content of another hash than it states', whole)
  // This program wrote it: it has its hash.
  return {
    path,
    meta: JSON.parse(text) as OpenPartial['meta'],
    planned: () => JSON.parse(plannedText) as PartialMeta['planned'],
    rows: (snapshot = null) => rowsOf(batches, snapshot)
  }
}

function tableOf(bytes: Uint8Array, torn: (cause: unknown) => Fault) {
  try {
    const { schema, batches } = loadArrow().tableFromIPC(bytes)
    // The library takes what has no head for a table without columns.
    if (schema.fields.length > 0) return { metadata: schema.metadata, batches }
  } catch (cause) {
    throw torn(cause)
  }
  throw torn(undefined)
}

/** Null where the buffers are not those of a partial. */
function hashOf(text: string, batches: readonly RecordBatch[]): string | null {
  try {
    return contentHash(
      text,
      batches.map(({ data }) => data.children)
    )
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return null
    throw error
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
