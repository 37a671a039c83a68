/**
 * Converts decimal digits to the nearest double, exactly, without a call of the runtime's own conversion per number. Two
 * methods are used. Both are exact, or answer "not certain"; then `Number(text)` decides:
 *
 * - Clinger (1990): digits below 2^53 and a power of ten up to 22 are exact doubles, so one multiplication or division
 *   rounds once. This covers values on the bfloat16 grid.
 * - Double-double (Dekker 1971) with a rounding test (Ziv 1991): float32 and float64 values print with up to 17 digits.
 *   The product with the power of ten is kept to about 104 bits with a proven error bound. If both ends of the error
 *   interval round to the same double, that double is the answer. Only ties and their closest neighbours fail the test.
 *
 * The method of Eisel and Lemire needs a 64 x 128 bit product. JavaScript has it only as BigInt, one object per number.
 */

/** The powers of ten that are exact doubles. */
export const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, n) => Number(`1e${n}`))

/** Powers of ten in the double-double table: 10^-TABLE_REACH to 10^TABLE_REACH. No product leaves the normal range. */
const TABLE_REACH = 64

/** 10^e = high + low, each to half a unit in its last place. */
export const { high: POWER_HIGH, low: POWER_LOW } = powerTable()

function powerTable(): { readonly high: Float64Array; readonly low: Float64Array } {
  const high = new Float64Array(2 * TABLE_REACH + 1)
  const low = new Float64Array(2 * TABLE_REACH + 1)
  // every entry as an integer over 2^SCALE: the rest of 10^-64 (about 2^-213) keeps far more than 53 bits
  const SCALE = 400n
  const scaled = (x: number): bigint => {
    // the double nearest to 10^-64 has no bit below 2^-265
    return BigInt(x * 2 ** 265) << (SCALE - 265n)
  }
  for (let e = -TABLE_REACH; e <= TABLE_REACH; e++) {
    const exact = e < 0 ? (1n << SCALE) / 10n ** BigInt(-e) : (10n ** BigInt(e)) << SCALE
    const nearest = Number(`1e${e}`)
    high[e + TABLE_REACH] = nearest
    low[e + TABLE_REACH] = Number(exact - scaled(nearest)) / 2 ** Number(SCALE)
  }
  return { high, low }
}

/** 2^27 + 1: splits a double into two halves of 26 bits (Veltkamp). */
const SPLITTER = 134217729

/** Bound of the error of the product below, relative to it: ten roundings of at most 2^-106 each, and a margin. */
const ERROR_BOUND = 2 ** -100

/**
 * Writes the double nearest to (high + low) * 10^exponent into out[slot], negated on request, and returns true. Returns
 * false and writes nothing if the result is not certain, or if the exponent is beyond the table.
 * `high` is a positive integer below 2^70 as a double, `low` an exact rest of at most half its last place.
 */
export function roundScaled(high: number, low: number, exponent: number, negative: boolean, out: Float64Array, slot: number): boolean {
  if (exponent < -TABLE_REACH || exponent > TABLE_REACH) return false
  const p = POWER_HIGH[exponent + TABLE_REACH]
  const x = high * p
  // x + rest = high * p exactly (Dekker's product), then the two cross terms; low * POWER_LOW is covered by the bound
  const t = SPLITTER * high
  const a = t - (t - high)
  const b = high - a
  const u = SPLITTER * p
  const c = u - (u - p)
  const d = p - c
  const rest = b * d - (x - a * c - b * c - a * d)
  const y = rest + (high * POWER_LOW[exponent + TABLE_REACH] + low * p)
  const error = x * ERROR_BOUND
  const value = x + (y - error)
  if (value !== x + (y + error)) return false
  out[slot] = negative ? -value : value
  return true
}
