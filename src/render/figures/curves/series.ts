/** Decides what of a panel's data is drawn: checks the values and counts those that the axis cannot show. */
import type { CurvePanelData, CurveSeriesData, Numbers } from '../../../compute/histories/contract.js'
import { Fault } from '../../../core/errors.js'
import { formatFigureCount, formatPlural } from '../format.js'
import { isBelowAxis, whyNotShown } from '../scales.js'
import { isDrawable } from '../style.js'
import { cleanText } from '../text-width.js'

export interface Line {
  readonly x: Numbers
  readonly y: Numbers
  /** increasing indexes of points that no line joins to the point before */
  readonly breaks: readonly number[]
}

export interface DrawnMark {
  readonly x: number
  readonly y: number
  readonly label: string
}

export interface DrawnSeries {
  readonly title: string
  readonly slot: number
  readonly raw: Line
  /** the points of `raw` that are observations of this curve: they alone have markers */
  readonly observed: Line
  /** trailing mean; null where there is none */
  readonly mean: Line | null
  /** x of logged values that break the raw line because the axis cannot show them, ascending */
  readonly edges: readonly number[]
  /** x of the first point of each later session, ascending */
  readonly restarts: Numbers
}

export interface DrawnGuide {
  readonly value: number
  readonly label: string
  /** slot of the series that it belongs to; null where it belongs to none */
  readonly slot: number | null
}

export interface DrawnPanel {
  readonly data: CurvePanelData
  readonly series: readonly DrawnSeries[]
  /** distinct marks; several series may share one */
  readonly marks: readonly DrawnMark[]
  readonly guides: readonly DrawnGuide[]
  /** `2 points, 1 mean not shown: ≤ 0`, then for each further reason `1 point beyond 1e100` */
  readonly notes: readonly string[]
  /** the same notes without kinds: `3 not shown: ≤ 0` */
  readonly shortNotes: readonly string[]
}

/** A panel has no room for more labels than this, and each label costs time. */
const MAX_LABELS = 20

/** Counts what cannot be shown by reason and kind, in the order in which it is found. */
class Hidden {
  readonly #reasons = new Map<string, Map<string, number>>()

  count(reason: string, kind: string): void {
    const kinds = this.#reasons.get(reason) ?? new Map<string, number>()
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    this.#reasons.set(reason, kinds)
  }

  /** @param short counts without their kinds */
  notes(short: boolean): string[] {
    return [...this.#reasons].map(([reason, kinds], k) => {
      const onlyPoints = kinds.size === 1 && kinds.has('point')
      const total = [...kinds.values()].reduce((sum, n) => sum + n, 0)
      const counts = short || onlyPoints ? [formatFigureCount(total)] : [...kinds].map(([kind, n]) => formatPlural(n, kind))
      return `${counts.join(', ')} ${k === 0 ? 'not shown: ' : ''}${reason}`
    })
  }
}

function seriesFault(problem: string, found: string, expected: string, index?: number): Fault {
  const place = index === undefined ? {} : { place: { array: 'series', index } }
  return new Fault({ format: 'figure', problem, found, expected, ...place })
}

/**
 * Checks that points are numbers in the order of x, as compute hands them over. Chart.js would draw other data wrong
 * without an error.
 */
function checkSeries({ x, y, smooth, supplied, gaps, restarts, marks, slot }: CurveSeriesData, index: number): void {
  if (x.length !== y.length) throw seriesFault('has a series with unequal lengths', `${x.length} x and ${y.length} y`, 'as many', index)
  if (smooth !== null && smooth.length !== y.length) {
    throw seriesFault('has a trailing mean of another length', String(smooth.length), String(y.length), index)
  }
  if (!Number.isSafeInteger(slot) || slot < 0)
    throw seriesFault('has a series without a place in the legend', String(slot), 'a count', index)
  for (let i = 0; i < x.length; i++) {
    if (Number.isNaN(x[i]) || Number.isNaN(y[i]) || (smooth !== null && Number.isNaN(smooth[i]))) {
      throw seriesFault('has a point that is not a number', `point ${i}`, 'numbers', index)
    }
    if (i > 0 && x[i] < x[i - 1]) throw seriesFault('has points out of order', `x ${x[i]} after ${x[i - 1]}`, 'points by x', index)
  }
  if (!supplied.every((i, k) => Number.isSafeInteger(i) && i < x.length && i > (supplied[k - 1] ?? -1))) {
    throw seriesFault('has supplied points out of order', supplied.join(' '), 'increasing indexes of its points', index)
  }
  for (const [what, list] of [
    ['gaps', gaps],
    ['restarts', restarts]
  ] as const) {
    for (let i = 0; i < list.length; i++) {
      if (Number.isNaN(list[i]) || list[i] < list[i - 1])
        throw seriesFault(`has ${what} that are no numbers by x`, String(list[i]), 'numbers by x', index)
    }
  }
  if (marks.some(mark => Number.isNaN(mark.x) || Number.isNaN(mark.y))) {
    throw seriesFault('has a labelled point that is not a number', 'NaN', 'numbers', index)
  }
}

/** The points that the axis shows and that nobody supplied. */
function withoutSupplied(x: Numbers, y: Numbers, supplied: readonly number[], isShown: (x: number, y: number) => boolean): Line {
  const left = new Set(supplied)
  const kept = Int32Array.from({ length: x.length }, (_, i) => i).filter(i => !left.has(i) && isShown(x[i], y[i]))
  return { x: Float64Array.from(kept, i => x[i]), y: Float64Array.from(kept, i => y[i]), breaks: [] }
}

export function drawnPanel(data: CurvePanelData): DrawnPanel {
  const { scale } = data
  if (scale.kind === 'symlog' && !(scale.linear_to >= 1e-100 && isDrawable(scale.linear_to))) {
    throw seriesFault('has a linear part of no length', String(scale.linear_to), 'linear_to from 1e-100 to 1e100')
  }
  const hidden = new Hidden()
  const whyHidden = (x: number, y: number): string | null => (isDrawable(x) ? whyNotShown(y, scale) : 'beyond 1e100')
  const isShown = (x: number, y: number, kind: string): boolean => {
    const reason = whyHidden(x, y)
    if (reason !== null) hidden.count(reason, kind)
    return reason === null
  }
  const lineOf = (x: Numbers, y: Numbers, kind: string, gaps: readonly number[] = []): Line & Pick<DrawnSeries, 'edges'> => {
    const kept = new Int32Array(x.length)
    const breaks: number[] = []
    const edges: number[] = []
    let count = 0
    let gap = 0
    let isBroken = false
    const breakAt = (at: number): void => {
      isBroken = true
      if (isDrawable(at)) edges.push(at)
    }
    for (let i = 0; i < x.length; i++) {
      while (gap < gaps.length && gaps[gap] <= x[i]) breakAt(gaps[gap++])
      if (isBelowAxis(y[i], scale)) breakAt(x[i])
      if (!isShown(x[i], y[i], kind)) continue
      if (isBroken && count > 0) breaks.push(count)
      isBroken = false
      kept[count++] = i
    }
    while (gap < gaps.length) breakAt(gaps[gap++])
    if (count === x.length) return { x, y, breaks, edges }
    const indexes = kept.subarray(0, count)
    return { x: Float64Array.from(indexes, i => x[i]), y: Float64Array.from(indexes, i => y[i]), breaks, edges }
  }
  data.series.forEach(checkSeries)
  const series = data.series.map(({ title, slot, x, y, smooth, supplied, gaps, restarts }): DrawnSeries => {
    // On other axes a line bridges values that are not finite, as it bridges steps without a value.
    const breaking = scale.kind === 'log' ? Array.from(gaps) : []
    const { edges, ...raw } = lineOf(x, y, 'point', breaking)
    breaking.forEach(() => hidden.count('not finite', 'point'))
    return {
      title: cleanText(title),
      slot,
      raw,
      observed: supplied.length === 0 ? raw : withoutSupplied(x, y, supplied, (at, value) => whyHidden(at, value) === null),
      mean: smooth === null ? null : lineOf(x, smooth, 'mean'),
      edges,
      restarts: Float64Array.from(restarts).filter(isDrawable)
    }
  })
  const marks = new Map<string, DrawnMark>()
  for (const { x, y, label } of data.series.flatMap(one => one.marks))
    marks.set(JSON.stringify([x, y, label]), { x, y, label: cleanText(label) })
  const guides = data.guides.map(({ value, label, series: owner }): DrawnGuide => {
    if (Number.isNaN(value)) throw seriesFault('has a guide that is not a number', 'NaN', 'a number')
    if (owner !== null && data.series[owner] === undefined) {
      throw seriesFault('has a guide of no series', String(owner), `a place among ${data.series.length}`)
    }
    return { value, label: cleanText(label), slot: owner === null ? null : data.series[owner].slot }
  })
  if (guides.length + marks.size > MAX_LABELS) {
    throw seriesFault(
      'has no room for its guides and labelled points',
      String(guides.length + marks.size),
      `at most ${MAX_LABELS} in a panel`
    )
  }
  return {
    data,
    series,
    marks: [...marks.values()].filter(({ x, y }) => isShown(x, y, 'label')),
    guides: guides.filter(({ value }) => isShown(0, value, 'guide')),
    notes: hidden.notes(false),
    shortNotes: hidden.notes(true)
  }
}
