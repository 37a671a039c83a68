/** `critic-trace-statistics.json`. */
import { between, finite, flag, list, nullable, number, oneOf, pair, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { closed, define, map, natural, reasons, someText, whole } from './kinds.js'
import { TIME_OF_SNAPSHOT, STEP, UID, VERIFIED_DOC } from './trace-parts.js'

const CHANGES = define('changes', () =>
  closed({
    transitions: { kind: natural, doc: 'pairs of consecutive retained tokens of this kind, of all traces' },
    mean_abs_change: {
      kind: nullable(number(0)),
      doc:
        "mean of |values[i+1] - values[i]| over the transitions of all traces (not the mean of traces' means), in value units; " +
        'null without a transition'
    },
    jumps: { kind: natural, doc: 'transitions with |change| strictly above the threshold' },
    jump_rate: { kind: nullable(between(0, 1)), doc: 'jumps / transitions, a fraction; null without a transition' }
  })
)

/** By outcome; an outcome that no trace has is left out, so nothing here is undefined. */
const MEAN_VALUES = list(
  closed({
    outcome: { kind: oneOf('success', 'failure', 'unknown'), doc: 'outcome of the traces; unknown: nothing says it' },
    traces: { kind: whole(1), doc: 'traces of this outcome' },
    tokens: { kind: whole(1), doc: 'their retained tokens' },
    mean_value: { kind: finite, doc: 'mean of the values of these tokens' }
  })
)

const STEP_CHANGES = closed({
  transitions: { kind: natural, doc: 'transitions of this kind' },
  sum_abs_change: { kind: number(0), doc: 'sum of |change| over them; divided by transitions, their mean |change|' },
  jumps: { kind: natural, doc: 'those with |change| strictly above the threshold' }
})

const JUMP = define('jump', () =>
  closed({
    from_index: { kind: natural, doc: 'i of the transition values[i] -> values[i+1], counted in retained tokens from 0' },
    to_index: { kind: whole(1), doc: 'from_index + 1' },
    from: { kind: finite, doc: 'values[from_index]' },
    to: { kind: finite, doc: 'values[to_index]' },
    delta: { kind: finite, doc: 'to - from' }
  })
)

const EXAMPLE = define('example', () =>
  closed({
    index: { kind: natural, doc: '0-based canonical index of the trace' },
    uid: UID,
    step: STEP,
    tokens: { kind: whole(1), doc: 'retained tokens' },
    mean: { kind: finite, doc: 'mean of the values' },
    first: { kind: finite, doc: 'first value' },
    last: { kind: finite, doc: 'last value' },
    delta: { kind: finite, doc: 'last - first' },
    first_half_mean: { kind: nullable(finite), doc: 'mean of values[0 .. tokens//2); null for a trace of one token' },
    second_half_mean: { kind: finite, doc: 'mean of values[tokens//2 .. tokens)' },
    max_boundary_jump: {
      kind: nullable(JUMP),
      doc: 'the boundary transition with the largest |change|, the earliest on a tie; null without a boundary'
    }
  })
)

const CHECKS = closed({
  npz_exactly_equal: {
    kind: nullable(natural),
    doc: 'traces whose arrays equal those of their NPZ file, element for element; null where nothing was compared'
  },
  stored_statistics_equal: {
    kind: nullable(natural),
    doc: 'traces whose stored mean and RMSE agree with recomputation to 1e-12; null where no trace stores both'
  },
  returns_equal_outcome: {
    kind: nullable(natural),
    doc: 'traces whose every return is 1 for a success and 0 for a failure; null where no outcome is known'
  },
  score_agrees_with_outcome: {
    kind: nullable(natural),
    doc: 'traces whose score is above the success threshold in a success and not above it in a failure; null where no trace states both'
  },
  prediction_stages: {
    kind: nullable(map(natural)),
    doc: 'prediction stage, verbatim -> number of traces; null where no trace states one'
  },
  boundaries_with_end_marker: {
    kind: nullable(natural),
    doc:
      'boundaries whose preceding span ends with the end marker; null without a marker, without a boundary, ' +
      'and unless every trace has span texts'
  }
})

/** A count of the traces that state a field. */
function stating(what: string) {
  return { kind: natural, doc: `traces that state ${what}` }
}

export const TRACE_STATISTICS = output(
  'critic-trace-statistics',
  {
    title: 'Critic-trace statistics',
    description:
      'Statistics of the values that an RL critic predicted at every retained token. All of them use full arrays, in float64. ' +
      'A boundary transition joins tokens whose response positions differ by more than 1, an internal one tokens whose positions differ by 1.',
    definitions: [CHANGES, JUMP, EXAMPLE]
  },
  {
    ...envelopeFields('critic-trace-statistics'),
    verified: { kind: flag, doc: VERIFIED_DOC },
    snapshot_time: TIME_OF_SNAPSHOT,
    traces: { kind: natural, doc: 'number of traces' },
    tokens: { kind: natural, doc: 'retained tokens of all traces' },
    distinct_uids: { kind: nullable(natural), doc: 'number of different uids; null where no trace states one' },
    steps: { kind: nullable(pair(whole())), doc: 'first and last trainer step; null where no trace states one' },
    per_step: {
      kind: nullable(
        closed({
          success: { kind: pair(natural), doc: '[fewest, most] successes at a step' },
          failure: { kind: pair(natural), doc: '[fewest, most] failures at a step' }
        })
      ),
      doc: 'fewest and most traces of an outcome found at one step, over the steps at which every outcome is known; null without such a step'
    },
    threshold: { kind: number(0), doc: 'a transition is a jump when |change| is strictly above this, in value units' },
    success_threshold: { kind: finite, doc: 'a trace that states no outcome is a success when its score is strictly above this' },
    outcome_from: {
      kind: closed({
        outcome: { kind: natural, doc: 'their own outcome' },
        score: { kind: natural, doc: 'their score, above the success threshold or not' },
        unknown: { kind: natural, doc: 'nothing: they are in no count of successes or failures' }
      }),
      doc: 'traces by what says their outcome'
    },
    stated: {
      kind: closed({
        step: stating('their trainer step'),
        score: stating('a score'),
        uid: stating('a uid'),
        prediction_stage: stating('when the values were predicted'),
        npz: stating('the name of an NPZ file'),
        value_mean: stating('the mean of their values'),
        value_rmse: stating('the RMSE of their values'),
        segment_texts: stating('the texts of their spans')
      }),
      doc: 'traces that state each of what a trace may leave out'
    },
    one_source: { kind: natural, doc: 'traces that one source alone holds, page or NPZ file: not compared' },
    boundary: { kind: CHANGES, doc: 'boundary transitions' },
    internal: { kind: CHANGES, doc: 'internal transitions' },
    jump_rate_ratio: {
      kind: nullable(number(0)),
      doc: 'boundary jump_rate / internal jump_rate; null where one is undefined or the internal one is 0'
    },
    traces_with_both_kinds: { kind: natural, doc: 'traces that have boundary and internal transitions' },
    traces_boundary_exceeds_internal: {
      kind: nullable(natural),
      doc: 'those of them whose own mean |change| at boundaries exceeds that inside spans; null without any'
    },
    success: {
      kind: closed({
        traces: { kind: nullable(natural), doc: 'successful traces; null where no outcome is known' },
        positive_delta: { kind: nullable(natural), doc: 'those whose last value is above the first; null without a success' }
      }),
      doc: 'successes'
    },
    failure: {
      kind: closed({
        traces: { kind: nullable(natural), doc: 'failed traces; null where no outcome is known' },
        negative_delta: { kind: nullable(natural), doc: 'those whose last value is below the first; null without a failure' }
      }),
      doc: 'failures'
    },
    examples: {
      kind: closed({
        success: { kind: nullable(EXAMPLE), doc: 'the success that Figure 8 shows; null without one' },
        failure: { kind: nullable(EXAMPLE), doc: 'the failure that Figure 8 shows; null without one' }
      }),
      doc: 'the two trajectories of Figure 8'
    },
    examples_rule: {
      kind: closed({
        success: { kind: someText, doc: 'how it was picked' },
        failure: { kind: someText, doc: 'how it was picked' }
      }),
      doc: 'how the examples were picked'
    },
    mean_values: { kind: MEAN_VALUES, doc: 'mean value by outcome, over all traces; outcomes that occur' },
    by_step: {
      kind: list(
        closed({
          step: { kind: whole(), doc: 'trainer step' },
          traces: { kind: whole(1), doc: 'traces of this step' },
          tokens: { kind: whole(1), doc: 'their retained tokens' },
          mean_values: { kind: MEAN_VALUES, doc: 'mean value by outcome; outcomes that occur at this step' },
          boundary: { kind: STEP_CHANGES, doc: 'boundary transitions of these traces' },
          internal: { kind: STEP_CHANGES, doc: 'internal transitions of these traces' }
        })
      ),
      doc: 'the traces of each trainer step, ascending; a trace that states no step is in none'
    },
    checks: { kind: CHECKS, doc: 'how many passed each check; null where there was nothing to look at' },
    notes: {
      kind: list(someText),
      doc:
        'signs that the traces were exported wrongly, a sentence each: no boundary at all, padding kept, many exact zeros, values shifted ' +
        'against the mask. They fail nothing'
    },
    undefined_reasons: { kind: reasons, doc: 'why each undefined quantity is null: its JSON pointer -> the reason' }
  }
)

export type PooledChanges = Infer<typeof CHANGES>
export type Jump = Infer<typeof JUMP>
export type ExampleStatistics = Infer<typeof EXAMPLE>
export type TraceStatisticsDocument = Infer<typeof TRACE_STATISTICS>
