/**
 * Faults of configuration files. They name file and line and never repeat text of the file: a line that cannot be read
 * may hold a secret. For the same reason no cause is kept that quotes its input.
 */
import { Fault } from '../../core/errors.js'

export function configFault(problem: string, found: string, expected: string, file: string, line?: number): Fault {
  return new Fault({
    format: 'config', problem, found: line === undefined ? found : `${found} in line ${line}`, expected, place: { file }
  })
}
