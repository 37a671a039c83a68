/**
 * Records are looked at a few times, one after another. Of many records the bytes lie in a file without a name: memory holds where.
 * What is read is what was written, the same bits.
 */
import { copyOf, inMemory, recordIn, type KeptBytes } from '../compute/diagnostics/packed-record.js'
import type { SampleDiagnosticRecord } from '../compute/diagnostics/trace-record.js'
import { SpillFile } from './spill-file.js'

/** Bytes that stay in memory before anything is written: of some hundred records nothing is. */
const IN_MEMORY = 2 ** 23

export class RecordSpill {
  readonly #file: SpillFile
  readonly #inMemory: number
  #held = 0
  #last: { readonly at: number; readonly bytes: ArrayBuffer } | null = null

  /**
   * @param dir the output folder: a system's folder for temporary files may lie in memory. It is made when it is needed
   * @param together bytes that are written at a time
   */
  constructor(dir: string, inMemory = IN_MEMORY, together?: number) {
    this.#file = new SpillFile(dir, together)
    this.#inMemory = inMemory
  }

  /** A view of a packed record, whose bytes may lie in the file from now on. @throws Fault where it cannot be written */
  take(record: Uint8Array): SampleDiagnosticRecord {
    return recordIn(this.keep(record))
  }

  /** @param bytes may change afterwards. @throws Fault where they cannot be written */
  keep(bytes: Uint8Array): KeptBytes {
    const { length } = bytes
    this.#held += length
    if (this.#held <= this.#inMemory) return inMemory(copyOf(bytes))
    const at = this.#file.write(bytes)
    return { length, read: (from, to) => this.#read(at + from, to - from) }
  }

  close(): void {
    this.#file.close()
  }

  /** Several arrays of one record are asked for one after another: the last answer stays. */
  #read(at: number, length: number): ArrayBuffer {
    if (this.#last?.at === at && this.#last.bytes.byteLength === length) return this.#last.bytes
    const bytes = this.#file.read(at, length)
    this.#last = { at, bytes }
    return bytes
  }
}
