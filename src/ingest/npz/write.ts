/**
 * NPZ writer: a streaming ZIP archive of `.npy` members, the same bytes as `np.savez` on Linux writes (stored members).
 *
 * Sources: PKWARE APPNOTE 6.3.9 (4.3.7, 4.3.12, 4.3.14-16, 4.5.3); Python 3.11 zipfile.py and numpy's `_savez`. Their
 * choices are kept: a zip64 extra in every local header, time 1980-01-01 00:00, created on Unix with mode 0600, zip64 in
 * the directory from 2^31 - 1 on. Deflated members use zlib level 6, as `np.savez_compressed` does. Their bytes depend on
 * the zlib build; their inflated content does not. Not written: data descriptors, comments, encryption, directories.
 *
 * Bytes are passed on in order and at once. Only one small record per member is kept.
 */
import { crc32 as zlibCrc32, deflateRawSync } from 'node:zlib'
import { Fault, printable } from '../../core/errors.js'
import { DEFLATED, STORED } from '../zip/zip-end.js'

export {
  descrOf,
  encodeNpy,
  encodeNpyBool,
  encodeNpyFloat,
  encodeNpyHeader,
  encodeNpyInt,
  encodeNpyText,
  npyParts,
  type NumericArray
} from './encode.js'

/**
 * Takes the archive's next bytes. They are views of what the caller passed to `add`: a sink that keeps them must copy. If
 * it returns a promise, the writer waits for it before it produces more, so memory stays bounded.
 */
export type ByteSink = (bytes: Uint8Array) => void | Promise<void>

export interface NpzWriterOptions {
  /** sizes and offsets above this go to zip64 fields; smaller only in tests */
  readonly zip64Limit?: number
  /** member counts above this need the zip64 end record; smaller only in tests */
  readonly countLimit?: number
}

export interface AddOptions {
  /** CRC-32 of the `.npy` bytes if the caller has it; it is not checked */
  readonly crc32?: number
  /** default false: stored, as `np.savez` does */
  readonly deflate?: boolean
}

interface WrittenEntry {
  readonly name: Uint8Array
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly compressedSize: number
  readonly size: number
  readonly offset: number
}

const UTF8_NAME = 0x800
/** version 4.5, the first with zip64: the version needed to extract, and also stated as the maker's version */
const VERSION = 45
const UNIX = 3
/** -rw------- in the high half of the external attributes */
const MODE_0600 = 0o600 << 16
/** 1980-01-01, the earliest date that ZIP can express */
const DOS_DATE = (1 << 5) | 1
const DEFLATE_LEVEL = 6
const ALL_ONES = 0xffffffff

/** Empty parts are left out: Node's crc32 of an empty view ignores the value passed in and returns 0. */
function crcOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((crc, part) => (part.length === 0 ? crc : zlibCrc32(part, crc)), 0)
}

/** A little-endian record under construction. */
class Record {
  readonly bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(length: number) {
    this.bytes = new Uint8Array(length)
    this.#view = new DataView(this.bytes.buffer)
  }

  u16(...values: number[]): this {
    for (const v of values) {
      this.#view.setUint16(this.#at, v, true)
      this.#at += 2
    }
    return this
  }

  u32(...values: number[]): this {
    for (const v of values) {
      this.#view.setUint32(this.#at, v, true)
      this.#at += 4
    }
    return this
  }

  u64(...values: number[]): this {
    for (const v of values) this.u32(v % 2 ** 32, Math.floor(v / 2 ** 32))
    return this
  }

  raw(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.#at)
    this.#at += bytes.length
    return this
  }
}

function localHeader(e: WrittenEntry): Uint8Array {
  return new Record(30 + e.name.length + 20)
    .u32(0x04034b50)
    .u16(VERSION, e.flags, e.method, 0, DOS_DATE)
    .u32(e.crc, ALL_ONES, ALL_ONES)
    .u16(e.name.length, 20)
    .raw(e.name)
    .u16(1, 16)
    .u64(e.size, e.compressedSize).bytes
}

function centralHeader(e: WrittenEntry, limit: number): Uint8Array {
  const bigSize = e.size > limit || e.compressedSize > limit
  const bigOffset = e.offset > limit
  const wide = [...(bigSize ? [e.size, e.compressedSize] : []), ...(bigOffset ? [e.offset] : [])]
  const extra = wide.length === 0 ? 0 : 4 + 8 * wide.length
  const record = new Record(46 + e.name.length + extra)
    .u32(0x02014b50)
    .u16((UNIX << 8) | VERSION, VERSION, e.flags, e.method, 0, DOS_DATE)
    .u32(e.crc)
    .u32(bigSize ? ALL_ONES : e.compressedSize, bigSize ? ALL_ONES : e.size)
    .u16(e.name.length, extra, 0, 0, 0)
    .u32(MODE_0600, bigOffset ? ALL_ONES : e.offset)
    .raw(e.name)
  return extra === 0 ? record.bytes : record.u16(1, 8 * wide.length).u64(...wide).bytes
}

/** Writes an archive. Only `finish` writes the directory: a stream that is cut off before it cannot be read. */
export class NpzWriter {
  readonly #sink: ByteSink
  readonly #zip64Limit: number
  readonly #countLimit: number
  readonly #entries: WrittenEntry[] = []
  readonly #names = new Set<string>()
  #offset = 0
  #state: 'open' | 'busy' | 'broken' | 'finished' = 'open'

  constructor(sink: ByteSink, options: NpzWriterOptions = {}) {
    this.#sink = sink
    this.#zip64Limit = options.zip64Limit ?? 2 ** 31 - 1
    this.#countLimit = options.countLimit ?? 0xffff
  }

  /** Number of bytes passed to the sink so far. */
  get bytesWritten(): number {
    return this.#offset
  }

  /**
   * Writes one array under `name` (the member is `name.npy`, as in `np.savez`). `npy` is a whole `.npy` file, in one
   * piece or in several. Await each call before the next.
   */
  async add(name: string, npy: Uint8Array | readonly Uint8Array[], options: AddOptions = {}): Promise<void> {
    const encoded = new TextEncoder().encode(`${name}.npy`)
    if (encoded.length > 0xffff) throw this.#fault('member name too long', `${encoded.length} bytes`, 'at most 65,535')
    if (this.#names.has(name)) throw this.#fault('duplicate member', `'${printable(name)}'`, 'distinct names')
    await this.#exclusively(async () => {
      const parts = npy instanceof Uint8Array ? [npy] : npy
      const size = parts.reduce((sum, part) => sum + part.length, 0)
      const crc = options.crc32 ?? crcOf(parts)
      const body = options.deflate === true ? [deflateRawSync(Buffer.concat(parts), { level: DEFLATE_LEVEL })] : parts
      const entry: WrittenEntry = {
        name: encoded,
        flags: encoded.length === name.length + 4 ? 0 : UTF8_NAME,
        method: options.deflate === true ? DEFLATED : STORED,
        crc,
        compressedSize: body.reduce((sum, part) => sum + part.length, 0),
        size,
        offset: this.#offset
      }
      this.#names.add(name)
      this.#entries.push(entry)
      await this.#write(localHeader(entry))
      for (const part of body) await this.#write(part)
      return 'open'
    })
  }

  /** Writes the directory. The sink then has the whole archive. */
  async finish(): Promise<void> {
    await this.#exclusively(async () => {
      const start = this.#offset
      for (const entry of this.#entries) await this.#write(centralHeader(entry, this.#zip64Limit))
      const end = this.#offset
      const count = this.#entries.length
      if (count > this.#countLimit || start > this.#zip64Limit || end - start > this.#zip64Limit) {
        await this.#write(
          new Record(56)
            .u32(0x06064b50)
            .u64(44)
            .u16(VERSION, VERSION)
            .u32(0, 0)
            .u64(count, count, end - start, start).bytes
        )
        await this.#write(new Record(20).u32(0x07064b50, 0).u64(end).u32(1).bytes)
      }
      const count16 = Math.min(count, 0xffff)
      await this.#write(
        new Record(22)
          .u32(0x06054b50)
          .u16(0, 0, count16, count16)
          .u32(Math.min(end - start, ALL_ONES), Math.min(start, ALL_ONES))
          .u16(0).bytes
      )
      return 'finished'
    })
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const pending = this.#sink(bytes)
    if (pending !== undefined) await pending
    this.#offset += bytes.length
  }

  /** Runs one call at a time. After a failed call the archive is broken and accepts no more. */
  async #exclusively(work: () => Promise<'open' | 'finished'>): Promise<void> {
    if (this.#state !== 'open') throw this.#fault('writer not ready', this.#state, 'one awaited call at a time before finish')
    this.#state = 'busy'
    let next: 'open' | 'finished' | 'broken' = 'broken'
    try {
      next = await work()
    } finally {
      this.#state = next
    }
  }

  #fault(problem: string, found: string, expected: string): Fault {
    return new Fault({ format: 'npz', problem, found, expected })
  }
}
