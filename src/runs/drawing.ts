/**
 * The figures that a run has data for, in every format that was asked for. The module is loaded only where figures are
 * needed. A few files are drawn on the calling thread; more files are drawn by threads of their own, where the system's limits leave room.
 */
import type { CurveFigureData } from '../compute/histories/contract.js'
import { systemLimits, threadsBelow } from '../core/system/limits.js'
import { openFigurePool, type DrawnFigure } from '../render/canvas/pool.js'
import { renderTask, warmCanvas, type FigureTask } from '../render/canvas/index.js'
import { isColumn, type FigureConfig, type FigureFile } from '../render/figures/config.js'
import type { FigureInputs, PlannedFigure } from '../render/figures/definition.js'
import { plannedFigures, refuseSameNames } from '../render/figures/index.js'
import { COLUMN_SHEET } from '../render/figures/sheet.js'
import type { Origin } from '../render/outputs/output-names.js'
import type { OutputSet } from '../render/outputs/output-set.js'
import type { PagePicture } from '../render/page/inputs.js'
import { DIAGNOSTIC_FIGURES } from '../schema/outputs.js'
import type { RunContext } from './context.js'

/** Most files that are drawn on the calling thread. A thread takes about as long to load the canvas library as one file takes to draw. */
const FILES_WITHOUT_THREADS = 4

export interface DrawOptions {
  readonly formats: readonly FigureFile[]
  /** threads that may draw */
  readonly threads: number
  /** what the inputs were verified against; every file says so at the end of its description. Null: no file says so */
  readonly manifest: Origin['manifest']
}

/** Curves may come one figure at a time, so that the data of millions of points need not be in memory for all figures. */
export interface FigureSources extends Omit<FigureInputs, 'curves'> {
  readonly curves?: Iterable<CurveFigureData> | AsyncIterable<CurveFigureData>
}

/**
 * All figures that the data allow, drawn or not: in the order of their names, behind them those of the diagnostics.
 * @param formats where one of them is of one column, the figures are laid out for it too
 */
export async function planFigures({ curves = [], ...others }: FigureSources, formats: readonly FigureFile[]): Promise<PlannedFigure[]> {
  const plan = (inputs: FigureInputs): PlannedFigure[] => {
    const planned = plannedFigures(inputs)
    if (!formats.some(isColumn) && !forPages(formats)) return planned
    const columns = plannedFigures(inputs, COLUMN_SHEET)
    return planned.map((one, k) => ({ ...one, column: columns[k].config }))
  }
  const figures: PlannedFigure[] = []
  for await (const data of curves) figures.push(...plan({ curves: [data] }))
  figures.push(...plan(others))
  refuseSameNames(figures)
  const last = ({ config }: PlannedFigure): number => DIAGNOSTIC_FIGURES.indexOf(config.name)
  return figures.sort((a, b) => last(a) - last(b) || (a.config.name < b.config.name ? -1 : 1))
}

/** Pages show the figures where these are drawn as PNG too: the Markdown beside a page shows that. */
function forPages(formats: readonly FigureFile[]): boolean {
  return formats.includes('png')
}

/** The tasks of a page: each figure as wide as the text, and in one column for a phone. */
function inlineTasks({ config, column = config }: PlannedFigure): readonly FigureTask[] {
  return [config, { ...column, name: columnName(config.name) }].map(config => ({ config, format: 'inline' }))
}

/** The ids of an SVG begin with the name of its figure. */
function columnName(name: string): string {
  return `${name}-column`
}

/** Writes every figure in every format. @returns the pictures of pages by the figure's name */
export async function drawFigures(
  context: RunContext,
  set: Pick<OutputSet, 'write'>,
  figures: readonly PlannedFigure[],
  { formats, threads, manifest }: DrawOptions
): Promise<ReadonlyMap<string, PagePicture>> {
  const files = figures.flatMap(({ config, column = config }) =>
    formats.map((format): FigureTask => ({ config: isColumn(format) ? column : config, format }))
  )
  const tasks = [...files, ...(forPages(formats) ? figures.flatMap(inlineTasks) : [])]
  if (tasks.length === 0) return new Map()
  const onDone = context.progress.onFigures?.(files.length)
  const inline = new Map<string, string>()
  let done = 0
  const verified = tasks.map(({ config, format }) => ({ config: verifiedFigure(config, manifest), format }))
  for await (const { config, format, bytes } of drawn(verified, threads)) {
    context.throwIfInterrupted()
    if (format === 'inline') inline.set(config.name, new TextDecoder().decode(bytes))
    else {
      await set.write(`figures/${config.name}.${format}`, bytes)
      onDone?.(++done)
    }
  }
  return pictures(figures, inline)
}

function pictures(figures: readonly PlannedFigure[], inline: ReadonlyMap<string, string>): ReadonlyMap<string, PagePicture> {
  return new Map(
    figures.flatMap(({ config: { name } }) => {
      const [wide, column] = [inline.get(name), inline.get(columnName(name))]
      return wide === undefined || column === undefined ? [] : [[name, { wide, column }] as const]
    })
  )
}

function verifiedFigure(config: FigureConfig, manifest: Origin['manifest']): FigureConfig {
  if (manifest === null) return config
  return { ...config, description: `${config.description} Inputs verified against manifest ${manifest.sha256.slice(0, 12)}.` }
}

/** Files in the order of the tasks. */
async function* drawn(tasks: readonly FigureTask[], threads: number): AsyncGenerator<DrawnFigure, void, undefined> {
  // The library is in memory before the room for threads is counted.
  await warmCanvas(tasks.map(({ config }) => config))
  const fitting = tasks.length <= FILES_WITHOUT_THREADS ? 0 : threadsBelow(systemLimits(), Math.min(threads, tasks.length))
  if (fitting === 0) {
    for (const { config, format } of tasks) yield { config, format, bytes: await renderTask({ config, format }) }
    return
  }
  const pool = await openFigurePool(fitting)
  try {
    yield* pool.draw(tasks)
  } finally {
    await pool.close()
  }
}
