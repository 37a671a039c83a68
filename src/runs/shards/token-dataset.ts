/**
 * The tokens of a shard as its files of a Parquet dataset, `tokens/snapshot=NAME/step=112/part-3-0.parquet`: a file for each trainer
 * step, with the columns of `critic-traces.parquet`. Files of few steps are open at a time. A step that comes again behind others
 * begins a further file.
 */
import { GENERATOR } from '../../core/version.js'
import type { TraceColumns, TraceResult } from '../../compute/traces/contract.js'
import type { OutputSet } from '../../render/outputs/output-set.js'
import { ParquetTraceWriter } from '../../render/outputs/token-parquet.js'
import type { HashedFile } from '../../schema/study.js'
import { hiveFolder, TOKENS_FOLDER } from './names.js'

const MOST_OPEN = 8

interface StepFile {
  readonly step: number | null
  readonly writer: ParquetTraceWriter
  isVerified: boolean
  isSynthetic: boolean
}

export class TokenDataset {
  readonly #set: OutputSet
  readonly #snapshot: string
  readonly #shard: string
  /** the step that was used last stands last */
  #open: StepFile[] = []
  readonly #files: HashedFile[] = []
  readonly #counts = new Map<number | null, number>()

  /** @param shard its number as names of files have it */
  constructor(set: OutputSet, snapshot: string, shard: string) {
    this.#set = set
    this.#snapshot = snapshot
    this.#shard = shard
  }

  /** Takes one trace, in canonical order. @param columns must not change until the promise resolves */
  async write({ index, fields: { step }, compared, synthetic }: TraceResult, columns: TraceColumns): Promise<void> {
    const part = this.#open.find(each => each.step === step) ?? (await this.#begin(step))
    this.#open = [...this.#open.filter(each => each !== part), part]
    part.isVerified &&= compared
    part.isSynthetic ||= synthetic
    await part.writer.write(index, columns)
  }

  /** Ends every file. @param isSynthetic what the whole snapshot says @returns the files of the shard */
  async finish(isSynthetic: boolean, snapshotTime: string | null): Promise<readonly HashedFile[]> {
    for (const part of this.#open) await this.#end(part, isSynthetic, snapshotTime)
    return this.#files
  }

  async #begin(step: number | null): Promise<StepFile> {
    // The end of the snapshot, which may say that it is synthetic, is not known yet.
    if (this.#open.length === MOST_OPEN) await this.#end(this.#open.shift() as StepFile, null, null)
    const count = this.#counts.get(step) ?? 0
    this.#counts.set(step, count + 1)
    const folders = [hiveFolder('snapshot', this.#snapshot), hiveFolder('step', step === null ? null : String(step))]
    const path = [TOKENS_FOLDER, ...folders, `part-${this.#shard}-${count}.parquet`].join('/')
    const writer = await ParquetTraceWriter.open(this.#set, path, { sha256: true })
    return { step, writer, isVerified: true, isSynthetic: false }
  }

  async #end(
    { writer, isVerified, isSynthetic }: StepFile,
    isSnapshotSynthetic: boolean | null,
    snapshotTime: string | null
  ): Promise<void> {
    const synthetic = isSynthetic || isSnapshotSynthetic
    const summary = await writer.finish({ synthetic, manifest: null, generator: GENERATOR, verified: isVerified, snapshotTime })
    await writer.seal()
    this.#files.push({ path: summary.path, sha256: summary.sha256 ?? '', bytes: summary.bytes })
  }
}
