/**
 * Files of `torch.save`: a tree of plain values with tensors whose elements are read on demand. Nothing in a file is ever
 * called.
 */
import { Fault, type Place } from '../../core/errors.js'
import type { ByteSource } from '../../core/byte-source.js'
import { Opaque, type Tensor } from '../tensors/tensor.js'
import { hex, LOCAL_SIGNATURE, ZipFields } from '../zip/zip-end.js'
import { isArchive, openArchive, readArchive } from './archive.js'
import { torchFault } from './faults.js'
import { isLegacy, MAGIC_ROOM, readLegacy } from './legacy.js'
import type { Pickle, PickleLimits } from './pickle.js'
import { checkTree } from './tree.js'

/**
 * A value of the file. A list and a tuple are arrays, a dict is a Map, an integer of 2^53 or more is a bigint. A `set`, and
 * whatever else is not in this list, is an `Opaque`.
 *
 * The tree can be walked: it has no cycle, no depth beyond 1024, and at most 64 values for each byte of its pickle, however
 * often a list stands in it. A key may be any value that is no list and no dict; no text or number stands twice.
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
  /** most memory of the tree without its tensors, in bytes, about; default 1 GiB */
  readonly maxTreeBytes?: number
}

const MAX_PICKLE_BYTES = 2 ** 29
const MAX_TREE_BYTES = 2 ** 30

/** `zip`: as torch writes since 1.6; `legacy`: the format before; null: another format. Of a ZIP its directory is read. */
export async function recogniseTorch(source: ByteSource): Promise<'zip' | 'legacy' | null> {
  const head = await source.slice(0, Math.min(MAGIC_ROOM, source.size))
  if (isLegacy(head)) return 'legacy'
  if (!isZip(head)) return null
  try {
    return isArchive((await openArchive(source, {})).names) ? 'zip' : null
  } catch (error) {
    if (error instanceof Fault && error.details.format === 'zip') return null
    throw error
  }
}

/**
 * Reads the tree of a file. `source` must stay open while tensors of it are read.
 * @throws Fault: not a torch file, malformed, or its top-level value is of a class that is not read
 */
export async function readTorch(source: ByteSource, options: TorchOptions = {}): Promise<TorchValue> {
  const place: Place = options.file === undefined ? {} : { file: options.file }
  const limits = { bytes: options.maxPickleBytes ?? MAX_PICKLE_BYTES, memory: options.maxTreeBytes ?? MAX_TREE_BYTES }
  const head = await source.slice(0, Math.min(MAGIC_ROOM, source.size))
  const pickle = await readPickles(source, head, limits, place)
  if (pickle.value instanceof Opaque) throw pickle.value.fault(place)
  checkTree(pickle, place)
  return pickle.value
}

function isZip(head: Uint8Array): boolean {
  return head.length >= 4 && new ZipFields(head).u32(0) === LOCAL_SIGNATURE
}

async function readPickles(source: ByteSource, head: Uint8Array, limits: PickleLimits, place: Place): Promise<Pickle> {
  if (isLegacy(head)) return readLegacy(source, limits, place)
  if (isZip(head)) return readArchive(await openArchive(source, place), limits, place)
  throw torchFault('not recognised', hex(head.subarray(0, 8)), 'a ZIP archive, or a pickle with the magic number of torch', place)
}
