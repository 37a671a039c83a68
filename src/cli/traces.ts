/** `traces PATH…`: critic-trace snapshots of anyone's, each into its own subfolder of the output folder. */
import { batchExitCode, isSynthetic, runBatch } from '../runs/batch.js'
import type { TracePool } from '../compute/traces/pool.js'
import type { SnapshotSettings } from '../runs/snapshot.js'
import { BATCH_INDEX } from '../render/outputs/output-names.js'
import { refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import { createProgress, type Phase } from '../render/terminal/progress.js'
import { wantsColour } from '../render/terminal/text.js'
import { DEFAULT_CRITIC_TRACE_STUDY, REPORTED_WITHOUT_STUDY } from '../schema/traces.js'
import type { RunOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { faultLines } from './lines.js'

export async function runTraces(
  options: RunOptions & { readonly paths: readonly string[] },
  io: CliIo,
  pool: TracePool
): Promise<CommandResult> {
  const progress = await createProgress({ stream: io.stderr, env: io.env, now: io.now, quiet: options.quiet })
  let phase: Phase | null = null
  try {
    if (options.study !== null) refuseOutputsAtStudy(options.study, options.out)
    const settings = await settingsOf(options.study)
    const results = await runBatch({
      paths: options.paths, settings, pool,
      out: options.out,
      formats: options.formats,
      signal: io.signal,
      onStart: (plan, amount) => {
        phase = progress.phase({ label: plan.name, ...amount })
      },
      onProgress: done => phase?.update(done),
      onEnd: ({ status, faults }) => {
        if (status === 'done') phase?.finish()
        else progress.close()
        for (const line of faultLines(faults, options.verbose)) io.stderr.write(`${line}\n`)
      }
    })
    progress.close()
    if (!options.quiet && !options.json) {
      const { batchTable, checksTable, leftNote, statisticsTables } = await import('./summary.js')
      const table = { colour: wantsColour(io.stdout, io.env) }
      const [only] = results
      if (results.length === 1 && only.statistics !== null) {
        io.stdout.write(`${statisticsTables(only.statistics, table)}\n`)
        if (only.outcome !== null) io.stdout.write(`${checksTable(only.outcome.checks, table)}\n`)
      }
      io.stdout.write(`${batchTable(results, table)}\nindex: ${options.out}/${BATCH_INDEX}\n${leftNote(results.flatMap(r => r.left ?? []))}`)
    }
    return {
      exitCode: batchExitCode(results),
      report: {
        synthetic: isSynthetic(settings, results),
        out: options.out,
        snapshots: results.map(({ plan, status, statistics, outcome, faults, left }) => ({
          name: plan?.name ?? null,
          status,
          statistics,
          checks: outcome?.checks.map(({ check, expected, passed, total, unstated }) => ({ check, expected, passed, total, unstated })) ?? null,
          faults: faults.map(f => ({ message: f.message, exit_code: f.exitCode, place: f.place })),
          left: left ?? []
        }))
      }
    }
  } finally {
    progress.close()
  }
}

async function settingsOf(dir: string | null): Promise<SnapshotSettings> {
  const study = dir === null ? null : (await (await import('../study/study.js')).loadStudy(dir)).study
  const traces = study?.critic_traces ?? null
  // A study without this section expects nothing of a snapshot, and so does no study.
  return {
    traces: traces ?? DEFAULT_CRITIC_TRACE_STUDY,
    expectations: traces?.expectations ?? REPORTED_WITHOUT_STUDY,
    enforced: traces !== null,
    examplesRequired: false,
    synthetic: study?.synthetic ?? false
  }
}
