/** Faults of written evidence: the field of the study that asks for it, what stands in the source, and where. */
import { Fault, printable } from '../../core/errors.js'

export interface Asked {
  /** `evidence.workbook.values[3]` */
  readonly at: string
  readonly name: string
}

/** @param member place in the file: `Scores!C8`, `slide 40` */
export function unreadable({ at, name }: Asked, found: string, expected: string, file: string, member?: string): Fault {
  return new Fault({
    format: 'evidence', problem: 'unreadable value', found: `${at} (${name}) finds ${found}`, expected,
    place: { file, ...(member === undefined ? {} : { member }) }
  })
}

/** Text of a source as a message repeats it. */
export function quoted(text: string): string {
  return printable(JSON.stringify(text))
}
