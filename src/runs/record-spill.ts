/**
 * Most of a record are the histogram of its values and its gaps, and both are looked at a few times, one record after another. Of
 * many records they lie in a file without a name: memory holds where. What is read is what was written, the same bits.
 */
import { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { PackedGaps } from '../compute/diagnostics/estimator/packed-gaps.js'
import type { ValueHistogram } from '../compute/diagnostics/quality/histogram.js'
import type { SampleDiagnosticRecord } from '../compute/diagnostics/trace-record.js'
import { outputFault } from '../render/outputs/output-fault.js'
import { tempName } from '../render/outputs/temp-names.js'

/** Bytes that stay in memory before anything is written: of some hundred records nothing is. */
const IN_MEMORY = 2 ** 23
/** Bytes that are written together. */
const WRITTEN = 2 ** 20

export class RecordSpill {
  readonly #dir: string
  readonly #inMemory: number
  #pending = Buffer.alloc(0)
  #fd: number | null = null
  #held = 0
  /** bytes in the file, and in `pending` behind them */
  #written = 0
  #waiting = 0
  #last: { readonly at: number; readonly bytes: ArrayBuffer } | null = null

  /** @param dir the output folder: a system's folder for temporary files may lie in memory. It is made when it is needed */
  constructor(dir: string, inMemory = IN_MEMORY) {
    this.#dir = dir
    this.#inMemory = inMemory
  }

  /** The record, whose histogram and gaps may lie in the file from now on. @throws Fault where it cannot be written */
  take(record: SampleDiagnosticRecord): SampleDiagnosticRecord {
    const { histogram } = record.quality
    const { ends } = record.estimator
    this.#held += bytesOf(histogram.sums, histogram.counts, histogram.cells, ...(ends === null ? [] : [ends.gaps.numbers]))
    if (this.#held <= this.#inMemory) return record
    return {
      ...record,
      quality: { ...record.quality, histogram: this.#histogram(histogram) },
      estimator: { ...record.estimator, ends: ends === null ? null : { ...ends, gaps: this.#gaps(ends.gaps) } }
    }
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
  }

  #histogram({ sums, counts, cells, below0, above1 }: ValueHistogram): ValueHistogram {
    const { length } = cells
    const at = this.#write(sums, counts, cells)
    return new SpilledHistogram(below0, above1, length, () => this.#read(at, length * 14))
  }

  #gaps({ count, numbers }: PackedGaps): PackedGaps {
    const { length } = numbers
    const at = this.#write(numbers)
    return new SpilledGaps(count, () => this.#read(at, length * 8))
  }

  /** @returns where the first of them begins */
  #write(...arrays: readonly ArrayBufferView[]): number {
    if (this.#pending.length === 0) this.#pending = Buffer.allocUnsafeSlow(WRITTEN)
    const at = this.#written + this.#waiting
    for (const { buffer, byteOffset, byteLength } of arrays) {
      const bytes = new Uint8Array(buffer, byteOffset, byteLength)
      for (let from = 0; from < byteLength; ) {
        if (this.#waiting === WRITTEN) this.#flush()
        const part = bytes.subarray(from, from + WRITTEN - this.#waiting)
        this.#pending.set(part, this.#waiting)
        this.#waiting += part.length
        from += part.length
      }
    }
    return at
  }

  #flush(): void {
    this.#guarded(fd => {
      for (let from = 0; from < this.#waiting; ) from += writeSync(fd, this.#pending, from, this.#waiting - from, this.#written + from)
    })
    this.#written += this.#waiting
    this.#waiting = 0
  }

  /** Several arrays of one record are asked for one after another: the last answer stays. */
  #read(at: number, length: number): ArrayBuffer {
    if (this.#last?.at === at && this.#last.bytes.byteLength === length) return this.#last.bytes
    if (this.#waiting > 0) this.#flush()
    const bytes = new ArrayBuffer(length)
    this.#guarded(fd => {
      const found = length === 0 ? 0 : readSync(fd, new Uint8Array(bytes), 0, length, at)
      if (found !== length) throw new Error(`${found} bytes of ${length} that were written`)
    })
    this.#last = { at, bytes }
    return bytes
  }

  /** The file has no name once it is open: whatever ends the process, nothing of it stays. */
  #guarded(work: (fd: number) => void): void {
    try {
      if (this.#fd === null) {
        mkdirSync(this.#dir, { recursive: true })
        const path = join(this.#dir, tempName('records', 'tmp'))
        this.#fd = openSync(path, 'wx+', 0o600)
        unlinkSync(path)
      }
      work(this.#fd)
    } catch (error) {
      throw outputFault(error, this.#dir)
    }
  }
}

/** Its arrays are no own properties: who copies or walks over a record reads nothing. */
class SpilledHistogram implements ValueHistogram {
  readonly #length: number
  readonly #read: () => ArrayBuffer

  constructor(
    readonly below0: number,
    readonly above1: number,
    length: number,
    read: () => ArrayBuffer
  ) {
    this.#length = length
    this.#read = read
  }

  get sums(): Float64Array {
    return new Float64Array(this.#read(), 0, this.#length)
  }

  get counts(): Uint32Array {
    return new Uint32Array(this.#read(), 8 * this.#length, this.#length)
  }

  get cells(): Uint16Array {
    return new Uint16Array(this.#read(), 12 * this.#length, this.#length)
  }
}

class SpilledGaps implements PackedGaps {
  readonly #read: () => ArrayBuffer

  constructor(
    readonly count: number,
    read: () => ArrayBuffer
  ) {
    this.#read = read
  }

  get numbers(): Float64Array {
    return new Float64Array(this.#read())
  }
}

function bytesOf(...arrays: readonly ArrayBufferView[]): number {
  return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
