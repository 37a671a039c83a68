/**
 * A fixed histogram of the values of one trajectory: 4,096 cells over [-0.5, 1.5) with open ends. Its cells are the same for
 * all trajectories, so that histograms can be added; bins of about equal count are made of whole cells afterwards
 * (`calibration.ts`).
 */

const CELLS = 4096
const FROM = -0.5
/** Width of a cell is 2 / 4096, a power of two: its edges are exact, and 0, 0.5 and 1 are among them. */
const PER_UNIT = CELLS / 2

/** Values that a loop goes over at a time. */
const TOGETHER = 1024

/** Cell 0 holds the values below -0.5, cell c those in [edge(c), edge(c + 1)), the last those from 1.5 on. */
export const ALL_CELLS = CELLS + 2

export interface ValueHistogram {
  /** cells that hold a value, increasing */
  readonly cells: Uint16Array
  /** values in each of these cells */
  readonly counts: Uint32Array
  /** Σ V in each of these cells */
  readonly sums: Float64Array
  /** values below 0 */
  readonly below0: number
  /** values above 1 */
  readonly above1: number
}

/** Lower edge of a cell; -Infinity for the first. */
export function cellEdge(cell: number): number {
  return cell === 0 ? -Infinity : FROM + (cell - 1) / PER_UNIT
}

function cellOf(value: number): number {
  if (value < FROM) return 0
  return value >= 1.5 ? CELLS + 1 : 1 + Math.trunc((value - FROM) * PER_UNIT)
}

interface ValueRange {
  readonly least: number
  readonly most: number
  readonly below0: number
  readonly above1: number
}

function rangeOf(values: Float64Array): ValueRange {
  let least = Infinity
  let most = -Infinity
  let below0 = 0
  let above1 = 0
  for (let i = 0; i < values.length; i++) {
    const v = values[i]
    least = Math.min(least, v)
    most = Math.max(most, v)
    below0 += Number(v < 0)
    above1 += Number(v > 1)
  }
  return { least, most, below0, above1 }
}

/** Adds the values [from, to): a loop that stands alone and is called often, so that the engine compiles it once. */
function addValues(values: Float64Array, from: number, to: number, lowest: number, counts: Uint32Array, sums: Float64Array): void {
  for (let i = from; i < to; i++) {
    const cell = cellOf(values[i]) - lowest
    counts[cell]++
    sums[cell] += values[i]
  }
}

export function histogramOf(values: Float64Array): ValueHistogram {
  const { least, most, below0, above1 } = rangeOf(values)
  // Values of one trajectory lie close together: cells outside their range are not even made.
  const lowest = cellOf(least)
  const range = values.length === 0 ? 0 : cellOf(most) + 1 - lowest
  const counts = new Uint32Array(range)
  const sums = new Float64Array(range)
  for (let i = 0; i < values.length; i += TOGETHER) addValues(values, i, Math.min(i + TOGETHER, values.length), lowest, counts, sums)
  let used = 0
  for (let cell = 0; cell < range; cell++) if (counts[cell] > 0) used++
  const histogram = { cells: new Uint16Array(used), counts: new Uint32Array(used), sums: new Float64Array(used), below0, above1 }
  for (let cell = 0, k = 0; cell < range; cell++) {
    if (counts[cell] === 0) continue
    histogram.cells[k] = lowest + cell
    histogram.counts[k] = counts[cell]
    histogram.sums[k++] = sums[cell]
  }
  return histogram
}
