/**
 * Changes of the value from one retained token to the next, in one trajectory. A change is at a boundary where the two tokens
 * stand in different turns, else it is inside a turn. |change| is in units of the return.
 */

export interface ChangesOfKind {
  readonly transitions: number
  /** Σ |V[i+1] - V[i]| */
  readonly sum: number
  /** [thresholds] transitions with |change| strictly above each threshold */
  readonly jumps: Uint32Array
}

export interface ChangeSums {
  /** [thresholds] increasing */
  readonly thresholds: Float64Array
  readonly boundary: ChangesOfKind
  readonly internal: ChangesOfKind
}

/**
 * Thresholds of the sweep: 1, 2 and 5 at each power of ten, with the study's own among them. Values have the scale of the
 * rewards, most often 0 to 1; rewards of another scale have the steps up to 10, and their study's own threshold.
 */
export function sweepThresholds(own: number): readonly number[] {
  const sweep = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
  return sweep.includes(own) ? sweep : [...sweep, own].sort((a, b) => a - b)
}

/**
 * Adds the changes between the values [from, to) to `exceeding`, by the number of thresholds that each exceeds, and their sum to
 * `sum`. The first eight thresholds are compared without a branch: which of them a change exceeds is anybody's guess.
 */
function countChanges(
  values: Float64Array,
  from: number,
  to: number,
  thresholds: Float64Array,
  exceeding: Uint32Array,
  sum: number
): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = [0, 1, 2, 3, 4, 5, 6, 7].map(i => thresholds[i] ?? Infinity)
  let value = values[from]
  for (let i = from + 1; i < to; i++) {
    const next = values[i]
    const change = Math.abs(next - value)
    value = next
    sum += change
    let above = Number(change > t0) + Number(change > t1) + Number(change > t2) + Number(change > t3)
    above += Number(change > t4) + Number(change > t5) + Number(change > t6) + Number(change > t7)
    if (above === 8) while (above < thresholds.length && change > thresholds[above]) above++
    exceeding[above]++
  }
  return sum
}

/** @param starts indexes of the tokens that begin a turn */
export function changeSumsOf(values: Float64Array, starts: readonly number[], sweep: readonly number[]): ChangeSums {
  const thresholds = Float64Array.from(sweep)
  const cells = thresholds.length + 1
  // Transitions by the number of thresholds that they exceed.
  const [boundaries, inside] = [new Uint32Array(cells), new Uint32Array(cells)]
  let [boundarySum, internalSum] = [0, 0]
  for (let turn = 0; turn < starts.length; turn++) {
    const start = starts[turn]
    const end = turn + 1 < starts.length ? starts[turn + 1] : values.length
    if (turn > 0) boundarySum = countChanges(values, start - 1, start + 1, thresholds, boundaries, boundarySum)
    internalSum = countChanges(values, start, end, thresholds, inside, internalSum)
  }
  const kind = (sum: number, counts: Uint32Array): ChangesOfKind => {
    const jumps = new Uint32Array(thresholds.length)
    let transitions = 0
    for (let above = counts.length - 1; above >= 0; above--) {
      transitions += counts[above]
      if (above > 0) jumps[above - 1] = transitions
    }
    return { transitions, sum, jumps }
  }
  return {
    thresholds,
    boundary: kind(boundarySum, boundaries),
    internal: kind(internalSum, inside)
  }
}
