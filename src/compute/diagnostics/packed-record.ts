/**
 * A record as bytes, and a view of them that is a record. Of many records memory holds the bytes, or where they lie in a file; its
 * objects would take three times as much, and each of its two halves is looked at by itself.
 *
 *     head:  index, omitted columns (bit k: the k-th of OMITTABLE), bytes of the gaps, cells of the histogram, bytes of the
 *            estimator's half, of the half of quality: six int32
 *     then:  gaps, float64; of the histogram sums, float64, counts, uint32, and cells, uint16; the two halves without these
 */
import { packValue, unpackValue } from '../../core/packed.js'
import type { PackedGaps } from './estimator/packed-gaps.js'
import type { EstimatorRecord } from './estimator/record.js'
import type { ValueHistogram } from './quality/histogram.js'
import type { QualityRecord } from './quality/record.js'
import type { SampleDiagnosticRecord } from './trace-record.js'
import { OMITTABLE, type OmittedColumn } from './usable-columns.js'

/** Bytes that lie somewhere. */
export interface KeptBytes {
  readonly length: number
  /** a copy in memory of its own */
  read(from: number, to: number): ArrayBuffer
}

const HEAD = 6
const HEAD_BYTES = 4 * HEAD
const CELL_BYTES = 8 + 4 + 2

export function packRecord({ estimator, quality, omitted }: SampleDiagnosticRecord): Uint8Array {
  const { ends } = estimator
  const { sums, counts, cells, below0, above1 } = quality.histogram
  const gaps = ends === null ? new Float64Array(0) : ends.gaps.numbers
  const ofEstimator = packValue({ ...estimator, ends: ends === null ? null : { ...ends, gaps: ends.gaps.count } })
  const ofQuality = packValue({ ...quality, histogram: { below0, above1 } })
  const bits = omitted.reduce((sum, column) => sum + 2 ** OMITTABLE.indexOf(column), 0)
  const head = Int32Array.of(estimator.index, bits, gaps.byteLength, cells.length, ofEstimator.length, ofQuality.length)
  const parts = [head, gaps, sums, counts, cells, ofEstimator, ofQuality]
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at += byteLength
  }
  return bytes
}

/** The record that `packRecord` was given. Each half is made again at each look at it. */
export function recordIn(bytes: KeptBytes): SampleDiagnosticRecord {
  return new RecordView(bytes)
}

/** The same of bytes in memory, which it keeps. */
export function recordOfBytes(bytes: Uint8Array): SampleDiagnosticRecord {
  return recordIn(inMemory(bytes))
}

/** In memory of its own. */
export function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}

export function inMemory(bytes: Uint8Array): KeptBytes {
  return { length: bytes.length, read: (from, to) => copyOf(bytes.subarray(from, to)).buffer }
}

/** Its halves are no own properties: who copies or walks over records reads nothing. */
class RecordView implements SampleDiagnosticRecord {
  readonly index: number
  readonly omitted: readonly OmittedColumn[]
  readonly #bytes: KeptBytes
  readonly #gaps: number
  readonly #cells: number
  readonly #estimator: number

  constructor(bytes: KeptBytes) {
    const [index, omitted, gaps, cells, estimator] = new Int32Array(bytes.read(0, HEAD_BYTES))
    this.index = index
    this.omitted = omitted === 0 ? NOTHING : OMITTABLE.filter((_, k) => (omitted & (1 << k)) !== 0)
    this.#bytes = bytes
    this.#gaps = gaps
    this.#cells = cells
    this.#estimator = estimator
  }

  get estimator(): EstimatorRecord {
    const from = this.#halves
    const { ends, ...record } = this.#half(from, from + this.#estimator) as PackedEstimator
    if (ends === null) return { ...record, ends }
    const read = (): ArrayBuffer => this.#bytes.read(HEAD_BYTES, HEAD_BYTES + this.#gaps)
    return { ...record, ends: { ...ends, gaps: new GapsView(ends.gaps, read) } }
  }

  get quality(): QualityRecord {
    const record = this.#half(this.#halves + this.#estimator, this.#bytes.length) as PackedQuality
    const read = (): ArrayBuffer => this.#bytes.read(HEAD_BYTES + this.#gaps, this.#halves)
    return { ...record, histogram: new HistogramView(record.histogram, this.#cells, read) }
  }

  get #halves(): number {
    return HEAD_BYTES + this.#gaps + CELL_BYTES * this.#cells
  }

  #half(from: number, to: number): unknown {
    return unpackValue(new Uint8Array(this.#bytes.read(from, to)))
  }
}

const NOTHING: readonly OmittedColumn[] = []

type PackedEstimator = Omit<EstimatorRecord, 'ends'> & {
  readonly ends: (Omit<NonNullable<EstimatorRecord['ends']>, 'gaps'> & { readonly gaps: number }) | null
}
type PackedQuality = Omit<QualityRecord, 'histogram'> & { readonly histogram: Pick<ValueHistogram, 'below0' | 'above1'> }

class HistogramView implements ValueHistogram {
  readonly below0: number
  readonly above1: number
  readonly #length: number
  readonly #read: () => ArrayBuffer

  constructor({ below0, above1 }: PackedQuality['histogram'], length: number, read: () => ArrayBuffer) {
    this.below0 = below0
    this.above1 = above1
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

class GapsView implements PackedGaps {
  readonly count: number
  readonly #read: () => ArrayBuffer

  constructor(count: number, read: () => ArrayBuffer) {
    this.count = count
    this.#read = read
  }

  get numbers(): Float64Array {
    return new Float64Array(this.#read())
  }
}
