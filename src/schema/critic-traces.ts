/**
 * The section of a study on critic traces: the snapshot, the names of its keys, what is expected of it, and which traces are
 * the examples. Its defaults stand in `traces.ts`, which every run loads.
 */
import { DEFAULT_CRITIC_TRACE_STUDY, DEFAULT_KEYS, type SnapshotKeys } from './traces.js'
import { SAMPLING_DESIGNS } from './diagnostics.js'
import { Fault } from '../core/errors.js'
import {
  between,
  finite,
  flag,
  integer,
  nullable,
  number,
  object,
  oneOf,
  pair,
  positive,
  refine,
  text,
  type Field,
  type Infer,
  type Kind
} from '../core/checker.js'
import { relativePath } from '../core/path-kinds.js'
import { caption } from './names.js'

/** Keys of the snapshot's outer object; all others are keys of a trace. Names must differ only within one object. */
const OUTER_KEYS: readonly (keyof SnapshotKeys)[] = ['snapshot_time', 'alignment', 'synthetic', 'traces']

function keyField(name: keyof SnapshotKeys, doc: string): Field<string> {
  return { kind: text(200), doc, default: DEFAULT_KEYS[name] }
}

const keys = refine(
  object({
    snapshot_time: keyField('snapshot_time', 'Time at which the snapshot was taken, text.'),
    alignment: keyField('alignment', 'Text on how values align with tokens.'),
    synthetic: keyField('synthetic', '`true`: the data were generated; also the NPZ member, a 0-d bool.'),
    traces: keyField('traces', 'List of traces.'),
    step: keyField('step', 'Trainer step of a trace, integer.'),
    outcome: keyField(
      'outcome',
      '`"success"` or `"failure"`, `true` or `false`, `1` or `0`; without one the score decides, by `success_threshold`.'
    ),
    score: keyField('score', 'Score of the trajectory, number.'),
    uid: keyField('uid', 'Identity of the trajectory, text or integer; may repeat.'),
    prediction_stage: keyField('prediction_stage', 'When the critic predicted, text.'),
    npz: keyField('npz', 'Name of the NPZ file beside the page, which must then be there and hold the same arrays.'),
    value_mean: keyField('value_mean', 'Stored mean of the values.'),
    value_rmse: keyField('value_rmse', 'Stored sqrt(mean((values - returns)^2)).'),
    values: keyField('values', 'Predicted value of each retained token; also the NPZ member.'),
    returns: keyField('returns', 'Return of each retained token; also the NPZ member.'),
    response_positions: keyField('response_positions', 'Position of each retained token in the response; also the NPZ member.'),
    segment_texts: keyField('segment_texts', 'Decoded text of each generated span.')
  }),
  (renamed, at, context) => {
    const owners = new Map<string, string>()
    for (const [ours, theirs] of Object.entries(renamed)) {
      const level = OUTER_KEYS.some(key => key === ours) ? 'outer' : 'trace'
      const owner = owners.get(`${level} ${theirs}`)
      if (owner !== undefined) {
        throw new Fault({
          format: context.format,
          problem: 'key named twice',
          found: `${at}.${owner} and ${at}.${ours} are both ${JSON.stringify(theirs)}`,
          expected: 'a different name for each key',
          place: context.place
        })
      }
      owners.set(`${level} ${theirs}`, ours)
    }
    return renamed
  }
)

const selector = refine(
  object({
    step: { kind: nullable(integer(0)), doc: 'Trainer step.', default: null },
    outcome: { kind: nullable(oneOf('success', 'failure')), doc: 'Outcome.', default: null },
    uid: { kind: nullable(text(1000)), doc: 'Identity of the trajectory.', default: null }
  }),
  ({ step, outcome, uid }, at, context) => {
    if (step === null && outcome === null && uid === null) {
      throw new Fault({
        format: context.format,
        problem: 'empty selector',
        found: at,
        expected: 'at least one of step, outcome, uid',
        place: context.place
      })
    }
    return {
      ...(step === null ? {} : { step }),
      ...(outcome === null ? {} : { outcome }),
      ...(uid === null ? {} : { uid })
    }
  },
  { minProperties: 1 }
)

const { expectations, examples, sampling, estimator, labels } = DEFAULT_CRITIC_TRACE_STUDY

const expected = object({
  outcomes_per_step: {
    kind: nullable(pair(integer(0))),
    doc: 'Numbers of successes and failures at every step.',
    default: expectations.outcomes_per_step
  },
  returns_equal_outcome: {
    kind: flag,
    doc: 'Every return is 1 in a success and 0 in a failure.',
    default: expectations.returns_equal_outcome
  },
  prediction_stage: { kind: nullable(text()), doc: 'Prediction stage of every trace.', default: expectations.prediction_stage },
  boundary_end_marker: {
    kind: nullable(text()),
    doc: 'Text that ends the generated span before every boundary.',
    default: expectations.boundary_end_marker
  },
  score_agrees_with_outcome: {
    kind: oneOf<boolean | 'binary'>(true, false, 'binary'),
    doc:
      'Every trace states outcome and score, and the score is above `success_threshold` in the successes alone, so that 0.5 is one of a ' +
      'success; `"binary"`: it is 1 in a success and 0 in a failure.',
    default: expectations.score_agrees_with_outcome
  },
  distinct_uids: {
    kind: flag,
    doc: 'Every trace states a uid, and no two the same. A uid may repeat where it names the prompt, which several rollouts share.',
    default: expectations.distinct_uids
  }
})

const lambda = between(0, 1)
const share = nullable(lambda)
const adaptive = object({ adaptive_alpha: { kind: positive, doc: 'x of a lambda of 1 - 1 / (x L) for L trainable tokens.' } })
const lambdaOfAdvantages: Kind<Infer<typeof lambda> | Infer<typeof adaptive>> = {
  expected: `${lambda.expected}, or {"adaptive_alpha": a number > 0}`,
  schema: { anyOf: [lambda.schema, adaptive.schema] },
  read: (value, at, context) => {
    if (typeof value === 'object') return adaptive.read(value, at, context)
    return lambda.read(value, at, context)
  }
}

export const CRITIC_TRACES = object({
  snapshot: { kind: relativePath, doc: 'Folder of the snapshot, or its HTML page.' },
  keys: { kind: keys, doc: "Names of the snapshot's keys where they differ from the default ones.", default: DEFAULT_KEYS },
  jump_threshold: {
    kind: number(0),
    doc: 'A change of value is a jump when its absolute value is strictly larger.',
    default: DEFAULT_CRITIC_TRACE_STUDY.jump_threshold
  },
  success_threshold: {
    kind: finite,
    doc: 'A trace that states no `outcome` is a success when its score is strictly larger, else a failure.',
    default: DEFAULT_CRITIC_TRACE_STUDY.success_threshold
  },
  sampling: {
    kind: oneOf(...SAMPLING_DESIGNS),
    doc:
      'How the traces were chosen; `"every trajectory"` also where a part was drawn without a look at the outcome. What a design makes ' +
      'meaningless is refused or given within each outcome ([diagnostics.md](diagnostics.md)).',
    default: sampling
  },
  estimator: {
    kind: object({
      gamma: { kind: share, doc: 'Discount.', default: estimator.gamma },
      lambda_returns: { kind: share, doc: 'Lambda of the returns.', default: estimator.lambda_returns },
      lambda_advantages: {
        kind: nullable(lambdaOfAdvantages),
        doc: 'Lambda of the advantages: a number, or `{"adaptive_alpha": x}` of a lambda of 1 - 1 / (x L) for L trainable tokens.',
        default: estimator.lambda_advantages
      }
    }),
    doc: 'What the run was configured with; a field of null is not told. Where the numbers show another value, `all` and `diagnose` end with exit code 1.',
    default: estimator
  },
  expectations: {
    kind: expected,
    doc: 'Checks of how the traces were sampled. One that is not stated is reported and never fails.',
    default: expectations
  },
  examples: {
    kind: object({
      success: {
        kind: nullable(selector),
        doc: 'The success that the figure shows in full; null: picked by rule.',
        default: examples.success
      },
      failure: {
        kind: nullable(selector),
        doc: 'The failure that the figure shows in full; null: picked by rule.',
        default: examples.failure
      }
    }),
    doc: 'The two traces that the figure shows in full.',
    default: examples
  },
  labels: {
    kind: object({
      step: { kind: caption, doc: 'Axis of trainer steps.', default: labels.step },
      value: { kind: caption, doc: 'Axis of the values of a trace.', default: labels.value },
      index: { kind: caption, doc: 'Axis of the tokens of a trace.', default: labels.index }
    }),
    doc: "Titles of the axes of the traces' figure.",
    default: labels
  }
})

/** Expectations of how a study was sampled. Null or false: not expected; the check is then reported and never fails. */
export type TraceExpectations = Infer<typeof expected>

/** Names one trace. Every given field must match, and exactly one trace may match. */
export type TraceSelector = Infer<typeof selector>

export type CriticTraceStudy = Infer<typeof CRITIC_TRACES>
