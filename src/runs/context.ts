/**
 * What every run over the files of one folder is given; the code that starts the run makes it once. It says where the files
 * lie, which hashes were verified, what outputs state about the run, what stops the run and who receives its progress.
 */
import { join, relative, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Fault } from '../core/errors.js'
import { readStillSync } from '../core/still-file-sync.js'
import { requireVerified, verifiedFault } from '../core/verified.js'
import { GENERATOR } from '../core/version.js'
import type { Origin } from '../render/outputs/output-names.js'
import type { HashedFile } from '../schema/study.js'
import type { SnapshotPlan } from '../study/inventory.js'
import { throwIfInterrupted } from './transaction.js'

/** Takes how much is done so far. */
export type Done = (done: number) => void

/**
 * Receivers of a run's progress, one for each stage. Each is called when its stage begins and returns a function that takes
 * the amount done so far.
 */
export interface RunProgress {
  /** amounts are bytes of the page, or NPZ files */
  readonly onSnapshot?: ((plan: SnapshotPlan) => Promise<Done>) | undefined
  /** @param total bytes of the histories' folder */
  readonly onHistories?: ((total: number) => Done) | undefined
  /** called when the histories are read; amounts are parts of their analysis */
  readonly onAnalysis?: (() => Done) | undefined
  /** called when the histories are analysed; amounts are rows written */
  readonly onWriting?: (() => Done) | undefined
  /** @param total bytes of the files that the evidence names, without those that they inherit from */
  readonly onEvidence?: ((total: number) => Done) | undefined
  /** @param total files to draw */
  readonly onFigures?: ((total: number) => Done) | undefined
}

export interface RunSettings {
  /** the study's folder; without a study, the snapshot's */
  readonly dir: string
  readonly origin: Origin
  /** SHA-256 by path relative to the folder; absent: nothing was verified */
  readonly verified?: ReadonlyMap<string, string> | undefined
  readonly signal?: AbortSignal | undefined
  readonly progress?: RunProgress | undefined
  /** bytes of a file that are read at once; outputs do not depend on it */
  readonly chunkBytes?: number | undefined
}

export class RunContext {
  readonly dir: string
  readonly origin: Origin
  readonly signal: AbortSignal | undefined
  readonly progress: RunProgress
  readonly chunkBytes: number | undefined
  readonly #verified: ReadonlyMap<string, string> | undefined

  constructor({ dir, origin, verified, signal, progress = {}, chunkBytes }: RunSettings) {
    this.dir = dir
    this.origin = origin
    this.signal = signal
    this.progress = progress
    this.chunkBytes = chunkBytes
    this.#verified = verified
  }

  /** Where a file of the folder lies. */
  place(path: string): string {
    return join(this.dir, path)
  }

  /** A place below the folder as the manifest writes it; '' for the folder itself. */
  pathOf(place: string): string {
    return relative(this.dir, place).split(sep).join('/')
  }

  /** SHA-256 that a file was verified to have. */
  verifiedHash(path: string): string | undefined {
    return this.#verified?.get(path)
  }

  /** What is wrong with a file that is not as it was verified; null: nothing. */
  verifiedFault(file: HashedFile): Fault | null {
    return verifiedFault(this.dir, file, this.#verified)
  }

  /** Returns the file, which must be as it was verified. @throws Fault exit 1 */
  require<F extends HashedFile>(file: F): F {
    return requireVerified(this.dir, file, this.#verified)
  }

  /** Reads a whole file, once; it must be as it was verified. @param format the format's name in messages */
  read(path: string, format: string): { readonly bytes: Uint8Array; readonly file: HashedFile } {
    const { bytes, sha256 } = readStillSync(this.place(path), format)
    return { bytes, file: this.require({ path, sha256, bytes: bytes.length }) }
  }

  throwIfInterrupted(): void {
    throwIfInterrupted(this.signal)
  }

  /** Lets the event loop turn once: a signal is heard only there. @throws Fault exit 130 where one was */
  async turn(): Promise<void> {
    await setImmediate()
    this.throwIfInterrupted()
  }
}

/** What every output says of its run. @param manifest what the inputs were verified against; null: against nothing */
export function originOf(synthetic: boolean, manifest: Origin['manifest']): Origin {
  return { synthetic, manifest, generator: GENERATOR }
}
