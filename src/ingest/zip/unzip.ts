/**
 * Reads one ZIP member, stored or deflated (node:zlib). It never yields more than the directory declares and the caller
 * allows. Size and CRC-32 are checked.
 *
 * A whole member is inflated in one call into a buffer of the declared size. That size is limited by the caller's cap and
 * by the largest expansion that deflate can reach.
 */
import { constants, crc32, inflateRawSync } from 'node:zlib'
import { describeCause, Fault, type Place } from '../../core/errors.js'
import type { ZipEntry } from './zip.js'
import { DEFLATED, STORED, zipFault } from './zip-end.js'

/** A deflated byte yields at most four matches of 258 bytes (two bits each). */
const MAX_EXPANSION = 1032
const FIRST_INPUT = 256

const METHOD_NAMES: Readonly<Record<number, string>> = {
  1: 'shrunk',
  6: 'imploded',
  9: 'deflate64',
  12: 'bzip2',
  14: 'LZMA',
  93: 'zstd',
  95: 'xz',
  98: 'PPMd',
  99: 'AES'
}

function inflateFault(cause: unknown, size: number, place: Place): Fault {
  const tooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE'
  if (tooLarge) return zipFault('wrong size', `more than ${size} bytes`, `the declared ${size}`, place)
  return new Fault({
    format: 'zip',
    problem: 'broken deflate data',
    found: describeCause(cause),
    expected: 'a whole stream',
    place,
    cause
  })
}

function compressedBytes(bytes: Uint8Array, entry: ZipEntry): Uint8Array {
  return bytes.subarray(entry.dataOffset, entry.dataOffset + entry.compressedSize)
}

/** Throws if a member cannot be read: encrypted, unknown method, larger than allowed or than possible. */
export function checkReadable(entry: ZipEntry, maxBytes: number, place: Place): void {
  if (entry.encrypted) throw zipFault('unsupported', 'an encrypted member', 'a plain one', place)
  if (entry.method !== STORED && entry.method !== DEFLATED) {
    const name = METHOD_NAMES[entry.method]
    const found = `compression method ${entry.method}${name === undefined ? '' : ` (${name})`}`
    throw zipFault('unsupported', found, '0 (stored) or 8 (deflated)', place)
  }
  if (entry.size > maxBytes) throw zipFault('member too large', `${entry.size} bytes`, `at most ${maxBytes}`, place)
  if (entry.method === DEFLATED && entry.size > entry.compressedSize * MAX_EXPANSION) {
    const found = `${entry.size} bytes declared from ${entry.compressedSize} deflated ones`
    throw zipFault('impossible size', found, `at most ${entry.compressedSize * MAX_EXPANSION}`, place)
  }
}

/** zlib's answer with `info: true`, which @types/node does not describe. */
interface Inflated {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

function isInflated(answer: unknown): answer is Inflated {
  return typeof answer === 'object' && answer !== null && 'buffer' in answer && 'engine' in answer
}

function inflateWhole(compressed: Uint8Array, size: number, place: Place): Uint8Array {
  let answer: unknown
  try {
    // One spare byte beyond the size: zlib then sees the end of the stream without asking for a second buffer.
    const options = { chunkSize: Math.max(64, size + 1), maxOutputLength: Math.max(1, size), info: true }
    answer = inflateRawSync(compressed, options)
  } catch (cause) {
    throw inflateFault(cause, size, place)
  }
  if (!isInflated(answer)) throw new TypeError('zlib.inflateRawSync: no info in its answer')
  const { buffer, engine } = answer
  if (buffer.length !== size) throw zipFault('wrong size', `${buffer.length} bytes`, `the declared ${size}`, place)
  if (engine.bytesWritten !== compressed.length) {
    const found = `a deflate stream of ${engine.bytesWritten} bytes`
    throw zipFault('wrong compressed size', found, `the declared ${compressed.length}`, place)
  }
  return buffer
}

/** True if reading the member takes work and memory. A stored member is a view. */
export function isDeflated(entry: ZipEntry): boolean {
  return entry.method === DEFLATED
}

/** The member's bytes, checked. A stored member is a view of the archive. @param place names the member */
export function readMember(bytes: Uint8Array, entry: ZipEntry, maxBytes: number, place: Place): Uint8Array {
  checkReadable(entry, maxBytes, place)
  const compressed = compressedBytes(bytes, entry)
  const data = entry.method === STORED ? compressed : inflateWhole(compressed, entry.size, place)
  checkCrc(crc32(data), entry, place)
  return data
}

/** @param crc of the member's content */
export function checkCrc(crc: number, entry: ZipEntry, place: Place): void {
  if (crc === entry.crc32) return
  const [found, expected] = [crc, entry.crc32].map(n => `0x${n.toString(16).padStart(8, '0')}`)
  throw zipFault('damaged member', `CRC-32 ${found}`, expected, place)
}

/**
 * The member's first bytes: `length` of them or somewhat more, fewer if the member is shorter. They are not checked
 * against the CRC-32, which covers the whole member. No more is inflated than they need.
 */
export function readMemberPrefix(bytes: Uint8Array, entry: ZipEntry, length: number, maxBytes: number, place: Place): Uint8Array {
  checkReadable(entry, maxBytes, place)
  const compressed = compressedBytes(bytes, entry)
  if (entry.method === STORED) return compressed.subarray(0, length)
  for (let input = FIRST_INPUT; ; input *= 4) {
    const part = compressed.subarray(0, input)
    let prefix: Uint8Array
    try {
      prefix = inflateRawSync(part, { finishFlush: constants.Z_SYNC_FLUSH })
    } catch (cause) {
      throw inflateFault(cause, entry.size, place)
    }
    if (prefix.length >= length) return prefix
    if (part.length < compressed.length) continue
    if (prefix.length === Math.min(length, entry.size)) return prefix
    throw zipFault('wrong size', `${prefix.length} bytes`, `the declared ${entry.size}`, place)
  }
}
