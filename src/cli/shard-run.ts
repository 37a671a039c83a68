/** `traces PATH… --shard I/N` and `diagnose PATH… --shard I/N`: one part of the work, for `merge`. */
import type { TracePool } from '../compute/traces/pool.js'
import { counted } from '../core/counts.js'
import { printableId } from '../core/errors.js'
import { refuseOutputsAtStudy } from '../render/outputs/output-place.js'
import type { Phase } from '../render/terminal/progress.js'
import { gravest } from '../runs/batch.js'
import { readLoggedHistory } from '../runs/diagnose.js'
import type { ShardSettings } from '../runs/shards/contract.js'
import { runShard, type ShardOutcome } from '../runs/shards/run-shard.js'
import type { DiagnoseOptions } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'
import { shardOf, type ShardTold } from './shard.js'
import { designOf, settingsOf } from './trace-settings.js'

export async function runShardCommand(
  options: DiagnoseOptions & { readonly shard: ShardTold },
  io: CliIo,
  pool: TracePool
): Promise<CommandResult> {
  const shard = shardOf(options.shard, io.env)
  return reporting(options, io, async reporter => {
    const { paths, out, study } = options
    if (study !== null) refuseOutputsAtStudy(study, out)
    const { settings, notes } = await shardSettings(options)
    for (const note of notes) reporter.progress.line(`note: ${note}`)
    const shown: { phase: Phase | null } = { phase: null }
    const outcome = await runShard({
      paths,
      settings,
      shard,
      pool,
      out,
      signal: io.signal,
      onPart: ({ name }) => {
        shown.phase?.finish()
        const phase = reporter.progress.phase({ label: name, total: null, unit: 'bytes' })
        shown.phase = phase
        return done => phase.update(done)
      }
    })
    shown.phase?.finish()
    reporter.tellFaults(outcome.faults)
    const exitCode = gravest(outcome.faults)
    await reporter.tell(() => summary(outcome, `shard ${shard.index} of ${shard.count}`, out))
    const { faults, ...told } = outcome
    const listed = faults.map(f => ({ message: f.message, exit_code: f.exitCode, place: f.place }))
    return { exitCode, report: { shard: shard.index, shards: shard.count, out, ...told, faults: listed } }
  })
}

async function shardSettings(options: DiagnoseOptions) {
  const { gamma, lambdaReturns, lambdaAdvantages, sampling, failOn, history: path, tokenizer: tokenizerPath } = options
  const { settings, notes } = await settingsOf(options)
  const { tables: _tables, ...snapshot } = settings
  const history = path === null ? null : readLoggedHistory(path)
  const tokenizer = tokenizerPath === null ? null : await (await import('../ingest/tokenizer/tokenizer.js')).readTokenizer(tokenizerPath)
  const told: ShardSettings = {
    snapshot,
    told: { gamma, lambdaReturns, lambdaAdvantages, sampling: sampling ?? designOf(settings) },
    history: history === null ? null : { ...history, byStep: [...history.byStep] },
    failOn,
    tokenizerSha256: tokenizer?.sha256 ?? null
  }
  return { settings: told, notes }
}

function summary({ status, partial, snapshots, traces, tokens, files, faults }: ShardOutcome, name: string, out: string): string {
  const done = status === 'done' ? 'done' : 'is there and whole: nothing was done again'
  const failed = faults.length === 0 ? '' : `${counted(faults.length, 'fault')}: the merge reports them\n`
  const read = `${counted(traces, 'trace')} of ${counted(snapshots, 'snapshot')}, ${counted(tokens, 'token')} in ${counted(files, 'file')}`
  return `${name} ${done}: ${read}\n${failed}partial: ${printableId(out, 400)}/${partial}\n`
}
