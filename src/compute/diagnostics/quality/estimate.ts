/** From numbers of a plan to estimates, and from estimates with reasons to plain data with `undefined_reasons`. */
import { percentileInterval, type EvaluatedPlan, type PercentileInterval } from './bootstrap.js'
import type { Estimate } from './contract.js'
import { SUM_LEAVES_RANGE } from './moments.js'
import type { QualityPlan } from './plan.js'

/** Makes what stands at a slot. A refusal is the reason why the statistic is not given. */
export type TakeEstimate<E> = (slot: number, refusal?: string | null) => E

/** Why estimates are undefined, by the estimate itself; `settle` gives each reason its pointer. */
export type EstimateReasons = Map<Estimate, string>

/** @param statistics [slots × resamples]; null: fewer than two units, so there is no interval */
export function estimatesOf(
  plan: QualityPlan,
  evaluated: EvaluatedPlan,
  statistics: Float64Array | null,
  noInterval: string,
  reasons: EstimateReasons
): TakeEstimate<Estimate> {
  const resamples = statistics === null ? 0 : statistics.length / plan.slots
  return (slot, refusal = null) => {
    const { trajectories, why } = partOf(plan, evaluated, slot)
    const value = evaluated.values[slot]
    if (refusal !== null || Number.isNaN(value)) return undefinedEstimate(trajectories, refusal ?? why(), reasons)
    const interval =
      statistics === null ? { why: noInterval } : percentileInterval(statistics.subarray(slot * resamples, (slot + 1) * resamples))
    return estimate(value, interval, trajectories, reasons)
  }
}

export function undefinedEstimate(trajectories: number, why: string, reasons: EstimateReasons): Estimate {
  const made = { value: null, low: null, high: null, n_trajectories: trajectories }
  reasons.set(made, why)
  return made
}

export function estimate(value: number, interval: PercentileInterval, trajectories: number, reasons: EstimateReasons): Estimate {
  if ('why' in interval) {
    const made = { value, low: null, high: null, n_trajectories: trajectories }
    reasons.set(made, interval.why)
    return made
  }
  return { value, low: interval.low, high: interval.high, n_trajectories: trajectories }
}

function partOf({ linear, ranked }: QualityPlan, { sums }: EvaluatedPlan, slot: number): { trajectories: number; why: () => string } {
  const family = linear.find(part => slot >= part.slot && slot < part.slot + part.of.slots)
  if (family !== undefined) {
    const { of, column } = family
    const finite = sums.subarray(column, column + of.columns).every(Number.isFinite)
    const own = slot - family.slot
    return { trajectories: of.trajectories(own), why: () => (finite ? of.why(sums, column, own) : SUM_LEAVES_RANGE) }
  }
  const part = ranked.find(({ of, slot: first }) => slot >= first && slot < first + of.slots)
  if (part === undefined) throw new Error(`no statistic has slot ${slot}`)
  const own = slot - part.slot
  return { trajectories: part.of.trajectories(own), why: () => part.of.why(own) }
}

/** The reasons at their pointers: `/mse/value` where the value is null, `/mse/low` where only the interval is. */
export function reasonsByPointer(tree: object, reasons: EstimateReasons): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const visit = (node: unknown, pointer: string): void => {
    if (typeof node !== 'object' || node === null) return
    const why = reasons.get(node as Estimate)
    if (why !== undefined) found[`${pointer}/${(node as Estimate).value === null ? 'value' : 'low'}`] = why
    for (const [key, inner] of Object.entries(node)) visit(inner, `${pointer}/${key}`)
  }
  visit(tree, '')
  return found
}
