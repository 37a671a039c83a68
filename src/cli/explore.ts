/** `explore PATH…`: the traces of one or several snapshots in one page. */
import type { TracePool } from '../compute/traces/pool.js'
import { EXIT } from '../core/errors.js'
import { EXPLORER_PAGE } from '../render/outputs/output-names.js'
import { refuseOutputsAtInputs, refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import { exploreSnapshots } from '../runs/explore.js'
import type { ExploreOptions } from './args.js'
import { beginExploring, exploredText, listedSnapshot, textsReport, textsText } from './begin-exploring.js'
import { exploreLine } from './closing.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'
import { leftNote } from './summary.js'

export async function runExploreCommand(options: ExploreOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  const { port } = options
  if (port !== null) return (await import('./explore-serve.js')).runExploreServer({ ...options, port }, io, pool)
  return reporting({ ...options, note: pool.note }, io, async reporter => {
    const { paths, out, study, texts } = options
    if (study !== null) refuseOutputsAtStudy(study, out)
    refuseOutputsAtInputs(paths, out)
    const { begun, finish } = await beginExploring(options, reporter)
    const run = { ...begun, pool, out, texts, signal: io.signal }
    const { synthetic, snapshots, texts: counts, outputs, left } = await exploreSnapshots(run)
    finish()
    const listed = snapshots.map(listedSnapshot)
    await reporter.tell(() =>
      [
        exploredText(synthetic, listed),
        textsText(counts, options.tokenizer !== null),
        leftNote(left),
        exploreLine(`${out}/${EXPLORER_PAGE}`)
      ].join('')
    )
    return {
      exitCode: EXIT.ok,
      report: { synthetic, out, snapshots: listed, ...textsReport(counts), outputs: outputs.map(({ path }) => path), left }
    }
  })
}
