/** Hashes one file on a thread of the pool: outputs after a run, inputs and outputs before one is skipped. */
import { createHash } from 'node:crypto'
import { closeSync, readSync } from 'node:fs'
import { Fault } from '../src/core/errors.js'
import { systemName } from '../src/core/system/error.js'
import { openRegularSync } from '../src/core/system/open.js'

export interface HashTask {
  readonly path: string
  readonly links: 'follow' | 'refuse'
}

export interface HashAnswer {
  readonly sha256: string
  readonly bytes: number
}

const CHUNK_BYTES = 1 << 20

/** null where the file cannot be read, or is none: an input may be a link, an output that the program wrote is not */
export default function hashFile({ path, links }: HashTask): HashAnswer | null {
  let fd: number
  try {
    fd = openRegularSync(path, { links }).fd
  } catch (error) {
    if (error instanceof Fault) return null
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
  } catch (error) {
    if (systemName(error) !== null) return null
    throw error
  } finally {
    closeSync(fd)
  }
}
