/**
 * Decimation: selects the values to draw where there are more than the picture has pixels.
 *
 * Bucket decimation of a token trace: the tokens of each generated span are cut into buckets. Of each bucket the first,
 * smallest, largest and last value are kept, unchanged and in order. A line through them covers the same pixels as a
 * line through all values, and no extreme is lost. Statistics never use decimated values.
 *
 * The explorer decimates in the browser, so that nothing of Node is imported here.
 */

export interface Decimated {
  /** indexes into the values, strictly increasing */
  readonly indexes: Int32Array
  /** span k has the kept indexes `indexes[spanOffsets[k] .. spanOffsets[k + 1])`; length spans + 1 */
  readonly spanOffsets: Int32Array
}

/**
 * Keeps at most `4 * (buckets + spans)` values in O(length). A bucket never crosses the end of a span. The last bucket
 * of a span may be shorter than the others. On a tie the earliest extreme is kept.
 * @param starts result of `spanStarts` (`spans.ts`)
 * @param buckets about the number of pixels across the plot
 */
export function decimateSpans(values: Float32Array | Float64Array, starts: Int32Array, buckets: number): Decimated {
  const spans = starts.length - 1
  const bucketLength = Math.max(1, Math.ceil(values.length / Math.max(1, Math.floor(buckets))))
  const indexes = new Int32Array(Math.min(values.length, 4 * (Math.ceil(values.length / bucketLength) + spans)))
  const spanOffsets = new Int32Array(spans + 1)
  let kept = 0
  for (let k = 0; k < spans; k++) {
    const end = starts[k + 1]
    for (let first = starts[k]; first < end; first += bucketLength) {
      const last = Math.min(first + bucketLength, end) - 1
      let smallest = first
      let largest = first
      for (let i = first + 1; i <= last; i++) {
        if (values[i] < values[smallest]) smallest = i
        else if (values[i] > values[largest]) largest = i
      }
      const earlier = Math.min(smallest, largest)
      const later = Math.max(smallest, largest)
      indexes[kept++] = first
      if (earlier > first) indexes[kept++] = earlier
      if (later > earlier) indexes[kept++] = later
      if (last > later) indexes[kept++] = last
    }
    spanOffsets[k + 1] = kept
  }
  return { indexes: indexes.slice(0, kept), spanOffsets }
}

/**
 * Indexes of the points of a line that are drawn. All points are kept where there are at most two per column.
 * Otherwise, of each run of consecutive points in one column the first, lowest, highest and last are kept. A line
 * through them covers the same columns as the whole line, and no extreme is lost.
 * @param x not decreasing, within min and max
 * @param columns about the number of pixels across the plot
 */
export function decimateColumns(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  { min, max }: { readonly min: number; readonly max: number },
  columns: number
): Int32Array {
  const count = x.length
  if (count <= 2 * columns) return Int32Array.from({ length: count }, (_, i) => i)
  const columnOf = (i: number): number => Math.floor(((x[i] - min) / (max - min)) * columns)
  // x = max falls into one further column.
  const indexes = new Int32Array(Math.min(count, 4 * (columns + 2)))
  let kept = 0
  for (let first = 0; first < count; ) {
    const column = columnOf(first)
    let lowest = first
    let highest = first
    let next = first + 1
    for (; next < count && columnOf(next) === column; next++) {
      if (y[next] < y[lowest]) lowest = next
      else if (y[next] > y[highest]) highest = next
    }
    const [earlier, later] = [Math.min(lowest, highest), Math.max(lowest, highest)]
    indexes[kept++] = first
    if (earlier > first) indexes[kept++] = earlier
    if (later > earlier) indexes[kept++] = later
    if (next - 1 > later) indexes[kept++] = next - 1
    first = next
  }
  return indexes.slice(0, kept)
}

/** Mean of every span over all of its values. */
export function spanMeans(values: Float64Array, starts: Int32Array): Float64Array {
  const means = new Float64Array(starts.length - 1)
  for (let k = 0; k < means.length; k++) {
    let sum = 0
    for (let i = starts[k]; i < starts[k + 1]; i++) sum += values[i]
    means[k] = sum / (starts[k + 1] - starts[k])
  }
  return means
}
