/**
 * `wandb/observations.arrow`: every observation of every selection and metric, the superseded ones among them, as an Arrow
 * IPC file. One record batch a curve, cut at 65,536 rows; texts are dictionary-encoded against one dictionary that all
 * batches share. Null: the row has none, or no double holds it.
 */
import type { Data, DataType, Dictionary, Int32, RecordBatch, Schema, Utf8, Vector } from 'apache-arrow'
import type { Curve, SelectionHistory } from '../../compute/histories/contract.js'
import { displayHours, elapsedHours } from '../../compute/histories/time.js'
import { ArrowFile } from './arrow-file.js'
import { loadArrow, type ArrowLibrary } from './arrow-library.js'
import type { OnRows } from './history-rows.js'
import type { FileSummary } from './output-file.js'
import { HISTORY_PATHS, SCHEMA_VERSION, type Generator } from './output-names.js'
import type { OutputSet } from './output-set.js'

const ROWS_PER_BATCH = 65536

type Text = Dictionary<Utf8, Int32>

/** Every text of the file, once. */
class Words {
  readonly #codes = new Map<string, number>()

  constructor(words: Iterable<string>) {
    for (const word of words) if (!this.#codes.has(word)) this.#codes.set(word, this.#codes.size)
  }

  get all(): string[] {
    return [...this.#codes.keys()]
  }

  code(word: string): number {
    const code = this.#codes.get(word)
    if (code === undefined) throw new Error(`${word} is not among the words of the file`)
    return code
  }
}

const FATES = ['rolled back', 'replaced'] as const

function wordsOf(histories: readonly SelectionHistory[]): Words {
  return new Words([
    ...FATES,
    ...histories.flatMap(h => [h.selection.name, ...h.sessions.map(s => s.run), ...h.curves.flatMap(c => [c.metric, c.key])])
  ])
}

/** The rows of one batch. */
interface Piece {
  readonly history: SelectionHistory
  readonly curve: Curve
  readonly from: number
  readonly to: number
}

/** One bit an element, padded as Arrow asks. */
function bitmap(length: number, isSet: (k: number) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(length / 64) * 8)
  for (let k = 0; k < length; k++) if (isSet(k)) bits[k >> 3] |= 1 << (k & 7)
  return bits
}

/** No bitmap where nothing is null. */
function validity(length: number, isNull: (k: number) => boolean): { nullCount: number; nullBitmap: Uint8Array | undefined } {
  let nullCount = 0
  for (let k = 0; k < length; k++) if (isNull(k)) nullCount++
  return { nullCount, nullBitmap: nullCount === 0 ? undefined : bitmap(length, k => !isNull(k)) }
}

class ObservationColumns {
  readonly #arrow: ArrowLibrary
  readonly #words: Words
  readonly #dictionary: Vector<Utf8>
  readonly #text: Text
  readonly schema: Schema

  constructor(arrow: ArrowLibrary, words: Words, metadata: Map<string, string>) {
    this.#arrow = arrow
    this.#words = words
    this.#dictionary = arrow.vectorFromArray(words.all, new arrow.Utf8())
    this.#text = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32(), 0)
    const field = (name: string, type: DataType, nullable: boolean) => new arrow.Field(name, type, nullable)
    const { Int32, Float64, Bool } = arrow
    this.schema = new arrow.Schema([
      field('selection', this.#text, false), field('metric', this.#text, false), field('key', this.#text, false),
      field('run', this.#text, false), field('session', new Int32(), false),
      field('step', new Float64(), false), field('value', new Float64(), false), field('global_step', new Float64(), true),
      field('timestamp', new Float64(), true), field('elapsed_hours', new Float64(), true), field('display_hours', new Float64(), true),
      field('kept', new Bool(), false),
      field('superseded_by_session', new Int32(), true), field('superseded_by_run', this.#text, true), field('restart_step', new Float64(), true), field('reason', this.#text, true)
    ], metadata)
  }

  batch(piece: Piece): RecordBatch {
    const { makeData, RecordBatch, Struct, Int32, Float64, Bool } = this.#arrow
    const { history, curve, from, to } = piece
    const length = to - from
    const numbers = (of: (i: number) => number): Data => {
      const data = new Float64Array(length)
      for (let k = 0; k < length; k++) data[k] = of(from + k)
      const nulls = validity(length, k => !Number.isFinite(data[k]))
      if (nulls.nullCount > 0) for (let k = 0; k < length; k++) if (!Number.isFinite(data[k])) data[k] = 0
      return makeData({ type: new Float64(), length, data, ...nulls })
    }
    const session = curve.session.slice(from, to)
    const successor = curve.supersededBy.slice(from, to)
    const isKept = (k: number): boolean => successor[k] < 0
    const fate = { length, ...validity(length, isKept) }
    const runs = history.sessions.map(s => this.#words.code(s.run))
    const fates = FATES.map(fate => this.#words.code(fate))
    const children: Data[] = [
      this.#same(curve.selection, length), this.#same(curve.metric, length), this.#same(curve.key, length),
      this.#codes(session.map(s => runs[s]), {}),
      makeData({ type: new Int32(), length, data: session }),
      makeData({ type: new Float64(), length, data: curve.step.slice(from, to) }),
      makeData({ type: new Float64(), length, data: curve.value.slice(from, to) }),
      numbers(i => curve.globalStep[i]),
      numbers(i => curve.timestamp[i]),
      numbers(i => elapsedHours(history, curve.timestamp[i])),
      numbers(i => displayHours(history, curve.timestamp[i])),
      makeData({ type: new Bool(), length, data: bitmap(length, isKept) }),
      makeData({ type: new Int32(), ...fate, data: successor }),
      this.#codes(successor.map(s => (s < 0 ? 0 : runs[s])), fate),
      makeData({ type: new Float64(), ...fate, data: Float64Array.from(successor, s => (s < 0 ? 0 : history.sessions[s].firstStep ?? 0)) }),
      this.#codes(Int32Array.from(curve.replaced.subarray(from, to), replaced => fates[replaced]), fate)
    ]
    return new RecordBatch(this.schema, makeData({ type: new Struct(this.schema.fields), length, children, nullCount: 0 }))
  }

  #same(word: string, length: number): Data<Text> {
    return this.#codes(new Int32Array(length).fill(this.#words.code(word)), {})
  }

  #codes(data: Int32Array, nulls: { readonly nullCount?: number; readonly nullBitmap?: Uint8Array | undefined }): Data<Text> {
    return this.#arrow.makeData({ type: this.#text, length: data.length, data, dictionary: this.#dictionary, ...nulls })
  }
}

export interface ObservationsMetadata {
  readonly synthetic: boolean
  readonly generator: Generator
}

/** @param onRows called with the rows written since the last call; what it gives is waited for */
export async function writeObservationsArrow(
  set: OutputSet, histories: readonly SelectionHistory[], { synthetic, generator }: ObservationsMetadata, onRows: OnRows
): Promise<FileSummary> {
  const arrow = loadArrow()
  const metadata = new Map([
    ['schema', 'history-observations'], ['schema_version', String(SCHEMA_VERSION)],
    ['synthetic', String(synthetic)], ['generator', `${generator.name} ${generator.version}`]
  ])
  const columns = new ObservationColumns(arrow, wordsOf(histories), metadata)
  const file = await ArrowFile.open(arrow, await set.file(HISTORY_PATHS.arrow), columns.schema)
  for (const history of histories) {
    for (const curve of history.curves) {
      for (let from = 0; from < curve.count; from += ROWS_PER_BATCH) {
        const to = Math.min(curve.count, from + ROWS_PER_BATCH)
        await file.write(() => columns.batch({ history, curve, from, to }))
        await onRows(to - from)
      }
    }
  }
  return file.finish()
}
