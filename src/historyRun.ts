/**
 * Training histories, from exports to outputs: runs selected, every history read once, joined, analysed, written. Figures
 * and commit are the caller's.
 *
 *     runs.json ──► select ──► <label>/<run>.jsonl, one after another ──► join ──► statistics, displayed points
 *                                                                          └──► CSV, JSON, Arrow, figures' data
 */
import { join } from 'node:path'
import { analyseHistories, type AnalysedHistories } from './compute/histories/analyse.js'
import type { SelectionHistory } from './compute/histories/contract.js'
import { selectRuns } from './compute/histories/selection.js'
import { readHistory } from './ingest/histories/history.js'
import { readRuns } from './ingest/histories/runs.js'
import type { RunHistory } from './ingest/histories/types.js'
import { requireVerified } from './ingest/verified.js'
import type { OutputSet } from './render/outputs/output-set.js'
import type { HashedFile } from './runRecord.js'
import type { HistoryAnalysis, HistoryStudy } from './schema/histories.js'
import { throwIfInterrupted } from './transaction.js'
import { GENERATOR } from './version.js'

export interface HistoryRun {
  /** the study's folder */
  readonly dir: string
  readonly study: HistoryStudy
  readonly synthetic: boolean
  /** SHA-256 by path relative to the study, as verified before: what is read must be what was verified */
  readonly verified?: ReadonlyMap<string, string>
  readonly chunkBytes?: number
  readonly signal?: AbortSignal
  /** bytes of history read so far */
  readonly onProgress?: (done: number) => void
}

export interface MeasuredHistories extends AnalysedHistories {
  /** relative to the study */
  readonly inputs: readonly HashedFile[]
}

/** Reads and analyses, writes nothing. @throws Fault for what cannot be read or does not fit the study */
export async function readHistories(run: HistoryRun): Promise<MeasuredHistories> {
  const { dir, study } = run
  // 1. Select
  const listed = await readRuns(join(dir, study.runs))
  const inputs: HashedFile[] = [requireVerified(dir, { path: study.runs, sha256: listed.sha256, bytes: listed.bytes }, run.verified)]
  const { chosen } = selectRuns(listed.runs, study)
  // 2. Read: a run of several selections once
  const histories = new Map<string, RunHistory>()
  let done = 0
  for (const runs of chosen.values()) {
    for (const listing of runs) {
      const name = `${listing.label}/${listing.id}`
      if (histories.has(name)) continue
      throwIfInterrupted(run.signal)
      const history = await readHistory(dir, study.folder, listing, study.keys, study.metrics.map(m => m.key), {
        ...(run.signal === undefined ? {} : { signal: run.signal }),
        ...(run.chunkBytes === undefined ? {} : { chunkBytes: run.chunkBytes }),
        onBytes: bytes => {
          done += bytes
          run.onProgress?.(done)
        }
      })
      inputs.push(requireVerified(dir, { path: history.path, sha256: history.sha256, bytes: history.bytes }, run.verified))
      histories.set(name, history)
    }
  }
  // 3. Join and analyse
  return { ...analyseHistories(study, listed.runs, [...histories.values()], run.synthetic), inputs }
}

/** Everything of the histories but their figures, into a set that the caller commits. */
export async function measureHistories(set: OutputSet, run: HistoryRun): Promise<MeasuredHistories> {
  const measured = await readHistories(run)
  await writeHistories(set, run, measured)
  return measured
}

async function writeHistories(set: OutputSet, run: HistoryRun, { selections, analyses }: AnalysedHistories): Promise<void> {
  const [rows, documents, { writeObservationsArrow }, { HISTORY_PATHS }] = await Promise.all([
    import('./render/outputs/history-rows.js'),
    import('./render/outputs/history-documents.js'),
    import('./render/outputs/history-arrow.js'),
    import('./render/outputs/output-names.js')
  ])
  const origin = { synthetic: run.synthetic, generator: GENERATOR }
  for (const { analysis, statistics, displayed } of analyses) {
    throwIfInterrupted(run.signal)
    const { outputs, shared_reference: reference } = analysis
    const table = { histories: ofAnalysis(analysis, selections), metrics: new Set(analysis.metrics) }
    if (outputs.observations !== null) await rows.writeObservations(set, outputs.observations, table)
    if (outputs.all_attempts !== null) await rows.writeAllAttempts(set, outputs.all_attempts, table)
    if (outputs.points !== null) await rows.writePoints(set, outputs.points, displayed)
    if (outputs.time_display !== null) await documents.writeTimeDisplay(set, outputs.time_display, table.histories, origin)
    const metric = run.study.metrics.find(m => m.name === reference?.metric)
    if (reference !== null && metric !== undefined) await documents.writeSharedReference(set, reference, metric, displayed, origin)
    await documents.writeHistoryStatistics(set, outputs.statistics, statistics, origin)
  }
  await rows.writeLineage(set, HISTORY_PATHS.lineage, { histories: [...selections.values()], metrics: null })
  await writeObservationsArrow(set, [...selections.values()], origin)
}

function ofAnalysis(analysis: HistoryAnalysis, selections: AnalysedHistories['selections']): SelectionHistory[] {
  return analysis.selections.flatMap(name => selections.get(name) ?? [])
}
