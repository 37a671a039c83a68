/** A dump without values: its lengths, turns, outcomes and advantages, in place of the analysis of a critic. */
import { lengthsOfSample, sampleStatistics, type SampleRecord } from '../compute/traces/without-critic.js'
import type { Content } from '../schema/outputs/document.js'
import type { SampleStatisticsDocument } from '../schema/outputs/sample-statistics.js'
import { isLeftOut, type Dump } from '../ingest/dumps/contract.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import { writeSamples } from '../render/outputs/samples.js'
import type { HashedFile } from '../schema/study.js'
import { Fault } from '../core/errors.js'
import type { Sample } from '../schema/samples.js'
import { noSampleLeft } from './trace-source.js'
import { originOf } from './context.js'
import type { SnapshotRun } from './snapshot.js'
import type { SnapshotSettings } from './snapshot-work.js'
import { inTransaction, throwIfInterrupted } from './transaction.js'

export interface WithoutCritic {
  readonly statistics: Content<SampleStatisticsDocument>
  readonly inputs: readonly HashedFile[]
  readonly outputs: readonly FileSummary[]
}

/** @param dump closed at the end. @throws as `analyseSnapshot` does */
export async function analyseWithoutCritic(run: SnapshotRun, dump: Dump): Promise<WithoutCritic> {
  const { settings, signal } = run
  try {
    return await inTransaction(run.out, run, async set => {
      const { success_threshold: successThreshold } = settings.traces
      const records: SampleRecord[] = []
      const reasons: string[] = []
      for await (const item of dump.samples(['advantages'])) {
        throwIfInterrupted(signal)
        const record = isLeftOut(item) ? item.reason : lengthsOf(item, settings)
        if (typeof record === 'string') reasons.push(record)
        else records.push(record)
      }
      if (records.length === 0) throw noSampleLeft(reasons.length, reasons[0] ?? null).at({ file: run.plan.folder })
      const statistics = sampleStatistics(records, { facts: dump.facts, leftOut: reasons.length, successThreshold })
      await writeSamples(set, records, statistics, originOf(settings.synthetic, null))
      return { statistics, inputs: dump.inputs }
    })
  } finally {
    await dump.close()
  }
}

/** The record of a sample; text: why it is left out. */
export function lengthsOf(sample: Sample, { traces, dump }: SnapshotSettings): SampleRecord | string {
  try {
    return lengthsOfSample(sample, traces.success_threshold)
  } catch (error) {
    if (dump?.skipBad !== true || !(error instanceof Fault)) throw error
    return new Fault({ ...error.details, place: {} }).message
  }
}
