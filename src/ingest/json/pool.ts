/**
 * Shared buffers for trace slices. A fresh SharedArrayBuffer costs more in page faults than the copy into it. So a caller
 * that is done with a slice gives its buffer back, and a later trace of a similar size reuses it.
 */

/** Most free buffers that are kept. A reader has a few slices for each worker in flight. */
const MAX_FREE = 16

/** A free buffer is used only for a slice of at least this share of it, so that small traces do not pin large buffers. */
const MIN_SHARE = 0.25

/** A buffer up to this many bytes is used for any slice that fits. */
const SMALL = 1 << 16

/** Bytes of a word: a phase is smaller. */
const WORD = 8

export class SlicePool {
  readonly #free: SharedArrayBuffer[] = []

  /** `length` bytes of a shared buffer, at this phase. Their content is undefined. */
  take(length: number, phase = 0): Uint8Array {
    let best = -1
    for (const [k, { byteLength }] of this.#free.entries()) {
      const fits = byteLength >= phase + length && (byteLength <= SMALL || length >= byteLength * MIN_SHARE)
      if (fits && (best < 0 || byteLength < this.#free[best].byteLength)) best = k
    }
    if (best >= 0) return new Uint8Array(this.#free.splice(best, 1)[0], phase, length)
    return new Uint8Array(new SharedArrayBuffer(length + Math.max(length >> 3, WORD)), phase, length)
  }

  /** Takes back bytes that came from `take`. The caller and every thread it gave them to must be done with them. */
  give(bytes: Uint8Array): void {
    if (bytes.buffer instanceof SharedArrayBuffer) this.#free.push(bytes.buffer)
    if (this.#free.length > MAX_FREE) this.#free.shift()
  }
}
