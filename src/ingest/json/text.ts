/**
 * JSON text as bytes: the alphabet of RFC 8259, and the padded buffer that the scanners read.
 *
 * Accepted beyond RFC 8259, because Python's json.dumps writes them: the bare values NaN, Infinity and -Infinity.
 * Not accepted: a byte order mark, comments, trailing commas, more than MAX_DEPTH open brackets.
 * Bytes inside strings need not be valid UTF-8. In a kept text, invalid sequences become U+FFFD.
 */

import { Buffer } from 'node:buffer'
import type { Fault, Place } from '../../core/errors.js'
import { phaseOf } from '../../core/phase.js'
import { malformedJson } from './faults.js'

/**
 * A const enum: the compiler inlines its numbers. An imported binding is loaded and checked at every use, which costs the
 * inner loops a third of their speed.
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

/** The bare words that are values, by first byte. */
const WORDS: ReadonlyMap<number, string> = new Map(['true', 'false', 'null', 'NaN', 'Infinity'].map(word => [word.charCodeAt(0), word]))

export function wordStartingWith(byte: number): string | undefined {
  return WORDS.get(byte)
}

export function isJsonSpace(byte: number): boolean {
  return byte === Ascii.Space || byte === Ascii.LineFeed || byte === Ascii.CarriageReturn || byte === Ascii.Tab
}

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

export function isHexDigit(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

/** True for a byte that may follow `\`. Behind `u` follow four hexadecimal digits. */
export function isEscape(byte: number): boolean {
  switch (byte) {
    case Ascii.Quote:
    case Ascii.Backslash:
    case Ascii.Slash:
    case Ascii.LowerB:
    case Ascii.LowerF:
    case Ascii.LowerN:
    case Ascii.LowerR:
    case Ascii.LowerT:
    case Ascii.LowerU:
      return true
    default:
      return false
  }
}

/** The type of the value that starts with this byte; null if no value does. */
export function describeStart(byte: number): string | null {
  if (byte === Ascii.Quote) return 'a string'
  if (byte === Ascii.OpenBracket) return 'an array'
  if (byte === Ascii.OpenBrace) return 'an object'
  if (byte === Ascii.Minus || isDigit(byte)) return 'a number'
  return wordStartingWith(byte) ?? null
}

/** Decodes a kept string. @param raw the validated bytes between its quotes */
export function decodeString(raw: Buffer): string {
  const text = raw.toString('utf8')
  return text.includes('\\') ? String(JSON.parse(`"${text}"`)) : text
}

/** Number of zero bytes behind the text. No token contains one, so every scanner stops there without a length check. */
export const PADDING = 16

/** The bytes of one trace, followed by zeros, in a buffer that is reused for every trace. */
export class JsonText {
  bytes: Buffer = Buffer.allocUnsafeSlow(PADDING).fill(0)
  view: DataView = new DataView(this.bytes.buffer)
  length = 0
  #place: Place = {}

  load(slice: { readonly index: number; readonly offset: number; readonly bytes: Uint8Array }): void {
    const { length } = slice.bytes
    this.reserve(length, phaseOf(slice.bytes))
    this.bytes.set(slice.bytes)
    this.bytes.fill(0, length, length + PADDING)
    this.length = length
    this.#place = { trace: slice.index, offset: slice.offset }
  }

  /** Makes room for a text and the zeros behind it. @param _phase of the bytes that will be copied there */
  protected reserve(length: number, _phase: number): void {
    if (this.bytes.length >= length + PADDING) return
    this.bytes = Buffer.allocUnsafeSlow(length + (length >> 2) + PADDING)
    this.view = new DataView(this.bytes.buffer)
  }

  /** The place of an offset of this text, counted from the start of the input. */
  place(at: number, more: Place = {}): Place {
    return { ...this.#place, ...more, offset: (this.#place.offset ?? 0) + at }
  }

  malformed(at: number, expected: string, more: Place = {}): Fault {
    return malformedJson(at < this.length ? this.bytes[at] : null, expected, this.place(at, more))
  }

  /** The type of the value at `at`, or null if no value starts there. */
  valueType(at: number): string | null {
    if (at >= this.length) return null
    const word = wordStartingWith(this.bytes[at])
    return word !== undefined && scanWord(this, at, word) < 0 ? null : describeStart(this.bytes[at])
  }

  /** Offset of the first byte at or after `at` that is not white space. */
  skipSpace(at: number): number {
    let i = at
    while (isJsonSpace(this.bytes[i])) i++
    return i
  }
}

/** Returns the offset behind `word` at `at`, or ~offset of the byte that differs. The first byte is not compared. */
export function scanWord(text: JsonText, at: number, word: string): number {
  for (let k = 1; k < word.length; k++) {
    if (text.bytes[at + k] !== word.charCodeAt(k)) return ~(at + k)
  }
  return at + word.length
}
