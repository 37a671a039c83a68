/**
 * The look of the series of a bar figure. The first colours are those of the curve figures' first series. All differ in
 * lightness (0.34, 0.63, 0.85, 0.10, 0.52, 0.73 of white), so that greyscale and colour-blind readers can distinguish
 * them. All have a thin outline. A value that no source publishes is a white bar, hatched in its series' colour.
 */
import type { BarMark } from '../config.js'

interface BarStyle {
  readonly fill: string
  readonly line: string
  /** dark enough for thin lines on white */
  readonly hatch: string
}

const SLOTS: readonly BarStyle[] = [
  { fill: '#0072b2', line: '#004a75', hatch: '#0072b2' },
  { fill: '#e69f00', line: '#8a5f00', hatch: '#d18f00' },
  { fill: '#d9d9d9', line: '#666666', hatch: '#8c8c8c' },
  { fill: '#1a1a1a', line: '#1a1a1a', hatch: '#1a1a1a' },
  { fill: '#b06c96', line: '#6e3a5a', hatch: '#b06c96' },
  { fill: '#8cc8ea', line: '#3d7ea6', hatch: '#4c9bc9' }
]

const OUTLINE = 0.7

export function barMark(slot: number, published: boolean): BarMark {
  const { fill, line, hatch } = SLOTS[slot % SLOTS.length]
  return { fill: published ? fill : '#ffffff', stroke: line, strokeWidth: OUTLINE, hatch: published ? null : hatch }
}

/** Mark of the legend's key to hatched bars. It has no series' colour. */
export const STAND_IN: BarMark = { fill: '#ffffff', stroke: '#4d4d4d', strokeWidth: OUTLINE, hatch: '#4d4d4d' }
export const STAND_IN_LABEL = 'stand-in: not published'
