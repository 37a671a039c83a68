/**
 * Points of a reference curve that stand in for points missing from a target curve. They are drawn, and listed with
 * their provenance. They enter no statistic. Observed points are never moved or replaced.
 *
 * - anchor: where the reference has no observation at x = 0, both curves get a point there with the first value of the
 *   reference in that view. Where the reference has one, the target gets a copy of it. A curve with a point at x <= 0
 *   gets no anchor, because the anchor would lie after the curve's start.
 * - step view: prefix (observations of the reference before the target's first step) and same-step fills (observations of
 *   the reference at steps up to the target's last at which the target has none), for the metrics that ask for them.
 * - time view: observations of the reference whose display_hours is below that of the target's first own observation.
 *
 * A target without an observation in the view gets nothing, and neither does one whose display hours all exceed the
 * double range. Its curve would consist of supplied points alone.
 */
import type { SuppliedPoints } from '../../schema/histories.js'
import type { Curve, PointProvenance, SelectionHistory } from './contract.js'
import { hasStep, lowerBound, missingSteps, type MissingSteps } from './steps.js'
import { displayHours } from './time.js'

export type View = 'step' | 'time'

/** Observations of a curve in one view. x does not decrease. */
export interface ViewPoints {
  readonly history: SelectionHistory
  readonly curve: Curve
  /** indexes into the curve */
  readonly index: Int32Array
  /** step, or display_hours */
  readonly x: Float64Array
}

/** An observation of the reference that is drawn at x = 0. */
export interface Anchor {
  /** index in the reference's view */
  readonly position: number
  readonly provenance: PointProvenance
}

/** Increasing indexes in the reference's view. Each point is drawn at its own x. */
export interface SuppliedToTarget {
  /** the reference's observations before the target's first one */
  readonly prefix: Int32Array
  /** same-step fills that are not in the prefix; all lie after it */
  readonly sameStep: Int32Array
  /** the point that the anchor rule puts at x = 0; null where it puts none */
  readonly anchor: Anchor | null
}

const NONE = new Int32Array(0)
const NOTHING: SuppliedToTarget = { prefix: NONE, sameStep: NONE, anchor: null }

export function historyView(history: SelectionHistory, curve: Curve, view: View): ViewPoints {
  const index = view === 'step' ? curve.steps : curve.times
  const x = new Float64Array(index.length)
  for (let k = 0; k < x.length; k++) {
    x[k] = view === 'step' ? curve.step[index[k]] : displayHours(history, curve.timestamp[index[k]])
  }
  return { history, curve, index, x }
}

/** The point at x = 0 that the reference's own curve gets. Null where the curve starts at 0 or before, or has no point. */
export function anchorOfReference(rule: SuppliedPoints, reference: ViewPoints): Anchor | null {
  if (!rule.anchor || reference.x.length === 0 || reference.x[0] <= 0) return null
  return { position: 0, provenance: sharedBy(rule) }
}

export function borrowedFrom(rule: SuppliedPoints): PointProvenance {
  return `borrowed_${rule.reference}`
}

/** Steps of the observations at these positions of a view. */
export function stepsAt({ curve, index }: ViewPoints, positions: Int32Array): number[] {
  return Array.from(positions, position => curve.step[index[position]])
}

export function supplyTarget(
  rule: SuppliedPoints,
  metric: string,
  view: View,
  reference: ViewPoints,
  target: ViewPoints
): SuppliedToTarget {
  if (!target.x.some(Number.isFinite)) return NOTHING
  const prefixed = view === 'step' ? rule.step_prefix.includes(metric) : rule.time_prefix
  const filled = view === 'step' && rule.same_step.includes(metric)
  const first = target.x[0]
  const last = target.x[target.x.length - 1]
  // `reference` is ordered by x, so the prefix comes first.
  const lent = new Int32Array(prefixed || filled ? reference.x.length : 0)
  let prefix = 0
  let count = 0
  for (let k = 0; k < lent.length && reference.x[k] <= last; k++) {
    const before = prefixed && reference.x[k] < first
    if (before) prefix++
    if (before || (filled && !hasStep(target.x, reference.x[k]))) lent[count++] = k
  }
  return {
    prefix: lent.slice(0, prefix),
    sameStep: lent.slice(prefix, count),
    anchor:
      rule.anchor && reference.x.length > 0 && first > 0 ? anchorOfTarget(rule, reference, count > 0 && reference.x[lent[0]] < 0) : null
  }
}

/** @param behindZero the supplied points start before 0 */
function anchorOfTarget(rule: SuppliedPoints, reference: ViewPoints, behindZero: boolean): Anchor | null {
  if (hasStep(reference.x, 0)) return { position: lowerBound(reference.x, 0), provenance: borrowedFrom(rule) }
  return behindZero ? null : { position: 0, provenance: sharedBy(rule) }
}

export function sharedBy(rule: SuppliedPoints): PointProvenance {
  return `shared_${rule.reference}_reference`
}

/**
 * Steps between the target's first and last own observation at which neither curve has an observation. The line bridges
 * them. Both curves are in the step view.
 */
export function unfilledSteps({ x: reference }: ViewPoints, { x: target }: ViewPoints, cap: number): MissingSteps {
  // The union holds the steps of both curves from the target's first step to its last. Its gaps are missing from both.
  const union = new Float64Array(reference.length + target.length)
  let length = 0
  let r = target.length === 0 ? 0 : lowerBound(reference, target[0])
  for (const step of target) {
    while (r < reference.length && reference[r] < step) union[length++] = reference[r++]
    if (reference[r] === step) r++
    union[length++] = step
  }
  return missingSteps(union, 0, length, cap)
}
