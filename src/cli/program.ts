/** The program as `dist/run.js` runs it: connects src/cli/cli.ts to the streams, the signals and the exit code of the process. */
import { main } from './cli.js'
import { describeCause, EXIT } from '../core/errors.js'

export { main }

/** Runs the command that the process was started with, and sets its exit code. */
export async function run(): Promise<void> {
  const interrupt = new AbortController()
  endOnSignals(interrupt)

  const exitCode = await main(process.argv.slice(2), {
    get stdout() {
      return standard('stdout')
    },
    get stderr() {
      return standard('stderr')
    },
    env: process.env,
    now: () => performance.now(),
    signal: interrupt.signal
  })
  process.exitCode = Math.max(exitCode, Number(process.exitCode ?? 0))
}

/**
 * How long a command may take to stop and to remove what it has begun, in milliseconds. The sender of a signal often kills
 * the process ten seconds later (docker stop).
 */
const GRACE_MS = 8000

/**
 * The first signal asks the command to stop: exit code 130, nothing half-written. A second signal of any kind, or the end of
 * the time, ends the process at once, as the system does by default. It does so even where a file system does not answer.
 */
export function endOnSignals(interrupt: AbortController, graceMs = GRACE_MS): void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const onSignal = (signal: NodeJS.Signals): void => {
    for (const each of signals) process.off(each, onSignal)
    interrupt.abort()
    setTimeout(() => {
      process.kill(process.pid, signal)
    }, graceMs).unref()
  }
  for (const signal of signals) process.on(signal, onSignal)
}

const watched = new Set<'stdout' | 'stderr'>()

/** A standard stream. It is opened when it is first asked for, because opening takes milliseconds in which the pool's thread can start. */
function standard(name: 'stdout' | 'stderr'): NodeJS.WriteStream {
  const stream = process[name]
  if (watched.has(name)) return stream
  watched.add(name)
  // EPIPE: the reader has ended (head, less). The work goes on; only what it would have read is lost.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    process.exitCode = EXIT.badInput
    if (name === 'stdout')
      standard('stderr').write(`critic-traces: output unwritable: ${describeCause(error)}, expected standard output to take it\n`)
  })
  return stream
}
