/**
 * The colours of figures and of the explorer, in Node and in a browser. They are those of Okabe and Ito (2008), which colour-blind
 * readers can distinguish. Greyscale readers have marker shape, fill and line style.
 */
import type { Outcome } from '../../schema/traces.js'

export const INK = {
  text: '#1a1a1a',
  quiet: '#595959',
  axis: '#4d4d4d',
  grid: '#e9e9e9',
  minorGrid: '#f0f0f0',
  guide: '#8c8c8c',
  zero: '#4d4d4d'
} as const

export interface SeriesStyle {
  /** colour of marker outlines and lines of means */
  readonly strong: string
  /** colour of raw values behind them */
  readonly faint: string
  readonly pointStyle: string
  readonly rotation: number
  readonly radius: number
  readonly fill: string
}

/** Success: a filled circle. Failure: an open triangle pointing down. Unknown: a grey cross. */
export const SERIES: { readonly [kind in Outcome | 'unknown']: SeriesStyle } = {
  success: { strong: '#0072b2', faint: '#8ec3e3', pointStyle: 'circle', rotation: 0, radius: 2.6, fill: '#0072b2' },
  failure: { strong: '#b84a00', faint: '#f2b48a', pointStyle: 'triangle', rotation: 180, radius: 3.4, fill: 'transparent' },
  unknown: { strong: '#666666', faint: '#c8c8c8', pointStyle: 'crossRot', rotation: 0, radius: 2.8, fill: '#666666' }
}
