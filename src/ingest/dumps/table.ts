/** Named arrays of one file, as NPZ, safetensors and a dictionary of tensors hold them. */
import type { Place } from '../../core/errors.js'
import type { TensorNumbers } from '../tensors/tensor.js'

/** Bytes of an array in memory at once, about: a block of rows. */
export const BLOCK_BYTES = 2 ** 20

/** Reads the rows of an array from the first to the last. */
export interface ArrayRows {
  /** The next `count` rows, in C order. Nobody changes the memory later. */
  next(count: number): Promise<TensorNumbers>
  /** Behind the last row: checks what can be checked there. */
  end(): Promise<void>
  close(): Promise<void>
}

export interface StoredArray {
  readonly shape: readonly number[]
  /** bytes of an element as it is stored */
  readonly itemSize: number
  /** the narrowest of the two that holds every number of this dtype exactly */
  readonly width: 'float32' | 'float64'
  rows(): ArrayRows
}

/** One value a row, or a single one: numbers or texts. */
export type TableColumn = TensorNumbers | readonly (string | number | boolean | null)[]

export interface TableEntry {
  /** null: not numbers */
  readonly array: StoredArray | null
  /** The values of a [B], [B, 1] or 0-d array. @throws Fault where it cannot be read */
  column(): Promise<TableColumn>
  /** number of values that `column` gives; null: it is no column */
  readonly columnLength: number | null
}

export interface ArrayTable {
  /** first word of a message: `npz`, `safetensors`, `torch` */
  readonly format: string
  readonly place: Place
  /** in the order of the file */
  readonly entries: ReadonlyMap<string, TableEntry>
  /** Why an entry cannot be read; thrown where it is needed. */
  readonly refused: ReadonlyMap<string, Error>
}

/** Largest [B] array that is read. */
export const MAX_COLUMN_BYTES = 2 ** 26

/** Length of the column that an array of this shape is: [B], [B, 1] or 0-d; null: it is none. */
export function columnLength(shape: readonly number[]): number | null {
  if (shape.length === 0) return 1
  return shape.length === 1 || (shape.length === 2 && shape[1] === 1) ? shape[0] : null
}
