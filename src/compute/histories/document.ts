/**
 * The statistics document of an analysis, without the envelope that its writer adds (schema_version, schema, synthetic,
 * generator). Its fields are described in schema/outputs/history-statistics.ts. An undefined quantity is null, and `undefined_reasons` says why under
 * its JSON pointer. `looks_sampled` is an exception: null says that nothing looks sampled, and needs no reason.
 *
 * All counts cover the observed points of the step view only. Three kinds of counts cover every row: `all_attempts`,
 * the fields of the sessions, and the counts of values that are no finite numbers.
 */
import type { Content } from '../../schema/outputs/document.js'
import type { HistoryStatisticsDocument } from '../../schema/outputs/history-statistics.js'

export type { ConstantStatistics, FinalStatistics, MetricStatistics, SessionConstant } from '../../schema/outputs/history-metric.js'
export type { Hours, PlacedObservation, StepValue, ThresholdCrossing } from '../../schema/outputs/history-observed.js'
export type { FirstRow, SelectionStatistics, SessionStatistics, Shares } from '../../schema/outputs/history-selection.js'
export type { ComparedStatistics, SuppliedMetric } from '../../schema/outputs/history-statistics.js'

export type HistoryStatistics = Content<HistoryStatisticsDocument>
