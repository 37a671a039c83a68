/**
 * Columns of an Arrow record batch in the tables of histories. Doubles are null where there is no value. Texts are
 * dictionary-encoded, with one dictionary for all columns and batches of a file.
 */
import type { Data, DataType, Dictionary, Field, Int32, Utf8, Vector } from 'apache-arrow'
import { SCHEMA_VERSIONS, type SchemaName } from '../../schema/outputs/versions.js'
import type { ArrowLibrary } from './arrow-library.js'
import type { Origin } from './output-names.js'

/** Number of rows in the largest batch. */
export const ROWS_PER_BATCH = 65536

type TextDictionary = Dictionary<Utf8, Int32>

/** Marks the null elements of a column. An empty object means that none is null. */
export interface Nulls {
  readonly nullCount?: number
  readonly nullBitmap?: Uint8Array | undefined
}

/** One bit for each element, padded as Arrow requires. */
export function bitmap(length: number, isSet: (k: number) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(length / 64) * 8)
  for (let k = 0; k < length; k++) if (isSet(k)) bits[k >> 3] |= 1 << (k & 7)
  return bits
}

/** The null elements of a column. Without nulls there is no bitmap. */
export function validity(length: number, isNull: (k: number) => boolean): Nulls {
  let nullCount = 0
  for (let k = 0; k < length; k++) if (isNull(k)) nullCount++
  return { nullCount, nullBitmap: nullCount === 0 ? undefined : bitmap(length, k => !isNull(k)) }
}

/** Metadata of a schema. All values are text. */
export function fileMetadata(schema: SchemaName, { synthetic, manifest, generator: { name, version } }: Origin): Map<string, string> {
  return new Map([
    ['schema', schema],
    ['schema_version', String(SCHEMA_VERSIONS[schema])],
    ['synthetic', String(synthetic)],
    ['generator', `${name} ${version}`],
    ...manifestMetadata(manifest)
  ])
}

/** The key is absent where nothing was verified. */
export function manifestMetadata(manifest: Origin['manifest']): Array<[string, string]> {
  return manifest === null ? [] : [['inputs_manifest_sha256', manifest.sha256]]
}

export class ArrowColumns {
  readonly #arrow: ArrowLibrary
  readonly #codes = new Map<string, number>()
  readonly #dictionary: Vector<Utf8>
  /** type of all text columns */
  readonly text: TextDictionary

  /** @param words all texts of the file, in the order of the dictionary; repeated ones are skipped */
  constructor(arrow: ArrowLibrary, words: Iterable<string>) {
    this.#arrow = arrow
    for (const word of words) if (!this.#codes.has(word)) this.#codes.set(word, this.#codes.size)
    this.#dictionary = arrow.vectorFromArray([...this.#codes.keys()], new arrow.Utf8())
    this.text = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32(), 0)
  }

  field(name: string, type: DataType, nullable = false): Field {
    return new this.#arrow.Field(name, type, nullable)
  }

  code(word: string): number {
    const code = this.#codes.get(word)
    if (code === undefined) throw new Error(`${word} is not among the words of the file`)
    return code
  }

  /** A column of texts, given by their codes. */
  codes(data: Int32Array, nulls: Nulls = {}): Data<TextDictionary> {
    return this.#arrow.makeData({ type: this.text, length: data.length, data, dictionary: this.#dictionary, ...nulls })
  }

  /** A column with the same text in every row. */
  same(word: string, length: number): Data<TextDictionary> {
    return this.codes(new Int32Array(length).fill(this.code(word)))
  }

  /** A column of doubles. A number that is not finite becomes null. */
  numbers(length: number, of: (k: number) => number): Data {
    const data = new Float64Array(length)
    for (let k = 0; k < length; k++) data[k] = of(k)
    const nulls = validity(length, k => !Number.isFinite(data[k]))
    if (nulls.nullBitmap !== undefined) for (let k = 0; k < length; k++) if (!Number.isFinite(data[k])) data[k] = 0
    return this.#arrow.makeData({ type: new this.#arrow.Float64(), length, data, ...nulls })
  }
}
