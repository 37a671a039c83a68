/**
 * Reads the document around the traces, in chunks of any size. It is a strict JSON validator. It keeps the two texts of
 * the header and the `synthetic` label, skips unknown keys at any depth without buffering them, and stops at the `{` of
 * each trace.
 *
 * `synthetic` is a label only if its value is `true`. With any other value it is treated as an unknown key, and so is a
 * second one, since another trainer's page may have a key of that name. Among several, a single `true` is enough.
 *
 * It is a push parser, because a chunk may end anywhere. It does not recurse. It stores one byte for each open bracket.
 */

import { Buffer } from 'node:buffer'
import { Fault, printable, type Place } from '../../core/errors.js'
import type { SnapshotHeader, SnapshotKeys } from '../../schema/traces.js'
import { MAX_DEPTH, MAX_TEXT_BYTES, TRACE_DEPTH, duplicateKey, halfPair, malformedJson, tooDeep, tooLong, wrongType } from './faults.js'
import { NUMBER_BREAKS, NUMBER_ENDS, State, continueNumber, expectedIn } from './grammar.js'
import { KeyTable } from './keys.js'
import { Ascii, decodeString, describeStart, isDigit, isEscape, isHexDigit, isJsonSpace, wordStartingWith } from './text.js'

const HEADER_KEYS = ['snapshot_time', 'alignment', 'synthetic', 'traces'] as const
type HeaderKey = (typeof HEADER_KEYS)[number]

export class Outline {
  readonly #keys: SnapshotKeys
  readonly #table: KeyTable<HeaderKey>
  readonly #seen = new Set<HeaderKey>()
  readonly #texts: Record<'snapshot_time' | 'alignment', string | null> = { snapshot_time: null, alignment: null }
  #synthetic = false
  #traceCount = 0
  /** the known key of the root object whose value is read now */
  #key: HeaderKey | null = null

  #state: State = State.Value
  readonly #open = new Uint8Array(MAX_DEPTH)
  #depth = 0

  /** the current string: its bytes are kept up to `limit` bytes; the limit is 0 for a string that is not needed */
  #stringIsKey = false
  #stringLimit = 0
  #stringOffset = 0
  #raw: Buffer = Buffer.alloc(0)
  #rawLength = 0
  #hexLeft = 0
  #word = ''
  #wordAt = 0

  constructor(keys: SnapshotKeys) {
    this.#keys = keys
    this.#table = new KeyTable(keys, HEADER_KEYS)
  }

  get traceCount(): number {
    return this.#traceCount
  }

  /** true once the part that has been read states that the data were generated */
  get synthetic(): boolean {
    return this.#synthetic
  }

  /**
   * Reads chunk[from …]; `base` is the offset of chunk[0] in the input. Returns the chunk's length, or the index of a
   * trace's `{`. In the second case the caller reads the trace, calls `endTrace`, and calls again behind the `}`.
   */
  read(chunk: Buffer, from: number, base: number): number {
    let i = from
    while (i < chunk.length) {
      if (this.#state >= State.Minus) i = this.#readNumber(chunk, i, base)
      else if (this.#state === State.Word) i = this.#readWord(chunk, i, base)
      else if (this.#state >= State.String) i = this.#readString(chunk, i, base)
      else if (isJsonSpace(chunk[i])) i++
      else if (this.#readStructure(chunk[i], base + i)) return i
      else i++
    }
    return i
  }

  endTrace(): void {
    this.#traceCount++
    this.#state = State.AfterElement
  }

  /** Ends the input at this offset. */
  end(offset: number): SnapshotHeader {
    if (this.#state !== State.End) throw malformedJson(null, expectedIn(this.#state), this.#place(offset))
    const { snapshot_time: snapshotTime, alignment } = this.#texts
    return { snapshotTime, alignment, synthetic: this.#synthetic, traceCount: this.#traceCount }
  }

  #place(offset: number): Place {
    if (this.#key === null) return { offset }
    if (this.#depth === 1 || this.#key !== 'traces') return { member: this.#keys[this.#key], offset }
    return { array: this.#keys.traces, index: this.#traceCount, offset }
  }

  #malformed(byte: number, offset: number): Fault {
    return malformedJson(byte, expectedIn(this.#state), this.#place(offset))
  }

  /** Reads a byte between tokens, or the first byte of a token. Returns true at the `{` of a trace. */
  #readStructure(byte: number, offset: number): boolean {
    switch (this.#state) {
      case State.FirstElement:
        if (byte === Ascii.CloseBracket) return this.#close(offset)
        return this.#startValue(byte, offset)
      case State.Value:
        return this.#startValue(byte, offset)
      case State.FirstKey:
        if (byte === Ascii.CloseBrace) return this.#close(offset)
        return this.#startKey(byte, offset)
      case State.Key:
        return this.#startKey(byte, offset)
      case State.Colon:
        if (byte !== Ascii.Colon) throw this.#malformed(byte, offset)
        this.#state = State.Value
        return false
      case State.AfterElement:
        if (byte === Ascii.CloseBracket) return this.#close(offset)
        if (byte !== Ascii.Comma) throw this.#malformed(byte, offset)
        this.#state = State.Value
        return false
      case State.AfterMember:
        if (byte === Ascii.CloseBrace) return this.#close(offset)
        if (byte !== Ascii.Comma) throw this.#malformed(byte, offset)
        this.#state = State.Key
        return false
      default:
        throw this.#malformed(byte, offset)
    }
  }

  #startKey(byte: number, offset: number): false {
    if (byte !== Ascii.Quote) throw this.#malformed(byte, offset)
    return this.#startString(true, this.#depth === 1 ? this.#table.longest : 0, offset)
  }

  #startString(isKey: boolean, limit: number, offset: number): false {
    this.#stringIsKey = isKey
    this.#stringLimit = limit
    this.#stringOffset = offset
    this.#rawLength = 0
    this.#state = State.String
    return false
  }

  #startValue(byte: number, offset: number): boolean {
    const type = describeStart(byte)
    if (type === null) throw this.#malformed(byte, offset)
    if (this.#depth === 0 && byte !== Ascii.OpenBrace) throw wrongType(type, 'an object', { offset })
    if (this.#depth === 1 && this.#key !== null) this.#checkHeaderValue(this.#key, byte, type, offset)
    if (this.#depth === TRACE_DEPTH && this.#key === 'traces') {
      if (byte !== Ascii.OpenBrace) throw wrongType(type, 'an object', this.#place(offset))
      return true
    }
    if (byte === Ascii.Quote) {
      return this.#startString(false, this.#keptText() === null ? 0 : MAX_TEXT_BYTES, offset)
    }
    if (byte === Ascii.OpenBrace || byte === Ascii.OpenBracket) return this.#openBracket(byte, offset)
    if (byte === Ascii.Minus) this.#state = State.Minus
    else if (isDigit(byte)) this.#state = byte === Ascii.Zero ? State.LeadingZero : State.Whole
    else this.#startWord(wordStartingWith(byte) ?? '')
    return false
  }

  #checkHeaderValue(key: HeaderKey, byte: number, type: string, offset: number): void {
    if (key === 'traces') {
      if (byte !== Ascii.OpenBracket) throw wrongType(type, 'an array of traces', this.#place(offset))
    } else if (key !== 'synthetic' && byte !== Ascii.Quote && byte !== Ascii.LowerN) {
      throw wrongType(type, 'a string or null', this.#place(offset))
    }
  }

  #openBracket(byte: number, offset: number): false {
    if (this.#depth === MAX_DEPTH) throw tooDeep({ offset })
    this.#open[this.#depth++] = byte
    this.#state = byte === Ascii.OpenBrace ? State.FirstKey : State.FirstElement
    return false
  }

  #close(offset: number): false {
    if (this.#depth === TRACE_DEPTH && this.#key === 'traces' && this.#traceCount === 0) {
      throw new Fault({
        format: 'json',
        problem: 'no traces',
        found: 'an empty array',
        expected: 'at least one trace',
        place: { array: this.#keys.traces, offset }
      })
    }
    this.#depth--
    if (this.#depth === 0 && !this.#seen.has('traces')) {
      throw new Fault({
        format: 'json',
        problem: 'missing traces',
        found: `no key "${printable(this.#keys.traces)}"`,
        expected: 'an array of traces',
        place: { offset }
      })
    }
    return this.#endValue()
  }

  #endValue(): false {
    if (this.#depth === 0) this.#state = State.End
    else this.#state = this.#open[this.#depth - 1] === Ascii.OpenBrace ? State.AfterMember : State.AfterElement
    if (this.#depth === 1) this.#key = null
    return false
  }

  #readNumber(chunk: Buffer, from: number, base: number): number {
    for (let i = from; i < chunk.length; i++) {
      if (this.#state === State.Minus && chunk[i] === Ascii.UpperI) {
        this.#startWord('Infinity')
        return i + 1
      }
      const next = continueNumber(this.#state, chunk[i])
      if (next === NUMBER_BREAKS) throw this.#malformed(chunk[i], base + i)
      if (next === NUMBER_ENDS) {
        this.#endValue()
        return i
      }
      this.#state = next
    }
    return chunk.length
  }

  #startWord(word: string): void {
    this.#word = word
    this.#wordAt = 1
    this.#state = State.Word
  }

  #readWord(chunk: Buffer, from: number, base: number): number {
    if (chunk[from] !== this.#word.charCodeAt(this.#wordAt)) {
      throw malformedJson(chunk[from], this.#word, this.#place(base + from))
    }
    if (++this.#wordAt === this.#word.length) {
      if (this.#key === 'synthetic' && this.#depth === 1 && this.#word === 'true') this.#synthetic = true
      this.#endValue()
    }
    return from + 1
  }

  #readString(chunk: Buffer, from: number, base: number): number {
    let i = from
    let broken = false
    for (; i < chunk.length && !broken; i++) {
      const byte = chunk[i]
      if (this.#state === State.String) {
        if (byte === Ascii.Quote) {
          this.#keep(chunk, from, i)
          this.#endString()
          return i + 1
        }
        if (byte === Ascii.Backslash) this.#state = State.Escape
        else broken = byte < Ascii.Space
      } else if (this.#state === State.Escape) {
        broken = !isEscape(byte)
        this.#hexLeft = 4
        this.#state = byte === Ascii.LowerU ? State.Hex : State.String
      } else {
        broken = !isHexDigit(byte)
        if (--this.#hexLeft === 0) this.#state = State.String
      }
    }
    this.#keep(chunk, from, i)
    if (broken) throw malformedJson(chunk[i - 1], expectedIn(State.String), this.#place(base + i - 1))
    return i
  }

  /** Adds chunk[from, to) to the current string. */
  #keep(chunk: Buffer, from: number, to: number): void {
    if (this.#stringLimit === 0) return
    const length = this.#rawLength + to - from
    if (length > this.#stringLimit) {
      if (!this.#stringIsKey) throw tooLong('a text', MAX_TEXT_BYTES, this.#place(this.#stringOffset))
      this.#stringLimit = 0
      return
    }
    if (length > this.#raw.length) {
      const larger = Buffer.allocUnsafeSlow(2 * length)
      this.#raw.copy(larger, 0, 0, this.#rawLength)
      this.#raw = larger
    }
    chunk.copy(this.#raw, this.#rawLength, from, to)
    this.#rawLength = length
  }

  /** the header field that a string at this place belongs to; null: the string is not kept */
  #keptText(): 'snapshot_time' | 'alignment' | null {
    return this.#depth === 1 && (this.#key === 'snapshot_time' || this.#key === 'alignment') ? this.#key : null
  }

  #endString(): void {
    const raw = this.#raw.subarray(0, this.#rawLength)
    if (!this.#stringIsKey) {
      const text = this.#keptText()
      if (text !== null) {
        const value = decodeString(raw)
        if (!value.isWellFormed()) throw halfPair(this.#place(this.#stringOffset))
        this.#texts[text] = value
      }
      this.#endValue()
      return
    }
    const key = this.#stringLimit > 0 ? this.#table.find(raw) : undefined
    if (key !== undefined) {
      if (this.#seen.has(key) && key !== 'synthetic') throw duplicateKey(this.#keys[key], this.#place(this.#stringOffset))
      this.#seen.add(key)
      this.#key = key
    }
    this.#state = State.Colon
  }
}
