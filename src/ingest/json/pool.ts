/**
 * Shared buffers for trace slices. A fresh SharedArrayBuffer costs more in page faults than the copy into it, so a
 * caller that is done with a slice gives its buffer back and the next trace of that size takes it.
 */

/** Buffers kept for reuse; a reader has a few slices for each worker in flight. */
const MAX_FREE = 16

/** A free buffer serves a slice that is at least this share of it, so that small traces do not pin large buffers. */
const MIN_SHARE = 0.25

/** Buffers smaller than this are not worth keeping apart. */
const SMALL = 1 << 16

export class SlicePool {
  readonly #free: SharedArrayBuffer[] = []

  /** `length` bytes at the start of a shared buffer. Contents are undefined. */
  take(length: number): Uint8Array {
    let best = -1
    for (const [k, { byteLength }] of this.#free.entries()) {
      const fits = byteLength >= length && (byteLength <= SMALL || length >= byteLength * MIN_SHARE)
      if (fits && (best < 0 || byteLength < this.#free[best].byteLength)) best = k
    }
    if (best >= 0) return new Uint8Array(this.#free.splice(best, 1)[0], 0, length)
    return new Uint8Array(new SharedArrayBuffer(length + (length >> 3)), 0, length)
  }

  /** The caller and every thread it gave them to are done with these bytes, which came from `take`. */
  give(bytes: Uint8Array): void {
    if (bytes.buffer instanceof SharedArrayBuffer) this.#free.push(bytes.buffer)
    if (this.#free.length > MAX_FREE) this.#free.shift()
  }
}
