/**
 * Draws figures in worker threads: Piscina over `workers/figure.js`. The main thread loads the canvas library before
 * any worker starts (see `warmCanvas`). No thread is stopped while it loads its code or draws, because either would end
 * the whole process. The bytes are the same at any number of threads.
 */
import { Piscina } from 'piscina'
import { inOrder } from '../../compute/traces/ordered.js'
import { Fault, describeCause, printable } from '../../core/errors.js'
import { warmCanvas, type FigureTask } from './index.js'

export interface DrawnFigure extends FigureTask {
  /** the file's bytes */
  readonly bytes: Uint8Array
}

export interface FigurePool {
  readonly threads: number
  /**
   * Files in the order of the tasks. Each comes as soon as it and all earlier ones are drawn. When the caller stops
   * early, tasks that no thread has begun are not begun.
   * @throws Fault that names the figure whose thread died
   */
  draw(tasks: Iterable<FigureTask>): AsyncGenerator<DrawnFigure, void, undefined>
  /** Waits for the running drawings, then ends the threads. */
  close(): Promise<void>
}

export interface FigurePoolOptions {
  /** another worker in place of `workers/figure.js`; tests pass one that dies */
  readonly worker?: string
  /**
   * node options for the threads in place of those of the process: a test runner uses these to load itself into every
   * thread
   */
  readonly execArgv?: readonly string[]
}

/** Number of files per thread that may be finished before their turn. A PNG takes as long as several other files. */
const AHEAD = 8

async function* lazily<T>(items: Iterable<T>): AsyncGenerator<T, void, undefined> {
  yield* items
}

/**
 * Fonts of characters that DejaVu Sans lacks are those of an earlier `warmCanvas(configs)`.
 * @param threads more threads than tasks have no use; each holds the canvas library and one page in memory
 */
export async function openFigurePool(threads: number, options: FigurePoolOptions = {}): Promise<FigurePool> {
  await warmCanvas()
  const filename = options.worker ?? new URL('../../../workers/figure.js', import.meta.url).href
  const execArgv = options.execArgv === undefined ? {} : { execArgv: [...options.execArgv] }
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, recordTiming: false, ...execArgv })
  const loaded = Promise.all(
    pool.threads.map(
      thread =>
        new Promise<void>(resolve => {
          for (const event of ['message', 'error', 'exit'])
            thread.once(event, () => {
              resolve()
            })
        })
    )
  )
  const running = new Set<Promise<DrawnFigure>>()
  const run = async ({ config, format }: FigureTask): Promise<DrawnFigure> => {
    try {
      return { config, format, bytes: (await pool.run({ config, format })) as Uint8Array }
    } catch (cause) {
      const found = printable(describeCause(cause))
      const place = { member: `${config.name}.${format}` }
      throw new Fault({ format: 'figure', problem: 'was not drawn', found, expected: 'a file', place, cause, exitCode: 1 })
    }
  }
  const tracked = (task: FigureTask): Promise<DrawnFigure> => {
    const drawing = run(task)
    running.add(drawing)
    const forget = (): void => {
      running.delete(drawing)
    }
    drawing.then(forget, forget)
    return drawing
  }
  return {
    threads,
    draw: tasks => inOrder(lazily(tasks), tracked, AHEAD * threads),
    async close() {
      await Promise.all([loaded, Promise.allSettled(running)])
      await pool.destroy()
    }
  }
}
