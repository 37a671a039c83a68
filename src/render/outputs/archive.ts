/**
 * `critic-trace-arrays.npz`: the arrays of all traces, lossless and in their original dtypes, as numpy loads them.
 *
 *     trace_000_values                         1-d, `tokens` elements each
 *     trace_000_returns
 *     trace_000_response_positions
 *     trace_001_values …                       f'trace_{i:03d}_…': three digits, more from trace 1000 on
 *     synthetic                                0-d bool: the data were generated
 *     inputs_manifest_sha256                   0-d S64: manifest that the inputs were verified against; absent without one
 *
 * The width of the number does not depend on the number of traces, because a stream knows that only at its end.
 * `synthetic` comes last for the same reason: only then is it known whether the snapshot says so. Members are stored,
 * not deflated, as by `np.savez`. The reader of the arrays supplies the `.npy` files with their CRC-32. They are
 * written as views, without a copy. The byte format comes from the NPZ writer of ingest, which knows bytes and no
 * stages.
 */
import { TRACE_ARRAYS } from '../../schema/traces.js'
import type { TraceColumns } from '../../compute/traces/contract.js'
import { encodeNpyBool, encodeNpyHeader, NpzWriter } from '../../ingest/npz/write.js'
import type { FileSummary, OutputFile } from './output-file.js'
import { OUTPUT_PATHS, tracePrefix, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

export class TraceArchiveWriter {
  readonly #file: OutputFile
  readonly #npz: NpzWriter
  /** bytes that the archive writer has emitted and the file has not received: one trace's headers, and views of its arrays */
  #pending: Uint8Array[] = []
  #lastTrace = -1
  #previous: Promise<void> = Promise.resolve()

  private constructor(file: OutputFile) {
    this.#file = file
    this.#npz = new NpzWriter(bytes => {
      this.#pending.push(bytes)
    })
  }

  static async open(set: OutputSet): Promise<TraceArchiveWriter> {
    return new TraceArchiveWriter(await set.file(OUTPUT_PATHS.archive))
  }

  /**
   * Writes the three members of one trace. Calls may overlap; they are carried out in order.
   * @param trace its canonical index, larger than that of the call before
   * @param npy must not change until the promise resolves
   */
  write(trace: number, { npy }: Pick<TraceColumns, 'npy'>): Promise<void> {
    if (trace <= this.#lastTrace) throw new Error(`trace ${trace} after trace ${this.#lastTrace}`)
    this.#lastTrace = trace
    this.#previous = this.#previous.then(async () => {
      for (const name of TRACE_ARRAYS) {
        await this.#npz.add(`${tracePrefix(trace)}_${name}`, npy[name].bytes, { crc32: npy[name].crc32 })
      }
      await this.#flush()
    })
    return this.#previous
  }

  /** Writes the archive's statements about itself, and its directory. */
  async finish({ synthetic, manifest }: Omit<Origin, 'generator'>): Promise<FileSummary> {
    await this.#previous
    await this.#npz.add('synthetic', encodeNpyBool(synthetic))
    if (manifest !== null) {
      await this.#npz.add('inputs_manifest_sha256', [encodeNpyHeader('|S64', []), Buffer.from(manifest.sha256, 'latin1')])
    }
    await this.#npz.finish()
    await this.#flush()
    return this.#file.end()
  }

  #flush(): Promise<void> {
    const chunks = this.#pending
    this.#pending = []
    return this.#file.write(chunks)
  }
}
