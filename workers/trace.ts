/** Worker of the trace pool. Its scratch arrays live as long as the thread and are reused from trace to trace. */
import { TraceScratch } from '../src/ingest/json/trace.js'
import { answerTrace, type TraceAnswer, type TraceTask } from '../src/compute/traces/trace-task.js'

const scratch = new TraceScratch()

export default function trace(task: TraceTask): TraceAnswer {
  return answerTrace(task, scratch)
}
