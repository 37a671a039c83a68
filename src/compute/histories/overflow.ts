/**
 * Cells of the files that arithmetic on finite numbers takes out of the double range: they are empty (null in Arrow), and
 * counted here. No value as logged is among them.
 */
import type { Curve, SelectionHistory } from './contract.js'
import { displayHours } from './time.js'

/** Observations whose display_hours no double holds. */
export function countBoundlessHours(history: SelectionHistory, { times, timestamp }: Curve): number {
  const isBeyond = (k: number): boolean => !Number.isFinite(displayHours(history, timestamp[times[k]]))
  // By time: those beyond are at the ends.
  let first = 0
  while (first < times.length && isBeyond(first)) first++
  let last = times.length
  while (last > first && isBeyond(last - 1)) last--
  return first + times.length - last
}
