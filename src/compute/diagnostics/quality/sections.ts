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

/** Sets that are evaluated at a time: some are planned while threads resample those before. */
const AT_ONCE = 3

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
  /** every trajectory has that many turns */
  readonly allTurns: boolean
  readonly thresholds: readonly number[]
  readonly ownThreshold: number
  readonly group: PairGroup
  readonly refusals: Refusals
}

const WHOLE: TokenCell = { array: r => r.whole, at: () => 0, none: 'no trajectory has values and returns' }

export function pooledQuality<E, C>(askSet: AskSet<E>, layout: QualityLayout, calibrated: Calibrated<E, C>): () => PooledQuality<E, C> {
  const { thresholds, ownThreshold, refusals, turns, allTurns } = layout
  // The smaller sets come first, so that threads have work while the largest one is planned.
  const outcomes = layout.outcomes.map(outcome => ({ outcome, quality: outcomeQuality(askSet, layout, outcome) }))
  const pooled = askSet(
    () => true,
    builder => {
      const set = addSet<E, C>(builder, layout, layout.group, calibrated)
      const sweep = addSweep(builder, thresholds, ownThreshold)
      const drift = addDrift(builder)
      const deciles = addDeciles(builder)
      const byTurn = addTurns(builder, turns, allTurns)
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
  const steps = askSteps(layout, step =>
    askSet(
      record => record.step === step,
      builder => addSet<E, E>(builder, layout, stepGroup, ({ error }, take, refusal) => take(error, refusal))
    )
  )
  const stepped = outcomes.map(({ outcome, quality }) => {
    const errors = askSteps(layout, step =>
      askSet(
        record => record.outcome === outcome && record.step === step,
        builder => {
          const whole = addWhole(builder)
          return (take: TakeEstimate<E>) => whole(take, null)
        }
      )
    )
    return { outcome, quality: () => ({ ...quality(), by_step: errors() }) }
  })
  const qualityOf = (of: Outcome) => stepped.find(({ outcome }) => outcome === of)?.quality() ?? null
  return () => ({
    ...pooled(),
    by_outcome: { success: qualityOf('success'), failure: qualityOf('failure') },
    by_step: steps()
  })
}

/** Asks for a set of each step: a row each. */
function askSteps<S>({ steps }: QualityLayout, ask: (step: number) => () => S): () => (S & { readonly step: number })[] {
  const asked = steps.map(step => ({ step, row: ask(step) }))
  return () => asked.map(({ step, row }) => ({ step, ...row() }))
}

function outcomeQuality<E>(
  askSet: AskSet<E>,
  { turns, allTurns }: QualityLayout,
  outcome: Outcome
): () => Omit<OutcomeQuality<E>, 'by_step'> {
  return askSet(
    record => record.outcome === outcome,
    builder => {
      const errors = addWhole(builder)
      const drift = addDrift(builder)
      const deciles = addDeciles(builder)
      const byTurn = addTurns(builder, turns, allTurns)
      return (take: TakeEstimate<E>) => ({
        ...errors(take, null),
        by_turn: byTurn(take, null),
        by_decile: deciles(take, null),
        drift: drift(take, null)
      })
    }
  )
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
