/**
 * One output while it is written: a temporary file beside its place, written as a stream. Bytes go to the kernel as
 * they come, without a copy. Every few megabytes they also go to the disk in the background, so that little is left for
 * the fsync at the end: for 45 MB, 3 ms in place of 24-29 ms.
 */
import { createHash, type Hash } from 'node:crypto'
import type { Fault } from '../../core/errors.js'
import { outputFault } from './output-fault.js'
import type { OutputHandle } from './output-fs.js'

export interface FileSummary {
  /** relative to the output folder */
  readonly path: string
  readonly bytes: number
  /** null where it was not requested */
  readonly sha256: string | null
}

/** Write-back starts when this many bytes have been written since its last start. */
const WRITE_BACK_BYTES = 8 * 1024 * 1024

/** For an ended file with more than this left to write back, the write-back starts at once. */
const LARGE_REST_BYTES = 256 * 1024

async function writeFully(handle: OutputHandle, chunks: readonly Uint8Array[], position: number): Promise<number> {
  let left = chunks.filter(chunk => chunk.byteLength > 0)
  let at = position
  while (left.length > 0) {
    let taken = await handle.writev(left, at)
    if (!(taken > 0)) throw new Error(`the file took ${taken} bytes of a write`)
    at += taken
    let whole = 0
    for (const chunk of left) {
      if (taken < chunk.byteLength) break
      taken -= chunk.byteLength
      whole += 1
    }
    left = left.slice(whole)
    const partial = left[0]
    if (partial !== undefined && taken > 0) left[0] = partial.subarray(taken)
  }
  return at
}

export class OutputFile {
  /** relative to the output folder */
  readonly path: string
  readonly #target: string
  readonly #handle: OutputHandle
  readonly #hash: Hash | null
  /** called once, when the first operation fails; settles when the whole set has been removed */
  readonly #onFailure: (error: unknown) => Promise<void>
  /** called once, when the file has ended */
  readonly #onEnd: (file: OutputFile) => void
  #accepted = 0
  #position = 0
  #sinceWriteBack = 0
  /** settles when every operation so far is done, and never rejects */
  #queue: Promise<unknown> = Promise.resolve()
  #writeBack: Promise<unknown> | null = null
  #failure: unknown = null
  #ended: Promise<FileSummary> | null = null
  #sealed: Promise<void> | null = null
  #closed: Promise<void> | null = null

  constructor(
    path: string,
    target: string,
    handle: OutputHandle,
    sha256: boolean,
    on: { readonly failure: (error: unknown) => Promise<void>; readonly end: (file: OutputFile) => void }
  ) {
    this.path = path
    this.#target = target
    this.#handle = handle
    this.#hash = sha256 ? createHash('sha256') : null
    this.#onFailure = on.failure
    this.#onEnd = on.end
  }

  /** Number of bytes accepted so far, which is the position of the next write. */
  get bytes(): number {
    return this.#accepted
  }

  /**
   * Appends. The promise gives back-pressure: it resolves when the kernel has the bytes, which must not change before.
   * Several writes may run at once; they land in the order of the calls.
   * @throws Fault of the first failed operation, after the whole set was aborted
   */
  write(data: Uint8Array | readonly Uint8Array[]): Promise<void> {
    const chunks = data instanceof Uint8Array ? [data] : data
    if (this.#ended === null) for (const chunk of chunks) this.#accepted += chunk.byteLength
    return this.#run(async () => {
      if (this.#hash !== null) for (const chunk of chunks) this.#hash.update(chunk)
      const before = this.#position
      this.#position = await writeFully(this.#handle, chunks, before)
      this.#sinceWriteBack += this.#position - before
      this.#startWriteBack()
    })
  }

  /**
   * Overwrites bytes that were written before, for a header that is known only at the end.
   * @throws Error with `sha256`, because the hash already covers the old bytes
   * @throws RangeError where the file ends before the bytes
   */
  overwrite(position: number, bytes: Uint8Array): Promise<void> {
    if (this.#hash !== null) throw new Error(`${this.path} is hashed as it is written and cannot be written over`)
    if (position + bytes.byteLength > this.#accepted) {
      throw new RangeError(`${this.path} ends before the bytes to write over`)
    }
    return this.#run(async () => {
      await writeFully(this.#handle, [bytes], position)
    })
  }

  /**
   * Reads bytes that were written before.
   * @throws RangeError where the file ends before the bytes
   */
  async read(position: number, into: Uint8Array): Promise<void> {
    if (position + into.byteLength > this.#accepted) throw new RangeError(`${this.path} ends before the bytes to read`)
    await this.#run(async () => {
      for (let done = 0; done < into.byteLength; ) {
        const taken = await this.#handle.read(into.subarray(done), position + done)
        if (!(taken > 0)) throw new Error(`the file gave ${taken} bytes of a read`)
        done += taken
      }
    })
  }

  /** Ends the writes. The rest of a large file goes to the disk in the background. Idempotent. */
  end(): Promise<FileSummary> {
    this.#ended ??= this.#run(async () => {
      // Small files wait for their turn (`OutputSet`).
      if (this.#sinceWriteBack < LARGE_REST_BYTES) return
      this.#sealed = this.#settleToDisk()
      // A failure is reported by `seal`, which awaits the same promise.
      this.#sealed.catch(error => {
        this.#failure ??= error
      })
    }, true).then(() => {
      this.#onEnd(this)
      return { path: this.path, bytes: this.#position, sha256: this.#hash?.digest('hex') ?? null }
    })
    return this.#ended
  }

  /** Ends the file, waits until it is on the disk, and closes it. */
  async seal(): Promise<FileSummary> {
    const summary = await this.end()
    try {
      this.#sealed ??= this.#settleToDisk()
      await this.#sealed
      await this.#close()
    } catch (error) {
      throw outputFault(error, this.#target)
    }
    return summary
  }

  /**
   * Waits for running operations, then closes. Writes that have not begun fail with `reason`. Never rejects, because
   * the content is no longer needed.
   */
  async discard(reason: Fault): Promise<void> {
    this.#failure ??= reason
    await this.#queue
    await Promise.allSettled([this.#writeBack, this.#sealed])
    await Promise.allSettled([this.#close()])
  }

  #close(): Promise<void> {
    this.#closed ??= this.#handle.close()
    return this.#closed
  }

  async #settleToDisk(): Promise<void> {
    await this.#writeBack
    // The system reports a failed write-back once. A later fsync would succeed.
    if (this.#failure !== null) throw this.#failure
    await this.#handle.sync()
  }

  #startWriteBack(): void {
    if (this.#sinceWriteBack < WRITE_BACK_BYTES || this.#writeBack !== null) return
    this.#sinceWriteBack = 0
    // A failure appears at the next operation on the file. Nothing awaits this promise before the end.
    this.#writeBack = this.#handle.datasync().then(
      () => {
        this.#writeBack = null
      },
      error => {
        this.#failure ??= error
      }
    )
  }

  /** Runs one operation after all earlier ones. The first failure makes all later operations fail. */
  #run(operation: () => Promise<void>, last = false): Promise<void> {
    if (this.#ended !== null && !last) return Promise.reject(new Error(`${this.path} has ended`))
    const done = this.#queue.then(async () => {
      if (this.#failure !== null) throw this.#failure
      await operation()
    })
    this.#queue = done.then(
      () => undefined,
      error => {
        this.#failure ??= error
      }
    )
    return done.catch(async error => {
      const fault = outputFault(error, this.#target)
      await this.#onFailure(fault)
      throw fault
    })
  }
}
