#!/usr/bin/env node
/** The program's entry: `node dist/run.js`. The command that takes half a second comes as a bundle (`src/build.ts`). */
type Program = typeof import('./src/program.js')

const program = process.argv[2] === 'traces'
  ? (await import('./src/load.cjs')).loadBundle('traces').exports as Program
  : await import('./src/program.js')
await program.run()
