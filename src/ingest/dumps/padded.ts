/**
 * Padded batches: arrays of B rows, [B, T] for what every token of a response has, [B] for what a trajectory has. Every row is
 * a sample. Mask, attention mask and token ids may be [B, P + T], with the prompt before the response.
 */
import { Fault, printable, type Place } from '../../core/errors.js'
import { shapeText } from '../npz/encode.js'
import type { SampleArray } from '../../schema/samples.js'
import { SAMPLE_KEY_NAMES, type SampleKeyName, type SampleKeys } from '../../schema/sample-keys.js'
import type { TensorNumbers } from '../tensors/tensor.js'
import type { DumpPart, NamedField, NamedNumbers, PlacedRow, RawRow, Wanted } from './part.js'
import { arraysOf, checkFound, endWords, findNames, isList, nearNotes, type FoundNames } from './records.js'
import { BLOCK_BYTES, type ArrayTable, type RowReader, type StoredArray, type TableColumn } from './table.js'

/** Most rows of a batch. No batch has so many, and a shape may state any number. */
const MAX_ROWS = 2 ** 24

/** @throws Fault where the file has no array of tokens, or arrays of shapes that do not fit */
export async function openPadded(table: ArrayTable, keys: SampleKeys): Promise<DumpPart> {
  const { entries, refused, format, place } = table
  const names = [...entries.keys(), ...refused.keys()]
  const columns = columnsOf(table, keys)
  const found = findNames(keys, (name, kind) => {
    const entry = entries.get(name)
    if (entry === undefined) return false
    if (kind === 'field') return entry.columnLength !== null
    return entry.array !== null && entry.array.shape.length === 2 && (entry.array.shape[1] !== 1 || columns === 1)
  })
  const unread = unreadOf(table, keys, found)
  checkFound(found, keys, names, format, place)
  const rows = checkShapes(table, found, columns)
  const fields = await readFields(table, found)
  const [step] = fields.get('step')?.values ?? []
  const batch = new PaddedBatch(table, found, fields, rows, columns)
  return {
    format,
    kind: 'padded batch',
    mask: found.get('response_mask') ?? null,
    end: endWords(found, true),
    notes: [...nearNotes(found, keys, names), ...unread],
    rules: { padded: true, exact: false },
    step: typeof step === 'number' && Number.isSafeInteger(step) && step >= 0 ? step : null,
    rank: null,
    rows,
    arrays: new Map(arraysOf(found).map(key => [key, batch.array(key).width])),
    hasTokenIds: found.has('token_ids'),
    order: null,
    row: null,
    all: wanted => batch.all(wanted)
  }
}

/** T: columns of the first array of tokens; 1 where no array has more than one. */
function columnsOf({ entries }: ArrayTable, keys: SampleKeys): number {
  for (const key of ['values', 'returns', ...SAMPLE_KEY_NAMES] as const) {
    if (!isList(key) || key === 'response_mask' || key === 'attention_mask' || key === 'token_ids') continue
    for (const name of keys[key]) {
      const shape = entries.get(name)?.array?.shape
      if (shape?.length === 2 && shape[1] !== 1) return shape[1]
    }
  }
  return 1
}

/** Notes of fields that cannot be read. @throws the fault of an array of tokens that cannot */
function unreadOf({ refused }: ArrayTable, keys: SampleKeys, found: FoundNames): string[] {
  return SAMPLE_KEY_NAMES.flatMap(key => {
    const name = found.has(key) ? undefined : keys[key].find(candidate => refused.has(candidate))
    const error = name === undefined ? undefined : refused.get(name)
    if (name === undefined || error === undefined) return []
    if (isList(key)) throw error
    return [`${printable(name)} is not read: ${error.message}`]
  })
}

/** B. @throws Fault for an array of another shape */
function checkShapes(table: ArrayTable, found: FoundNames, columns: number): number {
  const wrong = (name: string, shape: readonly number[], expected: string): Fault => {
    const place: Place = { ...table.place, array: name }
    return new Fault({ format: table.format, problem: 'wrong shape', found: shapeText(shape), expected, place })
  }
  const arrays = [...found].flatMap(([key, name]) => {
    const array = isList(key) ? table.entries.get(name)?.array : null
    return array === null || array === undefined ? [] : [{ key, name, shape: array.shape }]
  })
  const [first] = arrays
  const [rows] = first.shape
  if (columns === 0) throw wrong(first.name, first.shape, 'at least one column')
  if (rows > MAX_ROWS) throw wrong(first.name, first.shape, `at most ${MAX_ROWS} rows`)
  for (const { key, name, shape } of arrays) {
    const mayHavePrompt = key === 'response_mask' || key === 'attention_mask' || key === 'token_ids'
    if (shape[0] === rows && (shape[1] === columns || (mayHavePrompt && shape[1] > columns))) continue
    throw wrong(name, shape, `${shapeText([rows, columns])}${mayHavePrompt ? ', or more columns with the prompt before them' : ''}`)
  }
  for (const [key, name] of found) {
    const length = isList(key) ? null : table.entries.get(name)?.columnLength
    if (typeof length === 'number' && length !== 1 && length !== rows) throw wrong(name, [length], `${shapeText([rows])}, one a row`)
  }
  return rows
}

interface Field {
  readonly name: string
  readonly values: TableColumn
}

async function readFields({ entries }: ArrayTable, found: FoundNames): Promise<ReadonlyMap<SampleKeyName, Field>> {
  const fields = new Map<SampleKeyName, Field>()
  for (const [key, name] of found) {
    const entry = entries.get(name)
    if (!isList(key) && entry !== undefined) fields.set(key, { name, values: await entry.column() })
  }
  return fields
}

class PaddedBatch {
  readonly #table: ArrayTable
  readonly #found: FoundNames
  readonly #fields: ReadonlyMap<SampleKeyName, Field>
  readonly #rows: number
  readonly #columns: number

  constructor(table: ArrayTable, found: FoundNames, fields: ReadonlyMap<SampleKeyName, Field>, rows: number, columns: number) {
    this.#table = table
    this.#found = found
    this.#fields = fields
    this.#rows = rows
    this.#columns = columns
  }

  array(key: SampleKeyName): StoredArray {
    const array = this.#table.entries.get(this.#found.get(key) ?? '')?.array
    if (array === null || array === undefined) throw new Error(`no array for ${key}`)
    return array
  }

  async *all(wanted: Wanted): AsyncGenerator<PlacedRow, void, void> {
    const blocks = new Blocks(
      this.#needed(wanted).map(key => ({ key, name: this.#found.get(key) ?? '', array: this.array(key) })),
      this.#rows
    )
    try {
      let row = 0
      for await (const block of blocks.all()) {
        for (let i = 0; i < block.count; i++, row++) {
          const index = row
          const at = i
          yield { place: { ...this.#table.place, trace: index }, read: () => this.#rowOf(block, at, index) }
        }
      }
    } finally {
      await blocks.close()
    }
  }

  /** Arrays that are read: what is wanted, what the end of a response follows from, and the score. */
  #needed({ arrays, tokenIds }: Wanted): readonly SampleKeyName[] {
    const found = this.#found
    // Every array of tokens is read where padding is known by its zeros alone.
    const byZeros = !found.has('attention_mask') && !found.has('response_length')
    const summed = found.has('score') ? null : found.has('token_scores') ? 'token_scores' : 'token_rewards'
    return [...found.keys()].filter(key => {
      if (!isList(key)) return false
      if (key === 'token_ids') return tokenIds
      if (key === 'token_scores') return summed === key
      if (key === 'response_mask' || key === 'attention_mask' || key === 'response_positions') return true
      return byZeros || arrays.has(key as SampleArray) || summed === key || this.#isOnlyLength(key, arrays)
    })
  }

  /** One array is read at least: it tells the number of tokens. */
  #isOnlyLength(key: SampleKeyName, wanted: ReadonlySet<SampleArray>): boolean {
    const arrays = arraysOf(this.#found)
    return key === arrays[0] && !arrays.some(name => wanted.has(name))
  }

  #rowOf({ arrays }: Block, at: number, row: number): RawRow {
    const list = (key: SampleKeyName): NamedNumbers | null => {
      const array = arrays.get(key)
      if (array === undefined) return null
      return { name: array.name, data: array.data.subarray(at * array.columns, (at + 1) * array.columns) }
    }
    const field = (key: SampleKeyName): NamedField | null => {
      const column = this.#fields.get(key)
      if (column === undefined) return null
      return { name: column.name, value: column.values[column.values.length === 1 ? 0 : row] }
    }
    const tokens = new Map<SampleArray, NamedNumbers>()
    for (const key of arraysOf(this.#found)) {
      const array = list(key)
      if (array !== null) tokens.set(key, array)
    }
    return {
      arrays: tokens,
      mask: list('response_mask'),
      attention: list('attention_mask'),
      tokenIds: list('token_ids'),
      positions: list('response_positions'),
      tokenScores: list('token_scores'),
      responseLength: field('response_length'),
      totalLength: this.#hasPrompt() ? field('total_length') : null,
      step: field('step'),
      outcome: field('outcome'),
      score: field('score'),
      uid: field('uid'),
      truncated: field('truncated'),
      rank: null
    }
  }

  /** Whether the arrays are as long as the token ids of prompt and response. */
  #hasPrompt(): boolean {
    return this.#found.has('token_ids') && this.array('token_ids').shape[1] === this.#columns
  }
}

interface BlockArray {
  readonly name: string
  readonly columns: number
  readonly data: TensorNumbers
}

/** Some rows of every array. */
interface Block {
  readonly count: number
  readonly arrays: ReadonlyMap<SampleKeyName, BlockArray>
}

/** Reads the arrays side by side, a block of rows ahead of the caller. */
class Blocks {
  readonly #readers: readonly { readonly key: SampleKeyName; readonly name: string; readonly columns: number; readonly reader: RowReader }[]
  readonly #rows: number
  readonly #step: number
  #ahead: Promise<unknown> = Promise.resolve()

  constructor(arrays: readonly { readonly key: SampleKeyName; readonly name: string; readonly array: StoredArray }[], rows: number) {
    this.#readers = arrays.map(({ key, name, array }) => ({ key, name, columns: array.shape[1], reader: array.rows() }))
    this.#rows = rows
    const widest = Math.max(1, ...arrays.map(({ array }) => array.shape[1] * array.itemSize))
    this.#step = Math.max(1, Math.floor(BLOCK_BYTES / widest))
  }

  async *all(): AsyncGenerator<Block, void, void> {
    let ahead = this.#read(0)
    for (let row = 0; row < this.#rows; row += this.#step) {
      const block = await ahead
      ahead = this.#read(row + this.#step)
      yield block
    }
    await ahead
    await Promise.all(this.#readers.map(({ reader }) => reader.end()))
  }

  #read(from: number): Promise<Block> {
    const count = Math.max(0, Math.min(this.#step, this.#rows - from))
    const reading = this.#block(count)
    this.#ahead = reading.catch(() => null)
    return reading
  }

  async #block(count: number): Promise<Block> {
    const read = this.#readers.map(
      async ({ key, name, columns, reader }) => [key, { name, columns, data: await reader.next(count) }] as const
    )
    return { count, arrays: new Map(await Promise.all(read)) }
  }

  async close(): Promise<void> {
    await this.#ahead
    await Promise.all(this.#readers.map(({ reader }) => reader.close()))
  }
}
