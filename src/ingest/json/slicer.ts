/**
 * Cuts the JSON of a snapshot into its traces as its bytes arrive. The main thread only slices, at the speed of memory.
 * Workers parse each slice strictly and in parallel (trace.ts). The document around the traces is validated here.
 *
 * Not supported: a root that is not an object, traces that are not objects, more than one array of traces.
 */

import { Buffer } from 'node:buffer'
import { toFault, type Fault } from '../../core/errors.js'
import { phaseOf } from '../../core/phase.js'
import type { Kernel } from '../../kernel/kernel.js'
import { kernelOfThread, openKernel } from '../../kernel/open.js'
import type { SnapshotHeader, SnapshotKeys } from '../../schema/traces.js'
import { malformedJson, tooLong } from './faults.js'
import { Outline } from './outline.js'
import { SlicePool } from './pool.js'
import { NOT_YET, TraceSkim } from './skim.js'
import { TraceScratch, parseTrace, type TraceSlice } from './trace.js'

export interface SlicerOptions {
  readonly keys: SnapshotKeys
  /** offset of the first byte of the JSON in the input, for messages; default 0 */
  readonly baseOffset?: number
  /** default and upper bound: 768 MiB (the text and all arrays that it may hold fit into the kernel's 4 GiB of memory) */
  readonly maxTraceBytes?: number
  /** source of the slices' buffers; default: a new buffer for each */
  readonly pool?: SlicePool
  /** default: the thread's; chunks that already lie in its memory are read without a copy */
  readonly kernel?: Kernel
}

const MAX_TRACE_BYTES = 768 * 2 ** 20

/**
 * Call push(chunk) for each chunk, then end(). Chunks may be of any size and are not kept.
 *
 * Faults come in the order of the input: traces that are complete before a fault are returned first, and the next call
 * throws the fault. A fault inside a returned trace is reported by that trace's parser, and comes first. So a caller with
 * slices in flight waits for them when `push` or `end` throws, before it reports.
 */
export class TraceSlicer {
  readonly #keys: SnapshotKeys
  readonly #maxTraceBytes: number
  readonly #pool: SlicePool
  readonly #outline: Outline
  readonly #kernel: Kernel
  readonly #skim: TraceSkim
  readonly #part = new TraceBytes()
  /** offset of the next chunk's first byte */
  #offset: number
  /** offset of the `{` of the current trace, or -1 */
  #traceOffset = -1
  #fault: Fault | null = null

  constructor(options: SlicerOptions) {
    this.#keys = options.keys
    this.#maxTraceBytes = Math.min(options.maxTraceBytes ?? MAX_TRACE_BYTES, MAX_TRACE_BYTES)
    this.#pool = options.pool ?? new SlicePool()
    this.#outline = new Outline(options.keys)
    this.#kernel = options.kernel ?? kernelOfThread()
    this.#skim = new TraceSkim(this.#kernel)
    this.#offset = options.baseOffset ?? 0
  }

  /** Returns the traces that this chunk completes, in order, each in a shared buffer of its own. @throws Fault */
  push(chunk: Uint8Array): TraceSlice[] {
    if (this.#fault !== null) throw this.#fault
    const slices: TraceSlice[] = []
    const mark = this.#kernel.used
    try {
      const held = this.#kernel.hold(chunk)
      this.#read(Buffer.from(held.buffer, held.byteOffset, held.byteLength), slices)
    } catch (error) {
      this.#fault = toFault(error, 'json')
      if (slices.length === 0) throw this.#fault
    } finally {
      this.#kernel.release(mark)
    }
    return slices
  }

  /** Ends the input. Returns what the document states about itself. @throws Fault if the document is incomplete */
  end(): SnapshotHeader {
    if (this.#fault !== null) throw this.#fault
    if (this.#traceOffset >= 0) throw this.#explain(malformedJson(null, '"}"', { offset: this.#offset }))
    return this.#outline.end(this.#offset)
  }

  #read(chunk: Buffer, slices: TraceSlice[]): void {
    const base = this.#offset
    let i = 0
    while (i < chunk.length) {
      if (this.#traceOffset < 0) {
        i = this.#outline.read(chunk, i, base)
        if (i === chunk.length) break
        this.#traceOffset = base + i
      }
      const end = this.#skim.find(chunk, i)
      const stop = end === NOT_YET ? chunk.length : end
      const room = this.#maxTraceBytes - this.#part.length
      if (stop - i > room) {
        this.#part.append(chunk, i, i + room)
        const place = { offset: this.#traceOffset + this.#maxTraceBytes }
        throw this.#explain(tooLong('a trace', this.#maxTraceBytes, place))
      }
      if (end === NOT_YET) this.#part.append(chunk, i, stop)
      else {
        const bytes = this.#part.complete(chunk, i, stop, this.#pool)
        slices.push({ index: this.#outline.traceCount, offset: this.#traceOffset, bytes })
        this.#traceOffset = -1
        this.#outline.endTrace()
      }
      i = stop
    }
    this.#offset = base + chunk.length
  }

  /** The fault for a trace that the slicer cannot complete. The strict parser may find an earlier one. */
  #explain(fault: Fault): Fault {
    const index = this.#outline.traceCount
    try {
      const slice = { index, offset: this.#traceOffset, bytes: this.#part.view() }
      // a new kernel, since the thread's may hold a trace
      parseTrace(slice, { keys: this.#keys, endMarker: null, scratch: new TraceScratch(openKernel()) })
    } catch (error) {
      const earlier = toFault(error, 'json')
      if (earlier.details.problem !== 'truncated' || fault.details.problem === 'truncated') return earlier
    }
    return fault.at({ trace: index })
  }
}

/** The bytes of a trace that spans several chunks, at the phase of its first one. The buffer grows by doubling, and is reused. */
class TraceBytes {
  #bytes: Buffer = Buffer.alloc(0)
  #phase = 0
  length = 0

  append(chunk: Buffer, from: number, to: number): void {
    if (this.length === 0) this.#phase = phaseOf(chunk.subarray(from))
    const end = this.#phase + this.length
    const needed = end + to - from
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, end)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, end, from, to)
    this.length += to - from
  }

  /** Returns all bytes and chunk[from, to) in a shared buffer. The part is empty again. */
  complete(chunk: Buffer, from: number, to: number, pool: SlicePool): Uint8Array {
    const rest = chunk.subarray(from, to)
    const bytes = pool.take(this.length + rest.length, this.length === 0 ? phaseOf(rest) : this.#phase)
    bytes.set(this.view())
    bytes.set(rest, this.length)
    this.length = 0
    return bytes
  }

  view(): Buffer {
    return this.#bytes.subarray(this.#phase, this.#phase + this.length)
  }
}
