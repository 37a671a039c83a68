/**
 * What the diagnostics keep of one sample: plain numbers of a size that does not grow with its tokens. Records are made in
 * workers, each from one sample and the values of its two neighbours, and are reduced in canonical order: the same records in
 * the same order give the same bytes, whatever files or threads they came from. A merge of two parts of a run is the
 * concatenation of their records.
 */
import type { Sample, SampleNumbers } from '../../schema/samples.js'
import type { NeighbourValues } from './estimator/inside.js'
import { type EstimatorRecord, estimatorRecord } from './estimator/record.js'
import { type TraceNumbers, viewOfSample, viewOfTrace } from './estimator/view.js'

export interface DiagnosticRecord<Quality> {
  readonly estimator: EstimatorRecord
  /** what the statistics of quality keep of the sample */
  readonly quality: Quality
}

export const NO_NEIGHBOURS: NeighbourValues = { before: null, behind: null }

/** `before` and `behind`: the samples beside it in canonical order. */
export function neighbourValues(before: Sample | null, behind: Sample | null): NeighbourValues {
  const values = (sample: Sample | null): SampleNumbers | null => sample?.arrays.values ?? null
  return { before: values(before), behind: values(behind) }
}

/** @param kept indexes of its retained tokens, where they are known */
export function sampleRecord<Quality>(
  sample: Sample,
  neighbours: NeighbourValues,
  quality: Quality,
  kept?: Int32Array
): DiagnosticRecord<Quality> {
  return { estimator: estimatorRecord(viewOfSample(sample, kept), neighbours), quality }
}

/** A trace of a snapshot: masked tokens are not known. */
export function traceRecord<Quality>(trace: TraceNumbers, quality: Quality): DiagnosticRecord<Quality> {
  return { estimator: estimatorRecord(viewOfTrace(trace), NO_NEIGHBOURS), quality }
}
