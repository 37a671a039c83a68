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

export function valueSpreads(view: AuditView): ValueSpreads | null {
  const { values, returns, at } = view
  if (values === null || returns === null) return null
  const n = at.length
  if (n === 0) return { returns: NOTHING, errors: NOTHING, values: NOTHING }
  let [r, e, v] = [0, 0, 0]
  for (let k = 0; k < n; k++) {
    const i = at[k]
    r += returns[i]
    e += returns[i] - values[i]
    v += values[i]
  }
  const [meanR, meanE, meanV] = [r / n, e / n, v / n]
  let [r2, e2, v2] = [0, 0, 0]
  for (let k = 0; k < n; k++) {
    const i = at[k]
    const ofR = returns[i] - meanR
    const ofE = returns[i] - values[i] - meanE
    const ofV = values[i] - meanV
    r2 += ofR * ofR
    e2 += ofE * ofE
    v2 += ofV * ofV
  }
  if (!Number.isFinite(r2) || !Number.isFinite(e2) || !Number.isFinite(v2)) return null
  return { returns: { n, mean: meanR, m2: r2 }, errors: { n, mean: meanE, m2: e2 }, values: { n, mean: meanV, m2: v2 } }
}

/** Largest finite magnitude among the tokens with mask 1; 0 without an array. */
export function largest(view: AuditView, array: SampleNumbers | null): number {
  let max = 0
  if (array === null) return max
  for (let k = 0; k < view.at.length; k++) {
    const x = Math.abs(array[view.at[k]])
    if (x > max && Number.isFinite(x)) max = x
  }
  return max
}
