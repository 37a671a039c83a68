/** A dump without values: its lengths, turns, outcomes and advantages, in place of the analysis of a critic. */
import { sampleRecord, sampleStatistics, type SampleRecord } from '../compute/traces/without-critic.js'
import type { Content } from '../schema/outputs/document.js'
import type { SampleStatisticsDocument } from '../schema/outputs/sample-statistics.js'
import { isLeftOut, type Dump } from '../ingest/dumps/contract.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import { writeSamples } from '../render/outputs/samples.js'
import type { HashedFile } from '../schema/study.js'
import { originOf } from './context.js'
import type { SnapshotRun } from './snapshot.js'
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
      let leftOut = 0
      for await (const item of dump.samples(['advantages'])) {
        throwIfInterrupted(signal)
        if (isLeftOut(item)) leftOut++
        else records.push(sampleRecord(item, successThreshold))
      }
      const statistics = sampleStatistics(records, { facts: dump.facts, leftOut, successThreshold })
      await writeSamples(set, records, statistics, originOf(settings.synthetic, null))
      return { statistics, inputs: dump.inputs }
    })
  } finally {
    await dump.close()
  }
}
