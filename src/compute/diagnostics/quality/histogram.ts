/**
 * A fixed histogram of the values of one trajectory: 4,096 cells over [-0.5, 1.5) with open ends. Its cells are the same for
 * all trajectories, so that histograms can be added; bins of about equal count are made of whole cells afterwards
 * (`calibration.ts`).
 */

const CELLS = 4096
const FROM = -0.5
/** Width of a cell is 2 / 4096, a power of two: its edges are exact, and 0, 0.5 and 1 are among them. */
const PER_UNIT = CELLS / 2

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

export function histogramOf(values: Float64Array): ValueHistogram {
  const counts = new Uint32Array(ALL_CELLS)
  const sums = new Float64Array(ALL_CELLS)
  let [below0, above1] = [0, 0]
  for (let i = 0; i < values.length; i++) {
    const v = values[i]
    const cell = v < FROM ? 0 : v >= 1.5 ? CELLS + 1 : 1 + Math.floor((v - FROM) * PER_UNIT)
    counts[cell]++
    sums[cell] += v
    if (v < 0) below0++
    else if (v > 1) above1++
  }
  const used: number[] = []
  for (let cell = 0; cell < ALL_CELLS; cell++) if (counts[cell] > 0) used.push(cell)
  return {
    cells: Uint16Array.from(used),
    counts: Uint32Array.from(used, cell => counts[cell]),
    sums: Float64Array.from(used, cell => sums[cell]),
    below0,
    above1
  }
}
