/**
 * Parses an exported history (JSON Lines) from chunks of any size into columns, in one pass.
 *
 * One object per line; lines end with LF or CRLF. A byte order mark at the start and blank lines at the end are skipped.
 * A blank line before a row is a fault, since a row may be missing there. The last line may lack its line end if its
 * object is complete. A file without rows is a history of 0 rows. Not supported: objects that span several lines, lists
 * of objects, UTF-16.
 *
 * Memory holds the window (a chunk, or the longest row if that is longer) and the columns. Rows are not kept.
 */
import { Fault } from '../../core/errors.js'
import type { ByteChunks } from '../../core/chunks.js'
import { Ascii } from '../json/text.js'
import { RowText } from './row-text.js'
import { MAX_NUMBERS, MAX_ROWS, RowReader, type HistoryKeys, type HistoryRows, type RowLimits } from './rows.js'

/** Longest line, in bytes. */
export const MAX_ROW_BYTES = 64 * 1024 * 1024

/** A larger chunk is parsed in pieces of this size, which fit into the processor's caches. */
const PIECE_BYTES = 256 * 1024

export interface ParseOptions {
  readonly keys: HistoryKeys
  /** keys that become columns, in this order */
  readonly wanted: readonly string[]
  /** default MAX_ROWS, MAX_NUMBERS and MAX_ROW_BYTES */
  readonly limits?: Partial<RowLimits & { readonly rowBytes: number }>
}

/** Takes the bytes of one history, chunk by chunk. */
export class HistoryParser {
  readonly #text = new RowText()
  readonly #rows: RowReader
  readonly #maxRowBytes: number
  /** fault of the first blank line since the last row, thrown if a row follows; null without a blank line */
  #blank: Fault | null = null

  constructor({ keys, wanted, limits = {} }: ParseOptions) {
    const { rows = MAX_ROWS, numbers = MAX_NUMBERS, rowBytes = MAX_ROW_BYTES } = limits
    this.#rows = new RowReader(this.#text, keys, wanted, { rows, numbers })
    this.#maxRowBytes = rowBytes
  }

  /** Takes the next bytes. They are copied: the caller may reuse the memory. @throws Fault exit 3 */
  push(chunk: Uint8Array): void {
    const text = this.#text
    for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
      const piece = chunk.subarray(from, from + PIECE_BYTES)
      const lastEnd = piece.lastIndexOf(Ascii.LineFeed)
      const complete = lastEnd < 0 ? 0 : text.length + lastEnd + 1
      text.append(piece)
      if (complete > 0) {
        this.#readLines(complete)
        text.discard(complete)
      }
      this.#refuseLong(0)
    }
  }

  /** Ends the input and returns the columns. @throws Fault exit 3 if the last line is incomplete */
  finish(): HistoryRows {
    this.#text.terminate()
    this.#readLines(this.#text.length)
    return this.#rows.finish()
  }

  /** Reads the lines from 0 to `end`, which is behind a line end or the end of the input. */
  #readLines(end: number): void {
    for (let i = 0; i < end; this.#text.line++) {
      this.#refuseLong(i)
      i = this.#readLine(i)
    }
  }

  /** Returns the offset behind the line's end. */
  #readLine(at: number): number {
    const text = this.#text
    const { bytes } = text
    const start = text.skipSpace(text.hasMark(at) ? at + 3 : at)
    let i = start
    if (bytes[i] === Ascii.LineFeed || i === text.length) {
      this.#blank ??= text.fault('blank line', 'nothing', 'a row, since one follows', text.place(at))
    } else {
      if (this.#blank !== null) throw this.#blank
      i = text.skipSpace(this.#readRow(start))
      if (bytes[i] !== Ascii.LineFeed && i !== text.length) throw text.malformed(i, 'the end of the line')
    }
    return i + 1
  }

  #readRow(at: number): number {
    try {
      return this.#rows.read(at)
    } catch (error) {
      // too deep: the scanner that counts brackets has no line number
      throw error instanceof Fault && error.details.format === 'json' ? this.#text.onLine(error) : error
    }
  }

  /** Throws if the line at `at`, as far as it has arrived, is longer than allowed. */
  #refuseLong(at: number): void {
    const text = this.#text
    const max = this.#maxRowBytes
    if (text.length - at <= max) return
    const end = text.bytes.subarray(at, at + max + 1).indexOf(Ascii.LineFeed)
    if (end < 0) throw text.fault('too long', `more than ${max} bytes`, `at most ${max}`, text.place(at))
  }
}

/** Parses a history from a stream of bytes. @throws Fault exit 3, or the signal's reason */
export async function parseHistory(chunks: ByteChunks, options: ParseOptions, signal?: AbortSignal): Promise<HistoryRows> {
  const parser = new HistoryParser(options)
  for await (const chunk of chunks) {
    signal?.throwIfAborted()
    parser.push(chunk)
  }
  return parser.finish()
}
