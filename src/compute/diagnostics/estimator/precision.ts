/**
 * What rounding allows. An array that a trainer kept in bfloat16 or half precision comes as singles with empty low bits; JSON
 * may hold numbers cut to a few decimals.
 */
import type { SampleNumbers } from '../../../schema/samples.js'

/** Relative rounding of a single: half a unit in the last place. Estimators compute in singles, so nothing finer is asked. */
export const SINGLE = 2 ** -24
const HALF = 2 ** -11
const BFLOAT16 = 2 ** -8 / 2
/** Numbers that are looked at for decimals. */
const LOOKED_AT = 256
const MOST_DECIMALS = 7
/** Singles whose bits are looked at together. */
const TOGETHER = 1024

export interface Precision {
  /** relative error of one number */
  readonly relative: number
  /** absolute error of one number that was cut to decimals; 0 where it was not */
  readonly absolute: number
}

function decimalsOf(array: SampleNumbers): number | null {
  const n = Math.min(array.length, LOOKED_AT)
  if (n < 8) return null
  for (let d = 1; d <= MOST_DECIMALS; d++) {
    let all = true
    let some = false
    for (let i = 0; all && i < n; i++) {
      const x = array[i] * 10 ** d
      all = Math.abs(x - Math.round(x)) < 1e-9 * Math.max(1, Math.abs(x))
      some ||= !Number.isInteger(array[i])
    }
    if (all) return some ? d : null
  }
  return null
}

/** The bits of singles that bfloat16 has not, of all of them together. Without an exit, the engine compiles it once. */
function lowBits(words: Int32Array, from: number, to: number): number {
  let bits = 0
  for (let i = from; i < to; i++) bits |= words[i]
  return bits & 0xffff
}

export function precisionOf(array: SampleNumbers | null): Precision {
  if (array === null) return { relative: SINGLE, absolute: 0 }
  if (array instanceof Float64Array) {
    if (array.some(x => Math.fround(x) !== x)) {
      const decimals = decimalsOf(array)
      return { relative: SINGLE, absolute: decimals === null ? 0 : 0.5 * 10 ** -decimals }
    }
  }
  const singles = array instanceof Float32Array ? array : new Float32Array(array)
  const words = new Int32Array(singles.buffer, singles.byteOffset, singles.length)
  let low = 0
  for (let from = 0; from < words.length; from += TOGETHER) {
    low |= lowBits(words, from, Math.min(from + TOGETHER, words.length))
    if ((low & 0x1fff) !== 0) return { relative: SINGLE, absolute: 0 }
  }
  return { relative: low === 0 ? BFLOAT16 : HALF, absolute: 0 }
}
