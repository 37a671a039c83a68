/**
 * One value of a row: what it is, or only where it ends.
 *
 * A number is the double of JSON.parse. Not finite are NaN, Infinity and -Infinity, bare or as a text in any case (`nan`,
 * `inf` and a sign count too), and numbers beyond the double range. A bare `nan` is malformed.
 */
import { printable, type Fault } from '../../core/errors.js'
import { scanNumber } from '../json/number.js'
import { SkipScratch, skipValue, stringEnd } from '../json/skip.js'
import { Ascii, decodeString, isDigit, scanWord, wordStartingWith } from '../json/text.js'
import type { RowText } from './row-text.js'

/** What a value turned out to be. A text, true, false, an object and a list are no numbers. */
export const enum ValueKind { Number, NonFinite, Null, NotNumber }

/** How a number that no double holds is counted, such as 1e999: its own spelling could be any of millions. */
export const BEYOND_RANGE = 'beyond the double range'

const NON_FINITE_TEXT = /^[+-]?(?:nan|inf|infinity)$/i

/** The longest of those with every character written as an escape. */
const MAX_NON_FINITE_BYTES = 6 * '-infinity'.length

const VALUE_EXPECTED = 'a value (bare words: true, false, null, NaN, Infinity, -Infinity)'

/** Brackets open around the value of a row. */
const ROW_DEPTH = 1

export class ValueReader {
  /** offset behind the value that was read last */
  end = 0
  /** how it was spelled, where it is not finite; a text without its quotes */
  spelling = ''
  readonly #text: RowText
  readonly #scratch = new SkipScratch()

  constructor(text: RowText) {
    this.#text = text
  }

  /** The number that was read last, finite or not. */
  get number(): number {
    return this.#scratch.number[0]
  }

  /** Reads the value at `at`; sets `end`, and `number` or `spelling`. Throws a Fault where there is none. */
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

  /** Returns the offset behind the value at `at`. Most are plain decimals: their digits are looked at and no more. */
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

  /** No value starts at `at`: the whole word that stands there says more than its first wrong byte. */
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
