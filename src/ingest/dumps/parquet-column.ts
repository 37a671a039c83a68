/**
 * A column of a Parquet file row by row: numbers of a list, or one value. Levels follow Dremel: a repetition level of 0 starts a
 * row, and a definition level below the highest is a null or an empty list.
 */
import { isUtf8 } from 'node:buffer'
import type { ByteSource } from '../../core/byte-source.js'
import { Fault } from '../../core/errors.js'
import { integersAsFloat64, widenFloat16 } from '../npz/npy.js'
import { describeColumn, type Footer } from '../parquet/footer.js'
import { columnPages, type Page } from '../parquet/pages.js'
import type { Leaf } from '../parquet/schema.js'
import type { TensorNumbers } from '../tensors/tensor.js'
import { isNumbers, OtherValue, type RecordValue } from './records.js'

/** Bytes with replacement characters for what cannot be read would be another text. */
const NO_TEXT = new OtherValue('bytes that are not UTF-8')

/** Whether a column has a list of numbers in each row, or one value; null: neither. */
export function kindOfLeaf({ element, repetition }: Leaf): 'list' | 'field' | null {
  const { type, type_length: length, logical_type: logical, converted_type: converted } = element
  const isNumber = ['BOOLEAN', 'INT32', 'INT64', 'FLOAT', 'DOUBLE'].includes(type ?? '') && converted !== 'DECIMAL'
  const isHalf = type === 'FIXED_LEN_BYTE_ARRAY' && length === 2 && logical?.type === 'FLOAT16'
  if (repetition === 1) return isNumber || isHalf ? 'list' : null
  return repetition === 0 && (isNumber || isHalf || type === 'BYTE_ARRAY') ? 'field' : null
}

/** Name of the column: that of the list, without the nodes that Parquet puts below it. */
export function nameOfLeaf({ path, repetition }: Leaf): string {
  return (repetition === 1 && path.length >= 3 ? path.slice(0, -2) : path).join('.')
}

export interface ColumnRows {
  /** The next row: its list, or its value; null where it is null. */
  next(): Promise<RecordValue>
  /** Behind the last row: reads what is left, which is checked. */
  end(): Promise<void>
  close(): Promise<void>
}

export function columnRows(source: ByteSource, footer: Footer, leaf: Leaf, file: string): ColumnRows {
  return new LeafRows(pagesOf(source, footer, leaf, file), footer, leaf, file)
}

async function* pagesOf(source: ByteSource, footer: Footer, leaf: Leaf, file: string): AsyncGenerator<Page, void, void> {
  try {
    for (const group of footer.groups) {
      const chunk = group.chunks[leaf.index]
      for await (const page of columnPages(source, group, chunk, { pages: 0, checksummed: 0 })) if (page.levels > 0) yield page
    }
  } catch (error) {
    throw error instanceof Fault ? error.at({ file }) : error
  }
}

class LeafRows implements ColumnRows {
  readonly #pages: AsyncGenerator<Page, void, void>
  readonly #leaf: Leaf
  readonly #file: string
  /** definition level of a list with an element, null or not */
  readonly #filled: number
  #page: Page | null = null
  #numbers: TensorNumbers | readonly (string | OtherValue)[] = []
  /** next level and next value of the page */
  #level = 0
  #value = 0
  #row = -1

  constructor(pages: AsyncGenerator<Page, void, void>, { schema }: Footer, leaf: Leaf, file: string) {
    this.#pages = pages
    this.#leaf = leaf
    this.#file = file
    const { path, repetition, definition } = leaf
    const list = schema.nodes.find(node => node.repetition === 1 && node.path.every((name, i) => path[i] === name))
    this.#filled = repetition === 1 ? (list?.definition ?? definition) : definition
  }

  async next(): Promise<RecordValue> {
    this.#row++
    if (!(await this.#fill())) throw this.#fault('row counts differ', `${this.#row} rows`, 'as many as the other columns have')
    return this.#leaf.repetition === 1 ? this.#list() : this.#field()
  }

  async end(): Promise<void> {
    if (await this.#fill()) throw this.#fault('row counts differ', `more than ${this.#row + 1} rows`, 'as many as the other columns have')
  }

  async close(): Promise<void> {
    await this.#pages.return()
  }

  /** Goes to the next page where this one is at its end; false: there is none. */
  async #fill(): Promise<boolean> {
    while (this.#page === null || this.#level >= this.#page.levels) {
      const step = await this.#pages.next()
      if (step.done === true) return false
      this.#page = step.value
      this.#numbers = this.#valuesOf(step.value)
      this.#level = 0
      this.#value = 0
    }
    return true
  }

  #field(): RecordValue {
    const { definition } = this.#page as Page
    const isNull = definition !== null && definition[this.#level] < this.#leaf.definition
    this.#level++
    return isNull ? null : this.#numbers[this.#value++]
  }

  async #list(): Promise<RecordValue> {
    const parts: TensorNumbers[] = []
    let isNull = false
    let isFirst = true
    // A list may go on in the next page.
    for (;;) {
      const page = this.#page as Page
      const start = this.#level
      const next = page.repetition?.indexOf(0, isFirst ? start + 1 : start) ?? start + 1
      const end = next < 0 ? page.levels : next
      if (isFirst && page.definition !== null && page.definition[start] < this.#filled) {
        isNull = page.definition[start] < this.#filled - 1
        this.#level = start + 1
        if (end > this.#level) throw this.#fault('wrong definition level', `${page.definition[start]}`, 'an empty list without elements')
      } else if (end > start) parts.push(this.#elements(page, start, end))
      isFirst = false
      if (end < page.levels || !(await this.#fill())) break
    }
    if (isNull) return null
    return parts.length === 1 ? parts[0] : joined(parts)
  }

  /** Elements of a list in one page. A null is NaN: it is no fault where the mask is 0. */
  #elements({ definition }: Page, start: number, end: number): TensorNumbers {
    const numbers = this.#numbers as TensorNumbers
    const from = this.#value
    const isNull = (i: number): boolean => definition !== null && definition[i] < this.#leaf.definition
    let nulls = 0
    for (let i = start; i < end; i++) if (isNull(i)) nulls++
    this.#level = end
    this.#value += end - start - nulls
    if (nulls === 0) return numbers.subarray(from, this.#value)
    const filled = numbers instanceof Float32Array ? new Float32Array(end - start) : new Float64Array(end - start)
    for (let i = 0, value = from; i < filled.length; i++) filled[i] = isNull(start + i) ? NaN : numbers[value++]
    return filled
  }

  #valuesOf({ values, indexes }: Page): TensorNumbers | readonly (string | OtherValue)[] {
    const { type } = this.#leaf.element
    if (type === 'BYTE_ARRAY') {
      const texts = (values as readonly Uint8Array[]).map(bytes => (isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : NO_TEXT))
      return indexes === null ? texts : Array.from(indexes, i => texts[i])
    }
    const numbers = this.#numbersOf(values)
    if (indexes === null) return numbers
    const picked = new (numbers.constructor as new (length: number) => TensorNumbers)(indexes.length)
    for (let i = 0; i < indexes.length; i++) picked[i] = numbers[indexes[i]]
    return picked
  }

  #numbersOf(values: Page['values']): TensorNumbers {
    if (values instanceof BigInt64Array)
      return integersAsFloat64(values, 'parquet', { file: this.#file, array: describeColumn(this.#leaf) })
    if (isNumbers(values)) return values
    if (this.#leaf.element.type === 'BOOLEAN') return Uint8Array.from(values as readonly boolean[], Number)
    if (values.length === 0) return new Float64Array(0)
    const halves = new Uint16Array(values.length)
    for (let i = 0; i < halves.length; i++) {
      const [low, high] = values[i] as Uint8Array
      halves[i] = low | (high << 8)
    }
    return widenFloat16(halves)
  }

  #fault(problem: string, found: string, expected: string): Fault {
    const place = { file: this.#file, trace: this.#row, array: describeColumn(this.#leaf) }
    return new Fault({ format: 'parquet', problem, found, expected, place })
  }
}

function joined(parts: readonly TensorNumbers[]): TensorNumbers {
  if (parts.length === 0) return new Float64Array(0)
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  // A part with a null has doubles where the others have integers.
  const widest = parts.find(part => part instanceof Float64Array) ?? parts[0]
  const all = new (widest.constructor as new (length: number) => TensorNumbers)(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
