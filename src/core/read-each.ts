/** Reading all members of a value, so that whatever is wrong in a file is said at once. */
import { Failures, isRefusal, type Fault } from './errors.js'

/** Reading stops at so many faults: a file of millions of wrong fields must not need memory for a fault of each. */
export const MAX_FAULTS = 10_000

/**
 * What `read` makes of each member.
 *
 * @throws Fault for one wrong field, Failures for several, in the order of the members
 */
export function readEach<M, T>(members: readonly M[], read: (member: M, index: number) => T): T[] {
  const values: T[] = []
  const faults: Fault[] = []
  for (let i = 0; i < members.length && faults.length < MAX_FAULTS; i++) {
    try {
      values.push(read(members[i], i))
    } catch (error) {
      if (!isRefusal(error)) throw error
      for (const fault of error instanceof Failures ? error.faults : [error]) faults.push(fault)
    }
  }
  if (faults.length === 0) return values
  throw faults.length === 1 ? faults[0] : new Failures(faults.slice(0, MAX_FAULTS))
}
