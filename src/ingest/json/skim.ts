/**
 * Finds the `}` that ends a trace, and nothing else: inside a trace only quotes, backslashes and braces matter, and the
 * strict parser reads every byte again. For valid JSON the brace found is the right one; for broken JSON any brace will
 * do, because the parser finds the fault at or before it.
 *
 * Nearly all bytes are digits and text, so it goes from one structural byte to the next with the runtime's native
 * search (memchr, ten times faster than a loop over bytes). A native call costs as much as some 16 bytes of loop: where
 * escaped quotes lie that close together (JSON quoted inside a text), it loops.
 */

import type { Buffer } from 'node:buffer'
import { MAX_DEPTH, TRACE_DEPTH } from './faults.js'
import { Ascii } from './text.js'

/** Bytes that are looked at one by one before the native search is called. */
const NEAR = 16

/** The chunk ends inside the trace. */
export const NOT_YET = 0

export class TraceSkim {
  #depth = 0
  #inString = false
  /** the last byte was a backslash that escapes the next one */
  #escaped = false

  /** The next byte is a trace's `{`. */
  start(): void {
    this.#depth = 0
    this.#inString = false
    this.#escaped = false
  }

  /**
   * Reads on in chunk[from …]. Returns the index behind the trace's `}`, NOT_YET, or ~index of a brace that nests too
   * deep.
   */
  find(chunk: Buffer, from: number): number {
    const end = chunk.length
    let i = from
    let depth = this.#depth
    // the next brace of each kind; braces inside strings make these stale, never wrong for what lies behind them
    let open = -1
    let close = -1
    if (this.#inString) {
      i = this.#skipString(chunk, i)
      if (i === NOT_YET) return NOT_YET
    }
    while (i < end) {
      const near = Math.min(i + NEAR, end)
      while (i < near && chunk[i] !== Ascii.Quote && chunk[i] !== Ascii.OpenBrace && chunk[i] !== Ascii.CloseBrace) i++
      if (i === near) {
        if (open < i) open = indexOrEnd(chunk, Ascii.OpenBrace, i)
        if (close < i) close = indexOrEnd(chunk, Ascii.CloseBrace, i)
        i = Math.min(indexOrEnd(chunk, Ascii.Quote, i), open, close)
        if (i === end) break
      }
      const byte = chunk[i++]
      if (byte === Ascii.Quote) {
        i = this.#skipString(chunk, i)
        if (i === NOT_YET) break
      } else if (byte === Ascii.OpenBrace) {
        if (depth === MAX_DEPTH - TRACE_DEPTH) return ~(i - 1)
        depth++
      } else {
        depth--
        if (depth === 0) return i
      }
    }
    this.#depth = depth
    return NOT_YET
  }

  /** Returns the index behind the closing quote of a string that goes on at `from`, or NOT_YET. */
  #skipString(chunk: Buffer, from: number): number {
    const end = chunk.length
    let i = from
    if (this.#escaped && i < end) {
      i++
      this.#escaped = false
    }
    for (;;) {
      const start = i
      const near = Math.min(i + NEAR, end)
      while (i < near && chunk[i] !== Ascii.Quote) i++
      if (i === near) i = indexOrEnd(chunk, Ascii.Quote, i)
      // an odd number of backslashes before it makes the quote (or the next chunk's first byte) a part of the text
      let backslashes = 0
      while (i - backslashes > start && chunk[i - backslashes - 1] === Ascii.Backslash) backslashes++
      const escaped = (backslashes & 1) === 1
      if (i === end) {
        this.#inString = true
        this.#escaped = escaped
        return NOT_YET
      }
      i++
      if (!escaped) {
        this.#inString = false
        return i
      }
    }
  }
}

function indexOrEnd(chunk: Buffer, byte: number, from: number): number {
  const i = chunk.indexOf(byte, from)
  return i < 0 ? chunk.length : i
}
