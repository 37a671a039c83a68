/**
 * Mean and RMSE as single precision computes them: the likely cause where stored statistics differ from those of float64. Two
 * ways are tried. One adds in order. The other is numpy's for float32 arrays: pairwise, eight sums side by side in blocks of at
 * most 128 (numpy/_core/src/umath/loops_utils.h.src, pairwise_sum).
 */

const round = Math.fround

/** Each way's mean of the values. */
export function meansInFloat32(values: Float64Array): number[] {
  const x = Float32Array.from(values)
  return [...new Set([round(inOrder(x) / x.length), round(pairwise(x, 0, x.length) / x.length)])]
}

/** Each way's sqrt(mean((values - returns)^2)). */
export function rmsesInFloat32(values: Float64Array, returns: Float64Array): number[] {
  const squares = Float32Array.from(values, (value, i) => {
    const difference = round(round(value) - round(returns[i]))
    return difference * difference
  })
  return meansInFloat32(Float64Array.from(squares)).map(mean => round(Math.sqrt(mean)))
}

function inOrder(x: Float32Array): number {
  let sum = 0
  for (const value of x) sum = round(sum + value)
  return sum
}

const BLOCK = 128
const LANES = 8

function pairwise(x: Float32Array, from: number, count: number): number {
  if (count < LANES) {
    let sum = 0
    for (let i = 0; i < count; i++) sum = round(sum + x[from + i])
    return sum
  }
  if (count > BLOCK) {
    const half = (count >> 1) - ((count >> 1) % LANES)
    return round(pairwise(x, from, half) + pairwise(x, from + half, count - half))
  }
  const r = x.slice(from, from + LANES)
  let i = LANES
  for (; i < count - (count % LANES); i += LANES) for (let k = 0; k < LANES; k++) r[k] += x[from + i + k]
  let sum = round(round(round(r[0] + r[1]) + round(r[2] + r[3])) + round(round(r[4] + r[5]) + round(r[6] + r[7])))
  for (; i < count; i++) sum = round(sum + x[from + i])
  return sum
}

/** Whether all numbers of two arrays of one length are equal after rounding to single precision. */
export function equalAsFloat32(a: Float64Array, b: Float64Array): boolean {
  return a.every((value, i) => round(value) === round(b[i]))
}
