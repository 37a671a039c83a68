/**
 * Turns of one trajectory: maximal runs of retained tokens at consecutive positions. Turn 0 is the first; from the end, turn 0
 * is the last.
 */
import { MOMENTS } from './moments.js'

/** Turns at either end of a trajectory that are told apart. Those between them count in every other statistic. */
export const MAX_TURNS = 32
/** Numbers of one turn in `TurnSums.sums`: its moments, its first and its last value. */
const TURN_SUMS = MOMENTS + 2
/** Turns with the largest change that a record keeps: enough for the ten of all trajectories. */
export const LARGEST_TURNS = 10
/** Numbers of one turn in `TurnSums.largest`: turn (from the start), index of its first retained token, tokens, first, last value. */
export const LARGEST_SUMS = 5

export interface TurnSums {
  /** all turns of the trajectory */
  readonly count: number
  /** [turns × 8] all turns, or where there are more than 64 the first and the last 32 */
  readonly sums: Float64Array
  /** [at most 10 × 5] the turns with the largest |last value - first value|, largest first, the earlier one on a tie */
  readonly largest: Float64Array
}

/** Indexes of the retained tokens that begin a turn. @param positions [n] increasing */
export function turnStarts(positions: ArrayLike<number>): readonly number[] {
  const starts = [0]
  for (let i = 1; i < positions.length; i++) if (positions[i] - positions[i - 1] !== 1) starts.push(i)
  return starts
}

/** @param moments [turns × 6] of every turn */
export function turnRecords(values: Float64Array, starts: readonly number[], moments: Float64Array): TurnSums {
  const count = starts.length
  const last = (turn: number) => (turn + 1 < count ? starts[turn + 1] : values.length) - 1
  const change = (turn: number) => Math.abs(values[last(turn)] - values[starts[turn]])
  const turns = Array.from({ length: count }, (_, turn) => turn)
  const kept = count <= 2 * MAX_TURNS ? turns : turns.filter(turn => turn < MAX_TURNS || turn >= count - MAX_TURNS)
  const sums = new Float64Array(kept.length * TURN_SUMS)
  kept.forEach((turn, i) => {
    sums.set(moments.subarray(turn * MOMENTS, (turn + 1) * MOMENTS), i * TURN_SUMS)
    sums[i * TURN_SUMS + MOMENTS] = values[starts[turn]]
    sums[i * TURN_SUMS + MOMENTS + 1] = values[last(turn)]
  })
  const changes = Float64Array.from(turns, change)
  const largest = turns.sort((a, b) => changes[b] - changes[a]).slice(0, LARGEST_TURNS)
  const rows = largest.flatMap(turn => [turn, starts[turn], last(turn) - starts[turn] + 1, values[starts[turn]], values[last(turn)]])
  return { count, sums, largest: Float64Array.from(rows) }
}

/**
 * Where the numbers of a turn begin in `sums`; -1 where the trajectory has no such turn.
 * @param turn counted from the given end, below MAX_TURNS
 */
export function turnAt({ count, sums }: TurnSums, turn: number, end: 'start' | 'end'): number {
  if (turn >= count) return -1
  return end === 'start' ? turn * TURN_SUMS : sums.length - (turn + 1) * TURN_SUMS
}
