/**
 * Training histories from W&B into a study: runs listed and selected by name, rows fetched window by window, each history
 * with a certificate that it is whole, and the list of runs.
 *
 *     listing ──► selected runs ──► windows ──► <label>/<id>.jsonl ──► read back ──► <label>/<id>.certificate.json
 *                                                                                └──► runs.json and its views
 *
 * A fetch that is killed leaves what it has beside the place of the history, and the next one goes on from there. The
 * list of runs is written last.
 */
import { dirname, basename, join } from 'node:path'
import { EXIT, Fault, printable } from './errors.js'
import type { ListedRun } from './ingest/histories/types.js'
import { fetchRows } from './fetchRows.js'
import type { LoadedStudy } from './ingest/study.js'
import { mapLimited } from './ingest/study/hash.js'
import type { Address } from './ingest/wandb/address.js'
import { allowedConfig, isGrowingState, nameOf, readRun, type ProjectName, type RunDetails } from './ingest/wandb/answers.js'
import { checkCertificate, readCertificate } from './ingest/wandb/certificate-file.js'
import { WandbClient, type Clock } from './ingest/wandb/client.js'
import type { Ask } from './ingest/wandb/history.js'
import type { ApiKey } from './ingest/wandb/key.js'
import { labelRuns, listRuns, requireSelected, requireStillThere, type LabelledRun } from './ingest/wandb/listing.js'
import { RUN_QUERY } from './ingest/wandb/queries.js'
import { mergeEntries, readRunEntries, runsText, type RunEntry } from './ingest/wandb/runs-file.js'
import { OutputSet } from './render/outputs/output-set.js'
import { OTHER_LABEL, type FetchRuns, type FetchStudy, type HistoryCertificate } from './schema/fetch.js'
import type { HistoryStudy } from './schema/histories.js'

/** Runs whose rows are fetched at once; the client sends no more requests at a time either. */
const RUNS_AT_ONCE = 4

export interface FetchRun {
  /** the study's folder */
  readonly dir: string
  readonly study: LoadedStudy
  /** one label of the study's selections; null: all */
  readonly only: string | null
  readonly address: Address
  readonly key: ApiKey
  /** milliseconds for everything together */
  readonly deadlineMs: number
  readonly clock: Clock
  readonly random?: () => number
  readonly signal?: AbortSignal
  readonly onRetry?: (retry: { readonly reason: string; readonly attempt: number; readonly waitMs: number }) => void
  /** runs listed so far of a project */
  readonly onListed?: (runs: number) => void
  /** rows fetched so far, of all runs */
  readonly onRows?: (rows: number) => void
}

export interface FetchedRun {
  readonly certificate: HistoryCertificate
  readonly status: 'fetched' | 'resumed' | 'unchanged'
  /** failed checks, one each */
  readonly faults: readonly Fault[]
  readonly entry: RunEntry
  /** allowed settings that are not kept */
  readonly withheld: ReadonlyArray<{ readonly name: string; readonly reason: string }>
}

export interface FetchOutcome {
  /** selected runs, by label in the study's order, oldest first */
  readonly runs: readonly FetchedRun[]
  /** runs that are listed and not fetched */
  readonly excluded: readonly RunEntry[]
  /** other runs of the projects, too many to list */
  readonly unlisted: number
  /** lists of runs that were written, relative to the study */
  readonly lists: readonly string[]
}

/** What every step needs. */
interface Session extends FetchRun {
  readonly fetch: FetchStudy
  readonly histories: HistoryStudy
  readonly ask: Ask
  /** adds to the rows fetched so far */
  readonly count: (rows: number) => void
}

/** @throws Fault: what the server refuses, what cannot be read or written; what was fetched before it stays */
export async function fetchHistories(run: FetchRun): Promise<FetchOutcome> {
  const { study: { fetch, histories }, signal } = run
  if (fetch === null || histories === null) {
    throw new Fault({ format: 'study', problem: 'missing section', found: 'no fetch', expected: 'fetch, which says which runs', place: { file: run.dir } })
  }
  // One failed run ends the others' requests too.
  const stop = new AbortController()
  const client = new WandbClient({
    address: run.address, key: run.key, deadlineMs: run.deadlineMs, clock: run.clock,
    signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
    ...(run.random === undefined ? {} : { random: run.random }),
    ...(run.onRetry === undefined ? {} : { onRetry: run.onRetry })
  })
  let rows = 0
  const session: Session = {
    ...run, fetch, histories,
    ask: (query, variables, what) => client.query(query, variables, what),
    count: more => run.onRows?.(rows += more)
  }
  try {
    return await fetchAll(session, stop)
  } finally {
    client.close()
  }
}

async function fetchAll(session: Session, stop: AbortController): Promise<FetchOutcome> {
  const { dir, fetch, histories } = session
  const wanted = wantedRuns(session)
  const lists = [histories.runs, ...fetch.views.map(view => view.path)]
  // Before anything is asked for: what is there is a list of runs, and not something else of that name.
  for (const path of lists) await readRunEntries(join(dir, path))
  const earlier = await readRunEntries(join(dir, histories.runs))
  const projects = projectsOf(wanted)
  const labelled: LabelledRun[] = []
  let unlisted = 0
  for (const where of projects) {
    const listing = await listProject(session, where, wanted, earlier)
    labelled.push(...listing.runs)
    unlisted += listing.unlisted
  }
  const selected = wanted.flatMap(({ label }) => labelled.filter(run => run.selected && run.label === label))
  const runs = await mapLimited(selected, RUNS_AT_ONCE, async run => {
    try {
      return await fetchOne(session, run)
    } catch (error) {
      stop.abort(error)
      throw error
    }
  })
  const labels = new Set(wanted.map(w => w.label))
  const now = timeOf(session)
  const excluded = labelled
    .filter(run => !run.selected && (labels.has(run.label) || run.label === OTHER_LABEL))
    .map(run => entryOf(session, run, now, {}))
  const merged = mergeEntries(earlier, [...runs.map(r => r.entry), ...excluded], labels, projects)
  await writeLists(session, merged)
  return { runs, excluded, unlisted, lists }
}

function wantedRuns({ fetch, only }: Session): readonly FetchRuns[] {
  if (only === null) return fetch.runs
  const wanted = fetch.runs.filter(run => run.label === only)
  if (wanted.length > 0) return wanted
  throw new Fault({
    format: 'usage', problem: 'unknown label', found: printable(only), expected: fetch.runs.map(run => run.label).join(', '), exitCode: EXIT.usage
  })
}

function projectsOf(runs: readonly FetchRuns[]): ProjectName[] {
  const projects = new Map(runs.map(({ entity, project }) => [JSON.stringify([entity, project]), { entity, project }]))
  return [...projects.values()]
}

async function listProject(
  session: Session, where: ProjectName, wanted: readonly FetchRuns[], earlier: readonly RunEntry[]
): Promise<{ readonly runs: readonly LabelledRun[]; readonly unlisted: number }> {
  const here = ({ entity, project }: { readonly entity: string | null; readonly project: string | null }): boolean => (
    entity === where.entity && project === where.project
  )
  const listed = await listRuns(session.ask, where, session.onListed)
  const selections = wanted.filter(here)
  requireSelected(listed, where, selections)
  const before = earlier.filter(run => here(run) && selections.some(s => s.label === run.label && s.display_name === run.displayName))
  requireStillThere(before, listed, where)
  return labelRuns(listed, where, session.fetch.runs.filter(here))
}

async function fetchOne(session: Session, run: LabelledRun): Promise<FetchedRun> {
  const details = await describe(session, run)
  const { config, withheld } = allowedConfig(details.config, session.fetch.config)
  const unchanged = await unchangedCertificate(session, run, details)
  if (unchanged !== null) {
    return { certificate: unchanged, status: 'unchanged', faults: [], withheld, entry: entryOf(session, run, unchanged.fetched_at, config) }
  }
  const { dir, histories: { folder }, study: { synthetic }, address, ask, count, signal } = session
  const { certificate, resumed, now } = await fetchRows({
    dir, folder, synthetic, run, details, server: address.base.href, time: timeOf(session), ask, count, signal,
    describe: () => describe(session, run)
  })
  const entry = entryOf(session, { ...run, state: now.state }, certificate.fetched_at, config)
  const faults = await checkCertificate(dir, folder, listedRun(entry), certificate, signal)
  return { certificate, status: resumed ? 'resumed' : 'fetched', faults, withheld, entry }
}

async function describe({ ask }: Session, run: LabelledRun): Promise<RunDetails> {
  const { entity, project, id } = run
  const details = readRun(await ask(RUN_QUERY, { entity, project, run: id }, `run ${id} of ${nameOf(run)}`), run, id)
  requireStillThere([{ id, label: run.label, displayName: run.displayName, fetchedAt: null }], [details], run)
  return details
}

/** The certificate that is there, where it is whole and the server says of the run what it said then; else null. */
async function unchangedCertificate(session: Session, run: LabelledRun, now: RunDetails): Promise<HistoryCertificate | null> {
  const { dir, histories: { folder }, signal } = session
  try {
    const certificate = await readCertificate(dir, folder, run)
    if (certificate === null || !certificate.complete) return null
    const { snapshot: { last_step: lastStep, history_line_count: lineCount, growing } } = certificate
    if (growing || isGrowingState(now.state) || lastStep !== now.lastStep || lineCount !== now.lineCount) return null
    const listed = listedRun(entryOf(session, { ...run, state: now.state }, certificate.fetched_at, {}))
    const faults = await checkCertificate(dir, folder, listed, certificate, signal)
    return faults.length === 0 ? certificate : null
  } catch (error) {
    // What cannot be read is fetched again.
    if (error instanceof Fault && !(signal?.aborted ?? false)) return null
    throw error
  }
}

function entryOf(
  { address }: Session, run: LabelledRun, fetchedAt: string, config: Readonly<Record<string, unknown>>
): RunEntry {
  const { id, displayName, entity, project, createdAt, state, label } = run
  const url = [address.site, entity, project, 'runs', id].map((part, i) => (i === 0 ? part : encodeURIComponent(part))).join('/')
  return { id, displayName, entity, project, createdAt, state, url, fetchedAt, label, config }
}

function listedRun(entry: RunEntry): ListedRun {
  return { ...entry, createdSeconds: NaN }
}

async function writeLists({ dir, fetch, histories }: Session, entries: readonly RunEntry[]): Promise<void> {
  for (const { path, labels } of fetch.views) {
    await writeAlone(join(dir, path), runsText(entries.filter(entry => labels.includes(entry.label))))
  }
  await writeAlone(join(dir, histories.runs), runsText(entries))
}

async function writeAlone(path: string, text: string): Promise<void> {
  await OutputSet.writeAlone(dirname(path), basename(path), text)
}

/** UTC, to the second. */
function timeOf({ clock }: Session): string {
  return new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
}
