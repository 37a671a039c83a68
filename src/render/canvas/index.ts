/**
 * Figures as files: PNG (300 dpi), SVG and PDF, the same bytes for the same configuration in every run and thread. The
 * libraries behind it are loaded at the first call.
 */
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { Fault } from '../../core/errors.js'
import type { FigureConfig, FigureFormat } from '../figures/config.js'

/** Environment data are handed to every worker that is started later. */
const LOADED = 'critic-traces: canvas loaded in the main thread'

async function loadBackend(): Promise<typeof import('./backend.js')> {
  if (!isMainThread && getEnvironmentData(LOADED) !== true) {
    throw new Fault({
      format: 'figure', problem: 'cannot be drawn in this worker',
      found: 'a main thread that has not loaded the canvas library',
      expected: 'warmCanvas() before the worker starts', exitCode: 1
    })
  }
  const backend = await import('./backend.js')
  if (isMainThread) setEnvironmentData(LOADED, true)
  return backend
}

/** Draws a figure. The text of a PDF is text; every format carries the description, SVG and PDF the title too. */
export async function renderFigure(config: FigureConfig, format: FigureFormat): Promise<Buffer> {
  return (await loadBackend()).render(config, format)
}

/**
 * Loads the canvas library and the fonts in this thread. Await it in the main thread before a worker that draws is
 * started: where a worker loads the library first, the process crashes when that worker exits. A worker that was started
 * without it refuses to draw.
 */
export async function warmCanvas(): Promise<void> {
  await loadBackend()
}
