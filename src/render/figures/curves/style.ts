/**
 * How the series of a curve figure look: Okabe and Ito's (2008) colours, neighbours of different lightness, each with a
 * marker of its own, so that greyscale and colour-blind readers tell them apart. Raw values are drawn in a light solid
 * colour, not a transparent one: the same in print, and fewer bytes.
 */
import type { SeriesStyle } from '../style.js'

const OPEN = '#ffffff'

const SLOTS: readonly SeriesStyle[] = [
  { strong: '#0072b2', faint: '#9ccbe6', pointStyle: 'circle', rotation: 0, radius: 2.2, fill: '#0072b2' },
  { strong: '#e69f00', faint: '#f8d899', pointStyle: 'triangle', rotation: 0, radius: 2.9, fill: OPEN },
  { strong: '#1a1a1a', faint: '#b8b8b8', pointStyle: 'rect', rotation: 0, radius: 2.5, fill: '#1a1a1a' },
  { strong: '#009e73', faint: '#99d8c7', pointStyle: 'rectRot', rotation: 0, radius: 2.8, fill: OPEN },
  { strong: '#99407a', faint: '#dcb6ce', pointStyle: 'triangle', rotation: 180, radius: 2.7, fill: '#99407a' },
  { strong: '#56b4e9', faint: '#bbe1f6', pointStyle: 'rect', rotation: 0, radius: 2.5, fill: OPEN },
  { strong: '#b84a00', faint: '#eebfa0', pointStyle: 'rectRot', rotation: 0, radius: 2.8, fill: '#b84a00' },
  { strong: '#c4a800', faint: '#e9dea0', pointStyle: 'circle', rotation: 0, radius: 2.2, fill: OPEN }
]

/** Dashes of the lines of the first eight series, the second eight, and all after them. */
const ROUNDS: ReadonlyArray<readonly number[]> = [[], [5, 2], [5, 2, 1, 2]]

export interface CurveStyle extends SeriesStyle {
  /** of its trailing mean */
  readonly dash: readonly number[]
}

export function curveStyle(slot: number): CurveStyle {
  const round = Math.min(Math.floor(slot / SLOTS.length), ROUNDS.length - 1)
  return { ...SLOTS[slot % SLOTS.length], dash: ROUNDS[round] }
}

/** Lines of values logged now and then: visual guides between the markers. */
export const SPARSE = { width: 1, dash: [3, 2] } as const
/** Values that have no trailing mean are drawn strong, but thinner than one. */
export const PLAIN_LINE = 0.9
export const RAW_CURVE = 0.7
/** radius of a raw value without neighbours */
export const LONE_POINT = 1.5
export const THRESHOLD = { width: 1, dash: [1, 2] } as const
/** On the lower edge, where a series passes from one session to the next: from the axis upwards. */
export const RESTART_TICK = { length: 5, width: 1.2 } as const
/** radius of a mark on the lower edge, for a value below it */
export const EDGE_MARK = 2
/** ring around a point with a label */
export const MARK_RADIUS = 3.6
