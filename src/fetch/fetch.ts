/**
 * Fetches training histories from W&B into a study. Runs are listed and selected by name, and their rows are fetched window
 * by window. Each history gets a certificate that it is whole. The list of runs is written too.
 *
 *     listing ──► selected runs ──► windows ──► <label>/<id>.jsonl ──► read back ──► <label>/<id>.certificate.json
 *                                                                                └──► runs.json and its views
 *
 * A killed fetch leaves its rows beside the place of the history, and the next fetch resumes from there. The list of runs
 * is written last. A run that cannot be fetched ends alone: the others come, and its earlier entry stays.
 */
import { dirname, join } from 'node:path'
import { EXIT, Fault, printable } from '../core/errors.js'
import { mapLimited } from '../core/limited.js'
import { readText } from '../core/still-file.js'
import { addressText } from '../ingest/certificate/address.js'
import { allowedConfig } from '../ingest/config/allowed.js'
import { OutputSet } from '../render/outputs/output-set.js'
import { OTHER_LABEL, type FetchRuns, type FetchStudy } from '../schema/fetch.js'
import { STUDY_FILE } from '../study/label.js'
import type { ProjectName } from './answers.js'
import { isChosen, requireKnown, type RunChoice } from './choice.js'
import { WandbClient, type ClientOptions } from './client.js'
import {
  entryOf,
  fetchPlanned,
  plannedEntry,
  planRun,
  timeOf,
  type FetchedRun,
  type PlannedRun,
  type RunFetch,
  type StoppedRun
} from './fetch-run.js'
import type { Ask } from './history.js'
import { goneRuns, labelRuns, listRuns, requireSelected, type LabelledRun, type LabelledRuns } from './listing.js'
import { requireInside, requirePlaces } from './places.js'
import { endsRunAlone } from './run-stops.js'
import { checkedRunsText, mergeEntries, ownFields, readRunEntries, runsText, type MergedEntries, type RunEntry } from './runs-file.js'

/** Runs whose rows are fetched at once. The client also sends at most this many requests at a time. */
const RUNS_AT_ONCE = 4

/** Most runs of all projects together that are listed without being fetched. */
const MAX_LISTED_ONLY = 5000

export interface FetchRun extends Omit<RunFetch, 'ask'>, Pick<ClientOptions, 'key' | 'deadlineMs' | 'onRetry' | 'proxy'> {
  /** one label of the study's selections; null: all */
  readonly only: string | null
  /** which of the selected runs are fetched this time */
  readonly choice: RunChoice
  /** called with the number of runs listed so far, of all projects */
  readonly onListed?: (runs: number) => void
  /** called with the number of rows still to fetch, as the server counts; returns a function that counts new rows */
  readonly onRows?: (total: number) => (rows: number) => void
}

export interface FetchOutcome {
  /** selected runs, by label in the study's order, oldest first */
  readonly runs: readonly FetchedRun[]
  /** the other selected runs, which could not be fetched; their earlier entries in the list of runs stay */
  readonly stopped: readonly StoppedRun[]
  /** selected runs that were not asked for this time; their earlier entries stay */
  readonly notChosen: readonly LabelledRun[]
  /** runs of a selected name that the study leaves out by their ids */
  readonly leftOut: readonly LabelledRun[]
  /** runs that are listed and not fetched */
  readonly excluded: readonly RunEntry[]
  /** number of other runs of the projects that are too many to list */
  readonly unlisted: number
  /** lists of runs whose text changed, relative to the study */
  readonly lists: readonly string[]
  /** entries that are no longer listed, because their run is now fetched under another label */
  readonly replaced: readonly RunEntry[]
}

interface FetchContext extends FetchRun, RunFetch {}

/** Sends queries with a client that is closed behind the work. What the server said names the server. */
export async function withServer<T>(options: ClientOptions, work: (ask: Ask) => Promise<T>): Promise<T> {
  const client = new WandbClient(options)
  try {
    return await work((query, variables, what) => client.query(query, variables, what))
  } catch (error) {
    throw error instanceof Fault && error.details.format === 'wandb' ? error.at({ file: addressText(options.address) }) : error
  } finally {
    client.close()
  }
}

/** @throws Fault: a refusal of the server, a file that cannot be read or written; earlier rows stay */
export async function fetchHistories(run: FetchRun): Promise<FetchOutcome> {
  // A failure that ends the fetch ends the other requests too.
  const stop = new AbortController()
  const signal = run.signal === undefined ? stop.signal : AbortSignal.any([run.signal, stop.signal])
  return withServer({ ...run, signal }, ask => fetchAll({ ...run, ask }, stop))
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
  const { dir, fetch, places, choice } = session
  const wanted = wantedRuns(fetch, session.only)
  // Before any request: existing files under these names must be lists of runs.
  for (const path of [places.runs, ...fetch.views.map(view => view.path)]) requireInside(dir, dirname(path))
  for (const { path } of fetch.views) await readRunEntries(join(dir, path))
  const readList = (): Promise<readonly RunEntry[]> => readRunEntries(join(dir, places.runs))
  const earlier = await readList()
  const projects = projectsOf(wanted)
  const { runs: labelled, unlisted, leftOut, gone } = await listProjects(session, projects, wanted, earlier)
  const selected = wanted.flatMap(({ label }) => labelled.filter(run => run.selected && run.label === label))
  requireKnown(choice, selected)
  const notChosen = selected.filter(run => !isChosen(choice, run.id))
  const chosen = selected.filter(run => isChosen(choice, run.id))
  const labels = new Set(wanted.map(w => w.label))
  const now = timeOf(session)
  const others = labelled.filter(run => !run.selected && (labels.has(run.label) || run.label === OTHER_LABEL))
  const excluded = others.slice(0, MAX_LISTED_ONLY).map(run => entryOf(session, run, now, {}))
  const cut = others.length - excluded.length
  const merge = (before: readonly RunEntry[], fetched: readonly RunEntry[]): MergedEntries =>
    mergeEntries(before, { fetched, excluded, labels, projects, fetches: fetch.runs })
  requirePlaces(dir, places.folder, chosen)
  // Checked before rows are requested: the list of runs can be written.
  const checkList = (planned: readonly RunEntry[]): void => {
    checkedRunsText(merge(earlier, planned).entries, join(dir, places.runs))
  }
  const fetched = await fetchChosen(session, chosen, checkList, stop)
  const stopped = [...gone, ...fetched.stopped]
  // Read again, since entries may have been edited meanwhile.
  const latest = await readList()
  const unfetched = [...stopped.map(({ run }) => run), ...notChosen]
  const kept = latest.filter(entry => unfetched.some(run => run.id === entry.id && run.label === entry.label))
  const { entries, replaced, listed } = merge(latest, [...fetched.runs.map(r => r.entry), ...kept])
  const lists = await writeLists(session, entries)
  return { runs: fetched.runs, stopped, notChosen, leftOut, excluded: listed, unlisted: unlisted + cut, replaced, lists }
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

interface Listing extends LabelledRuns {
  /** runs that were fetched before and are renamed or deleted now */
  readonly gone: readonly StoppedRun[]
}

async function listProjects(
  session: FetchContext,
  projects: readonly ProjectName[],
  wanted: readonly FetchRuns[],
  earlier: readonly RunEntry[]
): Promise<Listing> {
  const [runs, leftOut, gone]: [LabelledRun[], LabelledRun[], StoppedRun[]] = [[], [], []]
  let [unlisted, before] = [0, 0]
  for (const where of projects) {
    const here = ({ entity, project }: { readonly entity: string | null; readonly project: string | null }): boolean =>
      entity === where.entity && project === where.project
    const listed = await listRuns(session.ask, where, runs => session.onListed?.(before + runs))
    before += listed.length
    const selections = wanted.filter(here)
    requireSelected(listed, where, selections)
    const isSelected = (run: RunEntry): boolean => selections.some(s => s.label === run.label && s.display_name === run.displayName)
    const missing = goneRuns(
      earlier.filter(run => here(run) && isSelected(run) && isChosen(session.choice, run.id)),
      listed,
      where
    )
    gone.push(...missing.map(({ run: { id, label }, fault }) => ({ run: { id, label, ...where }, fault })))
    const labelled = labelRuns(listed, where, session.fetch.runs.filter(here))
    runs.push(...labelled.runs)
    leftOut.push(...labelled.leftOut)
    unlisted += labelled.unlisted
  }
  return { runs, unlisted, leftOut, gone }
}

async function fetchChosen(
  session: FetchContext,
  chosen: readonly LabelledRun[],
  checkList: (planned: readonly RunEntry[]) => void,
  stop: AbortController
): Promise<{ readonly runs: readonly FetchedRun[]; readonly stopped: readonly StoppedRun[] }> {
  /** The work's result, or the fault that ends this run alone. Any other failure ends the others too. */
  const alone = async <T>(run: LabelledRun, work: Promise<T>): Promise<T | StoppedRun> =>
    work.catch((error: unknown) => {
      if (!(session.signal?.aborted ?? false) && endsRunAlone(error)) return { run, fault: error }
      stop.abort(error)
      throw error
    })
  const plans = await mapLimited(chosen, RUNS_AT_ONCE, run => alone(run, planRun(session, run)))
  const planned = plans.filter(isFetchable)
  const now = timeOf(session)
  checkList(planned.map(plan => plannedEntry(session, plan, now)))
  const expected = planned.reduce((sum, { unchanged, details }) => sum + (unchanged === null ? (details.lineCount ?? 0) : 0), 0)
  const onRows = session.onRows?.(expected)
  let rows = 0
  const count = (more: number): void => {
    rows += more
    onRows?.(rows)
  }
  const outcomes = await mapLimited(planned, RUNS_AT_ONCE, plan => alone(plan.run, fetchPlanned(session, plan, count)))
  const server = addressText(session.address)
  const stopped = [...plans, ...outcomes].filter(isStopped).map(one => ({ ...one, fault: one.fault.at({ file: server }) }))
  return { runs: outcomes.filter(isFetched), stopped }
}

function isStopped(outcome: PlannedRun | FetchedRun | StoppedRun): outcome is StoppedRun {
  return 'fault' in outcome
}

function isFetchable(outcome: PlannedRun | StoppedRun): outcome is PlannedRun {
  return !isStopped(outcome)
}

function isFetched(outcome: FetchedRun | StoppedRun): outcome is FetchedRun {
  return !isStopped(outcome)
}

/** @returns paths of the lists whose text has changed */
async function writeLists({ dir, fetch, places }: FetchContext, entries: readonly RunEntry[]): Promise<string[]> {
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
    { path: places.runs, text: checkedRunsText(entries, join(dir, places.runs)) }
  ]
  const written: string[] = []
  for (const { path, text } of lists) {
    if ((await readText(join(dir, path)).catch(() => null)) === text) continue
    await OutputSet.writeAlone(dir, path, text)
    written.push(path)
  }
  return written
}
