/** `traces PATH…`: analyses critic-trace snapshots, each into its own subfolder of the output folder. */
import { batchExitCode, isSynthetic, runBatch } from '../runs/batch.js'
import type { TracePool } from '../compute/traces/pool.js'
import type { SnapshotSettings } from '../runs/snapshot-work.js'
import { BATCH_INDEX } from '../render/outputs/output-names.js'
import { refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import type { Phase } from '../render/terminal/progress.js'
import { DEFAULT_CRITIC_TRACE_STUDY, REPORTED_WITHOUT_STUDY } from '../schema/traces.js'
import type { RunOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'

export async function runTraces(
  options: RunOptions & { readonly paths: readonly string[] },
  io: CliIo,
  pool: TracePool
): Promise<CommandResult> {
  return reporting(options, io, async reporter => {
    const { paths, out, formats } = options
    const { progress } = reporter
    let phase: Phase | null = null
    if (options.study !== null) refuseOutputsAtStudy(options.study, out)
    const settings = { ...(await settingsOf(options.study)), tables: options.tables }
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
      }
    })
    await reporter.tell(async table => {
      const { batchTable, checksTable, leftNote, statisticsTables } = await import('./summary.js')
      const [only] = results
      const single = results.length === 1 && only.statistics !== null ? `${statisticsTables(only.statistics, table)}\n` : ''
      const checks = single === '' || only.outcome === null ? '' : `${checksTable(only.outcome.checks, table)}\n`
      return `${single}${checks}${batchTable(results, table)}\nindex: ${out}/${BATCH_INDEX}\n${leftNote(results.flatMap(r => r.left ?? []))}`
    })
    return {
      exitCode: batchExitCode(results),
      report: {
        synthetic: isSynthetic(settings, results),
        out,
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

async function settingsOf(dir: string | null): Promise<SnapshotSettings> {
  const study = dir === null ? null : (await (await import('../study/study.js')).loadStudy(dir)).study
  const traces = study?.critic_traces ?? null
  // Without a study, and with one that lacks this section, nothing is expected of a snapshot.
  return {
    traces: traces ?? DEFAULT_CRITIC_TRACE_STUDY,
    expectations: traces?.expectations ?? REPORTED_WITHOUT_STUDY,
    enforced: traces !== null,
    examplesRequired: false,
    synthetic: study?.synthetic ?? false
  }
}
