/** The list of runs after a fetch: the fetched runs, and unchanged entries of other labels. */
import { stat } from 'node:fs/promises'
import { Fault } from '../core/errors.js'
import { OTHER_LABEL, type FetchRuns } from '../schema/fetch.js'
import { parseIsoSeconds } from '../ingest/histories/iso-time.js'
import { checkRuns, MAX_RUNS_BYTES, readRuns } from '../ingest/histories/runs.js'
import { readJsonFile } from '../core/strict-json.js'
import { compareCodepoints } from '../core/paths.js'
import type { ProjectName } from './answers.js'

/** An entry of `runs.json`, with fields that another exporter wrote into it. */
export interface RunEntry {
  readonly id: string
  readonly displayName: string
  readonly entity: string | null
  readonly project: string | null
  readonly createdAt: string
  readonly state: string | null
  readonly url: string | null
  readonly fetchedAt: string | null
  readonly label: string
  readonly config: Readonly<Record<string, unknown>>
}

/** The existing entries; none without a file. @throws Fault exit 3: the file is no list of runs */
export async function readRunEntries(path: string): Promise<readonly RunEntry[]> {
  if ((await stat(path).catch(() => null)) === null) return []
  const { runs } = await readRuns(path)
  const { value } = await readJsonFile(path, 'runs', MAX_RUNS_BYTES)
  // readRuns has checked the list. It drops unknown fields, which are kept here.
  const raw = value as ReadonlyArray<Readonly<Record<string, unknown>>>
  return runs.map(({ createdSeconds: _seconds, leftOut: _leftOut, ...run }, i) => ({ ...raw[i], ...run }))
}

export interface FetchedEntries {
  /** runs whose rows are in the study; `fetchedAt` is their certificate's */
  readonly fetched: readonly RunEntry[]
  /** runs that are only listed; an entry that is otherwise unchanged keeps its time */
  readonly excluded: readonly RunEntry[]
  /** labels that were fetched: earlier entries with these labels that are not listed now are dropped */
  readonly labels: ReadonlySet<string>
  /** all runs that the study fetches */
  readonly fetches: readonly FetchRuns[]
  /** projects whose runs were listed */
  readonly projects: readonly ProjectName[]
}

export interface MergedEntries {
  /** oldest run first */
  readonly entries: readonly RunEntry[]
  /** earlier entries that were left out because the same run is now listed under another label */
  readonly replaced: readonly RunEntry[]
  /** the excluded runs that are in the list */
  readonly listed: readonly RunEntry[]
}

/** Merges earlier entries and new ones. A run is listed twice only under two labels that the study fetches. */
export function mergeEntries(earlier: readonly RunEntry[], now: FetchedEntries): MergedEntries {
  const { labels, projects, fetches } = now
  const known = new Set(fetches.map(run => run.label))
  const isListedAnew = (run: RunEntry): boolean =>
    labels.has(run.label) || (run.label === OTHER_LABEL && projects.some(p => run.entity === p.entity && run.project === p.project))
  const kept = earlier.filter(run => !isListedAnew(run))
  const fetchedRuns = byId(now.fetched)
  const replaced = kept.filter(run => !known.has(run.label) && fetchedRuns.has(run))
  const staying = kept.filter(run => !replaced.includes(run))
  const stayingRuns = byId(staying)
  // If two projects have another run with one id, only the first is listed: an id is listed once under a label.
  const places = new Set([...staying, ...now.fetched].map(placeKey))
  const listed = now.excluded.filter(run => {
    const isNew = !fetchedRuns.has(run) && !stayingRuns.has(run) && !places.has(placeKey(run))
    places.add(placeKey(run))
    return isNew
  })
  const before = new Map(earlier.map(run => [placeKey(run), run]))
  const beforeOf = (run: RunEntry): RunEntry | undefined => {
    const found = before.get(placeKey(run))
    return found !== undefined && isOf(found, run) ? found : undefined
  }
  // Fields that others wrote into an entry are kept.
  const completed = (run: RunEntry): RunEntry => ({ ...run, ...withoutOurs(beforeOf(run)) })
  return {
    entries: [...staying, ...now.fetched.map(completed), ...listed.map(run => withEarlierTime(completed(run), beforeOf(run)))].sort(
      byCreation
    ),
    replaced,
    listed
  }
}

function withEarlierTime(entry: RunEntry, before: RunEntry | undefined): RunEntry {
  const same = before !== undefined && JSON.stringify({ ...before, fetchedAt: entry.fetchedAt }) === JSON.stringify(entry)
  return same ? { ...entry, fetchedAt: before.fetchedAt } : entry
}

type ProjectOfEntry = Pick<RunEntry, 'entity' | 'project'>

/** True if the entry is of this entity and project. An entry of another exporter may name neither. */
function isOf(entry: ProjectOfEntry, { entity, project }: ProjectOfEntry): boolean {
  return (entry.entity === null || entry.entity === entity) && (entry.project === null || entry.project === project)
}

/** Tests whether a run is among the given ones, by its id and project. */
function byId(runs: readonly RunEntry[]): { has(run: RunEntry): boolean } {
  const found = new Map<string, RunEntry[]>()
  for (const run of runs) found.set(run.id, [...(found.get(run.id) ?? []), run])
  return { has: run => found.get(run.id)?.some(other => isOf(other, run) || isOf(run, other)) ?? false }
}

const OUR_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'displayName',
  'entity',
  'project',
  'createdAt',
  'state',
  'url',
  'fetchedAt',
  'label',
  'config'
])

function withoutOurs(entry: RunEntry | undefined): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(entry ?? {}).filter(([field]) => !OUR_FIELDS.has(field)))
}

/** An entry without fields that another exporter wrote into it. */
export function ownFields({ id, displayName, entity, project, createdAt, state, url, fetchedAt, label, config }: RunEntry): RunEntry {
  return { id, displayName, entity, project, createdAt, state, url, fetchedAt, label, config }
}

function placeKey({ label, id }: RunEntry): string {
  return JSON.stringify([label, id])
}

function byCreation(a: RunEntry, b: RunEntry): number {
  const [first, second] = [secondsOf(a), secondsOf(b)]
  return first === second ? compareCodepoints(a.id, b.id) : first - second
}

function secondsOf({ createdAt, id }: RunEntry): number {
  const seconds = parseIsoSeconds(createdAt)
  if (seconds !== null) return seconds
  throw new Fault({ format: 'wandb', problem: 'wrong field', found: `createdAt of run ${id}`, expected: 'a time' })
}

/** The text of a list of runs, checked by its reader. @throws Fault exit 3: an entry that no list of runs can hold */
export function checkedRunsText(entries: readonly RunEntry[], path: string): string {
  const text = runsText(entries)
  checkRuns(JSON.parse(text), Buffer.byteLength(text), path)
  return text
}

/** The text of a list of runs. */
export function runsText(entries: readonly RunEntry[]): string {
  return `${JSON.stringify(entries, null, 1)}\n`
}
