/** Sums of one sample for its explained variance, and how large its numbers are. Two passes, over the tokens with mask 1. */
import type { SampleNumbers } from '../../../schema/samples.js'
import type { AuditView } from './view.js'

/** Count, mean and sum of squared deviations; two of them merge exactly as Chan, Golub and LeVeque (1979) say. */
export interface Spread {
  readonly n: number
  readonly mean: number
  readonly m2: number
}

export interface ValueSpreads {
  readonly returns: Spread
  /** R - V */
  readonly errors: Spread
  readonly values: Spread
}

export const NOTHING: Spread = { n: 0, mean: 0, m2: 0 }

export function mergeSpreads(a: Spread, b: Spread): Spread {
  if (a.n === 0) return b
  if (b.n === 0) return a
  const n = a.n + b.n
  const step = b.mean - a.mean
  return { n, mean: a.mean + (step * b.n) / n, m2: a.m2 + b.m2 + (step * step * a.n * b.n) / n }
}

/** Over retained tokens, of R, R - V and V: means, or sums of squared deviations. */
type ThreeSums = readonly [returns: number, errors: number, values: number]

/** Means, made of differences to the first number: equal numbers have a deviation of exactly 0, and a large offset takes no digits. */
function meansOf(values: SampleNumbers, returns: SampleNumbers, at: Int32Array): ThreeSums {
  const [r0, v0] = [returns[at[0]], values[at[0]]]
  const e0 = r0 - v0
  let r = 0
  let e = 0
  let v = 0
  for (let k = 0; k < at.length; k++) {
    const i = at[k]
    r += returns[i] - r0
    e += returns[i] - values[i] - e0
    v += values[i] - v0
  }
  const n = at.length
  return [r0 + r / n, e0 + e / n, v0 + v / n]
}

function squaresOf(values: SampleNumbers, returns: SampleNumbers, at: Int32Array, [meanR, meanE, meanV]: ThreeSums): ThreeSums {
  let r2 = 0
  let e2 = 0
  let v2 = 0
  for (let k = 0; k < at.length; k++) {
    const i = at[k]
    const r = returns[i] - meanR
    const e = returns[i] - values[i] - meanE
    const v = values[i] - meanV
    r2 += r * r
    e2 += e * e
    v2 += v * v
  }
  return [r2, e2, v2]
}

export function valueSpreads({ values, returns, at }: AuditView): ValueSpreads | null {
  if (values === null || returns === null) return null
  const n = at.length
  if (n === 0) return { returns: NOTHING, errors: NOTHING, values: NOTHING }
  const means = meansOf(values, returns, at)
  const squares = squaresOf(values, returns, at, means)
  if (!squares.every(Number.isFinite)) return null
  const spread = (i: 0 | 1 | 2): Spread => ({ n, mean: means[i], m2: squares[i] })
  return { returns: spread(0), errors: spread(1), values: spread(2) }
}

/** Largest finite magnitude among the tokens with mask 1; 0 without an array. */
export function largest(view: AuditView, array: SampleNumbers | null): number {
  let max = 0
  if (array === null) return max
  const { at } = view
  for (let k = 0; k < at.length; k++) {
    const x = Math.abs(array[at[k]])
    if (x > max && x < Infinity) max = x
  }
  return max
}
