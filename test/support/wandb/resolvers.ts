/**
 * Answers of the schema's fields. Sampling is the point: `history` gives every row of a window only where `samples` (500 if
 * absent) is at least their number, otherwise that many at random, so a client that asks wrongly loses rows here too.
 */
import { GraphQLError } from 'graphql'
import type { Random } from '../random.js'
import { cursorAfter, placeOf, selectRuns, type Selection } from './listing.js'
import { parseRow, sample } from './rows.js'
import { find, type Behaviour } from './script.js'
import { configText, type Store, type StoredProject, type StoredRun } from './store.js'

export interface Context {
  readonly store: Store
  readonly random: Random
  readonly behaviours: readonly Behaviour[]
  /** most runs that one page holds, whatever `first` says */
  readonly pageCap: number
}

const DEFAULT_SAMPLES = 500

/** The SDK asks for pages of 50 runs. */
const DEFAULT_PAGE = 50

interface HistoryArguments {
  readonly minStep?: number | null
  readonly maxStep?: number | null
  readonly samples?: number | null
}

interface ProjectArguments {
  readonly name?: string | null
  readonly entityName?: string | null
}

interface SampledArguments {
  readonly specs: readonly string[]
}

interface RunsArguments extends Selection {
  readonly after?: string | null
  readonly first?: number | null
}

function positions(first: number, end: number): number[] {
  return Array.from({ length: end - first }, (_, k) => first + k)
}

function sampleCount(samples: number | null | undefined): number {
  const count = samples ?? DEFAULT_SAMPLES
  if (count < 0) throw new GraphQLError('samples: must not be negative')
  return count
}

function history({ history }: StoredRun, args: HistoryArguments, { random, behaviours }: Context): readonly string[] {
  const [first, end] = history.window(args.minStep ?? -Infinity, args.maxStep ?? Infinity)
  let page = sample(positions(first, end), sampleCount(args.samples), random)
  if (find(behaviours, 'emptyPage')) return []
  if (find(behaviours, 'missingRow')) page = page.filter((_, k) => k !== page.length >> 1)
  if (find(behaviours, 'duplicateRows') && history.length > 0) {
    page = first > 0 ? [first - 1, ...page] : [...page, Math.min(end, history.length - 1)]
  }
  if (find(behaviours, 'outOfOrder')) {
    const shuffled = random.shuffle(page)
    page = shuffled.every((position, k) => position === page[k]) ? page.toReversed() : shuffled
  }
  return page.map(position => history.text(position))
}

function sampledHistory({ history }: StoredRun, { specs }: SampledArguments, { random }: Context): unknown[] {
  return specs.map(text => {
    const spec: unknown = JSON.parse(text)
    const { keys, minStep, maxStep, samples } = spec as { keys?: unknown } & HistoryArguments
    if (!Array.isArray(keys) || keys.length === 0) throw new GraphQLError('specs: no keys')
    const names = keys.map(String)
    const [first, end] = history.window(minStep ?? -Infinity, (maxStep ?? Infinity) + 1)
    // only rows that have every key: how users lose sparse metrics (wandb/wandb issue 5391)
    const whole = positions(first, end).filter(position => {
      const row = parseRow(history.text(position))
      return names.every(name => Object.hasOwn(row, name))
    })
    return sample(whole, sampleCount(samples), random).map(position => {
      const row = parseRow(history.text(position))
      return Object.fromEntries(names.map(name => [name, row[name]]))
    })
  })
}

function runAnswer(run: StoredRun): Readonly<Record<string, unknown>> {
  const { history: rows, name, entity, project } = run
  return {
    id: Buffer.from(`Run:v1:${name}:${project}:${entity}`).toString('base64'),
    name,
    displayName: run.displayName,
    state: run.state,
    user: { name: entity, username: entity },
    createdAt: run.createdAt,
    heartbeatAt: run.heartbeatAt,
    config: () => configText(run.config),
    summaryMetrics: () => JSON.stringify(rows.summary()),
    historyLineCount: rows.length,
    // a run that logged nothing has none
    historyKeys: () => (rows.lastStep === null ? null : { sets: [], lastStep: rows.lastStep, keys: rows.keyFacts() }),
    history: (args: HistoryArguments, context: Context) => history(run, args, context),
    sampledHistory: (args: SampledArguments, context: Context) => sampledHistory(run, args, context)
  }
}

function runsPage(project: StoredProject, args: RunsArguments, { behaviours, pageCap }: Context): unknown {
  const runs = selectRuns(project.runs, args)
  const { at, run, visit } = placeOf(args.after, runs)
  const first = args.first ?? DEFAULT_PAGE
  if (first < 0) throw new GraphQLError('first: must not be negative')
  if (find(behaviours, 'emptyPage')) {
    return { edges: [], pageInfo: { endCursor: cursorAfter(run, visit + 1), hasNextPage: true } }
  }
  const end = Math.min(runs.length, at + Math.min(first, pageCap))
  const edges = runs.slice(at, end).map(run => ({ node: runAnswer(run), cursor: cursorAfter(run.name) }))
  return { edges, pageInfo: { endCursor: edges.at(-1)?.cursor ?? null, hasNextPage: end < runs.length } }
}

function projectAnswer(project: StoredProject): Readonly<Record<string, unknown>> {
  return {
    id: Buffer.from(`Project:v1:${project.name}:${project.entity}`).toString('base64'),
    name: project.name,
    entityName: project.entity,
    runCount: (args: Selection) => selectRuns(project.runs, args).length,
    run: ({ name }: { readonly name: string }, { behaviours }: Context) => {
      const run = find(behaviours, 'nullRun') ? undefined : project.runs.find(run => run.name === name)
      return run === undefined ? null : runAnswer(run)
    },
    runs: (args: RunsArguments, context: Context) => runsPage(project, args, context)
  }
}

/** The root of a query. A forbidden project is an error with `extensions.status` 403. */
export const root = {
  project: ({ name, entityName }: ProjectArguments, { store, behaviours }: Context) => {
    if (find(behaviours, 'nullProject')) return null
    const project = store.project(entityName ?? '', name ?? '')
    if (project === null) return null
    if (project.forbidden) {
      throw new GraphQLError('permission denied', { extensions: { code: 'PERMISSION_ERROR', status: 403 } })
    }
    return projectAnswer(project)
  }
}
