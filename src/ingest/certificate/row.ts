/**
 * Which part of a history row, as the server writes it, is exported.
 *
 * Exported are numeric scalars: numbers, NaN and Infinity bare or as a text, and null. Each key and number keeps its
 * spelling (`1e-07`). Texts, true and false, objects (media, histograms) and lists are left out and counted. The line has
 * one space behind each colon and comma, whatever the server's spacing, so that the same run gives the same bytes.
 */
import { Buffer } from 'node:buffer'
import { printable } from '../../core/errors.js'
import type { LeftOutKinds } from './fields.js'
import { isSecretText } from '../../core/secrets.js'
import { RowText } from '../histories/row-text.js'
import { ValueKind, ValueReader } from '../histories/values.js'
import { scanColon, stringEnd } from '../json/skip.js'
import { Ascii, isJsonSpace } from '../json/text.js'

/** Longest row. A longer one is not a row of scalars. */
const MAX_ROW_BYTES = 16 * 1024 * 1024

export const STEP_KEY = '_step'

export interface ExportedRow {
  readonly step: number
  /** one line, without its end */
  readonly line: string
}

export type LeftOutCounts = { -readonly [kind in keyof LeftOutKinds]: number }

/** The text of one row. A line end in it is white space. */
class SpreadRow extends RowText {
  override skipSpace(at: number): number {
    let i = at
    while (isJsonSpace(this.bytes[i])) i++
    return i
  }
}

/** Reads rows one after another, and counts what is left out of all of them. */
export class RowExporter {
  readonly leftOut: LeftOutCounts
  readonly #harmless = new Set<string>()

  /** @param leftOut counts of the rows before these */
  constructor(leftOut: LeftOutKinds) {
    this.leftOut = { ...leftOut }
  }

  /** @throws Fault exit 3: not an object of JSON (bare NaN and Infinity allowed), a key twice, no integer step */
  read(raw: string): ExportedRow {
    const text = new SpreadRow()
    const bytes = Buffer.from(raw, 'utf8')
    if (bytes.length > MAX_ROW_BYTES) {
      throw text.fault('too long', `a row of ${bytes.length} bytes`, `at most ${MAX_ROW_BYTES}`, {})
    }
    // Half a surrogate pair cannot be encoded in UTF-8.
    if (!raw.isWellFormed()) throw text.fault('wrong encoding', 'half a surrogate pair', 'text', {})
    text.append(bytes)
    text.terminate()
    // In ASCII text, character offsets equal byte offsets, and slicing the string copies nothing.
    const isAscii = bytes.length === raw.length
    return this.#read(text, isAscii ? (from, to) => raw.slice(from, to) : (from, to) => text.bytes.toString('utf8', from, to))
  }

  #read(text: RowText, cut: (from: number, to: number) => string): ExportedRow {
    const { bytes } = text
    const values = new ValueReader(text)
    const members: string[] = []
    const keys = new Set<string>()
    let step = -1
    let i = text.skipSpace(0)
    if (bytes[i] !== Ascii.OpenBrace) throw text.malformed(i, 'a row, "{"')
    i = text.skipSpace(i + 1)
    while (bytes[i] !== Ascii.CloseBrace) {
      if (bytes[i] !== Ascii.Quote) throw text.malformed(i, '"}" or a key')
      const start = i
      i = stringEnd(text, i)
      const spelled = cut(start, i)
      const key = spelled.includes('\\') ? String(JSON.parse(spelled)) : spelled.slice(1, -1)
      if (keys.has(key)) throw text.fault('duplicate key', `"${printable(key)}"`, 'it once', {})
      keys.add(key)
      if (this.#isSecret(key)) throw text.fault('secret refused', 'a key that looks like a secret', 'names of metrics', {})
      i = scanColon(text, i)
      const kind = values.read(i)
      if (key === STEP_KEY) step = checkedStep(text, kind, values.number)
      if (kind === ValueKind.NotNumber) this.#leaveOut(bytes[i])
      else members.push(`${spelled}: ${cut(i, values.end)}`)
      i = text.skipSpace(values.end)
      if (bytes[i] === Ascii.CloseBrace) break
      if (bytes[i] !== Ascii.Comma) throw text.malformed(i, '"," or "}"')
      i = text.skipSpace(i + 1)
      if (bytes[i] === Ascii.CloseBrace) throw text.malformed(i, 'a key')
    }
    i = text.skipSpace(i + 1)
    if (i !== text.length) throw text.malformed(i, 'the end of the row')
    if (step < 0) throw text.fault('missing step', `no key "${STEP_KEY}"`, 'the step of the row', {})
    return { step, line: `{${members.join(', ')}}` }
  }

  /** Keys found harmless are remembered, since every row repeats them. */
  #isSecret(key: string): boolean {
    if (this.#harmless.has(key)) return false
    if (isSecretText(key, 'key')) return true
    this.#harmless.add(key)
    return false
  }

  #leaveOut(first: number): void {
    if (first === Ascii.Quote) this.leftOut.texts++
    else if (first === Ascii.OpenBrace) this.leftOut.objects++
    else if (first === Ascii.OpenBracket) this.leftOut.lists++
    else this.leftOut.flags++
  }
}

function checkedStep(text: RowText, kind: ValueKind, value: number): number {
  if (kind === ValueKind.Number && Number.isSafeInteger(value) && value >= 0) return value + 0
  const found = kind === ValueKind.Number ? String(value) : 'no finite number'
  throw text.fault('wrong step', found, `an integer >= 0 as "${STEP_KEY}"`, {})
}
