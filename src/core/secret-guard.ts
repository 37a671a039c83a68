/** Refuses texts that look like secrets. The fault names the place and never repeats the text. */
import { Fault, type Place } from './errors.js'
import { isSecretText } from './secrets.js'

/** A document is read in pieces. They overlap by the length of the longest secret that is found by its beginning and end. */
const PIECE = 64 * 1024
const OVERLAP = 4 * 1024

/**
 * Refuses a document (a template, notes, a file that is copied) that holds what looks like a secret.
 *
 * @param format first word of the message: `template`
 * @throws Fault exit 3, with the line number that `lineOf` gives
 */
export function refuseSecrets(text: string, format: string, place: Place): void {
  for (let from = 0; from === 0 || from < text.length; from += PIECE) {
    const piece = text.slice(from, from + PIECE + OVERLAP)
    if (!isSecretText(piece)) continue
    throw secretFault(format, place.file === undefined ? 'the text' : 'the file', { ...place, line: lineOf(text, from, piece) })
  }
}

/** @param what the field or document, never its text */
export function secretFault(format: string, what: string, place: Place): Fault {
  return new Fault({
    format,
    problem: 'secret refused',
    found: `${what} holds what looks like a secret`,
    expected: 'a text without one',
    place
  })
}

/** Number of the first line that is a secret on its own; otherwise of the line where the piece begins. */
function lineOf(text: string, from: number, piece: string): number {
  const first = text.slice(0, from).split('\n').length
  const within = piece.split('\n').findIndex(line => isSecretText(line))
  return first + Math.max(0, within)
}
