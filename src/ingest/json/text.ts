/**
 * JSON text as bytes: the alphabet of RFC 8259, the padded buffer that the scanners read, and the wording of faults.
 *
 * Accepted beyond RFC 8259, because Python's json.dumps writes them: the bare values NaN, Infinity and -Infinity.
 * Not accepted: a byte order mark, comments, trailing commas, more than MAX_DEPTH open brackets.
 * Bytes inside strings need not be valid UTF-8; where a text is kept, invalid sequences become U+FFFD.
 */

import { Buffer } from 'node:buffer'
import { Fault, printable, type Place } from '../../errors.js'

/**
 * A const enum, so that the compiler writes the numbers in: an imported binding is loaded and checked at every use, which
 * costs the inner loops a third of their speed.
 */
export const enum Ascii {
  Tab = 0x09,
  LineFeed = 0x0a,
  CarriageReturn = 0x0d,
  Space = 0x20,
  Quote = 0x22,
  Plus = 0x2b,
  Comma = 0x2c,
  Minus = 0x2d,
  Dot = 0x2e,
  Slash = 0x2f,
  Zero = 0x30,
  Colon = 0x3a,
  UpperI = 0x49,
  OpenBracket = 0x5b,
  Backslash = 0x5c,
  CloseBracket = 0x5d,
  LowerB = 0x62,
  LowerE = 0x65,
  LowerF = 0x66,
  LowerN = 0x6e,
  LowerR = 0x72,
  LowerT = 0x74,
  LowerU = 0x75,
  OpenBrace = 0x7b,
  CloseBrace = 0x7d
}

/** Open brackets and braces at one place, counted from the document's root. Python's own reader gives up near 1000. */
export const MAX_DEPTH = 1024

/** Depth at which a trace object stands: the document's object, the array of traces. */
export const TRACE_DEPTH = 2

/** The bare words that are values, by their first byte. */
const WORDS: ReadonlyMap<number, string> = new Map(
  ['true', 'false', 'null', 'NaN', 'Infinity'].map(word => [word.charCodeAt(0), word])
)

export function wordStartingWith(byte: number): string | undefined {
  return WORDS.get(byte)
}

export function isSpace(byte: number): boolean {
  return byte === Ascii.Space || byte === Ascii.LineFeed || byte === Ascii.CarriageReturn || byte === Ascii.Tab
}

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

export function isHexDigit(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

/** Whether `\` may be followed by this byte; behind `u` follow four hexadecimal digits. */
export function isEscape(byte: number): boolean {
  switch (byte) {
    case Ascii.Quote: case Ascii.Backslash: case Ascii.Slash: case Ascii.LowerB: case Ascii.LowerF: case Ascii.LowerN:
    case Ascii.LowerR: case Ascii.LowerT: case Ascii.LowerU: return true
    default: return false
  }
}

/** A kept string: the bytes between its quotes, already validated, as text. */
export function decodeString(raw: Buffer): string {
  const text = raw.toString('utf8')
  return text.includes('\\') ? String(JSON.parse(`"${text}"`)) : text
}

/** What a string may hold, as a message says it. */
export const STRING_CONTENT = 'the rest of a string, control characters escaped'

/** One byte as a message shows it. */
export function describeByte(byte: number): string {
  return byte > Ascii.Space && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16).padStart(2, '0')}`
}

/** The type of the value that starts with this byte, or null where no value does. */
export function describeValue(byte: number): string | null {
  if (byte === Ascii.Quote) return 'a string'
  if (byte === Ascii.OpenBracket) return 'an array'
  if (byte === Ascii.OpenBrace) return 'an object'
  if (byte === Ascii.Minus || isDigit(byte)) return 'a number'
  return wordStartingWith(byte) ?? null
}

/** The text breaks JSON's grammar at `place.offset`: by this byte, or (null) by ending there. */
export function malformed(byte: number | null, expected: string, place: Place): Fault {
  if (byte === null) return new Fault({ format: 'json', problem: 'truncated', found: 'end of input', expected, place })
  return new Fault({ format: 'json', problem: 'malformed', found: describeByte(byte), expected, place })
}

export function wrongType(found: string, expected: string, place: Place): Fault {
  return new Fault({ format: 'json', problem: 'wrong type', found, expected, place })
}

export function tooDeep(place: Place): Fault {
  const expected = `at most ${MAX_DEPTH} open brackets`
  return new Fault({ format: 'json', problem: 'too deep', found: `bracket ${MAX_DEPTH + 1}`, expected, place })
}

/** Longest kept text (a uid, an alignment) in raw bytes. */
export const MAX_TEXT_BYTES = 1 << 20

export function tooLong(what: string, limit: number, place: Place): Fault {
  return new Fault({ format: 'json', problem: 'too long', found: what, expected: `at most ${limit} bytes`, place })
}

export function duplicateKey(key: string, place: Place): Fault {
  return new Fault({ format: 'json', problem: 'duplicate key', found: `"${printable(key)}"`, expected: 'it once', place })
}

/**
 * Names of our keys by the file's names. A mapping that gives one file key two meanings would lose one of them, so it
 * is refused.
 */
export function keyNames<K extends string>(keys: Readonly<Record<K, string>>, wanted: readonly K[]): Map<string, K> {
  const names = new Map<string, K>()
  for (const ours of wanted) {
    const theirs = keys[ours]
    const other = names.get(theirs)
    if (other !== undefined) {
      throw new Fault({
        format: 'json', problem: 'key mapping ambiguous', found: `"${printable(theirs)}" for ${other} and ${ours}`,
        expected: 'a key of its own for each', exitCode: 2
      })
    }
    names.set(theirs, ours)
  }
  return names
}

/** Longest raw spelling of any of these keys (every character as a \u escape): a longer key is none of them. */
export function longestSpelling(names: ReadonlyMap<string, string>): number {
  return Math.max(...Array.from(names.keys(), key => 6 * key.length))
}

/** Zero bytes behind the text. No token contains one, so every scanner stops there without asking for the length. */
const PADDING = 16

/** The bytes of one trace in a buffer that is reused from trace to trace, followed by zeros. */
export class JsonText {
  bytes: Buffer = Buffer.allocUnsafeSlow(PADDING).fill(0)
  view: DataView = new DataView(this.bytes.buffer)
  length = 0
  #place: Place = {}

  load(slice: { readonly index: number; readonly offset: number; readonly bytes: Uint8Array }): void {
    const { length } = slice.bytes
    if (this.bytes.length < length + PADDING) {
      this.bytes = Buffer.allocUnsafeSlow(length + (length >> 2) + PADDING)
      this.view = new DataView(this.bytes.buffer)
    }
    this.bytes.set(slice.bytes)
    this.bytes.fill(0, length, length + PADDING)
    this.length = length
    this.#place = { trace: slice.index, offset: slice.offset }
  }

  /** `at` is an offset in this text; the place counts from the start of the input. */
  place(at: number, more: Place = {}): Place {
    return { ...this.#place, ...more, offset: (this.#place.offset ?? 0) + at }
  }

  malformed(at: number, expected: string, more: Place = {}): Fault {
    return malformed(at < this.length ? this.bytes[at] : null, expected, this.place(at, more))
  }

  /** The type of the value at `at`, or null where none starts. */
  valueType(at: number): string | null {
    if (at >= this.length) return null
    const word = wordStartingWith(this.bytes[at])
    return word !== undefined && scanWord(this, at, word) < 0 ? null : describeValue(this.bytes[at])
  }

  /** Offset of the first byte at or after `at` that is not white space. */
  skipSpace(at: number): number {
    let i = at
    while (isSpace(this.bytes[i])) i++
    return i
  }
}

/** Returns the offset behind `word` at `at` (whose first byte is known to be there), or ~offset of the byte that differs. */
export function scanWord(text: JsonText, at: number, word: string): number {
  for (let k = 1; k < word.length; k++) {
    if (text.bytes[at + k] !== word.charCodeAt(k)) return ~(at + k)
  }
  return at + word.length
}
