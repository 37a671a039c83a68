/** Between containers and layouts: what one file of a dump holds, and its rows as they are stored. */
import type { ByteSource } from '../../core/byte-source.js'
import type { Place } from '../../core/errors.js'
import type { SampleArray } from '../../schema/samples.js'
import type { SampleKeyName, SampleKeys } from '../../schema/sample-keys.js'
import type { TensorNumbers } from '../tensors/tensor.js'

/** An opened file of a dump. */
export interface DumpFile {
  /** as outputs and messages call it */
  readonly name: string
  readonly source: ByteSource
}

/** What is asked of the rows. */
export interface Wanted {
  readonly arrays: ReadonlySet<SampleArray>
  readonly tokenIds: boolean
  /** whether a list over the rollout is read by `sample_index`; default: it is not */
  readonly scoresByIndex?: boolean
}

/** Numbers of one row under the name that the file has for them. */
export interface NamedNumbers {
  readonly name: string
  readonly data: TensorNumbers
}

/** A field of one row under the name that the file has for it. */
export interface FieldOfRow {
  readonly name: string
  readonly value: number | string | boolean | bigint | null
}

/** A row as it is stored: nothing is cut, and nothing is checked beyond the types. */
export interface RawRow {
  /** one number for each token; in a padded batch of the block of responses */
  readonly arrays: ReadonlyMap<SampleArray, NamedNumbers>
  readonly mask: NamedNumbers | null
  readonly attention: NamedNumbers | null
  readonly tokenIds: NamedNumbers | null
  /** index of each stored token in its response */
  readonly positions: NamedNumbers | null
  /** score of each token, whose sum is the score */
  readonly tokenScores: NamedNumbers | null
  readonly responseLength: FieldOfRow | null
  /** number of tokens of prompt and response */
  readonly totalLength: FieldOfRow | null
  readonly step: FieldOfRow | null
  readonly outcome: FieldOfRow | null
  readonly score: FieldOfRow | null
  readonly uid: FieldOfRow | null
  readonly truncated: FieldOfRow | null
  readonly rank: number | null
}

/** A row and where it stands. */
export interface PlacedRow {
  readonly place: Place
  /** where a line of text begins in its file, in bytes; absent: rows are counted before they are read */
  readonly offset?: number
  /** @throws Fault for a row that is wrong; rows after it can be read all the same */
  read(): RawRow
}

/** Where a row of a rollout belongs; null: not stated. */
export interface RowOrder {
  readonly position: number | null
  readonly index: number | null
  readonly rank: number | null
}

/** What the layout of a file tells about where a response ends. */
export interface EndRules {
  /** arrays are padded to one length, and zeros behind the response may be padding */
  readonly padded: boolean
  /** arrays have exactly `response_lengths` numbers: one of another length is a piece of a response */
  readonly exact: boolean
}

/** One file, opened and planned. Its source stays open while rows are read. */
export interface DumpPart {
  /** first word of its messages */
  readonly format: string
  /** kind of dump in words, see `DumpFacts` */
  readonly kind: string
  /** names under which the mask and the end of responses were found */
  readonly mask: string | null
  readonly end: string
  readonly notes: readonly string[]
  readonly rules: EndRules
  /** trainer step and rank as the file states them, for the whole file */
  readonly step: number | null
  readonly rank: number | null
  readonly rows: number | null
  readonly arrays: ReadonlyMap<SampleArray, 'float32' | 'float64'>
  readonly hasTokenIds: boolean
  /** the places of the rows in the rollout, which ranks share; null: rows stay in the order of the file */
  readonly order: readonly RowOrder[] | null
  /** number of scores in a list over the rollout, whose order follows from the indexes of all ranks; null: there is none */
  readonly scoresByIndex: number | null
  /** One row of a file whose rows can be read in any order; null: they cannot. */
  readonly row: ((index: number, wanted: Wanted) => Promise<PlacedRow>) | null
  /** The rows in the order of the file. */
  all(wanted: Wanted): AsyncGenerator<PlacedRow, void, void>
}

/** A format of dumps: one line in the list of `formats.ts`. */
export interface DumpFormat {
  /** first word of its messages */
  readonly name: string
  /** Looks at the content; a damaged file is none of this format. @param head the first bytes: 4096, or all of a shorter file */
  recognises(head: Uint8Array, source: ByteSource): Promise<boolean>
  /** @throws Fault for a damaged file, or one without any array of tokens */
  open(file: DumpFile, keys: SampleKeys): Promise<DumpPart>
}

/**
 * A row from what gives its arrays and its fields by this program's names.
 *
 * @param arrays arrays of tokens that are read
 * @param totalLength null: the arrays hold no prompt, whose length it would include
 */
export function rawRow(
  arrays: readonly SampleArray[],
  list: (key: SampleKeyName) => NamedNumbers | null,
  field: (key: SampleKeyName) => FieldOfRow | null,
  totalLength: FieldOfRow | null
): RawRow {
  const tokens = new Map<SampleArray, NamedNumbers>()
  for (const key of arrays) {
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
    totalLength,
    step: field('step'),
    outcome: field('outcome'),
    score: field('score'),
    uid: field('uid'),
    truncated: field('truncated'),
    rank: null
  }
}
