#!/usr/bin/env node
/** The program's entry: `node dist/run.js`. The command that takes half a second comes as a bundle (`src/build.ts`). */
type Program = typeof import('./src/program.js')

async function bundled(): Promise<Program> {
  const { loadBundle } = await import('./src/load.cjs')
  try {
    return loadBundle('traces').exports as Program
  } catch (error) {
    process.stderr.write(`critic-traces: program not built: ${(error as Error).message.split('\n')[0]}, expected what "npm run build" writes\n`)
    process.exit(3)
  }
}

const program = process.argv[2] === 'traces' ? await bundled() : await import('./src/program.js')
await program.run()
