/** `fetch`: copies training histories from W&B into the study, each with a certificate that it is whole. */
import { EXIT, Fault, printable, printableId } from '../core/errors.js'
import { fetchHistories, noFetch, wantedRuns, type FetchOutcome } from '../fetch/fetch.js'
import { loadStudy } from '../study/study.js'
import { isGrowingState } from '../ingest/certificate/states.js'
import { addressText, DEFAULT_BASE_URL, parseAddress, type Address } from '../ingest/certificate/address.js'
import type { Clock } from '../fetch/client.js'
import { findApiKey } from '../fetch/key.js'
import { systemClock } from '../fetch/retry.js'
import { counted, formatCount } from '../core/counts.js'
import { formatDuration } from '../render/terminal/numbers.js'
import { formatTable, type TableOptions } from '../render/terminal/table.js'
import type { FetchCommand } from './args.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'

/** Most names in a message, and most characters of a name in the table. */
const MAX_NAMED = 8
const MAX_NAME = 40

/** @param clock gives the times of certificates, and waits between tries */
export async function runFetch(options: FetchCommand, io: CliIo, clock: Clock = systemClock): Promise<CommandResult> {
  return reporting(options, io, async reporter => {
    const { progress } = reporter
    const { study: dir } = options
    const { study } = await loadStudy(dir)
    // A mistake in the study or the label is reported before a key is asked for.
    if (study.fetch === null) throw noFetch(dir)
    wantedRuns(study.fetch, options.only)
    const address = addressOf(options, io)
    const key = await findApiKey(io.env, address)
    progress.line(`fetching from ${addressText(address)} with the key of ${key.source}`)
    let phase = progress.phase({ label: 'listing', total: null, unit: 'runs' })
    let rows = 0
    const outcome = await fetchHistories({
      dir,
      study,
      only: options.only,
      address,
      key,
      clock,
      signal: io.signal,
      deadlineMs: options.deadlineMinutes * 60_000,
      onRetry: ({ what, reason, attempt, waitMs }) => {
        progress.line(`${printable(what)}: try ${attempt} failed: ${reason}; again in ${formatDuration(waitMs / 1000)}`)
      },
      onListed: runs => phase.update(runs),
      onRows: total => {
        if (total > 0) phase = progress.phase({ label: 'fetching', total, unit: 'rows' })
        return done => {
          rows = done
          phase.update(done)
        }
      }
    }).catch((error: unknown) => {
      if (rows > 0) progress.line('what has come stays: the next fetch goes on from there')
      throw error
    })
    phase.finish()
    await reporter.tell(table => summary(outcome, dir, table))
    const faults = [...outcome.runs.flatMap(run => run.faults), ...outcome.stopped.map(({ fault }) => fault)]
    reporter.tellFaults(faults)
    return { exitCode: Math.max(EXIT.ok, ...faults.map(fault => fault.exitCode)), report: report(outcome, dir, faults) }
  })
}

function addressOf({ baseUrl }: FetchCommand, { env }: CliIo): Address {
  const { WANDB_BASE_URL: fromEnvironment = '' } = env
  if (baseUrl !== null || fromEnvironment === '') return parseAddress(baseUrl ?? DEFAULT_BASE_URL)
  try {
    return parseAddress(fromEnvironment)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Fault({ ...error.details, found: `${error.details.found ?? ''} in WANDB_BASE_URL` })
  }
}

const COLUMNS = [
  { title: 'label' },
  { title: 'run' },
  { title: 'state' },
  { title: 'rows', align: 'right' },
  { title: 'steps', align: 'right' },
  { title: 'holes', align: 'right' },
  { title: 'history' },
  { title: 'certificate' }
] as const

function summary(outcome: FetchOutcome, dir: string, options: TableOptions): string {
  const table = formatTable(
    COLUMNS,
    outcome.runs.map(({ certificate: { run, steps, snapshot }, status, faults }) => [
      printable(run.label, MAX_NAME),
      printableId(run.id, MAX_NAME),
      printable(run.state, MAX_NAME),
      formatCount(steps.rows),
      steps.first_step === null ? 'none' : `${steps.first_step} to ${steps.last_step ?? 0}`,
      formatCount(steps.holes.reduce((sum, [from, to]) => sum + to - from + 1, 0)),
      status,
      faults.length > 0 ? 'INCOMPLETE' : snapshot.growing ? 'so far' : 'complete'
    ]),
    options
  )
  return `${table}${notes(outcome)
    .map(line => `${line}\n`)
    .join('')}${outcomeLines(outcome, dir)}`
}

function notes({ runs, stopped, excluded, unlisted, replaced }: FetchOutcome): string[] {
  const names = [...new Set(excluded.map(run => run.displayName))]
  const named = names
    .slice(0, MAX_NAMED)
    .map(name => printable(name))
    .join(', ')
  const more = names.length > MAX_NAMED ? ` and ${counted(names.length - MAX_NAMED, 'more name')}` : ''
  const growing = runs.filter(run => run.certificate.snapshot.growing)
  return [
    ...growing.map(
      ({ entry, certificate: { snapshot, run } }) =>
        `${isGrowingState(run.state) ? 'still growing' : 'grown meanwhile'}: ${printableId(entry.id)}, taken up to step ` +
        `${snapshot.last_step ?? 'none'}; a fetch after it has logged again takes it anew`
    ),
    ...stopped.map(({ run }) => `stopped: ${printableId(run.id)}, a row of which cannot be kept; the next fetch asks for it again`),
    ...(names.length === 0
      ? []
      : [`listed, not fetched: ${counted(excluded.length, 'run')} of ${counted(names.length, 'name')}: ${named}${more}`]),
    ...(unlisted === 0 ? [] : [`not listed: ${counted(unlisted, 'run')} of other names, too many`]),
    ...replaced.map(
      ({ id, label, displayName }) =>
        `no longer listed: ${printableId(id)} (${printable(displayName)}) under ${printable(label)}, which the study does not fetch; its files there are to be removed`
    ),
    ...runs.flatMap(({ certificate: { requests }, entry, status }) =>
      requests.reordered === 0 || status === 'unchanged'
        ? []
        : [`sorted: ${counted(requests.reordered, 'answer')} of ${printableId(entry.id)} with rows out of order`]
    ),
    ...runs.flatMap(({ entry, withheld }) =>
      withheld.map(({ name, reason }) => `not kept of ${printableId(entry.id)}: ${printable(name)} (${reason})`)
    )
  ]
}

function outcomeLines({ runs, stopped, lists }: FetchOutcome, dir: string): string {
  if (lists.length === 0 && runs.every(run => run.status === 'unchanged')) return stopped.length === 0 ? 'nothing changed\n' : ''
  const wrote = lists.length === 0 ? '' : `wrote ${lists.map(list => printable(list)).join(', ')}\n`
  return `${wrote}next: node dist/run.js manifest --study ${printable(dir)} --write\n`
}

function report({ runs, stopped, excluded, unlisted, replaced, lists }: FetchOutcome, dir: string, faults: readonly Fault[]): object {
  return {
    study: dir,
    runs: runs.map(({ certificate, status, withheld }) => ({
      label: certificate.run.label,
      id: certificate.run.id,
      status,
      rows: certificate.steps.rows,
      complete: certificate.complete,
      growing: certificate.snapshot.growing,
      withheld
    })),
    stopped: stopped.map(({ run: { id, label }, fault }) => ({ label, id, fault: fault.message })),
    excluded: excluded.map(({ id, displayName, label }) => ({ id, display_name: displayName, label })),
    unlisted,
    replaced: replaced.map(({ id, displayName, label }) => ({ id, display_name: displayName, label })),
    lists,
    faults: faults.map(f => f.message)
  }
}
