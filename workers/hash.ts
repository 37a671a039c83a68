/** Hashes one file on a thread of the pool: outputs after a run, inputs and outputs before one is skipped. */
import { hashStill, type HashAnswer, type HashTask } from '../src/core/still-file-sync.js'

export default function answerHash(task: HashTask): HashAnswer | null {
  return hashStill(task)
}
