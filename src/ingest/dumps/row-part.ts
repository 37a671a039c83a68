/** Files with one row a sample: JSON Lines and Parquet. */
import type { SampleArray } from '../../schema/samples.js'
import type { SampleKeys } from '../../schema/sample-keys.js'
import type { DumpPart, PlacedRow, Wanted } from './part.js'
import { tokenArraysOf, checkFound, endWords, nearNotes, type FoundNames } from './records.js'

interface RowFile {
  readonly format: string
  readonly file: string
  /** all names that the rows have */
  readonly names: readonly string[]
  readonly found: FoundNames
  /** see `nearNotes` */
  readonly nothing?: (name: string) => string | null
  readonly step: number | null
  readonly rows: number | null
  readonly width: (name: string) => 'float32' | 'float64'
  /** @param names names that are read */
  read(names: ReadonlySet<string>, needed: ReadonlySet<SampleArray>): AsyncGenerator<PlacedRow, void, void>
}

/** @throws Fault where the rows have no array of tokens */
export function rowPart(rows: RowFile, keys: SampleKeys): DumpPart {
  const { format, file, names, found, step } = rows
  checkFound(found, keys, names, format, { file })
  return {
    format,
    kind: 'one row a sample',
    mask: found.get('response_mask') ?? null,
    end: endWords(found, false),
    notes: nearNotes(found, keys, names, rows.nothing),
    rules: { padded: false, exact: false },
    step,
    rank: null,
    rows: rows.rows,
    arrays: new Map(tokenArraysOf(found).map(key => [key, rows.width(found.get(key) ?? '')])),
    hasTokenIds: found.has('token_ids'),
    order: null,
    scoresByIndex: null,
    row: null,
    all: wanted => rows.read(...neededOf(found, wanted))
  }
}

/** What is read: what is wanted, and what the score and the length follow from. */
function neededOf(found: FoundNames, { arrays }: Wanted): [ReadonlySet<string>, ReadonlySet<SampleArray>] {
  const known = tokenArraysOf(found)
  const chosen = known.filter(key => arrays.has(key) || (key === 'token_rewards' && !found.has('score')))
  const needed = new Set(chosen.length === 0 ? known.slice(0, 1) : chosen)
  const unneeded = known.filter(key => !needed.has(key)).map(key => found.get(key))
  return [new Set([...found.values()].filter(name => !unneeded.includes(name))), needed]
}
