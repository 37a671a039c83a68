/** Discount, lambda and KL coefficient out of a relation, each only where the data determine it to a thousandth. */
import { maxOf } from '../../../core/extremes.js'
import type { EstimatorRecord } from './record.js'
import { SINGLE } from './precision.js'
import { errorOf, type Relation, tolerance } from './relation.js'

/** A number is stated where four standard errors are below this. */
const STATED_WITHIN = 1e-3

/** How much larger the residual has to be with values off by one, beside a coarse type. */
const RIVAL_LARGER = 1.1

export interface Coefficients {
  readonly gamma: number | null
  readonly lambda: number | null
  readonly beta: number | null
  /** true: V[t+1] adds to the returns what rounding does not hide, so its alignment is seen */
  readonly valuesMatter: boolean
}

export function isStated(error: number): boolean {
  return 4 * error <= STATED_WITHIN
}

/** -kl's coefficient in the rewards themselves: 0 where those are all 0, else where both are stored and one is the multiple of the other. */
function betaInRewards(records: readonly EstimatorRecord[]): number | null {
  let [rk, kk, rr] = [0, 0, 0]
  for (const { rewardOnKl } of records) {
    if (rewardOnKl === null) continue
    rk += rewardOnKl[0]
    kk += rewardOnKl[1]
    rr += rewardOnKl[2]
  }
  if (rr === 0) return 0
  if (kk === 0) return null
  const beta = rk / kk
  return Math.abs(rr - beta * rk) <= 1e-6 * rr ? beta : null
}

/** -kl's coefficient beside the rewards. Without KL it is proven to be 0 where singles follow the relation without it. */
function betaBesideRewards(relation: Relation, records: readonly EstimatorRecord[]): number | null {
  if (records.some(r => r.has.kl)) {
    const error = errorOf(relation, [0, 0, 1])
    return !isStated(error) ? null : Math.abs(relation.beta) <= 4 * error ? 0 : relation.beta
  }
  const single = records.some(r => r.precision.values.relative <= 2 * SINGLE && r.precision.values.absolute === 0)
  const fine = relation.samples.every(s => relation.rounding(s.record) <= 2 * SINGLE)
  return relation.share === 1 && (single || fine) ? 0 : null
}

function betaOf(relation: Relation, records: readonly EstimatorRecord[]): number | null {
  const inside = records.some(r => r.has.rewards) ? betaInRewards(records) : 0
  const beside = betaBesideRewards(relation, records)
  return inside === null || beside === null ? null : inside + beside
}

export function coefficientsOf(relation: Relation, records: readonly EstimatorRecord[]): Coefficients {
  const { a, b } = relation
  const gamma = relation.foreign ? a : a + b
  const lambda = gamma === 0 ? 0 : b / gamma
  const gammaError = errorOf(relation, relation.foreign ? [1, 0, 0] : [1, 1, 0])
  const lambdaError =
    gamma === 0
      ? Number.POSITIVE_INFINITY
      : errorOf(relation, relation.foreign ? [-b / gamma ** 2, 1 / gamma, 0] : [-b / gamma ** 2, a / gamma ** 2, 0])
  const valueError = errorOf(relation, [1, 0, 0])
  // what the value adds, given the next return, over the scale of the returns
  const added = valueError > 0 && Number.isFinite(valueError) ? (Math.abs(a) * relation.noise) / (valueError * Math.sqrt(relation.rows)) : 0
  const hidden = maxOf(relation.samples.map(s => tolerance(relation.rounding(s.record))))
  return {
    gamma: isStated(gammaError) ? gamma : null,
    // without a discount there is no share of it
    lambda: isStated(gammaError) && isStated(lambdaError) ? lambda : null,
    beta: betaOf(relation, records),
    valuesMatter:
      Math.abs(a) > 5 * valueError && (relation.rival === null ? added > 2 * hidden : relation.rival > RIVAL_LARGER * relation.noise)
  }
}
