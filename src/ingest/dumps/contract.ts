/** What every reader of dumps gives: a plan that is made before any array is read, then the samples one after another. */
import type { HashedFile } from '../../schema/study.js'
import type { DumpFacts, DumpReading, LeftOut, Sample, SampleArray } from '../../schema/samples.js'
import type { SampleKeys } from '../../schema/sample-keys.js'

export interface DumpOptions {
  readonly keys: SampleKeys
  /** true: a bad sample is left out with its reason, instead of stopping the dump */
  readonly skipBad: boolean
  /** number of files in the folder that are of another kind, for a note */
  readonly passedOver?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** called with the number of bytes read so far */
  readonly onProgress?: ((bytes: number) => void) | undefined
}

/** From where, and to where, on a line of bytes or of files. */
export interface PartRange {
  readonly from: number
  readonly to: number
}

/** The sample next to a part of a dump, at either side: a record looks at its values. Its index is of no use. */
export interface Beside {
  readonly beside: Sample
}

/** One or several files that make one dump: ranks of one rollout, steps of one series. */
export interface Dump {
  /** complete when the last sample was read */
  readonly facts: DumpFacts
  readonly reading: DumpReading
  /** number of rows; null where only reading to the end tells */
  readonly rows: number | null
  /** arrays that the dump holds, with the narrowest of the two widths that loses nothing over all rows */
  readonly arrays: ReadonlyMap<SampleArray, 'float32' | 'float64'>
  readonly hasTokenIds: boolean
  /**
   * The samples in canonical order; once. Memory holds one sample, or one block of rows. Nobody changes a sample's arrays later;
   * they may be parts of a larger block.
   * @throws Fault with file, key, row and token of what is wrong
   */
  samples(wanted: readonly SampleArray[], tokenIds?: boolean): AsyncGenerator<Sample | LeftOut, void, void>
  /**
   * The samples that begin within a part of the bytes of all files in canonical order, with the sample beside the part at either
   * side. Row k of the n rows of a rollout begins at the k-th n-th of its bytes, a line of text where it stands. Files outside the
   * part are opened only for the sample beside it, and where their rows have to be counted; `inputs` has those within it.
   */
  samplesWithin(part: PartRange, wanted: readonly SampleArray[], tokenIds?: boolean): AsyncGenerator<Sample | LeftOut | Beside, void, void>
  /** every file of the dump with its hash; available after the last sample */
  readonly inputs: readonly HashedFile[]
  close(): Promise<void>
}

export function isLeftOut(item: Sample | LeftOut | Beside): item is LeftOut {
  return 'reason' in item
}

export function isBeside(item: Sample | LeftOut | Beside): item is Beside {
  return 'beside' in item
}
