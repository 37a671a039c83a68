/** Faults of a torch file. The place is file, member and byte. */
import { Fault, type Place } from '../../core/errors.js'

export function torchFault(problem: string, found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'torch', problem, found, expected, place })
}
