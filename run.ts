#!/usr/bin/env node
/**
 * The program's entry: `node dist/run.js`. The commands `traces`, which takes half a second, and `merge` are loaded as a bundle (`tools/build.ts`).
 * This module and those that it imports are loaded by any Node from 14.13 on, which then says that it is too old. So none of them
 * assigns with `??=`, and they load what may be newer on demand.
 */
import { createRequire } from 'node:module'
import { isTooOld, NODE_NEEDED } from './src/core/node-version.js'
import { lastWords } from './src/core/system/last-words.js'

type Program = typeof import('./src/cli/program.js')

let line: Promise<string> | undefined

/** Prints an error that no command caught as one line and ends the process. It is there before anything that can fail. */
async function fail(error: unknown): Promise<never> {
  // The first error is the cause; those that follow from it would be further lines.
  if (line === undefined) line = lastWords(error)
  process.stderr.write(await line)
  process.exit(3)
}

process.on('uncaughtException', error => {
  void fail(error)
})
process.on('unhandledRejection', error => {
  void fail(error)
})

function bundled(): Program {
  // Required, not imported: for an import, Node first scans a CommonJS module for its exports, which takes longer than all the rest.
  const { loadBundle } = createRequire(import.meta.url)('./src/core/load.cjs') as typeof import('./src/core/load.cjs')
  try {
    return loadBundle('traces').exports as Program
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    process.stderr.write('critic-traces: program not built: no dist/bundle/traces.cjs, expected what "npm run build" writes\n')
    process.exit(3)
  }
}

if (isTooOld(process.versions.node)) {
  process.stderr.write(`critic-traces: Node too old: ${process.versions.node}, expected ${NODE_NEEDED}\n`)
  process.exit(3)
}

try {
  // A merge may have few file descriptors, and its modules are many.
  const program = ['traces', 'merge'].includes(process.argv[2]) ? bundled() : await import('./src/cli/program.js')
  await program.run()
} catch (error) {
  await fail(error)
}
