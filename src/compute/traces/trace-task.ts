/**
 * The work of a worker on one trace: it parses the trace's slice of the snapshot, reads the NPZ beside it, verifies,
 * measures, and lays the columns into one SharedArrayBuffer, makes the record for the diagnostics, or both. Its only side
 * effect is to read the NPZ. A fault is returned as data, because an error loses its class on the way between threads.
 */
import { join } from 'node:path'
import { EXIT, Fault, printable, toFault, type SerializedFault } from '../../core/errors.js'
import { readStillSync } from '../../core/still-file-sync.js'
import { resolveBeside } from '../../study/inventory.js'
import { canonicalRelative } from '../../core/paths.js'
import { parseTrace, type TraceScratch } from '../../ingest/json/trace.js'
import { asFloat64 } from '../../ingest/npz/npy.js'
import type { NeighbourValues } from '../diagnostics/estimator/inside.js'
import { openNpz, type Npz, type NpyFile } from '../../ingest/npz/npz.js'
import { fieldsOfNpz, saysSynthetic } from '../../ingest/traces/npz-fields.js'
import { decideOutcome } from '../../ingest/traces/outcome.js'
import { kernelOfThread } from '../../kernel/open.js'
import { TRACE_ARRAYS, type ParsedTrace, type SnapshotKeys, type TraceArrayName } from '../../schema/traces.js'
import { arraysOf, checkArrays, checkEqual, checkLength, checkSpanCount, checkStored } from './checks.js'
import { meansInFloat32, rmsesInFloat32 } from './float32.js'
import { layColumns, membersOf } from './columns.js'
import { packRecord } from '../diagnostics/packed-record.js'
import { pageBlocks, type PageBlocks, type PageWanted } from './page-blocks.js'
import { recordOfSample, recordOfTrace } from '../diagnostics/trace-record.js'
import { checkSameTrace, sourceOfSample, traceOfSample, type PackedSample } from './sample-trace.js'
import type { SampleSource, TraceColumns, TraceResult } from './contract.js'
import { signsOf } from './sanity.js'
import { boundaryIndexes, statisticsWithin } from './statistics.js'
import { inFile, within, withWayOut } from './trace-place.js'

/** What is wanted of every trace of a run. */
export interface TraceWanted {
  /** false: nothing is laid out for the outputs, and a sample of a dump is not measured either: it may have no values or no returns */
  readonly columns: boolean
  /** what its record for the diagnostics is made with; null: none is made */
  readonly record: { readonly thresholds: readonly number[] } | null
}

export interface TraceTaskBase {
  readonly wanted: TraceWanted
  /** canonical position */
  readonly index: number
  /** the snapshot's folder; NPZ names are resolved in it and may not lead out of it */
  readonly folder: string
  readonly keys: SnapshotKeys
  readonly jumpThreshold: number
  /** score above which a trace without a stated outcome is a success */
  readonly successThreshold: number
  readonly endMarker: string | null
  /** shared buffer that is free for the columns; a new one is made where it is too small */
  readonly room: SharedArrayBuffer | null
  /** what the explorer's page wants beside columns; absent or null: nothing */
  readonly page?: PageWanted | null
}

/** One trace object cut out of a snapshot. */
export interface SnapshotTraceTask extends TraceTaskBase {
  readonly kind: 'snapshot'
  /** byte offset of the trace's `{` */
  readonly offset: number
  /** the bytes of the trace, in a SharedArrayBuffer */
  readonly bytes: Uint8Array
}

/** One NPZ file of a folder without a snapshot. It is analysed and compared with nothing. */
export interface NpzTraceTask extends TraceTaskBase {
  readonly kind: 'npz'
  readonly npz: string
}

/** One sample of a trainer's dump. */
export interface SampleTraceTask extends TraceTaskBase {
  readonly kind: 'sample'
  readonly sample: PackedSample
  /** values of the samples beside it, which its record looks at */
  readonly neighbours: NeighbourValues
  /** the same sample of a second dump, which must hold the same trace; null: it is compared with nothing */
  readonly against: PackedSample | null
}

export type TraceTask = SnapshotTraceTask | NpzTraceTask | SampleTraceTask

export type TraceAnswer =
  | {
      readonly ok: true
      /** null: a sample of a dump that was not measured */
      readonly result: TraceResult | null
      readonly columns: TraceColumns | null
      /** of `packRecord` */
      readonly record: Uint8Array | null
      /** null: not wanted */
      readonly page: PageBlocks | null
      readonly sample: SampleSource | null
    }
  | {
      readonly ok: false
      readonly index: number
      readonly fault: SerializedFault
      /** of a dump, the sample that has the fault */
      readonly sample: SampleSource | null
    }

/** Answers one task and never throws. The code is synchronous, because a worker has no other work to do meanwhile. */
export function answerTrace(task: TraceTask, scratch: TraceScratch): TraceAnswer {
  try {
    switch (task.kind) {
      case 'snapshot':
        return snapshotTrace(task, scratch)
      case 'npz':
        return npzTrace(task)
      case 'sample':
        return sampleTrace(task)
    }
  } catch (error) {
    const sample = sampleOf(task)
    return { ok: false, index: task.index, fault: withWayOut(toFault(error, 'trace', { trace: task.index })).serialize(), sample }
  }
}

function sampleOf(task: TraceTask): SampleSource | null {
  return task.kind === 'sample' ? sourceOfSample(task.sample.sample) : null
}

function snapshotTrace(task: SnapshotTraceTask, scratch: TraceScratch): TraceAnswer {
  const { keys, endMarker } = task
  const trace = parseTrace(task, { keys, endMarker, scratch, keepTexts: task.page?.texts })
  const { score, npz, valueMean, valueRmse } = trace.fields
  if (score !== null && !Number.isFinite(score)) throw scoreNotFinite(trace.index, keys, score)
  return within(trace, () => {
    const arrays = arraysOf(trace)
    checkArrays(arrays)
    const stored = npz === null ? null : readNpz(task.folder, npz, keys, trace.values.length)
    if (stored !== null) {
      for (const array of TRACE_ARRAYS) {
        const place = { file: stored.file, member: keys[array] }
        checkEqual(array, arrays[array], stored.arrays[array].array, place)
      }
    }
    const answer = traceAnswer(trace, stored, task)
    const { statistics } = answer.result
    const { mean, rmse } = statistics
    const { values, returns } = trace
    if (valueMean !== null) checkStored('value_mean', valueMean, mean, () => meansInFloat32(values))
    if (valueRmse !== null) checkStored('value_rmse', valueRmse, rmse, () => rmsesInFloat32(values, returns))
    if (trace.spans !== null) checkSpanCount(trace.spans.count, statistics)
    return answer
  })
}

function npzTrace(task: NpzTraceTask): TraceAnswer {
  kernelOfThread().begin(0)
  // Every fault names the file: the folder alone says nothing where it holds thousands.
  const file = join(task.folder, task.npz)
  return inFile(file, () => {
    const stored = readNpz(task.folder, task.npz, task.keys, null)
    const trace: ParsedTrace = {
      index: task.index,
      fields: fieldsOfNpz(stored.npz, task.npz, task.keys, file),
      values: numbersOf(stored, 'values', task.keys),
      returns: numbersOf(stored, 'returns', task.keys),
      positions: numbersOf(stored, 'response_positions', task.keys),
      spans: null
    }
    return within(trace, () => {
      checkArrays(arraysOf(trace))
      return traceAnswer(trace, stored, task)
    })
  })
}

function sampleTrace(task: SampleTraceTask): TraceAnswer {
  const source = sourceOfSample(task.sample.sample)
  return inFile(join(task.folder, source.file), () => {
    const measured = task.wanted.columns ? measuredSample(task, source) : null
    return { ok: true, result: null, columns: null, page: null, ...measured, record: sampleRecord(task), sample: source }
  })
}

function measuredSample(task: SampleTraceTask, { file }: SampleSource): MeasuredTrace {
  kernelOfThread().begin(0)
  const { trace, members } = traceOfSample(task.sample)
  return within(trace, () => {
    checkArrays(arraysOf(trace))
    if (task.against !== null) checkSameTrace(trace, file, task.against)
    return measure(trace, null, task, () => members)
  })
}

function sampleRecord({ sample: { sample }, neighbours, successThreshold, wanted }: SampleTraceTask): Uint8Array | null {
  if (wanted.record === null) return null
  const { thresholds } = wanted.record
  // The place in the file is left out: the trace is named as where it is measured.
  return within(sample, () => packRecord(recordOfSample({ ...sample, place: {} }, neighbours, { successThreshold, thresholds })))
}

interface StoredNpz {
  /** relative to the snapshot's folder, in the form of manifest and record: `./a.npz` becomes `a.npz` */
  readonly path: string
  /** `path` with the snapshot's folder */
  readonly file: string
  readonly npz: Npz
  readonly sha256: string
  readonly bytes: number
  readonly arrays: Readonly<Record<TraceArrayName, NpyFile>>
}

interface MeasuredTrace {
  readonly result: TraceResult
  readonly columns: TraceColumns | null
  readonly page: PageBlocks | null
}

/** A trace of a page or an NPZ file. @param stored null for a trace without an NPZ file */
function traceAnswer(trace: ParsedTrace, stored: StoredNpz | null, task: TraceTask): MeasuredTrace & Extract<TraceAnswer, { ok: true }> {
  const measured = measure(trace, stored, task, () => stored?.arrays ?? membersOf(trace))
  const { record } = task.wanted
  const made = record === null ? null : packRecord(recordOfTrace(trace, measured.result.fields.outcome, record.thresholds))
  return { ok: true, ...measured, record: made, sample: null }
}

/**
 * @param stored null for a trace without an NPZ file
 * @param members the arrays as NPY files
 */
function measure(
  trace: ParsedTrace,
  stored: StoredNpz | null,
  task: TraceTask,
  members: () => Readonly<Record<TraceArrayName, NpyFile>>
): MeasuredTrace {
  const boundaries = boundaryIndexes(trace.positions)
  const { outcome, outcomeFrom } = decideOutcome(trace.fields, task.successThreshold)
  const statistics = statisticsWithin(trace.values, trace.returns, boundaries, {
    jumpThreshold: task.jumpThreshold,
    outcome
  })
  const result: TraceResult = {
    index: trace.index,
    fields: { ...trace.fields, outcome },
    outcomeFrom,
    statistics,
    npz: stored === null ? null : { path: stored.path, sha256: stored.sha256, bytes: stored.bytes },
    sample: sampleOf(task),
    compared: task.kind === 'sample' ? task.against !== null : stored !== null && task.kind === 'snapshot',
    synthetic: stored !== null && saysSynthetic(stored.npz, task.keys),
    // The parser reuses its buffer for the next trace, so the flags are copied.
    spans: trace.spans === null ? null : { count: trace.spans.count, endsWithMarker: trace.spans.endsWithMarker.slice() },
    signs: signsOf(trace.values, trace.returns, boundaries),
    boundariesWithMarker: markedBoundaries(trace, boundaries.length, task.endMarker)
  }
  const columns = task.wanted.columns ? layColumns(trace, boundaries, members(), task.room) : null
  const { page } = task
  return { result, columns, page: columns === null || page == null ? null : pageBlocks(page.tokens ? columns : null, trace.texts ?? null) }
}

/** Span k ends at boundary k. The last span ends the trajectory and is not counted. */
function markedBoundaries(trace: ParsedTrace, boundaries: number, endMarker: string | null): number | null {
  if (trace.spans === null || endMarker === null) return null
  let marked = 0
  for (let k = 0; k < Math.min(boundaries, trace.spans.count); k++) marked += trace.spans.endsWithMarker[k]
  return marked
}

/** @param tokens number of elements that each array must have; null where no page states it */
function readNpz(folder: string, name: string, keys: SnapshotKeys, tokens: number | null): StoredNpz {
  const kernel = kernelOfThread()
  const { bytes, sha256 } = readStillSync(resolveBeside(folder, name), 'npz', length => kernel.take(length))
  // Faults name the file in its folder: the same name stands in many snapshots.
  const file = join(folder, name)
  const npz = openNpz(bytes, { file, copy: part => kernel.copy(part) })
  const arrays = {
    values: tokenArray(npz, file, 'values', keys, tokens),
    returns: tokenArray(npz, file, 'returns', keys, tokens),
    response_positions: tokenArray(npz, file, 'response_positions', keys, tokens)
  }
  return { path: canonicalRelative(name), file, npz, sha256, bytes: bytes.length, arrays }
}

const FLOAT_DTYPES = ['f4', 'f8']
const POSITION_DTYPES = ['i4', 'i8']

/**
 * One of the three arrays: one dimension, a dtype that the snapshot format allows, and as many elements as the page
 * states. The header is checked before the rest of a large array is inflated, because a small file may hold a large
 * array of zeros.
 */
function tokenArray(npz: Npz, file: string, array: TraceArrayName, keys: SnapshotKeys, tokens: number | null): NpyFile {
  const member = keys[array]
  const { descr, shape } = npz.header(member)
  const positions = array === 'response_positions'
  const place = { file, member }
  if (!(positions ? POSITION_DTYPES : FLOAT_DTYPES).includes(descr.slice(1))) {
    const expected = positions ? 'int32 or int64' : 'float32 or float64'
    throw new Fault({ format: 'npz', problem: 'wrong dtype', found: printable(descr), expected, place })
  }
  if (shape.length !== 1) {
    throw new Fault({ format: 'npz', problem: 'wrong shape', found: `(${shape.join(', ')})`, expected: 'one dimension', place })
  }
  if (tokens !== null) checkLength(array, tokens, shape[0], file)
  return npz.readFile(member)
}

function numbersOf(stored: StoredNpz, array: TraceArrayName, keys: SnapshotKeys): Float64Array {
  return asFloat64(stored.arrays[array].array, { file: stored.file, member: keys[array] })
}

function scoreNotFinite(trace: number, keys: SnapshotKeys, score: number): Fault {
  return new Fault({
    format: 'snapshot',
    problem: 'not finite',
    found: `${keys.score} ${score}`,
    expected: 'a finite number',
    place: { trace },
    exitCode: EXIT.checkFailed
  })
}
