/** Bytes that wait outside memory, in a file without a name. What is read is what was written, the same bits. */
import { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { outputFault } from '../render/outputs/output-fault.js'
import { tempName } from '../render/outputs/temp-names.js'

/** Bytes that are written together. */
const WRITTEN = 2 ** 20

export class SpillFile {
  readonly #dir: string
  readonly #together: number
  #pending = Buffer.alloc(0)
  #fd: number | null = null
  /** bytes in the file, and in `pending` behind them */
  #written = 0
  #waiting = 0

  /**
   * @param dir where the file lies. It is made when it is needed
   * @param together bytes that are written at a time
   */
  constructor(dir: string, together = WRITTEN) {
    this.#dir = dir
    this.#together = together
  }

  /** @returns where the first of them begins. @throws Fault where it cannot be written */
  write(...arrays: readonly ArrayBufferView[]): number {
    if (this.#pending.length === 0) this.#pending = Buffer.allocUnsafeSlow(this.#together)
    const at = this.#written + this.#waiting
    for (const { buffer, byteOffset, byteLength } of arrays) {
      const bytes = new Uint8Array(buffer, byteOffset, byteLength)
      for (let from = 0; from < byteLength; ) {
        if (this.#waiting === this.#together) this.#flush()
        const part = bytes.subarray(from, from + this.#together - this.#waiting)
        this.#pending.set(part, this.#waiting)
        this.#waiting += part.length
        from += part.length
      }
    }
    return at
  }

  /** @throws Fault where it cannot be read */
  read(at: number, length: number): ArrayBuffer {
    const bytes = new ArrayBuffer(length)
    if (at >= this.#written) {
      // What was just written is often read at once.
      new Uint8Array(bytes).set(this.#pending.subarray(at - this.#written, at - this.#written + length))
      return bytes
    }
    if (at + length > this.#written) this.#flush()
    this.#guarded(fd => {
      const found = length === 0 ? 0 : readSync(fd, new Uint8Array(bytes), 0, length, at)
      if (found !== length) throw new Error(`${found} bytes of ${length} that were written`)
    })
    return bytes
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
  }

  #flush(): void {
    this.#guarded(fd => {
      for (let from = 0; from < this.#waiting; ) from += writeSync(fd, this.#pending, from, this.#waiting - from, this.#written + from)
    })
    this.#written += this.#waiting
    this.#waiting = 0
  }

  /** The file has no name once it is open: whatever ends the process, nothing of it stays. */
  #guarded(work: (fd: number) => void): void {
    try {
      if (this.#fd === null) {
        mkdirSync(this.#dir, { recursive: true })
        const path = join(this.#dir, tempName('spill', 'tmp'))
        this.#fd = openSync(path, 'wx+', 0o600)
        unlinkSync(path)
      }
      work(this.#fd)
    } catch (error) {
      throw outputFault(error, this.#dir)
    }
  }
}
