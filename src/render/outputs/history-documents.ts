/**
 * The JSON outputs of training histories: the statistics of an analysis, the convention of the display hours, the shared
 * reference point. The schemas are docs/schemas/history-*.schema.json.
 */
import type { SelectionHistory } from '../../compute/histories/contract.js'
import { SHARED_REFERENCE } from '../../compute/histories/display.js'
import { drawnValue, plottedValue } from '../../compute/histories/drawn-numbers.js'
import { displayHours, elapsedHours } from '../../compute/histories/time.js'
import type { MetricDefinition, SharedReference } from '../../schema/histories.js'
import type { HistoryStatistics } from '../../compute/histories/document.js'
import type { Content } from '../../schema/outputs/document.js'
import type { HistorySharedReferenceDocument } from '../../schema/outputs/history-shared-reference.js'
import type { HistoryStatisticsDocument } from '../../schema/outputs/history-statistics.js'
import type { HistoryTimeDisplayDocument } from '../../schema/outputs/history-time-display.js'
import { envelope } from './documents.js'
import { jsonText } from './json-text.js'
import type { FileSummary } from './output-file.js'
import type { Origin } from './output-names.js'
import type { OutputSet } from './output-set.js'

/** @param statistics plain data: the analysis and everything that was computed for it */
export function writeHistoryStatistics(set: OutputSet, path: string, statistics: HistoryStatistics, origin: Origin): Promise<FileSummary> {
  const document: HistoryStatisticsDocument = { ...envelope('history-statistics', origin), ...statistics }
  return set.write(path, jsonText(document))
}

/** First and last timestamp of a selection's observations, over all metrics and attempts. Null where no row has a timestamp. */
function clock(history: SelectionHistory): { first: number; last: number } | null {
  let first = Infinity
  let last = -Infinity
  for (const { times, timestamp } of history.curves) {
    if (times.length === 0) continue
    first = Math.min(first, timestamp[times[0]])
    last = Math.max(last, timestamp[times[times.length - 1]])
  }
  return first > last ? null : { first, last }
}

function span(history: SelectionHistory, of: (history: SelectionHistory, timestamp: number) => number): readonly [number, number] | null {
  const found = clock(history)
  if (found === null) return null
  const hours = [of(history, found.first), of(history, found.last)] as const
  return hours.every(Number.isFinite) ? hours : null
}

export function timeDisplayDocument(histories: readonly SelectionHistory[]): Content<HistoryTimeDisplayDocument> {
  return {
    elapsed_hours: '(timestamp - creation of the first session, in seconds) / 3600; restarts and pauses included, never reset',
    display_hours: 'elapsed_hours * factor; a display convention: nothing was measured at another speed',
    selections: Object.fromEntries(
      histories.map(h => [
        h.selection.name,
        {
          title: h.selection.title,
          first_session_created_at: h.sessions[0]?.createdAt ?? null,
          rule: h.selection.display_time ?? { multiply: 1 },
          factor: h.displayFactor,
          elapsed_hours: span(h, elapsedHours),
          display_hours: span(h, displayHours)
        }
      ])
    )
  }
}

export function writeTimeDisplay(
  set: OutputSet,
  path: string,
  histories: readonly SelectionHistory[],
  origin: Origin
): Promise<FileSummary> {
  return set.write(path, jsonText({ ...envelope('history-time-display', origin), ...timeDisplayDocument(histories) }))
}

/**
 * @param drawnFor selections whose curve is drawn with the reference; a curve with a point at that step is not
 * @param statedIn the study file; null where it was not verified
 */
export function writeSharedReference(
  set: OutputSet,
  reference: SharedReference,
  metric: MetricDefinition,
  drawnFor: readonly string[],
  origin: Origin,
  statedIn: { readonly file: string; readonly sha256: string } | null
): Promise<FileSummary> {
  const value = drawnValue(reference)
  const plotted = plottedValue(value, metric)
  const { from, scale } = reference
  const document: HistorySharedReferenceDocument = {
    ...envelope('history-shared-reference', origin),
    metric: metric.name,
    key: metric.key,
    selections: reference.selections,
    step: reference.step,
    value,
    plotted_value: Number.isFinite(plotted) ? plotted : null,
    label: reference.label,
    source: reference.source,
    ...statedIn,
    ...(from === null ? {} : { operands: [{ reference: from, scale }] }),
    provenance: SHARED_REFERENCE,
    drawn_for: drawnFor,
    use: 'not an observation, and in no statistic; drawn in the step view of the curves that drawn_for names'
  }
  return set.write(reference.output, jsonText(document))
}
