/**
 * Fetches training histories from W&B into a study. Runs are listed and selected by name, and their rows are fetched window
 * by window. Each history gets a certificate that it is whole. The list of runs is written too.
 *
 *     listing ──► selected runs ──► windows ──► <label>/<id>.jsonl ──► read back ──► <label>/<id>.certificate.json
 *                                                                                └──► runs.json and its views
 *
 * A killed fetch leaves its rows beside the place of the history, and the next fetch resumes from there. The list of runs
 * is written last.
 */
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT, Fault, isRefusal, printable, printableId } from '../core/errors.js'
import { fetchRows, historyPath } from './fetch-rows.js'
import { allowedConfig } from '../ingest/config/allowed.js'
import type { ListedRun } from '../ingest/histories/types.js'
import type { Study } from '../schema/study.js'
import { STUDY_FILE } from '../study/label.js'
import { mapLimited } from '../core/limited.js'
import { resolveInside } from '../core/paths.js'
import { addressText, runUrl, type Address } from '../ingest/certificate/address.js'
import { isGrowingState } from '../ingest/certificate/states.js'
import { LOST, projectPath, readRun, type ProjectName, type RunDetails } from './answers.js'
import { certificatePath, checkCertificate, failedChecks, readCertificate } from '../ingest/certificate/file.js'
import { WandbClient, type Clock, type Retry } from './client.js'
import type { Ask } from './history.js'
import type { ApiKey } from './key.js'
import { labelRuns, listRuns, renamedRun, requireSelected, requireStillThere, type LabelledRun } from './listing.js'
import { RUN_QUERY } from './queries.js'
import { checkedRunsText, mergeEntries, ownFields, readRunEntries, runsText, type MergedEntries, type RunEntry } from './runs-file.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { ResumableFile } from './resumable-file.js'
import type { HistoryCertificate } from '../ingest/certificate/fields.js'
import { OTHER_LABEL, STEPS_PER_REQUEST, type FetchRuns, type FetchStudy } from '../schema/fetch.js'
import type { HistoryStudy } from '../schema/histories.js'
import { withoutSecrets } from '../core/secrets.js'
import { readText } from '../core/still-file.js'

/** Runs whose rows are fetched at once. The client also sends at most this many requests at a time. */
const RUNS_AT_ONCE = 4

/** Most runs of all projects together that are listed without being fetched. */
const MAX_LISTED_ONLY = 5000

/** Most windows of a history. */
const MAX_WINDOWS = 1_000_000

/** Windows that are always allowed, and windows per counted row. A run that logs once in a thousand steps has ten. */
const FREE_WINDOWS = 10_000
const WINDOWS_PER_ROW = 100

export interface FetchRun {
  /** the study's folder */
  readonly dir: string
  readonly study: Study
  /** one label of the study's selections; null: all */
  readonly only: string | null
  readonly address: Address
  readonly key: ApiKey
  /** ms for the whole fetch */
  readonly deadlineMs: number
  readonly clock: Clock
  readonly signal?: AbortSignal
  readonly onRetry?: (retry: Retry) => void
  /** called with the number of runs listed so far, of all projects */
  readonly onListed?: (runs: number) => void
  /** called with the number of rows still to fetch, as the server counts; returns a function that counts new rows */
  readonly onRows?: (total: number) => (rows: number) => void
}

export interface FetchedRun {
  readonly certificate: HistoryCertificate
  readonly status: 'fetched' | 'resumed' | 'unchanged'
  /** failed checks, one each */
  readonly faults: readonly Fault[]
  readonly entry: RunEntry
  /** allowed settings that are not copied */
  readonly withheld: ReadonlyArray<{ readonly name: string; readonly reason: string }>
}

/** A run whose rows cannot be kept. */
export interface StoppedRun {
  readonly run: LabelledRun
  readonly fault: Fault
}

export interface FetchOutcome {
  /** selected runs, by label in the study's order, oldest first */
  readonly runs: readonly FetchedRun[]
  /** the other selected runs; their earlier entries in the list of runs stay */
  readonly stopped: readonly StoppedRun[]
  /** runs that are listed and not fetched */
  readonly excluded: readonly RunEntry[]
  /** number of other runs of the projects that are too many to list */
  readonly unlisted: number
  /** lists of runs whose text changed, relative to the study */
  readonly lists: readonly string[]
  /** entries that are no longer listed, because their run is now fetched under another label */
  readonly replaced: readonly RunEntry[]
}

/** Data that every step needs. */
interface FetchContext extends FetchRun {
  readonly fetch: FetchStudy
  readonly histories: HistoryStudy
  readonly ask: Ask
}

/** @throws Fault: a refusal of the server, a file that cannot be read or written; earlier rows stay */
export async function fetchHistories(run: FetchRun): Promise<FetchOutcome> {
  const {
    study: { fetch, histories },
    signal
  } = run
  if (fetch === null || histories === null) throw noFetch(run.dir)
  // A failed request ends the others too.
  const stop = new AbortController()
  const client = new WandbClient({
    address: run.address,
    key: run.key,
    deadlineMs: run.deadlineMs,
    clock: run.clock,
    signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
    ...(run.onRetry === undefined ? {} : { onRetry: run.onRetry })
  })
  const session: FetchContext = {
    ...run,
    fetch,
    histories,
    ask: (query, variables, what) => client.query(query, variables, what)
  }
  try {
    return await fetchAll(session, stop)
  } finally {
    client.close()
  }
}

/** The fault of a study without the section `fetch`. */
export function noFetch(dir: string): Fault {
  return new Fault({
    format: 'study',
    problem: 'missing section',
    found: 'no fetch',
    expected: 'fetch, which says which runs',
    place: { file: join(dir, STUDY_FILE) }
  })
}

async function fetchAll(session: FetchContext, stop: AbortController): Promise<FetchOutcome> {
  const { dir, fetch, histories } = session
  const wanted = wantedRuns(fetch, session.only)
  // Before any request: existing files under these names must be lists of runs.
  for (const path of [histories.runs, ...fetch.views.map(view => view.path)]) requireInside(dir, dirname(path))
  for (const { path } of fetch.views) await readRunEntries(join(dir, path))
  const readList = (): Promise<readonly RunEntry[]> => readRunEntries(join(dir, histories.runs))
  const earlier = await readList()
  const projects = projectsOf(wanted)
  const { labelled, unlisted } = await listProjects(session, projects, wanted, earlier)
  const selected = wanted.flatMap(({ label }) => labelled.filter(run => run.selected && run.label === label))
  const labels = new Set(wanted.map(w => w.label))
  const now = timeOf(session)
  const others = labelled.filter(run => !run.selected && (labels.has(run.label) || run.label === OTHER_LABEL))
  const excluded = others.slice(0, MAX_LISTED_ONLY).map(run => entryOf(session, run, now, {}))
  const cut = others.length - excluded.length
  const merge = (before: readonly RunEntry[], fetched: readonly RunEntry[]): MergedEntries =>
    mergeEntries(before, { fetched, excluded, labels, projects, fetches: fetch.runs })
  requirePlaces(dir, histories.folder, selected)
  // Checked before rows are requested: the list of runs can be written.
  const checkList = (planned: readonly RunEntry[]): void => {
    checkedRunsText(merge(earlier, planned).entries, join(dir, histories.runs))
  }
  const { runs, stopped } = await fetchSelected(session, selected, checkList, stop)
  // Read again, since a fetch of another label may have ended meanwhile.
  const latest = await readList()
  const kept = latest.filter(entry => stopped.some(({ run }) => run.id === entry.id && run.label === entry.label))
  const { entries, replaced, listed } = merge(latest, [...runs.map(r => r.entry), ...kept])
  return { runs, stopped, excluded: listed, unlisted: unlisted + cut, replaced, lists: await writeLists(session, entries) }
}

/** The runs that the study fetches. @throws Fault exit 2: no such label */
export function wantedRuns(fetch: FetchStudy, only: string | null): readonly FetchRuns[] {
  if (only === null) return fetch.runs
  const wanted = fetch.runs.filter(run => run.label === only)
  if (wanted.length > 0) return wanted
  throw new Fault({
    format: 'usage',
    problem: 'unknown label',
    found: printable(only),
    expected: fetch.runs.map(run => run.label).join(', '),
    exitCode: EXIT.usage
  })
}

function projectsOf(runs: readonly FetchRuns[]): ProjectName[] {
  const projects = new Map(runs.map(({ entity, project }) => [JSON.stringify([entity, project]), { entity, project }]))
  return [...projects.values()]
}

interface Listing {
  readonly labelled: readonly LabelledRun[]
  readonly unlisted: number
}

async function listProjects(
  session: FetchContext,
  projects: readonly ProjectName[],
  wanted: readonly FetchRuns[],
  earlier: readonly RunEntry[]
): Promise<Listing> {
  const labelled: LabelledRun[] = []
  let [unlisted, before] = [0, 0]
  for (const where of projects) {
    const here = ({ entity, project }: { readonly entity: string | null; readonly project: string | null }): boolean =>
      entity === where.entity && project === where.project
    const listed = await listRuns(session.ask, where, runs => session.onListed?.(before + runs))
    before += listed.length
    const selections = wanted.filter(here)
    requireSelected(listed, where, selections)
    const isSelected = (run: RunEntry): boolean => selections.some(s => s.label === run.label && s.display_name === run.displayName)
    requireStillThere(
      earlier.filter(run => here(run) && isSelected(run)),
      listed,
      where
    )
    const { runs, unlisted: more } = labelRuns(listed, where, session.fetch.runs.filter(here))
    labelled.push(...runs)
    unlisted += more
  }
  return { labelled, unlisted }
}

/** @throws Fault exit 3: more windows than the counted rows can justify */
function requirePlausible({ id, lastStep, lineCount }: RunDetails, where: ProjectName): void {
  const windows = Math.ceil(((lastStep ?? -1) + 1) / STEPS_PER_REQUEST)
  if (windows <= Math.min(MAX_WINDOWS, FREE_WINDOWS + WINDOWS_PER_ROW * (lineCount ?? 0))) return
  throw new Fault({
    format: 'wandb',
    problem: 'implausible last step',
    found: `${lastStep ?? 'none'} with ${lineCount ?? 'no'} rows counted`,
    expected: `rows to find in ${windows} windows of ${STEPS_PER_REQUEST} steps (run ${printableId(id)} of ${projectPath(where)})`
  })
}

/** A selected run before its rows are requested. */
interface PlannedRun {
  readonly run: LabelledRun
  readonly details: RunDetails
  /** null: its rows are to be fetched */
  readonly unchanged: HistoryCertificate | null
}

async function fetchSelected(
  session: FetchContext,
  selected: readonly LabelledRun[],
  checkList: (planned: readonly RunEntry[]) => void,
  stop: AbortController
): Promise<Pick<FetchOutcome, 'runs' | 'stopped'>> {
  const stopping = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      stop.abort(error)
      throw error
    })
  const planned = await mapLimited(selected, RUNS_AT_ONCE, run => stopping(planRun(session, run)))
  const now = timeOf(session)
  checkList(planned.map(({ run, details }) => entryOf(session, run, now, allowedConfig(details.config, session.fetch.config, LOST).config)))
  const expected = planned.reduce((sum, { unchanged, details }) => sum + (unchanged === null ? (details.lineCount ?? 0) : 0), 0)
  const onRows = session.onRows?.(expected)
  let rows = 0
  const count = (more: number): void => {
    rows += more
    onRows?.(rows)
  }
  const outcomes = await mapLimited(planned, RUNS_AT_ONCE, plan => stopping(fetchPlanned(session, plan, count)))
  return { runs: outcomes.filter(one => 'entry' in one), stopped: outcomes.filter(one => 'fault' in one) }
}

async function planRun(session: FetchContext, run: LabelledRun): Promise<PlannedRun> {
  const details = await readDetails(session, run)
  requirePlausible(details, run)
  return { run, details, unchanged: await unchangedCertificate(session, run, details) }
}

async function fetchPlanned(
  session: FetchContext,
  { run, details, unchanged }: PlannedRun,
  count: (rows: number) => void
): Promise<FetchedRun | StoppedRun> {
  const { config, withheld } = allowedConfig(details.config, session.fetch.config, LOST)
  if (unchanged !== null) {
    // An interrupted fetch from elsewhere may have left rows.
    await ResumableFile.discard(join(session.dir, historyPath(session.histories.folder, run)))
    const entry = entryOf(session, run, unchanged.fetched_at, config)
    return { certificate: unchanged, status: 'unchanged', faults: [], withheld, entry }
  }
  const {
    dir,
    histories: { folder },
    study: { synthetic },
    address,
    ask,
    signal
  } = session
  const fetched = await fetchRows({
    dir,
    folder,
    synthetic,
    run,
    details,
    server: addressText(address),
    time: timeOf(session),
    ask,
    count,
    signal,
    describe: () => readDetails(session, run)
  })
  if (fetched instanceof Fault) return { run, fault: fetched }
  const { certificate, resumed, now } = fetched
  const entry = entryOf(session, { ...run, state: now.state }, certificate.fetched_at, config)
  const faults = failedChecks(certificate, join(dir, certificatePath(folder, run)))
  return { certificate, status: resumed ? 'resumed' : 'fetched', faults, withheld, entry }
}

async function readDetails({ ask }: FetchContext, run: LabelledRun): Promise<RunDetails> {
  const { entity, project, id } = run
  const details = readRun(await ask(RUN_QUERY, { entity, project, run: id }, `run ${id} of ${projectPath(run)}`), run, id)
  if (details.displayName !== run.displayName) throw renamedRun(run, 'listed', details.displayName, ' until it is fetched; fetch again')
  return details
}

/** The existing certificate if it is complete and the server still describes the run as it did then; else null. */
async function unchangedCertificate(session: FetchContext, run: LabelledRun, now: RunDetails): Promise<HistoryCertificate | null> {
  const {
    dir,
    histories: { folder },
    study: { synthetic },
    signal
  } = session
  try {
    const certificate = await readCertificate(dir, folder, run)
    if (certificate === null || !certificate.complete) return null
    const {
      snapshot: { last_step: lastStep, history_line_count: lineCount, heartbeat_at: heartbeatAt, growing }
    } = certificate
    // For a run that may still log, only the heartbeat shows that it has not logged since.
    if (growing !== isGrowingState(now.state) || (growing && heartbeatAt === null)) return null
    if (lastStep !== now.lastStep || lineCount !== now.lineCount || heartbeatAt !== now.heartbeatAt) return null
    const listed = listedRun(entryOf(session, { ...run, state: now.state }, certificate.fetched_at, {}))
    const faults = await checkCertificate({ dir, folder, synthetic, signal }, listed, certificate)
    return faults.length === 0 ? certificate : null
  } catch (error) {
    // An unreadable certificate or history is fetched again.
    if (isRefusal(error) && !(signal?.aborted ?? false)) return null
    throw error
  }
}

function entryOf({ address }: FetchContext, run: LabelledRun, fetchedAt: string, config: Readonly<Record<string, unknown>>): RunEntry {
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

function listedRun(entry: RunEntry): ListedRun {
  return { ...entry, createdSeconds: NaN }
}

/** @returns paths of the lists whose text has changed */
async function writeLists({ dir, fetch, histories }: FetchContext, entries: readonly RunEntry[]): Promise<string[]> {
  const lists = [
    // A view is a copy of our own fields. Fields that another exporter wrote stay in the list only.
    ...fetch.views.map(({ path, labels }) => ({
      path,
      text: runsText(
        entries
          .filter(entry => labels.includes(entry.label))
          .map(entry => ({
            ...ownFields(entry),
            config: allowedConfig(entry.config, fetch.config).config
          }))
      )
    })),
    { path: histories.runs, text: checkedRunsText(entries, join(dir, histories.runs)) }
  ]
  const written: string[] = []
  for (const { path, text } of lists) {
    if ((await readText(join(dir, path)).catch(() => null)) === text) continue
    await OutputSet.writeAlone(dir, path, text)
    written.push(path)
  }
  return written
}

/** Refuses a folder that leads out of the study by a link, its own or one above a folder that does not exist yet. */
function requireInside(dir: string, folder: string): void {
  const root = realpathSync.native(dir)
  for (let path = folder; path !== '.'; path = dirname(path)) {
    const resolved = resolveInside(root, path)
    if (resolved.kind === 'inside') return
    if (resolved.kind === 'missing' && lstatSync(join(dir, path), { throwIfNoEntry: false }) === undefined) continue
    throw new Fault({
      format: 'study',
      problem: 'unsafe path',
      found: `${printable(path)}, a link that leads out of the study or nowhere`,
      expected: 'a folder inside the study',
      place: { file: join(dir, path) }
    })
  }
}

/** Checks that each history has a path of its own inside the study. */
function requirePlaces(dir: string, folder: string, runs: readonly LabelledRun[]): void {
  const places = new Map<string, LabelledRun>()
  for (const run of runs) {
    const path = historyPath(folder, run)
    requireInside(dir, dirname(path))
    const other = places.get(path.toLowerCase())
    if (other !== undefined) {
      throw new Fault({
        format: 'wandb',
        problem: 'ids differ in case only',
        found: `${printableId(other.id)} and ${printableId(run.id)}`,
        expected: 'ids that are different file names on every system'
      })
    }
    places.set(path.toLowerCase(), run)
    if (lstatSync(join(dir, `${path}.gz`), { throwIfNoEntry: false }) === undefined) continue
    throw new Fault({
      format: 'history',
      problem: 'stated twice',
      found: 'a history with .gz',
      expected: 'none: fetch writes it without',
      place: { file: join(dir, `${path}.gz`) }
    })
  }
}

/** UTC, to the second. */
function timeOf({ clock }: FetchContext): string {
  return new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
}
