/**
 * Draws figures as files: PNG (300 dpi), SVG and PDF. The same configuration gives the same bytes in every run and
 * thread. The drawing libraries are loaded at the first call.
 */
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { Fault } from '../../core/errors.js'
import type { FigureConfig, FigureFile } from '../figures/config.js'

/** Node passes environment data to every worker that starts later. */
const LOADED = 'critic-traces: canvas loaded in the main thread'

async function loadBackend(): Promise<typeof import('./backend.js')> {
  if (!isMainThread && getEnvironmentData(LOADED) !== true) {
    throw new Fault({
      format: 'figure',
      problem: 'cannot be drawn in this worker',
      found: 'a main thread that has not loaded the canvas library',
      expected: 'warmCanvas() before the worker starts',
      exitCode: 1
    })
  }
  const backend = await import('./backend.js')
  if (isMainThread) setEnvironmentData(LOADED, true)
  return backend
}

/** Draws a figure. PDF text is stored as text. Every format carries the description; SVG and PDF also carry the title. */
export async function renderFigure(config: FigureConfig, file: FigureFile): Promise<Buffer> {
  return (await backendFor(config)).render(config, file)
}

/**
 * SVG that a page contains: without a size of its own, with ids that begin with the figure's name, its colours variables that
 * `figureColors` of `../figures/theme.js` sets for a dark page.
 */
export async function renderInlineFigure(config: FigureConfig): Promise<string> {
  return (await backendFor(config)).renderInline(config)
}

export interface FigureTask {
  readonly config: FigureConfig
  /** `inline`: SVG for a page, as UTF-8 */
  readonly format: FigureFile | 'inline'
}

/** Draws what a thread of the pool is asked for. */
export async function renderTask({ config, format }: FigureTask): Promise<Buffer> {
  return format === 'inline' ? Buffer.from(await renderInlineFigure(config)) : renderFigure(config, format)
}

/**
 * Loads the canvas library and the fonts in this thread. The main thread must await it before it starts a worker that
 * draws. Where a worker loads the library first, the process crashes when that worker exits. A worker that was started
 * without it refuses to draw.
 *
 * @param configs figures that workers are going to draw: their characters get fonts
 */
export async function warmCanvas(configs: readonly FigureConfig[] = []): Promise<void> {
  const { provideFonts } = await loadBackend()
  if (isMainThread) provideFonts(configs)
}

async function backendFor(config: FigureConfig): Promise<typeof import('./backend.js')> {
  const backend = await loadBackend()
  // A worker draws with the fonts of the main thread.
  if (isMainThread) backend.provideFonts([config])
  return backend
}
