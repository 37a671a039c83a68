/**
 * `critic-quality`: explained variance and error by progress, reliability, AUC by progress, and where there are several trainer
 * steps, values and error over them. Where a sampling design makes pooled statistics meaningless, the two outcomes stand in
 * their place.
 */
import type { Diagnosis, Estimate, Quality, StatedDiagnosis } from '../../../compute/diagnostics/contract.js'
import { across, bandPanels, diagonal, type AxisPlan, type BandPanel } from '../bands/panel.js'
import { bandSeries, dashed, isDrawn, LOOKS, type BandSeries, type Look } from '../bands/series.js'
import { bandLegend, bandSheet, bandsText } from '../bands/sheet.js'
import type { FigureConfig } from '../config.js'
import type { FigureDefinition } from '../definition.js'
import { DIAGNOSTIC_PATHS } from '../../outputs/output-names.js'
import { formatPlural } from '../format.js'
import { FONT_FAMILY } from '../style.js'
import { LETTERS, PAGE_SHEET, type FigureSheet } from '../sheet.js'
import { describeQuality } from './describe.js'

const NAME = 'critic-quality'
const TITLE = 'How good the critic is'
const PLOT_HEIGHT = 96
/** The reason where an outcome decides every return. */
const NO_VARIANCE = 'the returns do not vary'

type DrawnError = 'explained_variance' | 'mse' | 'mean_value' | 'mean_return' | 'bias'
type ErrorRow = Readonly<Record<DrawnError, Estimate>>

/** One set of trajectories that is drawn: all of a critic, or those of one outcome. */
interface DrawnStratum {
  readonly label: string
  readonly look: Look
  readonly by_decile: readonly ErrorRow[]
  readonly by_step: readonly (ErrorRow & { readonly step: number })[]
}

function strataOf(quality: Quality, name: string, look: Look, isOther: boolean): DrawnStratum[] {
  if (quality.sampling !== 'stratified by outcome') return [{ label: name, look, by_decile: quality.by_decile, by_step: quality.by_step }]
  return (['success', 'failure'] as const).flatMap(outcome => {
    const of = quality.by_outcome[outcome]
    if (of === null) return []
    const words = outcome === 'success' ? 'successes' : 'failures'
    const own = LOOKS[outcome]
    return [
      { label: isOther ? `${words}, ${name}` : words, look: isOther ? dashed(own) : own, by_decile: of.by_decile, by_step: of.by_step }
    ]
  })
}

/** Middle of a decile, in percent of the trajectory. */
function middle(decile: number): number {
  return 10 * decile + 5
}

/** Values and returns are in units of the reward. */
const MSE = 'MSE (reward\u00b2)'
const PROGRESS: AxisPlan = { title: 'Progress through the trajectory (%)', ends: { min: 0, max: 100 } }

/** A panel without its letter and its place, which follow from what is drawn. */
export type PlannedPanel = Omit<BandPanel, 'label' | 'box'>

/** What the document states of the critic, or of two. */
export type StatedQuality = Pick<StatedDiagnosis, 'quality' | 'against' | 'source'>

export interface QualityPanels {
  readonly panels: readonly PlannedPanel[]
  readonly legend: readonly BandSeries[]
}

/** What the panels show of the document, before they are laid out. */
export function qualityPanels({ quality, against, source }: StatedQuality): QualityPanels {
  const other = against?.quality ?? null
  const [own, against_] = against === null ? ['all trajectories', ''] : [source.name, against.source.name]
  const strata = [...strataOf(quality, own, LOOKS.own, false), ...(other === null ? [] : strataOf(other, against_, LOOKS.against, true))]
  const byDecile = (field: DrawnError): BandSeries[] =>
    strata.map(({ label, look, by_decile: rows }) =>
      bandSeries(
        label,
        look,
        rows.map((row, d) => [middle(d), row[field]])
      )
    )
  const bySteps = (fields: readonly (readonly [field: DrawnError, suffix: string, dash: boolean])[]): BandSeries[] =>
    fields.flatMap(([field, suffix, dash]) =>
      strata.map(({ label, look, by_step: rows }) =>
        bandSeries(
          label + suffix,
          dash ? dashed(look) : look,
          rows.map(row => [row.step, row[field]])
        )
      )
    )
  const stratified = quality.sampling === 'stratified by outcome'
  const first: Look = stratified ? LOOKS.both : LOOKS.own
  const sets = [
    { label: own, look: first, of: quality },
    ...(other === null ? [] : [{ label: against_, look: LOOKS.against as Look, of: other }])
  ]
  const reliability = sets.map(({ label, look, of }) =>
    bandSeries(
      label,
      look,
      of.calibration.bins.map(bin => [bin.mean_value, bin.success_rate])
    )
  )
  const auc = sets.map(({ label, look, of }) =>
    bandSeries(
      label,
      look,
      of.auc_by_decile.map((estimate, d) => [middle(d), estimate])
    )
  )
  const within = bandSeries(
    `pairs of one ${quality.within_group ?? 'group'}`,
    LOOKS.second,
    quality.auc_within_group.map((estimate, d) => [middle(d), estimate])
  )
  const aucSeries = other === null && isDrawn(within) ? [within, ...auc] : auc
  const reason = (pointer: string): string => shortReason(quality.undefined_reasons[pointer])
  const inOutcome = stratified ? `/by_outcome/${quality.by_outcome.success === null ? 'failure' : 'success'}` : ''
  const deciles = (field: DrawnError): string => {
    const words = reason(`${inOutcome}/by_decile/0/${field}/value`)
    return stratified && words === NO_VARIANCE ? `within an outcome ${words}` : words
  }
  const panels: PlannedPanel[] = [
    {
      title: 'Explained variance by progress',
      x: PROGRESS,
      y: { title: 'Explained variance', include: [0] },
      series: byDecile('explained_variance'),
      guides: across(0),
      empty: deciles('explained_variance')
    },
    {
      title: 'Mean squared error by progress',
      x: PROGRESS,
      y: { title: MSE, include: [0] },
      series: byDecile('mse'),
      empty: deciles('mse')
    },
    {
      title: 'Reliability: values against outcomes',
      x: { title: 'Mean value of a tenth of the tokens', include: [0, 1] },
      y: { title: 'Share of successes', include: [0, 1] },
      series: reliability,
      guides: diagonal,
      empty: reason('/calibration/value')
    },
    {
      title: 'Success told from failure, by progress',
      x: PROGRESS,
      y: { title: 'AUC (0.5: a coin)', include: [0.5, 1] },
      series: aucSeries,
      guides: across(0.5),
      empty: reason('/auc_by_decile/0/value')
    }
  ]
  if (strata.some(({ by_step: rows }) => rows.length > 1)) {
    const steps: AxisPlan = { title: 'Trainer step', count: true }
    panels.push(
      {
        ...(other === null
          ? {
              title: 'Mean value (solid) and mean return (dashed)',
              y: { title: 'Mean (reward)' },
              series: bySteps([
                ['mean_value', ', values', false],
                ['mean_return', ', returns', true]
              ])
            }
          : {
              title: 'Bias by step',
              y: { title: 'Value \u2212 return (reward)', include: [0] },
              series: bySteps([['bias', '', false]]),
              guides: across(0)
            }),
        x: steps,
        empty: reason('/by_step/0/mean_value/value')
      },
      {
        title: 'Mean squared error by step',
        x: steps,
        y: { title: MSE, include: [0] },
        series: bySteps([['mse', '', false]]),
        empty: reason('/by_step/0/mse/value')
      }
    )
  }
  return { panels, legend: [...byDecile('mse'), ...(stratified ? auc : []), ...(aucSeries.length > auc.length ? [within] : [])] }
}

function shortReason(reason: string | undefined): string {
  if (reason === undefined) return 'undefined'
  return reason.startsWith('refused') ? 'refused: sample stratified by outcome' : reason.length > 48 ? 'undefined' : reason
}

/** Panels that are drawn, and those that are left out: the others have the room of empty ones. Where all are empty, each says why. */
export function drawnPanels(panels: readonly PlannedPanel[]): Readonly<Record<'drawn' | 'left', readonly PlannedPanel[]>> {
  const isEmpty = (panel: PlannedPanel): boolean => !panel.series.some(isDrawn)
  const left = panels.every(isEmpty) ? [] : panels.filter(isEmpty)
  return { drawn: panels.filter(panel => !left.includes(panel)), left }
}

export function buildCriticQuality(diagnosis: Diagnosis, sheet: FigureSheet = PAGE_SHEET): FigureConfig {
  const { quality, source, synthetic, against } = diagnosis
  const { panels, legend: series } = qualityPanels(diagnosis)
  const { drawn, left } = drawnPanels(panels)
  const reasons = left.map(({ title, empty }) => `Not drawn: ${title}: ${empty}.`)
  const sets = [quality, ...(against === null ? [] : [against.quality])]
  const counts = sets.map(
    ({ n_trajectories: n, tokens }) => `${formatPlural(n, 'trajectory', 'trajectories')} (${formatPlural(tokens, 'token')})`
  )
  const alone = drawn.some(panel => panel.series.some(({ points }) => points.some(({ y, low }) => y !== null && low === null)))
  const { height, texts, legend, box } = bandSheet(
    {
      title: TITLE,
      about: against === null ? [source.name] : [source.name, against.source.name],
      synthetic,
      legend: bandLegend(series),
      foot: [
        `${counts.join(' against ')}. Sampling: ${quality.sampling}.`,
        `${bandsText(sets)}${alone ? '; a point without one has too few trajectories' : ''}.`,
        ...reasons
      ],
      panels: drawn.length,
      plotHeight: PLOT_HEIGHT
    },
    sheet
  )
  const placed = drawn.map((panel, k): BandPanel => ({ ...panel, label: `(${LETTERS[k]})`, box: box(k) }))
  return {
    name: NAME,
    title: TITLE,
    description: describeQuality(diagnosis, placed, reasons),
    width: sheet.width,
    height,
    fontFamily: FONT_FAMILY,
    texts,
    legend,
    panels: bandPanels(placed)
  }
}

export const criticQuality: FigureDefinition = {
  name: NAME,
  build: ({ diagnosis }, sheet) =>
    diagnosis === undefined ? [] : [{ config: buildCriticQuality(diagnosis, sheet), drawnFrom: [DIAGNOSTIC_PATHS.document] }]
}
