/** Faults of the command line: exit code 2, with what exists. */
import { EXIT, Fault, printable } from '../core/errors.js'

export function usage(problem: string, found: string, expected: string): Fault {
  return new Fault({ format: 'usage', problem, found, expected, exitCode: EXIT.usage })
}

/** A hint behind what is expected. */
export function meant(near: string | null, dashes: '' | '--'): string {
  return near === null ? '' : `; did you mean ${dashes}${near}?`
}

export function pathText(argument: string, value: string, what: string): string {
  if (value === '' || value.includes('\0')) throw usage(`wrong ${argument}`, printable(JSON.stringify(value)), what)
  return value
}

/** The folder that an option names; null: it is not given. */
export function folder(option: string, value: string | undefined): string | null {
  return value === undefined ? null : pathText(`--${option}`, value, 'a folder')
}
