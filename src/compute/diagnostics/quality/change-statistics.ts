/**
 * Where the value changes: at boundaries between turns and inside turns. Means and rates are over transitions, never over
 * trajectories; the paired means are over trajectories that have both kinds, so that long ones do not decide. The formulas
 * stand at `ValueChanges` in `contract.ts`. |change| is in units of the return, rates and ratios have none.
 */
import type { ChangesOfKind } from './changes.js'
import type { ValueChanges, SweepRow } from './contract.js'
import type { TakeEstimate } from './estimate.js'
import type { SumFamily, QualityPlanBuilder } from './plan.js'
import type { QualityRecord } from './record.js'

const NONE = ['no boundary transition', 'no internal transition'] as const
const NO_BOTH = 'no trajectory has both boundary and internal transitions'

/** Adds what is said of changes at the study's threshold. */
export function addChanges(builder: QualityPlanBuilder, ownThreshold: number): <E>(take: TakeEstimate<E>) => ValueChanges<E> {
  const records = builder.units.flat()
  const first = builder.add(meansFamily(records, ownThreshold))
  const paired = builder.add(pairedFamily(records))
  return take => ({
    boundary: { mean_abs_change: take(first), jump_rate: take(first + 1) },
    internal: { mean_abs_change: take(first + 2), jump_rate: take(first + 3) },
    mean_abs_change_ratio: take(first + 4),
    jump_rate_ratio: take(first + 5),
    paired: {
      boundary: take(paired),
      internal: take(paired + 1),
      difference: take(paired + 2),
      boundary_exceeds: take(paired + 3)
    }
  })
}

/** Adds the jump rates of every threshold. */
export function addSweep(
  builder: QualityPlanBuilder,
  thresholds: readonly number[],
  ownThreshold: number
): <E>(take: TakeEstimate<E>) => SweepRow<E>[] {
  const first = builder.add(sweepFamily(builder.units.flat(), thresholds.length))
  return take =>
    thresholds.map((threshold, i) => ({
      threshold,
      own: threshold === ownThreshold,
      boundary: take(first + 2 * i),
      internal: take(first + 2 * i + 1)
    }))
}

const kindsOf = ({ changes }: QualityRecord): readonly [ChangesOfKind, ChangesOfKind] => [changes.boundary, changes.internal]

function having(records: readonly QualityRecord[], kind: number): number {
  return records.filter(r => kindsOf(r)[kind].transitions > 0).length
}

/** Sums of a unit: for each kind transitions, Σ|change|, jumps. */
function meansFamily(records: readonly QualityRecord[], ownThreshold: number): SumFamily {
  const own = records.length === 0 ? 0 : records[0].changes.thresholds.indexOf(ownThreshold)
  if (own < 0) throw new Error(`the records have no threshold ${ownThreshold}`)
  const counts = [0, 1].map(kind => having(records, kind))
  return {
    columns: 6,
    slots: 6,
    fill(unit, row, at) {
      for (const record of unit) {
        kindsOf(record).forEach(({ transitions, sum, jumps }, kind) => {
          row[at + 3 * kind] += transitions
          row[at + 3 * kind + 1] += sum
          row[at + 3 * kind + 2] += jumps[own]
        })
      }
    },
    read(sums, at, out, to) {
      for (const kind of [0, 1]) {
        out[to + 2 * kind] = sums[at + 3 * kind + 1] / sums[at + 3 * kind]
        out[to + 2 * kind + 1] = sums[at + 3 * kind + 2] / sums[at + 3 * kind]
      }
      out[to + 4] = out[to] / out[to + 2]
      out[to + 5] = out[to + 1] / out[to + 3]
    },
    trajectories: slot =>
      slot < 2 ? counts[0] : slot < 4 ? counts[1] : records.filter(r => kindsOf(r).some(k => k.transitions > 0)).length,
    why(sums, at, slot) {
      if (slot < 4) return NONE[slot >> 1]
      const missing = [0, 1].find(kind => sums[at + 3 * kind] === 0)
      if (missing !== undefined) return NONE[missing]
      return slot === 4 ? 'the value does not change inside turns' : 'no internal jump'
    }
  }
}

/** Sums of a unit: trajectories with both kinds, Σ of their boundary means, of their internal means, number with boundary > internal. */
function pairedFamily(records: readonly QualityRecord[]): SumFamily {
  const both = (record: QualityRecord) => kindsOf(record).every(kind => kind.transitions > 0)
  const count = records.filter(both).length
  return {
    columns: 4,
    slots: 4,
    fill(unit, row, at) {
      for (const record of unit) {
        if (!both(record)) continue
        const [boundary, internal] = kindsOf(record).map(({ sum, transitions }) => sum / transitions)
        row[at] += 1
        row[at + 1] += boundary
        row[at + 2] += internal
        row[at + 3] += boundary > internal ? 1 : 0
      }
    },
    read(sums, at, out, to) {
      const n = sums[at]
      out[to] = sums[at + 1] / n
      out[to + 1] = sums[at + 2] / n
      out[to + 2] = (sums[at + 1] - sums[at + 2]) / n
      out[to + 3] = sums[at + 3] / n
    },
    trajectories: () => count,
    why: () => NO_BOTH
  }
}

/** Sums of a unit: transitions of both kinds, then for each threshold the jumps of both. */
function sweepFamily(records: readonly QualityRecord[], thresholds: number): SumFamily {
  const counts = [0, 1].map(kind => having(records, kind))
  return {
    columns: 2 + 2 * thresholds,
    slots: 2 * thresholds,
    fill(unit, row, at) {
      for (const record of unit) {
        kindsOf(record).forEach(({ transitions, jumps }, kind) => {
          row[at + kind] += transitions
          for (let i = 0; i < thresholds; i++) row[at + 2 + 2 * i + kind] += jumps[i]
        })
      }
    },
    read(sums, at, out, to) {
      for (let i = 0; i < 2 * thresholds; i++) out[to + i] = sums[at + 2 + i] / sums[at + (i & 1)]
    },
    trajectories: slot => counts[slot & 1],
    why: (_sums, _at, slot) => NONE[slot & 1]
  }
}
