/**
 * `critic-trace-arrays.npz`: the arrays of all traces, lossless and in their original dtypes, as numpy loads them.
 *
 *     synthetic                                0-d bool: the data were generated
 *     inputs_manifest_sha256                   0-d S64: manifest that the inputs were verified against; absent without one
 *     trace_000_values                         1-d, `tokens` elements each
 *     trace_000_returns
 *     trace_000_response_positions
 *     trace_001_values …                       f'trace_{i:03d}_…': three digits, more from trace 1000 on
 *
 * The width of the number cannot depend on how many traces there are, which a stream knows only at its end. Members
 * are stored, not deflated, as `np.savez` does. The `.npy` files come ready-made, with their CRC-32, from whoever read
 * the arrays; they leave as views. The byte format is the ingest side's NPZ writer: formats know bytes, not stages.
 */
import { TRACE_ARRAYS } from '../../schema.js'
import type { TraceColumns } from '../../compute/contract.js'
import { encodeNpyHeader, NpzWriter } from '../../ingest/npz/write.js'
import type { FileSummary, OutputFile } from './output-file.js'
import { OUTPUT_PATHS, tracePrefix, type Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

export class TraceArchiveWriter {
  readonly #file: OutputFile
  readonly #npz: NpzWriter
  /** what the archive writer has emitted and the file has not had: one trace's headers, and views of its arrays */
  #pending: Uint8Array[] = []
  #lastTrace = -1
  #previous: Promise<void>

  private constructor(file: OutputFile, { synthetic, manifest }: Omit<Origin, 'generator'>) {
    this.#file = file
    this.#npz = new NpzWriter(bytes => { this.#pending.push(bytes) })
    const flag = [encodeNpyHeader('|b1', []), Uint8Array.of(synthetic ? 1 : 0)]
    this.#previous = this.#npz.add('synthetic', flag)
    if (manifest === null) return
    const hash = [encodeNpyHeader('|S64', []), Buffer.from(manifest.sha256, 'latin1')]
    this.#previous = this.#previous.then(() => this.#npz.add('inputs_manifest_sha256', hash))
  }

  static async open(set: OutputSet, origin: Omit<Origin, 'generator'>): Promise<TraceArchiveWriter> {
    const writer = new TraceArchiveWriter(await set.file(OUTPUT_PATHS.archive), origin)
    await writer.#previous
    return writer
  }

  /**
   * Writes one trace's three members. `trace` is its canonical index, larger than the one before. `npy` must not
   * change until the promise resolves; calls may overlap, they are carried out in order.
   */
  write(trace: number, npy: TraceColumns['npy']): Promise<void> {
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

  /** Writes the archive's directory. */
  async finish(): Promise<FileSummary> {
    await this.#previous
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
