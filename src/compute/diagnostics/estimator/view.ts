/**
 * A sample as the audit reads it: a dump's sample, where values and returns of masked tokens are known, or a trace of a
 * snapshot, where only retained tokens are, and a gap in their positions is a gap between turns.
 */
import { retainedIndexes, type Sample, type SampleFields, type SampleNumbers } from '../../../schema/samples.js'

export interface AuditView {
  readonly index: number
  readonly fields: SampleFields
  /** true: arrays hold every response token, masked ones too */
  readonly whole: boolean
  /** response positions of the tokens with mask 1, increasing */
  readonly positions: Int32Array
  /** where token k of `positions` stands in the arrays */
  readonly at: Int32Array
  /** length of the arrays */
  readonly length: number
  readonly values: SampleNumbers | null
  readonly returns: SampleNumbers | null
  readonly advantages: SampleNumbers | null
  readonly rewards: SampleNumbers | null
  /** log ratio to the reference, a KL reward is -beta times it */
  readonly kl: SampleNumbers | null
}

function klOf(sample: Sample): SampleNumbers | null {
  const { kl, log_probs: own, ref_log_probs: reference } = sample.arrays
  if (kl !== undefined) return kl
  if (own === undefined || reference === undefined) return null
  return Float64Array.from(own, (p, t) => p - reference[t])
}

/** @param positions indexes of its retained tokens, where they are known */
export function viewOfSample(sample: Sample, positions = retainedIndexes(sample.mask)): AuditView {
  return {
    index: sample.index,
    fields: sample.fields,
    whole: true,
    positions,
    at: positions,
    length: sample.mask.length,
    values: sample.arrays.values ?? null,
    returns: sample.arrays.returns ?? null,
    advantages: sample.arrays.advantages ?? null,
    rewards: sample.arrays.token_rewards ?? null,
    kl: klOf(sample)
  }
}

/** A trace as snapshots hold them: one value and one return for each retained token. */
export interface TraceNumbers {
  readonly index: number
  readonly fields: SampleFields
  readonly values: SampleNumbers
  readonly returns: SampleNumbers
  readonly positions: Int32Array
}

function indexes(length: number): Int32Array {
  const all = new Int32Array(length)
  for (let k = 0; k < length; k++) all[k] = k
  return all
}

export function viewOfTrace(trace: TraceNumbers): AuditView {
  return {
    index: trace.index,
    fields: trace.fields,
    whole: false,
    positions: trace.positions,
    at: indexes(trace.positions.length),
    length: trace.positions.length,
    values: trace.values,
    returns: trace.returns,
    advantages: null,
    rewards: null,
    kl: null
  }
}
