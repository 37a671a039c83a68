/**
 * `critic-traces.arrow`: an Arrow IPC file with one row for each retained token and one record batch for each trace, in
 * canonical order. The columns and their widths are in `token-columns.ts`. No column is nullable, dictionary-encoded or
 * compressed. Batches are views of the trace's own arrays, without a copy. Memory grows with the number of traces only by
 * the directory of the batches.
 */
import type { RecordBatch, Schema } from 'apache-arrow'
import type { TokenArrays } from '../../compute/traces/contract.js'
import { ArrowFile } from './arrow-file.js'
import { loadArrow, type ArrowLibrary } from './arrow-library.js'
import type { FileSummary, OutputFile } from './output-file.js'
import { OUTPUT_PATHS } from './output-names.js'
import type { OutputSet } from './output-set.js'
import { blockOf, type TokenBlock, type TokenWidths } from './token-columns.js'
import { TokenFile, type Placed, type TokenLayout } from './token-file.js'
import { tokenMetadata, type TokenMetadata } from './token-metadata.js'

/** One trace's index, repeated, in an array that is reused. */
class RepeatedIndex {
  #array: Int32Array = new Int32Array(0)

  of(trace: number, length: number): Int32Array {
    if (this.#array.length < length) this.#array = new Int32Array(Math.max(length, 2 * this.#array.length))
    return this.#array.fill(trace, 0, length).subarray(0, length)
  }
}

/** Size of a buffer in the body of a batch, in bytes. */
function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8
}

class ArrowTraceLayout implements TokenLayout {
  readonly #arrow: ArrowLibrary
  readonly #file: ArrowFile
  readonly #schema: Schema
  /** the schema's own map; filled at the end, when the snapshot's header has been read */
  readonly metadata: Map<string, string>
  readonly #trace = new RepeatedIndex()

  private constructor(arrow: ArrowLibrary, file: ArrowFile, schema: Schema, metadata: Map<string, string>) {
    this.#arrow = arrow
    this.#file = file
    this.#schema = schema
    this.metadata = metadata
  }

  static async begin(file: OutputFile, widths: TokenWidths): Promise<ArrowTraceLayout> {
    const arrow = loadArrow()
    const float = (width: 4 | 8) => (width === 8 ? new arrow.Float64() : new arrow.Float32())
    const metadata = new Map<string, string>()
    const schema = new arrow.Schema(
      [
        new arrow.Field('trace', new arrow.Int32(), false),
        new arrow.Field('value', float(widths.value), false),
        new arrow.Field('return', float(widths.return), false),
        new arrow.Field('response_position', widths.response_position === 8 ? new arrow.Int64() : new arrow.Int32(), false)
      ],
      metadata
    )
    return new ArrowTraceLayout(arrow, await ArrowFile.open(arrow, file, schema), schema, metadata)
  }

  async append(block: TokenBlock): Promise<Placed> {
    const end = await this.#file.write(() => this.#batch(block))
    const { values, returns, responsePositions } = block
    const positionsAt = end - padded(responsePositions.byteLength)
    const returnsAt = positionsAt - padded(returns.byteLength)
    return [returnsAt - padded(values.byteLength), returnsAt, positionsAt]
  }

  finish(): Promise<FileSummary> {
    return this.#file.finish()
  }

  #batch({ traces: [{ trace, tokens: length }], values, returns, responsePositions }: TokenBlock): RecordBatch {
    const { RecordBatch, Struct, makeData } = this.#arrow
    const columns = [this.#trace.of(trace, length), values, returns, responsePositions]
    const children = columns.map((data, c) => makeData({ type: this.#schema.fields[c].type, length, data }))
    const type = new Struct(this.#schema.fields)
    return new RecordBatch(this.#schema, makeData({ type, length, children, nullCount: 0 }))
  }
}

export class ArrowTraceWriter {
  readonly #file: TokenFile<ArrowTraceLayout>
  #lastTrace = -1

  private constructor(file: TokenFile<ArrowTraceLayout>) {
    this.#file = file
  }

  static async open(set: OutputSet): Promise<ArrowTraceWriter> {
    return new ArrowTraceWriter(await TokenFile.open(set, OUTPUT_PATHS.arrow, (file, widths) => ArrowTraceLayout.begin(file, widths)))
  }

  /**
   * Writes one trace as one batch. Calls may overlap; they are carried out in order.
   * @param trace its canonical index, larger than that of the call before
   * @param arrays must not change until the promise resolves
   */
  write(trace: number, arrays: TokenArrays): Promise<void> {
    if (trace <= this.#lastTrace) throw new Error(`trace ${trace} after trace ${this.#lastTrace}`)
    this.#lastTrace = trace
    return this.#file.write(blockOf(trace, arrays))
  }

  /** Writes the footer and, at the head of the file, the schema with its metadata. */
  async finish(metadata: TokenMetadata): Promise<FileSummary> {
    const entries = tokenMetadata(metadata)
    return this.#file.finish(layout => {
      for (const [key, value] of entries) layout.metadata.set(key, value)
    })
  }
}
