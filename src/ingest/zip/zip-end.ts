/**
 * Reads the end of a ZIP archive: end record, zip64 locator and zip64 record. They give the place of the central directory.
 *
 * Sources: PKWARE APPNOTE 6.3.9 (4.3.14-4.3.16) and Python's zipfile.py. This reader is stricter than zipfile: exactly one
 * end record, with its comment, must end the file, and the two end records may not contradict each other. Data before the
 * archive is allowed. Not supported: multi-volume archives, a zip64 end record with an extensible data sector.
 */
import { Fault, type Place } from '../../core/errors.js'

const END_SIZE = 22
const LOCATOR = 0x07064b50
const LOCATOR_SIZE = 20
const END64 = 0x06064b50
const END64_SIZE = 56
/** Most bytes at a file's end that `readEnd` looks at: the end record with the longest comment, locator and zip64 record. */
export const END_BYTES = END_SIZE + 0xffff + LOCATOR_SIZE + END64_SIZE
/** In place of a number that a zip64 record holds. */
export const ALL_ONES_16 = 0xffff
export const ALL_ONES_32 = 0xffffffff
/** Compression methods. */
export const STORED = 0
export const DEFLATED = 8
export const CENTRAL_SIZE = 46
export const LOCAL_SIGNATURE = 0x04034b50

/** The part of a file that is in memory. */
export interface ZipWindow {
  /** offset of the part in the file; default 0 */
  readonly base?: number
  /** bytes of the whole file; default: those of the part */
  readonly length?: number
  /** the file's first bytes, for messages; default: those of the part */
  readonly head?: Uint8Array
}

/** Reads little-endian fields of the archive at absolute offsets. The callers check the offsets. */
export class ZipFields {
  /** bytes of the whole file */
  readonly length: number
  /** the file's first eight bytes, or fewer */
  readonly head: Uint8Array
  readonly #bytes: Uint8Array
  readonly #base: number
  readonly #view: DataView

  /** @param bytes the whole file, or the part of it that `window` places */
  constructor(bytes: Uint8Array, window: ZipWindow = {}) {
    this.length = window.length ?? bytes.length
    this.head = (window.head ?? bytes).subarray(0, 8)
    this.#bytes = bytes
    this.#base = window.base ?? 0
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  u16(at: number): number {
    return this.#view.getUint16(at - this.#base, true)
  }

  u32(at: number): number {
    return this.#view.getUint32(at - this.#base, true)
  }

  /** The bytes from `at` on, `length` of them or fewer at the end. */
  part(at: number, length: number): Uint8Array {
    return this.#bytes.subarray(at - this.#base, at - this.#base + length)
  }

  /** Reads a size or offset below 2^53: no file that memory can hold is larger, and a double holds it exactly. */
  u64(at: number, place: Place): number {
    const high = this.u32(at + 4)
    if (high < 2 ** 21) return this.u32(at) + high * 2 ** 32
    const found = `0x${high.toString(16)}${this.u32(at).toString(16).padStart(8, '0')}`
    throw zipFault('impossible 64-bit value', found, 'a size or offset below 2^53', { ...place, offset: at })
  }
}

export interface Directory {
  /** absolute offsets of the first central header and of the byte after the last */
  readonly start: number
  readonly end: number
  readonly count: number
  /** bytes before the archive; added to every offset that the archive states */
  readonly shift: number
}

export function zipFault(problem: string, found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'zip', problem, found, expected, place })
}

/** Quotes some bytes of the archive in a message. */
export function hex(part: Uint8Array): string {
  return part.length === 0 ? 'nothing' : `bytes ${Array.from(part, b => b.toString(16).padStart(2, '0')).join(' ')}`
}

/** Offset of the end record whose comment ends the file. */
function findEnd(f: ZipFields, place: Place): number {
  const length = f.length
  const lowest = Math.max(0, length - END_SIZE - ALL_ONES_16)
  const part = f.part(lowest, length - lowest)
  const tail = Buffer.from(part.buffer, part.byteOffset, part.length)
  const signature = Buffer.from([0x50, 0x4b, 0x05, 0x06])
  let found = -1
  let last = -1
  for (let from = tail.length - END_SIZE; from >= 0; from--) {
    from = tail.lastIndexOf(signature, from)
    if (from < 0) break
    const at = lowest + from
    if (last < 0) last = at
    if (at + END_SIZE + f.u16(at + 20) !== length) continue
    if (found >= 0) {
      throw zipFault('ambiguous end', `end records at bytes ${at} and ${found}`, 'one that ends the file', place)
    }
    found = at
  }
  if (found >= 0) return found
  if (last >= 0) {
    const after = `${length - last - END_SIZE} bytes after the end record`
    throw zipFault('bad end record', after, `${f.u16(last + 20)}, the length of its comment`, { offset: last, ...place })
  }
  const local = f.head.length >= 4 && new ZipFields(f.head).u32(0) === LOCAL_SIGNATURE
  const expected = `an end record in the last ${Math.min(length, END_SIZE + ALL_ONES_16)} bytes`
  if (local) throw zipFault('truncated', 'no end of central directory', expected, place)
  throw zipFault('not recognised', `${hex(f.head)} …`, expected, place)
}

/** Offset of the zip64 end record in front of its locator, which precedes `end`; null without a locator. */
function findEnd64(f: ZipFields, end: number, place: Place): number | null {
  const locator = end - LOCATOR_SIZE
  if (locator < 0 || f.u32(locator) !== LOCATOR) return null
  const at = locator - END64_SIZE
  const where = { offset: locator, ...place }
  if (f.u32(locator + 4) !== 0 || f.u32(locator + 16) !== 1) {
    throw zipFault('unsupported', `${f.u32(locator + 16)} volumes`, 'a single file', where)
  }
  if (at < 0 || f.u32(at) !== END64) {
    throw zipFault('bad zip64 locator', 'no zip64 end record right before it', 'one of 56 bytes', where)
  }
  const recordSize = 12 + f.u64(at + 4, place)
  if (recordSize !== END64_SIZE) {
    const found = `record of ${recordSize} bytes`
    throw zipFault('bad zip64 end record', found, `${END64_SIZE}`, { offset: at, ...place })
  }
  return at
}

/** Finds and checks the place of the central directory. */
export function readEnd(f: ZipFields, place: Place): Directory {
  const end = findEnd(f, place)
  const short = {
    disks: [f.u16(end + 4), f.u16(end + 6)],
    counts: [f.u16(end + 8), f.u16(end + 10)],
    size: f.u32(end + 12),
    offset: f.u32(end + 16)
  }
  const end64 = findEnd64(f, end, place)
  const at = end64 ?? end
  const where = { offset: at, ...place }
  const wide =
    end64 === null
      ? short
      : {
          disks: [f.u32(end64 + 16), f.u32(end64 + 20)],
          counts: [f.u64(end64 + 24, place), f.u64(end64 + 32, place)],
          size: f.u64(end64 + 40, place),
          offset: f.u64(end64 + 48, place)
        }
  // A value that both records state must be the same, unless the short record says that it has no room.
  const pairs = [
    [short.counts[0], wide.counts[0], ALL_ONES_16],
    [short.counts[1], wide.counts[1], ALL_ONES_16],
    [short.size, wide.size, ALL_ONES_32],
    [short.offset, wide.offset, ALL_ONES_32]
  ]
  for (const [a, b, none] of pairs) {
    if (a !== b && a !== none) throw zipFault('contradicting end records', `${a} and ${b}`, 'the same value', where)
  }
  if ([...short.disks, ...wide.disks].some(d => d !== 0 && !(end64 !== null && d === ALL_ONES_16))) {
    throw zipFault('unsupported', `volume ${Math.max(...short.disks, ...wide.disks)}`, 'a single file', where)
  }
  const [count, total] = wide.counts
  if (count !== total) throw zipFault('bad end record', `${count} members here, ${total} in all`, 'the same number', where)
  const shift = at - wide.size - wide.offset
  if (shift < 0) {
    const found = `${wide.size} bytes of directory at byte ${wide.offset}`
    throw zipFault('bad end record', found, `a directory that ends at byte ${at}`, where)
  }
  if (end64 !== null) {
    const locator = end - LOCATOR_SIZE
    const stated = f.u64(locator + 8, place)
    if (stated + shift !== end64) {
      const found = `zip64 end record at byte ${stated}`
      throw zipFault('bad zip64 locator', found, `${end64 - shift}`, { offset: locator, ...place })
    }
  }
  if (count * CENTRAL_SIZE > wide.size) {
    const found = `${count} members in a directory of ${wide.size} bytes`
    throw zipFault('impossible count', found, `at least ${CENTRAL_SIZE} bytes each`, where)
  }
  return { start: at - wide.size, end: at, count, shift }
}
