/** The storages that a pickle refers to, and where their bytes are, which is known only after the pickle. */
import type { Place } from '../../core/errors.js'
import { Opaque, type TensorDtype } from '../tensors/tensor.js'
import type { TensorStorage } from '../tensors/stored-tensor.js'
import { torchFault } from './faults.js'

/** Bytes `start` to `end` of a storage, in memory of their own. */
export type SliceStorage = (start: number, end: number) => Promise<Uint8Array<ArrayBuffer>>

export class TorchStorage implements TensorStorage {
  readonly name: string
  readonly bytes: number
  /** bytes of an element, as the pickle states the storage's type; 1 where it has none */
  readonly itemSize: number
  bigEndian = false
  #slice: SliceStorage | null = null

  constructor(name: string, bytes: number, itemSize: number) {
    this.name = name
    this.bytes = bytes
    this.itemSize = itemSize
  }

  /** States where the bytes are. */
  bind(slice: SliceStorage, bigEndian: boolean): void {
    this.#slice = slice
    this.bigEndian = bigEndian
  }

  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#slice === null) throw new TypeError(`storage ${this.name} is not bound`)
    return this.#slice(start, end)
  }
}

/** A part of a storage: torch before 1.6 lets a storage be a view of another. */
class StorageView implements TensorStorage {
  readonly name: string
  readonly bytes: number
  readonly #of: TorchStorage
  readonly #start: number

  constructor(of: TorchStorage, start: number, bytes: number) {
    this.name = of.name
    this.bytes = bytes
    this.#of = of
    this.#start = start
  }

  get bigEndian(): boolean {
    return this.#of.bigEndian
  }

  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#of.slice(this.#start + start, this.#start + end)
  }
}

/** What a class of storages says of its elements. */
export interface StorageType {
  /** null: not read */
  readonly dtype: TensorDtype | null
  /** what the storage counts; 1 where it is untyped */
  readonly itemSize: number
}

/** A persistent id: a storage as it stands in a pickle. As a value of the tree it is not read. */
export class StorageValue extends Opaque {
  constructor(
    name: string,
    expected: string,
    readonly storage: TensorStorage,
    readonly type: StorageType
  ) {
    super('torch', name, expected)
  }
}

/** The storages of one file by key. */
export class Storages {
  readonly byKey = new Map<string, TorchStorage>()
  /** those of a class that is not known */
  readonly refused = new Map<string, Opaque>()
  readonly #place: Place

  /** @param place of the pickle */
  constructor(place: Place) {
    this.#place = place
  }

  /** The storage of a key. @throws Fault where the pickle states another size for it elsewhere */
  add(key: string, count: number, type: StorageType, offset: number): TorchStorage {
    const bytes = count * type.itemSize
    const fault = (problem: string, found: string, expected: string): Error =>
      torchFault(problem, found, expected, { ...this.#place, offset: (this.#place.offset ?? 0) + offset })
    if (!Number.isSafeInteger(bytes))
      throw fault('impossible storage', `${count} elements of ${type.itemSize} bytes`, 'fewer than 2^53 bytes')
    const known = this.byKey.get(key)
    if (known === undefined) {
      const storage = new TorchStorage(key, bytes, type.itemSize)
      this.byKey.set(key, storage)
      return storage
    }
    if (known.bytes !== bytes) throw fault('contradicting storages', `${bytes} bytes for storage ${key}`, `${known.bytes} as before`)
    return known
  }

  /** @throws Fault where the part lies outside of its storage */
  view(of: TorchStorage, start: number, count: number, type: StorageType, offset: number): TensorStorage {
    const [from, bytes] = [start * type.itemSize, count * type.itemSize]
    if (from + bytes <= of.bytes) return new StorageView(of, from, bytes)
    const place = { ...this.#place, offset: (this.#place.offset ?? 0) + offset }
    throw torchFault('view outside of its storage', `${bytes} bytes from byte ${from}`, `at most ${of.bytes}`, place)
  }
}
