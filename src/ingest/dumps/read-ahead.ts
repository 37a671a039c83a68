/**
 * Reads ahead where small parts are read one behind the other: a dump of a rollout has some tensors of a few kilobytes for each
 * sample, in the order of its samples. Without it, each of them is a request of its own to the system. What lies between them, as
 * token ids that nobody asked for, is read too: that costs less than a request.
 */
import type { ByteSource } from '../../core/byte-source.js'

const WINDOW = 2 ** 20
/** A part that is larger is read alone. */
const SMALL = 2 ** 18
/** A part this near behind the last one belongs to the same run. */
const GAP = SMALL

export function readAhead(source: ByteSource): ByteSource {
  let from = 0
  let window: Promise<Uint8Array<ArrayBuffer>> | null = null
  let windowEnd = 0
  let lastEnd = -1
  return {
    size: source.size,
    async slice(start, end) {
      const isNext = start >= lastEnd && start - lastEnd <= GAP && lastEnd >= 0
      lastEnd = end
      if (end - start > SMALL) return source.slice(start, end)
      if (window === null || start < from || end > windowEnd) {
        if (!isNext) return source.slice(start, end)
        from = start
        windowEnd = Math.min(source.size, start + WINDOW)
        if (windowEnd < end) return source.slice(start, end)
        window = source.slice(from, windowEnd)
      }
      const base = from
      return (await window).slice(start - base, end - base)
    }
  }
}
