/**
 * The worker pool: Piscina over `workers/trace.ts`, bundled, and `workers/hash.js`. Tasks and columns travel as views of
 * SharedArrayBuffers, so that no token is copied between threads. Piscina's own queue rejects when full instead of
 * waiting; the window of `inOrder` bounds what is under way. A worker that dies makes one clear Fault.
 */
import { Piscina } from 'piscina'
import { Fault, describeCause, printable, type Place } from '../../core/errors.js'
import type { TraceAnswer, TraceTask } from './trace-task.js'

export interface TracePool {
  readonly threads: number
  run(task: TraceTask): Promise<TraceAnswer>
  /** SHA-256 and size of a regular file; null where it cannot be read. `refuse`: null where a link is in its place, too */
  hash(path: string, links: 'follow' | 'refuse'): Promise<{ readonly sha256: string; readonly bytes: number } | null>
  destroy(): Promise<void>
}

export interface PoolOptions {
  /** another worker in place of that: tests pass one that dies */
  readonly worker?: string
}

export function openTracePool(threads: number, options: PoolOptions = {}): TracePool {
  const filename = options.worker ?? new URL('../../../workers/bundled-trace.cjs', import.meta.url).href
  const hasher = new URL('../../../workers/hash.js', import.meta.url).href
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, concurrentTasksPerWorker: 2, recordTiming: false })
  // A thread that is stopped while it is still loading its code takes the process with it (Node 20): its first message,
  // which says that it is ready, is waited for before any is stopped.
  const loaded = Promise.all(
    pool.threads.map(thread => new Promise<void>(resolve => {
      for (const event of ['message', 'error', 'exit']) thread.once(event, () => { resolve() })
    }))
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
