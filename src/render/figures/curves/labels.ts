/**
 * Places the labels of a panel where they cover no ink: first the names of curves, then the labels of marked points, then
 * those of guides. Places are tried in a fixed order and the first free one is taken, so the result depends on the input
 * alone.
 */
import type { Rectangle } from '../config.js'
import type { Ink } from '../ink.js'
import { clamp } from '../place-label.js'
import { TEXT_SIZE } from '../style.js'
import { drawnWidth } from '../text-width.js'
import { MARK_RADIUS } from './style.js'

export interface Point {
  readonly x: number
  readonly y: number
}

export interface PlacedLabel {
  /** in points from the plot's upper left corner */
  readonly box: Rectangle
  /** a line from the label to what it names; null where the label is beside it */
  readonly leader: readonly [Point, Point] | null
  readonly free: boolean
}

export const LABEL_HEIGHT = TEXT_SIZE * 1.2
const CLEARANCE = 1
/** distance from the plot's edges */
const MARGIN = 2
/** A label further from its point than this has a leader. */
const BESIDE = 6
const NEAR = 46
/** gap between a label and its leader; a line that touched the text would look like a character of it */
const LEADER_GAP = 2.5

function inside({ x, y, width, height }: Rectangle, ink: Ink): boolean {
  return x >= MARGIN && y >= MARGIN && x + width <= ink.width - MARGIN && y + height <= ink.height - MARGIN
}

function covered({ x, y, width, height }: Rectangle, ink: Ink): number {
  return ink.covered({ x: x - CLEARANCE, y: y - CLEARANCE, width: width + 2 * CLEARANCE, height: height + 2 * CLEARANCE })
}

/** The first candidate that covers the least ink. */
function leastCovering(candidates: Iterable<Rectangle>, ink: Ink): { readonly box: Rectangle; readonly free: boolean } | null {
  let best: Rectangle | null = null
  let least = Infinity
  for (const box of candidates) {
    if (!inside(box, ink)) continue
    const cells = covered(box, ink)
    if (cells === 0) return { box, free: true }
    if (cells < least) {
      least = cells
      best = box
    }
  }
  return best === null ? null : { box: best, free: false }
}

/** The line from the label's nearest edge to the ring around the point. Null where the label is beside the point. */
function leaderOf(point: Point, box: Rectangle): readonly [Point, Point] | null {
  const near = { x: clamp(point.x, box.x, box.x + box.width), y: clamp(point.y, box.y, box.y + box.height) }
  const distance = Math.hypot(near.x - point.x, near.y - point.y)
  if (distance <= MARK_RADIUS + BESIDE) return null
  const [share, gap] = [MARK_RADIUS / distance, LEADER_GAP / distance]
  const from = { x: near.x + (point.x - near.x) * gap, y: near.y + (point.y - near.y) * gap }
  return [from, { x: point.x + (near.x - point.x) * share, y: point.y + (near.y - point.y) * share }]
}

/** Whether a leader runs over ink. Its end at the point is not tested. */
function crosses([from, to]: readonly [Point, Point], ink: Ink): boolean {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  for (let walked = 0; walked < length - 3; walked++) {
    const [x, y] = [from.x + ((to.x - from.x) * walked) / length, from.y + ((to.y - from.y) * walked) / length]
    if (ink.covered({ x, y, width: 0, height: 0 }) > 0) return true
  }
  return false
}

const DIRECTIONS = [
  [0, -1],
  [0, 1],
  [1, 0],
  [1, -1],
  [1, 1],
  [-1, -1],
  [-1, 1],
  [-1, 0]
] as const

/** A name stands behind the end of its curve where there is room. */
const BEHIND_FIRST = [[1, 0], ...DIRECTIONS.filter(([dx, dy]) => dx !== 1 || dy !== 0)] as const

type Directions = ReadonlyArray<readonly [number, number]>

/**
 * Places around a point, nearest first, at each distance in the order of the directions. Near an edge of the plot, a place
 * above or below is moved inwards.
 */
function* around({ x, y }: Point, width: number, ink: Ink, furthest: number, directions: Directions = DIRECTIONS): Generator<Rectangle> {
  for (let distance = MARK_RADIUS + 2; distance <= furthest; distance += 2) {
    for (const [dx, dy] of directions) {
      const shrink = dx !== 0 && dy !== 0 ? Math.SQRT1_2 : 1
      const left = x + dx * (distance * shrink + width / 2) - width / 2
      const top = y + dy * (distance * shrink + LABEL_HEIGHT / 2) - LABEL_HEIGHT / 2
      yield { x: dy === 0 ? left : clamp(left, MARGIN, ink.width - MARGIN - width), y: top, width, height: LABEL_HEIGHT }
    }
  }
}

/** Places near a point whose leader crosses no ink. */
function* uncrossed(point: Point, width: number, ink: Ink, directions: Directions): Generator<Rectangle> {
  for (const box of around(point, width, ink, NEAR, directions)) {
    const leader = leaderOf(point, box)
    if (leader === null || !crosses(leader, ink)) yield box
  }
}

/** Places the name of a curve near its end. Null where no place there is free: the legend then names it. */
export function placeName(end: Point, text: string, ink: Ink): PlacedLabel | null {
  const place = leastCovering(uncrossed(end, drawnWidth(text, TEXT_SIZE), ink, BEHIND_FIRST), ink)
  return place?.free === true ? { ...place, leader: leaderOf(end, place.box) } : null
}

/**
 * Places a label near its point. A leader that it needs there crosses no ink. Where no such place is free, the label
 * stands further away, and its leader may cross ink. Where no place is free at all, the label covers as little ink as
 * possible.
 */
export function placeMarkLabel(point: Point, text: string, ink: Ink): PlacedLabel | null {
  const width = drawnWidth(text, TEXT_SIZE)
  const near = leastCovering(uncrossed(point, width, ink, DIRECTIONS), ink)
  const place = near?.free === true ? near : leastCovering(around(point, width, ink, ink.height), ink)
  return place === null ? null : { ...place, leader: leaderOf(point, place.box) }
}

/** Left ends of labels, from the right edge of the plot to the left. */
function* fromTheRight(width: number, ink: Ink): Generator<number> {
  for (let x = ink.width - MARGIN - width; x >= MARGIN; x -= 4) yield x
}

/** Places along the guide: above it before below it. The guide's own ink is one row of cells. */
function* along(y: number, width: number, lefts: Iterable<number>): Generator<Rectangle> {
  const all = [...lefts]
  for (const top of [Math.floor(y) - LABEL_HEIGHT - CLEARANCE - 0.1, Math.floor(y) + 1.1 + CLEARANCE]) {
    for (const x of all) yield { x, y: top, width, height: LABEL_HEIGHT }
  }
}

/** Places near height `y`, nearest rows first, whose leaders run over no other label. */
function* nearTo(y: number, width: number, lefts: Iterable<number>, ink: Ink, others: readonly Rectangle[]): Generator<Rectangle> {
  const all = [...lefts]
  const tops: number[] = []
  for (let top = MARGIN; top + LABEL_HEIGHT <= ink.height - MARGIN; top += 2) tops.push(top)
  const away = (top: number): number => Math.abs(top + LABEL_HEIGHT / 2 - y)
  for (const top of tops.filter(top => away(top) <= NEAR).sort((a, b) => away(a) - away(b) || a - b)) {
    for (const x of all) {
      const box = { x, y: top, width, height: LABEL_HEIGHT }
      if (!others.some(other => runsOver(leaderToGuide(box, y), other))) yield box
    }
  }
}

/** Whether an upright leader runs over a label. */
function runsOver(leader: PlacedLabel['leader'], { x, y, width, height }: Rectangle): boolean {
  if (leader === null) return false
  const [from, to] = leader
  const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)]
  return to.x >= x - CLEARANCE && to.x <= x + width + CLEARANCE && top <= y + height && bottom >= y
}

/**
 * Places a label on the guide at height `y`, at the right edge of the plot. Where no place there is free, the label takes
 * the nearest free place at that edge, with a leader down or up to the guide; then a place further to the left, on the
 * guide or near it. Where no place near the guide is free, the label covers as little ink as possible on the guide. It is
 * not moved far away, because a long leader would look like a part of the curves.
 * @param others boxes of the labels that have their places
 */
export function placeGuideLabel(y: number, text: string, ink: Ink, others: readonly Rectangle[]): PlacedLabel | null {
  const width = drawnWidth(text, TEXT_SIZE)
  const edge = [ink.width - MARGIN - width]
  for (const lefts of [edge, [...fromTheRight(width, ink)]]) {
    const onGuide = leastCovering(along(y, width, lefts), ink)
    if (onGuide?.free === true) return { ...onGuide, leader: null }
    const apart = leastCovering(nearTo(y, width, lefts, ink, others), ink)
    if (apart?.free === true) return { ...apart, leader: leaderToGuide(apart.box, y) }
  }
  const all = [...fromTheRight(width, ink)]
  const place = leastCovering(along(y, width, all), ink) ?? leastCovering(nearTo(y, width, all, ink, others), ink)
  return place === null ? null : { ...place, leader: null }
}

function leaderToGuide(box: Rectangle, y: number): PlacedLabel['leader'] {
  const x = box.x + box.width / 2
  const below = box.y > y
  const from = below ? box.y - LEADER_GAP / 2 : box.y + box.height + LEADER_GAP / 2
  const isApart = below ? from > y : from < y
  return isApart
    ? [
        { x, y: from },
        { x, y }
      ]
    : null
}
