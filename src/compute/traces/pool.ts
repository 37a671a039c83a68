/**
 * The worker pool: Piscina over the bundled `workers/trace.ts` and `workers/hash.js`. Tasks and columns are views of
 * SharedArrayBuffers, so no token is copied between threads. Piscina's own queue does not wait when it is full, it
 * rejects. The window of `inOrder` therefore bounds the number of running tasks. A worker that dies gives a Fault.
 */
import { Piscina } from 'piscina'
import { Fault, describeCause, printable, type Place } from '../../core/errors.js'
import type { TraceAnswer, TraceTask } from './trace-task.js'

export interface TracePool {
  readonly threads: number
  run(task: TraceTask): Promise<TraceAnswer>
  /** SHA-256 and size of a regular file; null where it cannot be read. With `refuse`, null for a symbolic link too */
  hash(path: string, links: 'follow' | 'refuse'): Promise<{ readonly sha256: string; readonly bytes: number } | null>
  destroy(): Promise<void>
}

export interface PoolOptions {
  /** another worker in place of the bundled one; tests pass one that dies */
  readonly worker?: string
}

export function openTracePool(threads: number, options: PoolOptions = {}): TracePool {
  const filename = options.worker ?? new URL('../../../workers/bundled-trace.cjs', import.meta.url).href
  const hasher = new URL('../../../workers/hash.js', import.meta.url).href
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, concurrentTasksPerWorker: 2, recordTiming: false })
  // On Node 20, stopping a thread that still loads its code ends the whole process. `destroy` therefore waits for the
  // first message of each thread, which says that it is ready.
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
  const run = async <T>(task: unknown, file: string, place: Place): Promise<T> => {
    try {
      return (await pool.run(task, { filename: file })) as T
    } catch (cause) {
      const found = printable(describeCause(cause))
      throw new Fault({ format: 'worker', problem: 'died', found, expected: 'an answer', place, cause })
    }
  }
  return {
    threads,
    run: task => run(task, filename, { trace: task.index }),
    hash: (path, links) => run({ path, links }, hasher, { file: path }),
    async destroy() {
      await loaded
      await pool.destroy()
    }
  }
}
