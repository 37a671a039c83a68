/** Series of estimates with their intervals, and the look of each: what the figures of the diagnostics draw. */
import type { Estimate } from '../../../compute/diagnostics/contract.js'
import { curveStyle } from '../curves/style.js'
import { SERIES, type SeriesStyle } from '../palette.js'
import { isDrawable } from '../style.js'

export interface BandPoint {
  readonly x: number
  /** null: nothing is drawn there */
  readonly y: number | null
  readonly low: number | null
  readonly high: number | null
}

export interface BandSeries {
  readonly label: string
  readonly style: SeriesStyle
  readonly dash: readonly number[]
  readonly points: readonly BandPoint[]
}

/** Width of a line. */
export const BAND_LINE = 1.3
const DASHED: readonly number[] = [4, 2]

/** The set that is named, the set that it is compared with, and each outcome. */
export const LOOKS = {
  own: { style: curveStyle(0), dash: [] },
  against: { style: curveStyle(1), dash: DASHED },
  second: { style: curveStyle(3), dash: DASHED },
  success: { style: SERIES.success, dash: [] },
  failure: { style: SERIES.failure, dash: [] },
  /** all outcomes together, where the outcomes have their own colours */
  both: { style: curveStyle(2), dash: [] },
  boundary: { style: curveStyle(4), dash: [] },
  internal: { style: curveStyle(3), dash: [] }
} as const satisfies Readonly<Record<string, Pick<BandSeries, 'style' | 'dash'>>>

export type Look = Pick<BandSeries, 'style' | 'dash'>

export function dashed({ style }: Look): Look {
  return { style: { ...style, fill: '#ffffff' }, dash: DASHED }
}

export function bandSeries(label: string, look: Look, points: readonly (readonly [x: number, estimate: Estimate | null])[]): BandSeries {
  return {
    label,
    ...look,
    points: points.map(([x, estimate]) => ({
      x,
      y: drawable(estimate?.value),
      low: drawable(estimate?.low),
      high: drawable(estimate?.high)
    }))
  }
}

function drawable(value: number | null | undefined): number | null {
  return value === undefined || value === null || !isDrawable(value) ? null : value
}

export function isDrawn({ points }: BandSeries): boolean {
  return points.some(({ y }) => y !== null)
}
