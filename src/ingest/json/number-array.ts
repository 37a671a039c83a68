/**
 * Reads arrays of numbers directly into a Float64Array. A number of a usual shape costs no object, no text and no call.
 *
 * The compiled loop handles the shapes that critics' values have (up to nine digits before the point, up to 23 behind it).
 * It leaves everything else, every fault included, to `scanNumber`, which handles the whole grammar. So one function
 * defines what a number is, and the fast path never decides otherwise.
 */

import type { Fault, Place } from '../../core/errors.js'
import { Status } from '../../kernel/kernel.js'
import { wrongType } from './faults.js'
import type { KernelText } from './kernel-text.js'
import { scanNumber } from './number.js'
import { Ascii } from './text.js'

/** Doubles of one array, in the kernel's memory. */
export class DoubleColumn {
  data: Float64Array = new Float64Array(0)
  length = 0

  /** Valid until the next trace is read. */
  view(): Float64Array {
    return this.data.subarray(0, this.length)
  }
}

/**
 * Reads the elements of an array of numbers into a column. @param at offset directly behind the `[`
 * Returns the offset behind the `]`. @throws Fault that names the array, the element and the offset
 */
export function scanNumberArray(text: KernelText, at: number, column: DoubleColumn, array: string): number {
  const { bytes, kernel } = text
  column.data = kernel.doubles()
  column.length = 0
  let i = text.skipSpace(at)
  if (bytes[i] === Ascii.CloseBracket) return i + 1
  for (;;) {
    i = kernel.numbers(i, column.length)
    column.length = kernel.count
    if (kernel.status === Status.Closed) break
    if (kernel.status === Status.Odd) {
      const start = i
      i = scanNumber(text, start, column.data, column.length)
      if (i < 0) throw notANumber(text, start, ~i, { array, index: column.length })
      column.length++
      i = text.skipSpace(i)
      if (bytes[i] === Ascii.Comma) {
        i = text.skipSpace(i + 1)
        continue
      }
      if (bytes[i++] === Ascii.CloseBracket) break
      i--
    }
    throw text.malformed(i, '"," or "]"', { array, index: column.length - 1 })
  }
  kernel.take(column.data.BYTES_PER_ELEMENT * column.length)
  return i
}

function notANumber(text: KernelText, start: number, at: number, element: Place): Fault {
  const type = at === start ? text.valueType(at) : null
  return type === null ? text.malformed(at, 'a number', element) : wrongType(type, 'a number', text.place(at, element))
}
