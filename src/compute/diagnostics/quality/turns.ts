/**
 * Turns: errors and changes of the k-th turn from the start and from the end, and the turns that move the value most. The
 * change over a turn is V at its last retained token minus V at its first, in units of the return; what an observation does to
 * the value lies between turns and is a boundary change.
 */
import type { MovingTurn, TurnRows } from './contract.js'
import { addErrors } from './errors.js'
import type { TakeEstimate } from './estimate.js'
import { MOMENTS } from './moments.js'
import type { SumFamily, QualityPlanBuilder } from './plan.js'
import type { QualityRecord } from './record.js'
import { LARGEST_SUMS, LARGEST_TURNS, MAX_TURNS, turnAt } from './turn-record.js'

type TurnsFrom = 'start' | 'end'

/** Turns that are told apart: the most that a trajectory has, at most 32. */
export function turnsToldApart(records: readonly QualityRecord[]): number {
  return records.reduce((most, r) => Math.max(most, Math.min(MAX_TURNS, r.turns.count)), 0)
}

export function turnsBetween(records: readonly QualityRecord[]): number {
  return records.reduce((sum, r) => sum + Math.max(0, r.turns.count - 2 * MAX_TURNS), 0)
}

/** True where every trajectory has as many turns as are told apart: each turn is then one of either end. */
export function haveAllTurns(records: readonly QualityRecord[], turns: number): boolean {
  return records.every(r => r.turns.count === turns)
}

/**
 * Adds the turns; late ones come last in a row, so that short trajectories have short rows.
 * @param all `haveAllTurns`: those from the start are those from the end in the other order
 */
export function addTurns(
  builder: QualityPlanBuilder,
  turns: number,
  all: boolean
): <E>(take: TakeEstimate<E>, refusal: string | null) => TurnRows<E> {
  const each = Array.from({ length: turns }, (_, turn) => ({
    start: all ? null : addTurn(builder, turn, 'start'),
    end: addTurn(builder, turn, 'end')
  }))
  return (take, refusal) => ({
    from_start: each.map(({ start }, turn) => ({ turn, ...(start ?? each[turns - 1 - turn].end)(take, refusal) })),
    from_end: each.map(({ end }, turn) => ({ turn, ...end(take, refusal) }))
  })
}

function addTurn(builder: QualityPlanBuilder, turn: number, end: TurnsFrom) {
  const at = (record: QualityRecord) => turnAt(record.turns, turn, end)
  const none = `no trajectory has this turn with values and returns`
  const errors = addErrors(builder, { array: record => record.turns.sums, at, none })
  const change = builder.add(changeFamily(builder.units.flat(), at))
  return <E>(take: TakeEstimate<E>, refusal: string | null) => ({
    ...errors(take, refusal),
    change: take(change),
    absolute_change: take(change + 1)
  })
}

/** Sums of a unit: trajectories with the turn, Σ change, Σ |change|. */
function changeFamily(records: readonly QualityRecord[], at: (record: QualityRecord) => number): SumFamily {
  const count = records.filter(r => at(r) >= 0).length
  return {
    columns: 3,
    slots: 2,
    fill(unit, row, column) {
      for (const record of unit) {
        const i = at(record)
        if (i < 0) continue
        const change = record.turns.sums[i + MOMENTS + 1] - record.turns.sums[i + MOMENTS]
        row[column] += 1
        row[column + 1] += change
        row[column + 2] += Math.abs(change)
      }
    },
    read(sums, column, out, to) {
      out[to] = sums[column + 1] / sums[column]
      out[to + 1] = sums[column + 2] / sums[column]
    },
    trajectories: () => count,
    why: () => 'no trajectory has this turn with values'
  }
}

/** The ten turns with the largest |change|, largest first; on a tie the earlier trajectory, then the earlier turn. */
export function movingTurns(records: readonly QualityRecord[]): readonly MovingTurn[] {
  const turns = records.flatMap(({ index, uid, step, turns: { largest, count } }) =>
    Array.from({ length: largest.length / LARGEST_SUMS }, (_, i) => {
      const [turn, first_token, tokens, first_value, last_value] = largest.subarray(i * LARGEST_SUMS, (i + 1) * LARGEST_SUMS)
      const change = last_value - first_value
      return { index, uid, step, turn, turns: count, first_token, tokens, first_value, last_value, change }
    })
  )
  return turns.sort((a, b) => Math.abs(b.change) - Math.abs(a.change)).slice(0, LARGEST_TURNS)
}
