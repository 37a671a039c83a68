/** Rows of several arrays read side by side, in blocks. */
import type { SampleKeyName } from '../../schema/sample-keys.js'
import type { TensorNumbers } from '../tensors/tensor.js'
import { BLOCK_BYTES, type ArrayRows, type StoredArray } from './table.js'

interface BlockArray {
  readonly name: string
  readonly columns: number
  readonly data: TensorNumbers
}

/** Some rows of every array. */
export interface RowBlock {
  readonly count: number
  readonly arrays: ReadonlyMap<SampleKeyName, BlockArray>
}

/** Reads the arrays side by side, a block of rows ahead of the caller. */
export class RowBlocks {
  readonly #readers: readonly { readonly key: SampleKeyName; readonly name: string; readonly columns: number; readonly reader: ArrayRows }[]
  readonly #rows: number
  readonly #step: number
  #ahead: Promise<unknown> = Promise.resolve()

  constructor(arrays: readonly { readonly key: SampleKeyName; readonly name: string; readonly array: StoredArray }[], rows: number) {
    this.#readers = arrays.map(({ key, name, array }) => ({ key, name, columns: array.shape[1], reader: array.rows() }))
    this.#rows = rows
    const widest = Math.max(1, ...arrays.map(({ array }) => array.shape[1] * array.itemSize))
    this.#step = Math.max(1, Math.floor(BLOCK_BYTES / widest))
  }

  async *all(): AsyncGenerator<RowBlock, void, void> {
    let ahead = this.#read(0)
    for (let row = 0; row < this.#rows; row += this.#step) {
      const block = await ahead
      ahead = this.#read(row + this.#step)
      yield block
    }
    await ahead
    await Promise.all(this.#readers.map(({ reader }) => reader.end()))
  }

  #read(from: number): Promise<RowBlock> {
    const count = Math.max(0, Math.min(this.#step, this.#rows - from))
    const reading = this.#block(count)
    this.#ahead = reading.catch(() => null)
    return reading
  }

  async #block(count: number): Promise<RowBlock> {
    const read = this.#readers.map(
      async ({ key, name, columns, reader }) => [key, { name, columns, data: await reader.next(count) }] as const
    )
    return { count, arrays: new Map(await Promise.all(read)) }
  }

  async close(): Promise<void> {
    await this.#ahead
    await Promise.all(this.#readers.map(({ reader }) => reader.close()))
  }
}
