/**
 * A regular file that stands still while it is read: whole, in chunks, in parts, or hashed. `still.ts` says what standing
 * still means. `still-file-sync.ts` reads on the calling thread.
 *
 * Not supported: pipes, devices and other files that are not regular (they have no size to compare, and may never end).
 */
import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { stat, type FileHandle } from 'node:fs/promises'
import type { ByteGenerator } from './chunks.js'
import {
  changeError,
  changeOf,
  CHUNK_BYTES,
  comparingWords,
  cutAt,
  isSameFile,
  MAX_WHOLE_BYTES,
  type Change,
  type StillWords
} from './still.js'
import { openRegular, type OpenOptions } from './system/open.js'

export interface ChunkOptions {
  /** bytes of a chunk; default 1 MiB */
  readonly chunkSize?: number
  /** gives memory for the chunks; called when the file is open. Default: new memory */
  readonly allocate?: (length: number) => Uint8Array
  /** stops the reading between two chunks, by throwing the signal's reason */
  readonly signal?: AbortSignal | undefined
}

export interface HashOptions {
  readonly signal?: AbortSignal | undefined
  /** called after each chunk with its length */
  readonly onBytes?: ((bytes: number) => void) | undefined
  /** reused between files by the caller; its length is the chunk size */
  readonly buffer?: Buffer | undefined
}

/** Hash and number of the bytes that were read. */
export interface ReadHash {
  /** lower-case hexadecimal */
  readonly sha256: string
  readonly bytes: number
}

export interface StillFile {
  readonly size: number
  /** All bytes of the file, which stood still and has at most `maxBytes`. */
  whole(maxBytes?: number): Promise<Buffer<ArrayBuffer>>
  /** The same in chunks. That the file stood still is known only when the iteration has gone to its end. */
  chunks(options?: ChunkOptions): ByteGenerator
  /** Exactly the bytes asked for, in memory of their own. */
  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
  /** The same into memory of the caller. */
  fill(bytes: Uint8Array, start: number): Promise<void>
  /** SHA-256 of all bytes of the file, which stood still; hexadecimal. */
  sha256(options?: HashOptions): Promise<string>
  /**
   * The hash of what was read, whether or not the file stood still. At most one chunk more is read than the file had when it
   * was opened.
   */
  readHash(options?: HashOptions): Promise<ReadHash>
  /**
   * How the file differs from what it was when it was opened; null: not at all.
   *
   * @param read bytes up to its end, where it was read to its end
   */
  change(read?: number): Promise<Change | null>
  /** @throws the error for what `change` finds */
  assertStill(read?: number): Promise<void>
  close(): Promise<void>
}

/** Two buffers are used in turn: the system reads into one while the caller works on the other. */
const BUFFERS = 2

/** @throws what `words.notOpened` makes of a file that cannot be opened */
export async function openStill(path: string, words: StillWords = comparingWords('file'), options: OpenOptions = {}): Promise<StillFile> {
  const { handle, stat: before } = await openRegular(path, options).catch((cause: unknown) => {
    throw words.notOpened(path, cause)
  })
  return new OpenStill(path, handle, before, words)
}

class OpenStill implements StillFile {
  readonly size: number
  readonly #path: string
  readonly #handle: FileHandle
  readonly #before: BigIntStats
  readonly #words: StillWords

  constructor(path: string, handle: FileHandle, before: BigIntStats, words: StillWords) {
    this.size = Number(before.size)
    this.#path = path
    this.#handle = handle
    this.#before = before
    this.#words = words
  }

  async whole(maxBytes = MAX_WHOLE_BYTES): Promise<Buffer<ArrayBuffer>> {
    if (this.size > maxBytes) throw this.#words.tooLarge(this.#path, this.#before.size, maxBytes)
    const bytes = Buffer.allocUnsafeSlow(this.size)
    await this.assertStill(await this.#fill(bytes, 0))
    return bytes
  }

  async *chunks({ chunkSize = CHUNK_BYTES, allocate = Buffer.allocUnsafe, signal }: ChunkOptions = {}): ByteGenerator {
    const size = Math.min(chunkSize, this.size + 1)
    const buffers = Array.from({ length: BUFFERS }, () => allocate(size))
    /** never rejects, so that a failed read ahead is no unhandled rejection */
    const read = (turn: number, at: number): Promise<Uint8Array | { readonly error: unknown }> =>
      this.#read(buffers[turn % BUFFERS], 0, size, at).then(
        bytesRead => buffers[turn % BUFFERS].subarray(0, bytesRead),
        (error: unknown) => ({ error })
      )
    let total = 0
    let ahead = read(0, 0)
    try {
      // The condition ends the loop also for a file that keeps growing.
      for (let turn = 1; total <= this.size; turn++) {
        const chunk = await ahead
        signal?.throwIfAborted()
        if (!(chunk instanceof Uint8Array)) throw chunk.error
        if (chunk.length === 0) break
        total += chunk.length
        ahead = read(turn, total)
        yield chunk
      }
      await this.assertStill(total)
    } finally {
      await ahead
    }
  }

  async slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(new ArrayBuffer(end - start))
    await this.fill(bytes, start)
    return bytes
  }

  async fill(bytes: Uint8Array, start: number): Promise<void> {
    const filled = await this.#fill(bytes, start)
    if (filled < bytes.length) throw changeError(this.#words, this.#path, cutAt(this.#before, start + filled))
  }

  async sha256(options: HashOptions = {}): Promise<string> {
    const { sha256, bytes } = await this.readHash(options)
    const change = bytes < this.size ? cutAt(this.#before, bytes) : await this.change(bytes)
    if (change !== null) throw changeError(this.#words, this.#path, change)
    return sha256
  }

  async readHash({
    signal,
    onBytes,
    buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, this.size + 1))
  }: HashOptions = {}): Promise<ReadHash> {
    const hash = createHash('sha256')
    let bytes = 0
    while (bytes <= this.size) {
      const bytesRead = await this.#read(buffer, 0, buffer.length, bytes)
      signal?.throwIfAborted()
      if (bytesRead === 0) break
      hash.update(bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead))
      bytes += bytesRead
      onBytes?.(bytesRead)
    }
    return { sha256: hash.digest('hex'), bytes }
  }

  async change(read: number | null = null): Promise<Change | null> {
    const before = this.#before
    const named = await stat(this.#path, { bigint: true }).then(
      found => ({ stat: found }),
      (cause: unknown) => ({ cause })
    )
    const own = 'stat' in named && isSameFile(named.stat, before) ? named.stat : await this.#handle.stat({ bigint: true })
    return changeOf(before, own, named, read)
  }

  async assertStill(read: number | null = null): Promise<void> {
    const change = await this.change(read)
    if (change !== null) throw changeError(this.#words, this.#path, change)
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  /** Fills `bytes` from `start` of the file. Returns how many bytes there were: fewer at the file's end. */
  async #fill(bytes: Uint8Array, start: number): Promise<number> {
    let filled = 0
    while (filled < bytes.length) {
      const bytesRead = await this.#read(bytes, filled, bytes.length - filled, start + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return filled
  }

  async #read(bytes: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(bytes, offset, length, position).catch((cause: unknown) => {
      throw this.#words.notRead(this.#path, cause)
    })
    return bytesRead
  }
}

/** Opens a file, gives its chunks and closes it. @param format first word of the message for a file that changed */
export async function* fileChunks(
  path: string,
  { format = 'snapshot', ...options }: ChunkOptions & { readonly format?: string } = {}
): ByteGenerator {
  const file = await openStill(path, comparingWords(format))
  try {
    yield* file.chunks(options)
  } finally {
    await file.close()
  }
}

/** A whole small file. */
export async function readWhole(
  path: string,
  words: StillWords,
  maxBytes: number,
  options: OpenOptions = {}
): Promise<Buffer<ArrayBuffer>> {
  const file = await openStill(path, words, options)
  try {
    return await file.whole(maxBytes)
  } finally {
    await file.close()
  }
}

/** Most bytes of a text. Every document of this program is shorter. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024

/** The text of a small file, whole. */
export async function readText(
  path: string,
  { maxBytes = MAX_TEXT_BYTES, ...options }: OpenOptions & { readonly maxBytes?: number } = {}
): Promise<string> {
  return (await readWhole(path, comparingWords('file'), maxBytes, options)).toString('utf8')
}

export interface FileHash {
  /** lower-case hexadecimal; null where the file grew while it was read, so that its end was never seen */
  readonly sha256: string | null
  /** bytes that were read */
  readonly bytes: number
  /** the file was written, truncated, replaced or removed between the first and the last read */
  readonly changed: boolean
}

/**
 * The hash of a file of any size, and whether it stood still: for a report.
 *
 * libuv's threads read, the calling thread hashes. Measured on 42 files of 5 MB and one of 34 MB, page cache warm, 2 cores:
 * one file at a time 0.7 of the rate of a plain synchronous loop (0.2 to 0.3 with chunks of 64 KiB), four at a time 1.0 of
 * it; `crypto.subtle` over whole files 0.6; two worker threads 0.3 to 0.45, start included. Hence several at a time, large
 * chunks, no workers.
 *
 * @throws Fault where the file cannot be opened or read, or the signal's reason
 */
export async function hashFile(
  path: string,
  { links = 'follow', ...options }: HashOptions & Pick<OpenOptions, 'links'> = {}
): Promise<FileHash> {
  options.signal?.throwIfAborted()
  const file = await openStill(path, comparingWords('file'), { links })
  try {
    const { sha256, bytes } = await file.readHash(options)
    return { sha256: bytes > file.size ? null : sha256, bytes, changed: (await file.change(bytes)) !== null }
  } finally {
    await file.close()
  }
}
