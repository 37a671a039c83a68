/** `traces PATH…`: analyses critic-trace snapshots, each into its own subfolder of the output folder. */
import { batchExitCode, isSynthetic, runBatch } from '../runs/batch.js'
import type { WrittenIndex } from '../runs/batch-index.js'
import { batchCounts } from '../runs/batch-result.js'
import type { TracePool } from '../compute/traces/pool.js'
import { refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import type { Phase } from '../render/terminal/progress.js'
import type { TracesOptions } from './args.js'
import { NOTHING_TOLD } from './diagnose-args.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'
import { settingsOf } from './trace-settings.js'

export async function runTraces(options: TracesOptions, io: CliIo, pool: TracePool): Promise<CommandResult> {
  const { shard } = options
  if (shard !== null) return (await import('./shard-run.js')).runShardCommand({ ...options, ...NOTHING_TOLD, shard }, io, pool)
  return reporting(options, io, async reporter => {
    const { paths, out, formats } = options
    const { progress } = reporter
    let phase: Phase | null = null
    const over: { index: WrittenIndex | null } = { index: null }
    if (options.study !== null) refuseOutputsAtStudy(options.study, out)
    const { settings, notes } = await settingsOf(options)
    for (const note of notes) progress.line(`note: ${note}`)
    const results = await runBatch({
      paths,
      settings,
      pool,
      out,
      formats,
      signal: io.signal,
      onStart: (plan, amount) => {
        phase = progress.phase({ label: plan.name, ...amount })
      },
      onProgress: done => phase?.update(done),
      onEnd: ({ status, faults }) => {
        if (status === 'done') phase?.finish()
        else progress.close()
        reporter.tellFaults(faults)
      },
      onIndex: written => {
        over.index = written
      }
    })
    const exitCode = batchExitCode(results)
    await reporter.tell(async table => {
      const { batchSummary } = await import('./batch-summary.js')
      return batchSummary(results, over.index, { out, formats, verbose: reporter.verbose, exitCode }, table)
    })
    return {
      exitCode,
      report: {
        synthetic: isSynthetic(settings, results),
        out,
        counts: batchCounts(results),
        over_steps: over.index?.outputs.map(({ path }) => path) ?? [],
        kept: over.index?.kept ?? 0,
        snapshots: results.map(({ plan, status, statistics, outcome, faults, left }) => ({
          name: plan?.name ?? null,
          status,
          statistics,
          checks:
            outcome?.checks.map(({ check, expected, passed, total, unstated }) => ({ check, expected, passed, total, unstated })) ?? null,
          faults: faults.map(f => ({ message: f.message, exit_code: f.exitCode, place: f.place })),
          left: left ?? []
        }))
      }
    }
  })
}
