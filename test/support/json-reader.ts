/**
 * Slicer and parser put together as the tests need them, and random snapshot documents whose reading is known.
 */

import type { ParsedTrace, SnapshotHeader, SnapshotKeys } from '../../src/schema/traces.js'
import { DEFAULT_KEYS } from '../../src/schema/traces.js'
import { TraceSlicer, type SlicerOptions } from '../../src/ingest/json/slicer.js'
import { TraceScratch, parseTrace } from '../../src/ingest/json/trace.js'
import type { Random } from './random.js'

export interface ReadTrace {
  readonly offset: number
  readonly length: number
  /** with arrays of its own */
  readonly trace: ParsedTrace
}

export interface ReadSnapshot {
  readonly header: SnapshotHeader
  readonly traces: ReadTrace[]
}

export interface ReadOptions extends Partial<SlicerOptions> {
  readonly endMarker?: string | null
  readonly scratch?: TraceScratch
}

/** Cuts an input of so many bytes. */
export type Pieces = (length: number) => Iterable<readonly [from: number, to: number]>

/** The whole input in one piece. */
export const WHOLE: Pieces = length => [[0, length]]

/** Pieces of one size. */
export function inPiecesOf(size: number): Pieces {
  return function* (length) {
    for (let from = 0; from < length; from += size) yield [from, Math.min(length, from + size)]
  }
}

/**
 * Reads a snapshot's JSON in pieces, each trace parsed as soon as its slice comes, so that what is thrown is the first
 * fault of the input. The chunk buffer is reused and overwritten, as a file reader's is.
 */
export function readSnapshot(bytes: Uint8Array, pieces: Pieces, options: ReadOptions = {}): ReadSnapshot {
  const keys: SnapshotKeys = options.keys ?? DEFAULT_KEYS
  const { endMarker = '<|im_end|>', scratch = new TraceScratch(), ...rest } = options
  const slicer = new TraceSlicer({ ...rest, keys })
  const traces: ReadTrace[] = []
  for (const [from, to] of pieces(bytes.length)) {
    const chunk = Uint8Array.from(bytes.subarray(from, to))
    const slices = slicer.push(chunk)
    chunk.fill(0x22)
    for (const slice of slices) {
      const parsed = parseTrace(slice, { keys, endMarker, scratch })
      traces.push({ offset: slice.offset, length: slice.bytes.length, trace: ownArrays(parsed) })
    }
  }
  return { header: slicer.end(), traces }
}

function ownArrays(trace: ParsedTrace): ParsedTrace {
  const { spans } = trace
  return {
    ...trace,
    values: trace.values.slice(),
    returns: trace.returns.slice(),
    positions: trace.positions.slice(),
    spans: spans === null ? null : { count: spans.count, endsWithMarker: spans.endsWithMarker.slice() }
  }
}

export interface RandomDocument {
  readonly text: string
  /** offset and length in bytes of each trace */
  readonly places: ReadonlyArray<{ readonly offset: number; readonly length: number }>
}

const LETTERS = ['a', 'Z', '0', ' ', '{', '}', '[', ']', ',', ':', '/', "'", 'é', '路', '😀', '<|im_end|>', '\u2028', '\u007f']
const ESCAPES = [
  '\\"',
  '\\\\',
  '\\/',
  '\\b',
  '\\f',
  '\\n',
  '\\r',
  '\\t',
  '\\u0041',
  '\\u00e9',
  '\\uD83D\\uDE00',
  '\\ud800',
  '\\u003e',
  '\\u0022'
]

/** Writes JSON texts with all the freedom that the grammar gives. */
class Writer {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  space(): string {
    return this.#random.chance(0.7) ? '' : this.#random.pick([' ', '  ', '\n', '\t', '\r\n', ' \t\n'])
  }

  string(): string {
    let text = ''
    for (let k = this.#random.below(12); k > 0; k--) {
      text += this.#random.pick(this.#random.chance(0.3) ? ESCAPES : LETTERS)
    }
    return `"${text}"`
  }

  /** A string that a reader keeps: half a surrogate pair is allowed in others only. */
  kept(): string {
    return this.string().replaceAll('\\ud800', '')
  }

  /** A known key, some of its letters written as escapes. */
  key(name: string): string {
    const spelled = Array.from(name, letter =>
      this.#random.chance(0.03) ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter
    )
    return `"${spelled.join('')}"`
  }

  number(): string {
    const value = this.#random.pick([
      () => this.#random.anyDouble(),
      () => this.#random.normal(),
      () => Math.fround(this.#random.normal()),
      () => this.#random.below(1e6),
      () => this.#random.below(3)
    ])()
    const text = this.#random.pick([
      () => String(value),
      () => value.toExponential(),
      () => value.toPrecision(1 + this.#random.below(25)),
      () => (Number.isInteger(value) && Math.abs(value) < 1e9 ? `${value}.0` : String(value))
    ])()
    return this.#random.chance(0.05) ? '-0.0' : text
  }

  list(items: readonly string[], open: string, close: string): string {
    const inner = items.map(item => this.space() + item + this.space()).join(',')
    return open + (inner === '' ? this.space() : inner) + close
  }

  member(key: string, value: string): string {
    return `${key}${this.space()}:${this.space()}${value}`
  }

  value(depth: number): string {
    const kind = this.#random.below(depth > 4 ? 3 : 5)
    if (kind === 0) return this.string()
    if (kind === 1) return this.number()
    if (kind === 2) return this.#random.pick(['true', 'false', 'null', '[]', '{}', '[ ]', '{\n}'])
    const items = Array.from({ length: this.#random.below(4) }, () => this.value(depth + 1))
    if (kind === 3) return this.list(items, '[', ']')
    // keys that mean something elsewhere mean nothing here
    const key = (): string => this.#random.pick(['"values"', '"traces"', '"synthetic"', this.string()])
    return this.list(
      items.map(item => this.member(key(), item)),
      '{',
      '}'
    )
  }

  trace(): string {
    const numbers = (): string => {
      const length = this.#random.below(this.#random.chance(0.1) ? 300 : 12)
      return this.list(
        Array.from({ length }, () => this.number()),
        '[',
        ']'
      )
    }
    const members = [
      this.member(this.key('values'), numbers()),
      this.member(this.key('returns'), numbers()),
      this.member(this.key('response_positions'), numbers())
    ]
    const maybe = (key: string, value: string): void => {
      if (this.#random.chance(0.7)) members.push(this.member(this.key(key), this.#random.chance(0.1) ? 'null' : value))
    }
    maybe('step', String(this.#random.below(1000) - 10))
    maybe('outcome', this.#random.pick(['"success"', '"failure"', '"\\u0073uccess"']))
    maybe('score', this.number())
    maybe('uid', this.kept())
    maybe('prediction_stage', this.kept())
    maybe('npz', this.kept())
    maybe('value_mean', this.number())
    maybe('value_rmse', this.number())
    maybe(
      'segment_texts',
      this.list(
        Array.from({ length: this.#random.below(5) }, () => this.string()),
        '[',
        ']'
      )
    )
    this.unknown(members)
    return this.list(this.#random.shuffle(members), '{', '}')
  }

  /** Adds members that no reader asks for. */
  unknown(members: string[]): void {
    for (let k = this.#random.below(3); k > 0; k--) members.push(this.member(`"unknown ${k}"`, this.value(0)))
  }
}

export function randomDocument(random: Random): RandomDocument {
  const writer = new Writer(random)
  const traces = Array.from({ length: 1 + random.below(4) }, () => writer.trace())
  const members = [writer.member(writer.key('traces'), writer.list(traces, '[', ']'))]
  const time = random.chance(0.1) ? 'null' : writer.kept()
  if (random.chance(0.8)) members.push(writer.member(writer.key('snapshot_time'), time))
  if (random.chance(0.8)) members.push(writer.member(writer.key('alignment'), writer.kept()))
  if (random.chance(0.5)) members.push(writer.member(writer.key('synthetic'), random.pick(['true', 'false', writer.value(0)])))
  writer.unknown(members)
  const text = writer.space() + writer.list(random.shuffle(members), '{', '}') + writer.space()
  let from = 0
  const places = traces.map(trace => {
    const at = text.indexOf(trace, from)
    from = at + trace.length
    return { offset: Buffer.byteLength(text.slice(0, at)), length: Buffer.byteLength(trace) }
  })
  return { text, places }
}
