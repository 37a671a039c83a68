/**
 * Numbers the keys of a file, so that a key that was seen before costs one comparison of bytes and no decoding.
 *
 * Rows of one run hold nearly the same keys in nearly the same order. The index remembers which key came next behind
 * each key, and compares the bytes with that one first. On a miss the key is looked up by hash; only a new spelling is
 * decoded. Two spellings of one key (`"a"`, `"\u0061"`) have two ids and one canonical id.
 */
import { Buffer, isUtf8 } from 'node:buffer'
import { stringEnd } from '../json/skip.js'
import { decodeString } from '../json/text.js'
import type { RowText } from './row-text.js'

/** The id that stands for "no key yet". The key remembered behind it is a row's first key. */
export const ROW_START = 0

/** Longest key, in raw bytes. */
export const MAX_KEY_BYTES = 1 << 16

/** Most keys of one row. More than a tracker keeps for a whole project. */
export const MAX_KEYS = 100_000

/** Most remembered spellings, and their bytes. At the limit the index starts anew, so that memory stays bounded. */
const MAX_SPELLINGS = 1 << 16
const MAX_STORE = 1 << 24

/** Slots for recent keys, a power of two. Keys of one slot replace each other: that costs time, linear at worst. */
const RECENT = 1 << 12

export class KeyIndex {
  /** offset behind the closing quote of the last key found */
  end = 0
  readonly #slots: ReadonlyMap<string, number>
  #idOfRaw = new Map<string, number>()
  #idOfText = new Map<string, number>()
  /** by id */
  readonly #start: number[] = []
  readonly #length: number[] = []
  readonly #canonical: number[] = []
  readonly #slot: number[] = []
  readonly #next: number[] = []
  readonly #lastRow: number[] = []
  /** raw spellings with their closing quotes, one behind another */
  #store = Buffer.alloc(1 << 12)
  #view = new DataView(this.#store.buffer, this.#store.byteOffset, this.#store.length)
  #stored = 0
  /** the last id of each hash: finds the keys of rows whose keys change places, without decoding */
  readonly #recent = new Int32Array(RECENT)

  /** @param slots the caller's number for each wanted key (decoded) */
  constructor(slots: ReadonlyMap<string, number>) {
    this.#slots = slots
    this.#forget()
  }

  /** Must be called before each row. */
  beginRow(): void {
    if (this.#start.length > MAX_SPELLINGS || this.#stored > MAX_STORE) this.#forget()
  }

  /** The id of the key whose opening quote is at `at`; `previous` is the key before it in the row. Sets `end`. */
  find(text: RowText, at: number, previous: number): number {
    const guess = this.#next[previous]
    if (guess !== ROW_START && this.#spells(text, at + 1, guess)) {
      this.end = at + 1 + this.#length[guess]
      return guess
    }
    const id = this.#lookUp(text, at)
    this.#next[previous] = id
    return id
  }

  /** The caller's number of a wanted key, -1 for any other. */
  slot(id: number): number {
    return this.#slot[id]
  }

  /** Records that the key occurs in a row (numbered from 1). False if it was recorded for that row already. */
  firstIn(row: number, id: number): boolean {
    const canonical = this.#canonical[id]
    if (this.#lastRow[canonical] === row) return false
    this.#lastRow[canonical] = row
    return true
  }

  /** The key as text. */
  textOf(id: number): string {
    const start = this.#start[id]
    return decodeString(this.#store.subarray(start, start + this.#length[id] - 1))
  }

  /** True if the bytes at `at` are this spelling with its closing quote. A line end or a zero ends the comparison. */
  #spells(text: RowText, at: number, id: number): boolean {
    const { bytes, view } = text
    const store = this.#store
    const start = this.#start[id]
    const length = this.#length[id]
    let k = 0
    for (; k + 4 <= length; k += 4) {
      if (view.getInt32(at + k, true) !== this.#view.getInt32(start + k, true)) return false
    }
    for (; k < length; k++) {
      if (bytes[at + k] !== store[start + k]) return false
    }
    return true
  }

  #lookUp(text: RowText, at: number): number {
    this.end = stringEnd(text, at)
    const start = at + 1
    const length = this.end - 1 - start
    if (length > MAX_KEY_BYTES) {
      throw text.fault('too long', `a key of ${length} bytes`, `at most ${MAX_KEY_BYTES}`, text.place(at))
    }
    const place = hashOf(text, start, length) & (RECENT - 1)
    const recent = this.#recent[place]
    if (recent !== ROW_START && this.#spells(text, start, recent)) return recent
    const id = this.#intern(text, start, length)
    this.#recent[place] = id
    return id
  }

  /** The id of a spelling that is not among the recent ones. A new spelling gets a new id. */
  #intern(text: RowText, start: number, length: number): number {
    const spelling = text.bytes.toString('latin1', start, start + length)
    const known = this.#idOfRaw.get(spelling)
    if (known !== undefined) return known
    const raw = text.bytes.subarray(start, start + length)
    if (!isUtf8(raw)) throw text.fault('wrong encoding', 'a key that is not UTF-8', 'UTF-8', text.place(start - 1))
    const decoded = decodeString(raw)
    const id = this.#start.length
    const canonical = this.#idOfText.get(decoded) ?? id
    this.#idOfRaw.set(spelling, id)
    if (canonical === id) this.#idOfText.set(decoded, id)
    this.#add(text.bytes.subarray(start, start + length + 1), canonical, this.#slots.get(decoded) ?? -1)
    return id
  }

  #add(raw: Uint8Array, canonical: number, slot: number): void {
    if (this.#stored + raw.length > this.#store.length) {
      const larger = Buffer.alloc(2 * (this.#stored + raw.length))
      larger.set(this.#store.subarray(0, this.#stored))
      this.#store = larger
      this.#view = new DataView(larger.buffer, larger.byteOffset, larger.length)
    }
    this.#store.set(raw, this.#stored)
    this.#start.push(this.#stored)
    this.#length.push(raw.length)
    this.#canonical.push(canonical)
    this.#slot.push(slot)
    this.#next.push(ROW_START)
    this.#lastRow.push(0)
    this.#stored += raw.length
  }

  #forget(): void {
    this.#idOfRaw = new Map()
    this.#idOfText = new Map()
    const lists = [this.#start, this.#length, this.#canonical, this.#slot, this.#next, this.#lastRow]
    for (const list of lists) list.length = 0
    this.#stored = 0
    this.#recent.fill(ROW_START)
    this.#add(new Uint8Array(0), ROW_START, -1)
  }
}

/** A hash of the spelling. Two spellings may share one: it only selects the slot to compare with. */
function hashOf({ bytes, view }: RowText, start: number, length: number): number {
  let hash = length
  let k = 0
  for (; k + 4 <= length; k += 4) hash = Math.imul(hash ^ view.getInt32(start + k, true), 0x9e3779b1)
  for (; k < length; k++) hash = Math.imul(hash ^ bytes[start + k], 0x9e3779b1)
  return hash ^ (hash >>> 15)
}
