/** Chooses axis limits and tick positions. They depend on the data alone, so that a configuration can state them. */
import { formatDecimals, formatFigureCount, formatPower } from './format.js'

export interface Range {
  readonly min: number
  readonly max: number
}

export interface Ticks {
  readonly values: readonly number[]
  readonly labels: readonly string[]
  /** true for a fine grid line without a label; absent where there is none */
  readonly minor?: readonly boolean[]
  /** the labels are in this power of ten, which the title of the axis states; absent: in units */
  readonly exponent?: number
}

/** What the title of an axis adds, so that its labels can be read: ` (×10⁻⁶)`; nothing where they are in units. */
export function factorText({ exponent }: Ticks): string {
  return exponent === undefined ? '' : ` (\u00d7${formatPower(exponent)})`
}

/** Smallest and largest of the finite numbers in all lists. Null where there are no numbers. */
export function extent(...lists: ReadonlyArray<ArrayLike<number>>): Range | null {
  let min = Infinity
  let max = -Infinity
  for (const values of lists) {
    for (let i = 0; i < values.length; i++) {
      if (values[i] < min) min = values[i]
      if (values[i] > max) max = values[i]
    }
  }
  return min <= max ? { min, max } : null
}

/** Half a range below this size has no tick steps that doubles can distinguish. */
const LEAST_HALF = 1e-300

/** Two units in the last place of a float32, in which trainers log. Values that differ by less may differ by rounding alone. */
const ROUNDING = 2 ** -23

/** Whether the ends of a range are equal, or differ by rounding alone. An axis of that length would be unreadable. */
function isTooShort({ min, max }: Range): boolean {
  return !(max / 2 - min / 2 > Math.max(Math.max(Math.abs(min), Math.abs(max)) * ROUNDING, LEAST_HALF))
}

/**
 * The range with `fraction` of its length added at both ends. Where the range is too short (see `isTooShort`), it
 * becomes a tenth of the value up and down, so that a flat line is drawn in the middle.
 */
export function padRange(range: Range, fraction: number): Range {
  const middle = range.min / 2 + range.max / 2
  const half = range.max / 2 - range.min / 2
  const size = Math.max(Math.abs(range.min), Math.abs(range.max))
  const least = !isTooShort(range) ? 0 : size < LEAST_HALF ? 0.1 : size * 0.1
  const padded = Math.max(half * (1 + 2 * fraction), least)
  return { min: middle - padded, max: middle + padded }
}

/** Below and from these sizes the labels of an axis are in a power of ten, a multiple of three: 0.5 ×10⁻⁶ in place of 0.0000005. */
const UNITS = { from: 1e-3, below: 1e6 } as const

/**
 * Ticks with labels in one notation, with as many decimals as distinguish neighbours.
 * @param power of the ticks' distance
 */
function labelled(values: readonly number[], power: number, kind: 'count' | 'value'): Ticks {
  if (kind === 'count') return { values, labels: values.map(formatFigureCount) }
  const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const inUnits = size === 0 || (size >= UNITS.from && size < UNITS.below)
  if (inUnits) return { values, labels: values.map(value => formatDecimals(value, Math.max(0, -power))) }
  const exponent = Math.floor(Math.log10(size) / 3) * 3
  const scaled = (value: number): number => (exponent < 0 ? value * 10 ** -exponent : value / 10 ** exponent)
  return { values, labels: values.map(value => formatDecimals(scaled(value), Math.max(0, exponent - power))), exponent }
}

/** Multiples of 1, 2 or 5 times a power of ten inside the range: as many as possible, at most `atMost`. */
export function niceTicks(range: Range, atMost: number, kind: 'count' | 'value'): Ticks {
  const length = range.max - range.min
  let power = Math.floor(Math.log10(length / atMost))
  if (kind === 'count') power = Math.max(0, power)
  for (; ; power++) {
    for (const mantissa of [1, 2, 5]) {
      const at = (k: number): number => (power < 0 ? (k * mantissa) / 10 ** -power : k * mantissa * 10 ** power)
      const step = at(1)
      const from = Math.ceil(range.min / step)
      const to = Math.floor(range.max / step)
      if (to - from + 1 > atMost) continue
      const values = Array.from({ length: to - from + 1 }, (_, k) => at(from + k) + 0)
      return labelled(values, power, kind)
    }
  }
}

export interface FittedAxis {
  readonly range: Range
  /** in the unit of `labelWidth`, like `overhang` */
  readonly width: number
  readonly overhang: number
  labelWidth(label: string): number
}

/** Smallest gap between two labels. */
const LABEL_GAP = 8

/**
 * Ticks of a horizontal axis: at most `atMost`, and fewer where their labels would touch. A tick is left out where its
 * label would extend beyond the end of the axis by more than `overhang`.
 */
export function fittingTicks(range: Range, atMost: number, axis: FittedAxis, kind: 'count' | 'value' = 'count'): Ticks {
  const at = (value: number): number => ((value - axis.range.min) / (axis.range.max - axis.range.min)) * axis.width
  for (let most = atMost; ; most--) {
    const { values, labels, exponent } = niceTicks(range, most, kind)
    const half = labels.map(label => axis.labelWidth(label) / 2)
    const inside = values.map((_, k) => k).filter(k => at(values[k]) + half[k] <= axis.width + axis.overhang)
    const apart = inside.every((k, j) => {
      const before = inside[j - 1]
      return j === 0 || at(values[k]) - at(values[before]) >= half[k] + half[before] + LABEL_GAP
    })
    if (!apart && most > 1) continue
    return { values: inside.map(k => values[k]), labels: inside.map(k => labels[k]), ...(exponent === undefined ? {} : { exponent }) }
  }
}
