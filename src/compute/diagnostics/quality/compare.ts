/**
 * Two critics: every quality statistic of both, and the difference a - b with its interval. Where uids pair the trajectories,
 * one by one, a resample draws the same units of both, so that what they share (the prompt, its difficulty) leaves the
 * difference; else each is resampled for itself, from streams that are independent. Source: Efron and Tibshirani 1993, chapter
 * 8 (two samples).
 */
import { Fault } from '../../../core/errors.js'
import { evaluatedPlan, percentileInterval, resampledStatistics, type PercentileInterval } from './bootstrap.js'
import type { SamplingDesign } from '../../../schema/diagnostics.js'
import type { Compared, Estimate, Pairing, PooledQuality, QualityComparison } from './contract.js'
import { estimate, estimatesOf, reasonsByPointer, undefinedEstimate, type EstimateReasons, type TakeEstimate } from './estimate.js'
import { QualityPlanBuilder, type QualityPlan, type ResampleUnit } from './plan.js'
import { INTERVAL_LEVEL, layoutOf, type QualityOptions } from './quality.js'
import type { QualityRecord } from './record.js'
import { mergedQualityRecords } from './serial.js'
import { resampledNumbers, type Resample } from './resample-task.js'
import { unitKindOf, unitsOf, type ResampleOptions } from './resampling.js'
import { estimatedSets, pooledQuality, type QualityLayout, type SetRequest } from './sections.js'

export interface CompareOptions extends QualityOptions {
  /** design of the second sample; `sampling` is that of the first */
  readonly samplingOfB: SamplingDesign
}

/** @param givenA records in any order @param givenB in any order, with the same sweep of thresholds */
export async function compareQuality(
  givenA: readonly QualityRecord[],
  givenB: readonly QualityRecord[],
  options: CompareOptions,
  resample: Resample = resampledNumbers
): Promise<QualityComparison> {
  const a = mergedQualityRecords([givenA])
  const b = mergedQualityRecords([givenB])
  const { seed, resamples } = options
  const grouped = unitKindOf(a) === 'prompt group' || unitKindOf(b) === 'prompt group'
  const kind = grouped ? 'prompt group' : 'trajectory'
  const reasons: EstimateReasons = new Map()
  const draws: ResampleOptions = { seed, resamples, stream: 0 }
  const estimateSet = async <S>({ chosen, add }: SetRequest<Compared, S>): Promise<S> => {
    const sides = [a, b].map(records => unitsOf(records.filter(chosen), kind))
    const planned = sides.map(units => {
      const builder = new QualityPlanBuilder(units)
      return { shape: add(builder), plan: builder.build() }
    })
    const [planA, planB] = planned.map(({ plan }) => plan)
    const [statisticsA, statisticsB] = await Promise.all(
      [planA, planB].map(plan => (plan.units.length < 2 ? null : resampledStatistics(plan, draws, resample)))
    )
    const partners = partnersOf(sides[0], sides[1])
    const against = (): Float64Array | null | Promise<Float64Array> => {
      if (statisticsB === null) return null
      if (partners === null) return resampledStatistics(planB, { ...draws, stream: 1 }, resample)
      if (partners.every((unit, i) => unit === sides[1][i])) return statisticsB
      const builder = new QualityPlanBuilder(partners)
      add(builder)
      return resampledStatistics(builder.build(), draws, resample)
    }
    const noInterval = `one ${kind} alone: nothing to resample`
    return planned[0].shape(
      differences(
        estimatesOf(planA, evaluatedPlan(planA), statisticsA, noInterval, reasons),
        estimatesOf(planB, evaluatedPlan(planB), statisticsB, noInterval, reasons),
        planA,
        statisticsA,
        await against(),
        partners !== null,
        reasons
      )
    )
  }
  const layout = sharedLayout(layoutOf(a, options), layoutOf(b, { ...options, sampling: options.samplingOfB }))
  const pooled = await estimatedSets<Compared, PooledQuality<Compared>>(
    askSet => pooledQuality(askSet, layout, ({ error }, take, refusal) => take(error, refusal)),
    estimateSet
  )
  const missing = (['success', 'failure'] as const).filter(outcome => pooled.by_outcome[outcome] === null)
  return {
    pairing: pairingOf(a, b),
    resampling: { unit: kind, units: unitsOf(a, kind).length, resamples, seed, level: INTERVAL_LEVEL },
    ...pooled,
    undefined_reasons: {
      ...reasonsByPointer(pooled, reasons),
      ...Object.fromEntries(missing.map(outcome => [`/by_outcome/${outcome}`, `one of the two has no ${outcome}`]))
    }
  }
}

/** What both have; refused where it is refused of one of them. */
function sharedLayout(a: QualityLayout, b: QualityLayout): QualityLayout {
  const [thresholds, other] = a.thresholds.length > 0 ? [a.thresholds, b.thresholds] : [b.thresholds, a.thresholds]
  if (other.length > 0 && String(thresholds) !== String(other)) {
    const found = `${thresholds} and ${other}`
    throw new Fault({ format: 'quality records', problem: 'other thresholds', found, expected: 'one sweep for both critics' })
  }
  return {
    ...a,
    thresholds,
    steps: a.steps.filter(step => b.steps.includes(step)),
    outcomes: a.outcomes.filter(outcome => b.outcomes.includes(outcome)),
    turns: Math.min(a.turns, b.turns),
    allTurns: a.allTurns && b.allTurns && a.turns === b.turns,
    group: a.group === b.group ? a.group : null,
    refusals: {
      pooled: a.refusals.pooled ?? b.refusals.pooled,
      successRate: a.refusals.successRate ?? b.refusals.successRate
    }
  }
}

function differences(
  takeA: TakeEstimate<Estimate>,
  takeB: TakeEstimate<Estimate>,
  { slots }: QualityPlan,
  a: Float64Array | null,
  b: Float64Array | null,
  paired: boolean,
  reasons: EstimateReasons
): TakeEstimate<Compared> {
  return (slot, refusal) => {
    const [ofA, ofB] = [takeA(slot, refusal), takeB(slot, refusal)]
    const count = ofA.n_trajectories + ofB.n_trajectories
    const missing = ofA.value === null ? ofA : ofB
    if (ofA.value === null || ofB.value === null) {
      return { a: ofA, b: ofB, difference: undefinedEstimate(count, reasons.get(missing) ?? '', reasons), paired }
    }
    let interval: PercentileInterval = { why: 'one of the two has nothing to resample' }
    if (a !== null && b !== null) {
      const resamples = a.length / slots
      const at = slot * resamples
      interval = percentileInterval(Float64Array.from({ length: resamples }, (_, i) => a[at + i] - b[at + i]))
    }
    return { a: ofA, b: ofB, difference: estimate(ofA.value - ofB.value, interval, count, reasons), paired }
  }
}

/** For each unit of `a` the unit of `b` with the same uid and as many trajectories; null where one has none, or one of `b` is left. */
function partnersOf(a: readonly ResampleUnit[], b: readonly ResampleUnit[]): readonly ResampleUnit[] | null {
  if (a.length !== b.length) return null
  const units = new Map(b.map(unit => [unit[0].uid, unit]))
  const partners = a.map(unit => (unit[0].uid === null ? undefined : units.get(unit[0].uid)))
  const whole = partners.every((partner, i) => partner !== undefined && partner.length === a[i].length)
  return whole && units.size === b.length ? (partners as readonly ResampleUnit[]) : null
}

function pairingOf(a: readonly QualityRecord[], b: readonly QualityRecord[]): Pairing {
  const unpaired = (why: string): Pairing => ({ paired: false, rule: `unpaired: ${why}`, pairs: 0 })
  if ([...a, ...b].some(r => r.uid === null)) return unpaired('a trajectory states no uid')
  if (partnersOf(unitsOf(a, 'prompt group'), unitsOf(b, 'prompt group')) === null) return unpaired('the uids of the two differ')
  return { paired: true, rule: 'paired: by uid, and within a uid by order', pairs: a.length }
}
