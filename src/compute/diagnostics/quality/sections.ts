/**
 * The sections of the quality statistics: which statistics are of which set of trajectories. It is written once, for one critic
 * and for two: it asks for sets of trajectories, each with its statistics and with what stands at each place.
 */
import { mapLimited } from '../../../core/limited.js'
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

/** What is asked of a set of trajectories: its statistics are planned, and what stands at each place follows from them. */
export interface SetRequest<E, S> {
  readonly chosen: (record: QualityRecord) => boolean
  readonly add: (builder: QualityPlanBuilder) => (take: TakeEstimate<E>) => S
}

/** Asks for the statistics of a set. They may be read once those of all sets are computed. */
export type AskSet<E> = <S>(chosen: SetRequest<E, S>['chosen'], add: SetRequest<E, S>['add']) => () => S

/** Sets that are evaluated at a time: one is planned while threads resample the one before. */
const AT_ONCE = 2

/** Computes the statistics of every set that `ask` asks for, then what it makes of them. */
export async function estimatedSets<E, R>(
  ask: (askSet: AskSet<E>) => () => R,
  estimateSet: <S>(request: SetRequest<E, S>) => Promise<S>
): Promise<R> {
  const sets: (() => Promise<void>)[] = []
  const made = ask(<S>(chosen: SetRequest<E, S>['chosen'], add: SetRequest<E, S>['add']) => {
    const computed: S[] = []
    sets.push(async () => {
      computed.push(await estimateSet({ chosen, add }))
    })
    return () => computed[0]
  })
  await mapLimited(sets, AT_ONCE, evaluate => evaluate())
  return made()
}

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

export function pooledQuality<E, C>(askSet: AskSet<E>, layout: QualityLayout, calibrated: Calibrated<E, C>): () => PooledQuality<E, C> {
  const { thresholds, ownThreshold, refusals, turns } = layout
  const pooled = askSet(
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
  const [success, failure] = (['success', 'failure'] as const).map(outcome =>
    layout.outcomes.includes(outcome) ? outcomeQuality(askSet, layout, outcome) : () => null
  )
  const steps = layout.steps.map(step =>
    askSet(
      record => record.step === step,
      builder => addSet<E, E>(builder, layout, stepGroup, ({ error }, take, refusal) => take(error, refusal))
    )
  )
  return () => ({
    ...pooled(),
    by_outcome: { success: success(), failure: failure() },
    by_step: layout.steps.map((step, i) => ({ step, ...steps[i]() }))
  })
}

function outcomeQuality<E>(askSet: AskSet<E>, { steps, turns }: QualityLayout, outcome: Outcome): () => OutcomeQuality<E> {
  const whole = askSet(
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
  const errorsOf = steps.map(step =>
    askSet(
      record => record.outcome === outcome && record.step === step,
      builder => {
        const errors = addWhole(builder)
        return (take: TakeEstimate<E>) => errors(take, null)
      }
    )
  )
  return () => ({ ...whole(), by_step: steps.map((step, i) => ({ step, ...errorsOf[i]() })) })
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
