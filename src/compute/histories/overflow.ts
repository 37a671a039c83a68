/**
 * Cells of the files that arithmetic on finite numbers takes out of the double range: they are empty (null in Arrow), and
 * counted here. No value as logged is among them.
 */
import type { HistoryAnalysis, MetricDefinition } from '../../schema/histories.js'
import type { Curve, CurvePlace, SelectionHistory } from './contract.js'
import { displayedCurve } from './display.js'
import { drawnValue } from './drawn-numbers.js'
import { curveFor, historyFor, metricFor } from './join.js'
import { displayHours } from './time.js'
import type { Work } from './work.js'

/** Observations whose display_hours no double holds. */
export function countBoundlessHours(history: SelectionHistory, { times, timestamp }: Curve): number {
  const isBeyond = (k: number): boolean => !Number.isFinite(displayHours(history, timestamp[times[k]]))
  // By time: those beyond are at the ends.
  let first = 0
  while (first < times.length && isBeyond(first)) first++
  let last = times.length
  while (last > first && isBeyond(last - 1)) last--
  return first + times.length - last
}

/** Trailing means of a displayed curve that no double holds. */
export function* countBoundlessMeans(
  analysis: HistoryAnalysis,
  metrics: readonly MetricDefinition[],
  histories: ReadonlyMap<string, SelectionHistory>,
  place: CurvePlace
): Work<number> {
  const { trailing_mean: window } = metricFor(metrics, place.metric)
  if (window === null) return 0
  // Few histories hold numbers so large: for all others no mean is made twice.
  const limit = Number.MAX_VALUE / window
  const isLarge = (selection: string): boolean =>
    curveFor(historyFor(histories, selection), place.metric).value.some(value => Math.abs(value) >= limit)
  const { supplied, shared_reference: shared } = analysis
  const displayed = [place.selection, ...(supplied?.target === place.selection ? [supplied.reference] : [])]
  if (!displayed.some(isLarge) && !(shared !== null && Math.abs(drawnValue(shared)) >= limit)) return 0
  const { trailingMean } = yield* displayedCurve(analysis, metrics, histories, place)
  return trailingMean === null ? 0 : trailingMean.reduce((count, mean) => count + (Number.isFinite(mean) ? 0 : 1), 0)
}
