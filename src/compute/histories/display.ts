/**
 * The curves that figures draw: observed points, supplied points and the shared reference, by x, each point with its
 * provenance, and the trailing mean over the points. Each metric is handled alone. Values stay as logged; the figures
 * scale them.
 *
 * The trailing mean covers the displayed values in the order of x, supplied values included. It does not restart at a
 * session boundary.
 */
import type { HistoryAnalysis, MetricDefinition, SharedReference } from '../../schema/histories.js'
import type { CurvePlace, DisplayedCurve, PointSource, PointProvenance, SelectionHistory } from './contract.js'
import { drawnValue } from './drawn-numbers.js'
import { curveFor, historyFor, metricFor } from './join.js'
import { hasStep } from './steps.js'
import {
  anchorOfReference,
  borrowedFrom,
  sharedBy,
  supplyTarget,
  historyView,
  type Anchor,
  type View,
  type ViewPoints
} from './supplied.js'
import { displayHours } from './time.js'
import { trailingMean } from './windows.js'
import { PIECE, type Work } from './work.js'

export const OBSERVED: PointProvenance = 'observed'
export const SHARED_REFERENCE = 'shared_reference'

type Histories = ReadonlyMap<string, SelectionHistory>

/**
 * The curves of an analysis: first the step view, then the time view, each with metrics and selections in the order of
 * the analysis.
 */
export function curvePlaces({ metrics, selections }: HistoryAnalysis): CurvePlace[] {
  return (['step', 'time'] as const).flatMap(view => metrics.flatMap(metric => selections.map(selection => ({ view, metric, selection }))))
}

/** All provenances that a displayed point of the analysis can have. */
export function provenancesOf({ supplied: rule, shared_reference: shared }: HistoryAnalysis): PointProvenance[] {
  return [OBSERVED, ...(rule === null ? [] : [borrowedFrom(rule), sharedBy(rule)]), ...(shared === null ? [] : [SHARED_REFERENCE])]
}

export function* displayedCurve(
  analysis: HistoryAnalysis,
  metrics: readonly MetricDefinition[],
  histories: Histories,
  place: CurvePlace
): Work<DisplayedCurve> {
  const { trailing_mean: window } = metricFor(metrics, place.metric)
  const parts = sourcePointsOf(analysis, histories, place)
  yield
  const merged = yield* mergeParts(parts)
  return {
    ...place,
    ...merged,
    sources: parts.map(part => part.source),
    trailingMean: window === null ? null : yield* trailingMean(merged.value, window)
  }
}

/**
 * The selections whose curve contains the shared reference. A curve with a point at that step, its own or a supplied
 * one, does not contain it.
 */
export function drawnWithReference(analysis: HistoryAnalysis, shared: SharedReference, histories: Histories): string[] {
  return analysis.selections.filter(selection =>
    sourcePointsOf(analysis, histories, { view: 'step', metric: shared.metric, selection }).some(
      part => part.source.provenance === SHARED_REFERENCE
    )
  )
}

/** Whether a curve, supplied points included, starts before 0. Such a curve has no place for an anchor. */
export function startsBeforeZero(analysis: HistoryAnalysis, histories: Histories, place: CurvePlace): boolean {
  return sourcePointsOf(analysis, histories, place).some(({ x }) => x.length > 0 && x[0] < 0)
}

/** x of values that are not finite. An x at which the curve has a point is left out. */
export function lineGapsOf({ view, sources, x }: DisplayedCurve): Float64Array {
  const { history, curve } = sources[0]
  if (history === null || curve === null) return new Float64Array(0)
  const gaps = view === 'step' ? curve.nonFiniteSteps.toSorted() : curve.nonFiniteTimes.map(time => displayHours(history, time)).sort()
  // Two rows can have one step; the view shows that step once.
  return gaps.filter((gap, i) => Number.isFinite(gap) && !hasStep(x, gap) && !(view === 'step' && gap === gaps[i - 1]))
}

/**
 * x of each observed point whose session differs from that of the observed point before it. Only observed points count,
 * because a supplied point belongs to no session of the curve.
 */
export function restartsOf({ sources, source, observation, x }: DisplayedCurve): Float64Array {
  const session = sources[0].curve?.session
  const restarts: number[] = []
  let before = -1
  for (let k = 0; k < x.length; k++) {
    if (source[k] !== 0 || session === undefined) continue
    const current = session[observation[k]]
    if (before >= 0 && current !== before && Number.isFinite(x[k])) restarts.push(x[k])
    before = current
  }
  return Float64Array.from(restarts)
}

/** Points of one source, by x. */
interface SourcePoints {
  readonly source: PointSource
  readonly x: Float64Array
  readonly index: Int32Array
  readonly value: (k: number) => number
}

/** The parts of a curve. At equal x, points of an earlier part come first. */
function sourcePointsOf(analysis: HistoryAnalysis, histories: Histories, { view, metric, selection }: CurvePlace): SourcePoints[] {
  const own = viewIn(histories, selection, metric, view)
  const parts = [observationsOf(own, OBSERVED)]
  const { supplied: rule, shared_reference: shared } = analysis
  if (rule !== null && selection === rule.target) {
    const reference = viewIn(histories, rule.reference, metric, view)
    const { prefix, sameStep, anchor } = supplyTarget(rule, metric, view, reference, own)
    // Every prefix point lies before every same-step fill, so the prefix is the earlier part.
    for (const positions of [prefix, sameStep]) {
      if (positions.length > 0) parts.push(lentPart(reference, positions, borrowedFrom(rule)))
    }
    // The prefix may already have a point at 0.
    if (anchor !== null && !parts.some(part => hasStep(part.x, 0))) parts.push(anchored(reference, anchor))
  } else if (rule !== null && selection === rule.reference) {
    const anchor = anchorOfReference(rule, own)
    if (anchor !== null) parts.push(anchored(own, anchor))
  }
  if (
    shared !== null &&
    view === 'step' &&
    shared.metric === metric &&
    shared.selections.includes(selection) &&
    !parts.some(part => hasStep(part.x, shared.step))
  ) {
    parts.push({
      source: { provenance: SHARED_REFERENCE, history: null, curve: null },
      x: Float64Array.of(shared.step),
      index: Int32Array.of(-1),
      value: () => drawnValue(shared)
    })
  }
  return parts
}

function observationsOf({ history, curve, x, index }: ViewPoints, provenance: PointProvenance): SourcePoints {
  return { source: { provenance, history, curve }, x, index, value: k => curve.value[index[k]] }
}

function lentPart(reference: ViewPoints, positions: Int32Array, provenance: PointProvenance): SourcePoints {
  const x = new Float64Array(positions.length)
  const index = new Int32Array(positions.length)
  positions.forEach((position, k) => {
    x[k] = reference.x[position]
    index[k] = reference.index[position]
  })
  return observationsOf({ ...reference, x, index }, provenance)
}

function anchored(reference: ViewPoints, { position, provenance }: Anchor): SourcePoints {
  return observationsOf({ ...reference, x: new Float64Array(1), index: reference.index.slice(position, position + 1) }, provenance)
}

function viewIn(histories: Histories, selection: string, metric: string, view: View): ViewPoints {
  const history = historyFor(histories, selection)
  return historyView(history, curveFor(history, metric), view)
}

function* mergeParts(parts: readonly SourcePoints[]): Work<Pick<DisplayedCurve, 'x' | 'value' | 'source' | 'observation'>> {
  const [own] = parts
  const count = parts.reduce((sum, part) => sum + part.x.length, 0)
  // Nothing is supplied, so the columns of the view are used without a copy.
  const alone = count === own.x.length
  const x = alone ? own.x : new Float64Array(count)
  const observation = alone ? own.index : new Int32Array(count)
  const value = new Float64Array(count)
  const source = new Uint8Array(count)
  const next = parts.map(() => 0)
  for (let k = 0; k < count; k++) {
    if (k % PIECE === PIECE - 1) yield
    let from = -1
    for (let p = 0; p < parts.length; p++) {
      if (next[p] < parts[p].x.length && (from < 0 || parts[p].x[next[p]] < parts[from].x[next[from]])) from = p
    }
    const part = parts[from]
    const at = next[from]++
    x[k] = part.x[at]
    observation[k] = part.index[at]
    value[k] = part.value(at)
    source[k] = from
  }
  return { x, value, source, observation }
}
