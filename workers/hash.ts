/** Hashes one file on a thread of the pool: outputs after a run, inputs and outputs before one is skipped. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'

export interface HashAnswer {
  readonly sha256: string
  readonly bytes: number
}

const CHUNK_BYTES = 1 << 20

/** null where the file cannot be read */
export default function hashFile(path: string): HashAnswer | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) return null
    throw error
  }
  try {
    const hash = createHash('sha256')
    const chunk = new Uint8Array(CHUNK_BYTES)
    let bytes = 0
    for (;;) {
      const n = readSync(fd, chunk, 0, chunk.length, null)
      if (n === 0) return { sha256: hash.digest('hex'), bytes }
      hash.update(n === chunk.length ? chunk : chunk.subarray(0, n))
      bytes += n
    }
  } finally {
    closeSync(fd)
  }
}
