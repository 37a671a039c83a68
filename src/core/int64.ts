/** Int64 arrays of integers that doubles hold exactly, without a BigInt for each: that would be one object per token. */

/** Writes safe integers as little-endian 64-bit pairs. */
export function writeInt64(pairs: Int32Array, integers: Int32Array | Float64Array): void {
  for (let i = 0; i < integers.length; i++) {
    const high = Math.floor(integers[i] / 4294967296)
    pairs[2 * i] = integers[i] - high * 4294967296
    pairs[2 * i + 1] = high
  }
}

export function asInt64(integers: Int32Array | Float64Array): BigInt64Array {
  const wide = new BigInt64Array(integers.length)
  writeInt64(new Int32Array(wide.buffer), integers)
  return wide
}
