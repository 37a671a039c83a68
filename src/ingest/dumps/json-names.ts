/**
 * The names of a file of JSON Lines. A row need not have every name, so all rows are looked at. Only quotation marks are searched
 * for, and a row is parsed where a name stands that no row before it had a value for.
 */
import type { ByteSource } from '../../core/byte-source.js'
import { Fault } from '../../core/errors.js'
import { SAMPLE_KEY_NAMES, type SampleKeyName, type SampleKeys } from '../../schema/sample-keys.js'
import { linesOf, type JsonLine } from './json-line-reader.js'
import type { JsonRecord, JsonRecordReader } from './json-record.js'
import { DECISIVE, isFieldValue, isList, isNumbers, type FoundNames, type RecordValue } from './records.js'

/** The first value of a name that is not null: what it is, and where. */
interface FirstValue {
  readonly kind: 'list' | 'field' | 'other'
  readonly line: number
}

export interface JsonNames {
  /** of the rows that were parsed */
  readonly names: readonly string[]
  readonly found: FoundNames
  /** names of fields with a value in any row, in the order in which they are tried */
  readonly fields: ReadonlyMap<SampleKeyName, readonly string[]>
  /** names whose value is null wherever it stands */
  readonly nulls: readonly string[]
  readonly values: ReadonlyMap<string, FirstValue>
  /** names in rows that cannot be parsed; they are read, so that each of these rows has its fault */
  readonly doubtful: ReadonlySet<string>
  /** what the first row has */
  readonly first: ReadonlyMap<string, RecordValue>
}

/** Whether a name is one of a decisive array, see `DECISIVE`. */
export function isDecisiveName(name: string, keys: SampleKeys): boolean {
  return [...DECISIVE].some(key => keys[key].includes(name))
}

/** @throws Fault where no row can be read */
export async function namesOfLines(source: ByteSource, file: string, keys: SampleKeys, reader: JsonRecordReader): Promise<JsonNames> {
  const open = new Set(Object.values(keys).flat())
  const longest = Math.max(...[...open].map(name => Buffer.byteLength(name)))
  const names = new Set<string>()
  const values = new Map<string, FirstValue>()
  const nulls = new Set<string>()
  let first: ReadonlyMap<string, RecordValue> | null = null
  let fault: Fault | null = null
  const doubtful = new Set<string>()
  for await (const line of linesOf(source, file)) {
    const isFirst = first === null
    const wanted = isFirst ? open : namesIn(line, open, longest)
    if (wanted.size === 0) continue
    const record = recordOf(reader, line, wanted, isFirst)
    if (record instanceof Fault) {
      // What is wrong with a row is told when the rows are read.
      fault ??= record
      for (const name of isFirst ? namesIn(line, open, longest) : wanted) doubtful.add(name)
      first ??= new Map()
      continue
    }
    first ??= record.values
    for (const name of record.names) names.add(name)
    for (const [name, value] of record.values) {
      if (value === null) nulls.add(name)
      if (value === null || value === undefined) continue
      values.set(name, { kind: kindOf(value), line: line.place.line ?? 0 })
      open.delete(name)
    }
    if (open.size === 0) break
  }
  if (fault !== null && values.size === 0) throw fault
  if (first === null)
    throw new Fault({ format: 'jsonl', problem: 'empty', found: 'no line', expected: 'one object a line', place: { file } })
  return { names: [...names], ...chosen(keys, values), nulls: [...nulls].filter(name => !values.has(name)), values, first, doubtful }
}

function recordOf(reader: JsonRecordReader, line: JsonLine, wanted: ReadonlySet<string>, isFirst: boolean): JsonRecord | Fault {
  try {
    return reader.read(line, wanted, { ...line.place, ...(isFirst ? { trace: 0 } : {}) })
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

function kindOf(value: RecordValue): FirstValue['kind'] {
  return isNumbers(value) ? 'list' : isFieldValue(value) ? 'field' : 'other'
}

/** The names of a list that may stand in a line with another value than null. A text may look like a name: the parser decides. */
function namesIn({ bytes }: JsonLine, among: ReadonlySet<string>, longest: number): ReadonlySet<string> {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const names = new Set<string>()
  for (let quote = line.indexOf(0x22); quote >= 0; ) {
    const end = line.indexOf(0x22, quote + 1)
    if (end < 0) break
    if (end - quote - 1 <= longest && BEFORE_VALUE.test(line.toString('latin1', end + 1, end + 9))) {
      const name = line.toString('utf8', quote + 1, end)
      if (among.has(name)) names.add(name)
    }
    quote = end
  }
  return names
}

const BEFORE_VALUE = /^\s*(?::\s*(?!\s|null)|$)/

function chosen(keys: SampleKeys, values: ReadonlyMap<string, FirstValue>): Pick<JsonNames, 'found' | 'fields'> {
  const found = new Map<SampleKeyName, string>()
  const fields = new Map<SampleKeyName, readonly string[]>()
  const ofLists = new Set(SAMPLE_KEY_NAMES.filter(isList).flatMap(key => keys[key]))
  for (const key of SAMPLE_KEY_NAMES) {
    const candidates = keys[key].filter(name => values.has(name))
    const of = (kind: FirstValue['kind']): string | undefined => candidates.find(name => values.get(name)?.kind === kind)
    const others = isList(key) ? (DECISIVE.has(key) ? candidates : []) : candidates.filter(name => !ofLists.has(name))
    const name = of(isList(key) ? 'list' : 'field') ?? others[0]
    if (name !== undefined) found.set(key, name)
    if (!isList(key))
      fields.set(
        key,
        candidates.filter(other => values.get(other)?.kind === 'field' || others.includes(other))
      )
  }
  return { found, fields }
}
