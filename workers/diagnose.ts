/** Worker of `diagnose`, in the threads of the trace pool: one sample or trace to one record. */
import { TraceScratch } from '../src/ingest/json/trace.js'
import { answerRecord, type RecordAnswer, type RecordTask } from '../src/compute/diagnostics/record-task.js'

const scratch = new TraceScratch()

export default function diagnose(task: RecordTask): RecordAnswer {
  return answerRecord(task, scratch)
}
