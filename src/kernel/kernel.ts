/**
 * The compiled loops (`assembly/`, WebAssembly) and the memory that they run over. Each thread has one instance with one
 * memory, reused from trace to trace (`open.ts`):
 *
 *     constants │ text of the trace, zeros │ arrays and copies, in the order in which they are taken
 *
 * The memory is shared although no other thread sees it, because only a shared memory can grow while views of it exist.
 * Pages that were never written take no memory.
 */
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { Fault } from '../core/errors.js'

/** How a loop over an array ended. */
export const enum Status {
  /** behind the `]` of the array */
  Closed = 0,
  /** at an element that the general scanner must read */
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
  /** a `Status`: how the last loop over an array ended */
  readonly status: WebAssembly.Global
  /** number of elements that the array had then */
  readonly count: WebAssembly.Global
  /** values to pass to `skim` for the next chunk */
  readonly skimDepth: WebAssembly.Global
  readonly skimState: WebAssembly.Global
  move(to: number, from: number, length: number): void
  nextTag(at: number, end: number): number
  skim(at: number, end: number, depth: number, state: number): number
  numbers(at: number, out: number, first: number): number
  texts(at: number, ends: number, first: number, marker: number): number
  sound(values: number, returns: number, positions: number, n: number): number
  boundaries(positions: number, n: number, out: number): number
  differsFromFloat32(doubles: number, stored: number, n: number): number
  differsFromInt64(doubles: number, stored: number, n: number): number
  measure(values: number, returns: number, n: number, marks: number, count: number, threshold: number, expected: number): void
  addRows(
    rows: number,
    blocks: number,
    count: number,
    order: number,
    units: number,
    counts: number,
    width: number,
    sums: number,
    columns: number
  ): void
  countPairs(units: number, flags: number, n: number, counts: number, width: number, out: number): void
}

/** How often each of several resamples drew each unit: `counts[unit * width + b]` for resample b. `width` is even. */
export interface ResampleCounts {
  readonly counts: Uint16Array
  readonly width: number
}

/** Rows of sums in blocks of eight; see `assembly/resampling.ts`. */
export interface BlockedRows {
  /** [units] the unit of each row */
  readonly order: Int32Array
  readonly rows: Float64Array
  /** [blocks + 1] where each block begins */
  readonly blocks: Int32Array
  readonly columns: number
}

/** Number of doubles that `measure` writes. */
export const RESULTS = 14

/** State of a skim between two chunks: open braces, and whether the next byte is in a string, or escaped in one. */
export interface SkimMark {
  depth: number
  state: number
}

/** Arrays that `difference` compares. For float64 and int32 a loop of the caller's costs half a per cent of a run. */
export type Comparable = Float32Array | BigInt64Array

const PAGE_BYTES = 65536
const MAX_PAGES = 65536

/** Bytes behind their input that the loops may read, whatever those bytes are. */
const LOOK_AHEAD = 17

/** Bytes of array memory that a byte of text may need: an element takes two or more in the text, and eight in an array. */
export const ROOM_A_BYTE = 4

/** What a thread needs of the loops and their memory. `plain.ts` has it without WebAssembly. */
export type Kernel = Pick<CompiledKernel, keyof CompiledKernel>

export class CompiledKernel {
  readonly #memory: WebAssembly.Memory
  readonly #exports: Exports
  /** address behind the constants */
  readonly #base: number
  /** address of the text */
  #text: number
  /** address behind the memory that is taken */
  #end: number
  #markerLength = 0
  /** all buffers so far: each growth makes a new buffer of the same bytes, and views of the older ones stay valid */
  readonly #buffers: Set<ArrayBufferLike>

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory
    this.#buffers = new Set([memory.buffer])
    const code = readFileSync(new URL('kernel.wasm', import.meta.url))
    const instance = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory: this.#memory } })
    this.#exports = instance.exports as unknown as Exports
    this.#base = align8(this.#exports.FREE.value as number)
    this.#text = this.#base
    this.#end = this.#base
  }

  /** Writes the doubles that `numbers` computes with. */
  fillTables(tables: Readonly<Record<'POWERS' | 'POWER_HIGH' | 'POWER_LOW', Float64Array>>): void {
    for (const name of ['POWERS', 'POWER_HIGH', 'POWER_LOW'] as const) {
      new Float64Array(this.#memory.buffer, this.#exports[name].value as number, tables[name].length).set(tables[name])
    }
  }

  /**
   * Frees everything. Makes room for a text of this length (zeros included) and for all arrays that it may hold. `phase`: as in
   * `core/phase.ts`.
   */
  begin(length: number, phase = 0): Buffer {
    this.#text = this.#base + phase
    const end = align8(this.#text + length)
    this.#reserve(end + ROOM_A_BYTE * length + LOOK_AHEAD)
    this.#end = end
    return Buffer.from(this.#memory.buffer, this.#text, length)
  }

  /** Takes `length` bytes, aligned for any typed array. Their content is undefined; they are valid until `begin`. */
  take(length: number): Uint8Array {
    const at = this.#end
    const end = align8(at + length)
    this.#reserve(end + LOOK_AHEAD)
    this.#end = end
    return new Uint8Array(this.#memory.buffer, at, length)
  }

  /** A copy in this memory, at an address that is aligned for any typed array. */
  copy(bytes: Uint8Array): Uint8Array {
    const copy = this.take(bytes.length)
    if (this.#buffers.has(bytes.buffer)) this.#exports.move(copy.byteOffset, bytes.byteOffset, bytes.length)
    else copy.set(bytes)
    return copy
  }

  /** Room behind the taken memory, for at least as many doubles as the rest of the text can have. */
  doubles(): Float64Array {
    const { buffer } = this.#memory
    return new Float64Array(buffer, this.#end, Math.floor((buffer.byteLength - this.#end) / 8))
  }

  /** The same room, with one byte per element. */
  flags(): Uint8Array {
    return new Uint8Array(this.#memory.buffer, this.#end)
  }

  /** The bytes themselves if they lie in this memory, else a copy. Valid until a mark from before the call is released. */
  hold(bytes: Uint8Array): Uint8Array {
    if (this.#buffers.has(bytes.buffer)) return bytes
    return this.copy(bytes)
  }

  /** End of the taken memory, as a mark for `release`. */
  get used(): number {
    return this.#end
  }

  /** Frees what was taken since the mark. */
  release(mark: number): void {
    this.#end = mark
  }

  /** Index from `from` on of the next `<` before `/` or `!`, or at the last byte; -1: none. `held`: see `hold`. */
  nextTag(held: Uint8Array, from: number): number {
    const at = held.byteOffset
    const found = this.#exports.nextTag(at + from, at + held.length) >>> 0
    return found === 0 ? -1 : found - at
  }

  /** Index behind the `}` that closes the last open brace, from `from` on; -1: none. See `assembly/page.ts`. */
  skim(held: Uint8Array, from: number, mark: SkimMark): number {
    const at = held.byteOffset
    const found = this.#exports.skim(at + from, at + held.length, mark.depth, mark.state) >>> 0
    mark.depth = this.#exports.skimDepth.value as number
    mark.state = this.#exports.skimState.value as number
    return found === 0 ? -1 : found - at
  }

  /** The marker that `texts` looks for, at most 1024 bytes. An empty marker is not looked for. */
  set marker(bytes: Uint8Array) {
    new Uint8Array(this.#memory.buffer, this.#exports.MARKER.value as number, bytes.length).set(bytes)
    this.#markerLength = bytes.length
  }

  /** Reads numbers from offset `at` of the text into the room, which holds `first` of them. Returns the offset of the end. */
  numbers(at: number, first: number): number {
    return (this.#exports.numbers(this.#text + at, this.#end, first) >>> 0) - this.#text
  }

  /** Reads over strings in the same way. Writes a 1 for each that ends with the marker; zeros without a marker. */
  texts(at: number, first: number): number {
    return (this.#exports.texts(this.#text + at, this.#end, first, this.#markerLength) >>> 0) - this.#text
  }

  /** how the last loop over an array ended */
  get status(): Status {
    return this.#exports.status.value as Status
  }

  /** number of elements in the room after that loop */
  get count(): number {
    return this.#exports.count.value as number
  }

  /** True if values and returns are finite, and positions are safe integers that strictly increase. Equal lengths >= 1. */
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

  /** An index up to which all doubles equal, as numbers, what is stored at their places; -1: all do. Equal lengths. */
  difference(doubles: Float64Array, stored: Comparable): number {
    requireLength(stored.length, doubles)
    return this.#within([doubles, stored], ([a, b]) => {
      const n = doubles.length
      if (stored instanceof Float32Array) return this.#exports.differsFromFloat32(a, b, n)
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

  /**
   * [width × columns] each resample's sums of rows; those of resamples b and b + 1 lie together, by column. They lie in this memory,
   * until its next use.
   */
  addRows({ rows, blocks, order, columns }: BlockedRows, { counts, width }: ResampleCounts): Float64Array {
    return this.#within([rows, blocks, order, counts], ([r, k, o, c]) => {
      const sums = this.#zeros(width * columns)
      this.#exports.addRows(r, k, blocks.length - 1, o, order.length, c, width, sums.byteOffset, columns)
      return sums
    })
  }

  /** [2 × width] pairs of a success and a failure of each resample, then twice those in which the success is ahead. */
  countPairs(units: Int32Array, flags: Uint8Array, { counts, width }: ResampleCounts): Float64Array {
    return this.#within([units, flags, counts], ([u, f, c]) => {
      const out = this.#zeros(2 * width)
      this.#exports.countPairs(u, f, units.length, c, width, out.byteOffset)
      return out.slice()
    })
  }

  #zeros(length: number): Float64Array {
    const { buffer, byteOffset } = this.take(8 * length)
    return new Float64Array(buffer, byteOffset, length).fill(0)
  }

  /** The array, in this memory. Valid until a mark from before the call is released. */
  held<T extends Float64Array | Int32Array | Uint16Array>(array: T): T {
    const { buffer, byteOffset } = this.hold(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
    return new (array.constructor as new (buffer: ArrayBufferLike, offset: number, length: number) => T)(buffer, byteOffset, array.length)
  }

  /** Calls `use` with the arrays' addresses. Arrays outside this memory are copied into it for the call. */
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
      const expected =
        end > PAGE_BYTES * MAX_PAGES ? 'a trace that fits in the 4 GiB of the compiled loops' : 'a higher limit of data (ulimit -d)'
      throw new Fault({ format: 'trace', problem: 'too large', found: `${end} bytes of memory needed`, expected, cause })
    }
    this.#buffers.add(this.#memory.buffer)
  }
}

/**
 * Null where the thread finds no addresses. The engine reserves addresses, not memory, for the largest size and for guard
 * pages behind it: some 10 GiB; 4 GiB where Node was started with `--disable-wasm-trap-handler`.
 */
export function reserveMemory(): WebAssembly.Memory | null {
  try {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES, shared: true })
    // Node 24 gives a memory that cannot grow where it finds no addresses.
    memory.grow(1)
    return memory
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function requireElements(array: Float64Array): void {
  if (array.length === 0) throw new RangeError('an array of no element, expected one at least')
}

/** Checks what types cannot express: the loops check no argument. */
function requireLength(length: number, ...arrays: readonly Float64Array[]): void {
  for (const array of arrays) {
    if (!(array instanceof Float64Array)) throw new TypeError('the compiled loops take a Float64Array')
    if (array.length !== length) throw new RangeError(`arrays of ${length} and ${array.length} elements, expected one length`)
  }
}

export function align8(address: number): number {
  return Math.ceil(address / 8) * 8
}
