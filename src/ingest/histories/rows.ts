/**
 * Reads one row after another into columns. Every byte is checked against JSON's grammar. Values of other keys are
 * skipped, and no object is created for a row.
 *
 * For a wanted key, nulls and non-numbers are counted, and non-finite numbers are counted by spelling. The step must be
 * an integer. A timestamp or global step that is missing, null or not finite is NaN; any other value that is no number is
 * a fault there. Rows often lack a global step: rows in which it is null or not finite are listed.
 *
 * Digits that no double holds are a fault in a step. An integer with such digits under another wanted key is counted.
 * Objects and lists are counted under every key.
 */
import { printable, type Fault } from '../../core/errors.js'
import type { HistoryStudy } from '../../schema/histories.js'
import { scanColon } from '../json/skip.js'
import { Ascii } from '../json/text.js'
import { ColumnBuilder, growingDoubles, growingInts } from './columns.js'
import { isExactInteger, isInexactInteger } from './exact.js'
import { KeyIndex, MAX_KEYS, ROW_START } from './key-index.js'
import type { RowText } from './row-text.js'
import type { InexactIntegers, NestedValues, RunHistory } from './types.js'
import { ValueKind, ValueReader } from './values.js'

/** Names of a row's coordinates; null: the rows do not have that one. */
export type HistoryKeys = HistoryStudy['keys']

/** The columns of a history, without their origin. */
export type HistoryRows = Pick<
  RunHistory,
  'rows' | 'step' | 'timestamp' | 'globalStep' | 'unusableGlobalSteps' | 'columns' | 'inexact' | 'nested'
>

/** 1 GiB of rows of 64 bytes; their coordinates take 400 MB. */
export const MAX_ROWS = 1 << 24

/** Most numbers kept for all wanted keys together: 12 bytes each, 800 MB. */
export const MAX_NUMBERS = 1 << 26

/** Number of digits that are kept for a message. */
const MAX_WRITTEN = 40

const STEP_EXPECTED = `an integer from 0 to ${Number.MAX_SAFE_INTEGER}`

/** How the reader uses a key of the file: as one or more coordinates, as a column, or as both. */
interface KeyUse {
  readonly key: string
  step: boolean
  timestamp: boolean
  globalStep: boolean
  column: ColumnBuilder | null
}

export interface RowLimits {
  readonly rows: number
  readonly numbers: number
}

export class RowReader {
  readonly #text: RowText
  readonly #values: ValueReader
  readonly #slots: readonly KeyUse[]
  readonly #keys: KeyIndex
  readonly #stepKey: string
  readonly #columns: readonly ColumnBuilder[]
  readonly #limits: RowLimits
  readonly #step = growingDoubles()
  readonly #timestamp = growingDoubles()
  readonly #globalStep = growingDoubles()
  readonly #unusableGlobalSteps = growingInts()
  readonly #inexact = new Map<string, InexactIntegers>()
  #nested: NestedValues | null = null
  #rows = 0
  #numbers = 0
  /** coordinates of the current row; the step is -1 until it is read */
  #rowStep = -1
  #rowTimestamp = NaN
  #rowGlobalStep = NaN

  constructor(text: RowText, keys: HistoryKeys, wanted: readonly string[], limits: RowLimits) {
    this.#text = text
    this.#values = new ValueReader(text)
    this.#stepKey = keys.step
    this.#limits = limits
    const slots = new Map<string, KeyUse>()
    const slotOf = (key: string): KeyUse => {
      const slot = slots.get(key) ?? { key, step: false, timestamp: false, globalStep: false, column: null }
      slots.set(key, slot)
      return slot
    }
    slotOf(keys.step).step = true
    if (keys.timestamp !== null) slotOf(keys.timestamp).timestamp = true
    if (keys.global_step !== null) slotOf(keys.global_step).globalStep = true
    this.#columns = wanted.map(key => (slotOf(key).column ??= new ColumnBuilder(key)))
    this.#slots = [...slots.values()]
    this.#keys = new KeyIndex(new Map(this.#slots.map(({ key }, number) => [key, number])))
  }

  /** Reads the row at `at`. Returns the offset behind its `}`. @throws Fault */
  read(at: number): number {
    const text = this.#text
    const { bytes } = text
    if (this.#rows === this.#limits.rows) {
      throw text.fault('too many rows', `row ${this.#rows + 1}`, `at most ${this.#limits.rows}`, text.place(at))
    }
    if (bytes[at] !== Ascii.OpenBrace) throw this.#noRow(at)
    this.#rowStep = -1
    this.#rowTimestamp = NaN
    this.#rowGlobalStep = NaN
    this.#keys.beginRow()
    let i = text.skipSpace(at + 1)
    if (bytes[i] !== Ascii.CloseBrace) i = this.#readMembers(i)
    if (this.#rowStep < 0) {
      // In the very first row, the study's key is as likely to be wrong as the file.
      const expected = this.#rows === 0 ? `${STEP_EXPECTED}, under the key that histories.keys.step names` : STEP_EXPECTED
      throw text.fault('missing step', `no key "${printable(this.#stepKey)}"`, expected, text.place(at))
    }
    this.#step.push(this.#rowStep)
    this.#timestamp.push(this.#rowTimestamp)
    this.#globalStep.push(this.#rowGlobalStep)
    this.#rows++
    return i + 1
  }

  /** Ends the reading and returns the columns. */
  finish(): HistoryRows {
    // a key that is wanted twice has one builder
    const finished = new Map([...new Set(this.#columns)].map(column => [column.key, column.finish()]))
    return {
      rows: this.#rows,
      step: this.#step.join(),
      timestamp: this.#timestamp.join(),
      globalStep: this.#globalStep.join(),
      unusableGlobalSteps: this.#unusableGlobalSteps.join(),
      columns: this.#columns.flatMap(({ key }) => finished.get(key) ?? []),
      inexact: [...this.#inexact.values()],
      nested: this.#nested
    }
  }

  /** Reads from a row's first key on. Returns the offset of its closing brace. */
  #readMembers(at: number): number {
    const text = this.#text
    const { bytes } = text
    const keys = this.#keys
    const row = this.#rows + 1
    let previous = ROW_START
    let i = at
    for (let count = 1; ; count++) {
      if (bytes[i] !== Ascii.Quote) throw text.malformed(i, count === 1 ? '"}" or a key' : 'a key')
      if (count > MAX_KEYS) throw text.fault('too many keys', `key ${count}`, `at most ${MAX_KEYS}`, text.place(i))
      const id = keys.find(text, i, previous)
      if (!keys.firstIn(row, id)) {
        throw text.fault('duplicate key', `"${printable(keys.textOf(id))}"`, 'it once', text.place(i))
      }
      previous = id
      i = keys.end
      if (bytes[i] === Ascii.Colon && bytes[i + 1] === Ascii.Space && bytes[i + 2] > Ascii.Space) i += 2
      else i = scanColon(text, i)
      const slot = keys.slot(id)
      if (bytes[i] === Ascii.OpenBrace || bytes[i] === Ascii.OpenBracket) this.#countNested(id)
      if (slot < 0) i = this.#values.skip(i)
      else {
        this.#keep(i, this.#slots[slot])
        i = this.#values.end
      }
      if (bytes[i] <= Ascii.Space) i = text.skipSpace(i)
      if (bytes[i] === Ascii.CloseBrace) return i
      if (bytes[i] !== Ascii.Comma) throw text.malformed(i, '"," or "}"')
      if (bytes[++i] === Ascii.Space) i++
      if (bytes[i] <= Ascii.Space) i = text.skipSpace(i)
    }
  }

  /** Reads a value that is wanted as a coordinate, a column, or both. */
  #keep(at: number, slot: KeyUse): void {
    const kind = this.#values.read(at)
    const value = this.#values.number
    const { column } = slot
    if (column !== null) {
      if (kind === ValueKind.Number) {
        this.#countNumber(at)
        column.add(this.#rows, value)
      } else if (kind === ValueKind.NonFinite) {
        this.#countNumber(at)
        column.addNonFinite(this.#rows, this.#values.spelling)
      } else if (kind === ValueKind.Null) column.nulls++
      else column.notNumbers++
    }
    if (slot.step) {
      const isStep = kind === ValueKind.Number && Number.isSafeInteger(value) && value >= 0
      if (!isStep || !isExactInteger(this.#text.bytes, at, this.#values.end, value)) throw this.#wrong('step', slot, at, STEP_EXPECTED)
      // -0 becomes the step 0
      this.#rowStep = value + 0
    }
    if (slot.timestamp || slot.globalStep) {
      if (kind === ValueKind.NotNumber) {
        throw this.#wrong(slot.timestamp ? 'timestamp' : 'global step', slot, at, 'a number, null, or no such key')
      }
      const coordinate = kind === ValueKind.Number ? value : NaN
      if (slot.timestamp) this.#rowTimestamp = coordinate
      if (slot.globalStep) {
        this.#rowGlobalStep = coordinate
        if (kind !== ValueKind.Number) this.#unusableGlobalSteps.push(this.#rows)
      }
    }
    // Every smaller integer is a double.
    if (kind === ValueKind.Number && Math.abs(value) > Number.MAX_SAFE_INTEGER) this.#countInexact(at, slot.key, value)
  }

  #countInexact(at: number, key: string, value: number): void {
    const { bytes, line } = this.#text
    const { end } = this.#values
    if (!isInexactInteger(bytes, at, end, value)) return
    const before = this.#inexact.get(key)
    const first = before ?? { line, written: bytes.toString('latin1', at, Math.min(end, at + MAX_WRITTEN)) }
    this.#inexact.set(key, { ...first, key, count: (before?.count ?? 0) + 1 })
  }

  #countNested(id: number): void {
    this.#nested ??= { count: 0, line: this.#text.line, key: this.#keys.textOf(id) }
    this.#nested = { ...this.#nested, count: this.#nested.count + 1 }
  }

  #countNumber(at: number): void {
    if (this.#numbers === this.#limits.numbers) {
      const found = `number ${this.#numbers + 1} of the wanted keys`
      throw this.#text.fault('too many numbers', found, `at most ${this.#limits.numbers}`, this.#text.place(at))
    }
    this.#numbers++
  }

  /** The fault of a coordinate whose value stands from `at` to the end of the last value read. */
  #wrong(what: string, { key }: KeyUse, at: number, expected: string): Fault {
    const text = this.#text
    // a text may be long; a message prints no more than 400 bytes of it
    const raw = text.bytes.toString('utf8', at, Math.min(this.#values.end, at + 400))
    return text.fault(`wrong ${what}`, `${printable(raw)} as "${printable(key)}"`, expected, text.place(at))
  }

  #noRow(at: number): Fault {
    const text = this.#text
    const type = text.valueType(at)
    if (type === null) return text.malformed(at, '"{"')
    return text.fault('wrong type', type, 'an object', text.place(at))
  }
}
