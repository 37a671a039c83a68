/** A file that stands still while it is read (see `still.ts`), read on the calling thread: for workers and for small files. */
import { createHash, hash } from 'node:crypto'
import { closeSync, fstatSync, readSync, statSync, type BigIntStats } from 'node:fs'
import { Fault } from './errors.js'
import {
  changeError,
  changeOf,
  CHUNK_BYTES,
  comparingWords,
  isSameFile,
  MAX_WHOLE_BYTES,
  wordsOf,
  type Change,
  type Named,
  type StillWords
} from './still.js'
import { openRegularSync, type OpenOptions } from './system/open.js'

export interface FileContent {
  /** in the memory that the caller gave, where it gave some */
  readonly bytes: Uint8Array
  /** lower-case hexadecimal SHA-256 of `bytes` */
  readonly sha256: string
}

export interface StillFileSync {
  readonly size: number
  /** All bytes of the file, which stood still, in the memory that `allocate` gives. */
  whole(allocate: (length: number) => Uint8Array): Uint8Array
  /** Fills `into` with the bytes from a position on. @throws where the file ends before */
  fill(into: Uint8Array, from: number): void
  /** @throws where the file did not stand still since it was opened */
  assertStill(): void
  /** SHA-256 of all bytes of the file, which stood still; hexadecimal. Takes one megabyte of memory. */
  sha256(): string
  close(): void
}

/** @throws what `words.notOpened` makes of a file that cannot be opened */
export function openStillSync(path: string, words: StillWords, options: OpenOptions = {}): StillFileSync {
  return new OpenStillSync(path, opened(path, words, options), words)
}

function opened(path: string, words: StillWords, options: OpenOptions): ReturnType<typeof openRegularSync> {
  try {
    return openRegularSync(path, options)
  } catch (cause) {
    throw words.notOpened(path, cause)
  }
}

class OpenStillSync implements StillFileSync {
  readonly size: number
  readonly #path: string
  readonly #fd: number
  readonly #before: BigIntStats
  readonly #words: StillWords

  constructor(path: string, { fd, stat }: ReturnType<typeof openRegularSync>, words: StillWords) {
    this.size = Number(stat.size)
    this.#path = path
    this.#fd = fd
    this.#before = stat
    this.#words = words
  }

  whole(allocate: (length: number) => Uint8Array): Uint8Array {
    if (this.size > MAX_WHOLE_BYTES) throw this.#words.tooLarge(this.#path, this.#before.size, MAX_WHOLE_BYTES)
    return this.#reading(() => {
      const bytes = allocate(this.size)
      this.#assertStill(this.#filled(bytes, 0))
      return bytes
    })
  }

  fill(into: Uint8Array, from: number): void {
    this.#reading(() => {
      const filled = this.#filled(into, from)
      if (filled < into.length) this.#assertStill(from + filled)
    })
  }

  assertStill(): void {
    this.#reading(() => this.#assertStill(this.size))
  }

  /** @returns bytes up to the end of the file, at most as many as there is room for */
  #filled(bytes: Uint8Array, from: number): number {
    let filled = 0
    while (filled < bytes.length) {
      const n = readSync(this.#fd, bytes, filled, bytes.length - filled, from + filled)
      if (n === 0) break
      filled += n
    }
    return filled
  }

  sha256(): string {
    return this.#reading(() => {
      const digest = createHash('sha256')
      const chunk = new Uint8Array(Math.min(CHUNK_BYTES, this.size + 1))
      let bytes = 0
      while (bytes <= this.size) {
        const n = readSync(this.#fd, chunk, 0, chunk.length, bytes)
        if (n === 0) break
        digest.update(n === chunk.length ? chunk : chunk.subarray(0, n))
        bytes += n
      }
      this.#assertStill(bytes)
      return digest.digest('hex')
    })
  }

  close(): void {
    closeSync(this.#fd)
  }

  #reading<T>(read: () => T): T {
    try {
      return read()
    } catch (cause) {
      throw cause instanceof Fault ? cause : this.#words.notRead(this.#path, cause)
    }
  }

  #assertStill(read: number): void {
    const change = this.#change(read)
    if (change !== null) throw changeError(this.#words, this.#path, change)
  }

  #change(read: number): Change | null {
    const named = namedBy(this.#path)
    const own = 'stat' in named && isSameFile(named.stat, this.#before) ? named.stat : fstatSync(this.#fd, { bigint: true })
    return changeOf(this.#before, own, named, read)
  }
}

function namedBy(path: string): Named {
  try {
    return { stat: statSync(path, { bigint: true }) }
  } catch (cause) {
    return { cause }
  }
}

/**
 * A whole file and its hash. Files of 2 GiB and more are refused.
 *
 * @throws Fault exit 3 where the file is missing, unreadable or no regular file; exit 1 where it did not stand still
 */
export function readStillSync(
  path: string,
  format: string,
  allocate: (length: number) => Uint8Array = length => new Uint8Array(length)
): FileContent {
  const file = openStillSync(path, wordsOf(format))
  try {
    const bytes = file.whole(allocate)
    return { bytes, sha256: hash('sha256', bytes) }
  } finally {
    file.close()
  }
}

export interface HashTask {
  readonly path: string
  readonly links: 'follow' | 'refuse'
}

export interface HashAnswer {
  readonly sha256: string
  readonly bytes: number
}

/**
 * Null where the file cannot be read, is none or does not stand still. An input may be a link; an output that the program
 * wrote is none.
 */
export function hashStill({ path, links }: HashTask): HashAnswer | null {
  try {
    const file = openStillSync(path, comparingWords('file'), { links })
    try {
      return { sha256: file.sha256(), bytes: file.size }
    } finally {
      file.close()
    }
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}
