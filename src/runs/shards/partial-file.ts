/**
 * Reads a partial (`partial-write.ts`), one batch at a time. The SHA-256 before its footer is looked at before the library parses
 * anything: a length that was changed would keep it busy for ever.
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Data, Message, RecordBatch } from 'apache-arrow'
import { Fault } from '../../core/errors.js'
import { loadArrow, type ArrowLibrary } from '../../render/outputs/arrow-library.js'
import type { PartialMeta, PartialRow } from './contract.js'
import { bytesInMemory, openPartialBytes, Scratch, stateOfFile, type PartialBytes, type PartialState } from './partial-bytes.js'

export const PARTIAL_SCHEMA = { name: 'critic-trace-partial', version: '2' } as const

export interface OpenPartial {
  readonly path: string
  readonly meta: Omit<PartialMeta, 'planned'>
  /** parsed at each call: all partials of a run say the same of a snapshot */
  planned(): PartialMeta['planned']
  /** @param snapshot null: of all of them. The bytes of a row stay until the next one is asked for */
  rows(snapshot?: number | null): Iterable<PartialRow>
}

const HASH_BYTES = 32
const MAGIC = Buffer.from('ARROW1')
/** size of the footer, int32, and the magic */
const END_BYTES = 4 + MAGIC.length
/** where the messages begin: behind the magic, filled up to eight bytes */
const FIRST_MESSAGE = 8

/** Where the footer of an Arrow file begins. Not checked. @param bytes its last ones */
export function footerStart(bytes: Uint8Array, size = bytes.length): number {
  const at = bytes.length - END_BYTES
  return size - END_BYTES - new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(at, true)
}

const HASHED_BYTES = 2 ** 20

function hasItsHash(bytes: PartialBytes): boolean {
  const { size } = bytes
  if (size < MAGIC.length + HASH_BYTES + END_BYTES) return false
  const start = footerStart(bytes.at(size - END_BYTES, END_BYTES), size)
  const end = start - HASH_BYTES
  if (end < MAGIC.length) return false
  const stated = Buffer.from(bytes.at(end, HASH_BYTES))
  const hash = createHash('sha256')
  for (const [from, to] of [
    [0, end],
    [start, size]
  ]) {
    for (let at = from; at < to; at += HASHED_BYTES) hash.update(bytes.at(at, Math.min(HASHED_BYTES, to - at)))
  }
  return hash.digest().equals(stated)
}

/**
 * @param scratch memory of its own for each partial whose rows are read at a time
 * @throws Fault for a file that is none, is torn or was changed, or is of another version
 */
export function readPartial(path: string, scratch: Scratch = new Scratch()): OpenPartial {
  const state = stateOr(path)
  const bytes = openPartialBytes(path, scratch)
  try {
    requireHash(bytes, path)
    return { path, ...headOf(bytes, path), rows: snapshot => partialRows(path, state, snapshot, scratch) }
  } finally {
    bytes.close()
  }
}

/** Null for a file whose opening says what is wrong. */
function stateOr(path: string): PartialState | null {
  try {
    return stateOfFile(path)
  } catch {
    return null
  }
}

/**
 * The rows of a partial.
 * @param known the file as it was read before: as long as it stands still, its hash is not computed again
 * @param snapshot null: of all of them
 */
export function* partialRows(
  path: string,
  known: PartialState | null,
  snapshot: number | null = null,
  scratch = new Scratch()
): Iterable<PartialRow> {
  const bytes = openPartialBytes(path, scratch)
  try {
    if (known === null || !isDeepStrictEqual(known, stateOfFile(path))) requireHash(bytes, path)
    for (const batch of batchesOf(bytes)) yield* rowsOf(batch, snapshot)
  } finally {
    bytes.close()
  }
}

/** A partial in memory. */
export function decodePartial(whole: Uint8Array, path: string): OpenPartial {
  const bytes = bytesInMemory(whole)
  requireHash(bytes, path)
  function* rows(snapshot: number | null = null): Iterable<PartialRow> {
    for (const batch of batchesOf(bytes)) yield* rowsOf(batch, snapshot)
  }
  return { path, ...headOf(bytes, path), rows }
}

const WHOLE = 'a whole partial, as traces --shard writes it: run that shard again'

function fault(path: string, problem: string, found: string, expected: string): Fault {
  return new Fault({ format: 'partial', problem, found, expected, place: { file: path } })
}

function requireHash(bytes: PartialBytes, path: string): void {
  if (hasItsHash(bytes)) return
  if (bytes.size === 0) throw fault(path, 'empty', '0 bytes', WHOLE)
  if (isOwn(bytes)) throw fault(path, 'torn', `${bytes.size} bytes of another hash than they state`, WHOLE)
  throw fault(path, 'not recognised', 'a file that is not a partial', 'a partial, as traces --shard writes it')
}

/** What a partial says of its run. It has its hash: this program wrote it, or another version of it. */
function headOf(bytes: PartialBytes, path: string): Pick<OpenPartial, 'meta' | 'planned'> {
  const arrow = loadArrow()
  const first = MAGIC.equals(bytes.at(0, MAGIC.length)) ? messageAt(arrow, bytes, FIRST_MESSAGE) : null
  const schema = first?.message.header()
  if (!(schema instanceof arrow.Schema)) throw fault(path, 'torn', `${bytes.size} bytes that are no Arrow file`, WHOLE)
  const { metadata } = schema
  if (metadata.get('schema') !== PARTIAL_SCHEMA.name) throw fault(path, 'not recognised', 'another Arrow file', WHOLE)
  const version = metadata.get('schema_version')
  if (version !== PARTIAL_SCHEMA.version)
    throw fault(path, 'of another version', String(version).slice(0, 20), `version ${PARTIAL_SCHEMA.version}`)
  return {
    meta: JSON.parse(metadata.get('partial') ?? '') as OpenPartial['meta'],
    planned: () => JSON.parse(metadata.get('planned') ?? '') as PartialMeta['planned']
  }
}

/** Whether it is a partial with something changed, or an Arrow file that was cut. */
function isOwn(bytes: PartialBytes): boolean {
  const { size } = bytes
  // The name stands in the first message and in the footer.
  for (const from of [0, Math.max(0, size - HASHED_BYTES)]) {
    if (Buffer.from(bytes.at(from, Math.min(size, HASHED_BYTES))).includes(PARTIAL_SCHEMA.name)) return true
  }
  const length = Math.min(size, MAGIC.length)
  return MAGIC.subarray(0, length).equals(bytes.at(0, length)) && !MAGIC.equals(bytes.at(size - length, length))
}

/** A message and where the next one begins; null: there is none. */
function messageAt(arrow: ArrowLibrary, bytes: PartialBytes, at: number): { readonly message: Message; readonly next: number } | null {
  const length = new DataView(copied(bytes.at(at, 8))).getInt32(4, true)
  if (length === 0) return null
  const message = arrow.Message.decode(bytes.at(at + 8, length))
  return { message, next: at + 8 + length + message.bodyLength }
}

function copied(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

/** One at a time: the bytes of a batch are gone when the next one is read. @param bytes that have their hash */
function* batchesOf(bytes: PartialBytes): Iterable<RecordBatch> {
  const arrow = loadArrow()
  const first = messageAt(arrow, bytes, FIRST_MESSAGE)
  if (first === null) return
  const schema = new Uint8Array(copied(bytes.at(FIRST_MESSAGE, first.next - FIRST_MESSAGE)))
  let at = first.next
  for (let batch = messageAt(arrow, bytes, at); batch !== null; batch = messageAt(arrow, bytes, at)) {
    yield* arrow.tableFromIPC([schema, bytes.at(at, batch.next - at)]).batches
    at = batch.next
  }
}

function* rowsOf({ numRows, data }: RecordBatch, wanted: number | null): Iterable<PartialRow> {
  const [snapshot, trace, step, outcome, uid, tokens, head, record, curve] = data.children
  const bytesAt = ({ values, valueOffsets: offsets }: Data, k: number): Uint8Array =>
    (values as Uint8Array).subarray((offsets as Int32Array)[k], (offsets as Int32Array)[k + 1])
  const wordAt = (column: Data, k: number): string | null => (column.getValid(k) ? Buffer.from(bytesAt(column, k)).toString('utf8') : null)
  for (let k = 0; k < numRows; k++) {
    if (wanted !== null && (snapshot.values as Int32Array)[k] !== wanted) continue
    yield {
      snapshot: (snapshot.values as Int32Array)[k],
      trace: (trace.values as Int32Array)[k],
      step: step.getValid(k) ? (step.values as Float64Array)[k] : null,
      outcome: wordAt(outcome, k),
      uid: wordAt(uid, k),
      tokens: (tokens.values as Int32Array)[k],
      head: bytesAt(head, k),
      record: bytesAt(record, k),
      curve: bytesAt(curve, k)
    }
  }
}
