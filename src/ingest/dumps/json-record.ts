/**
 * Reads one object of JSON Lines: lists of numbers to typed arrays, scalars as they are. Every byte is checked against JSON's
 * grammar. NaN and Infinity are numbers, as Python writes them. Values of other names are skipped.
 */
import { isUtf8 } from 'node:buffer'
import { Fault, printable, type Place } from '../../core/errors.js'
import { duplicateKey, halfPair } from '../json/faults.js'
import type { KernelText } from '../json/kernel-text.js'
import { DoubleColumn, scanNumberArray } from '../json/number-array.js'
import { scanColon, scanScalar, SkipScratch, skipValue, stringEnd } from '../json/skip.js'
import { Ascii, decodeString, describeStart, isDigit } from '../json/text.js'
import { OtherValue, type RecordValue } from './records.js'

export interface JsonRecord {
  /** of the names that were asked for */
  readonly values: ReadonlyMap<string, RecordValue>
  /** all names of the object */
  readonly names: readonly string[]
}

export class JsonRecordReader {
  readonly #text: KernelText
  readonly #column = new DoubleColumn()
  readonly #scratch = new SkipScratch()

  constructor(text: KernelText) {
    this.#text = text
  }

  /** @throws Fault for anything but an object */
  read(line: { readonly bytes: Uint8Array; readonly offset: number }, wanted: ReadonlySet<string>, place: Place): JsonRecord {
    const text = this.#text
    text.load({ index: place.trace ?? 0, offset: line.offset, bytes: line.bytes })
    try {
      return this.#object(wanted)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const { place: own, ...details } = error.details
      throw new Fault({ ...details, format: 'jsonl', place: { ...place, ...own } })
    }
  }

  #object(wanted: ReadonlySet<string>): JsonRecord {
    const text = this.#text
    const { bytes } = text
    const values = new Map<string, RecordValue>()
    const names: string[] = []
    const seen = new Set<string>()
    let i = text.skipSpace(0)
    if (bytes[i] !== Ascii.OpenBrace) throw text.malformed(i, '"{"')
    i = text.skipSpace(i + 1)
    if (bytes[i] !== Ascii.CloseBrace) {
      for (;;) {
        if (bytes[i] !== Ascii.Quote) throw text.malformed(i, 'a key')
        const end = stringEnd(text, i)
        const name = decodeString(bytes.subarray(i + 1, end - 1))
        if (seen.has(name)) throw duplicateKey(name, text.place(i))
        seen.add(name)
        names.push(name)
        i = scanColon(text, end)
        if (wanted.has(name)) i = this.#value(i, name, values)
        else i = skipValue(text, i, 1, this.#scratch)
        i = text.skipSpace(i)
        if (bytes[i] !== Ascii.Comma) break
        i = text.skipSpace(i + 1)
      }
      if (bytes[i] !== Ascii.CloseBrace) throw text.malformed(i, '"," or "}"')
    }
    i = text.skipSpace(i + 1)
    if (i < text.length) throw text.malformed(i, 'the end of the line')
    return { values, names }
  }

  /** Reads a value into the map. Returns the offset behind it. */
  #value(at: number, name: string, values: Map<string, RecordValue>): number {
    const text = this.#text
    const { bytes } = text
    const byte = bytes[at]
    if (byte === Ascii.OpenBracket) {
      const first = bytes[text.skipSpace(at + 1)]
      if (isNumberStart(first) || first === Ascii.CloseBracket) {
        const end = scanNumberArray(text, at + 1, this.#column, name)
        const numbers = this.#column.view().slice()
        if (numbers.some(x => Math.abs(x) >= FIRST_INEXACT)) this.#refuseInexact(at + 1, end - 1, name)
        values.set(name, numbers)
        return end
      }
      const end = skipValue(text, at, 1, this.#scratch)
      const isFlag = first === Ascii.LowerT || first === Ascii.LowerF
      const flags = isFlag ? flagsOf(JSON.parse(bytes.toString('utf8', at, end))) : undefined
      values.set(name, flags ?? new OtherValue(`a list with ${describeStart(first) ?? 'another value'} in it`))
      return end
    }
    if (byte === Ascii.OpenBrace) {
      values.set(name, new OtherValue('an object'))
      return skipValue(text, at, 1, this.#scratch)
    }
    const end = scanScalar(text, at, this.#scratch)
    if (isNumberStart(byte)) {
      const [x] = this.#scratch.number
      values.set(name, Math.abs(x) >= FIRST_INEXACT ? this.#exactInteger(x, at, end, { array: name }) : x)
    } else
      values.set(name, byte === Ascii.Quote ? this.#string(at, end, name) : (JSON.parse(bytes.toString('utf8', at, end)) as boolean | null))
    return end
  }

  /** A text as it is written: a replacement character in its place would be another text. */
  #string(start: number, end: number, array: string): string {
    const { bytes } = this.#text
    const place = this.#text.place(start, { array })
    if (!isUtf8(bytes.subarray(start, end))) {
      throw new Fault({ format: 'json', problem: 'wrong encoding', found: 'bytes that are not UTF-8', expected: 'text', place })
    }
    const text = decodeString(bytes.subarray(start + 1, end - 1))
    if (!text.isWellFormed()) throw halfPair(place)
    return text
  }

  /** Looks at each number of a list as it is written. */
  #refuseInexact(start: number, end: number, array: string): void {
    const written = this.#text.bytes.toString('latin1', start, end).split(',')
    let at = start
    for (const [index, word] of written.entries()) {
      const text = word.trim()
      const from = at + word.indexOf(text)
      this.#exactInteger(Number(text), from, from + text.length, { array, index })
      at += word.length + 1
    }
  }

  /** An integer as it is written: a bigint where it is 2^53 or more. @throws Fault where no double is that integer */
  #exactInteger(x: number, start: number, end: number, element: Place): number | bigint {
    const written = this.#text.bytes.toString('latin1', start, end)
    if (Math.abs(x) < FIRST_INEXACT || !INTEGER.test(written)) return x
    const integer = BigInt(written)
    if (Number.isFinite(x) && BigInt(x) === integer) return integer
    const expected = 'an integer that a double holds, as each below 2^53 is'
    const place = this.#text.place(start, element)
    throw new Fault({ format: 'json', problem: 'integer out of range', found: printable(written), expected, place })
  }
}

/** From here on there are integers that no double holds. */
const FIRST_INEXACT = 2 ** 53
const INTEGER = /^-?\d+$/

function isNumberStart(byte: number): boolean {
  return isDigit(byte) || byte === Ascii.Minus || byte === UPPER_N || byte === Ascii.UpperI
}

/** of NaN */
const UPPER_N = 0x4e

/** A list of true and false as 1 and 0; undefined: something else is in it. */
function flagsOf(list: unknown): Uint8Array | undefined {
  if (!Array.isArray(list) || !list.every(flag => typeof flag === 'boolean')) return undefined
  return Uint8Array.from(list, Number)
}
