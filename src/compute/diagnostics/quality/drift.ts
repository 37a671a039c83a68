/**
 * Drift over trainer steps: the least-squares slope of a trajectory's mean against its step, every trajectory weighing the same
 * (`numpy.polyfit` of degree 1; `scipy.stats.linregress`). Of the mean value, mean return, mean (V - R) and mean (V - R)², in
 * their units for one step. The values at each step are in `by_step`.
 *
 * A unit contributes n, Σx, Σx² and for each y Σy, Σxy, where x is the step minus the mean step of the sample.
 */
import type { StepDrift } from './contract.js'
import { NO_RETURNS } from './errors.js'
import type { TakeEstimate } from './estimate.js'
import type { SumFamily, QualityPlanBuilder } from './plan.js'
import type { QualityRecord } from './record.js'

const SLOPES = 4
const ROUNDING = 1e-13

export function addDrift(builder: QualityPlanBuilder): <E>(take: TakeEstimate<E>, refusal: string | null) => StepDrift<E> {
  const first = builder.add(driftFamily(builder.units.flat()))
  return (take, refusal) => ({
    mean_value: take(first, refusal),
    mean_return: take(first + 1, refusal),
    bias: take(first + 2, refusal),
    mse: take(first + 3, refusal)
  })
}

function driftFamily(records: readonly QualityRecord[]): SumFamily {
  const withReturns = records.some(r => r.hasValues && r.hasReturns)
  const counts = (r: QualityRecord) => r.step !== null && r.hasValues && (r.hasReturns || !withReturns)
  const counted = records.filter(counts)
  const mean = counted.reduce((sum, r) => sum + (r.step ?? 0), 0) / counted.length
  return {
    columns: 3 + 2 * SLOPES,
    slots: SLOPES,
    fill(unit, row, at) {
      for (const record of unit) {
        if (!counts(record)) continue
        const x = (record.step ?? 0) - mean
        row[at] += 1
        row[at + 1] += x
        row[at + 2] += x * x
        meansOf(record).forEach((y, i) => {
          row[at + 3 + 2 * i] += y
          row[at + 4 + 2 * i] += x * y
        })
      }
    },
    read(sums, at, out, to) {
      const n = sums[at]
      const x = sums[at + 1]
      const spread = spreadOf(n, x, sums[at + 2])
      for (let i = 0; i < SLOPES; i++) {
        const y = sums[at + 3 + 2 * i]
        const xy = sums[at + 4 + 2 * i]
        const known = i === 0 || withReturns
        out[to + i] = known && spread > 0 ? (xy - (x * y) / n) / spread : NaN
      }
    },
    trajectories: slot => (slot === 0 || withReturns ? counted.length : 0),
    why(sums, at, slot) {
      if (!withReturns && slot > 0) return NO_RETURNS
      return sums[at] === 0 ? 'no trajectory states its step' : 'one step alone'
    }
  }
}

/** Σ (x - mean x)²; 0 where it is rounding. */
function spreadOf(n: number, x: number, xx: number): number {
  const spread = xx - (x * x) / n
  return spread > ROUNDING * xx ? spread : 0
}

/** A trajectory's mean value, mean return, mean (V - R), mean (V - R)². */
function meansOf({ whole }: QualityRecord): readonly number[] {
  const [n, value, returned, , , errors] = whole
  const bias = value - returned
  return [value, returned, bias, errors / n + bias * bias]
}
