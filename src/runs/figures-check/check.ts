/**
 * `verify --figures`: every SVG of a folder of outputs, read back against the data files beside it. Neither the study nor its
 * inputs are read, and nothing is drawn.
 *
 *     figures/*.svg ── ingest/svg ──► panels with axes and series, in the file's units ─┐
 *     wandb/points.arrow, figure_constants.json … ──► points, scaled and thinned ───────┴─► difference of each series
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describeCause, EXIT, Fault } from '../../core/errors.js'
import { compareCodepoints } from '../../core/paths.js'
import { STEPS_FIGURE } from '../../compute/traces/over-steps.js'
import { readDrawnFigure, type SvgPanel } from '../../ingest/svg/drawn-figure.js'
import type { BandPanel } from '../../render/figures/bands/panel.js'
import { boundaryJumps, sweepPanel } from '../../render/figures/boundary-jumps/index.js'
import { criticQuality, drawnPanels, qualityPanels } from '../../render/figures/critic-quality/index.js'
import { isDrawable } from '../../render/figures/style.js'
import { LETTERS } from '../../render/figures/sheet.js'
import { FIGURE_CONSTANTS } from '../../schema/outputs.js'
import { CRITIC_DIAGNOSTICS, type CriticDiagnosticsDocument } from '../../schema/outputs/critic-diagnostics.js'
import { TRACE_STATISTICS } from '../../schema/outputs/trace-statistics.js'
import { BATCH_STEPS, DIAGNOSTIC_PATHS, OUTPUT_PATHS } from '../../render/outputs/output-names.js'
import { FIGURE_CONSTANTS_DOCUMENT } from '../../schema/outputs/figure-constants.js'
import { checkBars, type BarFigure } from './bars.js'
import type { FigureCheck, FiguresReport, SeriesCheck } from './contract.js'
import { CURVE_DATA, CurvePoints, curveSeries, isUnchecked, type CurveFigure } from './curves.js'
import { DataFiles } from './data-files.js'
import { bandSeriesOf } from './diagnostics.js'
import { checkPanel } from './panel.js'
import { STEP_PANELS, stepSeries } from './steps.js'
import { exampleArrays, exampleSeries, isSummary, traceSeries } from './traces.js'

type ComparedFigure = Pick<FigureCheck, 'data' | 'reason' | 'series'>

const FOLDER = 'figures'
const TRACE_FIGURE = '08-critic-traces'
const FIGURE = /^(?<name>.+?)(?:\.column)?(?:\.dark)?\.svg$/

/** @throws Fault exit 3: no SVG there, or a file that cannot be read */
export async function checkFigures(out: string, signal?: AbortSignal): Promise<FiguresReport> {
  const files = new DataFiles(out)
  const figures: FigureCheck[] = []
  for (const [name, file] of await figureFiles(out)) {
    signal?.throwIfAborted()
    const panels = await readDrawnFigure(join(out, file))
    figures.push({ file, ...(await compared(name, panels, files)) })
  }
  const all = figures.flatMap(({ series }) => series)
  const count = (status: SeriesCheck['status']): number => all.filter(one => one.status === status).length
  return { figures, counts: { ok: count('ok'), differs: count('differs'), unchecked: count('unchecked') } }
}

/** Name of the figure and path of the file, by code point of the path. */
async function figureFiles(out: string): Promise<ReadonlyArray<readonly [name: string, file: string]>> {
  const folder = join(out, FOLDER)
  const place = { file: folder }
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new Fault({
      format: 'figures',
      problem: 'unreadable folder',
      found: describeCause(cause),
      expected: 'figures of a run',
      place,
      cause
    })
  })
  const found = names.sort(compareCodepoints).flatMap(file => {
    const name = FIGURE.exec(file)?.groups?.['name']
    return name === undefined ? [] : [[name, `${FOLDER}/${file}`] as const]
  })
  if (found.length > 0) return found
  throw new Fault({ format: 'figures', problem: 'missing file', found: 'no SVG', expected: 'figures of a run with --formats svg', place })
}

async function compared(name: string, panels: readonly SvgPanel[], files: DataFiles): Promise<ComparedFigure> {
  const stated = (await files.has(FIGURE_CONSTANTS)) ? await files.json(FIGURE_CONSTANTS, FIGURE_CONSTANTS_DOCUMENT) : null
  const figure = stated?.figures[name]
  if (figure?.kind === 'curves') return curveFigure(figure, panels, files)
  if (figure?.kind === 'bars') return barFigure(figure, panels)
  if (name === TRACE_FIGURE) return traceFigure(panels, files)
  if (name === STEPS_FIGURE) return stepsFigure(panels, files)
  const planned = DIAGNOSTIC_PANELS.get(name)
  if (planned !== undefined) return diagnosticFigure(planned, panels, files)
  return { data: [], reason: 'no data file is known for it', series: [] }
}

function barFigure(figure: BarFigure, panels: readonly SvgPanel[]): ComparedFigure {
  const series = figure.panels.flatMap((panel, k) => withPanel(panels, LETTERS[k], drawn => checkBars(drawn, panel)))
  return { data: [FIGURE_CONSTANTS], reason: null, series: [...series, ...surplus(panels, figure.panels.length)] }
}

async function curveFigure(figure: CurveFigure, panels: readonly SvgPanel[], files: DataFiles): Promise<ComparedFigure> {
  const data = [FIGURE_CONSTANTS, CURVE_DATA]
  if (!(await files.has(CURVE_DATA))) return { data, reason: `${CURVE_DATA} is missing`, series: [] }
  const curves = new CurvePoints(await files.arrow(CURVE_DATA), join(files.root, CURVE_DATA))
  const series = figure.panels.flatMap((panel, k) =>
    withPanel(panels, LETTERS[k], drawn => checkPanel(drawn, curveSeries(figure, panel, curves, drawn), isUnchecked))
  )
  return { data, reason: null, series: [...series, ...surplus(panels, figure.panels.length)] }
}

async function stepsFigure(panels: readonly SvgPanel[], files: DataFiles): Promise<ComparedFigure> {
  const data = [BATCH_STEPS]
  if (!(await files.has(BATCH_STEPS))) return { data, reason: `${BATCH_STEPS} is missing`, series: [] }
  const series: SeriesCheck[] = []
  for (const letter of STEP_PANELS) {
    const panel = panels.find(one => one.letter === letter)
    const { told, untold } = panel === undefined ? { told: [], untold: [] } : await stepSeries(files, panel)
    series.push(...withPanel(panels, letter, drawn => checkPanel(drawn, told, name => untold.includes(name))))
  }
  return { data, reason: null, series: [...series, ...surplus(panels, STEP_PANELS.length)] }
}

/** Panels as the document gives them; null: it does not say what one draws. */
type PlannedPanels = (document: CriticDiagnosticsDocument) => ReadonlyArray<Pick<BandPanel, 'series' | 'guides'> | null>

const DIAGNOSTIC_PANELS: ReadonlyMap<string, PlannedPanels> = new Map<string, PlannedPanels>([
  [criticQuality.name, document => drawnPanels(qualityPanels(document).panels).drawn],
  [
    boundaryJumps.name,
    // The means of each trajectory, which (b) draws, are in no output.
    document => [sweepPanel([document, ...(document.against === null ? [] : [document.against])], document.settings.jump_threshold), null]
  ]
])

async function diagnosticFigure(planned: PlannedPanels, panels: readonly SvgPanel[], files: DataFiles): Promise<ComparedFigure> {
  const path = DIAGNOSTIC_PATHS.document
  if (!(await files.has(path))) return { data: [path], reason: `${path} is missing`, series: [] }
  const plans = planned(await files.json(path, CRITIC_DIAGNOSTICS))
  const series = plans.flatMap((plan, k) =>
    withPanel(panels, LETTERS[k], drawn => checkPanel(drawn, plan === null ? [] : bandSeriesOf(plan, drawn), () => plan === null))
  )
  return { data: [path], reason: null, series: [...series, ...surplus(panels, plans.length)] }
}

/** Panels (a) and (b) have a marker for each trace; those behind them show the examples that there are, in this order. */
async function traceFigure(panels: readonly SvgPanel[], files: DataFiles): Promise<ComparedFigure> {
  const data = [OUTPUT_PATHS.statistics, OUTPUT_PATHS.trajectories, OUTPUT_PATHS.archive]
  for (const path of data) if (!(await files.has(path))) return { data, reason: `${path} is missing`, series: [] }
  const series: SeriesCheck[] = []
  for (const [letter, quantity] of [
    ['a', 'mean_value'],
    ['b', 'delta']
  ] as const) {
    const markers = await traceSeries(files, quantity)
    series.push(
      ...withPanel(panels, letter, panel =>
        isSummary(panel) ? checkPanel(panel, [], () => true) : checkPanel(panel, markers, () => false)
      )
    )
  }
  const { examples } = await files.json(OUTPUT_PATHS.statistics, TRACE_STATISTICS)
  const left = panels.filter(panel => panel.letter > 'b' && panel.series.length > 0)
  for (const example of [examples.success, examples.failure]) {
    if (example === null || example.tokens === 0) continue
    const arrays = await exampleArrays(files, example.index)
    if (!arrays.values.every(isDrawable)) continue
    const panel = left.shift()
    series.push(
      ...(panel === undefined
        ? [panelFault('c', 'no panel', 'one for each example')]
        : checkPanel(panel, exampleSeries(arrays, panel), () => false))
    )
  }
  return { data, reason: null, series: [...series, ...left.map(({ letter }) => panelFault(letter, 'a panel', 'no further example'))] }
}

function withPanel(panels: readonly SvgPanel[], letter: string, check: (panel: SvgPanel) => SeriesCheck[]): SeriesCheck[] {
  const panel = panels.find(one => one.letter === letter)
  return panel === undefined ? [panelFault(letter, 'no panel', 'a panel')] : check(panel)
}

function surplus(panels: readonly SvgPanel[], count: number): SeriesCheck[] {
  const more = panels.filter(({ letter }) => !LETTERS.slice(0, count).includes(letter))
  return more.map(({ letter }) => panelFault(letter, 'a panel', `${count} panels`))
}

function panelFault(panel: string, found: string, expected: string): SeriesCheck {
  return { panel, series: '', status: 'differs', drawn: 0, total: 0, difference: { index: 0, found, expected } }
}

/** One Fault for each series that differs, exit 1. */
export function figureFaults({ figures }: FiguresReport, out: string): Fault[] {
  return figures.flatMap(({ file, series }) =>
    series.flatMap(({ panel, series: name, difference }) => {
      if (difference === null) return []
      const { found, expected, index } = difference
      const place = { file: join(out, file), member: `panel ${panel}`, array: name, index }
      return [new Fault({ format: 'figure', problem: 'differs from its data', found, expected, place, exitCode: EXIT.checkFailed })]
    })
  )
}
