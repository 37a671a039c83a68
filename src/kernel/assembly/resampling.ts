/**
 * The loops of the bootstrap, over several resamples at once. Each lane of a vector is a resample of its own, and its numbers
 * are added in the order of the same loop in JavaScript: the bits are those of that loop.
 */

// @ts-nocheck: checked by the compiler of AssemblyScript, whose types these are

/** Blocks of rows that all resamples go over before the next ones: what a processor's cache holds. */
const BLOCKS = 16
/** Rows of a block: one at each of eight places, so that a column of a block is 64 bytes. */
const COLUMN: usize = 64

/** How often two resamples drew a unit: two uint16 as two doubles. */
@inline
function drawn(counts: usize): v128 {
  return f64x2.convert_low_i32x4_u(v128.extend_low<u16>(v128.load32_zero(counts)))
}

@inline
function times(weight: v128, rows: usize, row: usize): v128 {
  return v128.mul<f64>(weight, v128.load_splat<f64>(rows + (row << 3)))
}

/** Where the counts of the unit at place `i` of the order begin; behind the last unit rows are 0, so any unit will do. */
@inline
function countsOf(order: usize, i: i32, last: i32, counts: usize, width: usize): usize {
  return counts + ((<usize>load<i32>(order + (<usize>min(i, last) << 2)) * width) << 1)
}

/**
 * Adds to the sums of each resample all rows, each times how often the resample drew its unit.
 *
 * @param rows doubles: row r of a block has its number of column c at 8 c + r of the block
 * @param blocks `count` + 1 int32s: where each block begins
 * @param order `units` int32s: the unit of each row
 * @param counts uint16s: how often resample b drew unit u, at u * width + b
 * @param width resamples, an even number
 * @param sums doubles: two resamples together, column c of resamples b and b + 1 at b * columns + 2 c and behind it
 */
export function addRows(rows: usize, blocks: usize, count: i32, order: usize, units: i32, counts: usize, width: i32, sums: usize, columns: i32): void {
  const last = units - 1
  const w = <usize>width
  for (let from = 0; from < count; from += BLOCKS) {
    const to = min(count, from + BLOCKS)
    for (let b = 0; b < width; b += 2) {
      const own = counts + (<usize>b << 1)
      const first = sums + ((<usize>b * <usize>columns) << 3)
      for (let block = from; block < to; block++) {
        const u = block << 3
        const w0 = drawn(countsOf(order, u, last, own, w))
        const w1 = drawn(countsOf(order, u + 1, last, own, w))
        const w2 = drawn(countsOf(order, u + 2, last, own, w))
        const w3 = drawn(countsOf(order, u + 3, last, own, w))
        const w4 = drawn(countsOf(order, u + 4, last, own, w))
        const w5 = drawn(countsOf(order, u + 5, last, own, w))
        const w6 = drawn(countsOf(order, u + 6, last, own, w))
        const w7 = drawn(countsOf(order, u + 7, last, own, w))
        const end = rows + (<usize>load<i32>(blocks + (<usize>(block + 1) << 2)) << 3)
        let into = first
        for (let p = rows + (<usize>load<i32>(blocks + (<usize>block << 2)) << 3); p < end; p += COLUMN) {
          const low = v128.add<f64>(
            v128.add<f64>(times(w0, p, 0), times(w1, p, 1)),
            v128.add<f64>(times(w2, p, 2), times(w3, p, 3))
          )
          const high = v128.add<f64>(
            v128.add<f64>(times(w4, p, 4), times(w5, p, 5)),
            v128.add<f64>(times(w6, p, 6), times(w7, p, 7))
          )
          v128.store(into, v128.add<f64>(v128.load(into), v128.add<f64>(low, high)))
          into += 16
        }
      }
    }
  }
}

/**
 * Pairs of a success and a failure in each resample, over traces in the order of group and score.
 *
 * @param units `n` int32s: unit of each trace
 * @param flags `n` bytes: bit 0, the last of those with one score in one group; bit 1, the last of its group; bit 2, a success
 * @param width resamples, an even number
 * @param out doubles: the pairs of each resample, then twice the pairs in which the success is ahead; a tie counts one
 */
export function countPairs(units: usize, flags: usize, n: i32, counts: usize, width: i32, out: usize): void {
  const zero = f64x2.splat(0)
  const stride = <usize>width << 1
  for (let b = 0; b < width; b += 2) {
    const own = counts + (<usize>b << 1)
    let pairs = zero
    let ahead2 = zero
    let positives = zero
    let below = zero
    let tiedPositives = zero
    let tiedNegatives = zero
    for (let i = 0; i < n; i++) {
      const flag = <i64>load<u8>(flags + <usize>i)
      const weight = drawn(own + <usize>load<i32>(units + (<usize>i << 2)) * stride)
      const success = i64x2.splat(-(flag >> 2))
      tiedPositives = v128.add<f64>(tiedPositives, v128.and(weight, success))
      tiedNegatives = v128.add<f64>(tiedNegatives, v128.andnot(weight, success))
      if ((flag & 1) == 0) continue
      const reached = v128.add<f64>(v128.add<f64>(below, below), tiedNegatives)
      ahead2 = v128.add<f64>(ahead2, v128.mul<f64>(tiedPositives, reached))
      positives = v128.add<f64>(positives, tiedPositives)
      below = v128.add<f64>(below, tiedNegatives)
      tiedPositives = zero
      tiedNegatives = zero
      if ((flag & 2) == 0) continue
      pairs = v128.add<f64>(pairs, v128.mul<f64>(positives, below))
      positives = zero
      below = zero
    }
    v128.store(out + (<usize>b << 3), pairs)
    v128.store(out + (<usize>(width + b) << 3), ahead2)
  }
}
