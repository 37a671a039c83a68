/**
 * Walks over a thrift compact struct without building objects, before hyparquet builds them. hyparquet allocates a list by
 * the length that the file states, follows nesting of any depth, and shifts a number of any length (quadratic time).
 * Source: Apache Thrift, compact protocol specification.
 */
import { malformedParquet } from './faults.js'

/** Deepest nesting. No struct of parquet.thrift is deeper. */
const MAX_DEPTH = 24
/** Most bytes of a 64-bit number, in groups of seven bits. */
const MAX_VARINT = 10

/** Thrown when the bytes end inside the struct: with more of the file it may be well formed. */
const CUT = Symbol('cut')

/**
 * Offset of the end of the struct at `start`; null if the bytes end first.
 * @param maxItems most fields and list elements in all
 * @throws Fault if no further bytes could make it well formed
 */
export function endOfStruct(bytes: Uint8Array, start: number, maxItems: number): number | null {
  let at = start
  let items = 0

  const byte = (): number => {
    if (at >= bytes.length) throw CUT
    return bytes[at++]
  }
  const varint = (): number => {
    let value = 0
    for (let i = 0; i < MAX_VARINT; i++) {
      const b = byte()
      value += (b & 0x7f) * 2 ** (7 * i)
      if (b < 0x80) return value
    }
    throw malformedParquet('malformed thrift', `a number of more than ${MAX_VARINT} bytes`, 'at most 64 bits')
  }
  const skip = (bytesToSkip: number): void => {
    if (bytesToSkip > bytes.length - at) throw CUT
    at += bytesToSkip
  }
  const item = (): void => {
    if (++items > maxItems) throw malformedParquet('thrift too large', `more than ${maxItems} fields`, 'fewer')
  }
  const element = (type: number, depth: number, inList: boolean): void => {
    item()
    switch (type) {
      case 1:
      case 2:
        if (inList) skip(1)
        return
      case 3:
        skip(1)
        return
      case 4:
      case 5:
      case 6:
        varint()
        return
      case 7:
        skip(8)
        return
      case 8:
        skip(varint())
        return
      case 9: {
        const head = byte()
        const length = head >> 4 === 15 ? varint() : head >> 4
        // Every element takes at least one byte.
        if (length > bytes.length - at) throw CUT
        for (let i = 0; i < length; i++) element(head & 15, depth + 1, true)
        return
      }
      case 12:
        struct(depth + 1)
        return
      default:
        throw malformedParquet('malformed thrift', `type ${type}`, 'a type that parquet.thrift uses')
    }
  }
  const struct = (depth: number): void => {
    if (depth > MAX_DEPTH) throw malformedParquet('malformed thrift', `more than ${MAX_DEPTH} levels`, 'fewer')
    for (;;) {
      const head = byte()
      if ((head & 15) === 0) return
      if (head >> 4 === 0) varint()
      element(head & 15, depth, false)
    }
  }

  try {
    struct(0)
    return at
  } catch (error) {
    if (error === CUT) return null
    throw error
  }
}
