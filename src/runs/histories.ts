/**
 * Training histories, from exports to outputs: runs are selected, every history is read once, joined, analysed and written.
 * The caller draws the figures and commits.
 *
 *     runs.json ──► select ──► <label>/<run>.jsonl, one after another ──► join ──► statistics
 *                                                                          └──► CSV, JSON, Arrow, figures' data
 *
 * Memory holds the joined curves and one displayed curve. The signal is checked every few thousand rows.
 */
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
import { STUDY_FILE } from '../study/label.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { Done, RunContext } from './context.js'
import type { HashedFile } from '../schema/study.js'
import type { HistoryAnalysis, HistoryStudy } from '../schema/histories.js'

export interface MeasuredHistories extends AnalysedHistories {
  /** the list of runs */
  readonly list: HashedFile
  /** every history that was read, in the order of reading; each selection names its own */
  readonly files: readonly HashedFile[]
}

/**
 * Reads and analyses, writes nothing.
 *
 * @param onBytes takes the bytes of history read so far
 * @throws Fault for what cannot be read or does not fit the study
 */
export async function readHistories(context: RunContext, study: HistoryStudy, onBytes?: Done): Promise<MeasuredHistories> {
  // 1. Select
  const listed = await readRuns(context.place(study.runs))
  const list = context.require({ path: study.runs, sha256: listed.sha256, bytes: listed.bytes })
  const runs = listed.runs.map(listing => withAllowedConfig(listing, study.config))
  const { chosen } = await atStudyFile(context, () => selectRuns(runs, study))
  // 2. Read: a run of several selections once
  const histories = await readAll(context, study, chosen.values(), onBytes)
  const files = Array.from(histories.values(), history => history.file)
  // 3. Join and analyse
  let parts = 0
  const onPart = context.progress.onAnalysis?.()
  const checkpoint: Checkpoint = async () => {
    onPart?.(++parts)
    await context.turn()
  }
  return atStudyFile(context, async () => {
    const joined = await inTurns(joinHistories(study, runs, histories.values()), checkpoint)
    // The curves hold what is needed of the rows. The rows would take as much memory again.
    histories.clear()
    return { ...(await inTurns(analyseHistories(study, joined), checkpoint)), list, files }
  })
}

/** The run with the settings that the study allows; the others are counted. */
function withAllowedConfig(run: ListedRun, allowed: readonly string[]): ListedRun {
  const { config, withheld, unnamed } = allowedConfig(run.config, allowed)
  return { ...run, config, leftOut: { unnamed, withheld: withheld.length + (run.leftOut?.withheld ?? 0) } }
}

/** Reads every chosen history once. Keys are `<label>/<run id>`. */
async function readAll(
  context: RunContext,
  study: HistoryStudy,
  chosen: Iterable<readonly ListedRun[]>,
  onBytes: Done | undefined
): Promise<Map<string, RunHistory>> {
  const { dir, signal, chunkBytes } = context
  const histories = new Map<string, RunHistory>()
  let done = 0
  for (const runs of chosen) {
    for (const listing of runs) {
      const name = `${listing.label}/${listing.id}`
      if (histories.has(name)) continue
      context.throwIfInterrupted()
      const history = await readHistory(
        dir,
        study.folder,
        listing,
        study.keys,
        study.metrics.map(m => m.key),
        {
          signal,
          chunkBytes,
          onBytes: bytes => {
            done += bytes
            onBytes?.(done)
          }
        }
      )
      context.require(history.file)
      histories.set(name, history)
    }
  }
  return histories
}

/** Adds the place to faults of `compute/`, which knows neither the study's file nor its folder. */
async function atStudyFile<T>(context: RunContext, compute: () => T | Promise<T>): Promise<T> {
  try {
    return await compute()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { format, place } = error.details
    if (format === 'study') throw error.at({ file: context.place(STUDY_FILE) })
    throw place?.file === undefined ? error : new Fault({ ...error.details, place: { ...place, file: context.place(place.file) } })
  }
}

/** Reads, analyses and writes the histories, without their figures, into a set that the caller commits. */
export async function measureHistories(
  context: RunContext,
  study: HistoryStudy,
  set: OutputSet,
  onBytes?: Done
): Promise<MeasuredHistories> {
  const measured = await readHistories(context, study, onBytes)
  await writeHistories(context, study, set, measured)
  return measured
}

/** The data of the study's figures, one figure at a time. */
export async function* figureData(
  context: RunContext,
  study: HistoryStudy,
  { selections }: AnalysedHistories
): AsyncGenerator<CurveFigureData, void, undefined> {
  for (const request of study.figures) {
    yield await inTurns(curveFigureData(request, study, selections, context.origin.synthetic), () => context.turn())
  }
}

async function writeHistories(
  context: RunContext,
  study: HistoryStudy,
  set: OutputSet,
  { selections, analyses }: AnalysedHistories
): Promise<void> {
  const [rows, documents, { writeObservationsArrow }, { PointsArrowWriter }, { HISTORY_PATHS }] = await Promise.all([
    import('../render/outputs/history-rows.js'),
    import('../render/outputs/history-documents.js'),
    import('../render/outputs/history-arrow.js'),
    import('../render/outputs/points-arrow.js'),
    import('../render/outputs/output-names.js')
  ])
  const { origin } = context
  let written = 0
  const onWritten = context.progress.onWriting?.()
  const onRows = async (count: number): Promise<void> => {
    written += count
    onWritten?.(written)
    await context.turn()
  }
  const isDrawn = new Set(study.figures.map(figure => figure.analysis))
  const withPoints = analyses.map(({ analysis }) => analysis).filter(({ name, outputs }) => outputs.points !== null || isDrawn.has(name))
  const pointsArrow = withPoints.length === 0 ? null : await PointsArrowWriter.open(set, withPoints, selections, origin)
  for (const { analysis, statistics } of analyses) {
    const { outputs, shared_reference: reference } = analysis
    const table = { histories: ofAnalysis(analysis, selections), metrics: new Set(analysis.metrics) }
    if (outputs.observations !== null) await rows.writeObservations(set, outputs.observations, table, origin, onRows)
    if (outputs.all_attempts !== null) await rows.writeAllAttempts(set, outputs.all_attempts, table, origin, onRows)
    if (pointsArrow !== null && withPoints.includes(analysis)) {
      const curves = pointsArrow.passing(analysis.name, displayed(context, study, analysis, selections), onRows)
      if (outputs.points === null) for await (const _curve of curves);
      else await rows.writePoints(set, outputs.points, curves, origin, onRows)
    }
    if (outputs.time_display !== null) await documents.writeTimeDisplay(set, outputs.time_display, table.histories, origin)
    const metric = study.metrics.find(m => m.name === reference?.metric)
    if (reference !== null && metric !== undefined) {
      const sha256 = context.verifiedHash(STUDY_FILE)
      const drawnFor = drawnWithReference(analysis, reference, selections)
      await documents.writeSharedReference(
        set,
        reference,
        metric,
        drawnFor,
        origin,
        sha256 === undefined ? null : { file: STUDY_FILE, sha256 }
      )
    }
    await documents.writeHistoryStatistics(set, outputs.statistics, statistics, origin)
    await context.turn()
  }
  await pointsArrow?.finish()
  await rows.writeLineage(set, HISTORY_PATHS.lineage, { histories: [...selections.values()], metrics: null }, origin, onRows)
  await writeObservationsArrow(set, [...selections.values()], origin, onRows)
}

async function* displayed(
  context: RunContext,
  study: HistoryStudy,
  analysis: HistoryAnalysis,
  selections: AnalysedHistories['selections']
): AsyncGenerator<DisplayedCurve, void, undefined> {
  for (const place of curvePlaces(analysis)) {
    yield await inTurns(displayedCurve(analysis, study.metrics, selections, place), () => context.turn())
  }
}

function ofAnalysis(analysis: HistoryAnalysis, selections: AnalysedHistories['selections']): SelectionHistory[] {
  return analysis.selections.flatMap(name => selections.get(name) ?? [])
}
