/**
 * Arrays of numbers, straight into a Float64Array: no object, no text and no call per number of the usual shape.
 *
 * The loop knows the shapes that critics' values have (up to nine digits before the point, up to 23 behind it) and
 * reads them four digits at a time. Everything else, every fault included, it leaves to `scanNumber`, which knows the
 * whole grammar: so there is one authority on what a number is, and the fast path can only decline.
 */

import type { Fault, Place } from '../../errors.js'
import { EXACT_INTEGERS, HEAD_LIMITS, POWERS_OF_TEN, roundScaled } from './decimal.js'
import { wrongType } from './faults.js'
import { scanNumber } from './number.js'
import { Ascii, type JsonText } from './text.js'

/** Doubles of one array, in a buffer that grows and is reused from trace to trace. */
export class DoubleColumn {
  data: Float64Array = new Float64Array(0)
  length = 0

  /** Room for this many elements at least; contents are lost. */
  reserve(elements: number): void {
    if (this.data.length < elements) this.data = new Float64Array(elements)
  }

  /** Room for this many elements at least, twice what was there, same contents. */
  grow(elements: number): void {
    const larger = new Float64Array(Math.max(elements, 2 * this.data.length))
    larger.set(this.data)
    this.data = larger
  }

  /** Valid until the next trace is read. */
  view(): Float64Array {
    return this.data.subarray(0, this.length)
  }
}

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

/** Local names: constants of this module are compiled in, imported ones are looked up at every use. */
const POWERS = POWERS_OF_TEN
const LIMITS = HEAD_LIMITS
const EXACT = EXACT_INTEGERS

/** Digits before the point that the fast path takes: an int32. */
const MAX_WHOLE_DIGITS = 9

/** Groups of four fraction digits that the fast path takes: two in the head, three in the tail. */
const HEAD_WORDS = 2
const MAX_WORDS = 5

/**
 * Elements that one call of `scanElements` reads. A loop over a whole array would be compiled again and again in the middle
 * of its run (on-stack replacement), each time for the shapes seen until then; a short one called often is compiled once
 * it is warm, which halves the time of the first megabytes.
 */
const ELEMENTS_A_CALL = 512

/**
 * Reads the elements of an array of numbers into a column, `at` just behind its `[`. Returns the offset behind the `]`.
 * Throws a Fault that names the array, the element and the offset.
 */
export function scanNumberArray(text: JsonText, at: number, column: DoubleColumn, array: string): number {
  column.length = 0
  let i = text.skipSpace(at)
  if (text.bytes[i] === Ascii.CloseBracket) return i + 1
  for (;;) {
    if (column.length + ELEMENTS_A_CALL > column.data.length) column.grow(column.length + ELEMENTS_A_CALL)
    i = scanElements(text, i, column, array)
    if (text.bytes[i - 1] === Ascii.CloseBracket) return i
    i = repeatLast(text, i, column)
  }
}

/**
 * Takes ELEMENTS_A_CALL elements at a time as long as they repeat the one before `at` to the byte, separators included.
 * Returns the offset of the next element. The returns of a trace are mostly one number: to compare bytes and to fill an
 * array are native calls, where a loop would read a million numbers.
 */
function repeatLast(text: JsonText, at: number, column: DoubleColumn): number {
  const { bytes } = text
  let start = at - 1
  while (bytes[start] !== Ascii.Comma) start--
  do start--
  while (bytes[start] <= Ascii.Space)
  while (bytes[start - 1] > Ascii.Space && bytes[start - 1] !== Ascii.Comma && bytes[start - 1] !== Ascii.OpenBracket) start--
  const size = ELEMENTS_A_CALL * (at - start)
  let i = at
  while (i + size <= text.length && bytes.compare(bytes, start, start + size, i, i + size) === 0) i += size
  if (i > at) {
    const { length } = column
    column.length += (i - at) / (at - start)
    if (column.length > column.data.length) column.grow(column.length)
    column.data.fill(column.data[length - 1], length, column.length)
  }
  return i
}

/** Up to ELEMENTS_A_CALL elements, the first at `at`. Returns the offset of the next element, or behind the `]`. */
function scanElements(text: JsonText, at: number, column: DoubleColumn, array: string): number {
  const { bytes, view } = text
  const { data } = column
  const last = column.length + ELEMENTS_A_CALL
  let count = column.length
  let i = at
  while (count < last) {
    const start = i
    let done = false
    usual: {
      const negative = bytes[i] === Ascii.Minus
      if (negative) i++
      let whole = bytes[i] - Ascii.Zero
      if (whole < 0 || whole > 9) break usual
      let digit = bytes[++i] - Ascii.Zero
      if (digit >= 0 && digit <= 9) {
        if (whole === 0) break usual
        const limit = i + MAX_WHOLE_DIGITS - 1
        do {
          whole = Math.imul(whole, 10) + digit
          digit = bytes[++i] - Ascii.Zero
        } while (digit >= 0 && digit <= 9 && i < limit)
        if (digit >= 0 && digit <= 9) break usual
      }
      if (bytes[i] !== Ascii.Dot) {
        if ((bytes[i] | 0x20) === Ascii.LowerE) break usual
        data[count] = negative ? -whole : whole
        done = true
        break usual
      }

      const fraction = ++i
      digit = bytes[i + 1] - Ascii.Zero
      if (digit < 0 || digit > 9) {
        // one digit: most returns are 0.0 or 1.0
        digit = bytes[i++] - Ascii.Zero
        if (digit < 0 || digit > 9 || (bytes[i] | 0x20) === Ascii.LowerE) break usual
        const value = (whole * 10 + digit) / 10
        data[count] = negative ? -value : value
        done = true
        break usual
      }

      // all digits = head * 10^tailDigits + tail
      let head = whole
      let tail = 0
      let tailDigits = 0
      let words = 0
      let word = view.getInt32(i, true)
      let stop = nonDigits(word)
      while (stop === 0) {
        if (words < HEAD_WORDS) head = head * 10000 + fourDigits(word)
        else if (words === MAX_WORDS) break usual
        else {
          tail = tail * 10000 + fourDigits(word)
          tailDigits += 4
        }
        words++
        i += 4
        word = view.getInt32(i, true)
        stop = nonDigits(word)
      }
      const digits = digitsBefore(stop)
      tail = tail * POWERS[digits] + leadingDigits(word, digits)
      tailDigits += digits
      i += digits
      if (i === fraction || (bytes[i] | 0x20) === Ascii.LowerE) break usual
      const shifted = head * POWERS[tailDigits]
      const integer = shifted + tail
      if (integer < EXACT) {
        if (i - fraction >= POWERS.length) break usual
        const value = integer / POWERS[i - fraction]
        data[count] = negative ? -value : value
        done = true
      } else if (head < LIMITS[tailDigits]) {
        // shifted is exact, so what the sum lost is exact too
        done = roundScaled(integer, tail - (integer - shifted), fraction - i, negative, data, count)
      }
    }
    if (!done) {
      i = scanNumber(text, start, data, count)
      if (i < 0) throw notANumber(text, start, ~i, { array, index: count })
    }
    count++
    if (bytes[i] <= Ascii.Space) i = text.skipSpace(i)
    if (bytes[i] !== Ascii.Comma) {
      if (bytes[i] !== Ascii.CloseBracket) throw text.malformed(i, '"," or "]"', { array, index: count - 1 })
      i++
      break
    }
    // the separator is ", " or ","
    if (bytes[++i] === Ascii.Space) i++
    if (bytes[i] <= Ascii.Space) i = text.skipSpace(i)
  }
  column.length = count
  return i
}

function notANumber(text: JsonText, start: number, at: number, element: Place): Fault {
  const type = at === start ? text.valueType(at) : null
  return type === null
    ? text.malformed(at, 'a number', element)
    : wrongType(type, 'a number', text.place(at, element))
}
