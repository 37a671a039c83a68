/**
 * What a batch writes beside its snapshots: the index, and over two or more trainer steps a table, a figure and a page. Snapshots of
 * earlier runs into the same folder stay in all four as long as their outputs stand: a run of one more snapshot adds one. One
 * that failed stays in the index until it is run again.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, posix, relative, resolve, sep } from 'node:path'
import type { SnapshotStatistics } from '../compute/traces/contract.js'
import { distinctSteps, FEWEST_STEPS, overSteps, stepsFigure, type SnapshotStep } from '../compute/traces/over-steps.js'
import { EXIT, Fault, isRefusal } from '../core/errors.js'
import { isInside } from '../core/system/folder.js'
import { readText } from '../core/still-file.js'
import { GENERATOR } from '../core/version.js'
import type { FigureFile } from '../render/figures/config.js'
import { jsonText } from '../render/outputs/json-text.js'
import type { FileSummary } from '../render/outputs/output-file.js'
import { BATCH_INDEX, BATCH_PAGE, BATCH_STEPS, OUTPUT_PATHS, SAMPLE_PATHS, type Origin } from '../render/outputs/output-names.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import { removeOutputs } from '../render/outputs/removed-outputs.js'
import type { PageFigure } from '../render/page/inputs.js'
import type { TraceSnapshotsDocument } from '../schema/outputs/trace-snapshots.js'
import { SCHEMA_VERSIONS } from '../schema/outputs/versions.js'
import type { SnapshotPlan } from '../study/inventory.js'
import type { SnapshotResult } from './batch-result.js'
import { originOf, RunContext } from './context.js'
import { standingRecord } from './record.js'
import { inTransaction } from './transaction.js'

export type IndexEntry = TraceSnapshotsDocument['snapshots'][number]

export interface BatchIndexRun {
  readonly out: string
  /** empty: no figure */
  readonly formats: readonly FigureFile[]
  readonly threads: number
  /** the study is synthetic */
  readonly synthetic: boolean
  /** whether an entry of an earlier run leaves the index: what it was made of is gone */
  readonly leaves?: ((entry: IndexEntry) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
}

/** What was written beside the snapshots. */
export interface WrittenIndex {
  /** number of snapshots of earlier runs that stay in the index */
  readonly kept: number
  /** of those kept, the number that failed */
  readonly keptFailed: number
  /** names of the snapshots of earlier runs that left it (`leaves`) */
  readonly gone: readonly string[]
  /** number of distinct trainer steps of all snapshots in the index; a trace without one counts for none */
  readonly steps: number
  /** table, figure and page over the steps; empty where there are fewer than two */
  readonly outputs: readonly FileSummary[]
  /** paths of an earlier table, figure or page that stay, because nothing shows that they are the program's */
  readonly left: readonly string[]
}

/** A snapshot of an earlier run that stays in the index. */
interface Standing {
  readonly entry: IndexEntry
  /** null for a dump without values, and for a snapshot that failed */
  readonly statistics: SnapshotStatistics | null
}

export async function writeBatchIndex(run: BatchIndexRun, results: readonly SnapshotResult[]): Promise<WrittenIndex> {
  const { out, formats, threads, signal } = run
  // 1. What earlier runs left
  const earlier = await readIndex(join(out, BATCH_INDEX))
  const own = new Set(results.flatMap(({ plan }) => plan?.name ?? []))
  const kept: Standing[] = []
  const gone: string[] = []
  for (const entry of earlier?.snapshots ?? []) {
    if (entry.name === null || own.has(entry.name)) continue
    if (run.leaves?.(entry) === true) {
      gone.push(entry.name)
      continue
    }
    const standing = entry.status === 'failed' ? { statistics: null } : await standingSnapshot(out, entry.name)
    if (standing !== null) kept.push({ entry: { ...entry, kept: true }, ...standing })
  }
  // 2. All snapshots over steps
  const entries = [...kept.map(({ entry }) => entry), ...results.map(result => entryOf(result, out))]
  const all = [
    ...kept.flatMap(({ entry, statistics }) => (statistics === null ? [] : [{ name: entry.name ?? '', statistics }])),
    ...results.flatMap(({ plan, statistics }) => (plan === null || statistics === null ? [] : [{ name: plan.name, statistics }]))
  ]
  const rows = overSteps(all.map(({ name, statistics }) => ({ name, steps: statistics.by_step })))
  const synthetic = run.synthetic || entries.some(entry => entry.synthetic === true)
  const origin = originOf(synthetic, null)
  // 3. Write
  let over: readonly FileSummary[] = []
  const { outputs } = await inTransaction(out, { signal }, async set => {
    if (distinctSteps(rows) >= FEWEST_STEPS) {
      over = await writeOverSteps(set, { rows, all, entries }, { out, formats, threads, signal }, origin)
    }
    await writeIndex(set, entries, over, origin)
    return {}
  })
  // 4. What an earlier batch wrote over its steps and this one does not
  const now = new Set(outputs.map(({ path }) => path))
  const stale = (earlier?.outputs ?? []).filter(({ path }) => !now.has(path))
  const left = stale.length === 0 ? [] : await removeOutputs(out, stale, GENERATOR.name)
  const keptFailed = kept.filter(({ entry }) => entry.status === 'failed').length
  return { kept: kept.length, keptFailed, gone, steps: distinctSteps(rows), outputs: over, left }
}

interface OverSteps {
  readonly rows: readonly SnapshotStep[]
  readonly all: ReadonlyArray<{ readonly statistics: SnapshotStatistics }>
  readonly entries: readonly IndexEntry[]
}

async function writeOverSteps(
  set: OutputSet,
  { rows, all, entries }: OverSteps,
  { out, formats, threads, signal }: Omit<BatchIndexRun, 'synthetic'>,
  origin: Origin
): Promise<FileSummary[]> {
  const { writeTraceSteps } = await import('../render/outputs/trace-steps.js')
  const table = await writeTraceSteps(set, rows, origin)
  const figures = formats.length === 0 ? NO_FIGURE : await drawOverSteps(set, { rows, all }, { out, formats, threads, signal }, origin)
  const { overStepsHtml } = await import('../render/page/over-steps.js')
  const page = overStepsHtml({ rows, snapshots: entries, figure: figures.shown, synthetic: origin.synthetic, generator: origin.generator })
  return [...table, ...figures.written, await set.write(BATCH_PAGE, page)]
}

interface DrawnOverSteps {
  readonly written: readonly FileSummary[]
  /** null where there is no picture that a page can show */
  readonly shown: PageFigure | null
}

const NO_FIGURE: DrawnOverSteps = { written: [], shown: null }

async function drawOverSteps(
  set: OutputSet,
  { rows, all }: Omit<OverSteps, 'entries'>,
  { out, formats, threads, signal }: Omit<BatchIndexRun, 'synthetic'>,
  origin: Origin
): Promise<DrawnOverSteps> {
  const { drawFigures, planFigures } = await import('./drawing.js')
  const thresholds = new Set(all.map(({ statistics }) => statistics.threshold))
  const [threshold] = thresholds
  const data = stepsFigure(rows, origin.synthetic, thresholds.size === 1 ? threshold : null, [BATCH_STEPS])
  const context = new RunContext({ dir: out, origin, signal })
  const written: FileSummary[] = []
  const noting = {
    write: async (path: string, content: string | Uint8Array): Promise<FileSummary> => {
      const summary = await set.write(path, content)
      written.push(summary)
      return summary
    }
  }
  const planned = await planFigures({ curves: [data] }, formats)
  const pictures = await drawFigures(context, noting, planned, { formats, threads, manifest: null })
  const [{ config, drawnFrom }] = planned
  const picture = pictures.get(config.name)
  const { name, title, description } = config
  const shown =
    picture === undefined ? null : { name, title, description, picture, files: written.map(({ path }) => path), data: drawnFrom }
  return { written, shown }
}

async function writeIndex(set: OutputSet, snapshots: readonly IndexEntry[], over: readonly FileSummary[], origin: Origin): Promise<void> {
  const { envelope } = await import('../render/outputs/documents.js')
  const index: TraceSnapshotsDocument = {
    ...envelope('critic-trace-snapshots', origin),
    snapshots,
    outputs: over.map(({ path, sha256, bytes }) => {
      if (sha256 === null) throw new Error(`${path} has no hash`)
      return { path, sha256, bytes }
    })
  }
  await set.write(BATCH_INDEX, jsonText(index))
}

/** The index of an earlier batch; null where there is none of this version. */
async function readIndex(path: string): Promise<TraceSnapshotsDocument | null> {
  if (!existsSync(path)) return null
  const parsed = await readJson(path)
  const { TRACE_SNAPSHOTS } = await import('../schema/outputs/trace-snapshots.js')
  try {
    return TRACE_SNAPSHOTS.read(parsed, '', { format: 'batch index', place: { file: path }, paths: [] })
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

/** A snapshot of an earlier run: where its record stands, and the statistics are those of the record and of this version. */
async function standingSnapshot(out: string, name: string): Promise<Pick<Standing, 'statistics'> | null> {
  const record = standingRecord(join(out, name))
  const recorded = record?.outputs.find(({ path }) => path === OUTPUT_PATHS.statistics || path === SAMPLE_PATHS.statistics)
  if (recorded === undefined) return null
  const text = await readText(join(out, name, recorded.path), { links: 'refuse' }).catch((error: unknown) => {
    if (error instanceof Fault) return null
    throw error
  })
  if (text === null || createHash('sha256').update(text).digest('hex') !== recorded.sha256) return null
  // This program wrote it: the record has its hash.
  const document = JSON.parse(text) as SnapshotStatistics & { readonly schema: string; readonly schema_version: number }
  if (document.schema === 'sample-statistics') return { statistics: null }
  return document.schema_version === SCHEMA_VERSIONS['critic-trace-statistics'] ? { statistics: document } : null
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(path, { links: 'refuse' }))
  } catch (error) {
    if (error instanceof Fault || error instanceof SyntaxError) return null
    throw error
  }
}

/** The entry: the same whether a snapshot was computed now or before. */
function entryOf({ plan, status, statistics, samples, faults, source }: SnapshotResult, out: string): IndexEntry {
  return {
    name: plan?.name ?? null,
    source: plan === null ? null : source,
    status: status === 'failed' ? 'failed' : 'ok',
    kept: false,
    synthetic: statistics?.synthetic ?? null,
    verified: statistics?.verified ?? null,
    traces: statistics?.traces ?? samples?.samples ?? null,
    tokens: statistics?.tokens ?? samples?.tokens ?? null,
    snapshot_time: statistics?.snapshot_time ?? null,
    statistics:
      plan === null || status === 'failed'
        ? null
        : `${plan.name}/${samples === undefined ? OUTPUT_PATHS.statistics : SAMPLE_PATHS.statistics}`,
    faults: faults.map(f => ({ message: inOutputs(f, plan, source, out).message, exit_code: faultCode(f) }))
  }
}

/** An interrupt ends the command: no snapshot has it. */
function faultCode({ exitCode }: Fault): IndexEntry['faults'][number]['exit_code'] {
  if (exitCode === EXIT.interrupted) throw new Error('a snapshot was interrupted')
  return exitCode
}

/** The fault with its file as outputs call it: below what was given, or below the output folder. */
function inOutputs(fault: Fault, plan: SnapshotPlan | null, source: string, out: string): Fault {
  const { file } = fault.place
  if (file === undefined) return fault
  const below = (folder: string, name: string): string | null => {
    const path = resolve(file)
    return isInside(resolve(folder), path) ? posix.join(name, relative(resolve(folder), path).split(sep).join('/')) : null
  }
  const named =
    plan === null
      ? source
      : (below(plan.folder, plan.html === null && plan.oneFile !== true ? source : posix.dirname(source)) ?? below(out, '.'))
  return new Fault({ ...fault.details, place: { ...fault.place, file: named ?? posix.basename(file) } })
}
