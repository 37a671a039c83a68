/** The generated spans of a trace, as the figures cut it: between the transitions that leave a turn. */
import { Fault } from '../../core/errors.js'

/**
 * Start of every generated span, and the length at the end: span k is `values[starts[k] .. starts[k + 1])`.
 * @param boundaries from-indexes i of the transitions i -> i + 1 between spans, strictly increasing
 */
export function spanStarts(length: number, boundaries: Int32Array): Int32Array {
  if (length === 0) return new Int32Array(1)
  const starts = new Int32Array(boundaries.length + 2)
  for (let k = 0; k < boundaries.length; k++) {
    const start = boundaries[k] + 1
    if (start <= starts[k] || start >= length) {
      throw new Fault({
        format: 'figure',
        problem: 'has a boundary out of order',
        found: String(boundaries[k]),
        expected: `an index from ${starts[k]} to ${length - 2}`,
        place: { array: 'boundaries', index: k }
      })
    }
    starts[k + 1] = start
  }
  starts[starts.length - 1] = length
  return starts
}
