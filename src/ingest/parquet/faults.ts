/** Faults of a Parquet file. The place is given as row group, column and byte. */
import { Fault, describeCause, printable, type FailureCode, type Place } from '../../core/errors.js'

export function malformedParquet(problem: string, found: string, expected: string, exitCode?: FailureCode): Fault {
  return new Fault({ format: 'parquet', problem, found, expected, ...(exitCode === undefined ? {} : { exitCode }) })
}

/**
 * Adds the place to an error of a decoder. hyparquet throws plain TypeErrors and RangeErrors on bad bytes; these become one
 * Fault, with the error as its cause.
 */
export function toParquetFault(error: unknown, problem: string, place: Place): Fault {
  if (error instanceof Fault) return error.at(place)
  return new Fault({
    format: 'parquet',
    problem,
    found: whatWentWrong(error),
    expected: 'an intact file',
    place,
    cause: error
  })
}

/** With wrong fields in a structure, the decoder reads missing properties; the engine's message would not help the user. */
function whatWentWrong(error: unknown): string {
  return error instanceof TypeError || error instanceof RangeError
    ? 'fields that do not fit each other'
    : printable(describeCause(error), 200)
}

/** A number from a header or footer as an integer between 0 and `max`. In the file it may have any thrift type. */
export function count(value: unknown, name: string, max: number = Number.MAX_SAFE_INTEGER): number {
  const number = typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0 || number > max) {
    const found = typeof number === 'number' ? `${number}` : value === undefined ? 'none' : `a ${typeof value}`
    throw malformedParquet(`impossible ${name}`, found, `an integer from 0 to ${max}`)
  }
  return number
}
