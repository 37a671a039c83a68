/**
 * What stands over the lines of a panel: names of curves at their ends, guides, rings around marked points, their labels,
 * and the linear part of a symmetric-logarithmic axis behind the lines.
 */
import type { Plain, Rectangle } from '../config.js'
import { Ink } from '../ink.js'
import { INK } from '../palette.js'
import { FONT_FAMILY, TEXT_SIZE } from '../style.js'
import { drawnWidth, fitWidth } from '../text-width.js'
import type { Range } from '../ticks.js'
import { placeGuideLabel, placeMarkLabel, placeName, type PlacedLabel, type Point } from './labels.js'
import { edgeLayers, type Layer } from './layers.js'
import type { PlotMap, PreparedPanel } from './plot-map.js'
import type { DrawnSeries } from './series.js'
import { curveStyle, MARK_RADIUS, THRESHOLD } from './style.js'

export interface Labels {
  readonly names: ReadonlyArray<PlacedLabel | null>
  readonly marks: ReadonlyArray<PlacedLabel | null>
  readonly guides: ReadonlyArray<PlacedLabel | null>
}

const MARKER_HALF = 3
const LEADER = { width: 0.6, dash: [] } as const
/** Two labels closer than this in a row would read as one. */
const BETWEEN_LABELS = 12
/** Largest width of a label in points. A longer label is cut, because it would find no place. */
const LONGEST_LABEL = 90
/** A longer name stands in the legend alone, as do the names of more curves. */
const LONGEST_NAME = 140
const MOST_NAMES = 8

function shortened(label: string): string {
  return fitWidth(label, TEXT_SIZE, LONGEST_LABEL)
}

/** The end of a curve as it is drawn, from the plot's upper left corner. */
function endOf({ raw, mean }: DrawnSeries, at: PlotMap): Point | null {
  const { x, y } = mean !== null && mean.x.length > 0 ? mean : raw
  const last = x.length - 1
  return last < 0 ? null : { x: at.x(x[last]), y: at.y(y[last]) }
}

function placeNames({ series }: PreparedPanel, at: PlotMap, placed: (end: Point, name: string) => PlacedLabel | null): Labels['names'] {
  return series.map(one => {
    const end = endOf(one, at)
    if (end === null || series.length > MOST_NAMES || drawnWidth(one.title, TEXT_SIZE) > LONGEST_NAME) return null
    return placed(end, one.title)
  })
}

export function placeLabels(panel: PreparedPanel, layers: readonly Layer[], at: PlotMap, plot: Rectangle): Labels {
  const ink = new Ink(plot.width, plot.height)
  const radius = MARK_RADIUS + 1
  for (const { line, joined } of [...layers, ...edgeLayers(panel.series, at)]) {
    const breaks = new Set(line.breaks)
    for (let i = 0; i < line.x.length; i++) {
      const [px, py] = [at.x(line.x[i]), at.y(line.y[i])]
      if (joined && i > 0 && !breaks.has(i)) ink.addLine(at.x(line.x[i - 1]), at.y(line.y[i - 1]), px, py)
      if (!joined || panel.data.sparse || line.x.length === 1) {
        ink.addBox({ x: px - MARKER_HALF, y: py - MARKER_HALF, width: 2 * MARKER_HALF, height: 2 * MARKER_HALF })
      }
    }
  }
  for (const { value } of panel.guides) ink.addLine(0, at.y(value), plot.width, at.y(value))
  for (const { x, y } of panel.marks) ink.addBox({ x: at.x(x) - radius, y: at.y(y) - radius, width: 2 * radius, height: 2 * radius })
  const boxes: Rectangle[] = []
  const placed = (label: PlacedLabel | null): PlacedLabel | null => {
    if (label === null) return null
    const { box } = label
    boxes.push(box)
    ink.addBox({ ...box, x: box.x - BETWEEN_LABELS, width: box.width + 2 * BETWEEN_LABELS })
    return label
  }
  return {
    names: placeNames(panel, at, (end, name) => placed(placeName(end, name, ink))),
    marks: panel.marks.map(({ x, y, label }) => placed(placeMarkLabel({ x: at.x(x), y: at.y(y) }, shortened(label), ink))),
    guides: panel.guides.map(({ value, label }) => placed(placeGuideLabel(at.y(value), shortened(label), ink, boxes)))
  }
}

function lineAnnotation(
  from: readonly [number, number],
  to: readonly [number, number],
  color: string,
  width: number,
  dash: readonly number[]
): Plain {
  return {
    type: 'line',
    xMin: from[0],
    yMin: from[1],
    xMax: to[0],
    yMax: to[1],
    borderColor: color,
    borderWidth: width,
    borderDash: dash,
    drawTime: 'afterDatasetsDraw',
    adjustScaleRange: false
  }
}

function labelAnnotation(content: string, { box }: PlacedLabel, at: PlotMap, color: string = INK.text, background = '#ffffff'): Plain {
  return {
    type: 'label',
    content,
    padding: 0,
    color,
    font: { family: FONT_FAMILY, size: TEXT_SIZE },
    backgroundColor: background,
    xValue: at.valueX(box.x + box.width / 2),
    yValue: at.valueY(box.y + box.height / 2),
    drawTime: 'afterDatasetsDraw',
    adjustScaleRange: false,
    z: 2
  }
}

/** The linear part of a symmetric-logarithmic axis, as far as the axis shows it. Null where it shows nothing else, or none of it. */
export function linearPart({ data: { scale }, y }: PreparedPanel): Range | null {
  if (scale.kind !== 'symlog') return null
  const [min, max] = [Math.max(y.min, -scale.linear_to), Math.min(y.max, scale.linear_to)]
  return min < max && (min > y.min || max < y.max) ? { min, max } : null
}

function linearAnnotation({ min, max }: Range, x: Range): Plain {
  return {
    type: 'box',
    xMin: x.min,
    xMax: x.max,
    yMin: min,
    yMax: max,
    backgroundColor: INK.minorGrid,
    borderWidth: 0,
    drawTime: 'beforeDraw',
    adjustScaleRange: false
  }
}

export function annotationsOf(panel: PreparedPanel, labels: Labels, x: Range, at: PlotMap): { [name: string]: Plain } {
  const annotations: { [name: string]: Plain } = {}
  const between = ([from, to]: NonNullable<PlacedLabel['leader']>, color: string, width: number, dash: readonly number[]): Plain =>
    lineAnnotation([at.valueX(from.x), at.valueY(from.y)], [at.valueX(to.x), at.valueY(to.y)], color, width, dash)
  const linear = linearPart(panel)
  if (linear !== null) annotations['linear'] = linearAnnotation(linear, x)
  panel.series.forEach(({ title, slot }, k) => {
    const place = labels.names[k]
    if (place === null) return
    const { name } = curveStyle(slot)
    annotations[`name-${k}`] = labelAnnotation(title, place, at, name, linear === null ? '#ffffff' : 'transparent')
    if (place.leader !== null) annotations[`name-leader-${k}`] = between(place.leader, name, LEADER.width, LEADER.dash)
  })
  panel.guides.forEach(({ value, label, slot }, k) => {
    const color = slot === null ? INK.quiet : curveStyle(slot).strong
    annotations[`guide-${k}`] = lineAnnotation([x.min, value], [x.max, value], color, THRESHOLD.width, THRESHOLD.dash)
    const place = labels.guides[k]
    if (place === null) return
    annotations[`guide-label-${k}`] = labelAnnotation(shortened(label), place, at)
    if (place.leader !== null) annotations[`guide-leader-${k}`] = between(place.leader, color, LEADER.width, LEADER.dash)
  })
  panel.marks.forEach(({ x: xValue, y: yValue, label }, k) => {
    annotations[`mark-${k}`] = {
      type: 'point',
      xValue,
      yValue,
      radius: MARK_RADIUS,
      backgroundColor: 'transparent',
      borderColor: INK.text,
      borderWidth: 0.8,
      drawTime: 'afterDatasetsDraw',
      adjustScaleRange: false,
      z: 1
    }
    const place = labels.marks[k]
    if (place === null) return
    annotations[`mark-label-${k}`] = labelAnnotation(shortened(label), place, at)
    if (place.leader !== null) annotations[`mark-leader-${k}`] = between(place.leader, INK.text, LEADER.width, LEADER.dash)
  })
  return annotations
}
