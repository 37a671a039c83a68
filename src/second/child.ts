/** The process that reads files twice, one after another: a task comes as a message, its reading goes back as one. */
import { Fault, describeCause, toFault } from '../errors.js'
import { readTwice, type SecondTask } from './formats.js'
import { notReadable, type SecondReading } from './reading.js'

async function answer(task: SecondTask): Promise<SecondReading> {
  try {
    return await readTwice(task)
  } catch (error) {
    // Not a difference, and not our reader's refusal: something gave up on the way.
    return error instanceof Fault ? { ...notReadable(error.message), status: 'refused', fault: toFault(error, task.format).serialize() } : notReadable(describeCause(error))
  }
}

process.on('message', task => {
  void answer(task as SecondTask).then(reading => process.send?.(reading))
})
// What a library throws behind a task's back ends the process, which its parent reports.
process.on('disconnect', () => { process.exit() })
