/** Statistics of one curve in the step view, as the study asks for them. The fields are those of the statistics document. */
import type { MetricDefinition, StatisticsRequest } from '../../schema/histories.js'
import { constantOf } from './constant.js'
import type { Curve, SelectionHistory, WindowMean } from './contract.js'
import type { FinalStatistics, Hours, MetricStatistics, PlacedObservation, StepValue } from './document.js'
import type { Reasons } from './reasons.js'
import { missingSteps, usualDistance } from './steps.js'
import { displayHours, elapsedHours } from './time.js'
import { bestPosition, countBelowZero, firstMean, largestAbsolute, lastMean, windowMean } from './windows.js'
import type { Work } from './work.js'

/** Largest number of missing steps that a document lists. */
export const LISTED_STEPS = 1000

const NO_OBSERVATION = 'no observation'

/** @param at JSON pointer of the result in the document */
export function* metricStatistics(
  history: SelectionHistory,
  curve: Curve,
  metric: MetricDefinition,
  request: StatisticsRequest,
  reasons: Reasons,
  at: string
): Work<MetricStatistics> {
  const asks = (part: { readonly metrics: readonly string[] }): boolean => part.metrics.includes(metric.name)
  const windows = request.windows.filter(asks)
  const { ends, final } = request
  const steps = stepsOf(curve, metric, reasons, at)
  yield
  return {
    key: metric.key,
    observations: curve.steps.length,
    all_attempts: curve.count,
    ...steps,
    non_finite: curve.nonFinite,
    nulls: curve.nulls,
    not_numbers: curve.notNumbers,
    ...(ends === null || !asks(ends)
      ? {}
      : {
          first: defined(firstMean(curve, ends.count), reasons, `${at}/first`),
          last: defined(lastMean(curve, ends.count), reasons, `${at}/last`)
        }),
    ...(windows.length === 0
      ? {}
      : {
          windows: Object.fromEntries(
            windows.map(window => [
              window.name,
              defined(windowMean(curve, window.from, window.to), reasons, `${at}/windows/${window.name}`)
            ])
          )
        }),
    ...(request.best.includes(metric.name) ? { best: bestOf(history, curve, reasons, `${at}/best`) } : {}),
    ...(final === null || !asks(final) ? {} : { final: finalOf(curve, final.count, reasons, `${at}/final`) }),
    ...(request.max_abs.includes(metric.name) ? { max_abs: maxAbsOf(curve, reasons, `${at}/max_abs`) } : {}),
    ...(request.below_zero.includes(metric.name) ? { below_zero: countBelowZero(curve) } : {}),
    ...(request.constant.includes(metric.name) ? { constant: yield* constantOf(history, curve, reasons, `${at}/constant`) } : {})
  }
}

/** The observation at a position of the step view, with its hours and the observation before it. */
export function placed(history: SelectionHistory, curve: Curve, position: number, reasons: Reasons, at: string): PlacedObservation {
  const index = curve.steps[position]
  return {
    step: curve.step[index],
    value: curve.value[index],
    run: history.sessions[curve.session[index]].run,
    ...hoursOf(history, curve, index, reasons, at),
    censoring: position === 0 ? 'left' : 'interval',
    previous:
      position === 0
        ? reasons.none(`${at}/previous`, 'it is the first observation')
        : {
            step: curve.step[curve.steps[position - 1]],
            ...hoursOf(history, curve, curve.steps[position - 1], reasons, `${at}/previous`)
          }
  }
}

function hoursOf(history: SelectionHistory, curve: Curve, index: number, reasons: Reasons, at: string): Hours {
  if (!Number.isFinite(curve.timestamp[index])) {
    const why = 'the row has no timestamp'
    return {
      elapsed_hours: reasons.none(`${at}/elapsed_hours`, why),
      display_hours: reasons.none(`${at}/display_hours`, why)
    }
  }
  return {
    elapsed_hours: reasons.finite(elapsedHours(history, curve.timestamp[index]), `${at}/elapsed_hours`),
    display_hours: reasons.finite(displayHours(history, curve.timestamp[index]), `${at}/display_hours`)
  }
}

function stepsOf(
  curve: Curve,
  metric: MetricDefinition,
  reasons: Reasons,
  at: string
): Pick<MetricStatistics, 'first_step' | 'last_step' | 'cadence' | 'missing_steps' | 'missing_count'> {
  const step = keptSteps(curve)
  const none = (why: string, ...fields: readonly string[]): void => {
    for (const field of fields) reasons.none(`${at}/${field}`, why)
  }
  if (step.length === 0) {
    none(NO_OBSERVATION, 'first_step', 'last_step', 'cadence', 'missing_steps', 'missing_count')
    return { first_step: null, last_step: null, cadence: null, missing_steps: null, missing_count: null }
  }
  const cadence = usualDistance(step)
  if (cadence === null) none('a single observation', 'cadence')
  const ends = { first_step: step[0], last_step: step[step.length - 1], cadence }
  if (metric.sparse) {
    none('the metric is sparse: not logged at every step', 'missing_steps', 'missing_count')
    return { ...ends, missing_steps: null, missing_count: null }
  }
  const missing = missingSteps(step, 0, step.length, LISTED_STEPS)
  return { ...ends, missing_steps: missing.first, missing_count: missing.count }
}

/** Steps of the step view. Where nothing was superseded, this is the curve's own column. */
function keptSteps({ count, steps, step }: Curve): Float64Array {
  if (steps.length === count) return step
  const kept = new Float64Array(steps.length)
  for (let p = 0; p < kept.length; p++) kept[p] = step[steps[p]]
  return kept
}

function defined(window: WindowMean, reasons: Reasons, at: string): WindowMean {
  if (window.mean === null) {
    const none = (field: string): null => reasons.none(`${at}/${field}`, NO_OBSERVATION)
    return { mean: none('mean'), count: window.count, steps: none('steps') }
  }
  return window
}

function bestOf(history: SelectionHistory, curve: Curve, reasons: Reasons, at: string): PlacedObservation | null {
  const position = bestPosition(curve)
  return position < 0 ? reasons.none(at, NO_OBSERVATION) : placed(history, curve, position, reasons, at)
}

function finalOf(curve: Curve, count: number, reasons: Reasons, at: string): FinalStatistics {
  const last = curve.steps.length - 1
  if (last < 0) {
    const none = (field: string): null => reasons.none(`${at}/${field}`, NO_OBSERVATION)
    return { first: none('first'), last: none('last'), mean: none('mean'), count: 0, gain: none('gain') }
  }
  const tail = lastMean(curve, count)
  const first = stepValue(curve, 0)
  return {
    first,
    last: stepValue(curve, last),
    mean: tail.mean,
    count: tail.count,
    gain: reasons.finite(stepValue(curve, bestPosition(curve)).value - first.value, `${at}/gain`)
  }
}

function maxAbsOf(curve: Curve, reasons: Reasons, at: string): StepValue | null {
  const position = largestAbsolute(curve)
  if (position < 0) return reasons.none(at, NO_OBSERVATION)
  const { step, value } = stepValue(curve, position)
  return { step, value: Math.abs(value) }
}

function stepValue(curve: Curve, position: number): StepValue {
  const index = curve.steps[position]
  return { step: curve.step[index], value: curve.value[index] }
}
