/**
 * Reads ahead where small parts are read one behind the other: a dump of a rollout has some tensors of a few kilobytes for each
 * sample, in the order of its samples. Without it, each of them is a request of its own to the system.
 */
import type { ByteSource } from '../../core/byte-source.js'

const WINDOW = 2 ** 20
/** A part that is larger is read alone. */
const SMALL = 2 ** 18
/** A part this near to the last one belongs to the same run: between two there may be arrays that nobody asks for. */
const NEAR = 2 ** 18
/** Parts of a sample are asked for in another order than the file has them. */
const BEHIND = 2 ** 16

export function readAhead(source: ByteSource): ByteSource {
  let from = 0
  let window: Promise<Uint8Array<ArrayBuffer>> | null = null
  let windowEnd = 0
  let lastEnd = -1
  return {
    size: source.size,
    async slice(start, end) {
      const isNear = lastEnd >= 0 && Math.abs(start - lastEnd) <= NEAR
      lastEnd = end
      if (end - start > SMALL) return source.slice(start, end)
      if (window === null || start < from || end > windowEnd) {
        if (!isNear) return source.slice(start, end)
        from = Math.max(0, start - BEHIND)
        windowEnd = Math.min(source.size, from + WINDOW)
        window = source.slice(from, windowEnd)
      }
      const base = from
      return (await window).slice(start - base, end - base)
    }
  }
}
