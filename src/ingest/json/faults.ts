/**
 * The limits of the JSON reader, and the texts of its faults.
 */

import { Fault, printable, type Place } from '../../core/errors.js'

/** Most open brackets and braces, counted from the document's root. Python's own reader fails near 1000. */
export const MAX_DEPTH = 1024

/** Depth of a trace object: inside the document's object and the array of traces. */
export const TRACE_DEPTH = 2

/** Longest kept text (a uid, an alignment) in raw bytes. */
export const MAX_TEXT_BYTES = 1 << 20

/** What a string may contain, in the words of a message. */
export const STRING_CONTENT = 'the rest of a string, control characters escaped'

/** One byte in the words of a message. */
function describeByte(byte: number): string {
  if (byte > 0x20 && byte < 0x7f) return `"${String.fromCharCode(byte)}"`
  return `byte 0x${byte.toString(16).padStart(2, '0')}`
}

/** The text breaks JSON's grammar at `place.offset`. @param byte the wrong byte; null if the text ends there */
export function malformedJson(byte: number | null, expected: string, place: Place): Fault {
  if (byte === null) return new Fault({ format: 'json', problem: 'truncated', found: 'end of input', expected, place })
  return new Fault({ format: 'json', problem: 'malformed', found: describeByte(byte), expected, place })
}

export function wrongType(found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'json', problem: 'wrong type', found, expected, place })
}

/** JSON can write half a surrogate pair. No file, column or page can hold one, so it is refused in a text that is used. */
export function halfPair(place: Place): Fault {
  return new Fault({ format: 'json', problem: 'wrong encoding', found: 'half a surrogate pair', expected: 'text', place })
}

export function tooDeep(place: Place): Fault {
  const expected = `at most ${MAX_DEPTH} open brackets`
  return new Fault({ format: 'json', problem: 'too deep', found: `bracket ${MAX_DEPTH + 1}`, expected, place })
}

export function tooLong(what: string, limit: number, place: Place): Fault {
  return new Fault({ format: 'json', problem: 'too long', found: what, expected: `at most ${limit} bytes`, place })
}

export function duplicateKey(key: string, place: Place): Fault {
  const found = `"${printable(key)}"`
  return new Fault({ format: 'json', problem: 'duplicate key', found, expected: 'it once', place })
}
