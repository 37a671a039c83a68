/**
 * `fetch`: copies training histories from W&B into a study, each with a certificate that it is whole. A folder without a study
 * becomes one: `all` runs it as it is.
 */
import { EXIT, Fault, printable } from '../core/errors.js'
import { EVERY_RUN, draftedRuns, type RunChoice } from '../fetch/choice.js'
import { fetchHistories, noFetch, wantedRuns, withServer } from '../fetch/fetch.js'
import { listRuns } from '../fetch/listing.js'
import { findProxy } from '../fetch/proxy.js'
import { readWandbSettings } from '../fetch/settings.js'
import type { Clock, ClientOptions } from '../fetch/client.js'
import { findApiKey } from '../fetch/key.js'
import { systemClock } from '../fetch/retry.js'
import { addressText, DEFAULT_BASE_URL, parseAddress, type Address } from '../ingest/certificate/address.js'
import { lockFolder } from '../render/outputs/folder-lock.js'
import { formatDuration } from '../render/terminal/numbers.js'
import { FETCHED_PLACES, type FetchStudy } from '../schema/fetch.js'
import type { Study } from '../schema/study.js'
import type { FetchCommand } from './args.js'
import { historiesText } from './drafting.js'
import type { FetchTarget } from './fetch-args.js'
import { completeStudy, requireSameFetch, studyIn, type FetchedStudy } from './fetch-study.js'
import { fetchReport, fetchTable } from './fetch-summary.js'
import type { CliIo, CommandResult } from './io.js'
import { reporting } from './reporter.js'

/** @param clock gives the times of certificates, and waits between tries */
export async function runFetch(options: FetchCommand, io: CliIo, clock: Clock = systemClock): Promise<CommandResult> {
  return reporting(options, io, async reporter => {
    const { progress } = reporter
    const { study: dir, into } = options
    // 1. What is to be fetched, as far as no server is needed. A mistake in it is reported before a key is asked for.
    const study = await studyOf(options)
    const { address, note } = await addressOf(options, io)
    const key = await findApiKey(io.env, address)
    const proxy = findProxy(io.env, address.endpoint)
    const server = addressText(address)
    progress.line(`fetching from ${server}${proxy === null ? '' : ` through the proxy ${proxy.host}`} with the key of ${key.source}`)
    if (note !== null) progress.line(note)
    const client: ClientOptions = {
      address,
      key,
      clock,
      proxy,
      signal: io.signal,
      deadlineMs: options.deadlineMinutes * 60_000,
      onRetry: ({ what, reason, attempt, waitMs }) => {
        const again = formatDuration(waitMs / 1000)
        progress.line(`${server}, ${printable(what, 250)}: try ${attempt} failed: ${reason}; again in ${again}`)
      }
    }
    const lock = await lockFolder(dir, 'fetch')
    try {
      // 2. Runs and rows
      const choice = { ids: options.ids, notIds: options.notIds }
      const asked = into === null ? null : await draftedFetch(into, choice, client)
      if (asked !== null && study !== null) requireSameFetch(dir, study, asked)
      const fetch = study?.fetch ?? asked
      if (fetch === null) throw noFetch(dir)
      const { runs, folder } = study?.histories ?? FETCHED_PLACES
      let phase = progress.phase({ label: 'listing', total: null, unit: 'runs' })
      let rows = 0
      const outcome = await fetchHistories({
        ...client,
        clock,
        dir,
        fetch,
        synthetic: study?.synthetic ?? false,
        places: { runs, folder },
        only: options.only,
        // A drafted study states its ids itself.
        choice: into === null ? choice : EVERY_RUN,
        signal: io.signal,
        onListed: listed => phase.update(listed),
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
      // 3. Study and manifest
      const today = new Date(clock.now()).toISOString().slice(0, 10)
      const files = await completeStudy({ dir, study, fetch, folder, today }, outcome, reporter)
      await reporter.tell(table =>
        [
          fetchTable(outcome, table),
          ...(files.drafted === null ? [] : [`${historiesText(files.drafted, table)}\n`]),
          nextLines(dir, [...outcome.lists, ...files.written], files, outcome.runs)
        ].join('')
      )
      const faults = [...outcome.runs.flatMap(run => run.faults), ...outcome.stopped.map(({ fault }) => fault)]
      reporter.tellFaults(faults)
      const report = fetchReport(outcome, dir, faults, {
        drafted: files.drafted !== null,
        written: files.written,
        unselected: files.unselected
      })
      return { exitCode: Math.max(EXIT.ok, ...faults.map(fault => fault.exitCode)), report }
    } finally {
      await lock.release()
    }
  })
}

/** The study of the folder. @throws Fault: none where one is needed, no fetch section, no such label */
async function studyOf({ study: dir, into, only }: FetchCommand): Promise<Study | null> {
  const study = await studyIn(dir, into === null)
  if (into !== null || study === null) return study
  if (study.fetch === null) throw noFetch(dir)
  wantedRuns(study.fetch, only)
  return study
}

/** The section of a study that is being drafted. The project is listed first where runs are named by their ids. */
async function draftedFetch({ entity, project, names }: FetchTarget, choice: RunChoice, options: ClientOptions): Promise<FetchStudy> {
  const where = { entity, project }
  const byId = choice.ids !== null || choice.notIds.length > 0
  const listed = byId ? await withServer(options, ask => listRuns(ask, where)) : null
  return { runs: draftedRuns(where, names, choice, listed), config: [], views: [] }
}

/** The server, and a line on a settings file that is not followed. */
async function addressOf({ baseUrl }: FetchCommand, { env }: CliIo): Promise<{ readonly address: Address; readonly note: string | null }> {
  if (baseUrl !== null) return { address: parseAddress(baseUrl), note: null }
  const { WANDB_BASE_URL: fromEnvironment = '' } = env
  if (fromEnvironment !== '') return { address: parsedFrom(fromEnvironment, 'WANDB_BASE_URL'), note: null }
  const { baseUrl: own, path, ofFolder } = await readWandbSettings(env, process.cwd())
  const address = own === null ? parseAddress(DEFAULT_BASE_URL) : parsedFrom(own, path)
  const note =
    ofFolder === null
      ? null
      : `${printable(ofFolder.path, 400)} states base_url ${ofFolder.baseUrl}, which is not followed: a folder does not say where your key goes; --base-url does`
  return { address, note }
}

/** The address, with where it came from in the message when it is none. */
function parsedFrom(text: string, source: string): Address {
  try {
    return parseAddress(text)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Fault({ ...error.details, found: `${error.details.found ?? ''} in ${source}` })
  }
}

function nextLines(
  dir: string,
  written: readonly string[],
  { drafted, isNew, unselected }: FetchedStudy,
  runs: ReadonlyArray<{ readonly status: string }>
): string {
  const names = unselected.map(name => printable(JSON.stringify(name))).join(', ')
  const advice = 'add one to histories.selections, or remove histories from study.json and fetch again for a new draft'
  const unseen = unselected.length === 0 ? '' : `in no selection of the study: ${names}; ${advice}\n`
  return unseen + filesAndNext(dir, written, { drafted, isNew }, runs)
}

function filesAndNext(
  dir: string,
  written: readonly string[],
  { drafted, isNew }: Pick<FetchedStudy, 'drafted' | 'isNew'>,
  runs: ReadonlyArray<{ readonly status: string }>
): string {
  if (written.length === 0 && runs.length > 0 && runs.every(run => run.status === 'unchanged')) return 'nothing changed\n'
  const wrote = written.length === 0 ? '' : `wrote ${written.map(path => printable(path)).join(', ')}\n`
  // Without a history there is no study yet.
  if (isNew && drafted === null) return wrote
  const edit =
    drafted === null ? '' : 'the study is a draft and yours to edit; after an edit: node dist/run.js manifest --write --study DIR\n'
  return `${wrote}${edit.replace('DIR', printable(dir, 400))}next: node dist/run.js all --study ${printable(dir, 400)}\n`
}
