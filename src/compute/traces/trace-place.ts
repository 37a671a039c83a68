/** Where a trace stands, added to a fault of whatever read it or measured it. */
import { Fault, toFault, type Place } from '../../core/errors.js'

/** What tells a trace from others. */
interface Identified {
  readonly index: number
  readonly fields: { readonly uid: string | null; readonly step: number | null }
}

/** Runs `body` and adds the trace's identity to a Fault that it throws. */
export function within<T>(trace: Identified, body: () => T): T {
  try {
    return body()
  } catch (error) {
    const place: Place = {
      trace: trace.index,
      ...(trace.fields.uid === null ? {} : { uid: trace.fields.uid }),
      ...(trace.fields.step === null ? {} : { step: trace.fields.step })
    }
    throw toFault(error, 'trace', place)
  }
}

/** Runs `body` and adds the file to a Fault that names none. */
export function inFile<T>(file: string, body: () => T): T {
  try {
    return body()
  } catch (error) {
    throw toFault(error, 'trace', { file })
  }
}

/** An array that is missing often has another name: the fault says how one is told. */
export function withWayOut(fault: Fault): Fault {
  const { problem, expected } = fault.details
  if (problem !== 'missing array') return fault
  const way = 'where it has another name: --key NAME=THEIRS, or keys of a study'
  return new Fault({ ...fault.details, expected: expected === undefined ? way : `${expected}; ${way}` })
}
