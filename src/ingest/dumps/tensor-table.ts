/** Tensors by name as a table: safetensors, and a dictionary of a `.pt` file. Rows are read in blocks. */
import { Fault, type Place } from '../../core/errors.js'
import { ITEM_SIZE } from '../tensors/dtypes.js'
import { elementSpan, isContiguous } from '../tensors/strides.js'
import type { Tensor, TensorDtype, TensorNumbers } from '../tensors/tensor.js'
import { BLOCK_BYTES, columnLength, type ArrayRows, type StoredArray, type TableEntry } from './table.js'

const WIDE: ReadonlySet<TensorDtype> = new Set(['F64', 'I64', 'I32', 'U64', 'U32'])

export function widthOf(dtype: TensorDtype): 'float32' | 'float64' {
  return WIDE.has(dtype) ? 'float64' : 'float32'
}

function tensorArray(tensor: Tensor): StoredArray {
  return {
    shape: tensor.shape,
    itemSize: ITEM_SIZE[tensor.dtype],
    width: widthOf(tensor.dtype),
    rows: () => new TensorRows(tensor)
  }
}

/** Most elements of an array that repeats what is stored, as torch's `expand` does: a mask of any batch has fewer. */
const MAX_REPEATED = 2 ** 28

/** What a tensor of a few bytes would take without end; null: its storage has its elements, or they are few. */
export function tooRepeated({ shape, stride, length }: Tensor, format: string, place: Place): Fault | null {
  const stored = elementSpan(shape, stride)
  if (length <= MAX_REPEATED || length <= stored) return null
  const found = `${length} elements over ${stored} stored ones`
  return new Fault({ format, problem: 'tensor too large', found, expected: `at most ${MAX_REPEATED}`, place })
}

export function tensorEntry(tensor: Tensor): TableEntry {
  return { array: tensorArray(tensor), column: () => tensor.readNumbers(), columnLength: columnLength(tensor.shape) }
}

class TensorRows implements ArrayRows {
  readonly #tensor: Tensor
  /** the whole array, where its rows lie apart in the file: each block would read all of it */
  #whole: Promise<TensorNumbers> | null = null
  #row = 0

  constructor(tensor: Tensor) {
    this.#tensor = tensor
  }

  async next(count: number): Promise<TensorNumbers> {
    const from = this.#row
    this.#row += count
    const tensor = this.#tensor
    if (isContiguous(tensor.shape, tensor.stride) || !isScattered(tensor)) return tensor.rows(from, from + count).readNumbers()
    this.#whole ??= tensor.readNumbers()
    const rowLength = tensor.length / Math.max(1, tensor.shape[0])
    return (await this.#whole).subarray(from * rowLength, (from + count) * rowLength)
  }

  async end(): Promise<void> {
    // The container checked its bytes before the first part was read.
  }

  async close(): Promise<void> {
    this.#whole = null
  }
}

/** Whether a row spans much more of the storage than it has numbers, as in a transposed array. */
function isScattered({ shape, stride }: Tensor): boolean {
  const row = shape.slice(1).reduce((span, n, axis) => span + (n - 1) * stride[axis + 1], 1)
  const numbers = shape.slice(1).reduce((product, n) => product * n, 1)
  return row > 4 * numbers && row * 4 > BLOCK_BYTES
}
