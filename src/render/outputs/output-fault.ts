/** Faults of writing. They state what the operating system reported, what was needed, and the path. The exit code is 3. */
import { describeCause, Fault, printable, toFault } from '../../core/errors.js'
import { neededToWrite, systemName } from '../../core/system/error.js'

/** The fault of a failed file operation on `path`. A Fault is returned unchanged. */
export function outputFault(error: unknown, path: string): Fault {
  if (error instanceof Fault) return error
  const name = systemName(error)
  if (name === null) return toFault(error, 'output', { file: path })
  return new Fault({
    format: 'output',
    problem: 'unwritable',
    found: printable(describeCause(error)),
    expected: neededToWrite(name),
    place: { file: path },
    cause: error
  })
}
