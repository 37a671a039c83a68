/**
 * Piscina task: draws one figure in one format. The main thread must have awaited `warmCanvas()` before the pool is made.
 *
 * A pool must not be destroyed while it draws: a thread that is stopped inside the canvas library ends the whole process
 * with an abort. Wait for the tasks (`pool.close()`), or leave by `process.exit()`.
 */
import { move } from 'piscina'
import { renderTask, type FigureTask } from '../src/render/canvas/index.js'

/** Resolves, on the caller's side, to the bytes of the file as a Uint8Array. They are moved and not copied. */
export default async function drawFigure({ config, format }: FigureTask): Promise<ReturnType<typeof move>> {
  // Copied into memory of its own: a Buffer may be a view of memory that others use, which cannot be moved.
  return move(new Uint8Array(await renderTask({ config, format })))
}
