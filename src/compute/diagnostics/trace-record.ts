/** What a thread makes for the diagnostics: one sample of a dump, or one trace of a page or an NPZ file, to one record. */
import { narrowest } from '../traces/columns.js'
import { retainedIndexes, type Sample } from '../../schema/samples.js'
import type { Outcome, ParsedTrace } from '../../schema/traces.js'
import type { NeighbourValues } from './estimator/inside.js'
import { qualityRecord, traceQualityRecord, type QualityRecord, type QualityRecordOptions } from './quality/record.js'
import { sampleRecord, traceRecord, type DiagnosticRecord } from './record.js'
import { usableSample, type OmittedColumn } from './usable-columns.js'

export interface SampleDiagnosticRecord extends DiagnosticRecord<QualityRecord> {
  /** 0-based canonical position of the sample */
  readonly index: number
  /** columns that the sample was read without */
  readonly omitted: readonly OmittedColumn[]
}

/**
 * @param neighbours values of the samples beside it in the dump
 * @throws Fault where a number at a retained token is not finite
 */
export function recordOfSample(stored: Sample, neighbours: NeighbourValues, options: QualityRecordOptions): SampleDiagnosticRecord {
  const { sample, omitted } = usableSample(stored)
  const kept = retainedIndexes(sample.mask)
  return { index: sample.index, ...sampleRecord(sample, neighbours, qualityRecord(sample, options, kept), kept), omitted }
}

/** @param outcome the stated one, else the one derived from the score */
export function recordOfTrace(trace: ParsedTrace, outcome: Outcome | null, thresholds: readonly number[]): SampleDiagnosticRecord {
  const { index, fields } = trace
  const { step, score, uid } = fields
  // Copies: the arrays of the trace lie in the memory of the thread's kernel.
  const values = new Float64Array(trace.values)
  const returns = new Float64Array(trace.returns)
  const positions = new Int32Array(trace.positions)
  const quality = traceQualityRecord({ index, place: { trace: index }, step, uid, outcome, values, returns, positions }, thresholds)
  const numbers = {
    index,
    fields: { step, outcome, score, uid, truncated: null, rank: null },
    values: narrowest(values),
    returns: narrowest(returns),
    positions
  }
  return { index, ...traceRecord(numbers, quality), omitted: [] }
}
