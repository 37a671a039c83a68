/**
 * One snapshot, from bytes to outputs.
 *
 *     page bytes ──► DataElement ──► TraceSlicer ──► pool: parse, verify, measure ──► in canonical order
 *      (sha256)       script#data      one trace               (threads)                     │
 *                                                            ┌───────────────┬───────────────┤
 *                                                            ▼               ▼               ▼
 *                                                     columns, archive   examples    pooled statistics ──► checks
 *                                                            └───────────────┴──► figure, documents ──► commit
 *
 * Phases: 1 measure every trace and stream its columns out, 2 pool, 3 check, 4 write. The caller draws the figures and
 * commits: all outputs or none.
 */
import { basename, join } from 'node:path'
import type { SourcedRecord } from '../compute/diagnostics/reduce.js'
import type { CriticTraceFigureData, SnapshotStatistics, TraceColumns, TraceResult } from '../compute/traces/contract.js'
import { ExampleCollector, type ChosenExamples } from '../compute/traces/examples.js'
import type { CheckReport } from '../compute/traces/expectations.js'
import { Failures, Fault } from '../core/errors.js'
import { amountOf, type SnapshotPlan } from '../study/inventory.js'
import type { HashedFile, VerifiedManifest } from '../schema/study.js'
import type { ReadDump } from '../schema/samples.js'
import type { FigureFile } from '../render/figures/config.js'
import type { ExcludedNpz } from '../render/outputs/documents.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import { ExplorerCollector, PageBudget } from '../render/explorer/collector.js'
import type { TokenMetadata } from '../render/outputs/token-metadata.js'
import { originOf, RunContext, type Done } from './context.js'
import { inTransaction } from './transaction.js'
import { atSnapshot, measureTraces, recordsOf } from './measure.js'
import type { SourceEnd } from './trace-source.js'
import type { SnapshotWork, TokenTables } from './snapshot-work.js'

/** A snapshot without a study: the run's folder is its own. */
export interface SnapshotRun extends SnapshotWork {
  /** what the inputs were verified against; default: nothing */
  readonly manifest?: VerifiedManifest | undefined
  /** SHA-256 by path relative to the snapshot's folder, as verified before. A file that is read must have it. */
  readonly verified?: ReadonlyMap<string, string> | undefined
  readonly chunkBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** bytes of the page read so far, or NPZ files measured */
  readonly onProgress?: Done | undefined
  readonly out: string
  readonly formats: readonly FigureFile[]
  /** called when everything is written and before anything takes its place */
  readonly beforeCommit?: (() => Promise<void>) | undefined
}

export interface MeasuredSnapshot {
  readonly statistics: SnapshotStatistics
  readonly checks: readonly CheckReport[]
  readonly html: HashedFile | null
  /** null for a page and for NPZ files */
  readonly dump: ReadDump | null
  readonly results: readonly TraceResult[]
  readonly excluded: readonly ExcludedNpz[]
  /** data of Figure 8 */
  readonly figure: CriticTraceFigureData
}

/** With the records of the diagnostics: one a trace where the work asks for them, in canonical order. */
export interface RecordedSnapshot extends MeasuredSnapshot {
  readonly records: readonly SourcedRecord[]
  readonly explored: ExplorerCollector
}

export interface SnapshotOutcome extends Omit<MeasuredSnapshot, 'figure'> {
  readonly outputs: readonly FileSummary[]
}

/** @throws Failures, or the one Fault that stopped the run; no output is touched then. */
export async function analyseSnapshot(run: SnapshotRun): Promise<SnapshotOutcome> {
  const { plan, settings, pool, formats, manifest = null, verified, signal, onProgress, chunkBytes } = run
  const context = new RunContext({
    dir: plan.folder,
    origin: originOf(settings.synthetic, manifest),
    verified,
    signal,
    chunkBytes,
    progress: { onSnapshot: onProgress && (async () => onProgress) }
  })
  return inTransaction(run.out, run, async set => {
    const { records: _, explored, ...measured } = await measureSnapshot(context, run, set)
    const { writeTracesPage } = await import('./explorer-page.js')
    await writeTracesPage(set, context.origin.generator, { plan, explored, statistics: measured.statistics, diagnostics: null })
    return drawnSnapshot(context, set, measured, { formats, threads: pool.threads })
  })
}

/** Draws the figure. The arrays of the examples are released here, because a batch keeps its outcomes. */
export async function drawnSnapshot(
  context: RunContext,
  set: OutputSet,
  { figure, ...measured }: MeasuredSnapshot,
  { formats, threads }: { readonly formats: readonly FigureFile[]; readonly threads: number }
): Promise<Omit<MeasuredSnapshot, 'figure'>> {
  if (formats.length > 0) {
    const { drawFigures, planFigures } = await import('./drawing.js')
    await drawFigures(context, set, await planFigures({ criticTraces: figure }, formats), { formats, threads, manifest: null })
  }
  return measured
}

/** Measures and writes a snapshot, without its figures, into a set that the caller commits. */
export async function measureSnapshot(context: RunContext, work: SnapshotWork, set: OutputSet): Promise<RecordedSnapshot> {
  const onProgress = await context.progress.onSnapshot?.(work.plan)
  try {
    // 1. Measure
    const streams = openStreams(set, work.settings.tables)
    const explored = await openCollector(work)
    const measured = await streamTraces(context, work, { streams, explored }, onProgress)
    const finished = await finishSnapshot(context, work, measured, { set, finishTokens: metadata => streams.finish(metadata) })
    return { ...finished, records: measured.records, explored }
  } catch (error) {
    throw error instanceof Fault ? atSnapshot(error, work.plan) : error
  }
}

/** What was measured of all traces of a snapshot, whoever measured them. */
export interface MeasuredTraces extends Pick<SourceEnd, 'header' | 'html' | 'dump'> {
  /** canonical order */
  readonly results: readonly TraceResult[]
  readonly examples: ChosenExamples
}

export interface Finishing {
  readonly set: OutputSet
  /** ends the tables of tokens; default: there are none */
  readonly finishTokens?: (metadata: TokenMetadata) => Promise<void>
  /** NPZ files beside the page that it does not name; default: they are read now */
  readonly excluded?: (named: ReadonlySet<string>) => readonly ExcludedNpz[]
}

/** The phases behind the measuring. @throws Failures with the checks that fail */
export async function finishSnapshot(
  context: RunContext,
  { plan, settings }: Pick<SnapshotWork, 'plan' | 'settings'>,
  measured: MeasuredTraces,
  { set, finishTokens, excluded: excludedOf }: Finishing
): Promise<MeasuredSnapshot> {
  // 2. Pool
  const { results, header, html, dump, examples } = measured
  const { snapshotStatistics, expectations, excludedFiles, documents, writeTrajectories } = await loadLastSteps()
  const named = new Set(results.flatMap(r => r.npz?.path ?? []))
  const excluded = excludedOf?.(named) ?? excludedFiles(plan, named, settings.traces.keys)
  const marker = settings.expectations.boundary_end_marker
  const labelledBy = whatSaysSynthetic(measured)
  const origin = { ...context.origin, synthetic: context.origin.synthetic || labelledBy !== null }
  const statistics = snapshotStatistics(results, {
    synthetic: origin.synthetic,
    source: plan.kind,
    snapshotTime: header.snapshotTime,
    threshold: settings.traces.jump_threshold,
    successThreshold: settings.traces.success_threshold,
    examples,
    endMarker: marker
  })
  const { verified } = statistics
  // 3. Check
  const checks = expectations.checkExpectations(results, statistics, settings, labelledBy)
  const failures = [
    ...expectations.failuresOf(checks),
    ...changedSinceVerified(context, snapshotInputs(plan, measured).map(inRun(context, plan)))
  ]
  if (failures.length > 0) throw new Failures(failures.map(f => atSnapshot(atTrace(f, plan, results), plan)))
  // 4. Write
  const writeDocuments = async (): Promise<void> => {
    await documents.writeTraceIndex(
      set,
      { verified, html, dump, snapshotTime: header.snapshotTime, alignment: header.alignment, traces: results, excluded },
      origin
    )
    await documents.writeBoundaryAudit(set, { htmlSha256: html?.sha256 ?? null, endMarker: marker, traces: results }, origin)
    await documents.writeStatistics(set, statistics, origin)
    await writeTrajectories(set, { traces: results, page: html?.path ?? null }, origin)
  }
  await Promise.all([finishTokens?.({ ...origin, verified, snapshotTime: header.snapshotTime }), writeDocuments()])
  return { statistics, checks, html, dump, results, excluded, figure: figureData({ plan, settings }, statistics, results, examples) }
}

/** Modules that are needed after the last trace. They are asked for at the first one too, to load while the workers are busy. */
async function loadLastSteps() {
  const [{ snapshotStatistics }, expectations, { excludedFiles }, documents, { writeTrajectories }] = await Promise.all([
    import('../compute/traces/pooled.js'),
    import('../compute/traces/expectations.js'),
    import('../study/excluded.js'),
    import('../render/outputs/documents.js'),
    import('../render/outputs/trajectories.js')
  ])
  return { snapshotStatistics, expectations, excludedFiles, documents, writeTrajectories }
}

/** What in the snapshot says that it was generated: the page, or the path of the first NPZ file that says so; null: nothing. */
export function whatSaysSynthetic({ header, results }: Pick<MeasuredTraces, 'header' | 'results'>): string | null {
  return header.synthetic ? 'the page' : (results.find(r => r.synthetic)?.npz?.path ?? null)
}

interface Streams {
  /** Begins to open the outputs. If that fails, the first write throws the error. */
  prepare(): void
  /** Takes the columns over. When they are written, `room` returns their buffer. */
  write(result: TraceResult, columns: TraceColumns): Promise<void>
  /** a free buffer for the columns of a later trace; null: there is none */
  room(): SharedArrayBuffer | null
  finish(meta: TokenMetadata): Promise<void>
}

const MAX_WRITES_UNDER_WAY = 2

/** What `all` and `traces` embed in the explorer's page at most: above it they say how to look. */
const BESIDE_OUTPUTS = { tokens: 2_000_000, bytes: 24_000_000, textBytes: 12_000_000 }

/** Bytes of a page or dump behind which no block is made: a large run would make those of two million tokens for nothing. */
const LARGE_INPUT = 100_000_000

async function openCollector({ plan, settings, pageTexts = false }: SnapshotWork): Promise<ExplorerCollector> {
  const budget = new PageBudget(BESIDE_OUTPUTS)
  const { total, unit } = await amountOf(plan)
  if (unit === 'bytes' && total !== null && total > LARGE_INPUT) budget.refuse()
  return new ExplorerCollector(settings.traces.jump_threshold, budget, pageTexts)
}

/** A file that takes every trace. */
interface TokenWriter {
  write(trace: number, columns: TraceColumns): Promise<unknown>
  finish(metadata: TokenMetadata): Promise<FileSummary>
}

/** In the order in which the record lists them. */
async function openWriters(set: OutputSet, { arrow, parquet }: TokenTables): Promise<TokenWriter[]> {
  const [{ TraceArchiveWriter }, arrowModule, parquetModule] = await Promise.all([
    import('../render/outputs/archive.js'),
    arrow ? import('../render/outputs/arrow.js') : null,
    parquet ? import('../render/outputs/token-parquet.js') : null,
    loadLastSteps()
  ])
  const writers: TokenWriter[] = []
  if (arrowModule !== null) writers.push(await arrowModule.ArrowTraceWriter.open(set))
  writers.push(await TraceArchiveWriter.open(set))
  if (parquetModule !== null) writers.push(await parquetModule.ParquetTraceWriter.open(set))
  return writers
}

/** The outputs are opened when a worker has the first trace: their libraries then load while the workers are busy. */
function openStreams(set: OutputSet, tables: TokenTables = { arrow: true, parquet: false }): Streams {
  let opened: Promise<TokenWriter[]> | null = null
  const open = (): Promise<TokenWriter[]> => {
    opened ??= openWriters(set, tables)
    return opened
  }
  // Writes run while the next traces are sliced and measured. Only a few run at a time, which limits the columns in memory.
  const underWay: Array<Promise<unknown>> = []
  const free: SharedArrayBuffer[] = []
  return {
    prepare() {
      open().catch(() => undefined)
    },
    room: () => free.pop() ?? null,
    async write(result, columns) {
      const writers = await open()
      const written = Promise.all(writers.map(writer => writer.write(result.index, columns))).then(() => {
        if (columns.values.buffer instanceof SharedArrayBuffer) free.push(columns.values.buffer)
      })
      // Awaited later; until then a failure must not count as an unhandled rejection.
      written.catch(() => undefined)
      underWay.push(written)
      if (underWay.length > MAX_WRITES_UNDER_WAY) await underWay.shift()
    },
    async finish(metadata) {
      await Promise.all(underWay)
      const writers = await open()
      await Promise.all(writers.map(writer => writer.finish(metadata)))
    }
  }
}

async function streamTraces(
  context: RunContext,
  work: SnapshotWork,
  { streams, explored }: { readonly streams: Streams; readonly explored: ExplorerCollector },
  onProgress: Done | undefined
): Promise<MeasuredTraces & Pick<RecordedSnapshot, 'records'>> {
  const { traces, examplesRequired } = work.settings
  const collector = new ExampleCollector(traces.examples, examplesRequired)
  const results: TraceResult[] = []
  const records: SourcedRecord[] = []
  const end = await measureTraces(context, work, {
    wanted: { columns: true, record: work.record ?? null },
    onProgress,
    room: streams.room,
    page: explored.wanted,
    onFirst: streams.prepare,
    async take(trace) {
      const { result, columns, page } = trace
      if (result === null || columns === null) throw new Error('a trace without its columns')
      results.push(result)
      records.push(...recordsOf(trace))
      collector.offer(result, columns)
      explored.take(result, columns, page)
      await streams.write(result, columns)
    }
  })
  return { results, records, ...end, examples: collector.choose() }
}

/** Adds the NPZ file to a fault of a trace that was read from it. */
function atTrace(fault: Fault, { html, folder }: SnapshotPlan, results: readonly TraceResult[]): Fault {
  const { trace, file } = fault.place
  const npz = html !== null || trace === undefined || file !== undefined ? null : results.find(r => r.index === trace)?.npz
  return npz === null || npz === undefined ? fault : fault.at({ file: join(folder, npz.path) })
}

/** Files that were read and used, relative to the snapshot's folder. */
export function snapshotInputs(
  plan: SnapshotPlan,
  { html, dump, results }: Pick<MeasuredSnapshot, 'html' | 'dump'> & { readonly results: readonly Pick<TraceResult, 'npz'>[] }
): HashedFile[] {
  return [
    ...(html === null ? [] : [{ ...html, path: basename(plan.html as string) }]),
    ...(dump?.inputs ?? []),
    ...results.flatMap(r => r.npz ?? [])
  ]
}

/** The file with its path relative to the run's folder instead of the snapshot's. */
export function inRun(context: RunContext, { folder }: SnapshotPlan): (file: HashedFile) => HashedFile {
  const within = context.pathOf(folder)
  return ({ path, sha256, bytes }) => ({ path: within === '' ? path : `${within}/${path}`, sha256, bytes })
}

/** One Fault for each file that is not as it was verified: a file may have been replaced in between. */
function changedSinceVerified(context: RunContext, read: readonly HashedFile[]): Fault[] {
  return read.flatMap(file => context.verifiedFault(file) ?? [])
}

function figureData(
  { plan, settings }: Pick<SnapshotWork, 'plan' | 'settings'>,
  { synthetic, success_threshold: threshold, outcome_from }: SnapshotStatistics,
  results: readonly TraceResult[],
  examples: ChosenExamples
): CriticTraceFigureData {
  return {
    synthetic,
    source: plan.source,
    labels: settings.traces.labels,
    ...(outcome_from.score === 0 ? {} : { outcomesByScore: { traces: outcome_from.score, threshold } }),
    traces: results.map(({ fields, statistics }) => ({
      step: fields.step,
      outcome: fields.outcome,
      mean: statistics.mean,
      delta: statistics.delta
    })),
    success: examples.success.trace,
    failure: examples.failure.trace
  }
}
