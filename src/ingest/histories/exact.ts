/** Tells whether the written digits of a number equal the double that they are read as. */
import { Ascii, isDigit } from '../json/text.js'

/** Most digits that are compared. A double has at most 309 before its point. */
const MAX_DIGITS = 400

/**
 * True if the number at bytes[at .. end) is written as exactly the integer `value`, in any notation (`7`, `7.0`,
 * `70e-1`). `value` is a safe integer and what the text reads as. `6.99999999999999999999` reads as 7 and is not 7.
 */
export function isExactInteger(bytes: Buffer, at: number, end: number, value: number): boolean {
  if (isPlainInteger(bytes, at, end)) return true
  const [mantissa, exponent = '0'] = bytes.toString('latin1', at, end).toLowerCase().split('e')
  const [whole, fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = trimZeros(digits)
  if (significant === '') return value === 0
  const scale = Number(exponent) - fraction.length + digits.length - significant.length
  return scale >= 0 && Number(`${significant}e${scale}`) === Math.abs(value) && significant.length + scale <= 16
}

/** True for an integer without fraction and exponent whose digits differ from `value`, the double it reads as. */
export function isInexactInteger(bytes: Buffer, at: number, end: number, value: number): boolean {
  if (end - at > MAX_DIGITS || !isPlainInteger(bytes, at, end)) return false
  return BigInt(bytes.toString('latin1', at, end)) !== BigInt(value)
}

function isPlainInteger(bytes: Buffer, at: number, end: number): boolean {
  let i = bytes[at] === Ascii.Minus ? at + 1 : at
  while (i < end && isDigit(bytes[i])) i++
  return i === end
}

/** Removes the zeros at the end. A regular expression would take quadratic time on zeros in the middle. */
function trimZeros(digits: string): string {
  let length = digits.length
  while (length > 0 && digits[length - 1] === '0') length--
  return digits.slice(0, length)
}
