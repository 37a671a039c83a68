/**
 * The compiled loops (`assembly/`, WebAssembly) and the memory that they run over. Each thread has one instance with one
 * memory, used again from trace to trace:
 *
 *     constants │ text of the trace, zeros │ arrays and copies, one behind the other as they are taken
 *
 * The memory is shared, though no other thread sees it: such a memory can grow while there are views of it. Pages that
 * nothing was written to cost none.
 */
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { describeCause, Fault } from '../core/errors.js'

/** How a loop over an array ended. */
export const enum Status {
  /** behind the `]` of its array */
  Closed = 0,
  /** at an element that the general scanner is to read */
  Odd = 1,
  /** behind an element, at a byte that is neither `,` nor `]` */
  Broken = 2
}

interface Exports {
  readonly FREE: WebAssembly.Global
  readonly POWERS: WebAssembly.Global
  readonly POWER_HIGH: WebAssembly.Global
  readonly POWER_LOW: WebAssembly.Global
  readonly MARKER: WebAssembly.Global
  readonly RESULTS: WebAssembly.Global
  /** a `Status`, of the last loop over an array */
  readonly status: WebAssembly.Global
  /** elements that the array had then */
  readonly count: WebAssembly.Global
  /** what `skim` is to be handed for the next chunk */
  readonly skimDepth: WebAssembly.Global
  readonly skimState: WebAssembly.Global
  nextTag(at: number, end: number): number
  skim(at: number, end: number, depth: number, state: number): number
  numbers(at: number, out: number, first: number): number
  texts(at: number, ends: number, first: number, marker: number): number
  sound(values: number, returns: number, positions: number, n: number): number
  boundaries(positions: number, n: number, out: number): number
  differsFromFloat32(doubles: number, stored: number, n: number): number
  differsFromFloat64(doubles: number, stored: number, n: number): number
  differsFromInt32(doubles: number, stored: number, n: number): number
  differsFromInt64(doubles: number, stored: number, n: number): number
  measure(values: number, returns: number, n: number, marks: number, count: number, threshold: number, expected: number): void
}

/** doubles that `measure` leaves */
const RESULTS = 14

/** Where a skim stands between two chunks: open braces, and whether the next byte is in a string, or escaped there. */
export interface SkimMark {
  depth: number
  state: number
}

export type Comparable = Float32Array | Float64Array | Int32Array | BigInt64Array

const PAGE_BYTES = 65536
const MAX_PAGES = 65536

/** Bytes behind what they are given that loops may look at, whatever stands there. */
const LOOK_AHEAD = 17

/** Bytes of memory that a byte of text may need in arrays: an element takes two bytes of text at least, and eight here. */
const ROOM_A_BYTE = 4

export class Kernel {
  readonly #memory = reserveMemory()
  readonly #exports: Exports
  /** address of the text */
  readonly base: number
  /** address behind what was taken */
  #end: number
  #markerLength = 0
  /** every growth makes a new buffer of the same bytes; views of the older ones stay valid */
  readonly #buffers = new Set<ArrayBufferLike>([this.#memory.buffer])

  constructor() {
    const code = readFileSync(new URL('kernel.wasm', import.meta.url))
    const instance = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory: this.#memory } })
    this.#exports = instance.exports as unknown as Exports
    this.base = align8(this.#exports.FREE.value as number)
    this.#end = this.base
  }

  /** The doubles that `numbers` computes with. */
  fillTables(tables: Readonly<Record<'POWERS' | 'POWER_HIGH' | 'POWER_LOW', Float64Array>>): void {
    for (const name of ['POWERS', 'POWER_HIGH', 'POWER_LOW'] as const) {
      new Float64Array(this.#memory.buffer, this.#exports[name].value as number, tables[name].length).set(tables[name])
    }
  }

  /** Frees everything, and gives room for a text of this length (the zeros behind it included) and for all arrays that it may hold. */
  begin(length: number): Buffer {
    const end = align8(this.base + length)
    this.#reserve(end + ROOM_A_BYTE * length + LOOK_AHEAD)
    this.#end = end
    return Buffer.from(this.#memory.buffer, this.base, length)
  }

  /** `length` bytes at an address that any typed array accepts, contents undefined; valid until `begin`. */
  take(length: number): Uint8Array {
    const at = this.#end
    const end = align8(at + length)
    this.#reserve(end + LOOK_AHEAD)
    this.#end = end
    return new Uint8Array(this.#memory.buffer, at, length)
  }

  /** Room behind what was taken, for as many doubles as the rest of the text can have, or more. */
  doubles(): Float64Array {
    const { buffer } = this.#memory
    return new Float64Array(buffer, this.#end, Math.floor((buffer.byteLength - this.#end) / 8))
  }

  /** The same, one byte an element. */
  flags(): Uint8Array {
    return new Uint8Array(this.#memory.buffer, this.#end)
  }

  /** The bytes themselves where they lie in this memory, else a copy, valid until what was `used` before is released to. */
  hold(bytes: Uint8Array): Uint8Array {
    if (this.#buffers.has(bytes.buffer)) return bytes
    const copy = this.take(bytes.length)
    copy.set(bytes)
    return copy
  }

  /** How far the memory is taken: a mark for `release`. */
  get used(): number {
    return this.#end
  }

  /** Frees what was taken since the mark. */
  release(mark: number): void {
    this.#end = mark
  }

  /** Index of the next `<` at or behind `from` that `/` or `!` follows, or that is the last byte; -1: none. `held`: see `hold`. */
  nextTag(held: Uint8Array, from: number): number {
    const at = held.byteOffset
    const found = this.#exports.nextTag(at + from, at + held.length) >>> 0
    return found === 0 ? -1 : found - at
  }

  /** Index behind the `}` that closes the last open brace, from `from` on; -1: not in these bytes. See `assembly/page.ts`. */
  skim(held: Uint8Array, from: number, mark: SkimMark): number {
    const at = held.byteOffset
    const found = this.#exports.skim(at + from, at + held.length, mark.depth, mark.state) >>> 0
    mark.depth = this.#exports.skimDepth.value as number
    mark.state = this.#exports.skimState.value as number
    return found === 0 ? -1 : found - at
  }

  /** What `texts` looks for: 1024 bytes at most; none: nothing. */
  set marker(bytes: Uint8Array) {
    new Uint8Array(this.#memory.buffer, this.#exports.MARKER.value as number, bytes.length).set(bytes)
    this.#markerLength = bytes.length
  }

  /** Reads numbers into the room, `first` of which are there, from offset `at` of the text. Returns the offset where that ended. */
  numbers(at: number, first: number): number {
    return (this.#exports.numbers(this.base + at, this.#end, first) >>> 0) - this.base
  }

  /** Reads over strings in the same way; a 1 for each that ends with the marker, 0 where there is none. */
  texts(at: number, first: number): number {
    return (this.#exports.texts(this.base + at, this.#end, first, this.#markerLength) >>> 0) - this.base
  }

  /** how the last loop over an array ended */
  get status(): Status {
    return this.#exports.status.value as Status
  }

  /** elements in the room since */
  get count(): number {
    return this.#exports.count.value as number
  }

  /** Whether all values and returns are finite, and positions safe integers that strictly increase. All of one length, one at least. */
  sound(values: Float64Array, returns: Float64Array, positions: Float64Array): boolean {
    requireLength(values.length, values, returns, positions)
    requireElements(values)
    return this.#within([values, returns, positions], ([v, r, p]) => this.#exports.sound(v, r, p, values.length) !== 0)
  }

  /** Indexes i of the boundary transitions: positions i and i + 1 differ by other than one. */
  boundaries(positions: Float64Array): Int32Array {
    requireLength(positions.length, positions)
    return this.#within([positions], ([p]) => {
      const out = this.take(4 * positions.length)
      const count = this.#exports.boundaries(p, positions.length, out.byteOffset)
      return new Int32Array(out.buffer, out.byteOffset, count).slice()
    })
  }

  /** Index of the first double that differs, as a number, from the one stored at its place; -1: none. Both of one length. */
  difference(doubles: Float64Array, stored: Comparable): number {
    requireLength(stored.length, doubles)
    return this.#within([doubles, stored], ([a, b]) => {
      const n = doubles.length
      if (stored instanceof Float32Array) return this.#exports.differsFromFloat32(a, b, n)
      if (stored instanceof Float64Array) return this.#exports.differsFromFloat64(a, b, n)
      if (stored instanceof Int32Array) return this.#exports.differsFromInt32(a, b, n)
      return this.#exports.differsFromInt64(a, b, n)
    })
  }

  /** The sums of one trace; see `assembly/statistics.ts`. */
  measure(values: Float64Array, returns: Float64Array, boundaries: Int32Array, threshold: number, expectedReturn: number): Float64Array {
    requireLength(values.length, values, returns)
    requireElements(values)
    return this.#within([values, returns, boundaries], ([v, r, b]) => {
      this.#exports.measure(v, r, values.length, b, boundaries.length, threshold, expectedReturn)
      return new Float64Array(this.#memory.buffer, this.#exports.RESULTS.value as number, RESULTS).slice()
    })
  }

  /** Calls with the arrays' addresses; those that lie elsewhere are copied here for as long. */
  #within<T>(arrays: readonly ArrayBufferView[], use: (addresses: number[]) => T): T {
    const mark = this.#end
    try {
      return use(arrays.map(({ buffer, byteOffset, byteLength }) => this.hold(new Uint8Array(buffer, byteOffset, byteLength)).byteOffset))
    } finally {
      this.release(mark)
    }
  }

  #reserve(end: number): void {
    const missing = Math.ceil((end - this.#memory.buffer.byteLength) / PAGE_BYTES)
    if (missing <= 0) return
    try {
      this.#memory.grow(missing)
    } catch (cause) {
      const expected = 'a trace that fits in the 4 GiB of the compiled loops'
      throw new Fault({ format: 'trace', problem: 'too large', found: `${end} bytes of memory needed`, expected, cause })
    }
    this.#buffers.add(this.#memory.buffer)
  }
}

/** The engine reserves addresses, not memory, for all that it may grow to, and for guards behind it: some 10 GiB each. */
function reserveMemory(): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES, shared: true })
  } catch (cause) {
    const expected = 'address space of 12 GiB a thread (ulimit -v; node --disable-wasm-trap-handler needs 5)'
    throw new Fault({ format: 'kernel', problem: 'without memory', found: describeCause(cause), expected, cause })
  }
}

let ofThread: Kernel | null = null

/** The one kernel of this thread. */
export function kernelOfThread(): Kernel {
  ofThread ??= new Kernel()
  return ofThread
}

function requireElements(array: Float64Array): void {
  if (array.length === 0) throw new RangeError('an array of no element, expected one at least')
}

/** The loops believe what they are told: what types cannot say is asked here. */
function requireLength(length: number, ...arrays: readonly Float64Array[]): void {
  for (const array of arrays) {
    if (!(array instanceof Float64Array)) throw new TypeError('the compiled loops take a Float64Array')
    if (array.length !== length) throw new RangeError(`arrays of ${length} and ${array.length} elements, expected one length`)
  }
}

function align8(address: number): number {
  return Math.ceil(address / 8) * 8
}
