/**
 * The bytes of a pickle: numbers, lines and texts at the read position. Where the bytes end within one of them,
 * `EndOfPickle` is thrown: the caller may have read only a part of the file.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { printable, type Place } from '../../core/errors.js'
import { torchFault } from './faults.js'

/** The bytes end before the pickle does. */
export class EndOfPickle extends Error {}

/** Longest integer: no quantity of a training run has more. Larger ones take long to print. */
const MAX_INTEGER_BYTES = 4096
const MAX_LINE = 10_000
/** Longest text that protocol 0 writes on a line. */
const MAX_TEXT_LINE = 2 ** 28

/** Bytes of BINFLOAT with its number. */
const LONGEST_NUMBER = 9

export class PickleBytes {
  readonly bytes: Buffer<ArrayBuffer>
  /** offset of the next byte */
  at = 0
  /** offset behind the last frame */
  frameEnd = 0
  readonly #view: DataView
  readonly #place: Place

  constructor(bytes: Uint8Array<ArrayBuffer>, place: Place) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#place = place
  }

  /** Passes over `length` bytes. @returns the offset of the first */
  take(length: number): number {
    const start = this.at
    if (length > this.bytes.length - start) throw new EndOfPickle()
    this.at = start + length
    return start
  }

  u8(): number {
    return this.bytes[this.take(1)]
  }

  u16(): number {
    return this.#view.getUint16(this.take(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.take(4), true)
  }

  i32(): number {
    return this.#view.getInt32(this.take(4), true)
  }

  /** A length of eight bytes. No file has 2^53 bytes. */
  u64(): number {
    const start = this.take(8)
    const high = this.#view.getUint32(start + 4, true)
    if (high >= 2 ** 21) throw this.fault('an impossible length', 'one below 2^53', start)
    return high * 2 ** 32 + this.#view.getUint32(start, true)
  }

  /** The only numbers that a pickle writes with the highest byte first. */
  f64(): number {
    return this.#view.getFloat64(this.take(8), false)
  }

  /**
   * Adds the numbers that follow one another to `values`, up to `most` in all. It stops before the first other opcode, and
   * short of the end, where numbers are read one by one. (A dump with 20 million integers in lists takes 0.64 s of CPU
   * instead of 0.80.)
   */
  numbers(values: unknown[], most: number): void {
    const { bytes, frameEnd } = this
    const end = (frameEnd > this.at ? frameEnd : bytes.length) - LONGEST_NUMBER
    let at = this.at
    for (let room = most - values.length; room > 0 && at <= end; room--) {
      const opcode = bytes[at]
      if (opcode === 0x4b) {
        values.push(bytes[at + 1])
        at += 2
      } else if (opcode === 0x4d) {
        values.push(bytes[at + 1] | (bytes[at + 2] << 8))
        at += 3
      } else if (opcode === 0x4a) {
        values.push(this.#view.getInt32(at + 1, true))
        at += 5
      } else if (opcode === 0x47) {
        values.push(this.#view.getFloat64(at + 1, false))
        at += LONGEST_NUMBER
      } else break
    }
    this.at = at
  }

  /** A copy of the next bytes. */
  copy(length: number): Uint8Array<ArrayBuffer> {
    const start = this.take(length)
    return new Uint8Array(this.bytes.subarray(start, start + length))
  }

  /** A signed integer of `length` bytes, the lowest first: a number up to 2^53 in size, else a bigint. */
  integer(length: number): number | bigint {
    const start = this.take(length)
    if (length === 0) return 0
    if (length <= 6) return this.bytes.readIntLE(start, length)
    if (length > MAX_INTEGER_BYTES) throw this.fault(`an integer of ${length} bytes`, `at most ${MAX_INTEGER_BYTES}`, start)
    const highestFirst = this.bytes.subarray(start, start + length).toReversed()
    return narrow(BigInt.asIntN(length * 8, BigInt(`0x${Buffer.from(highestFirst).toString('hex')}`)))
  }

  /** Text up to the next line feed. */
  line(most: number = MAX_LINE): string {
    const start = this.at
    const end = this.bytes.indexOf(10, start)
    if ((end < 0 ? this.bytes.length : end) - start > most) {
      throw this.fault(`a line of more than ${most} bytes`, 'a shorter one', start)
    }
    if (end < 0) throw new EndOfPickle()
    this.at = end + 1
    return this.bytes.toString('latin1', start, end)
  }

  /** A decimal integer on a line, with a trailing `L` where a pickle writes one. */
  decimal(): number | bigint {
    const start = this.at
    const text = this.line()
    // Python takes a leading zero for octal, or refuses it.
    if (!/^(?:0|-?[1-9]\d*)L?$/.test(text)) throw this.fault('a line without an integer', 'decimal digits', start)
    return narrow(BigInt(text.replace('L', '')))
  }

  /** What opcode INT has on its line: an integer, or a bool as protocols 0 and 1 write it. */
  decimalOrBool(): number | bigint | boolean {
    const start = this.at
    const text = this.line()
    if (text === '00' || text === '01') return text === '01'
    this.at = start
    return this.decimal()
  }

  memoIndex(): number {
    const start = this.at
    const index = this.decimal()
    if (typeof index === 'number' && index >= 0 && index < 2 ** 32) return index
    throw this.fault(`memo entry ${printable(String(index))}`, 'an index below 2^32', start)
  }

  /** A float on a line, as Python's `repr` writes it. */
  float(): number {
    const start = this.at
    const text = this.line()
    if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text)
    const named = new Map([
      ['nan', Number.NaN],
      ['inf', Number.POSITIVE_INFINITY],
      ['-inf', Number.NEGATIVE_INFINITY]
    ]).get(text)
    if (named === undefined) throw this.fault('a line without a number', 'a float', start)
    return named
  }

  /** UTF-8 text. Python writes half a surrogate pair as three bytes, which strict UTF-8 does not allow. */
  text(length: number): string {
    const start = this.take(length)
    const part = this.bytes.subarray(start, this.at)
    if (isAscii(part)) return this.bytes.toString('latin1', start, this.at)
    if (isUtf8(part)) return this.bytes.toString('utf8', start, this.at)
    const text = decodeWithSurrogates(part)
    if (text === null) throw this.fault('text that is not UTF-8', 'UTF-8', start)
    return text
  }

  /** What Python 2 calls a string: text where it is UTF-8, else bytes. */
  textOrBytes(length: number): string | Uint8Array {
    const start = this.take(length)
    const part = this.bytes.subarray(start, this.at)
    return isUtf8(part) ? this.bytes.toString('utf8', start, this.at) : new Uint8Array(part)
  }

  /** The name of a module, a class or a function on a line. */
  name(): string {
    const start = this.at
    this.line()
    const part = this.bytes.subarray(start, this.at - 1)
    if (!isUtf8(part)) throw this.fault('a name that is not UTF-8', 'UTF-8', start)
    return part.toString('utf8')
  }

  /**
   * Text on a line, as protocol 0 writes it: `\uXXXX` and `\UXXXXXXXX` stand for characters behind an odd number of
   * backslashes, of which the others stay.
   */
  escapedLine(): string {
    const start = this.at
    const escapes = /(\\+)(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[uU])/g
    return this.line(MAX_TEXT_LINE).replace(escapes, (all: string, slashes: string, code: string) => {
      if (slashes.length % 2 === 0) return all
      const point = Number.parseInt(code.slice(1), 16)
      if (Number.isNaN(point)) throw this.fault('an escape without digits', 'four or eight hexadecimal ones', start)
      if (point > 0x10ffff) throw this.fault('a character beyond U+10FFFF', 'Unicode', start)
      return slashes.slice(1) + String.fromCodePoint(point)
    })
  }

  /** Passes over the length of a frame, whose bytes follow. */
  frame(): void {
    const length = this.u64()
    if (length > this.bytes.length - this.at) throw new EndOfPickle()
    this.frameEnd = this.at + length
  }

  /** @param offset of the fault, from the first byte */
  fault(found: string, expected: string, offset: number): Error {
    return torchFault('malformed pickle', found, expected, { ...this.#place, offset: (this.#place.offset ?? 0) + offset })
  }
}

function narrow(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** UTF-8 with halves of surrogate pairs; null where it is neither. In UTF-8, 0xed is never followed by 0xa0 or more. */
function decodeWithSurrogates(bytes: Buffer): string | null {
  let text = ''
  let start = 0
  const add = (end: number): boolean => {
    if (!isUtf8(bytes.subarray(start, end))) return false
    text += bytes.toString('utf8', start, end)
    return true
  }
  for (let at = 0; at + 2 < bytes.length; at++) {
    if (bytes[at] !== 0xed || bytes[at + 1] < 0xa0 || bytes[at + 1] > 0xbf || (bytes[at + 2] & 0xc0) !== 0x80) continue
    if (!add(at)) return null
    text += String.fromCharCode(0xd000 | ((bytes[at + 1] & 0x3f) << 6) | (bytes[at + 2] & 0x3f))
    start = at + 3
    at += 2
  }
  return add(bytes.length) ? text : null
}
