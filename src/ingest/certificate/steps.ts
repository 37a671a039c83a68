/** Summarises the steps of a history: first, last, missing and repeated ones, in numbers and in words. */
import type { StepSummary } from './fields.js'

/** Number of ranges that a message names. */
const MAX_NAMED = 10

/** @param steps in the order of the rows */
export function summariseSteps(steps: Float64Array): StepSummary {
  const sorted = Float64Array.from(steps).sort()
  const holes: Array<readonly [number, number]> = []
  const repeated: Array<{ step: number; rows: number }> = []
  for (let i = 1; i < sorted.length; i++) {
    const before = sorted[i - 1]
    const step = sorted[i]
    if (step > before + 1) holes.push([before + 1, step - 1])
    if (step !== before) continue
    const last = repeated.at(-1)
    if (last?.step === step) last.rows++
    else repeated.push({ step, rows: 2 })
  }
  const { length } = sorted
  return {
    rows: length,
    first_step: length === 0 ? null : sorted[0],
    last_step: length === 0 ? null : sorted[length - 1],
    holes,
    repeated
  }
}

/** `41, 57 to 60 and 3 more ranges`. Adjacent ranges are joined. */
export function nameRanges(ranges: ReadonlyArray<readonly [from: number, to: number]>): string {
  const joined: Array<[number, number]> = []
  for (const [from, to] of ranges) {
    const last = joined.at(-1)
    if (last !== undefined && last[1] + 1 === from) last[1] = to
    else joined.push([from, to])
  }
  const named = joined
    .slice(0, MAX_NAMED)
    .map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`))
    .join(', ')
  const more = joined.length - MAX_NAMED
  return more > 0 ? `${named} and ${more} more ${more === 1 ? 'range' : 'ranges'}` : named
}

/** Index of the first row whose step is below the step before it; -1 without such a row. */
export function firstDisorder(steps: Float64Array): number {
  return steps.findIndex((step, i) => i > 0 && step < steps[i - 1])
}
