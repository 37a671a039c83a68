/**
 * Skips a value of any depth: it checks the whole grammar, keeps nothing and does not recurse.
 */

import type { Place } from '../../core/errors.js'
import { MAX_DEPTH, STRING_CONTENT, tooDeep } from './faults.js'
import { scanNumber } from './number.js'
import { scanString } from './string.js'
import { Ascii, type JsonText, isDigit, scanWord, wordStartingWith } from './text.js'

/** Memory for skipping a value: the open brackets, and a slot for numbers that are not kept. */
export class SkipScratch {
  readonly open = new Uint8Array(MAX_DEPTH)
  readonly number = new Float64Array(1)
}

/**
 * `at` is the offset of the value's first byte, `depth` the number of brackets open around it. Returns the offset
 * behind the value. @throws Fault
 */
export function skipValue(text: JsonText, at: number, depth: number, scratch: SkipScratch): number {
  const { bytes } = text
  const { open } = scratch
  let level = 0
  let i = at
  for (;;) {
    const byte = bytes[i]
    if (byte === Ascii.OpenBrace || byte === Ascii.OpenBracket) {
      if (depth + level === MAX_DEPTH) throw tooDeep(text.place(i))
      open[level++] = byte
      i = text.skipSpace(i + 1)
      if (bytes[i] !== closerOf(byte)) {
        if (byte === Ascii.OpenBrace) i = scanKey(text, i, '"}" or a key')
        continue
      }
    } else {
      i = scanScalar(text, i, scratch)
      if (level === 0) return i
      i = text.skipSpace(i)
    }
    // here `i` is at a closing bracket or behind an element
    while (bytes[i] === closerOf(open[level - 1])) {
      level--
      i++
      if (level === 0) return i
      i = text.skipSpace(i)
    }
    const inObject = open[level - 1] === Ascii.OpenBrace
    if (bytes[i] !== Ascii.Comma) throw text.malformed(i, inObject ? '"," or "}"' : '"," or "]"')
    i = text.skipSpace(i + 1)
    if (inObject) i = scanKey(text, i, 'a key')
  }
}

function closerOf(opener: number): number {
  return opener === Ascii.OpenBrace ? Ascii.CloseBrace : Ascii.CloseBracket
}

/** Reads a key and its colon. @param at where a key should start. Returns the offset of the value. */
function scanKey(text: JsonText, at: number, expected: string): number {
  if (text.bytes[at] !== Ascii.Quote) throw text.malformed(at, expected)
  return scanColon(text, stringEnd(text, at))
}

/** Reads a colon. @param at offset behind a key's closing quote. Returns the offset of the value. */
export function scanColon(text: JsonText, at: number): number {
  const i = text.skipSpace(at)
  if (text.bytes[i] !== Ascii.Colon) throw text.malformed(i, '":"')
  return text.skipSpace(i + 1)
}

/** Returns the offset behind the closing quote. @param at offset of the opening quote */
export function stringEnd(text: JsonText, at: number, where: Place = {}): number {
  const end = scanString(text, at + 1)
  if (end < 0) throw text.malformed(~end, STRING_CONTENT, where)
  return end
}

/** Reads a string, number or word at `at`. Returns the offset behind it. A number's value is in scratch.number. */
export function scanScalar(text: JsonText, at: number, scratch: SkipScratch): number {
  const { bytes } = text
  const byte = bytes[at]
  if (byte === Ascii.Quote) return stringEnd(text, at)
  const word = wordStartingWith(byte)
  if (byte === Ascii.Minus || isDigit(byte) || word === 'NaN' || word === 'Infinity') {
    const end = scanNumber(text, at, scratch.number, 0)
    if (end < 0) throw text.malformed(~end, 'a number')
    return end
  }
  if (word === undefined) throw text.malformed(at, 'a value')
  const end = scanWord(text, at, word)
  if (end < 0) throw text.malformed(~end, word)
  return end
}
