/**
 * One trace's sums, in one pass over its arrays, each total as an unevaluated pair high + low (`../../core/sums.ts`):
 * every addition is Knuth's TwoSum, in index order, so the bits are those of the same loop in JavaScript.
 */

// @ts-nocheck: checked by the compiler of AssemblyScript, whose types these are

/** Results of `measure`: the doubles that `../kernel.ts` names, in its order. */
export const RESULTS: usize = memory.data(16 * 8, 8)

@inline
function put(slot: i32, value: f64): void {
  store<f64>(RESULTS + (<usize>slot << 3), value)
}

/** Writes the sum of the doubles [from, to) at `x` into two slots, high and low part. */
function sum(x: usize, from: i32, to: i32, slot: i32): void {
  let high: f64 = 0
  let low: f64 = 0
  for (let i = from; i < to; i++) {
    const v = load<f64>(x + (<usize>i << 3))
    const s = high + v
    const t = s - high
    low += high - (s - t) + (v - t)
    high = s
  }
  put(slot, high)
  put(slot + 1, low)
}

/**
 * @param n number of doubles at `values` and `returns`, at least one
 * @param marks int32 indexes of boundary transitions, increasing, `count` of them
 */
export function measure(values: usize, returns: usize, n: i32, marks: usize, count: i32, threshold: f64, expectedReturn: f64): void {
  const half = n >> 1
  sum(values, 0, half, 0)
  sum(values, half, n, 2)
  let squaresHigh: f64 = 0
  let squaresLow: f64 = 0
  let boundaryHigh: f64 = 0
  let boundaryLow: f64 = 0
  let boundaryJumps = 0
  let internalHigh: f64 = 0
  let internalLow: f64 = 0
  let internalJumps = 0
  let otherReturns = 0
  let maxFrom = -1
  let maxAbs: f64 = -1
  let passed = 0
  let next = count == 0 ? -1 : load<i32>(marks)
  const last = n - 1
  let value = load<f64>(values)
  for (let i = 0; ; i++) {
    const target = load<f64>(returns + (<usize>i << 3))
    const error = value - target
    const square = error * error
    let s = squaresHigh + square
    let t = s - squaresHigh
    squaresLow += squaresHigh - (s - t) + (square - t)
    squaresHigh = s
    if (target != expectedReturn) otherReturns++
    if (i == last) break
    const following = load<f64>(values + (<usize>(i + 1) << 3))
    const change = Math.abs(following - value)
    value = following
    if (i == next) {
      if (change > threshold) boundaryJumps++
      if (change > maxAbs) {
        maxAbs = change
        maxFrom = i
      }
      s = boundaryHigh + change
      t = s - boundaryHigh
      boundaryLow += boundaryHigh - (s - t) + (change - t)
      boundaryHigh = s
      next = ++passed < count ? load<i32>(marks + (<usize>passed << 2)) : -1
    } else {
      if (change > threshold) internalJumps++
      s = internalHigh + change
      t = s - internalHigh
      internalLow += internalHigh - (s - t) + (change - t)
      internalHigh = s
    }
  }
  put(4, squaresHigh)
  put(5, squaresLow)
  put(6, boundaryHigh)
  put(7, boundaryLow)
  put(8, <f64>boundaryJumps)
  put(9, internalHigh)
  put(10, internalLow)
  put(11, <f64>internalJumps)
  put(12, <f64>otherReturns)
  put(13, <f64>maxFrom)
}
