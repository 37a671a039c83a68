/**
 * Points of a reference curve that stand in for points that a target curve lacks. They are drawn and listed with their
 * provenance; no statistic sees one, and no observed point is moved or replaced.
 *
 * - anchor: where the reference has no observation at x = 0, both curves get one there with the reference's first value of
 *   that view; where it has one, the target gets a copy of that one. A target with its own point at x = 0 keeps it alone.
 * - step view: prefix (the reference's observations before the target's first step) and same-step fills (the reference's
 *   observation at any step up to the target's last at which the target has none), for the metrics that ask for them.
 * - time view: the reference's observations whose display_hours is below the target's first own one.
 *
 * A target without an observation in the view gets nothing: a curve of supplied points alone would be the reference's.
 */
import type { SuppliedPoints } from '../../schema/histories.js'
import type { Curve, Provenance, SelectionHistory } from './contract.js'
import { holds, lowerBound, missingSteps, type MissingSteps } from './steps.js'
import { displayHours } from './time.js'

export type View = 'step' | 'time'

/** The observations of a curve in one view: x does not decrease. */
export interface ViewPoints {
  readonly curve: Curve
  /** indexes into the curve */
  readonly index: Int32Array
  /** step, or display_hours */
  readonly x: Float64Array
}

/** An observation of the reference, drawn for another curve (or for its own, as its anchor). */
export interface SuppliedPoint {
  readonly x: number
  /** index into the reference's curve */
  readonly index: number
  readonly provenance: Provenance
}

export interface SuppliedToTarget {
  readonly points: readonly SuppliedPoint[]
  /** provenance of what the anchor rule puts at x = 0; null: nothing */
  readonly anchor: Provenance | null
  /** steps of the reference's observations before the target's first one */
  readonly prefix: readonly number[]
  /** steps of the same-step fills that the prefix does not have already */
  readonly sameStep: readonly number[]
}

const NOTHING: SuppliedToTarget = { points: [], anchor: null, prefix: [], sameStep: [] }

export function viewOf(history: SelectionHistory, curve: Curve, view: View): ViewPoints {
  const index = view === 'step' ? curve.steps : curve.times
  const x = new Float64Array(index.length)
  for (let k = 0; k < x.length; k++) {
    x[k] = view === 'step'
      ? curve.step[index[k]]
      : displayHours(history, curve.timestamp[index[k]])
  }
  return { curve, index, x }
}

/** The point at x = 0 that the reference's own curve gets; null where it has one, or nothing to take it from. */
export function anchorOfReference(rule: SuppliedPoints, reference: ViewPoints): SuppliedPoint | null {
  if (!rule.anchor || reference.x.length === 0 || holds(reference.x, 0)) return null
  return { x: 0, index: reference.index[0], provenance: sharedBy(rule) }
}

export function supplyTarget(
  rule: SuppliedPoints,
  metric: string,
  view: View,
  reference: ViewPoints,
  target: ViewPoints
): SuppliedToTarget {
  if (target.x.length === 0) return NOTHING
  const provenance = `borrowed_${rule.reference}`
  const points: SuppliedPoint[] = []
  const prefix: number[] = []
  const sameStep: number[] = []
  const lend = (k: number, list: number[]): void => {
    points.push({ x: reference.x[k], index: reference.index[k], provenance })
    list.push(reference.curve.step[reference.index[k]])
  }
  const prefixed = view === 'step' ? rule.step_prefix.includes(metric) : rule.time_prefix
  const filled = view === 'step' && rule.same_step.includes(metric)
  const first = target.x[0]
  const last = target.x[target.x.length - 1]
  for (let k = 0; k < reference.x.length && reference.x[k] <= last; k++) {
    if (prefixed && reference.x[k] < first) lend(k, prefix)
    else if (filled && !holds(target.x, reference.x[k])) lend(k, sameStep)
  }
  const anchor = rule.anchor && reference.x.length > 0 && !holds(target.x, 0)
    ? anchorOfTarget(rule, provenance, reference)
    : null
  if (anchor !== null && !points.some(point => point.x === 0)) points.push(anchor)
  return { points, anchor: anchor?.provenance ?? null, prefix, sameStep }
}

function anchorOfTarget(rule: SuppliedPoints, borrowed: Provenance, reference: ViewPoints): SuppliedPoint {
  const atZero = reference.x.indexOf(0)
  return atZero < 0
    ? { x: 0, index: reference.index[0], provenance: sharedBy(rule) }
    : { x: 0, index: reference.index[atZero], provenance: borrowed }
}

function sharedBy(rule: SuppliedPoints): Provenance {
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
