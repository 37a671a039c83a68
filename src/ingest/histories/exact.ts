/** Whether the digits of a number, as they are written, are the double that they are read as. */
import { Ascii, isDigit } from '../json/text.js'

/** Longer ones are not looked at digit by digit: doubles end at 309. */
const MAX_DIGITS = 400

/**
 * Of the number at bytes[at .. end), which reads as `value`, a safe integer: exactly that integer is written, in whatever
 * notation (`7`, `7.0`, `70e-1`). `6.99999999999999999999` reads as 7 and is none.
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

/** An integer without fraction and exponent, and another than `value`, which it reads as. */
export function isInexactInteger(bytes: Buffer, at: number, end: number, value: number): boolean {
  if (end - at > MAX_DIGITS || !isPlainInteger(bytes, at, end)) return false
  return BigInt(bytes.toString('latin1', at, end)) !== BigInt(value)
}

function isPlainInteger(bytes: Buffer, at: number, end: number): boolean {
  let i = bytes[at] === Ascii.Minus ? at + 1 : at
  while (i < end && isDigit(bytes[i])) i++
  return i === end
}

/** Without the zeros at the end. (A pattern for it takes quadratic time on zeros in the middle.) */
function trimZeros(digits: string): string {
  let length = digits.length
  while (length > 0 && digits[length - 1] === '0') length--
  return digits.slice(0, length)
}
