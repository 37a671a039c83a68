/**
 * The traces of a snapshot, measured in the threads of the pool and handed on in canonical order: with their columns, with
 * their records for the diagnostics, or with both. No token is read twice.
 */
import { inOrder } from '../compute/traces/ordered.js'
import type { TraceAnswer, TraceTask, TraceWanted } from '../compute/traces/trace-task.js'
import { EXIT, Failures, Fault } from '../core/errors.js'
import type { SnapshotPlan } from '../study/inventory.js'
import type { Done, RunContext } from './context.js'
import type { SnapshotWork } from './snapshot-work.js'
import { noSampleLeft, type SourceEnd } from './trace-source.js'
import { openTraceSource } from './trace-sources.js'

export type AnsweredTrace = Extract<TraceAnswer, { ok: true }>

export interface Measuring {
  readonly wanted: TraceWanted
  readonly onProgress: Done | undefined
  /** a free buffer for the columns of a later trace; null: there is none */
  readonly room?: () => SharedArrayBuffer | null
  /** called when the first trace is under way */
  readonly onFirst?: () => void
  /** takes a trace, in canonical order; after a first failed check none, but every trace is still checked */
  take(trace: AnsweredTrace): Promise<void> | void
}

/** @throws Failures with every trace that fails a check, or the Fault that stopped the run */
export async function measureTraces(context: RunContext, work: SnapshotWork, measuring: Measuring): Promise<SourceEnd> {
  const { plan, settings, pool } = work
  const { wanted, onProgress, room = () => null, onFirst } = measuring
  const faults: Fault[] = []
  let taken = 0
  const source = await openTraceSource(context, work, { wanted, room, onProgress })
  try {
    let first = true
    const answer = async (task: TraceTask): Promise<TraceAnswer> => {
      const answered = pool.run(task)
      if (first) onFirst?.()
      first = false
      const answer = await answered
      source.release(task)
      return answer
    }
    for await (const given of inOrder(source.tasks(), answer, 2 * pool.threads + 1)) {
      context.throwIfInterrupted()
      if (!given.ok) {
        const fault = atSnapshot(Fault.deserialize(given.fault), plan)
        if (settings.dump?.skipBad === true && source.leaveOut(given.index, fault, given.sample)) continue
        faults.push(fault)
        if (fault.exitCode !== EXIT.checkFailed) break
      }
      if (!given.ok || faults.length > 0) continue
      await measuring.take(given)
      source.onTrace(++taken)
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (faults.length === 0 || error.exitCode === EXIT.interrupted) throw atSnapshot(error, plan)
    faults.push(atSnapshot(error, plan))
  }
  if (faults.length > 0) throw new Failures(faults)
  const end = source.end()
  if (end.dump !== null && taken === 0) {
    const { leftOut } = end.dump
    throw atSnapshot(noSampleLeft(leftOut.length, leftOut[0]?.reason ?? null), plan)
  }
  return end
}

/** Adds the file to a fault of a reader of bytes, which does not know it. */
export function atSnapshot(fault: Fault, { html, folder }: SnapshotPlan): Fault {
  return fault.at({ file: html ?? folder })
}
