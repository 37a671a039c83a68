/**
 * `critic-traces.arrow`: an Arrow IPC file with one row for each retained token and one record batch for each trace, in
 * canonical order. Columns: trace int32, index int32, value float64, return float64, response_position int64. No column
 * is nullable, dictionary-encoded or compressed. Batches are views of the trace's own arrays, without a copy. Memory
 * grows with the number of traces only by one 24-byte block per batch, which the footer lists.
 */
import type { RecordBatch, Schema } from 'apache-arrow'
import { Fault, printable } from '../../core/errors.js'
import type { TraceColumns } from '../../compute/traces/contract.js'
import { SCHEMA_VERSIONS } from '../../schema/outputs/versions.js'
import { manifestMetadata } from './arrow-columns.js'
import { ArrowFile } from './arrow-file.js'
import { loadArrow, type ArrowLibrary } from './arrow-library.js'
import type { FileSummary } from './output-file.js'
import { OUTPUT_PATHS, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

/** Contents of the schema's metadata. All values become text. */
export interface ArrowMetadata extends Origin {
  readonly verified: boolean
  /** verbatim; null leaves the key out */
  readonly snapshotTime: string | null
}

function metadataEntries(metadata: ArrowMetadata): Array<[string, string]> {
  const { snapshotTime, manifest, generator } = metadata
  if (snapshotTime !== null && Buffer.from(snapshotTime, 'utf8').toString('utf8') !== snapshotTime) {
    throw new Fault({
      format: 'arrow',
      problem: 'schema metadata refused',
      expected: 'text without lone surrogates',
      found: `a snapshot time that is not Unicode text: ${printable(snapshotTime)}`
    })
  }
  return [
    ['schema', 'critic-traces'],
    ['schema_version', String(SCHEMA_VERSIONS['critic-traces'])],
    ['synthetic', String(metadata.synthetic)],
    ['verified', String(metadata.verified)],
    ...(snapshotTime === null ? [] : [['snapshot_time', snapshotTime] satisfies [string, string]]),
    ['generator', `${generator.name} ${generator.version}`],
    ...manifestMetadata(manifest)
  ]
}

/** An array with at least `length` elements: the given one where it is long enough, else a new one with spare room. */
function grown(array: Int32Array, length: number): Int32Array {
  return array.length >= length ? array : new Int32Array(Math.max(length, 2 * array.length))
}

/** An array with at least `length` elements that holds 0, 1, 2 … */
function ascending(array: Int32Array, length: number): Int32Array {
  const longer = grown(array, length)
  if (longer === array) return array
  longer.set(array)
  // A plain loop is compiled while it runs. A function called for each element is interpreted for the first ten
  // thousand.
  for (let i = array.length; i < longer.length; i++) longer[i] = i
  return longer
}

export class ArrowTraceWriter {
  readonly #arrow: ArrowLibrary
  readonly #file: ArrowFile
  readonly #schema: Schema
  /** the schema's own map; filled at the end, when the snapshot's header has been read */
  readonly #metadata: Map<string, string>
  /** 0, 1, 2 …, shared by all batches */
  #indexes: Int32Array = new Int32Array(0)
  /** one trace's index, repeated */
  #trace: Int32Array = new Int32Array(0)
  #lastTrace = -1

  private constructor(arrow: ArrowLibrary, file: ArrowFile, schema: Schema, metadata: Map<string, string>) {
    this.#arrow = arrow
    this.#file = file
    this.#schema = schema
    this.#metadata = metadata
  }

  static async open(set: OutputSet): Promise<ArrowTraceWriter> {
    const arrow = loadArrow()
    const metadata = new Map<string, string>()
    const schema = new arrow.Schema(
      [
        new arrow.Field('trace', new arrow.Int32(), false),
        new arrow.Field('index', new arrow.Int32(), false),
        new arrow.Field('value', new arrow.Float64(), false),
        new arrow.Field('return', new arrow.Float64(), false),
        new arrow.Field('response_position', new arrow.Int64(), false)
      ],
      metadata
    )
    const file = await ArrowFile.open(arrow, await set.file(OUTPUT_PATHS.arrow), schema)
    return new ArrowTraceWriter(arrow, file, schema, metadata)
  }

  /**
   * Writes one trace as one batch. Calls may overlap; they are carried out in order.
   * @param trace its canonical index, larger than that of the call before
   * @param columns must not change until the promise resolves
   */
  write(trace: number, columns: TraceColumns): Promise<void> {
    if (trace <= this.#lastTrace) throw new Error(`trace ${trace} after trace ${this.#lastTrace}`)
    this.#lastTrace = trace
    return this.#file.write(() => this.#batch(trace, columns))
  }

  /** Writes the footer and, at the head of the file, the schema with its metadata. */
  async finish(metadata: ArrowMetadata): Promise<FileSummary> {
    for (const [key, value] of metadataEntries(metadata)) this.#metadata.set(key, value)
    return this.#file.finish()
  }

  #batch(trace: number, columns: TraceColumns): RecordBatch {
    const { values, returns, responsePositions } = columns
    const length = values.length
    if (returns.length !== length || responsePositions.length !== length) {
      const lengths = `${length}, ${returns.length} and ${responsePositions.length}`
      throw new Error(`trace ${trace} has columns of ${lengths} elements`)
    }
    this.#indexes = ascending(this.#indexes, length)
    this.#trace = grown(this.#trace, length).fill(trace, 0, length)
    const { Int32, Float64, Int64, RecordBatch, Struct, makeData } = this.#arrow
    const children = [
      makeData({ type: new Int32(), length, data: this.#trace.subarray(0, length) }),
      makeData({ type: new Int32(), length, data: this.#indexes.subarray(0, length) }),
      makeData({ type: new Float64(), length, data: values }),
      makeData({ type: new Float64(), length, data: returns }),
      makeData({ type: new Int64(), length, data: responsePositions })
    ]
    const type = new Struct(this.#schema.fields)
    return new RecordBatch(this.#schema, makeData({ type, length, children, nullCount: 0 }))
  }
}
