/** Extremes of lists of any length: what `Math.max(...list)` takes has to fit onto the stack, some 120,000 numbers. */

/** -Infinity of none; NaN where one is */
export function maxOf(numbers: readonly number[]): number {
  return numbers.reduce((most, x) => Math.max(most, x), -Infinity)
}

/** Infinity of none; NaN where one is */
export function minOf(numbers: readonly number[]): number {
  return numbers.reduce((least, x) => Math.min(least, x), Infinity)
}
