/**
 * Bit-packed numbers, least significant bit first, and the two encodings built from them: the hybrid of runs and
 * bit-packed groups (levels, dictionary indexes, booleans) and DELTA_BINARY_PACKED.
 * hyparquet's own readers let a run of any length grow their output, and do not notice the end of the encoded bytes.
 * Source: parquet-format Encodings.md.
 */
import { malformedParquet } from './faults.js'

const CUT = 'the end of the page'

/** Reads `width` (1 to 32) bits from bit `at`. Bits behind the end of `bytes` are 0. */
function bitsAt(bytes: Uint8Array, at: number, width: number): number {
  const i = Math.floor(at / 8)
  const shift = at % 8
  let word = (bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24)) >>> shift
  if (shift + width > 32) word |= bytes[i + 4] << (32 - shift)
  return width === 32 ? word >>> 0 : word & (2 ** width - 1)
}

/** Reads unsigned LEB128 numbers within `bytes`. */
export class VarintReader {
  constructor(
    readonly bytes: Uint8Array,
    public at: number
  ) {}

  byte(): number {
    if (this.at >= this.bytes.length) throw malformedParquet('truncated page', CUT, 'more encoded values')
    return this.bytes[this.at++]
  }

  /** a number of at most 32 bits */
  uint32(): number {
    const value = this.uint64()
    if (value > 0xffffffffn) throw malformedParquet('malformed page', `the number ${value}`, 'at most 32 bits')
    return Number(value)
  }

  uint64(): bigint {
    let low = 0
    let value = 0n
    for (let i = 0; i < 10; i++) {
      const byte = this.byte()
      if (i < 4) low |= (byte & 0x7f) << (7 * i)
      else value |= BigInt(byte & 0x7f) << BigInt(7 * i)
      if (byte < 0x80) return value | BigInt(low)
    }
    throw malformedParquet('malformed page', 'a number of more than 10 bytes', 'at most 64 bits')
  }

  zigzag64(): bigint {
    const value = this.uint64()
    return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n))
  }
}

/**
 * Fills `output` from runs and bit-packed groups of `width`-bit numbers (0 to 32).
 * @returns the offset behind the encoded bytes
 * @throws Fault if the bytes end before `output` is full
 */
export function decodeHybrid(bytes: Uint8Array, start: number, width: number, output: Uint8Array | Uint32Array): number {
  if (width === 0) {
    output.fill(0)
    return start
  }
  const reader = new VarintReader(bytes, start)
  let filled = 0
  while (filled < output.length) {
    const header = reader.uint32()
    if (header & 1) {
      const wanted = Math.min((header >>> 1) * 8, output.length - filled)
      const available = bytes.length - reader.at
      // The padding of the last group may be missing; the values may not.
      if (Math.ceil((wanted * width) / 8) > available) throw malformedParquet('truncated page', CUT, 'more encoded values')
      const firstBit = reader.at * 8
      for (let i = 0; i < wanted; i++) output[filled + i] = bitsAt(bytes, firstBit + i * width, width)
      reader.at += Math.min((header >>> 1) * width, available)
      filled += wanted
    } else {
      let value = 0
      for (let i = 0; i < Math.ceil(width / 8); i++) value += reader.byte() * 2 ** (8 * i)
      const length = header >>> 1
      if (length === 0) throw malformedParquet('malformed page', 'an empty run', 'runs of one value or more')
      const end = Math.min(filled + length, output.length)
      output.fill(value, filled, end)
      filled = end
    }
  }
  return reader.at
}

/** Largest block, in values. parquet-mr and parquet-cpp write 128; the largest seen is 2048. */
const MAX_BLOCK = 1 << 20

/**
 * Fills `output` from DELTA_BINARY_PACKED data at `start`.
 * @returns the offset behind the data
 */
export function decodeDelta(bytes: Uint8Array, start: number, output: Int32Array | BigInt64Array): number {
  const reader = new VarintReader(bytes, start)
  const blockSize = reader.uint32()
  const miniblocks = reader.uint32()
  const total = reader.uint32()
  const perMiniblock = blockSize / miniblocks
  if (blockSize > MAX_BLOCK || !Number.isInteger(perMiniblock) || perMiniblock % 32 !== 0 || perMiniblock === 0) {
    throw malformedParquet('malformed page', `${miniblocks} miniblocks in ${blockSize} values`, 'multiples of 32 values each')
  }
  if (total !== output.length) throw malformedParquet('wrong number of values', `${total} deltas`, `${output.length}`)
  let value = reader.zigzag64()
  if (output.length === 0) return reader.at
  put(output, 0, value)
  let filled = 1
  while (filled < output.length) {
    const minDelta = reader.zigzag64()
    const widths = Array.from({ length: miniblocks }, () => reader.byte())
    for (let m = 0; m < miniblocks && filled < output.length; m++) {
      const width = widths[m]
      if (width > 64) throw malformedParquet('malformed page', `deltas of ${width} bits`, 'at most 64')
      const wanted = Math.min(perMiniblock, output.length - filled)
      const available = bytes.length - reader.at
      if (Math.ceil((wanted * width) / 8) > available) throw malformedParquet('truncated page', CUT, 'more encoded values')
      const firstBit = reader.at * 8
      for (let i = 0; i < wanted; i++) {
        const at = firstBit + i * width
        const delta =
          width === 0
            ? 0n
            : width <= 32
              ? BigInt(bitsAt(bytes, at, width))
              : BigInt(bitsAt(bytes, at, 32)) | (BigInt(bitsAt(bytes, at + 32, width - 32)) << 32n)
        value = BigInt.asIntN(64, value + minDelta + delta)
        put(output, filled + i, value)
      }
      reader.at += Math.min((perMiniblock * width) / 8, available)
      filled += wanted
    }
  }
  return reader.at
}

/** Stores a value. Arithmetic wraps, as the format states: an Int32Array keeps the low 32 bits. */
function put(output: Int32Array | BigInt64Array, index: number, value: bigint): void {
  if (output instanceof BigInt64Array) output[index] = value
  else output[index] = Number(BigInt.asIntN(32, value))
}
