/** Builds the faults of written evidence. A fault names the field of the study, what was found in the source, and the place. */
import { Fault, printable } from '../../core/errors.js'

export interface AskedValue {
  /** `evidence.workbook.values[3]` */
  readonly at: string
  readonly name: string
}

/** @param member place in the file: `Scores!C8`, `slide 40` */
export function valueUnreadable({ at, name }: AskedValue, found: string, expected: string, file: string, member?: string): Fault {
  return new Fault({
    format: 'evidence',
    problem: 'unreadable value',
    found: `${at} (${name}) finds ${found}`,
    expected,
    place: { file, ...(member === undefined ? {} : { member }) }
  })
}

/** Quotes a text of a source for a message. */
export function quoted(text: string): string {
  return printable(JSON.stringify(text))
}
