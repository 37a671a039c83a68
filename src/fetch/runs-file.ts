/** The list of runs as a fetch leaves it: what it fetched, and the entries of other labels as they were. */
import { stat } from 'node:fs/promises'
import { Fault } from '../core/errors.js'
import { OTHER_LABEL, type FetchRuns } from '../schema/fetch.js'
import { parseIsoSeconds } from '../ingest/histories/iso-time.js'
import { checkRuns, MAX_RUNS_BYTES, readRuns } from '../ingest/histories/runs.js'
import { readJsonFile } from '../core/strict-json.js'
import { compareCodepoints } from '../core/paths.js'
import type { ProjectName } from './answers.js'

/** An entry of `runs.json`, with whatever else another exporter wrote into it. */
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

/** The entries that are there; none where there is no file. @throws Fault exit 3: anything else than a list of runs */
export async function readRunEntries(path: string): Promise<readonly RunEntry[]> {
  if (await stat(path).catch(() => null) === null) return []
  const { runs } = await readRuns(path)
  const { value } = await readJsonFile(path, 'runs', MAX_RUNS_BYTES)
  // Checked by readRuns, which drops fields that it does not know.
  const raw = value as ReadonlyArray<Readonly<Record<string, unknown>>>
  return runs.map(({ createdSeconds: _seconds, leftOut: _leftOut, ...run }, i) => ({ ...raw[i], ...run }))
}

export interface FetchedEntries {
  /** runs whose rows are here; the time is their certificate's */
  readonly fetched: readonly RunEntry[]
  /** runs that are only listed; one that says the same as before keeps its time */
  readonly excluded: readonly RunEntry[]
  /** labels that were fetched: what was listed under them before and is no more is left out */
  readonly labels: ReadonlySet<string>
  /** all that the study fetches */
  readonly fetches: readonly FetchRuns[]
  /** projects whose runs were listed */
  readonly projects: readonly ProjectName[]
}

export interface MergedEntries {
  /** oldest run first */
  readonly entries: readonly RunEntry[]
  /** earlier entries that were left out since the same run is listed under another label now */
  readonly replaced: readonly RunEntry[]
  /** of the excluded ones those that stand in the list */
  readonly listed: readonly RunEntry[]
}

/** Earlier entries and new ones as one list. No run is listed twice but under two labels that the study fetches. */
export function mergeEntries(earlier: readonly RunEntry[], now: FetchedEntries): MergedEntries {
  const { labels, projects, fetches } = now
  const known = new Set(fetches.map(run => run.label))
  const isListedAnew = (run: RunEntry): boolean => (
    labels.has(run.label) || (run.label === OTHER_LABEL && projects.some(p => run.entity === p.entity && run.project === p.project))
  )
  const kept = earlier.filter(run => !isListedAnew(run))
  const fetchedRuns = byId(now.fetched)
  const replaced = kept.filter(run => !known.has(run.label) && fetchedRuns.has(run))
  const staying = kept.filter(run => !replaced.includes(run))
  const stayingRuns = byId(staying)
  // Of two projects' other runs with one id the first stands for both: an id is listed once under a label.
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
  // Fields that others wrote into an entry stay in it.
  const completed = (run: RunEntry): RunEntry => ({ ...run, ...withoutOurs(beforeOf(run)) })
  return {
    entries: [
      ...staying, ...now.fetched.map(completed), ...listed.map(run => withEarlierTime(completed(run), beforeOf(run)))
    ].sort(byCreation),
    replaced,
    listed
  }
}

function withEarlierTime(entry: RunEntry, before: RunEntry | undefined): RunEntry {
  const same = before !== undefined && JSON.stringify({ ...before, fetchedAt: entry.fetchedAt }) === JSON.stringify(entry)
  return same ? { ...entry, fetchedAt: before.fetchedAt } : entry
}

type Place = Pick<RunEntry, 'entity' | 'project'>

/** Another exporter's entry may name neither. */
function isOf(entry: Place, { entity, project }: Place): boolean {
  return (entry.entity === null || entry.entity === entity) && (entry.project === null || entry.project === project)
}

/** Whether a run is among some, by its id and project. */
function byId(runs: readonly RunEntry[]): { has(run: RunEntry): boolean } {
  const found = new Map<string, RunEntry[]>()
  for (const run of runs) found.set(run.id, [...found.get(run.id) ?? [], run])
  return { has: run => found.get(run.id)?.some(other => isOf(other, run) || isOf(run, other)) ?? false }
}

const OUR_FIELDS: ReadonlySet<string> = new Set([
  'id', 'displayName', 'entity', 'project', 'createdAt', 'state', 'url', 'fetchedAt', 'label', 'config'
])

function withoutOurs(entry: RunEntry | undefined): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(entry ?? {}).filter(([field]) => !OUR_FIELDS.has(field)))
}

/** An entry without what another exporter wrote into it. */
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

/** The same, once what reads it has read it. @throws Fault exit 3: what no list of runs can hold */
export function checkedRunsText(entries: readonly RunEntry[], path: string): string {
  const text = runsText(entries)
  checkRuns(JSON.parse(text), Buffer.byteLength(text), path)
  return text
}

/** The text of a list of runs. */
export function runsText(entries: readonly RunEntry[]): string {
  return `${JSON.stringify(entries, null, 1)}\n`
}
