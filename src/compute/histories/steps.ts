/** Gaps in an increasing sequence of integer steps, and the distances between its elements. */

export interface MissingSteps {
  readonly count: number
  /** the first `cap` of them, increasing */
  readonly first: readonly number[]
}

/**
 * Steps missing from step[from .. to), which holds strictly increasing safe integers. The count is a subtraction and
 * not a loop, because two rows may lie 2^53 apart.
 */
export function missingSteps(step: Float64Array, from: number, to: number, cap: number): MissingSteps {
  const first: number[] = []
  if (to <= from) return { count: 0, first }
  for (let i = from + 1; i < to && first.length < cap; i++) {
    for (let s = step[i - 1] + 1; s < step[i] && first.length < cap; s++) first.push(s)
  }
  return { count: step[to - 1] - step[from] + 1 - (to - from), first }
}

/** The most frequent distance between neighbours, the smallest one on a tie. Null for fewer than two elements. */
export function usualDistance(step: Float64Array): number | null {
  // Distances are sorted and not counted in a map, because there may be millions of different ones.
  const distances = new Float64Array(Math.max(0, step.length - 1))
  for (let i = 0; i < distances.length; i++) distances[i] = step[i + 1] - step[i]
  distances.sort()
  let usual: number | null = null
  let most = 0
  for (let first = 0, next = 0; first < distances.length; first = next) {
    while (next < distances.length && distances[next] === distances[first]) next++
    if (next - first <= most) continue
    usual = distances[first]
    most = next - first
  }
  return usual
}

/** Position of the first element >= value, or the length where there is none. `sorted` must not decrease. */
export function lowerBound(sorted: Float64Array | Int32Array, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether `value` is an element of `sorted`. */
export function hasStep(sorted: Float64Array, value: number): boolean {
  return sorted[lowerBound(sorted, value)] === value
}
