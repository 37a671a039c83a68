/**
 * Most of a record are the histogram of its values and its gaps, and both are looked at a few times, one record after another. Of
 * many records they lie in a file without a name: memory holds where. What is read is what was written, the same bits.
 */
import type { PackedGaps } from '../compute/diagnostics/estimator/packed-gaps.js'
import type { ValueHistogram } from '../compute/diagnostics/quality/histogram.js'
import type { SampleDiagnosticRecord } from '../compute/diagnostics/trace-record.js'
import { SpillFile } from './spill-file.js'

/** Bytes that stay in memory before anything is written: of some hundred records nothing is. */
const IN_MEMORY = 2 ** 23

export class RecordSpill {
  readonly #file: SpillFile
  readonly #inMemory: number
  #held = 0
  #last: { readonly at: number; readonly bytes: ArrayBuffer } | null = null

  /** @param dir the output folder: a system's folder for temporary files may lie in memory. It is made when it is needed */
  constructor(dir: string, inMemory = IN_MEMORY) {
    this.#file = new SpillFile(dir)
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
    this.#file.close()
  }

  #histogram({ sums, counts, cells, below0, above1 }: ValueHistogram): ValueHistogram {
    const { length } = cells
    const at = this.#file.write(sums, counts, cells)
    return new SpilledHistogram(below0, above1, length, () => this.#read(at, length * 14))
  }

  #gaps({ count, numbers }: PackedGaps): PackedGaps {
    const { length } = numbers
    const at = this.#file.write(numbers)
    return new SpilledGaps(count, () => this.#read(at, length * 8))
  }

  /** Several arrays of one record are asked for one after another: the last answer stays. */
  #read(at: number, length: number): ArrayBuffer {
    if (this.#last?.at === at && this.#last.bytes.byteLength === length) return this.#last.bytes
    const bytes = this.#file.read(at, length)
    this.#last = { at, bytes }
    return bytes
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
