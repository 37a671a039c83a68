/**
 * Places a label with a leader line in a plot where it covers as little as possible of what is drawn. The envelope of
 * the drawn lines holds the highest and lowest ink in each column one point wide. Every place of a grid is tried. The
 * cheapest is taken, and the first on a tie, so the result depends on the input alone. Lengths are points from the
 * plot's upper left corner.
 */
import { Fault } from '../../core/errors.js'
import type { Rectangle } from './config.js'

export interface InkEnvelope {
  /** smallest y per column; Infinity where nothing is drawn */
  readonly top: Float64Array
  /** largest y per column; -Infinity where nothing is drawn */
  readonly bottom: Float64Array
}

export interface LabelPlacement {
  /** upper left corner of the label */
  readonly x: number
  readonly y: number
  /** ends of the leader: `from` at the label, `to` at the target */
  readonly from: { readonly x: number; readonly y: number }
  readonly to: { readonly x: number; readonly y: number }
  /** covered ink, in square points */
  readonly overlap: number
}

export function emptyEnvelope(width: number): InkEnvelope {
  const columns = Math.max(1, Math.ceil(width))
  return { top: new Float64Array(columns).fill(Infinity), bottom: new Float64Array(columns).fill(-Infinity) }
}

/** Adds the straight line from (x1, y1) to (x2, y2), x1 <= x2, to the envelope. */
export function addLine({ top, bottom }: InkEnvelope, x1: number, y1: number, x2: number, y2: number): void {
  const last = Math.min(top.length - 1, Math.floor(x2))
  for (let column = Math.max(0, Math.floor(x1)); column <= last; column++) {
    // Shares of the line at which it enters and leaves this column.
    const from = x2 === x1 ? 0 : Math.max(0, (column - x1) / (x2 - x1))
    const to = x2 === x1 ? 1 : Math.min(1, (column + 1 - x1) / (x2 - x1))
    const ya = y1 + from * (y2 - y1)
    const yb = y1 + to * (y2 - y1)
    top[column] = Math.min(top[column], ya, yb)
    bottom[column] = Math.max(bottom[column], ya, yb)
  }
}

export interface LabelProblem {
  readonly area: { readonly width: number; readonly height: number }
  readonly label: { readonly width: number; readonly height: number }
  /** the leader ends at the point of this line that is nearest to the label's middle */
  readonly target: { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number }
  readonly envelope: InkEnvelope
}

/** distance from the plot's edges */
const MARGIN = 3
/** distance from the drawn lines */
const CLEARANCE = 2
/** steps between the tried places, across and down */
const STEP_X = 8
const STEP_Y = 4
/** a shorter arrow is not recognized as one */
const SHORTEST_LEADER = 14
/** what is longer than this counts fourfold: a reader loses the way */
export const LONG_LEADER = 48

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value))
}

/** Covered ink in square points. Counting stops at `enough`. */
function coveredInk({ top, bottom }: InkEnvelope, { x, y, width, height }: Rectangle, enough: number): number {
  let sum = 0
  const last = Math.min(top.length - 1, Math.ceil(x + width))
  for (let column = Math.max(0, Math.floor(x)); column <= last && sum < enough; column++) {
    const covered = Math.min(bottom[column], y + height) - Math.max(top[column], y)
    if (covered >= 0) sum += covered + 1
  }
  return sum
}

/** Length of the leader over ink, in points. The last few points before the target are not counted. */
function crossedInk({ top, bottom }: InkEnvelope, from: LabelPlacement['from'], to: LabelPlacement['to'], length: number): number {
  let crossed = 0
  for (let walked = 0; walked < length - 4; walked++) {
    const x = from.x + ((to.x - from.x) * walked) / length
    const y = from.y + ((to.y - from.y) * walked) / length
    const column = clamp(Math.floor(x), 0, top.length - 1)
    if (y >= top[column] && y <= bottom[column]) crossed++
  }
  return crossed
}

function nearestPoint({ x1, y1, x2, y2 }: LabelProblem['target'], x: number, y: number): LabelPlacement['to'] {
  const [dx, dy] = [x2 - x1, y2 - y1]
  const square = dx * dx + dy * dy
  const share = square === 0 ? 0 : clamp(((x - x1) * dx + (y - y1) * dy) / square, 0, 1)
  return { x: x1 + share * dx, y: y1 + share * dy }
}

export function placeLabel({ area, label, target, envelope }: LabelProblem): LabelPlacement {
  const lastX = Math.max(MARGIN, area.width - label.width - MARGIN)
  const lastY = Math.max(MARGIN, area.height - label.height - MARGIN)
  const around = 2 * CLEARANCE
  let best: LabelPlacement | null = null
  let bestCost = Infinity
  for (let y = MARGIN; ; y = Math.min(y + STEP_Y, lastY)) {
    for (let x = MARGIN; ; x = Math.min(x + STEP_X, lastX)) {
      const box = { x: x - CLEARANCE, y: y - CLEARANCE, width: label.width + around, height: label.height + around }
      const overlap = coveredInk(envelope, box, bestCost / 2)
      if (overlap * 2 < bestCost) {
        const to = nearestPoint(target, x + label.width / 2, y + label.height / 2)
        const from = { x: clamp(to.x, x, x + label.width), y: clamp(to.y, y, y + label.height) }
        const length = Math.hypot(to.x - from.x, to.y - from.y)
        const tooShort = length < SHORTEST_LEADER ? 500 : 0
        const cost = overlap * 2 + length + 3 * Math.max(0, length - LONG_LEADER) + 3 * crossedInk(envelope, from, to, length) + tooShort
        if (cost < bestCost) {
          bestCost = cost
          best = { x, y, from, to, overlap }
        }
      }
      if (x >= lastX) break
    }
    if (y >= lastY) break
  }
  // The place (MARGIN, MARGIN) is always tried, and its cost is finite.
  if (best === null) {
    throw new Fault({ format: 'figure', problem: 'cannot place a label', found: 'an area or target that is not finite' })
  }
  return best
}
