/**
 * The records of one snapshot or dump, made in the threads of the pool and returned in canonical order. Memory holds the samples
 * of the tasks under way, with one more at either side: a record looks at the values of its neighbours.
 */
import { shareSample, type SharedSample } from '../compute/diagnostics/packed.js'
import { neighbourValues } from '../compute/diagnostics/record.js'
import type { RecordAnswer, SampleRecordTask } from '../compute/diagnostics/record-task.js'
import type { SourcedRecord } from '../compute/diagnostics/reduce.js'
import { inOrder } from '../compute/traces/ordered.js'
import type { TraceTask } from '../compute/traces/trace-task.js'
import { placeOfSample } from '../compute/traces/sample-trace.js'
import { EXIT, Failures, Fault } from '../core/errors.js'
import { isLeftOut, type Dump } from '../ingest/dumps/contract.js'
import { openDump } from '../ingest/dumps/formats.js'
import { SlicePool } from '../ingest/json/pool.js'
import { sampleKeys } from '../schema/sample-keys.js'
import { SAMPLE_ARRAYS, type DumpFacts, type LeftOut, type Sample } from '../schema/samples.js'
import type { HashedFile } from '../schema/study.js'
import type { RunContext } from './context.js'
import { inRun, snapshotInputs } from './snapshot.js'
import type { SnapshotWork } from './snapshot-work.js'
import { openTraceSource } from './trace-sources.js'

export interface RecordOptions {
  readonly successThreshold: number
  readonly thresholds: readonly number[]
  readonly onProgress?: ((done: number) => void) | undefined
}

export interface SnapshotRecords {
  /** canonical order */
  readonly records: readonly SourcedRecord[]
  readonly inputs: readonly HashedFile[]
  /** what the reader of a dump found out; null for other snapshots */
  readonly facts: DumpFacts | null
  readonly leftOut: readonly LeftOut[]
  /** true: something in the snapshot says that it was generated */
  readonly synthetic: boolean
}

/** @throws Failures with every sample that fails a check, or the Fault that stopped the run */
export function snapshotRecords(context: RunContext, work: SnapshotWork, options: RecordOptions): Promise<SnapshotRecords> {
  return work.plan.kind === 'dump' ? dumpRecords(context, work, options) : traceRecords(context, work, options)
}

async function dumpRecords(context: RunContext, { plan, settings, pool }: SnapshotWork, options: RecordOptions): Promise<SnapshotRecords> {
  const { names, skipBad } = settings.dump ?? { names: {}, skipBad: false }
  const { signal } = context
  const dump = await openDump(plan.folder, plan.dumpFiles, { keys: sampleKeys(names), skipBad, signal, onProgress: options.onProgress })
  try {
    const samples = new SharedSamples(dump, context)
    const answers = new Answers(skipBad)
    for await (const answer of inOrder(samples.tasks(options), task => pool.diagnose(task), 2 * pool.threads + 1)) {
      context.throwIfInterrupted()
      samples.release()
      if (!answers.take(answer)) break
    }
    const records = answers.end()
    const leftOut = [...samples.leftOut, ...answers.leftOut].sort((a, b) => a.index - b.index)
    return { records, inputs: dump.inputs, facts: dump.facts, leftOut, synthetic: false }
  } finally {
    await dump.close()
  }
}

/** The samples of a dump as tasks, each with the values of those beside it. */
class SharedSamples {
  readonly leftOut: LeftOut[] = []
  readonly #dump: Dump
  readonly #context: RunContext
  readonly #buffers = new SlicePool()
  /** buffers whose samples a task under way may read, in canonical order */
  readonly #held: Uint8Array[] = []
  #answered = 0

  constructor(dump: Dump, context: RunContext) {
    this.#dump = dump
    this.#context = context
  }

  async *tasks({ successThreshold, thresholds }: RecordOptions): AsyncGenerator<SampleRecordTask, void, void> {
    let before: Sample | null = null
    let current: Sample | null = null
    const task = (sample: Sample, behind: Sample | null): SampleRecordTask => ({
      kind: 'sample-record',
      sample,
      neighbours: neighbourValues(before, behind),
      successThreshold,
      thresholds
    })
    for await (const item of this.#dump.samples(SAMPLE_ARRAYS)) {
      this.#context.throwIfInterrupted()
      if (isLeftOut(item)) {
        this.leftOut.push(item)
        continue
      }
      const { sample } = this.#share(item)
      if (current !== null) yield task(current, sample)
      before = current
      current = sample
    }
    if (current !== null) yield task(current, null)
  }

  /** To be called at each answer, in canonical order: the sample before the answered one is read no more. */
  release(): void {
    if (this.#answered++ === 0) return
    const buffer = this.#held.shift()
    if (buffer !== undefined) this.#buffers.give(buffer)
  }

  #share(sample: Sample): SharedSample {
    const shared = shareSample(sample, this.#buffers)
    this.#held.push(shared.buffer)
    return shared
  }
}

async function traceRecords(context: RunContext, work: SnapshotWork, options: RecordOptions): Promise<SnapshotRecords> {
  const { plan, pool } = work
  const source = await openTraceSource(context, work, { room: () => null, onProgress: options.onProgress })
  const answers = new Answers(false)
  const { successThreshold, thresholds } = options
  const run = async (trace: TraceTask): Promise<RecordAnswer> => {
    const answer = await pool.diagnose({ kind: 'trace-record', trace, successThreshold, thresholds })
    source.release(trace)
    return answer
  }
  for await (const answer of inOrder(source.tasks(), run, 2 * pool.threads + 1)) {
    context.throwIfInterrupted()
    if (!answers.take(answer)) break
    source.onTrace(answers.count)
  }
  const records = answers.end()
  const { header, html } = source.end()
  const { results } = answers
  const inputs = snapshotInputs(plan, { html, dump: null, results })
  const changed = inputs.map(inRun(context, plan)).flatMap(file => context.verifiedFault(file) ?? [])
  if (changed.length > 0) throw new Failures(changed)
  return { records, inputs, facts: null, leftOut: [], synthetic: header.synthetic || results.some(r => r.synthetic) }
}

/** Answers in canonical order. After a first failed check every other sample is still checked. */
class Answers {
  readonly leftOut: LeftOut[] = []
  readonly results: NonNullable<Extract<RecordAnswer, { readonly ok: true }>['result']>[] = []
  readonly #records: SourcedRecord[] = []
  readonly #faults: Fault[] = []
  readonly #skipBad: boolean

  constructor(skipBad: boolean) {
    this.#skipBad = skipBad
  }

  get count(): number {
    return this.#records.length
  }

  /** False where nothing more needs to be read. */
  take(answer: RecordAnswer): boolean {
    if (answer.ok) {
      const { record, source, result } = answer
      if (this.#faults.length === 0) this.#records.push({ record, source })
      if (result !== null) this.results.push(result)
      return true
    }
    const fault = Fault.deserialize(answer.fault)
    if (this.#skipBad) {
      // The place is told beside the reason.
      const reason = new Fault({ ...fault.details, place: {} }).message
      this.leftOut.push({ index: answer.index, place: answer.source === null ? {} : placeOfSample(answer.source), reason })
      return true
    }
    this.#faults.push(fault)
    return fault.exitCode === EXIT.checkFailed
  }

  /** @throws Failures where there are any */
  end(): readonly SourcedRecord[] {
    if (this.#faults.length > 0) throw new Failures(this.#faults)
    return this.#records
  }
}
