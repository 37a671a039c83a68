/**
 * Points of a reference curve that stand in for points that a target curve lacks. They are drawn and listed with their
 * provenance; no statistic sees one, and no observed point is moved or replaced.
 *
 * - anchor: where the reference has no observation at x = 0, both curves get one there with the reference's first value of
 *   that view; where it has one, the target gets a copy of that one. A curve with a point at x <= 0 gets none: it would
 *   stand behind the curve's start.
 * - step view: prefix (the reference's observations before the target's first step) and same-step fills (the reference's
 *   observation at any step up to the target's last at which the target has none), for the metrics that ask for them.
 * - time view: the reference's observations whose display_hours is below the target's first own one.
 *
 * A target without an observation in the view, or whose display hours are all beyond the double range, gets nothing: a curve
 * of supplied points alone would be the reference's.
 */
import type { SuppliedPoints } from '../../schema/histories.js'
import type { Curve, Provenance, SelectionHistory } from './contract.js'
import { holds, lowerBound, missingSteps, type MissingSteps } from './steps.js'
import { displayHours } from './time.js'

export type View = 'step' | 'time'

/** Observations of a curve in one view: x does not decrease. */
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
  /** place in the reference's view */
  readonly position: number
  readonly provenance: Provenance
}

/** Places in the reference's view, increasing: each is drawn at its own x. */
export interface SuppliedToTarget {
  /** observations before the target's first one */
  readonly prefix: Int32Array
  /** same-step fills that the prefix does not have already: all behind it */
  readonly sameStep: Int32Array
  /** what the anchor rule puts at x = 0; null: nothing */
  readonly anchor: Anchor | null
}

const NONE = new Int32Array(0)
const NOTHING: SuppliedToTarget = { prefix: NONE, sameStep: NONE, anchor: null }

export function viewOf(history: SelectionHistory, curve: Curve, view: View): ViewPoints {
  const index = view === 'step' ? curve.steps : curve.times
  const x = new Float64Array(index.length)
  for (let k = 0; k < x.length; k++) {
    x[k] = view === 'step'
      ? curve.step[index[k]]
      : displayHours(history, curve.timestamp[index[k]])
  }
  return { history, curve, index, x }
}

/** The point at x = 0 that the reference's own curve gets; null where it starts there or before, or has no point at all. */
export function anchorOfReference(rule: SuppliedPoints, reference: ViewPoints): Anchor | null {
  if (!rule.anchor || reference.x.length === 0 || reference.x[0] <= 0) return null
  return { position: 0, provenance: sharedBy(rule) }
}

export function borrowedFrom(rule: SuppliedPoints): Provenance {
  return `borrowed_${rule.reference}`
}

/** The steps at which observations of a view were made. */
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
  // By x, so what is before the first comes first.
  const lent = new Int32Array(prefixed || filled ? reference.x.length : 0)
  let prefix = 0
  let count = 0
  for (let k = 0; k < lent.length && reference.x[k] <= last; k++) {
    const before = prefixed && reference.x[k] < first
    if (before) prefix++
    if (before || (filled && !holds(target.x, reference.x[k]))) lent[count++] = k
  }
  return {
    prefix: lent.slice(0, prefix),
    sameStep: lent.slice(prefix, count),
    anchor: rule.anchor && reference.x.length > 0 && first > 0 ? anchorOfTarget(rule, reference, count > 0 && reference.x[lent[0]] < 0) : null
  }
}

/** @param behindZero what is supplied starts before 0 */
function anchorOfTarget(rule: SuppliedPoints, reference: ViewPoints, behindZero: boolean): Anchor | null {
  if (holds(reference.x, 0)) return { position: lowerBound(reference.x, 0), provenance: borrowedFrom(rule) }
  return behindZero ? null : { position: 0, provenance: sharedBy(rule) }
}

export function sharedBy(rule: SuppliedPoints): Provenance {
  return `shared_${rule.reference}_reference`
}

/**
 * Steps between the target's first and last own observation at which neither curve has one: the line bridges them.
 * Both in the step view.
 */
export function unfilledSteps({ x: reference }: ViewPoints, { x: target }: ViewPoints, cap: number): MissingSteps {
  // The steps of both curves, from the target's first to its last: what these leave out is missing from both.
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
