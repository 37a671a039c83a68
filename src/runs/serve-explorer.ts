/**
 * The explorer of snapshots too large for a page: read as for the page, but tokens and texts go to a file without a name, of which the
 * server reads what is in view.
 */
import { tmpdir } from 'node:os'
import { GENERATOR } from '../core/version.js'
import type { TextCounts } from '../render/explorer/collector.js'
import { servedPage } from '../render/explorer/page.js'
import { readTraces, type ExploredTraces, type ExploreRun } from './explore.js'
import type { ServedExplorer } from './explorer-server.js'
import { ServedTraces } from './served-traces.js'
import { SpillFile } from './spill-file.js'

export interface ServedRun {
  readonly explorer: ServedExplorer
  readonly snapshots: readonly ExploredTraces[]
  readonly texts: TextCounts
  /** gives the disk back */
  close(): void
}

/** @throws Failures, or the one Fault that stopped the run; nothing is left then */
export async function readServed(run: Omit<ExploreRun, 'out'>): Promise<ServedRun> {
  const { plans, settings, texts } = run
  const dir = tmpdir()
  const file = new SpillFile(dir)
  try {
    const served: ServedTraces[] = []
    const snapshots: ExploredTraces[] = []
    for (const plan of plans) {
      const traces = new ServedTraces(file, settings.traces.jump_threshold, texts)
      snapshots.push(await readTraces({ ...run, out: dir }, plan, traces))
      served.push(traces)
    }
    const html = servedPage({ generator: GENERATOR, texts, snapshots })
    const counts = served.map(({ textCounts }) => textCounts)
    const sum = (name: keyof TextCounts): number => counts.reduce((all, each) => all + each[name], 0)
    const textCounts = { none: sum('none'), noRoom: sum('noRoom'), withheld: sum('withheld') }
    return { explorer: { html, snapshots: served }, snapshots, texts: textCounts, close: () => file.close() }
  } catch (error) {
    file.close()
    throw error
  }
}
