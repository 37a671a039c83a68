/**
 * The columns beside values and returns that a dump may have without numbers: advantages, KL, rewards of tokens. One that holds no
 * finite number at the retained tokens of a sample is left out of it, and counted; one that holds some has to hold all of them.
 */
import { EXIT, Fault } from '../../core/errors.js'
import type { Sample, SampleArray, SampleNumbers } from '../../schema/samples.js'

export const OMITTABLE = ['advantages', 'token_rewards', 'kl', 'log_probs', 'ref_log_probs'] as const satisfies readonly SampleArray[]
export type OmittedColumn = (typeof OMITTABLE)[number]

export interface UsableSample {
  readonly sample: Sample
  /** columns without a finite number at the sample's retained tokens */
  readonly omitted: readonly OmittedColumn[]
}

/** @throws Fault where a column holds finite numbers at some retained tokens and not at others */
export function usableSample(sample: Sample): UsableSample {
  const omitted = OMITTABLE.filter(name => {
    const array = sample.arrays[name]
    return array !== undefined && isWithoutNumbers(name, array, sample)
  })
  if (omitted.length === 0) return { sample, omitted }
  const kept = Object.entries(sample.arrays).filter(([name]) => !omitted.some(column => column === name))
  return { sample: { ...sample, arrays: Object.fromEntries(kept) }, omitted }
}

function isWithoutNumbers(name: OmittedColumn, array: SampleNumbers, { mask, place }: Sample): boolean {
  let finite = 0
  let first = -1
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0) continue
    if (Number.isFinite(array[t])) finite++
    else if (first < 0) first = t
  }
  if (first < 0 || finite === 0) return first >= 0
  throw new Fault({
    format: 'trace',
    problem: 'number that is not finite',
    found: String(array[first]),
    expected: 'finite numbers at the retained tokens, or none at all',
    place: { ...place, array: name, index: first },
    exitCode: EXIT.checkFailed
  })
}

/** One sentence for each column that samples were read without. */
export function omissionNotes(omitted: readonly (readonly OmittedColumn[])[]): readonly string[] {
  return OMITTABLE.flatMap(name => {
    const samples = omitted.filter(columns => columns.includes(name)).length
    if (samples === 0) return []
    return [`${name} of ${samples} of ${omitted.length} samples hold no finite number at retained tokens, and are left out`]
  })
}
