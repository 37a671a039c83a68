/** `explore PATH… --serve`: the explorer on a server of its own, until a signal ends it. It has no other end, so its exit code is 0. */
import type { TracePool } from '../compute/traces/pool.js'
import { EXIT } from '../core/errors.js'
import { ExplorerServer } from '../runs/explorer-server.js'
import { readServed } from '../runs/serve-explorer.js'
import type { ExploreOptions } from './args.js'
import { beginExploring, exploredText, listedSnapshot, textsReport, textsText } from './begin-exploring.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'

export async function runExploreServer(
  options: ExploreOptions & { readonly port: number },
  io: CliIo,
  pool: TracePool
): Promise<CommandResult> {
  return reporting({ ...options, note: pool.note }, io, async reporter => {
    const { port, texts, json } = options
    const server = await ExplorerServer.open(port)
    try {
      const { begun, finish } = await beginExploring(options, reporter)
      const served = await readServed({ ...begun, pool, texts, signal: io.signal })
      finish()
      // A server lives long, and its threads have nothing more to do.
      await pool.destroy()
      try {
        server.serve(served.explorer)
        const listed = served.snapshots.map(listedSnapshot)
        const synthetic = served.snapshots.some(({ snapshot }) => snapshot.synthetic)
        // The object comes at the end, and where the server is must be known before.
        if (json) reporter.progress.line(`serving: ${server.url}`)
        await reporter.tell(
          () =>
            `${exploredText(synthetic, listed)}${textsText(served.texts, options.tokenizer !== null)}serving: ${server.url} (Ctrl-C ends it)\n`
        )
        await aborted(io.signal)
        return { exitCode: EXIT.ok, report: { synthetic, url: server.url, snapshots: listed, ...textsReport(served.texts) } }
      } finally {
        served.close()
      }
    } finally {
      await server.close()
    }
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
