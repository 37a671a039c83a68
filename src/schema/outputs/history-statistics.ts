/** Statistics of an analysis of histories; the study names the file. */
import { finite, list, nullable, oneOf, type Infer } from '../../core/checker.js'
import { envelopeFields, output } from './document.js'
import { METRIC } from './history-metric.js'
import { CROSSING, HOURS, hours, PLACED, STEP_VALUE, WINDOW } from './history-observed.js'
import { SELECTION, SESSION } from './history-selection.js'
import { anyText, closed, map, natural, reasons, whole } from './kinds.js'

/** Target minus reference. */
const COMPARED = closed({
  reference: { kind: anyText, doc: 'selection' },
  target: { kind: anyText, doc: 'selection' },
  thresholds: {
    kind: map(hours),
    doc:
      'target minus reference, by name: between the observations at the threshold. Each crossing is censored, so its difference is not ' +
      'known as exactly'
  },
  best: {
    kind: map(
      closed({
        ...HOURS,
        reduction_percent: { kind: nullable(finite), doc: '(1 - target display_hours / reference display_hours) * 100' }
      })
    ),
    doc: 'target minus reference, by metric: between the best observations, each censored likewise'
  }
})

const SUPPLIED_METRIC = closed({
  anchor: { kind: nullable(anyText), doc: "provenance of the target's point at step 0 by the anchor rule" },
  time_anchor: { kind: nullable(anyText), doc: 'the same at 0 hours' },
  step_prefix: { kind: list(natural), doc: "steps before the target's first observation at which the reference stands in" },
  same_step: { kind: list(natural), doc: 'steps that the target misses and the reference fills' },
  unfilled: { kind: list(natural), doc: 'steps that both miss, the first 1000; none without same-step fills' },
  unfilled_count: { kind: natural, doc: 'all of them' },
  time_prefix: { kind: natural, doc: "points of the time view that stand in before the target's first" },
  trailing_mean: {
    kind: nullable(whole(1)),
    doc: 'latest points in the mean that is drawn, supplied ones among them; null: none is drawn'
  }
})

export const HISTORY_STATISTICS = output(
  'history-statistics',
  {
    title: 'Statistics of training histories',
    description:
      'What a study asks of an analysis of training histories. Everything counts observed points of the step view only (each restart ' +
      "supersedes the later steps of earlier sessions), but all_attempts, the sessions' own fields and the counts of values that are no finite " +
      'numbers. Points that stand in for missing ones in the figures never enter.',
    definitions: [WINDOW, STEP_VALUE, PLACED, CROSSING, METRIC, SESSION, SELECTION]
  },
  {
    ...envelopeFields('history-statistics'),
    analysis: { kind: anyText, doc: 'name of the analysis in the study' },
    selections: { kind: map(SELECTION), doc: "by the study's name of the selection" },
    compare: { kind: nullable(COMPARED), doc: 'target against reference; null where the study does not ask' },
    supplied: {
      kind: nullable(
        closed({
          reference: { kind: anyText, doc: 'selection that supplies' },
          target: { kind: anyText, doc: 'selection that is supplied' },
          metrics: { kind: map(SUPPLIED_METRIC), doc: 'by metric' }
        })
      ),
      doc: 'what the figures draw beside observations; null where nothing is supplied'
    },
    excluded_runs: {
      kind: list(
        closed({
          run: { kind: anyText, doc: 'run id' },
          display_name: { kind: anyText, doc: 'verbatim' },
          reason: {
            kind: oneOf('companion', 'other display name', 'other project', 'other entity', 'other label'),
            doc: 'why no selection takes it'
          }
        })
      ),
      doc: 'listed runs that no selection takes, in order of creation'
    },
    undefined_reasons: { kind: reasons, doc: 'JSON pointer of each undefined quantity to its reason' }
  }
)

export type ComparedStatistics = Infer<typeof COMPARED>
export type SuppliedMetric = Infer<typeof SUPPLIED_METRIC>
export type HistoryStatisticsDocument = Infer<typeof HISTORY_STATISTICS>
