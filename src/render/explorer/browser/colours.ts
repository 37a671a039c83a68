/** The colours of the drawings: those of the figures on white paper, and their light ones on dark. */
import type { Outcome } from '../../../schema/traces.js'
import { curveStyle } from '../../figures/curves/style.js'
import { INK, SERIES } from '../../figures/palette.js'

export interface DrawingColours {
  readonly paper: string
  readonly text: string
  readonly quiet: string
  readonly axis: string
  readonly grid: string
  readonly boundary: string
  readonly outcome: Readonly<Record<Outcome | 'unknown', string>>
  readonly overlay: string
}

const OVERLAY = curveStyle(4)
export const OVERLAY_DASH = [5, 2] as const

export const LIGHT_COLOURS: DrawingColours = {
  paper: '#ffffff',
  text: INK.text,
  quiet: INK.quiet,
  axis: INK.axis,
  grid: INK.grid,
  boundary: INK.guide,
  outcome: { success: SERIES.success.strong, failure: SERIES.failure.strong, unknown: SERIES.unknown.strong },
  overlay: OVERLAY.strong
}

export const DARK_COLOURS: DrawingColours = {
  paper: '#15181c',
  text: '#e6e9ec',
  quiet: '#a9b1ba',
  axis: '#a9b1ba',
  grid: '#2a2f36',
  boundary: '#78818b',
  outcome: { success: SERIES.success.faint, failure: SERIES.failure.faint, unknown: SERIES.unknown.faint },
  overlay: OVERLAY.faint
}

const DARK = '(prefers-color-scheme: dark)'

export function drawingColours(): DrawingColours {
  return matchMedia(DARK).matches ? DARK_COLOURS : LIGHT_COLOURS
}

export function onColourChange(redraw: () => void): void {
  matchMedia(DARK).addEventListener('change', redraw)
}
