/**
 * Reads a member of a ZIP archive from its first to its last byte, in parts, stored or deflated. Memory holds a part. Size and
 * CRC-32 are checked behind the last byte.
 */
import { constants, crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import type { ByteSource } from '../../core/byte-source.js'
import { describeCause, Fault, type Place } from '../../core/errors.js'
import { checkCrc, checkReadable, isDeflated } from './unzip.js'
import { zipFault } from './zip-end.js'
import type { ZipEntry } from './zip.js'

const STEP = 2 ** 18

export interface MemberReader {
  /** The next bytes, in memory of their own. @throws Fault where the member has no more */
  read(length: number): Promise<Uint8Array<ArrayBuffer>>
  /** @throws Fault unless all bytes were read and the CRC-32 is right */
  end(): Promise<void>
  close(): Promise<void>
}

/** @param entry its local header is checked @param summed whether the archive has sums @param place names the member */
export function readMemberParts(source: ByteSource, entry: ZipEntry, summed: boolean, place: Place): MemberReader {
  checkReadable(entry, Number.MAX_SAFE_INTEGER, place)
  return isDeflated(entry) ? new DeflatedMember(source, entry, summed, place) : new StoredMember(source, entry, summed, place)
}

abstract class SummedMember implements MemberReader {
  readonly #entry: ZipEntry
  readonly #summed: boolean
  readonly #place: Place
  #at = 0
  #crc = 0

  constructor(entry: ZipEntry, summed: boolean, place: Place) {
    this.#entry = entry
    this.#summed = summed
    this.#place = place
  }

  async read(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const { size } = this.#entry
    if (this.#at + length > size) throw zipFault('wrong size', `${size} bytes`, `${this.#at + length}`, this.#place)
    const bytes = await this.take(length, this.#at)
    this.#at += length
    // zlib's sum of no bytes is 0, whatever the sum before.
    if (this.#summed && length > 0) this.#crc = crc32(bytes, this.#crc)
    return bytes
  }

  async end(): Promise<void> {
    const { size } = this.#entry
    if (this.#at !== size) throw zipFault('wrong size', `${size} bytes`, `${this.#at}`, this.#place)
    await this.finish()
    if (this.#summed) checkCrc(this.#crc, this.#entry, this.#place)
  }

  abstract close(): Promise<void>

  protected abstract take(length: number, at: number): Promise<Uint8Array<ArrayBuffer>>

  protected abstract finish(): Promise<void>
}

class StoredMember extends SummedMember {
  readonly #source: ByteSource
  readonly #offset: number

  constructor(source: ByteSource, entry: ZipEntry, summed: boolean, place: Place) {
    super(entry, summed, place)
    this.#source = source
    this.#offset = entry.dataOffset
  }

  protected take(length: number, at: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#source.slice(this.#offset + at, this.#offset + at + length)
  }

  protected async finish(): Promise<void> {
    // A stored member has nothing behind its last byte.
  }

  async close(): Promise<void> {
    // The source belongs to the caller.
  }
}

class DeflatedMember extends SummedMember {
  readonly #inflate: InflateRaw = createInflateRaw({ chunkSize: STEP, finishFlush: constants.Z_FINISH })
  readonly #chunks: AsyncIterator<Buffer>
  readonly #feeding: Promise<{ readonly error: unknown } | null>
  readonly #entry: ZipEntry
  readonly #place: Place
  #chunk: Uint8Array = new Uint8Array(0)

  constructor(source: ByteSource, entry: ZipEntry, summed: boolean, place: Place) {
    super(entry, summed, place)
    this.#entry = entry
    this.#place = place
    this.#chunks = (this.#inflate as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
    /** never rejects */
    this.#feeding = feed(source, entry, this.#inflate).then(
      () => null,
      (error: unknown) => {
        this.#inflate.destroy(error instanceof Error ? error : new Error(String(error)))
        return { error }
      }
    )
  }

  protected async take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(new ArrayBuffer(length))
    let filled = 0
    while (filled < length) {
      if (this.#chunk.length === 0 && !(await this.#more())) {
        throw zipFault('wrong size', 'a deflate stream that ends before', `the declared ${this.#entry.size} bytes`, this.#place)
      }
      const part = this.#chunk.subarray(0, length - filled)
      bytes.set(part, filled)
      filled += part.length
      this.#chunk = this.#chunk.subarray(part.length)
    }
    return bytes
  }

  protected async finish(): Promise<void> {
    const { size, compressedSize } = this.#entry
    if (this.#chunk.length > 0 || (await this.#more())) {
      throw zipFault('wrong size', `more than ${size} bytes`, `the declared ${size}`, this.#place)
    }
    const used = this.#inflate.bytesWritten
    if (used === compressedSize) return
    throw zipFault('wrong compressed size', `a deflate stream of ${used} bytes`, `the declared ${compressedSize}`, this.#place)
  }

  async close(): Promise<void> {
    this.#inflate.destroy()
    await this.#feeding
  }

  /** The next chunk that is not empty; false: there is none. */
  async #more(): Promise<boolean> {
    try {
      for (;;) {
        const step = await this.#chunks.next()
        if (step.done === true) return false
        if (step.value.length === 0) continue
        this.#chunk = step.value
        return true
      }
    } catch (error) {
      throw await this.#faultOf(error)
    }
  }

  async #faultOf(error: unknown): Promise<unknown> {
    const isZlib = error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_')
    if (isZlib) {
      const found = describeCause(error)
      return new Fault({
        format: 'zip',
        problem: 'broken deflate data',
        found,
        expected: 'a whole stream',
        place: this.#place,
        cause: error
      })
    }
    this.#inflate.destroy()
    return (await this.#feeding)?.error ?? error
  }
}

/** Writes the compressed bytes, each part when zlib has used up the one before. */
async function feed(source: ByteSource, { dataOffset, compressedSize }: ZipEntry, inflate: InflateRaw): Promise<void> {
  const end = dataOffset + compressedSize
  // after an error zlib no longer calls back for a write
  const closed = new Promise<void>(resolve => {
    inflate.once('close', resolve)
  })
  for (let at = dataOffset; at < end && !inflate.destroyed; at += STEP) {
    const bytes = await source.slice(at, Math.min(end, at + STEP))
    if (inflate.destroyed) return
    await Promise.race([
      closed,
      new Promise<void>(resolve => {
        inflate.write(bytes, () => {
          resolve()
        })
      })
    ])
  }
  inflate.end()
}
