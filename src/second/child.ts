/** The process that reads files twice, one after another: a task comes as a message, its reading goes back as one. */
import { describeCause } from '../core/errors.js'
import { readTwice, type SecondTask } from './formats.js'
import { notReadable } from './reading.js'

process.on('message', task => {
  // Neither a difference nor our reader's refusal, which are readings: something gave up on the way.
  void readTwice(task as SecondTask).catch((error: unknown) => notReadable(describeCause(error))).then(reading => process.send?.(reading))
})
// What a library throws behind a task's back ends the process, which its parent reports.
process.on('disconnect', () => { process.exit() })
