/** `merge PARTIALS…`: the outputs of one machine of what shards measured; with `--partial`, one partial of several. */
import { diagnosisFailures } from '../compute/diagnostics/failures.js'
import { counted } from '../core/counts.js'
import { EXIT, printableId } from '../core/errors.js'
import { batchExitCode, gravest } from '../runs/batch.js'
import { batchCounts } from '../runs/batch-result.js'
import { combinePartials } from '../runs/shards/combine.js'
import { mergePartials, type MergeOutcome } from '../runs/shards/merge.js'
import type { MergeOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting, type Reporter } from './reporter.js'

export async function runMerge(options: MergeOptions, io: CliIo): Promise<CommandResult> {
  const { paths, partial } = options
  return reporting(options, io, async reporter => {
    if (partial !== null) {
      const combined = await combinePartials(paths, partial)
      const { shards, count, traces } = combined
      const text = `${counted(shards, 'shard')} of ${count}, ${counted(traces, 'trace')}\npartial: ${printableId(partial, 400)}\n`
      await reporter.tell(() => text)
      return { exitCode: EXIT.ok, report: { partial, ...combined } }
    }
    const { out, formats, threads, against } = options
    const merged = await mergePartials({
      paths,
      ...(against === null ? {} : { against: [against] }),
      out,
      formats,
      threads,
      signal: io.signal,
      onEnd: ({ faults }) => reporter.tellFaults(faults)
    })
    const results = merged.snapshots.map(({ result }) => result)
    const exitCode = exitCodeOf(merged)
    await tellMerged(reporter, merged, options, exitCode)
    const { counts, snapshots } = { counts: batchCounts(results), snapshots: merged.snapshots }
    return {
      exitCode,
      report: {
        out,
        counts,
        over_steps: merged.index.outputs.map(({ path }) => path),
        snapshots: snapshots.map(({ result, diagnosis, diagnosisFaults, outputs }) => ({
          name: result.plan?.name ?? null,
          status: result.status,
          statistics: result.statistics,
          findings: diagnosis?.findings ?? null,
          outputs: outputs.map(({ path }) => path),
          faults: [...new Set([...result.faults, ...diagnosisFaults])].map(f => ({
            message: f.message,
            exit_code: f.exitCode,
            place: f.place
          }))
        }))
      }
    }
  })
}

function exitCodeOf({ snapshots, settings }: MergeOutcome): number {
  const failed = snapshots.some(({ diagnosis }) => {
    if (diagnosis === null) return false
    const { told, kinds } = diagnosisFailures(diagnosis, settings.failOn)
    return told.length > 0 || kinds.length > 0
  })
  const faults = snapshots.flatMap(({ diagnosisFaults }) => diagnosisFaults)
  return Math.max(batchExitCode(snapshots.map(({ result }) => result)), gravest(faults), failed ? EXIT.checkFailed : EXIT.ok)
}

async function tellMerged(reporter: Reporter, merged: MergeOutcome, { out, formats }: MergeOptions, exitCode: number): Promise<void> {
  const { snapshots, index, settings } = merged
  for (const { result, diagnosisFaults } of snapshots) reporter.tellFaults(diagnosisFaults.filter(fault => !result.faults.includes(fault)))
  await reporter.tell(async table => {
    const { batchSummary } = await import('./batch-summary.js')
    const { diagnosisSummary } = await import('./diagnose-summary.js')
    const results = snapshots.map(({ result }) => result)
    const [only] = snapshots
    const diagnosed =
      snapshots.length > 1 || only.diagnosis === null
        ? ''
        : `${diagnosisSummary({ status: 'done', diagnosis: only.diagnosis, outputs: only.outputs, left: [] }, { out: `${out}/${only.result.plan?.name}`, failOn: settings.failOn, history: only.diagnosis.settings.history }, table)}\n`
    return diagnosed + batchSummary(results, index, { out, formats, verbose: reporter.verbose, exitCode }, table)
  })
}
