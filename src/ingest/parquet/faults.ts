/** Faults of a Parquet file: one grammar, the place as row group, column and byte. */
import { Fault, describeCause, printable, type FailureCode, type Place } from '../../core/errors.js'

export function malformed(problem: string, found: string, expected: string, exitCode?: FailureCode): Fault {
  return new Fault({ format: 'parquet', problem, found, expected, ...(exitCode === undefined ? {} : { exitCode }) })
}

/**
 * What a decoder threw, with the place filled in. hyparquet throws plain TypeErrors and RangeErrors on bad bytes; they
 * become one Fault here, their cause kept.
 */
export function located(error: unknown, problem: string, place: Place): Fault {
  if (error instanceof Fault) return error.at(place)
  return new Fault({
    format: 'parquet', problem, found: whatWentWrong(error), expected: 'an intact file', place, cause: error
  })
}

/** A structure of other fields than the format has makes the decoder ask for what is not there: its words are the engine's. */
function whatWentWrong(error: unknown): string {
  return error instanceof TypeError || error instanceof RangeError ? 'fields that do not fit each other' : printable(describeCause(error), 200)
}

/** A number from a header or footer, which may be of any thrift type there, as an integer between 0 and `max`. */
export function count(value: unknown, name: string, max: number = Number.MAX_SAFE_INTEGER): number {
  const number = typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0 || number > max) {
    const found = typeof number === 'number' ? `${number}` : value === undefined ? 'none' : `a ${typeof value}`
    throw malformed(`impossible ${name}`, found, `an integer from 0 to ${max}`)
  }
  return number
}
