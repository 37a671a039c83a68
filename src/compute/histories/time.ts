/**
 * Two clocks of a selection, both from its first session's creation. Plain double arithmetic, in this order: milliseconds
 * first, or a division of both terms, gives another last digit.
 */
import type { SelectionHistory } from './contract.js'

type Origin = Pick<SelectionHistory, 'originSeconds'>

/** (timestamp - createdAt of the first session) / 3600, both in seconds; NaN for NaN. Never reset at a restart. */
export function elapsedHours({ originSeconds }: Origin, timestamp: number): number {
  return (timestamp - originSeconds) / 3600
}

/** The elapsed hours on the axis that figures show. */
export function displayHours(history: Origin & Pick<SelectionHistory, 'displayFactor'>, timestamp: number): number {
  return elapsedHours(history, timestamp) * history.displayFactor
}
