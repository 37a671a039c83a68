/**
 * Maps values to positions on an axis. `forward` is strictly increasing. On an axis from a to b, value v lies at the
 * share (forward(v) - forward(a)) / (forward(b) - forward(a)) of its length. The canvas backend and the layout use the
 * same maps.
 *
 * The symmetric logarithm is matplotlib's with `linscale=1`, divided by `linthresh`. The linear part from 0 to the
 * threshold takes 10/9 of a decade. For a threshold of one, powers of ten are therefore where matplotlib puts them.
 *
 * A page's script draws with these maps too, so that nothing of Node is imported here.
 */
import type { AxisScale } from '../../schema/histories.js'

/** The largest number that is drawn. Far beyond it, sums and the length of an axis overflow. */
export const DRAWABLE = 1e100

export interface AxisMap {
  forward(value: number): number
  back(position: number): number
}

/** Number of decades that the linear part takes on each side. */
export const LINEAR_DECADES = 10 / 9

const IDENTITY: AxisMap = { forward: value => value, back: position => position }
const LOGARITHM: AxisMap = { forward: Math.log10, back: position => Math.max(Number.MIN_VALUE, 10 ** position) }

/** @param linearTo finite, above zero */
export function symlogMap(linearTo: number): AxisMap {
  return {
    forward: value => {
      const size = Math.abs(value) / linearTo
      return size <= 1 ? (value / linearTo) * LINEAR_DECADES : Math.sign(value) * (LINEAR_DECADES + Math.log10(size))
    },
    back: position => {
      const size = Math.abs(position)
      return size <= LINEAR_DECADES
        ? (position / LINEAR_DECADES) * linearTo
        : Math.sign(position) * linearTo * 10 ** (size - LINEAR_DECADES)
    }
  }
}

export function axisMap(scale: AxisScale): AxisMap {
  return scale.kind === 'linear' ? IDENTITY : scale.kind === 'log' ? LOGARITHM : symlogMap(scale.linear_to)
}

/** Whether a value lies below every axis of this kind. A line to such a value would leave the plot at the lower edge. */
export function isBelowAxis(value: number, scale: AxisScale): boolean {
  return scale.kind === 'log' && value < 1 / DRAWABLE
}

/** The reason why a value cannot be shown on such an axis, for the panel's heading. Null where it can. */
export function whyNotShown(value: number, scale: AxisScale): string | null {
  if (!(Math.abs(value) <= DRAWABLE)) return 'beyond 1e100'
  if (scale.kind !== 'log') return null
  return value <= 0 ? '\u2264 0' : value < 1 / DRAWABLE ? 'below 1e\u2212100' : null
}
