#!/usr/bin/env node
/** The program's entry: `node dist/run.js`. Everything is in src/cli.ts; this ties it to the process. */
import { main } from './src/cli.js'

const interrupt = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupt.abort()
    // A second signal ends the process at once, as the system does by default.
  })
}
// A reader that went away (head, less) ends the run quietly.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  throw error
})

process.exitCode = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  now: () => performance.now(),
  signal: interrupt.signal
})
