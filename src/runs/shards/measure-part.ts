/**
 * The part of one snapshot that a shard has: every trace measured and recorded once, its tokens into the dataset. What is wrong with
 * the snapshot is part of the answer, since the merge reports it as one machine does.
 */
import { sweepThresholds } from '../../compute/diagnostics/quality/changes.js'
import { recordOfBytes } from '../../compute/diagnostics/packed-record.js'
import type { TraceResult } from '../../compute/traces/contract.js'
import { ExampleCandidates } from '../../compute/traces/examples.js'
import type { SampleRecord } from '../../compute/traces/without-critic.js'
import { EXIT, Fault } from '../../core/errors.js'
import { packValue, unpackValue } from '../../core/packed.js'
import { canonicalRelative } from '../../core/paths.js'
import { isBeside, isLeftOut, type Dump, type PartRange } from '../../ingest/dumps/contract.js'
import { OutputSet } from '../../render/outputs/output-set.js'
import type { HashedFile } from '../../schema/study.js'
import { excludedFiles } from '../../study/excluded.js'
import { isOfSyntheticStudy } from '../../study/label.js'
import { atDumpFile } from '../batch.js'
import { originOf, RunContext, type Done } from '../context.js'
import { openPlannedDump, requireTraces } from '../dump-source.js'
import { atSnapshot, measureEach, type AnsweredTrace, type TraceFault } from '../measure.js'
import { snapshotInputs } from '../snapshot.js'
import type { SnapshotWork } from '../snapshot-work.js'
import { lengthsOf } from '../without-critic.js'
import type { MeasuredPart, PartialRow, TraceHead } from './contract.js'
import { allBytes, type KeptRow, type KeptRows } from './kept-rows.js'
import { TokenDataset } from './token-dataset.js'

export interface PartWork extends Omit<SnapshotWork, 'part' | 'dump'> {
  readonly part: PartRange
  readonly snapshot: number
  readonly shard: number
  /** the shard as names of files have it */
  readonly shardName: string
  readonly out: string
  /** takes the rows of a part without a fault */
  readonly rows: KeptRows
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: Done | undefined
}

/** @throws Fault where it was interrupted, or an output cannot be written */
export async function measurePart(work: PartWork): Promise<MeasuredPart> {
  const set = await OutputSet.open(work.out)
  try {
    const measured = await measureInto(work, set)
    if (measured.faults.length === 0 && measured.tokens.length > 0) await set.commit()
    return measured
  } finally {
    // After a commit this does nothing.
    await set.abort()
  }
}

async function measureInto(work: PartWork, set: OutputSet): Promise<MeasuredPart> {
  const { plan, part, snapshot, shard } = work
  const ofSyntheticStudy = await isOfSyntheticStudy(plan.folder)
  const settings = { ...work.settings, synthetic: work.settings.synthetic || ofSyntheticStudy }
  const common = {
    shard,
    snapshot,
    part,
    ofSyntheticStudy,
    header: NOTHING_STATED,
    html: null,
    dump: null,
    unnamed: [],
    inputs: [],
    tokens: []
  }
  const failed = (faults: readonly TraceFault[]): MeasuredPart => {
    const found = faults.map(({ index, fault }) => ({ index, fault: atDumpFile(fault, plan).serialize() }))
    return { ...common, statisticsFault: null, lengths: null, faults: found }
  }
  const opened = plan.kind === 'dump' ? await orFault(() => openPlannedDump({ ...work, settings }, work.signal, work.onProgress)) : null
  if (opened instanceof Fault) return failed([{ index: null, fault: atSnapshot(opened, plan) }])
  const kind = dumpKind(opened, plan.dumpFiles[0])
  const own = await measureOwn({ ...work, settings, dump: opened ?? undefined }, kind.isMeasured, set)
  if ('faults' in own) return failed(own.faults)
  const lengths = kind.hasValues ? null : await lengthsWithin({ ...work, settings })
  if (lengths instanceof Fault) return failed([{ index: null, fault: atSnapshot(lengths, plan) }])
  const statisticsFault = kind.fault === null ? null : atDumpFile(kind.fault, plan).serialize()
  const { rows, ...measured } = own
  const { records = [], reading, leftOut = [] } = lengths ?? {}
  for (const row of withLengths(rows, records, work)) work.rows.add(row)
  return { ...common, ...measured, statisticsFault, lengths: reading === undefined ? null : { reading, leftOut }, faults: [] }
}

const NOTHING_STATED: MeasuredPart['header'] = { snapshotTime: null, alignment: null, synthetic: false }

async function orFault<T>(work: () => Promise<T>): Promise<T | Fault> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Fault && error.exitCode !== EXIT.interrupted) return error
    throw error
  }
}

interface DumpKind {
  /** false: there is no critic to measure, and lengths take its place */
  readonly hasValues: boolean
  /** the samples have all that a trace is made of */
  readonly isMeasured: boolean
  /** why there are no statistics, while there are diagnostics; null: there are */
  readonly fault: Fault | null
}

function dumpKind(dump: Dump | null, file: string): DumpKind {
  if (dump === null) return { hasValues: true, isMeasured: true, fault: null }
  if (!dump.arrays.has('values')) return { hasValues: false, isMeasured: false, fault: null }
  try {
    requireTraces(dump, file)
    return { hasValues: true, isMeasured: true, fault: null }
  } catch (error) {
    if (error instanceof Fault) return { hasValues: true, isMeasured: false, fault: error }
    throw error
  }
}

type OwnTraces = Pick<MeasuredPart, 'header' | 'html' | 'dump' | 'unnamed' | 'inputs' | 'tokens'> & {
  /** canonical order */
  readonly rows: readonly KeptRow[]
}

async function measureOwn(
  work: PartWork & SnapshotWork,
  isMeasured: boolean,
  set: OutputSet
): Promise<OwnTraces | { readonly faults: readonly TraceFault[] }> {
  const { plan, settings, signal, onProgress, shardName } = work
  const { jump_threshold, examples, keys } = settings.traces
  const candidates = new ExampleCandidates(examples)
  const dataset = new TokenDataset(set, plan.name, shardName)
  const rows: KeptRow[] = []
  const results: Pick<TraceResult, 'npz' | 'synthetic'>[] = []
  const free: SharedArrayBuffer[] = []
  const take = async ({ result, record, columns, sample }: AnsweredTrace): Promise<void> => {
    if (record === null) throw new Error('a trace without its record')
    rows.push(work.rows.kept(rowOf({ result, source: sample, lengths: null }, record, work)))
    if (result === null || columns === null) return
    results.push({ npz: result.npz, synthetic: result.synthetic })
    candidates.offer(result, columns)
    await dataset.write(result, columns)
    if (columns.values.buffer instanceof SharedArrayBuffer) free.push(columns.values.buffer)
  }
  const context = new RunContext({ dir: plan.folder, origin: originOf(settings.synthetic, null), signal })
  const wanted = { columns: isMeasured, record: { thresholds: sweepThresholds(jump_threshold) } }
  const { faults, end } = await measureEach(context, work, { wanted, onProgress, room: () => free.pop() ?? null, take })
  if (end === null) return { faults }
  const { header, html, dump, reading, namedElsewhere } = end
  const named = new Set([...results.flatMap(({ npz }) => npz?.path ?? []), ...(namedElsewhere ?? []).map(canonicalRelative)])
  const unnamed = plan.html !== null && work.part.from === 0 ? await orFault(async () => excludedFiles(plan, named, keys)) : []
  if (unnamed instanceof Fault) return { faults: [{ index: null, fault: atSnapshot(unnamed, plan) }] }
  const isSynthetic = settings.synthetic || header.synthetic || results.some(({ synthetic }) => synthetic)
  const read = reading === null || dump === null ? null : { reading, inputs: dump.inputs, leftOut: dump.leftOut, tokenizer: dump.tokenizer }
  const inputs: HashedFile[] = [
    ...snapshotInputs(plan, { html, dump, results }),
    ...unnamed.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }))
  ]
  const tokens = await dataset.finish(isSynthetic, header.snapshotTime)
  const curves = candidates.curves()
  const withCurve = (row: KeptRow): KeptRow => {
    const curve = curves.get(row.trace)
    return curve === undefined ? row : { ...row, curve: work.rows.keep(packValue(curve)) }
  }
  return { header, html, dump: read, unnamed, inputs, tokens, rows: rows.map(withCurve) }
}

interface LengthsWithin extends NonNullable<MeasuredPart['lengths']> {
  readonly records: readonly SampleRecord[]
}

/** Of a dump without values: what `traces` writes of it. */
async function lengthsWithin(work: PartWork): Promise<LengthsWithin | Fault> {
  return orFault(async () => {
    const dump = await openPlannedDump(work, work.signal, undefined)
    try {
      const records: SampleRecord[] = []
      const leftOut: { index: number; reason: string }[] = []
      for await (const item of dump.samplesWithin(work.part, ['advantages'])) {
        if (isBeside(item)) continue
        const record = isLeftOut(item) ? item.reason : lengthsOf(item, work.settings)
        if (typeof record === 'string') leftOut.push({ index: item.index, reason: record })
        else records.push(record)
      }
      return { records, leftOut, reading: dump.reading }
    } finally {
      await dump.close()
    }
  })
}

/** A sample that has lengths may have no record, and the other way round. */
function withLengths(measured: readonly KeptRow[], lengths: readonly SampleRecord[], { rows, snapshot }: PartWork): Iterable<KeptRow> {
  const byIndex = new Map(measured.map(row => [row.trace, row]))
  for (const record of lengths) {
    const row = byIndex.get(record.index)
    const head = row === undefined ? { result: null, source: null } : (unpackValue(allBytes(row.head)) as TraceHead)
    const both: TraceHead = { ...head, lengths: record }
    const added = row ?? rows.kept(rowOf(both, NO_BYTES, { snapshot }))
    byIndex.set(record.index, { ...added, head: rows.keep(packValue(both)) })
  }
  return byIndex.values()
}

const NO_BYTES = new Uint8Array(0)

/** @param record of `packRecord`; empty: there is none */
function rowOf(head: TraceHead, record: Uint8Array, { snapshot }: Pick<PartWork, 'snapshot'>): PartialRow {
  const { result, lengths } = head
  const quality = result !== null || record.length === 0 ? null : recordOfBytes(record).quality
  const found = result ?? quality ?? lengths
  if (found === null) throw new Error('a trace without anything')
  const { step = null, outcome = null, uid = null } = result?.fields ?? quality ?? lengths ?? {}
  const tokens = result?.statistics.tokens ?? quality?.tokens ?? lengths?.tokens ?? 0
  return { snapshot, trace: found.index, step, outcome, uid, tokens, head: packValue(head), record, curve: NO_BYTES }
}
