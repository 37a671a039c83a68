/**
 * Faults of configuration files. They name file and line and never quote the file: a line that cannot be read may hold a
 * secret. No cause that quotes its input is kept either.
 */
import { Fault } from '../../core/errors.js'

export function configFault(problem: string, found: string, expected: string, file: string, line?: number): Fault {
  return new Fault({
    format: 'config',
    problem,
    found: line === undefined ? found : `${found} in line ${line}`,
    expected,
    place: { file }
  })
}
