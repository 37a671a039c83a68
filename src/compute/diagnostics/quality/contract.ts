/**
 * What the quality statistics hand to outputs and pages: plain data without functions. The shapes are generic, so that a
 * comparison of two critics has the same names: there `E` is a `Compared` instead of an `Estimate`.
 *
 * V: value, R: return, y: outcome, 1 for a success and 0 for a failure. Tokens are the retained ones, those with mask 1. Values, returns, errors and
 * changes are in units of the return, squared errors in its square; rates, areas, correlations and ratios have no unit.
 *
 * An undefined quantity is null, and `undefined_reasons` says why: at its pointer with `/value` where the statistic is
 * undefined or refused, with `/low` where only its interval is.
 */
import type { SamplingDesign } from '../../../schema/diagnostics.js'

/** A statistic with its interval, in the statistic's unit. `low` and `high` are numbers together or null together. */
export interface Estimate {
  readonly value: number | null
  /** 2.5 % of the resamples */
  readonly low: number | null
  /** 97.5 % */
  readonly high: number | null
  /** trajectories that the statistic is of */
  readonly n_trajectories: number
}

export interface Compared {
  readonly a: Estimate
  readonly b: Estimate
  /** a - b, with the interval of the resampled differences; `n_trajectories` is the sum of both */
  readonly difference: Estimate
  /** true: both were resampled together, pair by pair; false: each for itself */
  readonly paired: boolean
}

/**
 * How far values V are from returns R, over tokens. Means and errors are in units of the return; the rest has no unit.
 * Explained variance: OpenAI Baselines, `explained_variance` of `common/math_util.py`; scikit-learn's `explained_variance_score`.
 */
export interface ValueErrors<E> {
  /** mean V */
  readonly mean_value: E
  /** mean R */
  readonly mean_return: E
  /** 1 - Var(R - V) / Var(R), population variances; undefined where Var(R) = 0 */
  readonly explained_variance: E
  /** mean (V - R)², squared unit; scikit-learn's `mean_squared_error` */
  readonly mse: E
  /** mean (V - R) */
  readonly bias: E
  /** Pearson's correlation of V and R (`scipy.stats.pearsonr`); undefined where either does not vary */
  readonly correlation: E
}

export interface WholeErrors<E> extends ValueErrors<E> {
  /** the same with weight 1 / n for each of the n tokens of a trajectory: every trajectory weighs the same */
  readonly explained_variance_by_trajectory: E
}

export interface DecileRow<E> extends ValueErrors<E> {
  /** 0 to 9: tokens i of n with floor(10 i / n) equal to it */
  readonly decile: number
}

export interface TurnRow<E> extends ValueErrors<E> {
  /** 0 is the first turn, or, from the end, the last */
  readonly turn: number
  /** mean of the change over the turn, V at its last token minus V at its first; every trajectory that has the turn weighs the same */
  readonly change: E
  /** mean of the change's absolute value */
  readonly absolute_change: E
}

/** [turns] at either end: the most that a trajectory has, at most 32. */
export interface TurnRows<E> {
  readonly from_start: readonly TurnRow<E>[]
  readonly from_end: readonly TurnRow<E>[]
}

/** A transition leads from a retained token i to the next one. */
export interface ChangesOfTransitions<E> {
  /** mean |V[i+1] - V[i]| over transitions, in units of the return */
  readonly mean_abs_change: E
  /** share of transitions with |V[i+1] - V[i]| strictly above the study's threshold, no unit */
  readonly jump_rate: E
}

export interface ValueChanges<E> {
  /** transitions between turns */
  readonly boundary: ChangesOfTransitions<E>
  /** transitions inside turns */
  readonly internal: ChangesOfTransitions<E>
  /** mean_abs_change of boundary / that of internal, no unit; undefined where the value does not change inside turns */
  readonly mean_abs_change_ratio: E
  /** jump_rate of boundary / that of internal, no unit; undefined without an internal jump */
  readonly jump_rate_ratio: E
  /** over trajectories with both kinds of transitions: each one's own mean |V[i+1] - V[i]|, every trajectory weighs the same */
  readonly paired: {
    readonly boundary: E
    readonly internal: E
    /** mean of boundary - internal */
    readonly difference: E
    /** share of these trajectories with boundary > internal */
    readonly boundary_exceeds: E
  }
}

/** Jump rates at one threshold. */
export interface SweepRow<E> {
  /** |change| that a transition has to exceed, in units of the return */
  readonly threshold: number
  /** the study's own threshold */
  readonly own: boolean
  /** share of boundary transitions above it, no unit */
  readonly boundary: E
  /** share of transitions inside turns above it */
  readonly internal: E
}

/**
 * Least-squares slopes Σ (x - mean x)(m - mean m) / Σ (x - mean x)² over trajectories, of each one's mean m against its trainer step x, each in its
 * unit for one step (`numpy.polyfit`, degree 1). Undefined where all are of one step.
 */
export interface StepDrift<E> {
  readonly mean_value: E
  readonly mean_return: E
  readonly bias: E
  readonly mse: E
}

/** What is said of one step, and of all steps pooled. */
export interface SetQuality<E, C = E> extends WholeErrors<E> {
  /** mean y: share of successes among the trajectories with a known outcome, no unit */
  readonly success_rate: E
  /**
   * [10] area under the ROC curve of a trace's mean value in the decile for its outcome, ties half, no unit (`roc_auc_score`).
   * `n_trajectories` counts those that are in a pair of a success and a failure
   */
  readonly auc_by_decile: readonly E[]
  /** [10] the same over pairs of one group alone (`within_group`); empty where there are no groups, or the set is one group */
  readonly auc_within_group: readonly E[]
  /** expected calibration error (Naeini et al. 2015): Σ n_b / n · |mean y - mean V| over ten bins b of tokens by value, no unit */
  readonly calibration: C
  readonly changes: ValueChanges<E>
}

export interface StepQuality<E> extends SetQuality<E> {
  readonly step: number
}

export interface OutcomeStep<E> extends WholeErrors<E> {
  readonly step: number
}

export interface OutcomeQuality<E> extends WholeErrors<E> {
  readonly by_step: readonly OutcomeStep<E>[]
  readonly by_turn: TurnRows<E>
  readonly by_decile: readonly DecileRow<E>[]
  readonly drift: StepDrift<E>
}

export interface PooledQuality<E, C = E> extends SetQuality<E, C> {
  /** [13, or 14 with a threshold of the study's own] increasing */
  readonly sweep: readonly SweepRow<E>[]
  readonly drift: StepDrift<E>
  readonly by_outcome: { readonly success: OutcomeQuality<E> | null; readonly failure: OutcomeQuality<E> | null }
  /** [steps] increasing */
  readonly by_step: readonly StepQuality<E>[]
  readonly by_turn: TurnRows<E>
  /** [10] */
  readonly by_decile: readonly DecileRow<E>[]
}

/** What pairs `auc_within_group` is over; null: there is neither a group of a prompt nor a step of several trajectories. */
export type PairGroup = 'prompt' | 'step' | null

export interface ReliabilityBin {
  /** lower edge of the bin's values; null: open */
  readonly from: number | null
  /** upper edge, excluded; null: open */
  readonly to: number | null
  readonly tokens: number
  /** mean V of the bin's tokens (`prob_pred` of scikit-learn's `calibration_curve`) */
  readonly mean_value: number
  /** share of its tokens that belong to successes (`prob_true`) */
  readonly success_rate: Estimate
}

export interface Calibration extends Estimate {
  /** [at most 10] of about equal count, made of whole cells of the histogram; empty bins are left out */
  readonly bins: readonly ReliabilityBin[]
  /** tokens with a value below 0 and above 1: no probabilities. They are in the bins as they are */
  readonly below_0: number
  readonly above_1: number
  readonly tokens: number
}

/** One of the turns that move the value most: `change` = V at its last token - V at its first, in units of the return. */
export interface MovingTurn {
  readonly index: number
  readonly uid: string | null
  readonly step: number | null
  /** from the start, 0 is the first */
  readonly turn: number
  /** turns of its trajectory */
  readonly turns: number
  /** index of its first retained token in the trace */
  readonly first_token: number
  readonly tokens: number
  readonly first_value: number
  readonly last_value: number
  readonly change: number
}

/** How intervals were made. */
export interface Resampling {
  readonly unit: 'trajectory' | 'prompt group'
  readonly units: number
  readonly resamples: number
  readonly seed: number
  readonly level: number
}

export interface Quality extends PooledQuality<Estimate, Calibration> {
  readonly sampling: SamplingDesign
  readonly resampling: Resampling
  readonly n_trajectories: number
  readonly tokens: number
  readonly within_group: PairGroup
  /** transitions of all trajectories */
  readonly transitions: { readonly boundary: number; readonly internal: number }
  /** the ten turns with the largest |change|, largest first */
  readonly moving_turns: readonly MovingTurn[]
  /** turns further than 32 from both ends: in every statistic but by_turn */
  readonly turns_between: number
  readonly undefined_reasons: Readonly<Record<string, string>>
}

export interface Pairing {
  readonly paired: boolean
  /** why not, or how */
  readonly rule: string
  /** pairs of trajectories; 0 where unpaired */
  readonly pairs: number
}

/**
 * Two critics. Trajectories of one step or outcome may not pair although all do; their differences are then unpaired. Steps and
 * outcomes that one of them lacks are left out here; each has them in its own `Quality`.
 */
export interface QualityComparison extends PooledQuality<Compared> {
  readonly pairing: Pairing
  readonly resampling: Resampling
  readonly undefined_reasons: Readonly<Record<string, string>>
}
