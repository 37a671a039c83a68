/**
 * The sections of the quality statistics: which statistics are of which set of trajectories. It is written once, for one critic
 * and for two: `estimateSet` chooses trajectories, plans the statistics that it is given, and makes what stands at each place.
 */
import { addAuc, addAucWithin } from './auc.js'
import { addCalibration, type CalibrationSlots } from './calibration.js'
import { addChanges, addSweep } from './change-statistics.js'
import type { DecileRow, OutcomeQuality, PairGroup, PooledQuality, SetQuality, WholeErrors } from './contract.js'
import { addDrift } from './drift.js'
import { addErrors, addExplainedByTrajectory, type TokenCell } from './errors.js'
import type { TakeEstimate } from './estimate.js'
import { MOMENTS } from './moments.js'
import type { QualityPlanBuilder } from './plan.js'
import { DECILES, type QualityRecord } from './record.js'
import type { Refusals } from './sampling.js'
import { addSuccessRate } from './success-rate.js'
import { addTurns } from './turns.js'
import type { Outcome } from '../../../schema/traces.js'

export type SetEstimator<E> = <S>(
  chosen: (record: QualityRecord) => boolean,
  add: (builder: QualityPlanBuilder) => (take: TakeEstimate<E>) => S
) => S

/** What makes the calibration of all trajectories pooled. */
export type Calibrated<E, C> = (slots: CalibrationSlots, take: TakeEstimate<E>, refusal: string | null) => C

export interface QualityLayout {
  readonly steps: readonly number[]
  readonly outcomes: readonly Outcome[]
  /** turns told apart at either end */
  readonly turns: number
  readonly thresholds: readonly number[]
  readonly ownThreshold: number
  readonly group: PairGroup
  readonly refusals: Refusals
}

const WHOLE: TokenCell = { array: r => r.whole, at: () => 0, none: 'no trajectory has values and returns' }

export function pooledQuality<E, C>(
  estimateSet: SetEstimator<E>,
  layout: QualityLayout,
  calibrated: Calibrated<E, C>
): PooledQuality<E, C> {
  const { thresholds, ownThreshold, refusals, turns } = layout
  const pooled = estimateSet(
    () => true,
    builder => {
      const set = addSet<E, C>(builder, layout, layout.group, calibrated)
      const sweep = addSweep(builder, thresholds, ownThreshold)
      const drift = addDrift(builder)
      const deciles = addDeciles(builder)
      const byTurn = addTurns(builder, turns)
      return (take: TakeEstimate<E>) => ({
        ...set(take),
        sweep: sweep(take),
        drift: drift(take, refusals.pooled),
        by_turn: byTurn(take, refusals.pooled),
        by_decile: deciles(take, refusals.pooled)
      })
    }
  )
  // Within one step all pairs are of that step: auc_by_decile is over them.
  const stepGroup = layout.group === 'prompt' ? 'prompt' : null
  return {
    ...pooled,
    by_outcome: {
      success: layout.outcomes.includes('success') ? outcomeQuality(estimateSet, layout, 'success') : null,
      failure: layout.outcomes.includes('failure') ? outcomeQuality(estimateSet, layout, 'failure') : null
    },
    by_step: layout.steps.map(step => ({
      step,
      ...estimateSet(
        record => record.step === step,
        builder => addSet<E, E>(builder, layout, stepGroup, ({ error }, take, refusal) => take(error, refusal))
      )
    }))
  }
}

function outcomeQuality<E>(estimateSet: SetEstimator<E>, { steps, turns }: QualityLayout, outcome: Outcome): OutcomeQuality<E> {
  const whole = estimateSet(
    record => record.outcome === outcome,
    builder => {
      const errors = addWhole(builder)
      const drift = addDrift(builder)
      const deciles = addDeciles(builder)
      const byTurn = addTurns(builder, turns)
      return (take: TakeEstimate<E>) => ({
        ...errors(take, null),
        by_turn: byTurn(take, null),
        by_decile: deciles(take, null),
        drift: drift(take, null)
      })
    }
  )
  const by_step = steps.map(step => ({
    step,
    ...estimateSet(
      record => record.outcome === outcome && record.step === step,
      builder => {
        const errors = addWhole(builder)
        return (take: TakeEstimate<E>) => errors(take, null)
      }
    )
  }))
  return { ...whole, by_step }
}

function addSet<E, C>(
  builder: QualityPlanBuilder,
  { ownThreshold, refusals, steps }: QualityLayout,
  group: PairGroup,
  calibrated: Calibrated<E, C>
): (take: TakeEstimate<E>) => SetQuality<E, C> {
  const errors = addWhole(builder)
  const successRate = addSuccessRate(builder)
  const auc = addAuc(builder)
  // Where all trajectories are of one step, its pairs are all pairs.
  const oneStep = group === 'step' && steps.length === 1 && builder.units.every(unit => unit.every(r => r.step !== null))
  const within = group === null ? null : oneStep ? auc : addAucWithin(builder, group)
  const calibration = addCalibration(builder)
  const changes = addChanges(builder, ownThreshold)
  return take => ({
    ...errors(take, refusals.pooled),
    success_rate: successRate(take, refusals.successRate),
    auc_by_decile: auc(take),
    auc_within_group: within?.(take) ?? [],
    calibration: calibrated(calibration, take, refusals.pooled),
    changes: changes(take)
  })
}

function addWhole(builder: QualityPlanBuilder): <E>(take: TakeEstimate<E>, refusal: string | null) => WholeErrors<E> {
  const errors = addErrors(builder, WHOLE)
  const byTrajectory = addExplainedByTrajectory(builder, WHOLE)
  return (take, refusal) => ({ ...errors(take, refusal), explained_variance_by_trajectory: byTrajectory(take, refusal) })
}

function addDeciles(builder: QualityPlanBuilder): <E>(take: TakeEstimate<E>, refusal: string | null) => DecileRow<E>[] {
  const none = 'no trajectory has a token in this decile with values and returns'
  const deciles = Array.from({ length: DECILES }, (_, decile) =>
    addErrors(builder, { array: r => r.deciles, at: () => decile * MOMENTS, none })
  )
  return (take, refusal) => deciles.map((errors, decile) => ({ decile, ...errors(take, refusal) }))
}
