/**
 * Reads a study's inputs again with the ecosystem's own libraries, in a separate process. So no failure of a library (an
 * error thrown later, an endless loop, exhausted memory) ends or blocks the program. If the process dies, the file is "not
 * readable by the second", and the next file gets a new process.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolesOf } from '../study/manifest-update.js'
import type { ManifestReport } from '../study/manifest.js'
import type { Study } from '../schema/study.js'
import { taskOf, type SecondTask } from './formats.js'
import { notReadable, type SecondReading } from './reading.js'

/** JavaScript heap of that process. A page of 64 MiB takes about 1.3 GB in all. */
const HEAP_MEGABYTES = 2048
/** Longest reading of one file. The largest page takes about ten seconds. */
const LIMIT_MS = 10 * 60_000

export interface NamedReading extends SecondReading {
  /** relative to the study */
  readonly path: string
  readonly format: SecondTask['format']
}

export interface SecondOptions {
  readonly signal?: AbortSignal | undefined
  readonly onFiles?: ((done: number) => void) | undefined
  /** module of another process; tests pass one that dies, hangs or reads wrong */
  readonly child?: string
  readonly limitMs?: number
}

export interface SecondPlan {
  readonly path: string
  readonly task: SecondTask
}

/** The files of a verified manifest that are read twice, each with its format. */
export function planSecond(dir: string, study: Study, manifest: ManifestReport): SecondPlan[] {
  const roleOf = rolesOf(study)
  return manifest.files.flatMap(({ path, status }): SecondPlan[] => {
    const task = status === 'ok' ? taskOf(join(dir, path), { path, role: roleOf(path) }, study) : null
    return task === null ? [] : [{ path, task }]
  })
}

/** The readings in the order of the plan. @throws the signal's reason */
export async function runSecond(plan: readonly SecondPlan[], options: SecondOptions = {}): Promise<NamedReading[]> {
  const { signal, onFiles, child = fileURLToPath(new URL('./child.js', import.meta.url)), limitMs = LIMIT_MS } = options
  const readings: NamedReading[] = []
  let running: ChildProcess | null = null
  try {
    for (const { path, task } of plan) {
      signal?.throwIfAborted()
      running ??= start(child)
      const reading = await ask(running, task, limitMs, signal)
      if (typeof reading === 'string') {
        running.kill('SIGKILL')
        running = null
      }
      readings.push({ path, format: task.format, ...(typeof reading === 'string' ? notReadable(reading) : reading) })
      onFiles?.(readings.length)
    }
  } finally {
    running?.kill('SIGKILL')
  }
  return readings
}

function start(child: string): ChildProcess {
  const started = fork(child, { execArgv: [`--max-old-space-size=${HEAP_MEGABYTES}`], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  // The error is ignored here: a process that cannot be started or reached does not answer, which `ask` notices.
  started.on('error', () => undefined)
  return started
}

/** The process's answer, or a text that tells how it ended without one. */
async function ask(
  child: ChildProcess,
  task: SecondTask,
  limitMs: number,
  signal: AbortSignal | undefined
): Promise<SecondReading | string> {
  const listening = new AbortController()
  const { signal: heard } = listening
  try {
    return await new Promise<SecondReading | string>((resolve, reject) => {
      const onMessage = (reading: unknown): void => {
        resolve(reading as SecondReading)
      }
      const onExit = (code: number | null, by: string | null): void => {
        resolve(`its process ended with ${by ?? `exit code ${code}`}`)
      }
      child.on('message', onMessage).on('exit', onExit)
      const timer = setTimeout(() => {
        resolve(`no answer within ${limitMs / 1000} seconds`)
      }, limitMs)
      heard.addEventListener('abort', () => {
        child.off('message', onMessage).off('exit', onExit)
        clearTimeout(timer)
      })
      signal?.addEventListener(
        'abort',
        () => {
          reject(signal.reason as Error)
        },
        { signal: heard }
      )
      // A dead process sends no exit event.
      child.send(task, error => {
        if (error !== null) resolve(`its process: ${error.message}`)
      })
    })
  } finally {
    listening.abort()
  }
}
