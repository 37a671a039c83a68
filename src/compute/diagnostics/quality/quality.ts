/**
 * Is the critic any good? Every statistic of a set of trajectories, pooled and by step, turn and decile, each with a 95 %
 * bootstrap interval over trajectories. It is a pure function of the records in canonical order: the same bits from any cut
 * into shards, at any number of threads.
 *
 * For judging values against outcomes: Kazemnejad et al., "VinePPO" (arXiv 2410.01679).
 *
 * Time: units × sums × resamples multiplications, and one pass over the sorted traces for each decile and resample. No token is
 * read.
 */
import { evaluatedPlan, resampledStatistics } from './bootstrap.js'
import type { SamplingDesign } from '../../../schema/diagnostics.js'
import type { Calibration, Estimate, PooledQuality, Quality } from './contract.js'
import { pairGroupOf } from './auc.js'
import { estimatesOf, reasonsByPointer, type EstimateReasons } from './estimate.js'
import { QualityPlanBuilder } from './plan.js'
import type { QualityRecord } from './record.js'
import { resampledNumbers, type Resample } from './resample-task.js'
import { unitKindOf, unitsOf, type ResampleOptions } from './resampling.js'
import { mergedQualityRecords } from './serial.js'
import { refusalsOf } from './sampling.js'
import { estimatedSets, pooledQuality, type Calibrated, type QualityLayout, type SetRequest } from './sections.js'
import { haveAllTurns, movingTurns, turnsBetween, turnsToldApart } from './turns.js'

export interface QualityOptions extends Omit<ResampleOptions, 'stream'> {
  readonly sampling: SamplingDesign
  /** the study's threshold of a jump; one of the sweep that the records were made with */
  readonly jumpThreshold: number
}

export const INTERVAL_LEVEL = 0.95
export const DEFAULT_RESAMPLING = { seed: 0, resamples: 2000 } as const

/**
 * @param given records in any order, all with one sweep of thresholds, `jumpThreshold` among them
 * @param resample what answers the tasks of the bootstrap; where nothing else is said, this thread
 */
export async function quality(
  given: readonly QualityRecord[],
  options: QualityOptions,
  resample: Resample = resampledNumbers
): Promise<Quality> {
  const records = mergedQualityRecords([given])
  const { seed, resamples, sampling } = options
  const kind = unitKindOf(records)
  const layout = layoutOf(records, options)
  const reasons: EstimateReasons = new Map()
  const estimateSet = async <S>({ chosen, add }: SetRequest<Estimate, S>): Promise<S> => {
    const builder = new QualityPlanBuilder(unitsOf(records.filter(chosen), kind))
    const shape = add(builder)
    const plan = builder.build()
    const statistics = plan.units.length < 2 ? null : await resampledStatistics(plan, { seed, resamples, stream: 0 }, resample)
    return shape(estimatesOf(plan, evaluatedPlan(plan), statistics, `one ${kind} alone: nothing to resample`, reasons))
  }
  const calibrated: Calibrated<Estimate, Calibration> = ({ error, describe }, take, refusal) => {
    const value = take(error, refusal)
    const whole = { ...value, ...describe(take, refusal) }
    const why = reasons.get(value)
    if (why !== undefined) reasons.set(whole, why)
    return whole
  }
  const pooled = await estimatedSets<Estimate, PooledQuality<Estimate, Calibration>>(
    askSet => pooledQuality(askSet, layout, calibrated),
    estimateSet
  )
  const sum = (of: (record: QualityRecord) => number) => records.reduce((total, record) => total + of(record), 0)
  const missing = (['success', 'failure'] as const).filter(outcome => pooled.by_outcome[outcome] === null)
  return {
    sampling,
    resampling: { unit: kind, units: unitsOf(records, kind).length, resamples, seed, level: INTERVAL_LEVEL },
    n_trajectories: records.length,
    tokens: sum(r => r.tokens),
    within_group: layout.group,
    ...pooled,
    transitions: { boundary: sum(r => r.changes.boundary.transitions), internal: sum(r => r.changes.internal.transitions) },
    moving_turns: movingTurns(records),
    turns_between: turnsBetween(records),
    undefined_reasons: {
      ...reasonsByPointer(pooled, reasons),
      ...Object.fromEntries(missing.map(outcome => [`/by_outcome/${outcome}`, `no ${outcome}`]))
    }
  }
}

export function layoutOf(records: readonly QualityRecord[], { sampling, jumpThreshold }: QualityOptions): QualityLayout {
  const turns = turnsToldApart(records)
  return {
    steps: [...new Set(records.flatMap(r => r.step ?? []))].sort((a, b) => a - b),
    outcomes: (['success', 'failure'] as const).filter(outcome => records.some(r => r.outcome === outcome)),
    turns,
    allTurns: haveAllTurns(records, turns),
    thresholds: records.length === 0 ? [] : [...records[0].changes.thresholds],
    ownThreshold: jumpThreshold,
    group: pairGroupOf(records),
    refusals: refusalsOf(sampling, records)
  }
}
