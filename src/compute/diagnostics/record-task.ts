/**
 * The work of a thread for the diagnostics: one sample of a dump, or one trace of a snapshot, to one record. A fault is returned
 * as data, because an error loses its class on the way between threads.
 */
import { toFault, type SerializedFault } from '../../core/errors.js'
import type { TraceScratch } from '../../ingest/json/trace.js'
import { rowOfPlace, type Sample } from '../../schema/samples.js'
import type { SampleSource, TraceResult } from '../traces/contract.js'
import { placeOfSample } from '../traces/sample-trace.js'
import { answerTrace, type TraceTask } from '../traces/trace-task.js'
import type { NeighbourValues } from './estimator/inside.js'
import { qualityRecord, traceQualityRecord, type QualityRecord, type QualityRecordOptions } from './quality/record.js'
import { sampleRecord, traceRecord, type DiagnosticRecord } from './record.js'

/** One sample of a trainer's dump, with the values of the samples beside it. */
export interface SampleRecordTask extends QualityRecordOptions {
  readonly kind: 'sample-record'
  readonly sample: Sample
  readonly neighbours: NeighbourValues
}

/** One trace of a page or an NPZ file. It is verified as `traces` does it. */
export interface TraceRecordTask extends QualityRecordOptions {
  readonly kind: 'trace-record'
  readonly trace: TraceTask
}

export type RecordTask = SampleRecordTask | TraceRecordTask

export type SampleDiagnosticRecord = DiagnosticRecord<QualityRecord>

export type RecordAnswer =
  | {
      readonly ok: true
      readonly record: SampleDiagnosticRecord
      readonly source: SampleSource | null
      /** what was measured of a trace of a snapshot: its NPZ file, and whether that says it was generated */
      readonly result: TraceResult | null
    }
  | { readonly ok: false; readonly index: number; readonly fault: SerializedFault; readonly source: SampleSource | null }

/** Answers one task and never throws. */
export function answerRecord(task: RecordTask, scratch: TraceScratch): RecordAnswer {
  return task.kind === 'sample-record' ? ofSample(task) : ofTrace(task, scratch)
}

function ofSample({ sample, neighbours, successThreshold, thresholds }: SampleRecordTask): RecordAnswer {
  const { index, place } = sample
  const source = { file: place.file ?? '', row: rowOfPlace(place) }
  try {
    const quality = qualityRecord(sample, { successThreshold, thresholds })
    return { ok: true, record: sampleRecord(sample, neighbours, quality), source, result: null }
  } catch (error) {
    return { ok: false, index, fault: toFault(error, 'trace', { ...placeOfSample(source), trace: index }).serialize(), source }
  }
}

function ofTrace({ trace, thresholds }: TraceRecordTask, scratch: TraceScratch): RecordAnswer {
  const answer = answerTrace(trace, scratch)
  if (!answer.ok) return { ok: false, index: answer.index, fault: answer.fault, source: null }
  const { result, columns } = answer
  const { index, fields } = result
  const { step, outcome, score, uid } = fields
  const { values, returns } = columns
  const positions = Int32Array.from(columns.responsePositions as Int32Array, Number)
  const retained = { values: Float64Array.from(values), returns: Float64Array.from(returns), positions }
  try {
    const quality = traceQualityRecord({ index, place: { trace: index }, step, uid, outcome, ...retained }, thresholds)
    const numbers = { index, fields: { step, outcome, score, uid, truncated: null, rank: null }, values, returns, positions }
    return { ok: true, record: traceRecord(numbers, quality), source: null, result }
  } catch (error) {
    return { ok: false, index, fault: toFault(error, 'trace', { trace: index }).serialize(), source: null }
  }
}
