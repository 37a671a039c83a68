/**
 * Columns that grow while a history is read. Numbers are stored in blocks of typed arrays, which are joined once at the
 * end. An array that doubles would be copied each time, and would hold up to three times the memory it needs.
 */
import type { HistoryColumn } from './types.js'

const FIRST_BLOCK = 256
const LARGEST_BLOCK = 1 << 16

type NumberArray = Float64Array | Int32Array

/** Numbers in the order of their arrival. */
export class GrowingArray<A extends NumberArray> {
  readonly #make: (length: number) => A
  readonly #full: A[] = []
  #block: A
  #used = 0
  #length = 0

  constructor(make: (length: number) => A) {
    this.#make = make
    this.#block = make(FIRST_BLOCK)
  }

  push(value: number): void {
    if (this.#used === this.#block.length) {
      this.#full.push(this.#block)
      this.#block = this.#make(Math.min(2 * this.#used, LARGEST_BLOCK))
      this.#used = 0
    }
    const block: NumberArray = this.#block
    block[this.#used++] = value
    this.#length++
  }

  /** All numbers in one array. The blocks are freed: no number may be pushed afterwards. */
  join(): A {
    const joined = this.#make(this.#length)
    let at = 0
    for (const block of this.#full) {
      joined.set(block, at)
      at += block.length
    }
    joined.set(this.#block.subarray(0, this.#used), at)
    this.#full.length = 0
    this.#block = this.#make(0)
    return joined
  }
}

export const growingDoubles = (): GrowingArray<Float64Array> => new GrowingArray(length => new Float64Array(length))
export const growingInts = (): GrowingArray<Int32Array> => new GrowingArray(length => new Int32Array(length))

/** Collects the values of one wanted key. */
export class ColumnBuilder {
  readonly key: string
  readonly #row = growingInts()
  readonly #value = growingDoubles()
  readonly #nonFiniteRow = growingInts()
  readonly #nonFinite = new Map<string, number>()
  nulls = 0
  notNumbers = 0

  constructor(key: string) {
    this.key = key
  }

  /** Adds a finite number. */
  add(row: number, value: number): void {
    this.#row.push(row)
    this.#value.push(value)
  }

  addNonFinite(row: number, spelling: string): void {
    this.#nonFiniteRow.push(row)
    this.#nonFinite.set(spelling, (this.#nonFinite.get(spelling) ?? 0) + 1)
  }

  finish(): HistoryColumn {
    const nonFinite = [...this.#nonFinite].sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      key: this.key,
      row: this.#row.join(),
      value: this.#value.join(),
      nonFiniteRow: this.#nonFiniteRow.join(),
      nonFinite: Object.fromEntries(nonFinite),
      nulls: this.nulls,
      notNumbers: this.notNumbers
    }
  }
}
