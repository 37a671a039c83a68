/**
 * History rows as the server holds them: JSON texts in step order, which may hold bare NaN, Infinity and -Infinity, repeat a
 * step, leave steps out and carry strings, objects and histograms. Keys of nested objects are not spelled out as the real
 * server does (`a.b`): a key stands for all that is below it.
 */
import type { Random } from '../random.js'

/** Row texts by position. A list of strings is one; so is something that makes each row when asked. */
export interface RowSource {
  readonly length: number
  at(index: number): string | undefined
}

export type Row = Readonly<Record<string, unknown>>

/** A string, which stays, or a number that JSON does not know. */
const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g

/** A row's values; non-finite numbers become the strings "NaN", "Infinity", "-Infinity", as W&B writes them in a summary. */
export function parseRow(text: string): Row {
  const row: unknown = JSON.parse(text.replace(STRING_OR_NON_FINITE, part => (part.startsWith('"') ? part : `"${part}"`)))
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as Row
  throw new Error(`not an object: ${text.slice(0, 80)}`)
}

/** What `historyKeys` says of one key. */
export interface KeyFacts {
  readonly typeCounts: Array<{ readonly type: string; count: number }>
  previousValue: unknown
}

function typeOf(value: unknown): string {
  if (value === null) return 'nil'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'object') return '_type' in value && typeof value._type === 'string' ? value._type : 'map'
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity' ? 'number' : typeof value
}

/** The rows of one run with an index of their steps; texts stay where they come from. */
export class History {
  readonly #first: RowSource
  readonly #appended: string[] = []
  readonly #steps: number[] = []
  readonly #keys = new Map<string, KeyFacts>()

  constructor(rows: RowSource) {
    this.#first = rows
    for (let i = 0; i < rows.length; i++) this.#index(this.text(i))
  }

  get length(): number {
    return this.#steps.length
  }

  get lastStep(): number | null {
    return this.#steps.at(-1) ?? null
  }

  text(index: number): string {
    const text = index < this.#first.length ? this.#first.at(index) : this.#appended[index - this.#first.length]
    if (text === undefined) throw new RangeError(`no row ${index}`)
    return text
  }

  append(rows: readonly string[]): void {
    for (const text of rows) {
      this.#index(text)
      this.#appended.push(text)
    }
  }

  /** `count` rows after the last one: its values again, a step and a second later each. */
  grow(count: number): void {
    for (let k = 0; k < count; k++) {
      const {
        _step: step = -1,
        _timestamp: time = 0,
        _runtime: runtime = 0,
        ...rest
      } = this.length === 0 ? {} : parseRow(this.text(this.length - 1))
      this.append([
        JSON.stringify({
          _step: Number(step) + 1,
          _timestamp: Number(time) + 1,
          _runtime: Number(runtime) + 1,
          ...rest
        })
      ])
    }
  }

  /** Positions of the rows with from <= step < to: the first, and the one after the last. */
  window(from: number, to: number): readonly [first: number, end: number] {
    const first = this.#firstAtOrAfter(from)
    return [first, Math.max(first, this.#firstAtOrAfter(to))]
  }

  keyFacts(): Record<string, KeyFacts> {
    return Object.fromEntries(this.#keys)
  }

  /** The last value of every key. */
  summary(): Record<string, unknown> {
    return Object.fromEntries([...this.#keys].map(([key, { previousValue }]) => [key, previousValue]))
  }

  #index(text: string): void {
    const row = parseRow(text)
    const step = row._step
    if (typeof step !== 'number' || !Number.isInteger(step)) throw new Error(`no integer _step: ${text.slice(0, 80)}`)
    const last = this.lastStep
    if (last !== null && step < last) throw new Error(`step ${step} after step ${last}: W&B's client drops such a row`)
    this.#steps.push(step)
    for (const [key, value] of Object.entries(row)) {
      const type = typeOf(value)
      const facts = this.#keys.get(key) ?? { typeCounts: [], previousValue: value }
      const counted = facts.typeCounts.find(c => c.type === type)
      if (counted === undefined) facts.typeCounts.push({ type, count: 1 })
      else counted.count++
      facts.previousValue = value
      this.#keys.set(key, facts)
    }
  }

  #firstAtOrAfter(step: number): number {
    let low = 0
    let high = this.#steps.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#steps[middle] < step) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** `count` of the positions at random, in order; all of them where there are no more than that. */
export function sample(positions: readonly number[], count: number, random: Random): readonly number[] {
  if (positions.length <= count) return positions
  const kept: number[] = []
  positions.forEach((position, i) => {
    if (random.unit() * (positions.length - i) < count - kept.length) kept.push(position)
  })
  return kept
}

/** `n` rows of a few keys, at steps 0 to n - 1, each made when it is asked for. */
export function manyRows(n: number): RowSource {
  return {
    length: n,
    at: i =>
      i < 0 || i >= n
        ? undefined
        : `{"_step": ${i}, "_timestamp": ${1_780_000_000 + i * 30}.25, "_runtime": ${i * 30}.25, ` +
          `"critic/score/mean": ${(((i * 7919) % 1000) / 1000).toFixed(3)}, "response_length/mean": ${1000 + (i % 977)}.5, ` +
          `"actor/lr": ${i % 2 === 0 ? '1e-06' : '1e-07'}}`
  }
}
