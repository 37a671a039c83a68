/**
 * The two clocks of a selection. Both start at the creation of its first session. The arithmetic is in doubles and in
 * this order: milliseconds, or a division of both terms, would change the last digit.
 */
import type { SelectionHistory } from './contract.js'

type TimeOrigin = Pick<SelectionHistory, 'originSeconds'>

/** (timestamp - createdAt of the first session) / 3600, both in seconds; NaN for NaN. A restart does not reset it. */
export function elapsedHours({ originSeconds }: TimeOrigin, timestamp: number): number {
  return (timestamp - originSeconds) / 3600
}

/** Elapsed hours scaled to the axis that figures show. */
export function displayHours(history: TimeOrigin & Pick<SelectionHistory, 'displayFactor'>, timestamp: number): number {
  return elapsedHours(history, timestamp) * history.displayFactor
}
