/**
 * The frame of the Arrow IPC file format around its batches, where apache-arrow's file writer is incomplete.
 *
 * Source: Arrow Columnar Format 1.5, "IPC File Format", "Encapsulated message format"; File.fbs (Footer, Block).
 * A file is `ARROW1`, two zero bytes, a whole IPC stream (schema message, batches, end mark), the footer, its length,
 * `ARROW1`. apache-arrow 21 leaves the schema message out (apache/arrow-js#51). Readers that use the footer do not
 * notice, but stream readers fail. These functions make the message and move the footer's block offsets past it.
 */
import { Fault } from '../../core/errors.js'

/** Size of the magic and its padding at the head of the file, in bytes. */
export const HEAD_BYTES = 8

/** Room for the schema message, which is written when the metadata are known. Batches therefore start at byte 4,096. */
export const SCHEMA_SLOT = 4096 - HEAD_BYTES

/** Size of the continuation mark and the length in front of every message, in bytes. */
const PREFIX_BYTES = 8
const MAGIC = 'ARROW1'
/** in the footer's flatbuffer: the vtable entries of fields 2 and 3, dictionaries and recordBatches */
const BLOCK_FIELDS = [4 + 2 * 2, 4 + 2 * 3] as const
/** struct Block: int64 offset, int32 metaDataLength, 4 bytes of padding, int64 bodyLength */
const BLOCK_BYTES = 24

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * The schema message of an IPC stream, with its metadata padded so that the message has exactly SCHEMA_SLOT bytes.
 * @param stream a whole IPC stream without batches
 * @throws Fault where the message is longer than the slot
 */
export function schemaSlot(stream: Uint8Array): Uint8Array {
  const length = view(stream).getInt32(4, true)
  if (PREFIX_BYTES + length > SCHEMA_SLOT) {
    throw new Fault({
      format: 'arrow',
      problem: 'schema metadata too long',
      found: `${length} bytes`,
      expected: `at most ${SCHEMA_SLOT - PREFIX_BYTES}; a snapshot time of a few dozen characters`
    })
  }
  const slot = new Uint8Array(SCHEMA_SLOT)
  slot.set(stream.subarray(0, PREFIX_BYTES + length))
  view(slot).setInt32(4, SCHEMA_SLOT - PREFIX_BYTES, true)
  return slot
}

/** The schema message of an IPC stream. @param stream a whole one without batches */
export function messageOf(stream: Uint8Array): Uint8Array {
  return stream.subarray(0, PREFIX_BYTES + view(stream).getInt32(4, true))
}

/** Adds `shift` in place to the offset of every dictionary and record batch in a file's tail (…, footer, its length, magic). */
export function shiftBlockOffsets(tail: Uint8Array, shift: number): void {
  const end = tail.byteLength - MAGIC.length
  const magic = Buffer.from(tail.buffer, tail.byteOffset + end, MAGIC.length).toString('latin1')
  if (magic !== MAGIC) throw new Error('apache-arrow ended the file without its magic')
  const data = view(tail)
  const start = end - 4 - data.getInt32(end - 4, true)
  const table = start + data.getUint32(start, true)
  const vtable = table - data.getInt32(table, true)
  for (const entry of BLOCK_FIELDS) {
    const hasField = data.getUint16(vtable, true) > entry
    const field = hasField ? data.getUint16(vtable + entry, true) : 0
    if (field === 0) continue
    const vector = table + field + data.getUint32(table + field, true)
    const count = data.getUint32(vector, true)
    for (let i = 0; i < count; i++) {
      const at = vector + 4 + i * BLOCK_BYTES
      data.setBigInt64(at, data.getBigInt64(at, true) + BigInt(shift), true)
    }
  }
}
