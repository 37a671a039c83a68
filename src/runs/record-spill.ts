/**
 * Records are looked at a few times, one after another. Of many records the bytes lie in a file without a name: memory holds where.
 * What is read is what was written, the same bits.
 */
import { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { copyOf, inMemory, recordIn, type KeptBytes } from '../compute/diagnostics/packed-record.js'
import type { SampleDiagnosticRecord } from '../compute/diagnostics/trace-record.js'
import { outputFault } from '../render/outputs/output-fault.js'
import { tempName } from '../render/outputs/temp-names.js'

/** Bytes that stay in memory before anything is written: of some hundred records nothing is. */
const IN_MEMORY = 2 ** 23
/** Bytes that are written together. */
const WRITTEN = 2 ** 20

export class RecordSpill {
  readonly #dir: string
  readonly #inMemory: number
  readonly #together: number
  #pending = Buffer.alloc(0)
  #fd: number | null = null
  #held = 0
  /** bytes in the file, and in `pending` behind them */
  #written = 0
  #waiting = 0
  #last: { readonly at: number; readonly bytes: ArrayBuffer } | null = null

  /**
   * @param dir the output folder: a system's folder for temporary files may lie in memory. It is made when it is needed
   * @param together bytes that are written at a time
   */
  constructor(dir: string, inMemory = IN_MEMORY, together = WRITTEN) {
    this.#together = together
    this.#dir = dir
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
    const at = this.#write(bytes)
    return { length, read: (from, to) => this.#read(at + from, to - from) }
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
  }

  /** @returns where they begin */
  #write(bytes: Uint8Array): number {
    if (this.#pending.length === 0) this.#pending = Buffer.allocUnsafeSlow(this.#together)
    const at = this.#written + this.#waiting
    for (let from = 0; from < bytes.length; ) {
      if (this.#waiting === this.#together) this.#flush()
      const part = bytes.subarray(from, from + this.#together - this.#waiting)
      this.#pending.set(part, this.#waiting)
      this.#waiting += part.length
      from += part.length
    }
    return at
  }

  #flush(): void {
    this.#guarded(fd => {
      for (let from = 0; from < this.#waiting; ) from += writeSync(fd, this.#pending, from, this.#waiting - from, this.#written + from)
    })
    this.#written += this.#waiting
    this.#waiting = 0
  }

  /** Several arrays of one record are asked for one after another: the last answer stays. */
  #read(at: number, length: number): ArrayBuffer {
    if (this.#last?.at === at && this.#last.bytes.byteLength === length) return this.#last.bytes
    const bytes = new ArrayBuffer(length)
    // The head of a record is read when it has just been taken.
    if (at >= this.#written) new Uint8Array(bytes).set(this.#pending.subarray(at - this.#written, at - this.#written + length))
    else {
      if (at + length > this.#written) this.#flush()
      this.#guarded(fd => {
        const found = length === 0 ? 0 : readSync(fd, new Uint8Array(bytes), 0, length, at)
        if (found !== length) throw new Error(`${found} bytes of ${length} that were written`)
      })
    }
    this.#last = { at, bytes }
    return bytes
  }

  /** The file has no name once it is open: whatever ends the process, nothing of it stays. */
  #guarded(work: (fd: number) => void): void {
    try {
      if (this.#fd === null) {
        mkdirSync(this.#dir, { recursive: true })
        const path = join(this.#dir, tempName('records', 'tmp'))
        this.#fd = openSync(path, 'wx+', 0o600)
        unlinkSync(path)
      }
      work(this.#fd)
    } catch (error) {
      throw outputFault(error, this.#dir)
    }
  }
}
