/**
 * Rows that are records: a line of JSON, a row of a table, a sample of a rollout. Each value has a name. A list of numbers is an
 * array of tokens, anything else a field. Names are tried in their order, and the first one with a value of the right kind is
 * taken: `rewards` may be a number or a list.
 */
import { Fault, nearest, printable, type Place } from '../../core/errors.js'
import { SAMPLE_ARRAYS, type SampleArray } from '../../schema/samples.js'
import { SAMPLE_KEY_NAMES, SAMPLE_KEYS, type SampleKeyName, type SampleKeys } from '../../schema/sample-keys.js'
import type { TensorNumbers } from '../tensors/tensor.js'
import { rowFault, type RowContext } from './fields.js'
import { rawRow, type FieldOfRow, type NamedNumbers, type RawRow } from './part.js'

/** Values of one row by name; undefined: the row has none. A value of another kind than these is of no use here. */
export type RecordValue = TensorNumbers | FieldOfRow['value'] | OtherValue | undefined

/** A value that is neither a list of numbers nor one value, in words: `an object`. */
export class OtherValue {
  readonly what: string

  constructor(what: string) {
    this.what = what
  }
}

interface RowRecord {
  get(name: string): RecordValue
}

/** Names that a row of the dump has, one for each key that was found. */
export type FoundNames = ReadonlyMap<SampleKeyName, string>

const LISTS: ReadonlySet<SampleKeyName> = new Set([
  ...SAMPLE_ARRAYS,
  'response_mask',
  'attention_mask',
  'response_positions',
  'token_ids',
  'token_scores'
] as const)

/** What decides which tokens count and what the critic said of them. Under such a name another type is a fault, and never passed over. */
export const DECISIVE: ReadonlySet<SampleKeyName> = new Set([
  'values',
  'returns',
  'response_mask',
  'attention_mask',
  'response_positions',
  'token_scores'
] as const)

/** The names of a file, one for each key. @param fits whether the file has a value of this kind under the name */
export function findNames(keys: SampleKeys, fits: (name: string, kind: 'list' | 'field') => boolean): FoundNames {
  const found = new Map<SampleKeyName, string>()
  for (const key of SAMPLE_KEY_NAMES) {
    const name = keys[key].find(candidate => fits(candidate, isList(key) ? 'list' : 'field'))
    if (name !== undefined) found.set(key, name)
  }
  return found
}

/** Whether a key has a value for each token. */
export function isList(key: SampleKeyName): boolean {
  return LISTS.has(key)
}

/** The arrays of tokens among the names. */
export function tokenArraysOf(found: FoundNames): SampleArray[] {
  return SAMPLE_ARRAYS.filter(key => found.has(key))
}

/**
 * A row of a record that should have the names.
 *
 * @param needed arrays that are read
 * @param like which row has the array, in the words of a message
 * @throws Fault for a missing array
 */
export function rowOfRecord(
  record: RowRecord,
  found: FoundNames,
  needed: ReadonlySet<SampleArray>,
  context: RowContext,
  like: (key: SampleKeyName) => string = () => ', as in the first row'
): RawRow {
  const list = (key: SampleKeyName): NamedNumbers | null => {
    const name = found.get(key)
    if (name === undefined) return null
    const data = record.get(name)
    if (isNumbers(data)) return { name, data }
    const expected = `a list of numbers${like(key)}`
    if (data === undefined || data === null) throw rowFault(context, 'missing array', 'nothing', expected, { array: name })
    const what = data instanceof OtherValue ? data.what : printable(JSON.stringify(String(data)))
    throw rowFault(context, `wrong ${key}`, what, expected, { array: name })
  }
  const field = (key: SampleKeyName): FieldOfRow | null => {
    const name = found.get(key)
    const value = name === undefined ? undefined : record.get(name)
    if (name === undefined || value === undefined) return null
    if (!isNumbers(value) && !(value instanceof OtherValue)) return { name, value }
    const what = isNumbers(value) ? `a list of ${value.length} numbers` : value.what
    throw rowFault(context, `wrong ${key}`, what, 'one value', { array: name })
  }
  const arrays = tokenArraysOf(found).filter(key => needed.has(key))
  return rawRow(arrays, list, field, field('total_length'))
}

export function isNumbers(value: unknown): value is TensorNumbers {
  return ArrayBuffer.isView(value) && 'length' in value
}

/** Whether a value is a field of a row, and not null. */
export function isFieldValue(value: RecordValue): boolean {
  return value !== undefined && value !== null && !isNumbers(value) && !(value instanceof OtherValue)
}

/**
 * Checks what was found in a file.
 *
 * @param names all names that the file has
 * @throws Fault where no array of tokens was found, or where the user named an array or field that the file does not have
 */
export function checkFound(found: FoundNames, keys: SampleKeys, names: readonly string[], format: string, place: Place): void {
  for (const key of SAMPLE_KEY_NAMES) {
    const isTold = keys[key] !== SAMPLE_KEYS[key].names
    if (!isTold || found.has(key)) continue
    const [name] = keys[key]
    if (!names.includes(name)) throw missingName(key, keys, names, format, place)
    const expected = `${LISTS.has(key) ? 'numbers' : 'one value'} a row: ${SAMPLE_KEYS[key].shape} in a batch`
    throw new Fault({ format, problem: `wrong ${key}`, found: `${printable(name)} of another shape or dtype`, expected, place })
  }
  if (tokenArraysOf(found).length === 0) throw missingName('values', keys, names, format, place)
}

/** A fault of a name that is missing, with the nearest one that the file has. */
function missingName(key: SampleKeyName, keys: SampleKeys, names: readonly string[], format: string, place: Place): Fault {
  const near = nearName(key, keys, names)
  const hint = near === null ? '' : ` (--key ${key}=${printable(near)}?)`
  const few = names.slice(0, 20).map(name => printable(name))
  return new Fault({
    format,
    problem: `no ${key}`,
    found: few.length === 0 ? 'nothing with a name' : few.join(', ') + (names.length > few.length ? ', …' : ''),
    expected: `${keys[key].map(name => printable(name)).join(' or ')}${hint}`,
    place
  })
}

function nearName(key: SampleKeyName, keys: SampleKeys, names: readonly string[]): string | null {
  for (const wanted of [...keys[key], key]) {
    const near = nearest(wanted, names) ?? names.find(name => name.split(/[^a-z0-9]+/i).includes(wanted)) ?? null
    if (near !== null) return near
  }
  return null
}

/**
 * What the user should know of arrays that were not found although a name comes near.
 *
 * @param nothing the word for what stands under a name where it is no value; null: a value
 */
export function nearNotes(
  found: FoundNames,
  keys: SampleKeys,
  names: readonly string[],
  nothing: (name: string) => string | null = () => null
): readonly string[] {
  const taken = new Set(found.values())
  const free = names.filter(name => !taken.has(name))
  return (['values', 'returns', 'response_mask'] as const).flatMap(key => {
    if (found.has(key)) return []
    const none = keys[key].find(name => free.includes(name) && nothing(name) !== null)
    if (none !== undefined) return [`no ${key}; ${printable(none)} is ${nothing(none)} in the first sample`]
    const near = nearName(
      key,
      keys,
      free.filter(name => !keys[key].includes(name))
    )
    return near === null ? [] : [`no ${key}; is it ${printable(near)}? then --key ${key}=${printable(near)}`]
  })
}

/** What the user should know of a decisive array that is null in every row. */
export function noteOfNull(name: string): string {
  return `${printable(name)} is null wherever it stands: taken as not there`
}

/** How the end of a response is found, in words. */
export function endWords(found: FoundNames, padded: boolean): string {
  const name = found.get('attention_mask') ?? found.get('response_length') ?? found.get('total_length')
  return name ?? (padded ? 'columns behind it that are 0 in every array' : 'the end of the row')
}
