/**
 * The figures that a run has data for, in every format that was asked for. Loaded where figures are drawn. Few files are
 * drawn here and now; more are worth threads of their own.
 */
import { openFigurePool, type DrawnFigure, type FigureTask } from './render/canvas/pool.js'
import { renderFigure } from './render/canvas/index.js'
import type { FigureFormat } from './render/figures/config.js'
import type { FigureInputs } from './render/figures/definition.js'
import { buildFigures } from './render/figures/index.js'
import type { OutputSet } from './render/outputs/output-set.js'
import { throwIfInterrupted } from './transaction.js'

/** A thread takes about as long to load the canvas library as one file takes to draw. */
const FILES_WITHOUT_THREADS = 4

export interface DrawOptions {
  readonly formats: readonly FigureFormat[]
  /** threads that may draw */
  readonly threads: number
  readonly signal?: AbortSignal | undefined
  /** called before the first file with their number; what it answers is called with the number of those written */
  readonly onFiles?: ((total: number) => (done: number) => void) | undefined
}

export async function drawFigures(set: OutputSet, inputs: FigureInputs, { formats, threads, signal, onFiles }: DrawOptions): Promise<void> {
  const tasks = buildFigures(inputs).flatMap(config => formats.map(format => ({ config, format })))
  const onDone = onFiles?.(tasks.length)
  let done = 0
  for await (const { config, format, bytes } of drawn(tasks, threads)) {
    throwIfInterrupted(signal)
    await set.write(`figures/${config.name}.${format}`, bytes)
    onDone?.(++done)
  }
}

/** Files in the order of the tasks. */
async function* drawn(tasks: readonly FigureTask[], threads: number): AsyncGenerator<DrawnFigure, void, undefined> {
  if (tasks.length <= FILES_WITHOUT_THREADS) {
    for (const { config, format } of tasks) yield { config, format, bytes: await renderFigure(config, format) }
    return
  }
  const pool = await openFigurePool(Math.min(threads, tasks.length))
  try {
    yield* pool.draw(tasks)
  } finally {
    await pool.close()
  }
}
