/**
 * Decides whether a computed value agrees with a published one. Two numbers published with d decimals agree when
 *
 *     |computed - published| <= 0.5 * 10^-d + one unit in the last place
 *
 * The unit is the larger one of the two doubles. It makes a decimal tie agree in either direction, although few decimals
 * are doubles exactly. Numbers without decimals, texts and booleans agree when they are equal. Lists agree element by
 * element.
 *
 * The comparison is exact, in integers. In doubles the tolerance would be rounded, and would overflow near 10^308.
 */
import type { ClaimScalar } from '../../schema/claims.js'

/** A finite double as `mantissa * 2^exponent`; 2^exponent is its unit in the last place. */
function dissect(x: number): { readonly mantissa: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, x)
  const bits = view.getBigUint64(0)
  const biased = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  const size = biased === 0 ? fraction : fraction | 0x10000000000000n
  return { mantissa: x < 0 ? -size : size, exponent: Math.max(biased, 1) - 1075 }
}

/** @param decimals 0 or more */
export function numbersAgree(published: number, computed: number, decimals: number): boolean {
  if (!Number.isFinite(published) || !Number.isFinite(computed)) return false
  const p = dissect(published)
  const c = dissect(computed)
  // Both mantissas are expressed in units of 2^low, the smaller of the two units.
  const low = Math.min(p.exponent, c.exponent)
  const inUnits = (mantissa: bigint, exponent: number): bigint => mantissa << BigInt(exponent - low)
  const difference = inUnits(c.mantissa, c.exponent) - inUnits(p.mantissa, p.exponent)
  const beyond = (difference < 0n ? -difference : difference) - inUnits(1n, Math.max(p.exponent, c.exponent))
  // The test is beyond * 2^low <= 1 / (2 * 10^decimals), multiplied out.
  const scaled = beyond * 2n * 10n ** BigInt(decimals)
  return low >= 0 ? scaled << BigInt(low) <= 1n : scaled <= 1n << BigInt(-low)
}

/** @param decimals decimals of the published number; null: the two must be equal */
export function scalarsAgree(published: ClaimScalar, computed: ClaimScalar, decimals: number | null): boolean {
  if (typeof published === 'number' && typeof computed === 'number' && decimals !== null) {
    return numbersAgree(published, computed, decimals)
  }
  return published === computed
}
