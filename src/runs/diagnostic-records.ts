/** The records of one snapshot or dump, and nothing else of it: what `diagnose` needs. */
import type { SourcedRecord } from '../compute/diagnostics/reduce.js'
import type { TraceResult } from '../compute/traces/contract.js'
import { labelFaults } from '../compute/traces/expectations.js'
import type { TraceWanted } from '../compute/traces/trace-task.js'
import { Failures } from '../core/errors.js'
import type { DumpFacts, LeftOut } from '../schema/samples.js'
import type { HashedFile } from '../schema/study.js'
import type { Done, RunContext } from './context.js'
import { atSnapshot, measureTraces, recordsOf } from './measure.js'
import type { RecordSpill } from './record-spill.js'
import { inRun, snapshotInputs, whatSaysSynthetic } from './snapshot.js'
import type { SnapshotWork } from './snapshot-work.js'

export interface RecordOptions {
  readonly record: NonNullable<TraceWanted['record']>
  /** takes what is large of many records out of memory */
  readonly spill: RecordSpill
  readonly onProgress?: Done | undefined
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
export async function snapshotRecords(context: RunContext, work: SnapshotWork, options: RecordOptions): Promise<SnapshotRecords> {
  const records: SourcedRecord[] = []
  const results: TraceResult[] = []
  const { header, html, dump } = await measureTraces(context, work, {
    wanted: { columns: false, record: options.record },
    onProgress: options.onProgress,
    take(trace) {
      records.push(...recordsOf(trace, bytes => options.spill.take(bytes)))
      if (trace.result !== null) results.push(trace.result)
    }
  })
  const inputs = snapshotInputs(work.plan, { html, dump, results })
  const changed = inputs.map(inRun(context, work.plan)).flatMap(file => context.verifiedFault(file) ?? [])
  const labelledBy = whatSaysSynthetic({ header, results })
  const { plan, settings } = work
  const failures = [...changed, ...labelFaults(settings, labelledBy).map(fault => atSnapshot(fault, plan))]
  if (failures.length > 0) throw new Failures(failures)
  const { facts = null, leftOut = [] } = dump ?? {}
  return { records, inputs, facts, leftOut, synthetic: labelledBy !== null }
}
