/** One selected run: described, compared with what an earlier fetch brought, and fetched with its certificate. */
import { join } from 'node:path'
import { Fault, isRefusal } from '../core/errors.js'
import { withoutSecrets } from '../core/secrets.js'
import { allowedConfig } from '../ingest/config/allowed.js'
import { addressText, runUrl, type Address } from '../ingest/certificate/address.js'
import { certificatePath, checkCertificate, failedChecks, readCertificate } from '../ingest/certificate/file.js'
import type { HistoryCertificate } from '../ingest/certificate/fields.js'
import { isGrowingState } from '../ingest/certificate/states.js'
import type { HistoryStudy } from '../schema/histories.js'
import type { FetchStudy } from '../schema/fetch.js'
import { LOST, projectPath, readRun, type RunDetails } from './answers.js'
import type { Clock } from './client.js'
import { fetchRows, historyPath } from './fetch-rows.js'
import type { Ask } from './history.js'
import { renamedRun, type LabelledRun } from './listing.js'
import { requirePlausible } from './plausible.js'
import { RUN_QUERY } from './queries.js'
import { ResumableFile } from './resumable-file.js'
import type { RunEntry } from './runs-file.js'

/** What every run of a fetch needs. */
export interface RunFetch {
  /** the study's folder */
  readonly dir: string
  readonly synthetic: boolean
  readonly fetch: FetchStudy
  /** where the list of runs and the histories lie in it */
  readonly places: Pick<HistoryStudy, 'runs' | 'folder'>
  readonly address: Address
  readonly ask: Ask
  readonly clock: Clock
  readonly signal?: AbortSignal
}

export interface FetchedRun {
  readonly certificate: HistoryCertificate
  readonly status: 'fetched' | 'resumed' | 'unchanged'
  /** true: the rows of wide windows were not all that the server counts, and narrow ones were asked for */
  readonly narrowed: boolean
  /** failed checks, one each */
  readonly faults: readonly Fault[]
  readonly entry: RunEntry
  /** allowed settings that are not copied */
  readonly withheld: ReadonlyArray<{ readonly name: string; readonly reason: string }>
}

/** A run that could not be fetched. */
export interface StoppedRun {
  readonly run: Pick<LabelledRun, 'id' | 'label' | 'entity' | 'project'>
  readonly fault: Fault
}

/** A selected run before its rows are requested. */
export interface PlannedRun {
  readonly run: LabelledRun
  readonly details: RunDetails
  /** null: its rows are to be fetched */
  readonly unchanged: HistoryCertificate | null
}

export async function planRun(context: RunFetch, run: LabelledRun): Promise<PlannedRun> {
  const details = await readDetails(context, run)
  requirePlausible(details, run)
  return { run, details, unchanged: await unchangedCertificate(context, run, details) }
}

/** The entry in the list of runs of a run that is still to be fetched. */
export function plannedEntry(context: RunFetch, { run, details }: PlannedRun, now: string): RunEntry {
  return entryOf(context, run, now, allowedConfig(details.config, context.fetch.config, LOST).config)
}

/** @param count called with the number of rows that have arrived */
export async function fetchPlanned(
  context: RunFetch,
  { run, details, unchanged }: PlannedRun,
  count: (rows: number) => void
): Promise<FetchedRun | StoppedRun> {
  const { dir, synthetic, places, address, ask, signal } = context
  const { folder } = places
  const { config, withheld } = allowedConfig(details.config, context.fetch.config, LOST)
  if (unchanged !== null) {
    // An interrupted fetch from elsewhere may have left rows.
    await ResumableFile.discard(join(dir, historyPath(folder, run)))
    const entry = entryOf(context, run, unchanged.fetched_at, config)
    return { certificate: unchanged, status: 'unchanged', narrowed: false, faults: [], withheld, entry }
  }
  const fetched = await fetchRows({
    dir,
    folder,
    synthetic,
    run,
    details,
    server: addressText(address),
    time: timeOf(context),
    ask,
    count,
    signal,
    describe: () => readDetails(context, run)
  })
  if (fetched instanceof Fault) return { run, fault: fetched }
  const { certificate, resumed, narrowed, now } = fetched
  const entry = entryOf(context, { ...run, state: now.state }, certificate.fetched_at, config)
  const faults = failedChecks(certificate, join(dir, certificatePath(folder, run)))
  return { certificate, status: resumed ? 'resumed' : 'fetched', narrowed, faults, withheld, entry }
}

async function readDetails({ ask }: RunFetch, run: LabelledRun): Promise<RunDetails> {
  const { entity, project, id } = run
  const details = readRun(await ask(RUN_QUERY, { entity, project, run: id }, `run ${id} of ${projectPath(run)}`), run, id)
  if (details.displayName !== run.displayName) throw renamedRun(run, 'listed', details.displayName, ' until it is fetched; fetch again')
  return details
}

/** The existing certificate if it is complete and the server still describes the run as it did then; else null. */
async function unchangedCertificate(context: RunFetch, run: LabelledRun, now: RunDetails): Promise<HistoryCertificate | null> {
  const {
    dir,
    synthetic,
    places: { folder },
    signal
  } = context
  try {
    const certificate = await readCertificate(dir, folder, run)
    if (certificate === null || !certificate.complete) return null
    const {
      snapshot: { last_step: lastStep, history_line_count: lineCount, heartbeat_at: heartbeatAt, growing }
    } = certificate
    // For a run that may still log, only the heartbeat shows that it has not logged since.
    if (growing !== isGrowingState(now.state) || (growing && heartbeatAt === null)) return null
    if (lastStep !== now.lastStep || lineCount !== now.lineCount || heartbeatAt !== now.heartbeatAt) return null
    const entry = entryOf(context, { ...run, state: now.state }, certificate.fetched_at, {})
    const faults = await checkCertificate({ dir, folder, synthetic, signal }, { ...entry, createdSeconds: NaN }, certificate)
    return faults.length === 0 ? certificate : null
  } catch (error) {
    // An unreadable certificate or history is fetched again.
    if (isRefusal(error) && !(signal?.aborted ?? false)) return null
    throw error
  }
}

export function entryOf({ address }: RunFetch, run: LabelledRun, fetchedAt: string, config: Readonly<Record<string, unknown>>): RunEntry {
  const { id, displayName, entity, project, createdAt, state, label } = run
  // A fetched run has the display name that the study states. Any other run may have any name.
  return {
    id,
    displayName: withoutSecrets(displayName, true),
    entity,
    project,
    createdAt,
    state,
    url: runUrl(address.site, run),
    fetchedAt,
    label,
    config
  }
}

/** UTC, to the second. */
export function timeOf({ clock }: Pick<RunFetch, 'clock'>): string {
  return new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
}
