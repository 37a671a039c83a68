/**
 * Counts cells of the output files whose value overflows in arithmetic on finite numbers. Such a cell is empty (null in
 * Arrow). Logged values are never among them.
 */
import type { Curve, SelectionHistory } from './contract.js'
import { displayHours } from './time.js'

/** Number of observations whose display_hours no finite double holds. */
export function countBoundlessHours(history: SelectionHistory, { times, timestamp }: Curve): number {
  const isBeyond = (k: number): boolean => !Number.isFinite(displayHours(history, timestamp[times[k]]))
  // The hours are sorted by time, so those that overflow are at the ends.
  let first = 0
  while (first < times.length && isBeyond(first)) first++
  let last = times.length
  while (last > first && isBeyond(last - 1)) last--
  return first + times.length - last
}
