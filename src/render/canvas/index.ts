/**
 * Figures as files: PNG (300 dpi), SVG and PDF, the same bytes for the same configuration in every run and thread. The
 * libraries behind it are loaded at the first call.
 */
import type { FigureConfig, FigureFormat } from '../figures/config.js'

/** Draws a figure. The text of a PDF is text; an SVG carries the title and description. */
export async function renderFigure(config: FigureConfig, format: FigureFormat): Promise<Buffer> {
  const { render } = await import('./backend.js')
  return render(config, format)
}

/**
 * Loads the canvas library and the fonts in this thread. Await it in the main thread before a worker that draws is
 * started: where a worker loads the library first, the process crashes when that worker exits. A worker that was started
 * without it refuses to draw.
 */
export async function warmCanvas(): Promise<void> {
  await import('./backend.js')
}
