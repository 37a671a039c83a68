/**
 * Reads ahead where small parts are read one behind the other: a dump of a rollout has some tensors of a few kilobytes for each
 * sample, in the order of its samples. Without it, each of them is a request of its own to the system. What lies between them, as
 * token ids that nobody asked for, is read too: that costs less than a request.
 */
import type { ByteSource } from '../../core/byte-source.js'

const WINDOW = 2 ** 21
/** A part that is larger is read alone. */
const SMALL = 2 ** 18
/** A part this near to the last one belongs to the same run: between two there may be arrays that nobody asks for. */
const NEAR = 2 ** 18
/** Parts of a sample are asked for in another order than the file has them. */
const BEHIND = 2 ** 16

/** A part of the source in the one buffer that all windows share, one after another. */
interface ReadWindow {
  readonly from: number
  readonly end: number
  /** its bytes, once they are read */
  readonly filled: Promise<Uint8Array<ArrayBuffer>>
  /** copies out of it that are under way */
  readonly copies: Promise<unknown>[]
}

export function readAhead(source: ByteSource): ByteSource {
  let buffer: Uint8Array<ArrayBuffer> | null = null
  let window: ReadWindow | null = null
  let lastEnd = -1
  const open = (from: number, end: number): ReadWindow => {
    buffer ??= new Uint8Array(new ArrayBuffer(Math.min(WINDOW, source.size)))
    const bytes = buffer.subarray(0, end - from)
    // The bytes of the window before stay until every part that was asked for is copied.
    const free = Promise.allSettled(window?.copies ?? [])
    return { from, end, filled: free.then(() => fill(source, bytes, from)), copies: [] }
  }
  return {
    size: source.size,
    async slice(start, end) {
      const isNear = lastEnd >= 0 && Math.abs(start - lastEnd) <= NEAR
      lastEnd = end
      if (end - start > SMALL) return source.slice(start, end)
      if (window === null || start < window.from || end > window.end) {
        const windowStart = Math.max(0, start - BEHIND)
        const windowEnd = Math.min(source.size, windowStart + WINDOW)
        if (!isNear || windowEnd < end) return source.slice(start, end)
        window = open(windowStart, windowEnd)
      }
      const { from, filled, copies } = window
      const copy = filled.then(bytes => bytes.slice(start - from, end - from))
      copies.push(copy)
      return copy
    }
  }
}

async function fill<T extends Uint8Array>(source: ByteSource, bytes: T, start: number): Promise<T> {
  if (source.fill === undefined) bytes.set(await source.slice(start, start + bytes.length))
  else await source.fill(bytes, start)
  return bytes
}
