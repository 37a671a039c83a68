/**
 * Partials to the outputs of one machine's `traces` and `diagnose`: statistics, documents, tables, diagnostics, figures, pages and the
 * index, with the same bytes. The steps behind the measuring are those of one machine; the tokens stay where the shards wrote them.
 *
 *     partials ──► held against each other ──► snapshot by snapshot: traces in canonical order ──► finish, diagnose ──► commit
 *                                                                                                        └──► index over steps, merge-run.json
 */
import { join } from 'node:path'
import type { KeptBytes } from '../../compute/diagnostics/packed-record.js'
import type { SourcedRecord } from '../../compute/diagnostics/reduce.js'
import type { TraceResult } from '../../compute/traces/contract.js'
import { type ExampleCurve, ExampleCollector, type ChosenExample, type ChosenExamples } from '../../compute/traces/examples.js'
import type { Diagnosis } from '../../compute/diagnostics/contract.js'
import { sampleStatistics } from '../../compute/traces/without-critic.js'
import { counted } from '../../core/counts.js'
import { EXIT, Failures, Fault, printable, toFault } from '../../core/errors.js'
import { keepYoungGenerationSmall } from '../../core/system/engine.js'
import { unpackValue } from '../../core/packed.js'
import type { FigureFile } from '../../render/figures/config.js'
import { DIAGNOSE_RECORD } from '../../render/outputs/output-names.js'
import { writeSamples } from '../../render/outputs/samples.js'
import type { FileSummary } from '../../render/outputs/output-file.js'
import type { ExcludedNpz } from '../../render/outputs/documents.js'
import { excludedNpz, type SnapshotPlan } from '../../study/inventory.js'
import { factsOf } from '../../ingest/dumps/findings.js'
import { writeBatchIndex, type WrittenIndex } from '../batch-index.js'
import type { SnapshotResult } from '../batch-result.js'
import { originOf, RunContext } from '../context.js'
import type { SnapshotRecords } from '../diagnostic-records.js'
import { finishDiagnosis, type ReadSet } from '../diagnose.js'
import { RecordSpill } from '../record-spill.js'
import { retireRecord, settingsHash, writeRunRecord } from '../record.js'
import { drawnSnapshot, finishSnapshot, snapshotInputs, type SnapshotOutcome } from '../snapshot.js'
import { noSampleLeft, type SourceEnd } from '../trace-source.js'
import { inTransaction, throwIfInterrupted } from '../transaction.js'
import type { MeasuredPart, PartialRow, ShardSettings, TraceHead } from './contract.js'
import { joinedParts, joinedReading } from './joined-parts.js'
import { keptFiles, retireMergeRecord, writeMergeRecord } from './kept-files.js'
import { allBytes } from './kept-rows.js'
import { openPartials, settingsInWords, type Partials } from './open-partials.js'

export interface MergeRun {
  /** partials, or folders of them */
  readonly paths: readonly string[]
  /** partials of the snapshot or dump that every one is compared with; none: nothing is */
  readonly against?: readonly string[] | undefined
  readonly out: string
  readonly formats: readonly FigureFile[]
  readonly threads: number
  readonly signal?: AbortSignal | undefined
  readonly onEnd?: ((result: SnapshotResult) => void) | undefined
}

export interface MergedSnapshot {
  readonly result: SnapshotResult
  readonly diagnosis: Diagnosis | null
  /** why there is no diagnosis */
  readonly diagnosisFaults: readonly Fault[]
  readonly outputs: readonly FileSummary[]
}

export interface MergeOutcome {
  readonly snapshots: readonly MergedSnapshot[]
  readonly settings: ShardSettings
  readonly index: WrittenIndex
}

interface Merging extends MergeRun {
  /** whole, and of one snapshot; null: nothing is compared */
  readonly other: Partials | null
}

/** @throws Failures where the partials are not those of one whole run, or a file of the dataset in `out` is gone; what is wrong with a snapshot is in its result */
export async function mergePartials(run: MergeRun): Promise<MergeOutcome> {
  const { out, formats, threads, signal } = run
  keepYoungGenerationSmall()
  const partials = await openPartials(run.paths, true)
  const kept = await keptFiles(partials, out)
  const other = run.against === undefined ? null : await openAgainst(run.against, partials)
  const { settings, failed } = partials.head
  await retireMergeRecord(out)
  const merged: MergedSnapshot[] = failed.map(({ source, fault }) => {
    const result = failedResult(null, source, [Fault.deserialize(fault)])
    run.onEnd?.(result)
    return { result, diagnosis: null, diagnosisFaults: [], outputs: [] }
  })
  for (const number of [...partials.planned.keys()].sort((a, b) => a - b)) {
    throwIfInterrupted(signal)
    const snapshot = await mergeSnapshot({ ...run, other }, partials, number)
    run.onEnd?.(snapshot.result)
    merged.push(snapshot)
  }
  const results = merged.map(({ result }) => result)
  const index = await writeBatchIndex({ out, formats, threads, synthetic: settings.snapshot.synthetic, signal }, results)
  await writeMergeRecord(partials, kept, out)
  return { snapshots: merged, settings, index }
}

/** @throws Failures, as of the first partials; Fault where they are of several snapshots, or measured otherwise */
async function openAgainst(paths: readonly string[], { head, files }: Partials): Promise<Partials> {
  const other = await openPartials(paths, true)
  const { snapshots, failed, settings, versions } = other.head
  const place = { file: paths[0] }
  if (snapshots !== 1 || failed.length > 0) {
    const found = counted(snapshots + failed.length, 'snapshot')
    const expected = 'partials of one snapshot or dump'
    throw new Fault({ format: 'usage', problem: 'wrong --against', found, expected, place, exitCode: EXIT.usage })
  }
  const differing = settingsInWords({ ...settings.snapshot, versions }, { ...head.settings.snapshot, versions: head.versions })
  if (differing.length === 0) return other
  const expected = `what ${printable(files[0], 400)} was measured with`
  throw new Fault({ format: 'partial', problem: 'differently set', found: printable(differing.join(', '), 400), expected, place })
}

function failedResult(plan: SnapshotPlan | null, source: string, faults: readonly Fault[]): SnapshotResult {
  return { plan, status: 'failed', statistics: null, outcome: null, faults, source }
}

/** What is wrong, unless it was an interruption. */
async function orFaults<T>(plan: SnapshotPlan, work: () => Promise<T>): Promise<T | { readonly faults: readonly Fault[] }> {
  try {
    return await work()
  } catch (error) {
    const faults = error instanceof Failures ? error.faults : [toFault(error, 'snapshot', { file: plan.html ?? plan.folder })]
    if (faults.some(({ exitCode }) => exitCode === EXIT.interrupted)) throw error
    return { faults }
  }
}

interface Joined {
  readonly plan: SnapshotPlan
  readonly parts: readonly MeasuredPart[]
  readonly end: Pick<SourceEnd, 'header' | 'html' | 'dump'>
  /** canonical order: their heads are made at each call, since memory need not hold them beside the records */
  readonly heads: () => readonly TraceHead[]
  readonly read: SnapshotRecords
  readonly context: RunContext
  readonly settings: ShardSettings['snapshot']
}

async function mergeSnapshot(run: Merging, partials: Partials, number: number): Promise<MergedSnapshot> {
  const spill = new RecordSpill(run.out)
  try {
    return await mergeSpilling(run, partials, number, spill)
  } finally {
    spill.close()
  }
}

async function mergeSpilling(run: Merging, partials: Partials, number: number, spill: RecordSpill): Promise<MergedSnapshot> {
  const { plan } = partials.planned.get(number) as { readonly plan: SnapshotPlan }
  const { source } = plan
  const joined = await orFaults(plan, async () => joinSnapshot(run, partials, number, spill))
  if ('faults' in joined)
    return { result: failedResult(plan, source, joined.faults), diagnosis: null, diagnosisFaults: joined.faults, outputs: [] }
  const out = join(run.out, plan.name)
  const statistics = await orFaults(plan, () => writeStatistics(run, partials, number, joined, out))
  const diagnosed = await orFaults(plan, () => diagnose(run, partials, joined, out, spill))
  const [diagnosis, diagnosisFaults] = 'faults' in diagnosed ? [null, diagnosed.faults] : [diagnosed.diagnosis, []]
  const written = 'faults' in diagnosed ? [] : diagnosed.outputs
  if ('faults' in statistics) return { result: failedResult(plan, source, statistics.faults), diagnosis, diagnosisFaults, outputs: written }
  const { result, earlier, synthetic, inputs } = statistics
  const { files: against = null } = diagnosis?.against?.source ?? {}
  const settingsSha256 = settingsHash({ ...partials.head.settings, ...(against === null ? {} : { against }) }, run.formats)
  const outputs = [...statistics.outputs, ...written]
  const left = await writeRunRecord(out, { settingsSha256, origin: originOf(synthetic, null), inputs, outputs }, earlier, null)
  return { result: { ...result, left: left.map(path => `${plan.name}/${path}`) }, diagnosis, diagnosisFaults, outputs }
}

function joinSnapshot({ signal }: MergeRun, partials: Partials, number: number, spill: RecordSpill): Joined {
  const { plan } = partials.planned.get(number) as { readonly plan: SnapshotPlan }
  const parts = partials.parts.filter(({ snapshot }) => snapshot === number)
  const traces: JoinedTrace[] = []
  if (parts.every(({ faults }) => faults.length === 0)) {
    for (const row of partials.rows(number)) traces.push(joinedTrace(row, spill))
  }
  traces.sort((a, b) => a.trace - b.trace)
  const end = joinedParts(parts, plan, traces.length)
  const { snapshot } = partials.head.settings
  const settings = { ...snapshot, synthetic: snapshot.synthetic || parts.some(({ ofSyntheticStudy }) => ofSyntheticStudy) }
  const context = new RunContext({ dir: plan.folder, origin: originOf(settings.synthetic, null), signal })
  const heads = (): TraceHead[] => traces.map(({ head }) => headIn(allBytes(head)))
  return { plan, parts, end, heads, read: readOf(traces, end, plan), context, settings }
}

interface JoinedTrace extends Pick<TraceResult, 'npz' | 'synthetic'> {
  readonly trace: number
  readonly head: KeptBytes
  /** null: a sample that only has lengths */
  readonly record: SourcedRecord | null
}

function joinedTrace({ trace, head, record }: PartialRow, spill: RecordSpill): JoinedTrace {
  const { result, source } = headIn(head)
  const { npz = null, synthetic = false } = result ?? {}
  return { trace, npz, synthetic, head: spill.keep(head), record: record.length === 0 ? null : { record: spill.take(record), source } }
}

/** @param bytes of a partial whose hash was checked */
function headIn(bytes: Uint8Array): TraceHead {
  return unpackValue(bytes) as TraceHead
}

/** What the diagnostics need of them. */
function readOf(traces: readonly JoinedTrace[], { html, dump, header }: Joined['end'], plan: SnapshotPlan): SnapshotRecords {
  const { facts = null, leftOut = [] } = dump ?? {}
  return {
    records: traces.flatMap(({ record }) => record ?? []),
    inputs: snapshotInputs(plan, { html, dump, results: traces }),
    facts,
    leftOut,
    synthetic: header.synthetic || traces.some(({ synthetic }) => synthetic)
  }
}

async function writeStatistics(run: MergeRun, partials: Partials, number: number, joined: Joined, out: string) {
  const { formats, threads, signal } = run
  const { plan, parts, end, context, settings } = joined
  const heads = joined.heads()
  const { source } = plan
  const fault = parts.find(({ statisticsFault }) => statisticsFault !== null)?.statisticsFault
  if (fault !== undefined && fault !== null) throw Fault.deserialize(fault)
  let earlier: Awaited<ReturnType<typeof retireRecord>> = []
  const transaction = {
    signal,
    beforeCommit: async () => {
      earlier = [...(await retireRecord(out)), ...(await retireRecord(out, DIAGNOSE_RECORD))]
    }
  }
  const lengths = parts.flatMap(part => part.lengths ?? [])
  if (lengths.length > 0) {
    const { statistics, outputs } = await inTransaction(out, transaction, async set => {
      const records = heads.flatMap(({ lengths }) => lengths ?? [])
      const leftOut = lengths.flatMap(part => part.leftOut)
      if (records.length === 0) throw noSampleLeft(leftOut.length, leftOut[0]?.reason ?? null).at({ file: plan.folder })
      const facts = factsOf(joinedReading(lengths.map(({ reading }) => reading)))
      const { success_threshold: successThreshold } = settings.traces
      const statistics = sampleStatistics(records, { facts, leftOut: leftOut.length, successThreshold })
      await writeSamples(set, records, statistics, originOf(settings.synthetic, null))
      return { statistics }
    })
    const result: SnapshotResult = { plan, status: 'done', statistics: null, samples: statistics, outcome: null, faults: [], source }
    return { result, outputs, earlier, synthetic: settings.synthetic, inputs: end.dump?.inputs ?? [] }
  }
  const results = heads.flatMap(({ result }) => result ?? [])
  const outcome: SnapshotOutcome = await inTransaction(out, transaction, async set => {
    const examples = examplesOf(partials, number, { results, settings })
    const excluded = (named: ReadonlySet<string>): readonly ExcludedNpz[] => excludedOf(joined, named)
    const measured = await finishSnapshot(context, { plan, settings }, { ...end, results, examples }, { set, excluded })
    return drawnSnapshot(context, set, measured, { formats, threads })
  })
  const { statistics, dump, checks, outputs } = outcome
  const aside = outcome.excluded.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }))
  const inputs = [...snapshotInputs(plan, outcome), ...aside]
  const result: SnapshotResult = { plan, status: 'done', statistics, outcome: { checks, outputs }, dump, faults: [], source }
  return { result, outputs, earlier, synthetic: statistics.synthetic, inputs }
}

/** The choice needs no curves; those of the chosen traces are read then. */
function examplesOf(
  partials: Partials,
  number: number,
  { results, settings }: Pick<Joined, 'settings'> & { readonly results: readonly TraceResult[] }
): ChosenExamples {
  const collector = new ExampleCollector(settings.traces.examples, settings.examplesRequired)
  for (const result of results) collector.offer(result, NO_CURVE)
  const { success, failure } = collector.choose()
  const drawn = (example: ChosenExample): ChosenExample => {
    const { result, trace } = example
    const curve = result === null ? null : partials.curve(number, result.index)
    if (trace === null || curve === null) return example
    const { values, boundaries } = unpackValue(curve) as ExampleCurve
    return { ...example, trace: { ...trace, values: new Float64Array(values), boundaries } }
  }
  return { success: drawn(success), failure: drawn(failure) }
}

const NO_CURVE = { values: new Float64Array(0), boundaries: new Int32Array(0) }

/** The NPZ files that no trace names. The first part of the page has hashed them. */
function excludedOf({ plan, parts }: Joined, named: ReadonlySet<string>): readonly ExcludedNpz[] {
  if (plan.html === null) return []
  const known = new Map(parts.flatMap(({ unnamed }) => unnamed).map(file => [file.path, file]))
  return excludedNpz(plan, named).map(({ path }) => {
    const file = known.get(path)
    if (file !== undefined) return file
    const expected = 'a file that a trace names as its own, or that nothing in the page names'
    throw new Fault({
      format: 'partial',
      problem: 'unclear NPZ file',
      found: 'a name inside another value of a trace',
      expected,
      place: { file: path }
    })
  })
}

function readSetOf({ plan, read, settings }: Joined): ReadSet {
  return { plan, read, synthetic: settings.synthetic || read.synthetic }
}

async function diagnose(run: Merging, partials: Partials, joined: Joined, out: string, spill: RecordSpill) {
  const { formats, threads, signal, other } = run
  const { settings } = joined
  const { told, history } = partials.head.settings
  const against = other === null ? null : readSetOf(joinSnapshot(run, other, 0, spill))
  const toldOfRun = { ...told, history: history === null ? null : { ...history, byStep: new Map(history.byStep) } }
  return inTransaction(out, { signal }, async set => ({
    diagnosis: await finishDiagnosis({ settings, told: toldOfRun, formats, threads, signal }, set, readSetOf(joined), against)
  }))
}
