/** The program as `dist/run.js` runs it: src/cli/cli.ts tied to the process. */
import { main } from './cli.js'
import { describeCause, EXIT } from '../core/errors.js'

export { main }

/** Runs the command that the process was started with, and sets its exit code. */
export async function run(): Promise<void> {
  const interrupt = new AbortController()
  endOnSignals(interrupt)

  const exitCode = await main(process.argv.slice(2), {
    get stdout() { return standard('stdout') },
    get stderr() { return standard('stderr') },
    env: process.env,
    now: () => performance.now(),
    signal: interrupt.signal
  })
  process.exitCode = Math.max(exitCode, Number(process.exitCode ?? 0))
}

/**
 * How long a command may take to give up and to remove what it has begun. Whoever sent the signal often kills ten seconds
 * later (docker stop).
 */
const GRACE_MS = 8000

/**
 * The first signal asks for the end: exit code 130, nothing half-written. A second one of whatever kind, and time, end the
 * process at once, as the system does by default: whatever holds it, be it a file system that does not answer.
 */
export function endOnSignals(interrupt: AbortController, graceMs = GRACE_MS): void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const onSignal = (signal: NodeJS.Signals): void => {
    for (const each of signals) process.off(each, onSignal)
    interrupt.abort()
    setTimeout(() => { process.kill(process.pid, signal) }, graceMs).unref()
  }
  for (const signal of signals) process.on(signal, onSignal)
}

const watched = new Set<'stdout' | 'stderr'>()

/** A standard stream, opened when first asked for: that takes milliseconds, in which the pool's thread could start. */
function standard(name: 'stdout' | 'stderr'): NodeJS.WriteStream {
  const stream = process[name]
  if (watched.has(name)) return stream
  watched.add(name)
  // A reader that went away (head, less) does not stop the work: only what it would have read is lost.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    process.exitCode = EXIT.badInput
    if (name === 'stdout') standard('stderr').write(`critic-traces: output unwritable: ${describeCause(error)}, expected standard output to take it\n`)
  })
  return stream
}
