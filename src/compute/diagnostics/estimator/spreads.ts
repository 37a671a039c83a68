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

export function spreadOf(n: number, at: (k: number) => number): Spread {
  if (n === 0) return NOTHING
  let mean = 0
  for (let k = 0; k < n; k++) mean += at(k)
  mean /= n
  let m2 = 0
  for (let k = 0; k < n; k++) m2 += (at(k) - mean) ** 2
  return { n, mean, m2 }
}

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
  const spreads = {
    returns: spreadOf(at.length, k => returns[at[k]]),
    errors: spreadOf(at.length, k => returns[at[k]] - values[at[k]]),
    values: spreadOf(at.length, k => values[at[k]])
  }
  return Object.values(spreads).every(s => Number.isFinite(s.m2)) ? spreads : null
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
