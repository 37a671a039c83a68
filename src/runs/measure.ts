/**
 * The traces of a snapshot, measured in the threads of the pool and handed on in canonical order: with their columns, with
 * their records for the diagnostics, or with both. No token is read twice.
 */
import type { SourcedRecord } from '../compute/diagnostics/reduce.js'
import { inOrder } from '../compute/traces/ordered.js'
import type { PageWanted } from '../compute/traces/page-blocks.js'
import type { TraceAnswer, TraceTask, TraceWanted } from '../compute/traces/trace-task.js'
import { EXIT, Failures, Fault } from '../core/errors.js'
import type { SnapshotPlan } from '../study/inventory.js'
import type { Done, RunContext } from './context.js'
import type { SnapshotWork } from './snapshot-work.js'
import { noSampleLeft, type SourceEnd, type TraceSource } from './trace-source.js'
import { openTraceSource } from './trace-sources.js'

export type AnsweredTrace = Extract<TraceAnswer, { ok: true }>

export interface Measuring {
  readonly wanted: TraceWanted
  readonly onProgress: Done | undefined
  /** a free buffer for the columns of a later trace; null: there is none */
  readonly room?: () => SharedArrayBuffer | null
  /** what the explorer's page wants of a trace that is begun; default: nothing */
  readonly page?: () => PageWanted | null
  /** called when the first trace is under way */
  readonly onFirst?: () => void
  /** takes a trace, in canonical order; after a first failed check none, but every trace is still checked */
  take(trace: AnsweredTrace): Promise<void> | void
}

/** A fault with the canonical position of its trace; null: one of the source, behind those of its traces. */
export interface TraceFault {
  readonly index: number | null
  readonly fault: Fault
}

export interface Measured {
  /** number of traces that were taken */
  readonly taken: number
  /** in canonical order, up to the first that is no failed check */
  readonly faults: readonly TraceFault[]
  /** null where there are faults */
  readonly end: SourceEnd | null
}

/** @throws Failures with every trace that fails a check, or the Fault that stopped the run */
export async function measureTraces(context: RunContext, work: SnapshotWork, measuring: Measuring): Promise<SourceEnd> {
  return requireMeasured(await measureEach(context, work, measuring), work.plan)
}

/** @throws Failures with the faults, or the Fault of a dump without any trace */
export function requireMeasured({ taken, faults, end }: Measured, plan: SnapshotPlan): SourceEnd {
  if (end === null) throw faults.length === 1 && faults[0].index === null ? faults[0].fault : new Failures(faults.map(({ fault }) => fault))
  if (end.dump !== null && taken === 0) {
    const { leftOut } = end.dump
    throw atSnapshot(noSampleLeft(leftOut.length, leftOut[0]?.reason ?? null), plan)
  }
  return end
}

/** The record of a trace; empty where none was wanted. */
export function recordsOf({ record, sample: source }: AnsweredTrace): SourcedRecord[] {
  return record === null ? [] : [{ record, source }]
}

/** The same with faults as data: a part of a snapshot may have none of its traces. @throws Fault where it was interrupted */
export async function measureEach(context: RunContext, work: SnapshotWork, measuring: Measuring): Promise<Measured> {
  const { plan, settings, pool } = work
  const { wanted, onProgress, room = () => null, page, onFirst } = measuring
  const faults: TraceFault[] = []
  let taken = 0
  let source: TraceSource | null = null
  try {
    const opened = await openTraceSource(context, work, { wanted, room, page, onProgress })
    source = opened
    let first = true
    const answer = async (task: TraceTask): Promise<TraceAnswer> => {
      const answered = pool.run(task)
      if (first) onFirst?.()
      first = false
      const answer = await answered
      opened.release(task)
      return answer
    }
    for await (const given of inOrder(opened.tasks(), answer, 2 * pool.threads + 1)) {
      context.throwIfInterrupted()
      if (!given.ok) {
        const fault = atSnapshot(Fault.deserialize(given.fault), plan)
        if (settings.dump?.skipBad === true && opened.leaveOut(given.index, fault, given.sample)) continue
        faults.push({ index: given.index, fault })
        if (fault.exitCode !== EXIT.checkFailed) break
      }
      if (!given.ok || faults.length > 0) continue
      await measuring.take(given)
      opened.onTrace(++taken)
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.exitCode === EXIT.interrupted) throw atSnapshot(error, plan)
    faults.push({ index: null, fault: atSnapshot(error, plan) })
  }
  return { taken, faults, end: source === null || faults.length > 0 ? null : source.end() }
}

/** Adds the file to a fault of a reader of bytes, which does not know it. */
export function atSnapshot(fault: Fault, { html, folder }: SnapshotPlan): Fault {
  return fault.at({ file: html ?? folder })
}
