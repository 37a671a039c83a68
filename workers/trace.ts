/** Worker of the trace pool. Its scratch arrays live as long as the thread and are reused from trace to trace. */
import { resampledNumbers, type ResampleTask } from '../src/compute/diagnostics/quality/resample-task.js'
import { TraceScratch } from '../src/ingest/json/trace.js'
import { answerTrace, type TraceAnswer, type TraceTask } from '../src/compute/traces/trace-task.js'

const scratch = new TraceScratch()

export default function answer(task: TraceTask | ResampleTask): TraceAnswer | Float64Array {
  return task.kind === 'resamples' ? resampledNumbers(task) : answerTrace(task, scratch)
}
