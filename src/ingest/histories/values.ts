/**
 * Reads one value of a row: its kind and number, or only where it ends.
 *
 * A number is the double of JSON.parse. Not finite are: NaN, Infinity and -Infinity, bare or as a text; as a text in any
 * case, as `nan` and `inf` too, and with a sign; and numbers beyond the double range. A bare `nan` is malformed.
 */
import { printable, type Fault } from '../../core/errors.js'
import { scanNumber } from '../json/number.js'
import { SkipScratch, skipValue, stringEnd } from '../json/skip.js'
import { Ascii, decodeString, isDigit, scanWord, wordStartingWith } from '../json/text.js'
import type { RowText } from './row-text.js'

/** The kind of a value. NotNumber is a text, true, false, an object or a list. */
export const enum ValueKind {
  Number,
  NonFinite,
  Null,
  NotNumber
}

/** One name for all numbers beyond the double range, such as 1e999: their own spellings could be millions. */
export const BEYOND_RANGE = 'beyond the double range'

const NON_FINITE_TEXT = /^[+-]?(?:nan|inf|infinity)$/i

/** The longest such text with every character written as an escape. */
const MAX_NON_FINITE_BYTES = 6 * '-infinity'.length

const VALUE_EXPECTED = 'a value (bare words: true, false, null, NaN, Infinity, -Infinity)'

/** Number of brackets that are open around a value of a row. */
const ROW_DEPTH = 1

export class ValueReader {
  /** offset behind the last value read */
  end = 0
  /** the last value's spelling if it is not finite; of a text without the quotes */
  spelling = ''
  readonly #text: RowText
  readonly #scratch = new SkipScratch()

  constructor(text: RowText) {
    this.#text = text
  }

  /** The last number read, finite or not. */
  get number(): number {
    return this.#scratch.number[0]
  }

  /** Reads the value at `at`; sets `end`, and `number` or `spelling`. @throws Fault if no value starts there */
  read(at: number): ValueKind {
    const { bytes } = this.#text
    const byte = bytes[at]
    if (isDigit(byte) || (byte === Ascii.Minus && isDigit(bytes[at + 1]))) {
      this.end = this.#scanNumber(at)
      if (Number.isFinite(this.number)) return ValueKind.Number
      this.spelling = BEYOND_RANGE
      return ValueKind.NonFinite
    }
    if (byte === Ascii.Quote) return this.#readText(at)
    if (byte === Ascii.OpenBrace || byte === Ascii.OpenBracket) {
      this.end = skipValue(this.#text, at, ROW_DEPTH, this.#scratch)
      return ValueKind.NotNumber
    }
    return this.#readWord(at)
  }

  /** Returns the offset behind the value at `at`. Plain decimals, the most frequent values, are scanned inline. */
  skip(at: number): number {
    const { bytes } = this.#text
    let i = bytes[at] === Ascii.Minus ? at + 1 : at
    const first = bytes[i]
    if (isDigit(first)) {
      i++
      if (first !== Ascii.Zero) while (isDigit(bytes[i])) i++
      if (bytes[i] === Ascii.Dot && isDigit(bytes[i + 1])) {
        i += 2
        while (isDigit(bytes[i])) i++
      }
      return bytes[i] === Ascii.Comma || bytes[i] === Ascii.CloseBrace ? i : this.#scanNumber(at)
    }
    if (first === Ascii.Quote && i === at) return stringEnd(this.#text, at)
    this.read(at)
    return this.end
  }

  #scanNumber(at: number): number {
    const end = scanNumber(this.#text, at, this.#scratch.number, 0)
    if (end < 0) throw this.#text.malformed(~end, 'a number')
    return end
  }

  #readText(at: number): ValueKind {
    this.end = stringEnd(this.#text, at)
    if (this.end - at - 2 > MAX_NON_FINITE_BYTES) return ValueKind.NotNumber
    this.spelling = decodeString(this.#text.bytes.subarray(at + 1, this.end - 1))
    return NON_FINITE_TEXT.test(this.spelling) ? ValueKind.NonFinite : ValueKind.NotNumber
  }

  #readWord(at: number): ValueKind {
    const text = this.#text
    const negative = text.bytes[at] === Ascii.Minus
    const word = wordStartingWith(text.bytes[negative ? at + 1 : at])
    if (word === undefined || (negative && word !== 'Infinity')) throw this.#noValue(at)
    const end = scanWord(text, negative ? at + 1 : at, word)
    if (end < 0 || isWordByte(text.bytes[end])) throw this.#noValue(at)
    this.end = end
    if (word === 'null') return ValueKind.Null
    if (word === 'true' || word === 'false') return ValueKind.NotNumber
    this.spelling = negative ? `-${word}` : word
    return ValueKind.NonFinite
  }

  /** No value starts at `at`. The message quotes the whole word there. */
  #noValue(at: number): Fault {
    const text = this.#text
    let end = at
    while (isWordByte(text.bytes[end])) end++
    if (end === at || end >= text.length) return text.malformed(end, VALUE_EXPECTED)
    const word = text.bytes.toString('latin1', at, Math.min(end, at + 40))
    return text.fault('malformed', `"${printable(word)}"`, VALUE_EXPECTED, text.place(at))
  }
}

function isWordByte(byte: number): boolean {
  const lower = byte | 0x20
  const isSign = byte === Ascii.Minus || byte === Ascii.Plus
  return (lower >= 0x61 && lower <= 0x7a) || isDigit(byte) || isSign || byte === Ascii.Dot
}
