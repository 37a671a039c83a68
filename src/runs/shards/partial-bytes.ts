/** The bytes of a partial by position: a window of a file, or all of it where it is in memory. */
import { statSync } from 'node:fs'
import { openStillSync } from '../../core/still-file-sync.js'
import { wordsOf } from '../../core/still.js'

export interface PartialBytes {
  readonly size: number
  /** What was given before is gone. @throws Fault where the file changes */
  at(from: number, length: number): Uint8Array
  /** @throws Fault where the file did not stand still since it was opened */
  close(): void
}

/** Bytes that are read together. */
const WINDOW_BYTES = 2 ** 20
/** Arrow's buffers lie at multiples of it, and the library makes typed arrays of them. */
const ALIGNED = 8

/** Memory that every file takes in its turn: what was read before is gone. */
export class Scratch {
  #memory = Buffer.alloc(0)

  of(length: number): Uint8Array {
    if (this.#memory.length < length) this.#memory = Buffer.allocUnsafeSlow(length)
    return this.#memory.subarray(0, length)
  }
}

export function openPartialBytes(path: string, scratch: Scratch): PartialBytes {
  const file = openStillSync(path, wordsOf('partial'))
  const { size } = file
  let [begin, window] = [0, scratch.of(0)]
  return {
    size,
    at(from, length) {
      if (from < begin || from + length > begin + window.length) {
        begin = from - (from % ALIGNED)
        window = scratch.of(Math.min(size - begin, Math.max(WINDOW_BYTES, from - begin + length)))
        file.fill(window, begin)
      }
      return window.subarray(from - begin, from - begin + length)
    },
    close() {
      try {
        file.assertStill()
      } finally {
        file.close()
      }
    }
  }
}

export function bytesInMemory(bytes: Uint8Array): PartialBytes {
  return { size: bytes.length, at: (from, length) => bytes.subarray(from, from + length), close: () => undefined }
}

/** What changes where a file does. */
export interface PartialState {
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

export function stateOfFile(path: string): PartialState {
  const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
  return { ino, size, mtimeNs, ctimeNs }
}
