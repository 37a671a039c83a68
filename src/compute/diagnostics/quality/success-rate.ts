/** The share of successes among the trajectories with a known outcome: Σ y / n, y = 1 for a success. No unit. */
import type { TakeEstimate } from './estimate.js'
import type { QualityPlanBuilder } from './plan.js'

export function addSuccessRate(builder: QualityPlanBuilder): <E>(take: TakeEstimate<E>, refusal: string | null) => E {
  const known = builder.units.flat().filter(r => r.outcome !== null).length
  const slot = builder.add({
    columns: 2,
    slots: 1,
    fill(unit, row, at) {
      row[at] = unit.filter(r => r.outcome !== null).length
      row[at + 1] = unit.filter(r => r.outcome === 'success').length
    },
    read(sums, at, out, to) {
      out[to] = sums[at + 1] / sums[at]
    },
    trajectories: () => known,
    why: () => 'no trajectory states an outcome or a score'
  })
  return (take, refusal) => take(slot, refusal)
}
