/** Orders the observations of a curve by time. */
import type { Work } from './work.js'

/** Indexes of the finite timestamps, by timestamp. Ties keep their order. */
export function* byTimestamp(timestamp: Float64Array): Work<Int32Array> {
  let order = new Int32Array(timestamp.length)
  let count = 0
  /** the starts of the ordered stretches, and the end */
  let starts: number[] = []
  for (let i = 0; i < timestamp.length; i++) {
    if (!Number.isFinite(timestamp[i])) continue
    if (count === 0 || timestamp[i] < timestamp[order[count - 1]]) starts.push(count)
    order[count++] = i
  }
  if (count < order.length) order = order.slice(0, count)
  starts.push(count)
  // Most histories are one stretch. Overlapping sessions make a few, which are merged pairwise.
  let other = starts.length > 2 ? new Int32Array(count) : order
  while (starts.length > 2) {
    yield
    const merged: number[] = []
    for (let s = 0; s + 1 < starts.length; s += 2) {
      merged.push(starts[s])
      merge(timestamp, order, other, starts[s], starts[s + 1], starts[Math.min(s + 2, starts.length - 1)])
    }
    merged.push(count)
    starts = merged
    const full: Int32Array<ArrayBuffer> = other
    other = order
    order = full
  }
  return order
}

/** Merges from[start .. middle) and from[middle .. end), both ordered, into the same positions of `to`. */
function merge(timestamp: Float64Array, from: Int32Array, to: Int32Array, start: number, middle: number, end: number): void {
  let a = start
  let b = middle
  for (let k = start; k < end; k++) {
    to[k] = b === end || (a < middle && timestamp[from[a]] <= timestamp[from[b]]) ? from[a++] : from[b++]
  }
}
