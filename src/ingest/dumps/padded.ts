/**
 * Padded batches: arrays of B rows, [B, T] for what every token of a response has, [B] for what a trajectory has. Every row is
 * a sample. Mask, attention mask and token ids may be [B, P + T], with the prompt before the response.
 */
import { Fault, printable, type Place } from '../../core/errors.js'
import { shapeText } from '../npz/encode.js'
import type { SampleArray } from '../../schema/samples.js'
import { SAMPLE_KEY_NAMES, type SampleKeyName, type SampleKeys } from '../../schema/sample-keys.js'
import { rawRow, type DumpPart, type FieldOfRow, type NamedNumbers, type PlacedRow, type RawRow, type Wanted } from './part.js'
import { tokenArraysOf, checkFound, endWords, findNames, isList, nearNotes, type FoundNames } from './records.js'
import { MAX_TOKENS } from './response.js'
import { RowBlocks, type RowBlock } from './row-blocks.js'
import type { ArrayTable, StoredArray, TableColumn } from './table.js'

/** Most rows of a batch. No batch has so many, and a shape may state any number. */
const MAX_ROWS = 2 ** 24

/** @throws Fault where the file has no array of tokens, or arrays of shapes that do not fit */
export async function openPadded(table: ArrayTable, keys: SampleKeys): Promise<DumpPart> {
  const { entries, refused, format, place } = table
  const names = [...entries.keys(), ...refused.keys()]
  const columns = columnsOf(table, keys)
  const named = findNames(keys, (name, kind) => {
    const entry = entries.get(name)
    if (entry === undefined) return false
    if (kind === 'field') return entry.columnLength !== null
    return entry.array !== null && entry.array.shape.length === 2 && (entry.array.shape[1] !== 1 || columns === 1)
  })
  const { found, notes } = withoutUnfit(table, keys, named)
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
    notes: [...nearNotes(found, keys, names), ...notes],
    rules: { padded: true, exact: false },
    step: typeof step === 'number' && Number.isSafeInteger(step) && step >= 0 ? step : null,
    rank: null,
    rows,
    arrays: new Map(tokenArraysOf(found).map(key => [key, batch.array(key).width])),
    hasTokenIds: found.has('token_ids'),
    order: null,
    scoresByIndex: null,
    row: null,
    all: wanted => batch.all(wanted)
  }
}

/** T: columns of the first array of tokens; 1 where no array has more than one. */
function columnsOf({ entries }: ArrayTable, keys: SampleKeys): number {
  for (const key of ['values', 'returns', ...SAMPLE_KEY_NAMES] as const) {
    if (!isList(key) || mayHavePrompt(key)) continue
    for (const name of keys[key]) {
      const shape = entries.get(name)?.array?.shape
      if (shape?.length === 2 && shape[1] !== 1) return shape[1]
    }
  }
  return 1
}

/** What a trace is made of. Anything else that cannot be read, or is of another shape, is left out with a note. */
const NEEDED: ReadonlySet<SampleKeyName> = new Set(['values', 'returns', 'response_mask', 'attention_mask', 'response_length'] as const)

/** @throws the fault of a needed array that cannot be read */
function withoutUnfit(
  { entries, refused }: ArrayTable,
  keys: SampleKeys,
  named: FoundNames
): { readonly found: FoundNames; readonly notes: readonly string[] } {
  const found = new Map(named)
  const notes: string[] = []
  const shapeOf = (name: string | undefined): readonly number[] => entries.get(name ?? '')?.array?.shape ?? []
  const [rows, columns] = shapeOf(tokenArraysOf(named).map(key => named.get(key))[0])
  for (const key of SAMPLE_KEY_NAMES) {
    const name = named.get(key)
    const error = name === undefined ? refused.get(keys[key].find(candidate => refused.has(candidate)) ?? '') : undefined
    if (error !== undefined) {
      if (NEEDED.has(key)) throw error
      notes.push(`not read: ${error.message}`)
    }
    if (name === undefined || NEEDED.has(key) || !isList(key) || mayHavePrompt(key)) continue
    const shape = shapeOf(name)
    if (shape[0] === rows && shape[1] === columns) continue
    found.delete(key)
    notes.push(`${printable(name)} is not read: its shape is ${shapeText(shape)}, not ${shapeText([rows, columns])}`)
  }
  return { found, notes }
}

/** Whether an array may have the columns of the prompt before those of the response. */
function mayHavePrompt(key: SampleKeyName): boolean {
  return key === 'response_mask' || key === 'attention_mask' || key === 'token_ids'
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
  for (const { name, shape } of arrays) if (shape[1] > MAX_TOKENS) throw wrong(name, shape, `at most ${MAX_TOKENS} columns`)
  for (const { key, name, shape } of arrays) {
    const isWider = mayHavePrompt(key) && shape[1] > columns
    if (shape[0] === rows && (shape[1] === columns || isWider)) continue
    throw wrong(name, shape, `${shapeText([rows, columns])}${mayHavePrompt(key) ? ', or more columns with the prompt before them' : ''}`)
  }
  for (const [key, name] of found) {
    const length = isList(key) ? null : table.entries.get(name)?.columnLength
    if (typeof length === 'number' && length !== 1 && length !== rows) throw wrong(name, [length], `${shapeText([rows])}, one a row`)
  }
  return rows
}

interface BatchField {
  readonly name: string
  readonly values: TableColumn
}

async function readFields({ entries }: ArrayTable, found: FoundNames): Promise<ReadonlyMap<SampleKeyName, BatchField>> {
  const fields = new Map<SampleKeyName, BatchField>()
  for (const [key, name] of found) {
    const entry = entries.get(name)
    if (!isList(key) && entry !== undefined) fields.set(key, { name, values: await entry.column() })
  }
  return fields
}

class PaddedBatch {
  readonly #table: ArrayTable
  readonly #found: FoundNames
  readonly #fields: ReadonlyMap<SampleKeyName, BatchField>
  readonly #rows: number
  readonly #columns: number

  constructor(table: ArrayTable, found: FoundNames, fields: ReadonlyMap<SampleKeyName, BatchField>, rows: number, columns: number) {
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
    const blocks = new RowBlocks(
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
    const arrays = tokenArraysOf(this.#found)
    return key === arrays[0] && !arrays.some(name => wanted.has(name))
  }

  #rowOf({ arrays }: RowBlock, at: number, row: number): RawRow {
    const list = (key: SampleKeyName): NamedNumbers | null => {
      const array = arrays.get(key)
      if (array === undefined) return null
      return { name: array.name, data: array.data.subarray(at * array.columns, (at + 1) * array.columns) }
    }
    const field = (key: SampleKeyName): FieldOfRow | null => {
      const column = this.#fields.get(key)
      if (column === undefined) return null
      return { name: column.name, value: column.values[column.values.length === 1 ? 0 : row] }
    }
    return rawRow(tokenArraysOf(this.#found), list, field, this.#hasPrompt() ? field('total_length') : null)
  }

  /** Whether the arrays are as long as the token ids of prompt and response. */
  #hasPrompt(): boolean {
    return this.#found.has('token_ids') && this.array('token_ids').shape[1] === this.#columns
  }
}
