/**
 * Files of `torch.save`: a tree of plain values with tensors whose elements are read on demand. Nothing in a file is ever
 * called.
 */
import type { ByteSource } from '../../core/byte-source.js'
import type { Opaque, Tensor } from '../tensors/tensor.js'

/**
 * A value of the file. A list and a tuple are arrays, a dict is a Map, an integer beyond 2^53 is a bigint. A `set`, and
 * whatever else is not in this list, is an `Opaque`.
 *
 * The tree is safe to walk: it has no cycle and no depth beyond 1024, and a list or dict that it holds at several places does not blow
 * it up beyond a small multiple of the file. A key may be any value that is no list and no dict; no key stands twice.
 */
export type TorchValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Tensor
  | Opaque
  | readonly TorchValue[]
  | ReadonlyMap<TorchValue, TorchValue>

export interface TorchOptions {
  /** name of the file, for faults */
  readonly file?: string
  /** largest pickle that is read, in bytes; default 512 MiB */
  readonly maxPickleBytes?: number
}

/** `zip`: as torch writes since 1.6; `legacy`: the format before; null: another format. Reads a few bytes of the file. */
export async function recogniseTorch(source: ByteSource): Promise<'zip' | 'legacy' | null> {
  throw new Error(`not written: ${source.size}`)
}

/**
 * Reads the tree of a file. `source` must stay open while tensors of it are read.
 * @throws Fault: not a torch file, malformed, or its top-level value is of a refused class
 */
export async function readTorch(source: ByteSource, options: TorchOptions = {}): Promise<TorchValue> {
  throw new Error(`not written: ${source.size} ${options.file}`)
}
