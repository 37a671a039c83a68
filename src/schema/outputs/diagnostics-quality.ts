/** Kinds of the statistics of a critic's quality: those of one set of trajectories, and those of two with their difference. */
import { finite, flag, list, nullable, oneOf, type Kind } from '../../core/checker.js'
import { SAMPLING_DESIGNS } from '../diagnostics.js'
import { anyText, closed, define, natural, reasons, someText, whole } from './kinds.js'

const PLAIN_ESTIMATE = closed({
  value: { kind: nullable(finite), doc: 'the statistic; null where it is undefined or refused' },
  low: { kind: nullable(finite), doc: '2.5 % of the resamples; null where there is no interval' },
  high: { kind: nullable(finite), doc: '97.5 % of the resamples' },
  n_trajectories: { kind: natural, doc: 'trajectories that the statistic is of' }
})

export const ESTIMATE = define('estimate', () => PLAIN_ESTIMATE)

export const COMPARED = define('compared', () =>
  closed({
    a: { kind: ESTIMATE, doc: 'of the first set' },
    b: { kind: ESTIMATE, doc: 'of the set that it is compared with' },
    difference: { kind: ESTIMATE, doc: 'a - b, with the interval of the resampled differences; n_trajectories is the sum of both' },
    paired: { kind: flag, doc: 'true: both were resampled together, pair by pair; false: each for itself' }
  })
)

function errorFields<E>(estimate: Kind<E>) {
  return {
    mean_value: { kind: estimate, doc: 'mean value' },
    mean_return: { kind: estimate, doc: 'mean return' },
    explained_variance: {
      kind: estimate,
      doc: '1 - Var(R - V) / Var(R) over tokens, population variances; undefined where the returns do not vary'
    },
    mse: { kind: estimate, doc: 'mean of (V - R)^2 over tokens' },
    bias: { kind: estimate, doc: 'mean of V - R over tokens' },
    correlation: { kind: estimate, doc: "Pearson's correlation of V and R over tokens; undefined where either does not vary" }
  }
}

function wholeErrorFields<E>(estimate: Kind<E>) {
  return {
    ...errorFields(estimate),
    explained_variance_by_trajectory: { kind: estimate, doc: 'the same with every trajectory weighing the same' }
  }
}

function decileRow<E>(estimate: Kind<E>) {
  return closed({ decile: { kind: natural, doc: '0 to 9: tokens i of n with floor(10 i / n) equal to it' }, ...errorFields(estimate) })
}

function turnRow<E>(estimate: Kind<E>) {
  return closed({
    turn: { kind: natural, doc: '0 is the first turn, or, from the end, the last' },
    ...errorFields(estimate),
    change: {
      kind: estimate,
      doc: 'mean change over the turn, V at its last token minus V at its first; every trajectory weighs the same'
    },
    absolute_change: { kind: estimate, doc: "mean of the change's absolute value" }
  })
}

function turnRows<E>(estimate: Kind<E>) {
  return closed({
    from_start: { kind: list(turnRow(estimate)), doc: 'turns counted from the first' },
    from_end: { kind: list(turnRow(estimate)), doc: 'turns counted from the last' }
  })
}

function transitions<E>(estimate: Kind<E>) {
  return closed({
    mean_abs_change: { kind: estimate, doc: 'mean |change| of the value from one retained token to the next' },
    jump_rate: { kind: estimate, doc: 'share of transitions with |change| above the jump threshold' }
  })
}

function changes<E>(estimate: Kind<E>) {
  return closed({
    boundary: { kind: transitions(estimate), doc: 'transitions between turns' },
    internal: { kind: transitions(estimate), doc: 'transitions inside turns' },
    mean_abs_change_ratio: { kind: estimate, doc: 'boundary / internal' },
    jump_rate_ratio: { kind: estimate, doc: 'boundary / internal' },
    paired: {
      kind: closed({
        boundary: { kind: estimate, doc: "mean over trajectories of the trajectory's own mean at boundaries" },
        internal: { kind: estimate, doc: 'the same inside turns' },
        difference: { kind: estimate, doc: 'mean of boundary - internal' },
        boundary_exceeds: { kind: estimate, doc: 'share of these trajectories with boundary > internal' }
      }),
      doc: 'trajectories with both kinds of transitions, each with its own means'
    }
  })
}

function drift<E>(estimate: Kind<E>) {
  return closed({
    mean_value: { kind: estimate, doc: "slope of the trajectory's mean value for one trainer step" },
    mean_return: { kind: estimate, doc: 'slope of its mean return' },
    bias: { kind: estimate, doc: 'slope of its bias' },
    mse: { kind: estimate, doc: 'slope of its mean squared error' }
  })
}

function setFields<E, C>(estimate: Kind<E>, calibration: Kind<C>) {
  return {
    ...wholeErrorFields(estimate),
    success_rate: { kind: estimate, doc: 'share of successes among trajectories with a known outcome' },
    auc_by_decile: {
      kind: list(estimate, 10, 10),
      doc: "area under the ROC curve of a trajectory's mean value in each decile of its progress for its outcome, ties half"
    },
    auc_within_group: { kind: list(estimate, 0, 10), doc: 'the same over pairs of one group alone; empty where there are no groups' },
    calibration: { kind: calibration, doc: 'expected calibration error: mean over tokens of |mean outcome - mean value| of their bin' },
    changes: { kind: changes(estimate), doc: 'changes of the value from token to token' }
  }
}

const STEP = { kind: whole(), doc: 'trainer step' }

function outcomeQuality<E>(estimate: Kind<E>) {
  return closed({
    ...wholeErrorFields(estimate),
    by_step: { kind: list(closed({ step: STEP, ...wholeErrorFields(estimate) })), doc: 'by trainer step, increasing' },
    by_turn: { kind: turnRows(estimate), doc: 'by turn' },
    by_decile: { kind: list(decileRow(estimate)), doc: 'by decile of progress' },
    drift: { kind: drift(estimate), doc: 'least-squares slopes over trajectories against the trainer step' }
  })
}

function pooledFields<E, C>(estimate: Kind<E>, calibration: Kind<C>) {
  return {
    ...setFields(estimate, calibration),
    sweep: {
      kind: list(
        closed({
          threshold: { kind: finite, doc: '|change| that a transition has to exceed' },
          own: { kind: flag, doc: "true: the run's own threshold of a jump" },
          boundary: { kind: estimate, doc: 'share of boundary transitions' },
          internal: { kind: estimate, doc: 'share of transitions inside turns' }
        })
      ),
      doc: 'jump rates over thresholds'
    },
    drift: { kind: drift(estimate), doc: 'least-squares slopes over trajectories against the trainer step' },
    by_outcome: {
      kind: closed({
        success: { kind: nullable(outcomeQuality(estimate)), doc: 'successes alone; null without one' },
        failure: { kind: nullable(outcomeQuality(estimate)), doc: 'failures alone; null without one' }
      }),
      doc: 'within each outcome'
    },
    by_step: { kind: list(closed({ step: STEP, ...setFields(estimate, estimate) })), doc: 'by trainer step, increasing' },
    by_turn: { kind: turnRows(estimate), doc: 'by turn, the first 32 and the last 32' },
    by_decile: { kind: list(decileRow(estimate)), doc: 'by decile of progress: 10 rows' }
  }
}

const RESAMPLING = closed({
  unit: { kind: oneOf('trajectory', 'prompt group'), doc: 'what is drawn; tokens never are' },
  units: { kind: natural, doc: 'number of units' },
  resamples: { kind: natural, doc: 'number of resamples' },
  seed: { kind: whole(), doc: 'seed of the generator' },
  level: { kind: finite, doc: 'level of the intervals' }
})

const UNDEFINED = { kind: reasons, doc: 'why a value or an interval is null, by its pointer below this object' }

const CALIBRATION = closed({
  ...PLAIN_ESTIMATE.fields,
  bins: {
    kind: list(
      closed({
        from: { kind: nullable(finite), doc: 'lower edge of its values; null: open' },
        to: { kind: nullable(finite), doc: 'upper edge, excluded; null: open' },
        tokens: { kind: natural, doc: 'tokens with such a value' },
        mean_value: { kind: finite, doc: 'their mean value' },
        success_rate: { kind: ESTIMATE, doc: 'share of them that belong to successes' }
      })
    ),
    doc:
      'bins of about equal count, by value, made of whole cells of one fixed histogram (4,096 cells over [-0.5, 1.5), open ends), so that ' +
      'they may be merged; none where calibration is refused'
  },
  below_0: { kind: natural, doc: 'tokens with a value below 0; they are in the bins as they are' },
  above_1: { kind: natural, doc: 'tokens with a value above 1' },
  tokens: { kind: natural, doc: 'tokens of trajectories with a known outcome' }
})

const MOVING_TURN = closed({
  index: { kind: natural, doc: 'canonical index of the trajectory' },
  uid: { kind: nullable(anyText), doc: 'its uid, verbatim' },
  step: { kind: nullable(whole()), doc: 'its trainer step' },
  turn: { kind: natural, doc: 'the turn, counted from 0' },
  turns: { kind: natural, doc: 'turns of the trajectory' },
  first_token: { kind: natural, doc: "index of the turn's first retained token" },
  tokens: { kind: natural, doc: 'its retained tokens' },
  first_value: { kind: finite, doc: 'value at its first token' },
  last_value: { kind: finite, doc: 'value at its last token' },
  change: { kind: finite, doc: 'last_value - first_value' }
})

export const QUALITY = closed({
  sampling: { kind: oneOf(...SAMPLING_DESIGNS), doc: 'how the trajectories were chosen, as told' },
  resampling: { kind: RESAMPLING, doc: 'how intervals were made' },
  n_trajectories: { kind: natural, doc: 'trajectories' },
  tokens: { kind: natural, doc: 'retained tokens' },
  within_group: { kind: nullable(oneOf('prompt', 'step')), doc: 'what pairs of auc_within_group share; null: there are no groups' },
  ...pooledFields(ESTIMATE, CALIBRATION),
  transitions: {
    kind: closed({ boundary: { kind: natural, doc: 'between turns' }, internal: { kind: natural, doc: 'inside turns' } }),
    doc: 'number of transitions'
  },
  moving_turns: { kind: list(MOVING_TURN), doc: 'the ten turns with the largest |change|, largest first' },
  turns_between: { kind: natural, doc: 'turns further than 32 from both ends: in every statistic but by_turn' },
  undefined_reasons: UNDEFINED
})

export const COMPARISON = closed({
  pairing: {
    kind: closed({
      paired: { kind: flag, doc: 'true: trajectories pair by uid' },
      rule: { kind: someText, doc: 'how they pair, or why not' },
      pairs: { kind: natural, doc: 'pairs of trajectories; 0 where unpaired' }
    }),
    doc: 'whether the two sets pair'
  },
  resampling: { kind: RESAMPLING, doc: 'how intervals were made' },
  ...pooledFields(COMPARED, COMPARED),
  undefined_reasons: UNDEFINED
})
