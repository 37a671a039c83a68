/** Bars against the values of `figure_constants.json`: where a bar ends is its value, and its foot stands where the axis begins. */
import type { SvgPanel, SvgSeries } from '../../ingest/svg/drawn-figure.js'
import type { SubPath } from '../../ingest/svg/path.js'
import { isDrawable } from '../../render/figures/style.js'
import { cleanText } from '../../render/figures/text-width.js'
import type { BarPanel, FigureConstantsDocument } from '../../schema/outputs/figure-constants.js'
import { isNear, Plot, type Difference } from './compare.js'
import type { SeriesCheck } from './contract.js'

export type BarFigure = Extract<FigureConstantsDocument['figures'][string], { readonly kind: 'bars' }>

/** An outline and what is inside it end so near to each other; a bar stands on the axis line. In points. */
const BORDER = 1.5

interface BarBox {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

function boxOf(points: readonly number[]): BarBox {
  const [x, y] = [points.filter((_, i) => i % 2 === 0), points.filter((_, i) => i % 2 === 1)]
  return { left: Math.min(...x), right: Math.max(...x), top: Math.min(...y), bottom: Math.max(...y) }
}

function isInside(inner: BarBox, outer: BarBox): boolean {
  const within = (a: number, b: number): boolean => a >= b && a - b <= BORDER
  return (
    within(inner.left, outer.left) && within(outer.right, inner.right) && within(inner.top, outer.top) && within(outer.bottom, inner.bottom)
  )
}

/** Four corners, each at an end of the box in both directions. */
function isRectangle({ points, closed, arcs }: SubPath): boolean {
  const { left, right, top, bottom } = boxOf(points)
  const corners = new Set<string>()
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i], points[i + 1]]
    if ((x === left || x === right) && (y === top || y === bottom)) corners.add(`${x} ${y}`)
  }
  return closed && arcs === 0 && points.length === 8 && corners.size === (left === right ? 1 : 2) * (top === bottom ? 1 : 2)
}

/** The bar that a series draws, with the group that it stands in. */
function drawnBar({ paths }: SvgSeries, plot: Plot): { readonly box: BarBox; readonly group: number; readonly whole: boolean } {
  const parts = paths.flatMap(path => path.parts)
  const box = boxOf(parts.flatMap(({ points }) => points))
  const whole = parts.every(part => isRectangle(part) && isInside(boxOf(part.points), box))
  return { box, group: Math.floor(plot.x.value((box.left + box.right) / 2)), whole }
}

interface WantedBar {
  readonly series: string
  readonly group: number
  readonly value: number
}

function wantedBars({ groups, series }: BarPanel): WantedBar[] {
  return groups.flatMap((_, group) =>
    series.flatMap(({ title, bars }): WantedBar[] => {
      const value = bars[group]?.value ?? null
      return value === null || !isDrawable(value) ? [] : [{ series: cleanText(title), group, value }]
    })
  )
}

function barDifference(series: SvgSeries, plot: Plot, wanted: WantedBar | undefined, from: number): Difference | null {
  const { box, group, whole } = drawnBar(series, plot)
  const foot = plot.y.at(from)
  // A bar below the start of the axis ends at its lower side.
  const end = Math.abs(box.top - foot) > Math.abs(box.bottom - foot) ? box.top : box.bottom
  const index = group
  const found = `a bar to ${plot.y.text(end)} in group ${group + 1}`
  if (wanted === undefined) return { index, found, expected: 'no bar' }
  const stands = Math.abs((end === box.top ? box.bottom : box.top) - foot) <= BORDER
  if (!isNear(end, plot.y.at(wanted.value))) return { index, found, expected: `to ${wanted.value}` }
  return stands && whole
    ? null
    : { index, found: 'a bar whose outline and foot do not agree', expected: `one box from ${from} to ${wanted.value}` }
}

export function checkBars(panel: SvgPanel, data: BarPanel): SeriesCheck[] {
  const plot = new Plot(panel)
  const left = wantedBars(data)
  const total = (name: string): number => wantedBars(data).filter(({ series }) => series === name).length
  const names = [...new Set([...data.series.map(({ title }) => cleanText(title)), ...panel.series.map(({ name }) => name)])]
  const drawn = panel.series.map(series => {
    const { group } = drawnBar(series, plot)
    const at = left.findIndex(one => one.series === series.name && one.group === group)
    const [wanted] = at < 0 ? [] : left.splice(at, 1)
    return { name: series.name, difference: barDifference(series, plot, wanted, data.from) }
  })
  return names.flatMap((name): SeriesCheck[] => {
    const own = drawn.filter(one => one.name === name)
    const missing = left.find(({ series }) => series === name)
    if (own.length === 0 && missing === undefined) return []
    const difference =
      own.find(one => one.difference !== null)?.difference ??
      (missing === undefined
        ? null
        : { index: missing.group, found: 'no bar', expected: `a bar to ${missing.value} in group ${missing.group + 1}` })
    return [
      {
        panel: panel.letter,
        series: name,
        status: difference === null ? 'ok' : 'differs',
        drawn: own.length,
        total: total(name),
        difference
      }
    ]
  })
}
