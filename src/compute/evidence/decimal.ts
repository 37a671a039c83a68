/**
 * Exact arithmetic on decimal notations: a score of 0.5533 is 55.33 percent, not 55.330000000000005. A double stands
 * for its shortest notation, which `String` writes. The result is the double nearest to the exact decimal.
 */

/** The value is `digits` times 10 to the power of `exponent`. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

const NOTATION = /^([+-]?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/

/** @param value finite */
function decimalOf(value: number): Decimal {
  const [, sign, whole, fraction = '', exponent = '0'] = NOTATION.exec(String(value)) ?? []
  const digits = BigInt(whole + fraction)
  return { digits: sign === '-' ? -digits : digits, exponent: Number(exponent) - fraction.length }
}

function numberOf({ digits, exponent }: Decimal): number {
  return Number(`${digits}e${exponent}`)
}

/** Infinite where no finite double can hold the product. */
export function decimalProduct(a: number, b: number): number {
  const [x, y] = [decimalOf(a), decimalOf(b)]
  return numberOf({ digits: x.digits * y.digits, exponent: x.exponent + y.exponent })
}

/** a - b; infinite where no finite double can hold it. */
export function decimalDifference(a: number, b: number): number {
  const [x, y] = [decimalOf(a), decimalOf(b)]
  const exponent = Math.min(x.exponent, y.exponent)
  const digits = ({ digits, exponent: own }: Decimal): bigint => digits * 10n ** BigInt(own - exponent)
  return numberOf({ digits: digits(x) - digits(y), exponent })
}
