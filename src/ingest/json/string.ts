/**
 * Strings: strict JSON grammar over raw bytes (no control character, known escapes only). Only kept strings are decoded.
 * A lone surrogate written as an escape is accepted here, as by JSON.parse; code that keeps the text refuses it.
 */

import { Buffer } from 'node:buffer'
import { Ascii, type JsonText, decodeString, isEscape, isHexDigit } from './text.js'

/** By the byte behind a backslash: number of bytes of the escape from that byte on; 0 for no escape. */
const ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) => (byte === Ascii.LowerU ? 5 : isEscape(byte) ? 1 : 0))
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => (isHexDigit(byte) ? 1 : 0))

/**
 * `at` is directly behind the opening quote. Returns the offset behind the closing one, or ~offset of the byte that breaks
 * the grammar (the text's length if the text ends first).
 */
export function scanString(text: JsonText, at: number): number {
  const { bytes, view } = text
  let i = at
  for (;;) {
    // tests four bytes at a time: is one a quote, a backslash, or below 0x20 (as the zeros behind the text are)?
    let hit: number
    for (;;) {
      const word = view.getInt32(i, true)
      const quote = word ^ 0x22222222
      const backslash = word ^ 0x5c5c5c5c
      hit = (((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash) | ((word - 0x20202020) & ~word)) & 0x80808080
      if (hit !== 0) break
      i += 4
    }
    // a borrow can mark a later byte falsely, never the first
    i += (31 - Math.clz32(hit & -hit)) >> 3
    if (bytes[i] === Ascii.Quote) return i + 1
    if (bytes[i] !== Ascii.Backslash) return ~i
    const length = ESCAPES[bytes[++i]]
    if (length === 0) return ~i
    if (length > 1 && (HEX[bytes[i + 1]] & HEX[bytes[i + 2]] & HEX[bytes[i + 3]] & HEX[bytes[i + 4]]) === 0) {
      do i++
      while (HEX[bytes[i]] === 1)
      return ~i
    }
    i += length
  }
}

/** Longest marker that the compiled loop compares: the size of its memory for markers. */
export const MAX_MARKER_BYTES = 1024

/** A marker that is looked for at the end of each span's text, prepared once. */
export class EndMarker {
  readonly #text: string
  readonly #bytes: Buffer
  /** true if a raw text without escapes ends with the marker exactly when its bytes do */
  readonly #comparable: boolean
  /** the marker's bytes if comparing them is right for every raw text, even with escapes before the marker; else null */
  readonly plain: Uint8Array | null

  constructor(text: string) {
    this.#text = text
    this.#bytes = Buffer.from(text, 'utf8')
    this.#comparable = this.#bytes.toString('utf8') === text
    const isPlain = text.length <= MAX_MARKER_BYTES && /^[!#$%&'()*+,\-.:;<=>?@^_`{|}~][ !#-[\]-~]*$/.test(text)
    this.plain = isPlain ? this.#bytes : null
  }

  /**
   * True if the decoded text of the validated raw string bytes[start, end) (without its quotes) ends with the marker.
   * Only the tail is decoded: each UTF-16 unit of the marker takes at most six raw bytes. A UTF-8 sequence that is cut by
   * the start of the tail is not one of them.
   */
  ends(bytes: Buffer, start: number, end: number): boolean {
    let from = Math.max(start, end - 6 * this.#text.length)
    // an escape has at most six bytes: one that spans `from` starts in the five bytes before it
    const backslash = bytes.subarray(Math.max(start, from - 5), end).indexOf(Ascii.Backslash)
    if (backslash < 0 && this.#comparable) {
      const tail = end - this.#bytes.length
      return tail >= start && bytes.compare(this.#bytes, 0, this.#bytes.length, tail, end) === 0
    }
    if (backslash >= 0 && Math.max(start, from - 5) + backslash < from) {
      // a run of backslashes starts where a token starts: no escape has a backslash after its second byte
      from = Math.max(start, from - 5) + backslash
      while (from > start && bytes[from - 1] === Ascii.Backslash) from--
    }
    return decodeString(bytes.subarray(from, end)).endsWith(this.#text)
  }
}
