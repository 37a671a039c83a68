/** `merge PARTIALS…`: the outputs of one machine of what shards measured; with `--partial`, one partial of several. */
import { failureFaults } from '../compute/diagnostics/failures.js'
import { counted } from '../core/counts.js'
import { EXIT, printableId, type Fault } from '../core/errors.js'
import { DIAGNOSTIC_PATHS } from '../render/outputs/output-names.js'
import { gravest } from '../runs/batch.js'
import { batchCounts } from '../runs/batch-result.js'
import { combinePartials } from '../runs/shards/combine.js'
import type { ShardSettings } from '../runs/shards/contract.js'
import { mergePartials, type MergedSnapshot, type MergeOutcome } from '../runs/shards/merge.js'
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
    const failures = new Map(merged.snapshots.map(snapshot => [snapshot, failuresOf(snapshot, merged.settings, out)]))
    const faultsOf = (snapshot: MergedSnapshot): readonly Fault[] => [
      ...new Set([...snapshot.result.faults, ...snapshot.diagnosisFaults, ...(failures.get(snapshot) ?? [])])
    ]
    const exitCode = gravest(merged.snapshots.flatMap(faultsOf))
    const failed = [...failures.values()].flat()
    await tellMerged(reporter, merged, options, { exitCode, failed })
    reporter.tellFaults(failed)
    const { counts, snapshots } = { counts: batchCounts(results), snapshots: merged.snapshots }
    return {
      exitCode,
      report: {
        out,
        counts,
        over_steps: merged.index.outputs.map(({ path }) => path),
        snapshots: snapshots.map(snapshot => ({
          name: snapshot.result.plan?.name ?? null,
          status: snapshot.result.status,
          statistics: snapshot.result.statistics,
          audit: snapshot.diagnosis?.audit ?? null,
          findings: snapshot.diagnosis?.findings ?? null,
          outputs: snapshot.outputs.map(({ path }) => path),
          faults: faultsOf(snapshot).map(f => ({
            message: f.message,
            exit_code: f.exitCode,
            place: f.place
          }))
        }))
      }
    }
  })
}

/** Why the diagnosis of a snapshot fails. */
function failuresOf({ diagnosis, result }: MergedSnapshot, { failOn }: ShardSettings, out: string): readonly Fault[] {
  if (diagnosis === null) return []
  return failureFaults(diagnosis, failOn, `${out}/${result.plan?.name}/${DIAGNOSTIC_PATHS.document}`)
}

async function tellMerged(
  reporter: Reporter,
  merged: MergeOutcome,
  { out, formats }: MergeOptions,
  { exitCode, failed }: { readonly exitCode: number; readonly failed: readonly Fault[] }
): Promise<void> {
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
    return diagnosed + batchSummary(results, index, { out, formats, verbose: reporter.verbose, exitCode, failed }, table)
  })
}
