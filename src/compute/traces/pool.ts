/**
 * The worker pool: Piscina over the bundled `workers/trace.ts` and `workers/hash.js`. Tasks and columns are views of
 * SharedArrayBuffers, so no token is copied between threads. Piscina's own queue does not wait when it is full, it
 * rejects. The window of `inOrder` therefore bounds the number of running tasks. A worker that dies gives a Fault.
 * Where the system's limits leave no room for a thread, the same workers run in the calling thread.
 */
import { createRequire } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import { Piscina } from 'piscina'
import { Fault, describeCause, printable, type Place } from '../../core/errors.js'
import { hashStill } from '../../core/still-file-sync.js'
import { keepHeapSmall } from '../../core/system/engine.js'
import { limitNote, systemLimits, threadsBelow, type SystemLimit } from '../../core/system/limits.js'
import { COMPILED_ADDRESSES } from '../../kernel/open.js'
import type { ResampleTask } from '../diagnostics/quality/resample-task.js'
import type { TraceAnswer, TraceTask } from './trace-task.js'

export interface TracePool {
  /** at least 1, also where the calling thread does the work */
  readonly threads: number
  /** what the system's limits cost, in a sentence for the user; null: nothing */
  readonly note: string | null
  run(task: TraceTask): Promise<TraceAnswer>
  /** a part of the bootstrap of the diagnostics */
  resample(task: ResampleTask): Promise<Float64Array>
  /** SHA-256 and size of a regular file; null where it cannot be read. With `refuse`, null for a symbolic link too */
  hash(path: string, links: 'follow' | 'refuse'): Promise<{ readonly sha256: string; readonly bytes: number } | null>
  destroy(): Promise<void>
}

export interface PoolOptions {
  /** another worker in place of the bundled one; tests pass one that dies */
  readonly worker?: string
}

/** A worker: the file of the threads' code, and its function in this thread. */
interface Worker {
  readonly file: string
  readonly here: () => TaskFunction | Promise<TaskFunction>
}

type TaskFunction = (task: never) => unknown

interface Runner {
  run(task: unknown, worker: Worker): Promise<unknown>
  destroy(): Promise<void>
}

/** @param threads threads that are wanted; fewer start where the system limits addresses or data */
export function openTracePool(threads: number, options: PoolOptions = {}): TracePool {
  const place = (name: string): string => new URL(`../../../workers/${name}`, import.meta.url).href
  // A bundle cannot import modules: this one is required, as the threads do.
  const tracer = {
    file: options.worker ?? place('bundled-trace.cjs'),
    here: () => createRequire(place(''))('./bundled-trace.cjs') as TaskFunction
  }
  const hasher = { file: place('hash.js'), here: () => hashStill }
  const limits = systemLimits()
  const started = threadsBelow(limits, threads)
  if (limits.some(limit => limit.of === 'data' && threadsBelow([limit], threads) < threads)) keepHeapSmall()
  const runner = started === 0 ? inThisThread() : inThreads(tracer.file, started)
  const run = async <T>(task: unknown, worker: Worker, place: Place): Promise<T> => {
    try {
      return (await runner.run(task, worker)) as T
    } catch (cause) {
      const found = printable(describeCause(cause))
      throw new Fault({ format: 'worker', problem: 'died', found, expected: 'an answer', place, cause })
    }
  }
  return {
    threads: Math.max(1, started),
    note: noteOn(limits, threads, started),
    run: task => run(task, tracer, { trace: task.index }),
    resample: task => run(task, tracer, {}),
    hash: (path, links) => run({ path, links }, hasher, { file: path }),
    destroy: () => runner.destroy()
  }
}

/** Memories of compiled loops that a thread may have: for traces, for records of the diagnostics, for JSON Lines. */
const KERNELS_A_THREAD = 3

function noteOn(limits: readonly SystemLimit[], asked: number, threads: number): string | null {
  const wanted = (threads + 1) * KERNELS_A_THREAD * COMPILED_ADDRESSES
  const noLoops = limits.some(({ of, free }) => of === 'addresses' && free < wanted)
  const short = limits.filter(limit => (limit.of === 'addresses' && noLoops) || threadsBelow([limit], asked) < asked)
  if (short.length === 0) return null
  const slower = noLoops ? '; where the compiled loops find no room, the slower general scanners serve' : ''
  return `${limitNote(short, { asked, threads })}${slower}; the outputs are the same`
}

/** Tasks that a thread has at hand. Of traces `inOrder` gives out fewer; those of the bootstrap last while this thread is busy. */
const AHEAD = 8

function inThreads(filename: string, threads: number): Runner {
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, concurrentTasksPerWorker: AHEAD, recordTiming: false })
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
  return {
    run: (task, { file }) => pool.run(task, { filename: file }) as Promise<unknown>,
    async destroy() {
      await loaded
      await pool.destroy()
    }
  }
}

/** Answers are copied as between threads: the next task may write where a worker's answer lies. */
function inThisThread(): Runner {
  return {
    async run(task, { here }) {
      const work = (await here()) as (task: unknown) => unknown
      const answer = structuredClone(work(task))
      // A signal is heard only where the event loop turns.
      await setImmediate()
      return answer
    },
    destroy: () => Promise.resolve()
  }
}
