/** What the statistics of histories say of observations: where they stand, and means over several. */
import { finite, nullable, oneOf, pair, type Infer } from '../../core/checker.js'
import { anyText, closed, define, natural } from './kinds.js'

/** Of an observation, or of a difference of two. */
export const HOURS = {
  elapsed_hours: { kind: nullable(finite), doc: 'hours since the first session was created; null without a timestamp' },
  display_hours: { kind: nullable(finite), doc: 'the same on the axis that figures show' }
}

export const hours = closed(HOURS)

/** A mean and what it is a mean of. */
export const WINDOW = define('window', () =>
  closed({
    mean: { kind: nullable(finite), doc: 'unweighted mean of what was logged' },
    count: { kind: natural, doc: 'observations that entered' },
    steps: { kind: nullable(pair(finite)), doc: 'first and last step that entered; null without an observation' }
  })
)

const VALUE = { kind: finite, doc: 'as logged' }

export const STEP_VALUE = define('step_value', () =>
  closed({
    step: { kind: natural, doc: 'step of the observation' },
    value: VALUE
  })
)

/** The observation before. */
const PREVIOUS = nullable(closed({ step: { kind: natural, doc: 'its step' }, ...HOURS }))

const CENSORING = oneOf('interval', 'left')

/**
 * An observation, when it was made, and the observation before it. A metric is evaluated now and then: when its value was
 * first reached is known to lie after `previous` and at or before `step`, no closer.
 */
export const PLACED = define('placed', () =>
  closed({
    step: { kind: natural, doc: 'step of the observation' },
    value: VALUE,
    run: { kind: anyText, doc: 'run that logged it' },
    ...HOURS,
    censoring: {
      kind: CENSORING,
      doc:
        'what is known of when this value was first reached. interval: after `previous` and at or before this observation, no closer; ' +
        'left: at or before this observation, which is the first'
    },
    previous: { kind: PREVIOUS, doc: 'the observation before it; null for the first' }
  })
)

/** The first observation at or above a value. The crossing itself is censored like any other first reaching. */
export const CROSSING = define('crossing', () =>
  closed({
    metric: { kind: anyText, doc: 'metric that crosses' },
    at_least: { kind: finite, doc: 'the threshold' },
    step: { kind: natural, doc: 'step of the first observation at or above it' },
    value: VALUE,
    run: { kind: anyText, doc: 'run that logged it' },
    ...HOURS,
    censoring: {
      kind: CENSORING,
      doc:
        'what is known of the crossing itself. interval: it lies after `previous`, the last observation below the threshold, and at or before ' +
        'this observation, no closer; left: at or before this observation, which is the first'
    },
    previous: { kind: PREVIOUS, doc: 'the observation before it: the true crossing lies after it and at or before this one' }
  })
)

export type Hours = Infer<typeof hours>
export type WindowMean = Infer<typeof WINDOW>
export type StepValue = Infer<typeof STEP_VALUE>
export type PlacedObservation = Infer<typeof PLACED>
export type ThresholdCrossing = Infer<typeof CROSSING>
