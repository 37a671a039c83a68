/**
 * The window on a JSONL file that is being read: a padded buffer that slides over the input. A line end is not white
 * space in it. Every scanner of `../json` stops at a line end or at the zeros behind the text. So no row is read into the
 * next one, and no line has to be measured before it is parsed.
 */
import { Buffer } from 'node:buffer'
import { Fault, type Place } from '../../core/errors.js'
import { malformedJson } from '../json/faults.js'
import { Ascii, JsonText } from '../json/text.js'

/** Room behind the text: for zeros at the end of the input, and for scanners that read four bytes at a time. */
const PADDING = 16

export class RowText extends JsonText {
  /** 1-based number of the line that is being read */
  line = 1
  /** offset in the input of bytes[0] */
  #base = 0

  /** Adds the bytes of a chunk. */
  append(chunk: Uint8Array): void {
    const length = this.length + chunk.length
    if (this.bytes.length < length + PADDING) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.length) + PADDING)
      this.bytes.copy(larger, 0, 0, this.length)
      this.bytes = larger
      this.view = new DataView(larger.buffer)
    }
    this.bytes.set(chunk, this.length)
    this.length = length
  }

  /** Drops what lies before `at`. */
  discard(at: number): void {
    this.bytes.copyWithin(0, at, this.length)
    this.#base += at
    this.length -= at
  }

  /** Ends the input. */
  terminate(): void {
    this.append(new Uint8Array(0))
    this.bytes.fill(0, this.length, this.length + PADDING)
  }

  /** True if the input starts at `at` with a byte order mark. */
  hasMark(at: number): boolean {
    const { bytes } = this
    return this.#base + at === 0 && bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf
  }

  override place(at: number, more: Place = {}): Place {
    return { ...more, offset: this.#base + at }
  }

  override malformed(at: number, expected: string, more: Place = {}): Fault {
    const place = this.place(at, more)
    if (at >= this.length) return this.fault('truncated', 'the end of the file', expected, place)
    if (this.bytes[at] === Ascii.LineFeed) {
      return new Fault({ format: 'history', problem: 'malformed', found: `the end of line ${this.line}`, expected, place })
    }
    return this.onLine(malformedJson(this.bytes[at], expected, place))
  }

  override skipSpace(at: number): number {
    let i = at
    while (this.bytes[i] === Ascii.Space || this.bytes[i] === Ascii.Tab || this.bytes[i] === Ascii.CarriageReturn) i++
    return i
  }

  /** A fault on the current line. */
  fault(problem: string, found: string, expected: string, place: Place): Fault {
    return new Fault({ format: 'history', problem, found: `${found} on line ${this.line}`, expected, place })
  }

  /** A fault of the JSON scanners with the line number, which they do not know. */
  onLine(fault: Fault): Fault {
    const { problem, found = '', expected = '', place = {} } = fault.details
    return this.fault(problem, found, expected, place)
  }
}
