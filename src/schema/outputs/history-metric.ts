/** Statistics of one metric of one selection. */
import { finite, list, nullable, type Infer } from '../../core/checker.js'
import { PLACED, STEP_VALUE, WINDOW } from './history-observed.js'
import { anyText, closed, define, map, natural, whole } from './kinds.js'

const FINAL = closed({
  first: { kind: nullable(STEP_VALUE), doc: 'first observation' },
  last: { kind: nullable(STEP_VALUE), doc: 'last observation' },
  mean: { kind: nullable(finite), doc: 'mean of the last observations' },
  count: { kind: natural, doc: 'how many of them' },
  gain: { kind: nullable(finite), doc: 'best value minus first value' }
})

/** The logged values of a session, superseded ones among them. */
const SESSION_CONSTANT = closed({
  run: { kind: anyText, doc: 'run of the session' },
  observations: { kind: natural, doc: 'values that it logs' },
  value: { kind: nullable(finite), doc: 'the value; null where it logs several or none' },
  min: { kind: nullable(finite), doc: 'the least' },
  max: { kind: nullable(finite), doc: 'the largest' }
})

const CONSTANT = closed({
  unusable: { kind: natural, doc: 'rows of all sessions in which the key stands with something that is no finite number' },
  sessions: { kind: list(SESSION_CONSTANT), doc: "in the order of the selection's sessions" }
})

/** The optional fields stand where the study asks for them. */
export const METRIC = define('metric', () =>
  closed({
    key: { kind: anyText, doc: 'key of the history rows' },
    observations: { kind: natural, doc: 'finite numbers that the step view keeps' },
    all_attempts: { kind: natural, doc: 'finite numbers in every attempt, those without a timestamp among them' },
    first_step: { kind: nullable(natural), doc: 'of the step view' },
    last_step: { kind: nullable(natural), doc: 'of the step view' },
    cadence: {
      kind: nullable(whole(1)),
      doc: 'most frequent distance between neighbouring steps, the smallest on a tie; null for fewer than two observations'
    },
    missing_steps: {
      kind: nullable(list(natural)),
      doc: 'integer steps between first and last without an observation, the first 1000; null for a sparse metric'
    },
    missing_count: { kind: nullable(natural), doc: 'all of them' },
    non_finite: { kind: map(whole(1)), doc: 'logged values that are not finite: spelling to rows, over every row' },
    nulls: { kind: natural, doc: 'rows that log null' },
    not_numbers: { kind: natural, doc: 'rows that log something that is no number' },
    first: { kind: WINDOW, doc: 'of the first observations', optional: true },
    last: { kind: WINDOW, doc: 'of the last observations', optional: true },
    windows: { kind: map(WINDOW), doc: "means over stated steps, by the window's name", optional: true },
    best: { kind: nullable(PLACED), doc: 'highest value, earliest step on a tie', optional: true },
    final: { kind: FINAL, doc: 'where the curve begins and ends', optional: true },
    max_abs: { kind: nullable(STEP_VALUE), doc: 'observation of the largest absolute value; value is that absolute value', optional: true },
    below_zero: { kind: natural, doc: 'observations below zero', optional: true },
    constant: {
      kind: CONSTANT,
      optional: true,
      doc: 'every logged value of a metric that should not change, superseded sessions among them'
    }
  })
)

export type FinalStatistics = Infer<typeof FINAL>
export type SessionConstant = Infer<typeof SESSION_CONSTANT>
export type ConstantStatistics = Infer<typeof CONSTANT>
export type MetricStatistics = Infer<typeof METRIC>
