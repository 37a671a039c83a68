/**
 * Parses one trace object strictly. Every byte of its slice is checked against JSON's grammar. Number arrays go directly
 * into typed arrays, and the texts of the spans are only counted. It runs in a worker and needs nothing but one trace.
 *
 * Keys come in any order. Unknown keys are skipped at any depth; a known key that comes twice is a fault. A missing key is
 * null. The caller decides whether that is acceptable, whether lengths agree and whether numbers are finite.
 */

import { Fault, printable, type Place } from '../../core/errors.js'
import { Status } from '../../kernel/kernel.js'
import { kernelOfThread } from '../../kernel/open.js'
import {
  TRACE_ARRAYS,
  type Outcome,
  type ParsedTrace,
  type SnapshotKeys,
  type SpanTexts,
  type TraceArrayName,
  type TraceFields
} from '../../schema/traces.js'
import { MAX_TEXT_BYTES, TRACE_DEPTH, duplicateKey, halfPair, tooLong, wrongType } from './faults.js'
import { KernelText } from './kernel-text.js'
import { KeyTable } from './keys.js'
import { DoubleColumn, scanNumberArray } from './number-array.js'
import { scanNumber } from './number.js'
import { SkipScratch, scanColon, skipValue, stringEnd } from './skip.js'
import { EndMarker } from './string.js'
import { Ascii, decodeString, isDigit, scanWord } from './text.js'
import { OUTCOME_FORMS, outcomeOfNumber } from '../traces/outcome.js'

/** The bytes of one trace, from its `{` to its `}`. */
export interface TraceSlice {
  /** 0-based position in the snapshot */
  readonly index: number
  /** 0-based offset of the `{` in the input */
  readonly offset: number
  readonly bytes: Uint8Array
}

/** Buffers that one thread reuses from trace to trace. A parsed trace's arrays are views into them. */
export class TraceScratch {
  readonly text: KernelText
  readonly skip = new SkipScratch()
  readonly columns: Readonly<Record<TraceArrayName, DoubleColumn>> = {
    values: new DoubleColumn(),
    returns: new DoubleColumn(),
    response_positions: new DoubleColumn()
  }

  constructor(kernel = kernelOfThread()) {
    this.text = new KernelText(kernel)
  }
}

export interface TraceOptions {
  readonly keys: SnapshotKeys
  /** text that is looked for at the end of every span's text; null: none, all flags are zero */
  readonly endMarker: string | null
  readonly scratch: TraceScratch
  /** true: the texts of the spans are kept; default: they are counted alone */
  readonly keepTexts?: boolean | undefined
}

const TRACE_KEYS = [
  'step',
  'outcome',
  'score',
  'uid',
  'prediction_stage',
  'npz',
  'value_mean',
  'value_rmse',
  'values',
  'returns',
  'response_positions',
  'segment_texts'
] as const
type TraceKey = (typeof TRACE_KEYS)[number]

/**
 * Parses a slice. Its arrays are valid until the next call in this thread: a scratch lies in the thread's kernel, unless
 * it was given another one. Non-finite numbers are parsed.
 * @throws Fault exit 3, with the trace, the array and index if there is one, and the byte offset
 */
export function parseTrace(slice: TraceSlice, options: TraceOptions): ParsedTrace {
  options.scratch.text.load(slice)
  return new TraceReader(options).read(slice.index)
}

/** Every text ends with the empty marker. */
const NO_MARKER = new Uint8Array(0)

/** A cursor over the loaded text. */
class TraceReader {
  readonly #text: KernelText
  readonly #scratch: TraceScratch
  readonly #keys: SnapshotKeys
  readonly #table: KeyTable<TraceKey>
  readonly #marker: EndMarker | null
  readonly #fields: { -readonly [K in keyof TraceFields]: TraceFields[K] } = {
    step: null,
    outcome: null,
    score: null,
    uid: null,
    predictionStage: null,
    npz: null,
    valueMean: null,
    valueRmse: null
  }
  #spans: SpanTexts | null = null
  readonly #keepTexts: boolean
  #texts: readonly string[] | null = null
  #at = 0

  constructor({ keys, endMarker, scratch, keepTexts = false }: TraceOptions) {
    this.#keepTexts = keepTexts
    this.#text = scratch.text
    this.#scratch = scratch
    this.#keys = keys
    this.#table = new KeyTable(keys, TRACE_KEYS)
    this.#marker = endMarker === null ? null : new EndMarker(endMarker)
  }

  read(index: number): ParsedTrace {
    const text = this.#text
    const { bytes } = text
    const seen = new Set<TraceKey>()
    if (bytes[0] !== Ascii.OpenBrace) throw text.malformed(0, '"{"')
    this.#at = text.skipSpace(1)
    if (bytes[this.#at] !== Ascii.CloseBrace) {
      this.#readMember(seen, '"}" or a key')
      while (bytes[this.#at] === Ascii.Comma) {
        this.#at = text.skipSpace(this.#at + 1)
        this.#readMember(seen, 'a key')
      }
      if (bytes[this.#at] !== Ascii.CloseBrace) throw text.malformed(this.#at, '"," or "}"')
    }
    for (const array of TRACE_ARRAYS) {
      if (!seen.has(array)) throw this.#missing(array)
    }
    this.#at++
    if (this.#at < text.length) throw text.malformed(this.#at, 'the end of the trace')
    const { values, returns, response_positions: positions } = this.#scratch.columns
    return {
      index,
      fields: this.#fields,
      values: values.view(),
      returns: returns.view(),
      positions: positions.view(),
      spans: this.#spans,
      ...(this.#texts === null ? {} : { texts: { turns: this.#texts, tokens: null } })
    }
  }

  /** Reads a key, its colon, its value, and the white space behind it. */
  #readMember(seen: Set<TraceKey>, expected: string): void {
    const text = this.#text
    const start = this.#at
    if (text.bytes[start] !== Ascii.Quote) throw text.malformed(start, expected)
    const end = stringEnd(text, start)
    const key = this.#table.find(text.bytes.subarray(start + 1, end - 1))
    if (key !== undefined && seen.has(key)) throw duplicateKey(this.#keys[key], text.place(start))
    this.#at = scanColon(text, end)
    if (key === undefined) this.#at = skipValue(text, this.#at, TRACE_DEPTH + 1, this.#scratch.skip)
    else {
      seen.add(key)
      this.#readValue(key)
    }
    this.#at = text.skipSpace(this.#at)
  }

  #readValue(key: TraceKey): void {
    const fields = this.#fields
    switch (key) {
      case 'values':
      case 'returns':
      case 'response_positions':
        this.#readArray(key)
        break
      case 'segment_texts':
        this.#readSpans()
        break
      case 'step':
        fields.step = this.#integer(key)
        break
      case 'outcome':
        fields.outcome = this.#outcome(key)
        break
      case 'score':
        fields.score = this.#number(key)
        break
      case 'uid':
        fields.uid = this.#identifier(key)
        break
      case 'prediction_stage':
        fields.predictionStage = this.#string(key, 'a string or null')
        break
      case 'npz':
        fields.npz = this.#string(key, 'a string or null')
        break
      case 'value_mean':
        fields.valueMean = this.#number(key)
        break
      case 'value_rmse':
        fields.valueRmse = this.#number(key)
        break
    }
  }

  #readArray(key: TraceArrayName): void {
    const name = this.#keys[key]
    if (this.#text.bytes[this.#at] !== Ascii.OpenBracket) throw this.#unfit('an array of numbers', { array: name })
    this.#at = scanNumberArray(this.#text, this.#at + 1, this.#scratch.columns[key], name)
  }

  /** Counts the texts and checks their ends; keeps them where they are asked for. */
  #readSpans(): void {
    const text = this.#text
    const array = this.#keys.segment_texts
    if (this.#isNull('an array of strings or null', { array })) return
    if (text.bytes[this.#at] !== Ascii.OpenBracket) throw this.#unfit('an array of strings or null', { array })
    const ends = text.kernel.flags()
    let count = 0
    const start = this.#at
    this.#at = text.skipSpace(this.#at + 1)
    if (text.bytes[this.#at] === Ascii.CloseBracket) this.#at++
    else count = this.#readTexts(ends, array)
    text.kernel.take(count)
    this.#spans = { count, endsWithMarker: ends.subarray(0, count) }
    // Their grammar was checked just now.
    if (this.#keepTexts) this.#texts = JSON.parse(text.bytes.toString('utf8', start, this.#at)) as string[]
  }

  /** Checks each text's end, from the first one's quote on. Returns their number and leaves the cursor behind the `]`. */
  #readTexts(ends: Uint8Array, array: string): number {
    const text = this.#text
    const { kernel } = text
    const marker = this.#marker
    kernel.marker = marker?.plain ?? NO_MARKER
    let count = 0
    for (;;) {
      // a marker that cannot be compared by bytes is looked for in each text here
      const compiled = marker === null || marker.plain !== null
      if (compiled) {
        this.#at = kernel.texts(this.#at, count)
        count = kernel.count
        if (kernel.status === Status.Closed) return count
      }
      if (!compiled || kernel.status === Status.Odd) {
        const start = this.#at
        if (text.bytes[start] !== Ascii.Quote) throw this.#unfit('a string', { array, index: count })
        const end = stringEnd(text, start, { array, index: count })
        ends[count++] = marker?.ends(text.bytes, start + 1, end - 1) === true ? 1 : 0
        this.#at = text.skipSpace(end)
        if (text.bytes[this.#at] === Ascii.Comma) {
          this.#at = text.skipSpace(this.#at + 1)
          continue
        }
        if (text.bytes[this.#at] === Ascii.CloseBracket) {
          this.#at++
          return count
        }
      }
      throw text.malformed(this.#at, '"," or "]"', { array, index: count - 1 })
    }
  }

  #number(key: TraceKey): number | null {
    return this.#isNull('a number or null', { member: this.#keys[key] }) ? null : this.#numeral(key, 'a number or null')
  }

  #integer(key: TraceKey): number | null {
    const start = this.#at
    const place = { member: this.#keys[key] }
    if (this.#isNull('an integer or null', place)) return null
    const value = this.#numeral(key, 'an integer or null')
    if (Number.isSafeInteger(value)) return value
    throw wrongType(printable(this.#raw(start)), 'an integer or null', this.#text.place(start, place))
  }

  #string(key: TraceKey, expected: string): string | null {
    const start = this.#at
    const place = { member: this.#keys[key] }
    if (this.#isNull(expected, place)) return null
    if (this.#text.bytes[start] !== Ascii.Quote) throw this.#unfit(expected, place)
    this.#at = stringEnd(this.#text, start, place)
    const length = this.#at - start - 2
    if (length > MAX_TEXT_BYTES) throw tooLong('a text', MAX_TEXT_BYTES, this.#text.place(start, place))
    const value = decodeString(this.#text.bytes.subarray(start + 1, this.#at - 1))
    if (!value.isWellFormed()) throw halfPair(this.#text.place(start, place))
    return value
  }

  /** Reads a string, or an integer as it is written. */
  #identifier(key: TraceKey): string | null {
    const start = this.#at
    const byte = this.#text.bytes[start]
    const expected = 'a string, an integer or null'
    if (byte !== Ascii.Minus && !isDigit(byte)) return this.#string(key, expected)
    this.#numeral(key, expected)
    const raw = this.#raw(start)
    if (/^-?[0-9]+$/.test(raw)) return raw
    throw wrongType(printable(raw), expected, this.#text.place(start, { member: this.#keys[key] }))
  }

  #outcome(key: TraceKey): Outcome | null {
    const start = this.#at
    const place = { member: this.#keys[key] }
    const unknown = (found: string): Fault =>
      new Fault({ format: 'json', problem: 'unknown outcome', found, expected: OUTCOME_FORMS, place: this.#text.place(start, place) })
    const byte = this.#text.bytes[start]
    if (byte === Ascii.LowerT || byte === Ascii.LowerF) {
      const word = byte === Ascii.LowerT ? 'true' : 'false'
      const end = scanWord(this.#text, start, word)
      if (end < 0) throw this.#text.malformed(~end, OUTCOME_FORMS, place)
      this.#at = end
      return word === 'true' ? 'success' : 'failure'
    }
    if (byte === Ascii.Minus || isDigit(byte)) {
      const outcome = outcomeOfNumber(this.#numeral(key, OUTCOME_FORMS))
      if (outcome === null) throw unknown(printable(this.#raw(start)))
      return outcome
    }
    const value = this.#string(key, OUTCOME_FORMS)
    if (value === null || value === 'success' || value === 'failure') return value
    throw unknown(`"${printable(value)}"`)
  }

  /** Reads the number at the cursor and moves the cursor behind it. */
  #numeral(key: TraceKey, expected: string): number {
    const { number } = this.#scratch.skip
    const place = { member: this.#keys[key] }
    const end = scanNumber(this.#text, this.#at, number, 0)
    if (~end === this.#at) throw this.#unfit(expected, place)
    if (end < 0) throw this.#text.malformed(~end, 'a number', place)
    this.#at = end
    return number[0]
  }

  /** True if `null` stands at the cursor; the cursor then moves behind it. */
  #isNull(expected: string, place: Place): boolean {
    if (this.#text.bytes[this.#at] !== Ascii.LowerN) return false
    const end = scanWord(this.#text, this.#at, 'null')
    if (end < 0) throw this.#text.malformed(~end, expected, place)
    this.#at = end
    return true
  }

  /** The text from `start` to the cursor. For numbers only. */
  #raw(start: number): string {
    return this.#text.bytes.toString('latin1', start, this.#at)
  }

  /** The fault of a value at the cursor that has the wrong type, or is no value. */
  #unfit(expected: string, where: Place): Fault {
    const text = this.#text
    const type = text.valueType(this.#at)
    return type === null ? text.malformed(this.#at, expected, where) : wrongType(type, expected, text.place(this.#at, where))
  }

  #missing(array: TraceArrayName): Fault {
    const name = this.#keys[array]
    return new Fault({
      format: 'json',
      problem: 'missing array',
      found: `no key "${printable(name)}"`,
      expected: 'an array of numbers',
      place: this.#text.place(this.#at, { array: name })
    })
  }
}
