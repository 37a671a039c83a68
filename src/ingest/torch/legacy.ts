/**
 * Files of `torch.save` before torch 1.6: a magic number, the version of the format and facts of the machine as three
 * pickles, the value as a fourth, the keys of the storages as a fifth, then each storage: the number of its elements in
 * eight bytes, and its bytes. The bytes are little-endian on every machine.
 *
 * Source: torch/serialization.py (`_legacy_save`, `_legacy_load`). Not supported: the tar files of torch before 0.2.
 */
import { printable, type Place } from '../../core/errors.js'
import type { ByteSource } from '../../core/byte-source.js'
import { torchFault } from './faults.js'
import { TorchNames } from './names.js'
import { readPickle, type Pickle, type PickleLimits } from './pickle.js'
import { EndOfPickle } from './pickle-bytes.js'
import { pickleKind, type PickleValue } from './pickle-machine.js'
import type { Storages } from './storages.js'

const MAGIC = 0x1950a86a20f9469cfc6cn
const FORMAT_VERSION = 1001
/** The magic number as a pickle of protocol 2 or later holds it: LONG1, ten bytes, STOP. */
const MAGIC_BYTES = Buffer.from('8a0a6cfc9c46f9206aa850192e', 'hex')
/** Bytes at the start of a file in which the magic number ends: behind PROTO and FRAME. */
export const MAGIC_ROOM = 32

/** First bytes that are read for a pickle. */
const FIRST_WINDOW = 2 ** 16
const COUNT_BYTES = 8

export function isLegacy(head: Uint8Array): boolean {
  return head[0] === 0x80 && Buffer.from(head).subarray(0, MAGIC_ROOM).includes(MAGIC_BYTES)
}

/** Reads the pickles, and finds the storages behind them. */
export async function readLegacy(source: ByteSource, limits: PickleLimits, file: Place): Promise<Pickle> {
  const pickles = new PickleSequence(source, limits, file)
  const magic = await pickles.next()
  if (magic.value !== MAGIC) throw torchFault('wrong magic number', pickleKind(magic.value), `0x${MAGIC.toString(16)}`, file)
  const version = await pickles.next()
  if (version.value !== FORMAT_VERSION) {
    const found = typeof version.value === 'number' ? `${version.value}` : pickleKind(version.value)
    throw torchFault('unsupported version', found, `${FORMAT_VERSION}`, file)
  }
  await pickles.next()
  const pickle = await pickles.next()
  const { storages } = pickles.names
  const keys = await pickles.next()
  await findStorages(source, pickles.at, storages, keysOf(keys.value, file), file)
  return pickle
}

function keysOf(value: PickleValue, file: Place): readonly string[] {
  const keys = Array.isArray(value) ? (value as readonly PickleValue[]).filter(key => typeof key === 'string') : []
  if (Array.isArray(value) && keys.length === value.length) return keys
  throw torchFault('malformed list of storages', pickleKind(value), 'a list of their keys', file)
}

async function findStorages(source: ByteSource, from: number, storages: Storages, keys: readonly string[], file: Place): Promise<void> {
  let at = from
  const missing = new Set(storages.byKey.keys())
  for (const key of keys) {
    const place = { ...file, array: `storage ${printable(key)}`, offset: at }
    const refused = storages.refused.get(key)
    // How many bytes it has depends on its class.
    if (refused !== undefined) throw refused.fault(place)
    const storage = storages.byKey.get(key)
    if (storage === undefined || !missing.delete(key))
      throw torchFault('unexpected storage', 'no tensor of this key, or a second one', 'one that the pickle refers to', place)
    if (at + COUNT_BYTES + storage.bytes > source.size) {
      throw torchFault('truncated', `${source.size - at} bytes`, `${COUNT_BYTES + storage.bytes} for this storage`, place)
    }
    const start = at + COUNT_BYTES
    const head = await source.slice(at, start)
    const count = new DataView(head.buffer, head.byteOffset, COUNT_BYTES).getBigInt64(0, true)
    if (count * BigInt(storage.itemSize) !== BigInt(storage.bytes)) {
      const found = `${count} elements of ${storage.itemSize} bytes`
      throw torchFault('wrong storage size', found, `${storage.bytes} bytes as the pickle states`, place)
    }
    storage.bind((a, b) => source.slice(start + a, start + b), false)
    at = start + storage.bytes
  }
  const [first] = missing
  if (first !== undefined)
    throw torchFault('missing storage', `no storage ${printable(first)}`, `${missing.size} more`, { ...file, offset: at })
  if (at !== source.size) throw torchFault('trailing bytes', `${source.size - at} bytes`, 'none', { ...file, offset: at })
}

/** Pickles one behind the other. How long one is shows only at its end, so that it may be read again with more bytes. */
class PickleSequence {
  /** offset of the next pickle */
  at = 0
  /** of the pickle read last */
  names: TorchNames
  readonly #source: ByteSource
  readonly #limits: PickleLimits
  readonly #file: Place
  #window = new Uint8Array(0)
  #start = 0

  constructor(source: ByteSource, limits: PickleLimits, file: Place) {
    this.#source = source
    this.#limits = limits
    this.#file = file
    this.names = new TorchNames(file)
  }

  async next(): Promise<Pickle> {
    const place = { ...this.#file, offset: this.at }
    const left = this.#source.size - this.at
    for (let length = this.#start + this.#window.length - this.at; ; length = Math.max(FIRST_WINDOW, 4 * length)) {
      const wanted = Math.min(length, left, this.#limits.bytes)
      if (this.#start + this.#window.length < this.at + wanted) {
        this.#window = await this.#source.slice(this.at, this.at + wanted)
        this.#start = this.at
      }
      this.names = new TorchNames(place)
      try {
        const pickle = readPickle(this.#window.subarray(this.at - this.#start), this.names, this.#limits, place)
        this.at += pickle.length
        return pickle
      } catch (error) {
        if (!(error instanceof EndOfPickle)) throw error
      }
      if (wanted === left) throw torchFault('truncated pickle', `the end of the file after ${left} bytes`, 'the rest of it', place)
      if (wanted === this.#limits.bytes) throw torchFault('pickle too large', `more than ${wanted} bytes`, `at most ${wanted}`, place)
    }
  }
}
