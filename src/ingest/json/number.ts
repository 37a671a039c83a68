/**
 * Numbers: strict JSON grammar, plus NaN, Infinity and -Infinity, straight into a Float64Array. Each is the double that
 * JSON.parse gives, to the last bit, -0 included; overflow gives Infinity as there.
 *
 * `scanNumber` knows only the shapes that critics' values have (up to eight digits, a fraction of up to nineteen) and
 * leaves everything else, faults included, to `scanAnyNumber`, which knows the whole grammar.
 */

import type { Fault, Place } from '../../errors.js'
import { EXACT_INTEGERS, HEAD_LIMITS, POWERS_OF_TEN, roundScaled } from './decimal.js'
import {
  CLOSE_BRACKET, COMMA, DOT, type JsonText, LOWER_E, MINUS, PLUS, SPACE, ZERO, describeValue, isDigit, scanWord,
  wordStartingWith, wrongType
} from './text.js'

/**
 * Non-zero bits where a byte of the little-endian word is not an ASCII digit. A carry out of a byte of 0xfa or more
 * can only spoil later bytes, so the first byte reported is right.
 */
function nonDigits(word: number): number {
  return ((word & 0xf0f0f0f0) ^ 0x30303030) | (((word + 0x06060606) & 0xf0f0f0f0) ^ 0x30303030)
}

/** How many digits stand before the first non-digit of a word that has one. */
function digitsBefore(nonDigit: number): number {
  return (31 - Math.clz32(nonDigit & -nonDigit)) >> 3
}

/** The value of four ASCII digits, the first in the lowest byte; a zero byte counts as the digit 0. */
function fourDigits(word: number): number {
  const digits = word & 0x0f0f0f0f
  const pairs = (Math.imul(digits, 10) + (digits >>> 8)) & 0x00ff00ff
  return (Math.imul(pairs, 100) + (pairs >>> 16)) & 0xffff
}

/** The value of the first `count` (0 to 3) digits of a word: moved to its end, behind zero bytes. */
function leadingDigits(word: number, count: number): number {
  return fourDigits((word << 8) << (24 - 8 * count))
}

/**
 * Reads the number at `at` into out[slot]. Returns the offset behind it, or ~offset of the byte that breaks the grammar.
 */
export function scanNumber(text: JsonText, at: number, out: Float64Array, slot: number): number {
  const { bytes, view } = text
  let i = at
  let byte = bytes[i]
  const negative = byte === MINUS
  if (negative) byte = bytes[++i]
  let head = byte - ZERO
  if (head < 0 || head > 9) return scanAnyNumber(text, at, out, slot)
  byte = bytes[++i]
  let word: number
  let stop: number
  let count: number
  if (byte !== DOT) {
    word = view.getInt32(i, true)
    stop = nonDigits(word)
    if (stop === 0) {
      if (head === 0) return ~i
      head = head * 10000 + fourDigits(word)
      i += 4
      word = view.getInt32(i, true)
      stop = nonDigits(word)
      if (stop === 0) return scanAnyNumber(text, at, out, slot)
    } else if (head === 0 && isDigit(byte)) return ~i
    count = digitsBefore(stop)
    head = head * POWERS_OF_TEN[count] + leadingDigits(word, count)
    i += count
    byte = bytes[i]
    if (byte !== DOT) {
      if ((byte | 0x20) === LOWER_E) return scanAnyNumber(text, at, out, slot)
      out[slot] = negative ? -head : head
      return i
    }
  }
  const fraction = ++i
  let tail = 0
  let tailDigits = 0
  let words = 0
  word = view.getInt32(i, true)
  stop = nonDigits(word)
  while (stop === 0) {
    if (words < 2) head = head * 10000 + fourDigits(word)
    else if (words === 5) return scanAnyNumber(text, at, out, slot)
    else {
      tail = tail * 10000 + fourDigits(word)
      tailDigits += 4
    }
    words++
    i += 4
    word = view.getInt32(i, true)
    stop = nonDigits(word)
  }
  count = digitsBefore(stop)
  tail = tail * POWERS_OF_TEN[count] + leadingDigits(word, count)
  tailDigits += count
  i += count
  if (i === fraction) return ~i
  if ((bytes[i] | 0x20) === LOWER_E) return scanAnyNumber(text, at, out, slot)
  const shifted = head * POWERS_OF_TEN[tailDigits]
  const digits = shifted + tail
  if (digits < EXACT_INTEGERS) {
    const value = digits / POWERS_OF_TEN[i - fraction]
    out[slot] = negative ? -value : value
    return i
  }
  if (head < HEAD_LIMITS[tailDigits]) {
    // shifted is exact, so this rest is too
    if (roundScaled(digits, tail - (digits - shifted), fraction - i, negative, out, slot)) return i
  }
  return scanAnyNumber(text, at, out, slot)
}

/** Significant digits that two exact doubles hold: nine and nine. */
const HEAD_DIGITS = 9
const KEPT_DIGITS = 18

/** The whole grammar, a byte at a time. Same contract as `scanNumber`. */
export function scanAnyNumber(text: JsonText, at: number, out: Float64Array, slot: number): number {
  const { bytes } = text
  const negative = bytes[at] === MINUS
  const start = negative ? at + 1 : at
  let i = start
  if (!isDigit(bytes[i])) return scanNonFinite(text, i, negative, out, slot)
  i++
  if (bytes[start] === ZERO && isDigit(bytes[i])) return ~i
  while (isDigit(bytes[i])) i++
  let scale = 0
  if (bytes[i] === DOT) {
    const fraction = ++i
    while (isDigit(bytes[i])) i++
    if (i === fraction) return ~i
    scale = fraction - i
  }
  const digitsEnd = i
  if ((bytes[i] | 0x20) === LOWER_E) {
    i++
    const below = bytes[i] === MINUS
    if (below || bytes[i] === PLUS) i++
    if (!isDigit(bytes[i])) return ~i
    let exponent = 0
    // the cap keeps the sum an exact integer; a number with such an exponent is 0, Infinity or left to Number()
    for (; isDigit(bytes[i]); i++) exponent = Math.min(exponent * 10 + bytes[i] - ZERO, 1e9)
    scale += below ? -exponent : exponent
  }

  let head = 0
  let tail = 0
  let significant = 0
  for (let k = start; k < digitsEnd; k++) {
    const digit = bytes[k] - ZERO
    if (digit < 0 || (digit === 0 && significant === 0)) continue // the dot, leading zeros
    if (significant < HEAD_DIGITS) head = head * 10 + digit
    else if (significant < KEPT_DIGITS) tail = tail * 10 + digit
    significant++
  }
  if (significant === 0) {
    out[slot] = negative ? -0 : 0
    return i
  }
  if (significant <= KEPT_DIGITS) {
    const shifted = head * POWERS_OF_TEN[Math.max(0, significant - HEAD_DIGITS)]
    const digits = shifted + tail
    if (roundScaled(digits, tail - (digits - shifted), scale, negative, out, slot)) return i
  }
  out[slot] = Number(bytes.toString('latin1', at, i))
  return i
}

function scanNonFinite(text: JsonText, at: number, negative: boolean, out: Float64Array, slot: number): number {
  const word = wordStartingWith(text.bytes[at])
  if (word !== 'Infinity' && (word !== 'NaN' || negative)) return ~at
  out[slot] = negative ? -Infinity : Number(word)
  return scanWord(text, at, word)
}

/** Doubles of one array, in a buffer that grows and is reused from trace to trace. */
export class DoubleColumn {
  data: Float64Array = new Float64Array(4096)
  length = 0

  /** Twice the room, same contents. */
  grow(): Float64Array {
    const larger = new Float64Array(2 * this.data.length)
    larger.set(this.data)
    this.data = larger
    return larger
  }

  /** Valid until the next trace is read. */
  view(): Float64Array {
    return this.data.subarray(0, this.length)
  }
}

/**
 * Reads the elements of an array of numbers into a column, `at` just behind its `[`. Returns the offset behind the `]`.
 * Throws a Fault that names the array, the element and the offset.
 */
export function scanNumberArray(text: JsonText, at: number, column: DoubleColumn, array: string): number {
  const { bytes } = text
  let { data } = column
  let count = 0
  let i = text.skipSpace(at)
  column.length = 0
  if (bytes[i] === CLOSE_BRACKET) return i + 1
  for (;;) {
    if (count === data.length) data = column.grow()
    const end = scanNumber(text, i, data, count)
    if (end < 0) throw notANumber(text, i, ~end, { array, index: count })
    count++
    i = bytes[end] > SPACE ? end : text.skipSpace(end)
    if (bytes[i] !== COMMA) {
      if (bytes[i] !== CLOSE_BRACKET) throw text.malformed(i, '"," or "]"', { array, index: count - 1 })
      column.length = count
      return i + 1
    }
    // the separator is ", " or ","
    if (bytes[++i] === SPACE) i++
    if (bytes[i] <= SPACE) i = text.skipSpace(i)
  }
}

function notANumber(text: JsonText, start: number, at: number, element: Place): Fault {
  const type = at === start && at < text.length ? describeValue(text.bytes[at]) : null
  return type === null
    ? text.malformed(at, 'a number', element)
    : wrongType(type, 'a number', text.place(at, element))
}
