/**
 * Reads a ZIP member without blocking the event loop. Small members are inflated in one call, large ones by zlib's stream,
 * which works in its own threads. The checks are those of `zip/unzip.ts`: declared size, compressed size, CRC-32.
 */
import { crc32, createInflateRaw } from 'node:zlib'
import { setImmediate } from 'node:timers/promises'
import { describeCause, Fault, type Place } from '../../core/errors.js'
import { checkReadable, readMember } from '../zip/unzip.js'
import type { ZipEntry } from '../zip/zip.js'
import { DEFLATED, zipFault } from '../zip/zip-end.js'

/** Largest member that is inflated in one call, in bytes. It takes about two milliseconds. */
const SMALL = 512 * 1024
const CHUNK = 256 * 1024

async function inflateInto(buffer: Uint8Array, compressed: Uint8Array, place: Place): Promise<void> {
  const stream = createInflateRaw({ chunkSize: CHUNK })
  let length = 0
  try {
    stream.end(compressed)
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      if (length + piece.length > buffer.length) {
        throw zipFault('wrong size', `more than ${buffer.length} bytes`, `the declared ${buffer.length}`, place)
      }
      buffer.set(piece, length)
      length += piece.length
    }
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    const found = describeCause(cause)
    throw new Fault({ format: 'zip', problem: 'broken deflate data', found, expected: 'a whole stream', place, cause })
  } finally {
    stream.destroy()
  }
  if (length !== buffer.length) throw zipFault('wrong size', `${length} bytes`, `the declared ${buffer.length}`, place)
  if (stream.bytesWritten !== compressed.length) {
    const found = `a deflate stream of ${stream.bytesWritten} bytes`
    throw zipFault('wrong compressed size', found, `the declared ${compressed.length}`, place)
  }
}

async function checksum(bytes: Uint8Array): Promise<number> {
  let crc = 0
  for (let at = 0; at < bytes.length; at += 16 * CHUNK) {
    crc = crc32(bytes.subarray(at, at + 16 * CHUNK), crc)
    await setImmediate()
  }
  return crc
}

/** The member's bytes, checked. @param place names the file and the member */
export async function readPart(bytes: Uint8Array, entry: ZipEntry, maxBytes: number, place: Place): Promise<Uint8Array> {
  checkReadable(entry, maxBytes, place)
  if (entry.size <= SMALL) return readMember(bytes, entry, maxBytes, place)
  let data = bytes.subarray(entry.dataOffset, entry.dataOffset + entry.compressedSize)
  if (entry.method === DEFLATED) {
    const compressed = data
    data = new Uint8Array(entry.size)
    await inflateInto(data, compressed, place)
  }
  const crc = await checksum(data)
  if (crc !== entry.crc32) {
    const [found, expected] = [crc, entry.crc32].map(n => `0x${n.toString(16).padStart(8, '0')}`)
    throw zipFault('damaged member', `CRC-32 ${found}`, expected, place)
  }
  return data
}
