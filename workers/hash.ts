/** Hashes one file on a thread of the pool: outputs after a run, inputs and outputs before one is skipped. */
import { Fault } from '../src/core/errors.js'
import { comparingWords } from '../src/core/still.js'
import { openStillSync } from '../src/core/still-file-sync.js'

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
export default function answerHash({ path, links }: HashTask): HashAnswer | null {
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
