/** `fetch`: training histories from W&B into the study, each with a certificate that it is whole. */
import { EXIT, printable, type Fault } from '../errors.js'
import { fetchHistories, type FetchOutcome } from '../fetchRun.js'
import { loadStudy } from '../ingest/study.js'
import { addressText, DEFAULT_BASE_URL, parseAddress } from '../ingest/wandb/address.js'
import type { Clock } from '../ingest/wandb/client.js'
import { findApiKey } from '../ingest/wandb/key.js'
import { systemClock } from '../ingest/wandb/retry.js'
import { nameRanges } from '../ingest/wandb/steps.js'
import { formatCount, formatDuration } from '../render/terminal/numbers.js'
import { createProgress } from '../render/terminal/progress.js'
import { formatTable } from '../render/terminal/table.js'
import { wantsColour } from '../render/terminal/text.js'
import type { FetchCommand } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { faultLines } from './lines.js'

/** Names a message lists at most. */
const MAX_NAMED = 8

/** @param clock times of the certificates, and the waiting between tries */
export async function runFetch(options: FetchCommand, io: CliIo, clock: Clock = systemClock): Promise<CommandResult> {
  const progress = await createProgress({ stream: io.stderr, env: io.env, now: io.now, quiet: options.quiet })
  try {
    const { study: dir } = options
    const { study } = await loadStudy(dir)
    const address = parseAddress(options.baseUrl ?? (io.env.WANDB_BASE_URL || DEFAULT_BASE_URL))
    const key = await findApiKey(io.env, address)
    progress.line(`fetching from ${addressText(address)} with the key of ${key.source}`)
    let phase = progress.phase({ label: 'listing', total: null, unit: 'runs' })
    let listing = true
    const outcome = await fetchHistories({
      dir, study, only: options.only, address, key, clock, signal: io.signal, deadlineMs: options.deadlineMinutes * 60_000,
      onRetry: ({ reason, attempt, waitMs }) => {
        progress.line(`try ${attempt} failed: ${reason}; again in ${formatDuration(waitMs / 1000)}`)
      },
      onListed: runs => phase.update(runs),
      onRows: fetched => {
        if (listing) phase = progress.phase({ label: 'fetching', total: null, unit: 'rows' })
        listing = false
        phase.update(fetched)
      }
    })
    phase.finish()
    progress.close()
    if (!options.quiet && !options.json) io.stdout.write(summary(outcome, dir, wantsColour(io.stdout, io.env)))
    const faults = outcome.runs.flatMap(run => run.faults)
    for (const line of faultLines(faults, options.verbose)) io.stderr.write(`${line}\n`)
    return { exitCode: faults.length > 0 ? EXIT.checkFailed : EXIT.ok, report: report(outcome, dir, faults) }
  } finally {
    progress.close()
  }
}

const COLUMNS = [
  { title: 'label' }, { title: 'run' }, { title: 'state' }, { title: 'rows', align: 'right' }, { title: 'steps', align: 'right' },
  { title: 'without a row' }, { title: 'history' }, { title: 'certificate' }
] as const

function summary(outcome: FetchOutcome, dir: string, colour: boolean): string {
  const table = formatTable(COLUMNS, outcome.runs.map(({ certificate: c, status, faults }) => [
    printable(c.run.label), printable(c.run.id), printable(c.run.state), formatCount(c.steps.rows),
    c.steps.first_step === null ? 'none' : `${c.steps.first_step} to ${c.steps.last_step ?? 0}`,
    nameRanges(c.steps.holes), status,
    faults.length > 0 ? 'INCOMPLETE' : c.snapshot.growing ? 'complete so far, still growing' : 'complete'
  ]), { colour })
  return `${table}${notes(outcome).map(line => `${line}\n`).join('')}${nextStep(dir)}`
}

function notes({ runs, excluded, unlisted, lists }: FetchOutcome): string[] {
  const names = [...new Set(excluded.map(run => run.displayName))]
  const named = names.slice(0, MAX_NAMED).map(name => printable(name)).join(', ')
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more names` : ''
  return [
    ...(names.length === 0 ? [] : [`listed, not fetched: ${formatCount(excluded.length)} runs (${named}${more})`]),
    ...(unlisted === 0 ? [] : [`neither: ${formatCount(unlisted)} runs of other names, too many to list`]),
    ...runs.flatMap(({ entry, withheld }) => withheld.map(({ name, reason }) => (
      `not kept of ${printable(entry.id)}: ${printable(name)} (${reason})`
    ))),
    `wrote ${lists.map(list => printable(list)).join(', ')}`
  ]
}

function nextStep(dir: string): string {
  return `next: node dist/run.js manifest --study ${printable(dir)} --write\n`
}

function report({ runs, excluded, unlisted, lists }: FetchOutcome, dir: string, faults: readonly Fault[]): object {
  return {
    study: dir,
    runs: runs.map(({ certificate, status, withheld }) => ({
      label: certificate.run.label, id: certificate.run.id, status, rows: certificate.steps.rows, complete: certificate.complete,
      growing: certificate.snapshot.growing, withheld
    })),
    excluded: excluded.map(({ id, displayName, label }) => ({ id, display_name: displayName, label })),
    unlisted,
    lists,
    faults: faults.map(f => f.message)
  }
}
