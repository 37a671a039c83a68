/**
 * The sections of the quality statistics: which statistics are of which set of trajectories. It is written once, for one critic and for two:
 * `judge` chooses trajectories, plans the statistics that it is given, and makes what stands at each place.
 */
import { addAuc, addAucWithin } from './auc.js'
import { addCalibration, type CalibrationSlots } from './calibration.js'
import { addChanges, addSweep } from './change-statistics.js'
import type { DecileRow, OutcomeQuality, PairGroup, PooledQuality, SetQuality, WholeErrors } from './contract.js'
import { addDrift } from './drift.js'
import { addErrors, addExplainedByTrajectory, type Cell } from './errors.js'
import type { Take } from './estimate.js'
import { MOMENTS } from './moments.js'
import type { PlanBuilder } from './plan.js'
import { DECILES, type QualityRecord } from './record.js'
import type { Refusals } from './sampling.js'
import { addSuccessRate } from './success-rate.js'
import { addTurns } from './turns.js'
import type { Outcome } from '../../../schema/traces.js'

export type Judge<E> = <S>(chosen: (record: QualityRecord) => boolean, add: (builder: PlanBuilder) => (take: Take<E>) => S) => S

/** What makes the calibration of all trajectories pooled. */
export type Calibrated<E, C> = (slots: CalibrationSlots, take: Take<E>, refusal: string | null) => C

export interface Layout {
  readonly steps: readonly number[]
  readonly outcomes: readonly Outcome[]
  /** turns told apart at either end */
  readonly turns: number
  readonly thresholds: readonly number[]
  readonly ownThreshold: number
  readonly group: PairGroup
  readonly refusals: Refusals
}

const WHOLE: Cell = { array: r => r.whole, at: () => 0, none: 'no trajectory has values and returns' }

export function pooledQuality<E, C>(judge: Judge<E>, layout: Layout, calibrated: Calibrated<E, C>): PooledQuality<E, C> {
  const { thresholds, ownThreshold, refusals, turns } = layout
  const noGroup = layout.group === null ? 'no prompt with several trajectories at a step, and no step with several' : null
  const pooled = judge(
    () => true,
    builder => {
      const set = addSet<E, C>(builder, layout, layout.group, noGroup, calibrated)
      const sweep = addSweep(builder, thresholds, ownThreshold)
      const drift = addDrift(builder)
      const deciles = addDeciles(builder)
      const byTurn = addTurns(builder, turns)
      return (take: Take<E>) => ({
        ...set(take),
        sweep: sweep(take),
        drift: drift(take, refusals.pooled),
        by_turn: byTurn(take, refusals.pooled),
        by_decile: deciles(take, refusals.pooled)
      })
    }
  )
  // Within one step every pair is of that step.
  const stepGroup = layout.group === 'prompt' ? 'prompt' : null
  const noStepGroup = stepGroup === null ? 'the trajectories of a step have no groups: auc_by_decile is over all its pairs' : null
  return {
    ...pooled,
    by_outcome: {
      success: layout.outcomes.includes('success') ? outcomeQuality(judge, layout, 'success') : null,
      failure: layout.outcomes.includes('failure') ? outcomeQuality(judge, layout, 'failure') : null
    },
    by_step: layout.steps.map(step => ({
      step,
      ...judge(
        record => record.step === step,
        builder => addSet<E, E>(builder, layout, stepGroup, noStepGroup, ({ error }, take, refusal) => take(error, refusal))
      )
    }))
  }
}

function outcomeQuality<E>(judge: Judge<E>, { steps, turns }: Layout, outcome: Outcome): OutcomeQuality<E> {
  const whole = judge(
    record => record.outcome === outcome,
    builder => {
      const errors = addWhole(builder)
      const drift = addDrift(builder)
      const deciles = addDeciles(builder)
      const byTurn = addTurns(builder, turns)
      return (take: Take<E>) => ({
        ...errors(take, null),
        by_turn: byTurn(take, null),
        by_decile: deciles(take, null),
        drift: drift(take, null)
      })
    }
  )
  const by_step = steps.map(step => ({
    step,
    ...judge(
      record => record.outcome === outcome && record.step === step,
      builder => {
        const errors = addWhole(builder)
        return (take: Take<E>) => errors(take, null)
      }
    )
  }))
  return { ...whole, by_step }
}

function addSet<E, C>(
  builder: PlanBuilder,
  { ownThreshold, refusals }: Layout,
  group: PairGroup,
  noGroup: string | null,
  calibrated: Calibrated<E, C>
): (take: Take<E>) => SetQuality<E, C> {
  const errors = addWhole(builder)
  const successRate = addSuccessRate(builder)
  const auc = addAuc(builder)
  const within = group === null ? auc : addAucWithin(builder, group)
  const calibration = addCalibration(builder)
  const changes = addChanges(builder, ownThreshold)
  return take => ({
    ...errors(take, refusals.pooled),
    success_rate: successRate(take, refusals.successRate),
    auc_by_decile: auc(take, null),
    auc_within_group: within(take, noGroup),
    calibration: calibrated(calibration, take, refusals.pooled),
    changes: changes(take)
  })
}

function addWhole(builder: PlanBuilder): <E>(take: Take<E>, refusal: string | null) => WholeErrors<E> {
  const errors = addErrors(builder, WHOLE)
  const byTrajectory = addExplainedByTrajectory(builder, WHOLE)
  return (take, refusal) => ({ ...errors(take, refusal), explained_variance_by_trajectory: byTrajectory(take, refusal) })
}

function addDeciles(builder: PlanBuilder): <E>(take: Take<E>, refusal: string | null) => DecileRow<E>[] {
  const none = 'no trajectory has a token in this decile with values and returns'
  const deciles = Array.from({ length: DECILES }, (_, decile) =>
    addErrors(builder, { array: r => r.deciles, at: () => decile * MOMENTS, none })
  )
  return (take, refusal) => deciles.map((errors, decile) => ({ decile, ...errors(take, refusal) }))
}
