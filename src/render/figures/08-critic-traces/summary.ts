/**
 * Panels (a) and (b) of many traces, where a marker each would be a blot: of each outcome at each step, or in each of some
 * equal pieces of the axis, the median, the quartiles, and the range from 5 to 95 %.
 */
import type { Plain } from '../config.js'
import { SERIES } from '../palette.js'
import { POINT_OUTLINE } from '../style.js'
import type { Range } from '../ticks.js'

/** More markers than this, or more at one place, cover each other. */
const MOST_MARKERS = 200
const MOST_AT_ONE_PLACE = 14
const MOST_BINS = 24
/** distance between the bars of two outcomes, in points */
const BESIDE = 4
const BAR = { range: 0.8, quartiles: 2.4 } as const

/** @param positions x of each trace; null where it is not drawn */
export function isMany(positions: ReadonlyArray<number | null>): boolean {
  const drawn = positions.filter(x => x !== null)
  return drawn.length > MOST_MARKERS || drawn.length > MOST_AT_ONE_PLACE * new Set(drawn).size
}

/** The value below which this share lies, linear between two values as numpy's default is. @param sorted at least one value */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1)
  const low = Math.floor(at)
  const high = Math.min(low + 1, sorted.length - 1)
  return sorted[low] + (at - low) * (sorted[high] - sorted[low])
}

interface Bin {
  readonly x: number
  readonly values: Float64Array
}

export interface SummarisedKind {
  readonly kind: keyof typeof SERIES
  readonly x: readonly number[]
  readonly y: readonly number[]
}

/** Values by step; where there are more steps than bars have room for, by equal pieces of their range. */
function binned({ x, y }: SummarisedKind, steps: readonly number[]): Bin[] {
  const first = steps[0]
  const length = (steps[steps.length - 1] - first) / MOST_BINS
  const binOf = (step: number): number =>
    steps.length <= MOST_BINS ? step : first + (Math.min(MOST_BINS - 1, Math.floor((step - first) / length)) + 0.5) * length
  const bins = new Map<number, number[]>()
  x.forEach((step, k) => {
    const at = binOf(step)
    const own = bins.get(at)
    if (own === undefined) bins.set(at, [y[k]])
    else own.push(y[k])
  })
  return [...bins].sort(([a], [b]) => a - b).map(([at, values]) => ({ x: at, values: Float64Array.from(values).sort() }))
}

/** Datasets from front to back. @param width of the plot, in points */
export function summaryDatasets(kinds: readonly SummarisedKind[], range: Range, width: number): Plain[] {
  const steps = [...new Set(kinds.flatMap(({ x }) => x))].sort((a, b) => a - b)
  const perPoint = (range.max - range.min) / width
  const datasets = kinds.map((one, k) => {
    const { strong, pointStyle, rotation, radius, fill } = SERIES[one.kind]
    const aside = (k - (kinds.length - 1) / 2) * BESIDE * perPoint
    const bins = binned(one, steps)
    const bars = (label: string, low: number, high: number, borderWidth: number): Plain => ({
      label: `${one.kind}, ${label}`,
      data: bins.flatMap(({ x, values }) => [
        { x: x + aside, y: quantile(values, low) },
        { x: x + aside, y: quantile(values, high) },
        { x: x + aside, y: null }
      ]),
      borderColor: strong,
      borderWidth,
      pointRadius: 0,
      _decimated: true
    })
    const medians: Plain = {
      label: one.kind,
      data: bins.map(({ x, values }) => ({ x: x + aside, y: quantile(values, 0.5) })),
      showLine: false,
      pointStyle,
      pointRotation: rotation,
      pointRadius: radius,
      pointBackgroundColor: fill === 'transparent' ? '#ffffff' : fill,
      pointBorderColor: strong,
      pointBorderWidth: POINT_OUTLINE
    }
    return { medians, bars: [bars('quartiles', 0.25, 0.75, BAR.quartiles), bars('5 to 95 %', 0.05, 0.95, BAR.range)] }
  })
  return [...datasets.map(({ medians }) => medians), ...datasets.flatMap(({ bars }) => bars)]
}
