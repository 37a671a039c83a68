/**
 * Checks of one trace's arrays. They only locate a fault; `../../compute/traces/checks.ts` words the messages.
 */

// @ts-nocheck: checked by the compiler of AssemblyScript, whose types these are

/** The largest integer below which every integer is a double. */
const MAX_SAFE: f64 = 9007199254740991

/** True if values and returns are finite, and positions are safe integers that strictly increase. `n` >= 1 doubles each. */
export function sound(values: usize, returns: usize, positions: usize, n: i32): bool {
  let previous = -Infinity
  const size = <usize>n << 3
  for (let at: usize = 0; at < size; at += 8) {
    const value = load<f64>(values + at)
    const target = load<f64>(returns + at)
    const position = load<f64>(positions + at)
    // x - x is 0 for every finite x, and NaN for the others
    if (value - value != 0 || target - target != 0) return false
    if (!(position > previous) || Math.floor(position) != position) return false
    previous = position
  }
  // the positions increase, so the first and the last are the extremes
  return Math.abs(load<f64>(positions)) <= MAX_SAFE && Math.abs(previous) <= MAX_SAFE
}

/** Writes each i where positions i and i + 1 differ by other than one to the int32s at `out`. Returns their number. */
export function boundaries(positions: usize, n: i32, out: usize): i32 {
  let count = 0
  let previous = load<f64>(positions)
  for (let i = 1; i < n; i++) {
    const position = load<f64>(positions + (<usize>i << 3))
    if (position - previous != 1) {
      store<i32>(out + (<usize>count << 2), i - 1)
      count++
    }
    previous = position
  }
  return count
}

/** Index of the first double that differs as a number from the float32 at its place; -1: none. NaN differs, 0 equals -0. */
export function differsFromFloat32(doubles: usize, floats: usize, n: i32): i32 {
  let i = 0
  for (; i + 4 <= n; i += 4) {
    const low = v128.load64_zero(floats + (<usize>i << 2))
    const high = v128.load64_zero(floats + (<usize>i << 2) + 8)
    const equal = v128.and(
      f64x2.eq(f64x2.promote_low_f32x4(low), v128.load(doubles + (<usize>i << 3))),
      f64x2.eq(f64x2.promote_low_f32x4(high), v128.load(doubles + (<usize>i << 3) + 16))
    )
    if (!i64x2.all_true(equal)) break
  }
  for (; i < n; i++) if (<f64>load<f32>(floats + (<usize>i << 2)) != load<f64>(doubles + (<usize>i << 3))) return i
  return -1
}

/** The same as `differsFromFloat32` for int64. The doubles are safe integers, and only a safe integer rounds to a safe integer. */
export function differsFromInt64(doubles: usize, stored: usize, n: i32): i32 {
  for (let i = 0; i < n; i++) {
    if (<f64>load<i64>(stored + (<usize>i << 3)) != load<f64>(doubles + (<usize>i << 3))) return i
  }
  return -1
}
