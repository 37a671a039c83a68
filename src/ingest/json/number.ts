/**
 * Scans one number: strict JSON grammar, plus NaN, Infinity and -Infinity. The result is exactly the double that
 * JSON.parse gives, -0 included. Overflow gives Infinity, as in JSON.parse.
 */

import { POWERS_OF_TEN, roundScaled } from './decimal.js'
import { Ascii, type JsonText, isDigit, scanWord, wordStartingWith } from './text.js'

/** Numbers of significant digits that are kept, as two exact doubles of nine digits each. */
const HEAD_DIGITS = 9
const KEPT_DIGITS = 18

/**
 * Reads the number at `at` into out[slot]. Returns the offset behind it, or ~offset of the byte that breaks the
 * grammar.
 */
export function scanNumber(text: JsonText, at: number, out: Float64Array, slot: number): number {
  const { bytes } = text
  const negative = bytes[at] === Ascii.Minus
  const start = negative ? at + 1 : at
  let i = start
  if (!isDigit(bytes[i])) return scanNonFinite(text, i, negative, out, slot)
  i++
  if (bytes[start] === Ascii.Zero && isDigit(bytes[i])) return ~i
  while (isDigit(bytes[i])) i++
  let scale = 0
  if (bytes[i] === Ascii.Dot) {
    const fraction = ++i
    while (isDigit(bytes[i])) i++
    if (i === fraction) return ~i
    scale = fraction - i
  }
  const digitsEnd = i
  if ((bytes[i] | 0x20) === Ascii.LowerE) {
    i++
    const below = bytes[i] === Ascii.Minus
    if (below || bytes[i] === Ascii.Plus) i++
    if (!isDigit(bytes[i])) return ~i
    let exponent = 0
    // an exponent of hundreds of digits becomes Infinity, which no method below takes
    for (; isDigit(bytes[i]); i++) exponent = exponent * 10 + bytes[i] - Ascii.Zero
    scale += below ? -exponent : exponent
  }

  let head = 0
  let tail = 0
  let significant = 0
  for (let k = start; k < digitsEnd; k++) {
    const digit = bytes[k] - Ascii.Zero
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
