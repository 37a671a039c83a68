/** Named arrays of one file, as NPZ, safetensors and a dictionary of tensors in a `.pt` hold them. */
import type { Place } from '../../core/errors.js'
import type { SampleNumbers } from '../../schema/samples.js'

export interface StoredArray {
  readonly shape: readonly number[]
  /** as the file writes it, for messages */
  readonly dtype: string
  /** the narrowest of the two that holds every number of this dtype exactly; null: text */
  readonly width: 'float32' | 'float64' | null
  /** The rows of the first axis from the first to the last, one call a row. Memory holds one block of the file at a time. */
  rows(): RowReader
  /** All elements of a small array, in C order. */
  whole(): Promise<SampleNumbers | readonly string[]>
}

export interface RowReader {
  /** the elements of the next row, in C order; valid until the next call */
  next(): Promise<SampleNumbers>
  close(): Promise<void>
}

export interface ArrayTable {
  /** first word of a message: `npz`, `safetensors`, `torch` */
  readonly format: string
  readonly place: Place
  /** in the order of the file */
  readonly arrays: ReadonlyMap<string, StoredArray>
}
