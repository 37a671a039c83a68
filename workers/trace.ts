/** Worker of the trace pool. Its scratch arrays live as long as the thread and are reused from trace to trace. */
import { warmUpParser } from '../src/ingest/json/warmup.js'
import { answerTrace, WorkerScratch, type TraceAnswer, type TraceTask } from '../src/compute/traceTask.js'

const scratch = new WorkerScratch()
warmUpParser(scratch.trace)

export default function trace(task: TraceTask): TraceAnswer {
  return answerTrace(task, scratch)
}
