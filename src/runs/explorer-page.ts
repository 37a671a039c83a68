/** The explorer of a snapshot's traces, `preview/traces.html`, beside its other outputs. */
import type { SnapshotStatistics } from '../compute/traces/contract.js'
import type { ExplorerCollector } from '../render/explorer/collector.js'
import { writeExplorerPage } from '../render/explorer/page.js'
import type { Generator } from '../render/outputs/output-names.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { SnapshotPlan } from '../study/inventory.js'

export interface ExploredSnapshot {
  readonly plan: SnapshotPlan
  readonly statistics: SnapshotStatistics
  readonly explored: ExplorerCollector
  /** HTML of the diagnosis of its critic; null: not made */
  readonly diagnostics: string | null
}

/** Writes the page, or nothing where it would be too large. */
export async function writeTracesPage(
  set: OutputSet,
  generator: Generator,
  { plan, statistics, explored, diagnostics }: ExploredSnapshot
): Promise<void> {
  if (explored.budget.isOver) return
  const { synthetic, snapshot_time: snapshotTime } = statistics
  const snapshot = explored.overview.snapshot({ name: plan.name, synthetic, snapshotTime })
  await writeExplorerPage(set, { generator, texts: explored.texts, snapshots: [{ snapshot, blocks: explored.blocks, diagnostics }] })
}
