/**
 * `boundary-jumps`: does the critic change its mind between turns? (a) The share of transitions whose |change| of value exceeds x,
 * between turns and inside them. (b) The mean |change| of each trajectory, between turns against inside.
 */
import type { Diagnosis, DiagnosedSet, StatedSet } from '../../../compute/diagnostics/contract.js'
import { bandPanels, diagonal, type BandPanel } from '../bands/panel.js'
import { bandSeries, dashed, LOOKS, type BandSeries } from '../bands/series.js'
import { bandLegend, bandSheet, bandsText } from '../bands/sheet.js'
import type { FigureConfig } from '../config.js'
import { describePanels } from '../critic-quality/describe.js'
import type { FigureDefinition } from '../definition.js'
import { DIAGNOSTIC_PATHS } from '../../outputs/output-names.js'
import { formatFigureCount } from '../format.js'
import { SERIES } from '../palette.js'
import { PAGE_SHEET, type FigureSheet } from '../sheet.js'
import { FONT_FAMILY } from '../style.js'
import { extent, type Range } from '../ticks.js'

const NAME = 'boundary-jumps'
const TITLE = 'Where the value changes'
const PLOT_HEIGHT = 190
/** Most points of the scatter. Of more trajectories every k-th is drawn, and the panel says so. */
const MAX_POINTS = 2000

const LOG = { kind: 'log' } as const

/** Shares above 0 alone: a logarithmic axis has no place for 0. */
function sweepSeries({ quality }: Pick<StatedSet, 'quality'>, suffix: string, isOther: boolean): BandSeries[] {
  return (['boundary', 'internal'] as const).map(kind =>
    bandSeries(
      `${kind === 'boundary' ? 'between turns' : 'inside turns'}${suffix}`,
      isOther ? dashed(LOOKS[kind]) : LOOKS[kind],
      quality.sweep.flatMap(row => ((row[kind].value ?? 0) > 0 ? [[row.threshold, row[kind]] as const] : []))
    )
  )
}

interface Scatter {
  readonly series: readonly BandSeries[]
  readonly drawn: number
  readonly range: Range | null
}

function scatterOf(sets: readonly { readonly set: DiagnosedSet; readonly label: string }[]): Scatter {
  const series: BandSeries[] = []
  for (const [at, { set, label }] of sets.entries()) {
    const every = Math.ceil(set.jumps.length / MAX_POINTS)
    const jumps = set.jumps.filter(({ boundary, internal }, i) => i % every === 0 && boundary > 0 && internal > 0)
    const kinds = sets.length > 1 ? ([null] as const) : (['success', 'failure', 'unknown'] as const)
    for (const kind of kinds) {
      const own = kind === null ? jumps : jumps.filter(({ outcome }) => (outcome ?? 'unknown') === kind)
      if (own.length === 0) continue
      const words = kind === null ? (at === 0 ? label : `${label}, dashed in (a)`) : kind === 'unknown' ? 'outcome not stated' : kind
      const style = kind === null ? (at === 0 ? LOOKS.own : LOOKS.against).style : SERIES[kind]
      series.push({
        label: words,
        style,
        dash: [],
        points: own.map(({ boundary, internal }) => ({ x: internal, y: boundary, low: null, high: null }))
      })
    }
  }
  const points = series.flatMap(s => s.points)
  return {
    series,
    drawn: points.length,
    range: extent(
      points.map(p => p.x),
      points.map(p => p.y ?? p.x)
    )
  }
}

/** A range of both axes with a little room at its ends, so that the diagonal goes from corner to corner. */
function squareEnds(range: Range | null): Range {
  if (range === null) return { min: 0.01, max: 1 }
  const room = Math.max(0.08, Math.log10(range.max / range.min) * 0.05)
  return { min: range.min / 10 ** room, max: range.max * 10 ** room }
}

type NamedQuality = Pick<StatedSet, 'quality' | 'source'>

/** Panel (a). @param sets the named one first */
export function sweepPanel(sets: readonly NamedQuality[], threshold: number): Omit<BandPanel, 'box'> {
  return {
    label: '(a)',
    title: 'Share of transitions with |change| > x',
    x: { title: `x (reward); vertical line: threshold ${threshold}`, scale: LOG },
    y: { title: 'Share of transitions', scale: LOG },
    series: sets.flatMap((set, i) => sweepSeries(set, i === 0 ? '' : `, ${set.source.name}`, i > 0)),
    guides: (x, y) => (threshold > x.min && threshold < x.max ? [{ from: [threshold, y.min], to: [threshold, y.max] }] : []),
    empty: 'no change of value'
  }
}

/** The panels without their places. */
function panelsOf(diagnosis: Diagnosis): ReadonlyArray<Omit<BandPanel, 'box'>> {
  const { against, source, settings } = diagnosis
  const sets = [
    { set: diagnosis as DiagnosedSet, label: source.name },
    ...(against === null ? [] : [{ set: against as DiagnosedSet, label: against.source.name }])
  ]
  const scatter = scatterOf(sets)
  const total = sets.reduce((sum, { set }) => sum + set.jumps.length, 0)
  const shown = scatter.drawn < total ? `, ${formatFigureCount(scatter.drawn)} of ${formatFigureCount(total)} drawn` : ' of each trajectory'
  const ends = squareEnds(scatter.range)
  return [
    sweepPanel(
      sets.map(({ set }) => set),
      settings.jumpThreshold
    ),
    {
      label: '(b)',
      title: `Mean |change|${shown}`,
      x: { title: 'Mean |change| inside turns (reward)', scale: LOG, ends },
      y: { title: 'Mean |change| between turns (reward)', scale: LOG, ends },
      series: scatter.series,
      guides: diagonal,
      draw: 'points',
      empty: 'no trajectory with both kinds of changes'
    }
  ]
}

/** `480 transitions between turns, 15,162 inside; 109 of 120 above the diagonal of (b)`; of two sets `480 against 180 …` */
function countsText(sets: readonly DiagnosedSet[]): string {
  const each = (of: (set: DiagnosedSet) => string): string => sets.map(of).join(' against ')
  const transitions = (kind: 'boundary' | 'internal'): string => each(({ quality }) => formatFigureCount(quality.transitions[kind]))
  const above = ({ jumps }: DiagnosedSet): string =>
    `${formatFigureCount(jumps.filter(({ boundary, internal }) => boundary > internal).length)} of ${formatFigureCount(jumps.length)}`
  const paired = sets.every(({ jumps }) => jumps.length === 0) ? '' : `; ${each(above)} above the diagonal of (b)`
  return `${transitions('boundary')} transitions between turns, ${transitions('internal')} inside${paired}`
}

export function buildBoundaryJumps(diagnosis: Diagnosis, sheet: FigureSheet = PAGE_SHEET): FigureConfig {
  const { source, synthetic, against } = diagnosis
  const drawn = panelsOf(diagnosis)
  const sets = [diagnosis as DiagnosedSet, ...(against === null ? [] : [against as DiagnosedSet])]
  const foot = [`${countsText(sets)}.`, `${bandsText(sets.map(({ quality }) => quality))}. A share of 0 is not drawn.`]
  const { height, texts, legend, box } = bandSheet(
    {
      title: TITLE,
      about: against === null ? [source.name] : [source.name, against.source.name],
      synthetic,
      legend: bandLegend(drawn[0].series.slice(0, 2), drawn[1].series),
      foot,
      panels: drawn.length,
      plotHeight: PLOT_HEIGHT
    },
    sheet
  )
  return {
    name: NAME,
    title: TITLE,
    description:
      `Two panels on the change of a critic's value from token to token.${describePanels(drawn.slice(0, 1))}` +
      ` (b) ${drawn[1].title}, between turns against inside. ${foot.join(' ')}` +
      (synthetic ? ' The data are a synthetic replica.' : ''),
    width: sheet.width,
    height,
    fontFamily: FONT_FAMILY,
    texts,
    legend,
    panels: bandPanels(drawn.map((panel, k) => ({ ...panel, box: box(k) })))
  }
}

export const boundaryJumps: FigureDefinition = {
  name: NAME,
  build: ({ diagnosis }, sheet) =>
    diagnosis === undefined ? [] : [{ config: buildBoundaryJumps(diagnosis, sheet), drawnFrom: [DIAGNOSTIC_PATHS.document] }]
}
