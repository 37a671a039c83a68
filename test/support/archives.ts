/** Archives for the NPZ tests: written into memory, bombs, and where in an archive a changed bit has no meaning. */
import { constants, crc32, deflateRawSync } from 'node:zlib'
import { NpzWriter, type AddOptions, type NpzWriterOptions } from '../../src/ingest/npz/write.js'

export type Member = readonly [name: string, npy: Uint8Array | readonly Uint8Array[], options?: AddOptions]

export async function archive(members: readonly Member[], options: NpzWriterOptions = {}): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  const writer = new NpzWriter(bytes => {
    pieces.push(bytes.slice())
  }, options)
  for (const [name, npy, add] of members) await writer.add(name, npy, add)
  await writer.finish()
  return new Uint8Array(Buffer.concat(pieces))
}

/**
 * One deflated member: `head`, then `blocks` MiB of zeros, in about 1 KB a MiB. `declared` is what both headers say of the
 * uncompressed size; the CRC-32 is the true one.
 */
export function bomb(name: string, head: Uint8Array, blocks: number, declared?: number): Uint8Array {
  const zeros = Buffer.alloc(2 ** 20)
  const flush = { finishFlush: constants.Z_FULL_FLUSH }
  const block = deflateRawSync(zeros, flush)
  const body = [deflateRawSync(head, flush), ...new Array<Buffer>(blocks).fill(block), deflateRawSync(Buffer.alloc(0))]
  let crc = crc32(head)
  for (let i = 0; i < blocks; i++) crc = crc32(zeros, crc)
  const compressed = Buffer.concat(body)
  const size = declared ?? head.length + blocks * 2 ** 20
  const local = Buffer.alloc(30 + name.length)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(20, 4)
  local.writeUInt16LE(8, 8)
  local.writeUInt32LE(crc, 14)
  local.writeUInt32LE(compressed.length, 18)
  local.writeUInt32LE(size, 22)
  local.writeUInt16LE(name.length, 26)
  local.write(name, 30, 'latin1')
  const central = Buffer.alloc(46 + name.length)
  central.writeUInt32LE(0x02014b50, 0)
  local.copy(central, 6, 4, 30)
  central.write(name, 46, 'latin1')
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length + compressed.length, 16)
  return new Uint8Array(Buffer.concat([local, compressed, central, end]))
}

/** Flags whose change the reader must notice: encryption, patched data, strong encryption, masked headers. */
const MEANINGFUL_FLAGS = 0x2061

/**
 * Bits of an archive that say nothing about its arrays, as `byte * 8 + bit`: versions, other flags (names are ASCII here), times,
 * attributes, and data descriptors, which repeat the directory.
 */
export function idleBits(bytes: Uint8Array): Set<number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const idle = new Set<number>()
  const range = (at: number, length: number): void => {
    for (let bit = at * 8; bit < (at + length) * 8; bit++) idle.add(bit)
  }
  const flags = (at: number, meaningful: number): void => {
    for (let bit = 0; bit < 16; bit++) if ((meaningful & (1 << bit)) === 0) idle.add(at * 8 + bit)
  }
  for (let at = 0; at + 4 <= bytes.length; at++) {
    const signature = view.getUint32(at, true)
    if (signature === 0x04034b50) {
      range(at + 4, 2)
      // Where sizes come later the local header says 0: without that flag 0 is a wrong size.
      flags(at + 6, MEANINGFUL_FLAGS | (view.getUint16(at + 6, true) & 8))
      range(at + 10, 4)
    } else if (signature === 0x02014b50) {
      range(at + 4, 4)
      flags(at + 8, MEANINGFUL_FLAGS)
      range(at + 12, 4)
      range(at + 36, 6)
    } else if (signature === 0x08074b50) {
      let next = at + 4
      while (view.getUint16(next, true) !== 0x4b50) next++
      range(at, next - at)
    } else if (signature === 0x06064b50) range(at + 12, 4)
  }
  return idle
}
