/**
 * The look of the series of a curve figure: the colours of Okabe and Ito (2008), with different lightness for
 * neighbours, and a marker for each. Greyscale and colour-blind readers can therefore distinguish the series. Raw
 * values have a light solid colour. A transparent one would look different in print and take more bytes.
 */
import type { SeriesStyle } from '../palette.js'

const OPEN = '#ffffff'

/** `name`: colour of the name at the end of the curve, dark enough for text */
const SLOTS: readonly (SeriesStyle & { readonly name: string })[] = [
  { strong: '#0072b2', name: '#0072b2', faint: '#9ccbe6', pointStyle: 'circle', rotation: 0, radius: 2.2, fill: '#0072b2' },
  { strong: '#e69f00', name: '#8a5f00', faint: '#f8d899', pointStyle: 'triangle', rotation: 0, radius: 2.9, fill: OPEN },
  { strong: '#1a1a1a', name: '#1a1a1a', faint: '#b8b8b8', pointStyle: 'rect', rotation: 0, radius: 2.5, fill: '#1a1a1a' },
  { strong: '#009e73', name: '#007a59', faint: '#99d8c7', pointStyle: 'rectRot', rotation: 0, radius: 2.8, fill: OPEN },
  { strong: '#99407a', name: '#99407a', faint: '#dcb6ce', pointStyle: 'triangle', rotation: 180, radius: 2.7, fill: '#99407a' },
  { strong: '#56b4e9', name: '#2f6f96', faint: '#bbe1f6', pointStyle: 'rect', rotation: 0, radius: 2.5, fill: OPEN },
  { strong: '#b84a00', name: '#b84a00', faint: '#eebfa0', pointStyle: 'rectRot', rotation: 0, radius: 2.8, fill: '#b84a00' },
  { strong: '#c4a800', name: '#8a5f00', faint: '#e9dea0', pointStyle: 'circle', rotation: 0, radius: 2.2, fill: OPEN }
]

/** Dashes of the lines: for the first eight series, for the second eight, and for all further ones. */
const ROUNDS: ReadonlyArray<readonly number[]> = [[], [5, 2], [5, 2, 1, 2]]

export interface CurveStyle extends SeriesStyle {
  readonly name: string
  /** dash of the trailing mean */
  readonly dash: readonly number[]
}

export function curveStyle(slot: number): CurveStyle {
  const round = Math.min(Math.floor(slot / SLOTS.length), ROUNDS.length - 1)
  return { ...SLOTS[slot % SLOTS.length], dash: ROUNDS[round] }
}

/** Columns per point of plot width. A column is about two pixels wide in a 300 dpi picture. */
export const COLUMNS_PER_POINT = 2
/** Lines of sparse metrics. They guide the eye between the markers. */
export const SPARSE = { width: 1, dash: [3, 2] } as const
/** A line of values without a trailing mean has the strong colour, but is thinner than a mean. */
export const PLAIN_LINE = 0.9
export const RAW_CURVE = 0.7
/** radius of a raw value without neighbours */
export const LONE_POINT = 1.5
export const THRESHOLD = { width: 1, dash: [1, 2] } as const
/** Tick on the lower edge where a series passes from one session to the next. It extends upwards from the axis. */
export const RESTART_TICK = { length: 5, width: 1.2 } as const
/** radius of the mark on the lower edge for a value below the axis */
export const EDGE_MARK = 2
/** radius of the ring around a labelled point */
export const MARK_RADIUS = 3.6
