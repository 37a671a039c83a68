/**
 * The kernel without WebAssembly, for threads that find no addresses for its memory (`ulimit -v`). Loops with general code
 * behind them (`numbers`, `texts`, `sound`, `difference`) decline everything, and the general code reads or compares it. The
 * others are written once more here; they give the same bits, since every operation on doubles is the same, in the same order.
 */
import { Buffer } from 'node:buffer'
import { align8, RESULTS, ROOM_A_BYTE, Status, type BlockedRows, type Kernel, type ResampleCounts, type SkimMark } from './kernel.js'

const QUOTE = 0x22
const SLASH = 0x2f
const BANG = 0x21
const LESS_THAN = 0x3c
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Position of a byte: outside strings, inside one, or inside one behind a backslash; `SkimMark.state`. */
const enum Within {
  None = 0,
  String = 1,
  Escape = 2
}

export class PlainKernel implements Kernel {
  /** text of the trace, then what is taken; reused from trace to trace */
  #memory = new ArrayBuffer(0)
  /** end of what is taken, beyond the memory where some of it lies in buffers of its own */
  #end = 0
  /** largest end so far */
  #largest = 0
  #count = 0

  begin(length: number): Buffer {
    const end = align8(length)
    const wanted = Math.max(end + ROOM_A_BYTE * length, this.#largest)
    if (wanted > this.#memory.byteLength) this.#memory = new ArrayBuffer(align8(wanted))
    this.#end = end
    return Buffer.from(this.#memory, 0, length)
  }

  take(length: number): Uint8Array {
    const at = this.#end
    this.#end = align8(at + length)
    this.#largest = Math.max(this.#largest, this.#end)
    return this.#end > this.#memory.byteLength ? new Uint8Array(length) : new Uint8Array(this.#memory, at, length)
  }

  copy(bytes: Uint8Array): Uint8Array {
    const copy = this.take(bytes.length)
    copy.set(bytes)
    return copy
  }

  doubles(): Float64Array {
    return new Float64Array(this.#memory, this.#end)
  }

  flags(): Uint8Array {
    return new Uint8Array(this.#memory, this.#end)
  }

  hold(bytes: Uint8Array): Uint8Array {
    return bytes
  }

  get used(): number {
    return this.#end
  }

  release(mark: number): void {
    this.#end = mark
  }

  /** Nothing here computes with the tables. */
  fillTables(): void {}

  /** Nothing here looks for the marker. */
  set marker(_: Uint8Array) {}

  nextTag(held: Uint8Array, from: number): number {
    for (let i = held.indexOf(LESS_THAN, from); i >= 0; i = held.indexOf(LESS_THAN, i + 1)) {
      if (i === held.length - 1 || held[i + 1] === SLASH || held[i + 1] === BANG) return i
    }
    return -1
  }

  skim(held: Uint8Array, from: number, mark: SkimMark): number {
    let { depth, state } = mark
    for (let i = from; i < held.length; i++) {
      const byte = held[i]
      if (state === Within.Escape) state = Within.String
      else if (byte === QUOTE) state ^= Within.String
      else if (state === Within.String) {
        if (byte === BACKSLASH) state = Within.Escape
      } else if (byte === OPEN_BRACE) depth++
      else if (byte === CLOSE_BRACE && --depth === 0) {
        mark.depth = 0
        mark.state = Within.None
        return i + 1
      }
    }
    mark.depth = depth
    mark.state = state
    return -1
  }

  numbers(at: number, first: number): number {
    this.#count = first
    return at
  }

  texts(at: number, first: number): number {
    this.#count = first
    return at
  }

  get status(): Status {
    return Status.Odd
  }

  get count(): number {
    return this.#count
  }

  sound(): boolean {
    return false
  }

  difference(): number {
    return 0
  }

  boundaries(positions: Float64Array): Int32Array {
    const found = new Int32Array(positions.length)
    let count = 0
    for (let i = 1; i < positions.length; i++) if (positions[i] - positions[i - 1] !== 1) found[count++] = i - 1
    return found.slice(0, count)
  }

  measure(values: Float64Array, returns: Float64Array, boundaries: Int32Array, threshold: number, expectedReturn: number): Float64Array {
    const results = new Float64Array(RESULTS)
    const half = values.length >> 1
    results.set([...sum(values, 0, half), ...sum(values, half, values.length)])
    const squares = new RunningSum()
    const boundary = new RunningSum()
    const internal = new RunningSum()
    let boundaryJumps = 0
    let internalJumps = 0
    let otherReturns = 0
    let maxFrom = -1
    let maxAbs = -1
    let passed = 0
    for (let i = 0; i < values.length; i++) {
      const error = values[i] - returns[i]
      squares.add(error * error)
      if (returns[i] !== expectedReturn) otherReturns++
      if (i === values.length - 1) break
      const change = Math.abs(values[i + 1] - values[i])
      if (i === boundaries[passed]) {
        passed++
        if (change > threshold) boundaryJumps++
        if (change > maxAbs) {
          maxAbs = change
          maxFrom = i
        }
        boundary.add(change)
      } else {
        if (change > threshold) internalJumps++
        internal.add(change)
      }
    }
    results.set(
      [
        squares.high,
        squares.low,
        boundary.high,
        boundary.low,
        boundaryJumps,
        internal.high,
        internal.low,
        internalJumps,
        otherReturns,
        maxFrom
      ],
      4
    )
    return results
  }

  held<T extends Float64Array | Int32Array | Uint16Array>(array: T): T {
    return array
  }

  addRows({ rows, blocks, order, columns }: BlockedRows, { counts, width }: ResampleCounts): Float64Array {
    const sums = new Float64Array(width * columns)
    const last = order.length - 1
    const weights = new Float64Array(8)
    for (let b = 0; b < width; b++) {
      const first = (b - (b % 2)) * columns + (b % 2)
      for (let block = 0; block + 1 < blocks.length; block++) {
        for (let i = 0; i < 8; i++) weights[i] = counts[order[Math.min(8 * block + i, last)] * width + b]
        const [w0, w1, w2, w3, w4, w5, w6, w7] = weights
        let into = first
        for (let p = blocks[block]; p < blocks[block + 1]; p += 8) {
          const low = w0 * rows[p] + w1 * rows[p + 1] + (w2 * rows[p + 2] + w3 * rows[p + 3])
          const high = w4 * rows[p + 4] + w5 * rows[p + 5] + (w6 * rows[p + 6] + w7 * rows[p + 7])
          sums[into] += low + high
          into += 2
        }
      }
    }
    return sums
  }

  countPairs(units: Int32Array, flags: Uint8Array, { counts, width }: ResampleCounts): Float64Array {
    const out = new Float64Array(2 * width)
    for (let b = 0; b < width; b++) {
      let positives = 0
      let below = 0
      let tiedPositives = 0
      let tiedNegatives = 0
      for (let i = 0; i < units.length; i++) {
        const weight = counts[units[i] * width + b]
        if ((flags[i] & 4) !== 0) tiedPositives += weight
        else tiedNegatives += weight
        if ((flags[i] & 1) === 0) continue
        out[width + b] += tiedPositives * (2 * below + tiedNegatives)
        positives += tiedPositives
        below += tiedNegatives
        tiedPositives = 0
        tiedNegatives = 0
        if ((flags[i] & 2) === 0) continue
        out[b] += positives * below
        positives = 0
        below = 0
      }
    }
    return out
  }
}

function sum(values: Float64Array, from: number, to: number): readonly [high: number, low: number] {
  const running = new RunningSum()
  for (let i = from; i < to; i++) running.add(values[i])
  return [running.high, running.low]
}

/** An unevaluated pair high + low; see `../core/sums.ts`. */
class RunningSum {
  high = 0
  low = 0

  /** Knuth's TwoSum */
  add(value: number): void {
    const s = this.high + value
    const t = s - this.high
    this.low += this.high - (s - t) + (value - t)
    this.high = s
  }
}
