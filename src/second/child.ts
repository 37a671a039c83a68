/** The process that reads files twice, one after another. A task comes as a message, and its reading is sent back. */
import { describeCause } from '../core/errors.js'
import { readTwice, type SecondTask } from './formats.js'
import { notReadable } from './reading.js'

process.on('message', task => {
  // Such an error is neither a difference nor a refusal of our reader, which are readings: a library failed.
  void readTwice(task as SecondTask)
    .catch((error: unknown) => notReadable(describeCause(error)))
    .then(reading => process.send?.(reading))
})
// An error that a library throws outside a task ends the process, and the parent reports it.
process.on('disconnect', () => {
  process.exit()
})
