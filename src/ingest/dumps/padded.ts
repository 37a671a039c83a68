/**
 * Padded batches: arrays of B rows, [B, T] for what every response token has and [B] for what a trajectory has. Every row is a
 * sample. Its response ends where the attention mask or the lengths say; where neither is there, trailing columns in which
 * every array of the row is 0 are padding.
 *
 * A mask of P + T columns covers prompt and response: its last T columns belong to the response.
 */
import { Fault, nearest, printable, type Place } from '../../core/errors.js'
import { SAMPLE_ARRAYS, type DumpFacts, type LeftOut, type Sample, type SampleArray, type SampleNumbers } from '../../schema/samples.js'
import type { SampleKeyName, SampleKeys } from '../../schema/sample-keys.js'
import { rowFields, type FieldColumns } from './fields.js'
import { endOfNonZero, NO_TRAINED_TOKEN, readMask } from './mask.js'
import type { ArrayTable, RowReader, StoredArray } from './table.js'

/** Which array of the file is what. */
export interface PaddedPlan {
  readonly rows: number
  /** T: columns of the response block */
  readonly columns: number
  readonly arrays: ReadonlyMap<SampleArray, { readonly name: string; readonly array: StoredArray }>
  readonly mask: Named | null
  readonly attention: Named | null
  readonly lengths: Named | null
  readonly tokenIds: Named | null
  readonly facts: DumpFacts
}

interface Named {
  readonly name: string
  readonly array: StoredArray
}

/** The plan of a batch; null: the file holds no array of response tokens, so it is none. */
export function planPadded(table: ArrayTable, keys: SampleKeys): PaddedPlan | null {
  const find = (key: SampleKeyName, axes: number): Named | null => {
    for (const name of keys[key]) {
      const array = table.arrays.get(name)
      if (array !== undefined && array.width !== null && array.shape.length === axes) return { name, array }
    }
    return null
  }
  const found = SAMPLE_ARRAYS.flatMap(key => {
    const named = find(key, 2)
    return named === null ? [] : [[key, named] as const]
  })
  if (found.length === 0) return null
  const [[, first]] = found
  const [rows, columns] = first.array.shape
  for (const [, { name, array }] of found) {
    if (array.shape[0] === rows && array.shape[1] === columns) continue
    throw wrongShape(table, name, array, `(${rows}, ${columns}), the shape of ${printable(first.name)}`)
  }
  const block = (key: SampleKeyName): Named | null => {
    const named = find(key, 2)
    if (named === null || (named.array.shape[0] === rows && named.array.shape[1] >= columns)) return named
    throw wrongShape(table, named.name, named.array, `${rows} rows of ${columns} columns, or more with the prompt before them`)
  }
  const mask = block('response_mask')
  const attention = block('attention_mask')
  const lengths = find('response_length', 1)
  return {
    rows,
    columns,
    arrays: new Map(found),
    mask,
    attention,
    lengths,
    tokenIds: block('token_ids'),
    facts: {
      kind: 'padded batch',
      mask: mask?.name ?? null,
      end: attention?.name ?? lengths?.name ?? 'columns behind it that are 0 in every array',
      notes: []
    }
  }
}

/** A fault of a required array that is missing, with the nearest name that the file has. */
export function missingArray(table: ArrayTable, key: SampleKeyName, keys: SampleKeys): Fault {
  const names = [...table.arrays.keys()]
  const near = nearest(keys[key][0], names)
  const hint = near === null ? '' : `; did you mean --key ${key}=${printable(near)}?`
  return new Fault({
    format: table.format,
    problem: `no ${key}`,
    found: names
      .slice(0, 20)
      .map(n => printable(n))
      .join(', '),
    expected: `an array named ${keys[key].map(n => printable(n)).join(' or ')}${hint}`,
    place: table.place
  })
}

function wrongShape(table: ArrayTable, name: string, { shape }: StoredArray, expected: string): Fault {
  return new Fault({
    format: table.format,
    problem: 'wrong shape',
    found: `(${shape.join(', ')})`,
    expected,
    place: { ...table.place, member: name }
  })
}

/** The samples of a planned batch, in the order of its rows. Memory holds one row of each array. */
export async function* paddedSamples(
  table: ArrayTable,
  plan: PaddedPlan,
  fields: FieldColumns,
  wanted: readonly SampleArray[],
  tokenIds: boolean
): AsyncGenerator<Sample | LeftOut, void, void> {
  const { columns } = plan
  // Every array of tokens is read, wanted or not, where padding is known by its zeros alone.
  const byZeros = plan.attention === null && plan.lengths === null
  const needed = [...plan.arrays].filter(([key]) => byZeros || wanted.includes(key))
  const readers = needed.map(([key, { array }]) => ({ key, reader: array.rows() }))
  const mask = readerOf(plan.mask)
  const attention = readerOf(plan.attention)
  const ids = tokenIds ? readerOf(plan.tokenIds) : null
  const lengths = (await plan.lengths?.array.whole()) ?? null
  try {
    for (let row = 0; row < plan.rows; row++) {
      const place: Place = { ...table.place, trace: row }
      const [maskRow, attentionRow, idsRow, ...arrays] = await Promise.all(
        [mask, attention, ids, ...readers.map(r => r.reader)].map(reader => reader?.next() ?? null)
      )
      const trained = new Uint8Array(columns).fill(1)
      if (maskRow !== null) readBits(table, plan.mask as Named, maskRow, trained, place)
      const end = endOfRow(table, plan, { row, trained, attentionRow, lengths, arrays: arrays as SampleNumbers[], place })
      if (end === 0)
        throw new Fault({ format: table.format, problem: 'empty response', found: '0 tokens', expected: 'at least one', place })
      const whole = trained.subarray(0, end)
      if (!whole.includes(1)) {
        yield { index: row, place, reason: NO_TRAINED_TOKEN }
        continue
      }
      yield {
        index: row,
        place,
        fields: rowFields(fields, row, table.format, table.place),
        mask: whole,
        arrays: Object.fromEntries(
          readers.flatMap(({ key }, i) => (wanted.includes(key) ? [[key, (arrays[i] as SampleNumbers).subarray(0, end)]] : []))
        ),
        tokenIds: idsRow === null ? null : Int32Array.from(idsRow.subarray(idsRow.length - columns, idsRow.length - columns + end))
      }
    }
  } finally {
    await Promise.all([mask, attention, ids, ...readers.map(r => r.reader)].map(reader => reader?.close()))
  }
}

function readerOf(named: Named | null): RowReader | null {
  return named?.array.rows() ?? null
}

interface RowEnd {
  readonly row: number
  readonly trained: Uint8Array
  readonly attentionRow: SampleNumbers | null
  readonly lengths: SampleNumbers | readonly string[] | null
  readonly arrays: readonly SampleNumbers[]
  readonly place: Place
}

/** Number of response tokens of the row. */
function endOfRow(table: ArrayTable, plan: PaddedPlan, { row, trained, attentionRow, lengths, arrays, place }: RowEnd): number {
  if (plan.attention !== null && attentionRow !== null) {
    const attended = new Uint8Array(trained.length)
    readBits(table, plan.attention, attentionRow, attended, place)
    return attended.lastIndexOf(1) + 1
  }
  if (plan.lengths !== null && lengths !== null) {
    const length = Number(lengths[row])
    if (Number.isSafeInteger(length) && length >= 0 && length <= trained.length) return length
    const expected = `0 to ${trained.length}, the number of columns`
    throw new Fault({
      format: table.format,
      problem: 'wrong length',
      found: String(lengths[row]),
      expected,
      place: { ...place, member: plan.lengths.name }
    })
  }
  return endOfNonZero(plan.mask === null ? arrays : [...arrays, trained], trained.length)
}

/** The last columns of a row of 0 and 1 as bytes. */
function readBits(table: ArrayTable, { name }: Named, row: SampleNumbers, into: Uint8Array, place: Place): void {
  const from = row.length - into.length
  const odd = readMask(row, from, into)
  if (odd < 0) return
  throw new Fault({
    format: table.format,
    problem: 'wrong mask',
    found: String(row[from + odd]),
    expected: '0 or 1',
    place: { ...place, member: name, index: odd }
  })
}
