/** What a batch answers for each snapshot. */
import type { SnapshotStatistics } from '../compute/traces/contract.js'
import type { Fault } from '../core/errors.js'
import type { Content } from '../schema/outputs/document.js'
import type { SampleStatisticsDocument } from '../schema/outputs/sample-statistics.js'
import type { ReadDump } from '../schema/samples.js'
import type { SnapshotPlan } from '../study/inventory.js'
import type { SnapshotOutcome } from './snapshot.js'

export interface SnapshotResult {
  /** null for a path that led to no snapshot */
  readonly plan: SnapshotPlan | null
  readonly status: 'done' | 'unchanged' | 'failed'
  /** null where nothing was computed, and for a dump without values */
  readonly statistics: SnapshotStatistics | null
  /** of a dump without values */
  readonly samples?: Content<SampleStatisticsDocument> | undefined
  /** null where nothing was computed */
  readonly outcome: SnapshotOutcome | null
  /** how a dump with values was read; absent for the other kinds, and where nothing was computed */
  readonly dump?: Pick<ReadDump, 'facts' | 'leftOut'> | null | undefined
  /** whether the explorer's page is there; false: it would be too large; absent: there is nothing to explore */
  readonly explorer?: boolean | undefined
  readonly faults: readonly Fault[]
  /** the snapshot's name in outputs, or the path that led to none */
  readonly source: string
  /**
   * paths in the output folder that an earlier run recorded and this one did not write; they stay, because nothing shows that
   * they are the program's
   */
  readonly left?: readonly string[]
}

export interface BatchCounts {
  readonly done: number
  readonly unchanged: number
  readonly failed: number
}

export function batchCounts(results: readonly SnapshotResult[]): BatchCounts {
  const count = (status: SnapshotResult['status']): number => results.filter(r => r.status === status).length
  return { done: count('done'), unchanged: count('unchanged'), failed: count('failed') }
}
