/**
 * `watch PATH…`: one line an event, with the time of day. What fails is told on standard error. A signal ends it with exit code 0,
 * since it has no other end; `--once` ends as `traces` does.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotStatistics } from '../compute/traces/contract.js'
import type { TracePool } from '../compute/traces/pool.js'
import { counted, formatCount } from '../core/counts.js'
import { EXIT, printableId, type Fault } from '../core/errors.js'
import { BATCH_PAGE } from '../render/outputs/output-names.js'
import { refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import { batchExitCode } from '../runs/batch.js'
import { batchCounts, type SnapshotResult } from '../runs/batch-result.js'
import { runWatch, type WatchGone, type WatchReport } from '../runs/watch.js'
import { findSnapshots } from '../study/inventory.js'
import type { WatchOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'
import { valueText } from './summary.js'
import { settingsOf } from './trace-settings.js'

/** @param clock the time of day that lines begin with */
export async function runWatchCommand(options: WatchOptions, io: CliIo, pool: TracePool, clock = timeOfDay): Promise<CommandResult> {
  return reporting({ ...options, note: pool.note }, io, async ({ progress, verbose }) => {
    const { paths, out, formats, settle, poll, keepDeleted, once, study, quiet, json } = options
    if (study !== null) refuseOutputsAtStudy(study, out)
    if (once) await refuseMissing(paths)
    const { settings, notes } = await settingsOf(options)
    for (const note of notes) progress.line(`note: ${note}`)
    const say = (text: string): void => {
      if (!quiet && !json) io.stdout.write(`${clock()} ${text}\n`)
    }
    let pageTold = false
    const onReport = (report: WatchReport): void => {
      if (report.kind === 'ended' && report.result.status === 'failed') {
        io.stderr.write(`${clock()} ${printableId(report.label, 400)} ${failedText(report)}: ${faultText(report.result.faults)}\n`)
      } else if (report.kind === 'index') {
        const page = report.written.outputs.some(({ path }) => path === BATCH_PAGE)
        if (page && (verbose || !pageTold)) say(`page over ${counted(report.written.steps, 'step')}: ${join(out, BATCH_PAGE)}`)
        pageTold ||= page
      } else say(reportText(report, paths, out))
    }
    const run = { paths, settings, pool, out, formats, settleMs: settle * 1000, pollMs: poll * 1000, keepDeleted, once }
    const results = await runWatch({ ...run, signal: io.signal, now: io.now, onReport })
    say(
      `${io.signal.aborted ? 'stopped' : 'ended'}: ${counted(results.length, 'snapshot')}, ${formatCount(batchCounts(results).failed)} failed`
    )
    return { exitCode: io.signal.aborted ? EXIT.ok : batchExitCode(results), report: reportOf(results, out) }
  })
}

/** Where nobody waits, a path that leads nowhere is a mistake. */
async function refuseMissing(paths: readonly string[]): Promise<void> {
  for (const path of paths) if (!existsSync(path)) await findSnapshots([path])
}

function timeOfDay(): string {
  const now = new Date()
  return [now.getHours(), now.getMinutes(), now.getSeconds()].map(n => String(n).padStart(2, '0')).join(':')
}

function reportText(report: Exclude<WatchReport, { kind: 'index' }>, paths: readonly string[], out: string): string {
  switch (report.kind) {
    case 'watching':
      return `watching ${paths.map(path => printableId(path, 400)).join(', ')} into ${printableId(out, 400)}`
    case 'waiting':
      return `waiting for ${printableId(report.path, 400)}, which is not there yet`
    case 'note':
      return `note: ${printableId(report.text, 400)}`
    case 'writing':
      return `${printableId(report.label, 400)} is being written`
    case 'changed':
      return `${printableId(report.label, 400)} was replaced: it is analysed again`
    case 'gone':
      return goneText(report)
    case 'empty':
      return `${printableId(report.path, 400)} has no files now: the entries of the index stay`
    case 'left':
      return `${printableId(report.label, 400)} is being written: it is left for the next run`
    case 'ended':
      return endedText(report)
  }
}

function failedText({ again, result: { faults } }: Extract<WatchReport, { kind: 'ended' }>): string {
  if (!again) return 'failed'
  return faults.some(({ exitCode }) => exitCode === EXIT.badInput) ? 'changed and cannot be read' : 'changed and failed'
}

function goneText({ label, isKept, isBroken, replaced }: WatchGone): string {
  const stays = isKept ? 'stays' : 'left the index'
  if (isBroken) return `${printableId(label, 400)} cannot be read any more: its entry ${stays}`
  if (replaced === null) return `${printableId(label, 400)} was deleted: its entry ${stays}`
  const [before, now] = [replaced.step, replaced.by].map(step => (step === null ? 'no step' : `step ${formatCount(step)}`))
  return `${printableId(label, 400)} was replaced: ${now} in place of ${before}, whose entry ${stays}`
}

function endedText({ label, result, again }: Extract<WatchReport, { kind: 'ended' }>): string {
  const { status, statistics, samples } = result
  const what = status === 'unchanged' ? 'unchanged' : again ? 'analysed again' : 'analysed'
  const told = statistics !== null ? statisticsText(statistics) : samples === undefined ? '' : samplesText(samples)
  return `${printableId(label, 400)} ${what}: ${told}`
}

function statisticsText({ traces, tokens, mean_values: means, synthetic }: SnapshotStatistics): string {
  const mean = means.reduce((sum, m) => sum + m.mean_value * m.tokens, 0) / means.reduce((sum, m) => sum + m.tokens, 0)
  const parts = means.filter(m => m.outcome !== 'unknown').map(m => `${m.outcome} ${valueText(m.mean_value, 3)}`)
  const byOutcome = parts.length === 0 ? '' : ` (${parts.join(', ')})`
  const mark = synthetic ? ', SYNTHETIC' : ''
  return `${counted(traces, 'trace')}, ${counted(tokens, 'token')}, mean value ${valueText(mean, 3)}${byOutcome}${mark}`
}

function samplesText({ samples, tokens }: NonNullable<SnapshotResult['samples']>): string {
  return `${counted(samples, 'sample')}, ${counted(tokens, 'token')}, no values`
}

function faultText([first, ...more]: readonly Fault[]): string {
  return more.length === 0 ? first.message : `${first.message} (and ${more.length} more)`
}

function reportOf(results: readonly SnapshotResult[], out: string): object {
  return {
    out,
    counts: batchCounts(results),
    snapshots: results.map(({ plan, status, statistics, faults }) => ({
      name: plan?.name ?? null,
      status,
      traces: statistics?.traces ?? null,
      tokens: statistics?.tokens ?? null,
      faults: faults.map(f => ({ message: f.message, exit_code: f.exitCode, place: f.place }))
    }))
  }
}
