/**
 * Training histories, from exports to outputs: runs selected, every history read once, joined, analysed, written. Figures
 * and commit are the caller's.
 *
 *     runs.json ──► select ──► <label>/<run>.jsonl, one after another ──► join ──► statistics
 *                                                                          └──► CSV, JSON, Arrow, figures' data
 *
 * Memory is the joined curves and one displayed curve; a signal is looked at every few thousand rows.
 */
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { analyseHistories, joinHistories, type AnalysedHistories } from '../compute/histories/analyse.js'
import type { CurveFigureData, DisplayedCurve, SelectionHistory } from '../compute/histories/contract.js'
import { curvePlaces, displayedCurve, drawnWithReference } from '../compute/histories/display.js'
import { curveFigureData } from '../compute/histories/figures.js'
import { selectRuns } from '../compute/histories/selection.js'
import { inTurns, type Checkpoint } from '../compute/histories/work.js'
import { Fault } from '../core/errors.js'
import { readHistory } from '../ingest/histories/history.js'
import { allowedConfig } from '../ingest/config/allowed.js'
import { readRuns } from '../ingest/histories/runs.js'
import type { ListedRun, RunHistory } from '../ingest/histories/types.js'
import { STUDY_FILE } from '../study/study.js'
import { requireVerified } from '../core/verified.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { HashedFile } from './record.js'
import type { VerifiedManifest } from '../schema/study.js'
import type { HistoryAnalysis, HistoryStudy } from '../schema/histories.js'
import { throwIfInterrupted } from './transaction.js'
import { GENERATOR } from '../core/version.js'

export interface HistoryRun {
  /** the study's folder */
  readonly dir: string
  readonly study: HistoryStudy
  readonly synthetic: boolean
  /** SHA-256 by path relative to the study, as verified before: what is read must be what was verified */
  readonly verified?: ReadonlyMap<string, string>
  /** what the inputs were verified against; default: nothing */
  readonly manifest?: VerifiedManifest
  readonly chunkBytes?: number
  readonly signal?: AbortSignal
  /** bytes of history read so far */
  readonly onProgress?: (done: number) => void
  /** everything is read; answers what takes the parts of the analysis done so far */
  readonly onAnalysis?: () => (done: number) => void
  /** everything is analysed; answers what takes the rows written so far */
  readonly onWriting?: () => (done: number) => void
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
  const runs = listed.runs.map(listing => withAllowedConfig(listing, study.config ?? []))
  const { chosen } = await located(dir, () => selectRuns(runs, study))
  // 2. Read: a run of several selections once
  const histories = await readAll(run, chosen.values(), inputs)
  // 3. Join and analyse
  let parts = 0
  const onPart = run.onAnalysis?.()
  const checkpoint: Checkpoint = async () => {
    onPart?.(++parts)
    await turn(run.signal)
  }
  return located(dir, async () => {
    const joined = await inTurns(joinHistories(study, runs, histories.values()), checkpoint)
    // The curves hold what is wanted of the rows, which take as much memory again.
    histories.clear()
    return { ...await inTurns(analyseHistories(study, joined), checkpoint), inputs }
  })
}

/** What of a run's settings may leave; the rest is counted. */
function withAllowedConfig(run: ListedRun, allowed: readonly string[]): ListedRun {
  const { config, withheld, unnamed } = allowedConfig(run.config, allowed)
  return { ...run, config, leftOut: { unnamed, withheld: withheld.length + (run.leftOut?.withheld ?? 0) } }
}

/** By `<label>/<run id>`. What was read is added to `inputs`. */
async function readAll(
  run: HistoryRun, chosen: Iterable<readonly ListedRun[]>, inputs: HashedFile[]
): Promise<Map<string, RunHistory>> {
  const { dir, study } = run
  const histories = new Map<string, RunHistory>()
  let done = 0
  for (const runs of chosen) {
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
  return histories
}

/** Lets the event loop turn, in which alone a signal is heard. */
async function turn(signal: AbortSignal | undefined): Promise<void> {
  await setImmediate()
  throwIfInterrupted(signal)
}

/** Compute knows neither the study's file nor its folder: its faults get them here. */
async function located<T>(dir: string, compute: () => T | Promise<T>): Promise<T> {
  try {
    return await compute()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { format, place } = error.details
    if (format === 'study') throw error.at({ file: join(dir, STUDY_FILE) })
    throw place?.file === undefined ? error : new Fault({ ...error.details, place: { ...place, file: join(dir, place.file) } })
  }
}

/** Everything of the histories but their figures, into a set that the caller commits. */
export async function measureHistories(set: OutputSet, run: HistoryRun): Promise<MeasuredHistories> {
  const measured = await readHistories(run)
  await writeHistories(set, run, measured)
  return measured
}

/** What the study's figures draw, one figure at a time. */
export async function* figureData(
  { study, synthetic, signal }: Pick<HistoryRun, 'study' | 'synthetic' | 'signal'>, { selections }: AnalysedHistories
): AsyncGenerator<CurveFigureData, void, undefined> {
  for (const request of study.figures) {
    yield await inTurns(curveFigureData(request, study, selections, synthetic), () => turn(signal))
  }
}

async function writeHistories(set: OutputSet, run: HistoryRun, { selections, analyses }: AnalysedHistories): Promise<void> {
  const [rows, documents, { writeObservationsArrow }, { PointsArrowWriter }, { HISTORY_PATHS }] = await Promise.all([
    import('../render/outputs/history-rows.js'),
    import('../render/outputs/history-documents.js'),
    import('../render/outputs/history-arrow.js'),
    import('../render/outputs/points-arrow.js'),
    import('../render/outputs/output-names.js')
  ])
  const origin = { synthetic: run.synthetic, manifest: run.manifest ?? null, generator: GENERATOR }
  let written = 0
  const onWritten = run.onWriting?.()
  const onRows = async (count: number): Promise<void> => {
    onWritten?.(written += count)
    await turn(run.signal)
  }
  const withPoints = analyses.map(({ analysis }) => analysis).filter(({ outputs }) => outputs.points !== null)
  const pointsArrow = withPoints.length === 0 ? null : await PointsArrowWriter.open(set, withPoints, selections, origin)
  for (const { analysis, statistics } of analyses) {
    const { outputs, shared_reference: reference } = analysis
    const table = { histories: ofAnalysis(analysis, selections), metrics: new Set(analysis.metrics) }
    if (outputs.observations !== null) await rows.writeObservations(set, outputs.observations, table, origin, onRows)
    if (outputs.all_attempts !== null) await rows.writeAllAttempts(set, outputs.all_attempts, table, origin, onRows)
    if (outputs.points !== null && pointsArrow !== null) {
      const curves = pointsArrow.passing(analysis.name, displayed(run, analysis, selections), onRows)
      await rows.writePoints(set, outputs.points, curves, origin, onRows)
    }
    if (outputs.time_display !== null) await documents.writeTimeDisplay(set, outputs.time_display, table.histories, origin)
    const metric = run.study.metrics.find(m => m.name === reference?.metric)
    if (reference !== null && metric !== undefined) {
      const sha256 = run.verified?.get(STUDY_FILE)
      const drawnFor = drawnWithReference(analysis, reference, selections)
      await documents.writeSharedReference(set, reference, metric, drawnFor, origin, sha256 === undefined ? null : { file: STUDY_FILE, sha256 })
    }
    await documents.writeHistoryStatistics(set, outputs.statistics, statistics, origin)
    await turn(run.signal)
  }
  await pointsArrow?.finish()
  await rows.writeLineage(set, HISTORY_PATHS.lineage, { histories: [...selections.values()], metrics: null }, origin, onRows)
  await writeObservationsArrow(set, [...selections.values()], origin, onRows)
}

async function* displayed(
  { study, signal }: HistoryRun, analysis: HistoryAnalysis, selections: AnalysedHistories['selections']
): AsyncGenerator<DisplayedCurve, void, undefined> {
  for (const place of curvePlaces(analysis)) {
    yield await inTurns(displayedCurve(analysis, study.metrics, selections, place), () => turn(signal))
  }
}

function ofAnalysis(analysis: HistoryAnalysis, selections: AnalysedHistories['selections']): SelectionHistory[] {
  return analysis.selections.flatMap(name => selections.get(name) ?? [])
}
