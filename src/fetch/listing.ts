/** Lists all runs of a project, page by page, and selects runs by their display names. */
import { EXIT, Fault, nearest, printable, printableId } from '../core/errors.js'
import { OTHER_LABEL, type FetchRuns } from '../schema/fetch.js'
import { takes } from './choice.js'
import { MAX_NAME_LENGTH, projectPath, readRunsPage, type ListedName, type ProjectName } from './answers.js'
import type { Ask } from './history.js'
import { RUNS_QUERY } from './queries.js'
import type { RunEntry } from './runs-file.js'

const RUNS_PER_PAGE = 100

/** Most runs of a project. */
const MAX_RUNS = 100_000

/** Most companions of a project that are listed; other runs are listed if they fit too. The remaining runs are counted. */
const MAX_LISTED_ONLY = 1000

/** Most consecutive pages without a new run. */
const MAX_IDLE_PAGES = 100

export interface LabelledRun extends ListedName, ProjectName {
  readonly label: string
  /** true if its display name is exactly the selected one, and its id is not left out */
  readonly selected: boolean
}

/** Every run of a project, oldest first. @throws Fault if the pages repeat */
export async function listRuns(ask: Ask, where: ProjectName, onListed?: (runs: number) => void): Promise<ListedName[]> {
  const runs = new Map<string, ListedName>()
  const cursors = new Set<string>()
  let idle = 0
  let after: string | null = null
  do {
    const variables = { entity: where.entity, project: where.project, first: RUNS_PER_PAGE, after, order: '+created_at' }
    const page = readRunsPage(await ask(RUNS_QUERY, variables, `runs of ${projectPath(where)}`), where)
    const before = runs.size
    for (const run of page.runs) runs.set(run.id, run)
    idle = runs.size === before ? idle + 1 : 0
    if (idle > MAX_IDLE_PAGES) throw wrongPages(where, `${idle} pages without a new run`)
    onListed?.(runs.size)
    after = page.next
    if (after !== null && cursors.has(after)) throw wrongPages(where, 'a cursor that was given before')
    if (after !== null) cursors.add(after)
    if (runs.size > MAX_RUNS) throw wrongPages(where, `more than ${MAX_RUNS} runs`)
  } while (after !== null)
  return [...runs.values()]
}

function wrongPages(where: ProjectName, found: string): Fault {
  return new Fault({ format: 'wandb', problem: 'endless list', found, expected: `an end of the runs of ${projectPath(where)}` })
}

export interface LabelledRuns {
  readonly runs: readonly LabelledRun[]
  /** number of runs that are not selected, and too many or with too long a name to list */
  readonly unlisted: number
  /** runs of a selected name that the study leaves out by their ids; a list of runs with them would select them */
  readonly leftOut: readonly LabelledRun[]
}

/** @throws Fault exit 3: a selection without a run */
export function requireSelected(listed: readonly ListedName[], where: ProjectName, selections: readonly FetchRuns[]): void {
  for (const selection of selections) {
    if (!listed.some(run => run.displayName === selection.display_name)) throw emptySelection(listed, where, selection)
  }
}

/** @param selections all selections of this project: a run that one of them selects is no companion */
export function labelRuns(listed: readonly ListedName[], where: ProjectName, selections: readonly FetchRuns[]): LabelledRuns {
  const { entity, project } = where
  const all = listed.map((run): LabelledRun => {
    const exact = selections.find(s => s.display_name === run.displayName)
    const { label } = exact ?? companionOf(run, selections) ?? { label: OTHER_LABEL }
    return { ...run, entity, project, label, selected: exact !== undefined && takes(exact, run.id) }
  })
  const isLeftOut = (run: LabelledRun): boolean => !run.selected && selections.some(s => s.display_name === run.displayName)
  const leftOut = all.filter(isLeftOut)
  const labelled = all.filter(run => !isLeftOut(run))
  const fits = labelled.filter(run => run.displayName.length <= MAX_NAME_LENGTH)
  const companions = fits.filter(run => !run.selected && run.label !== OTHER_LABEL).slice(0, MAX_LISTED_ONLY)
  const others = fits.filter(run => run.label === OTHER_LABEL)
  const listedOthers = others.length + companions.length <= MAX_LISTED_ONLY ? others : []
  const kept = new Set([...labelled.filter(run => run.selected), ...companions, ...listedOthers])
  return { runs: labelled.filter(run => kept.has(run)), unlisted: labelled.length - kept.size, leftOut }
}

/** `name-trainnode` is a companion of `name`. If several names fit, the longest counts. */
function companionOf({ displayName }: ListedName, selections: readonly FetchRuns[]): FetchRuns | undefined {
  const fitting = selections.filter(
    ({ display_name: name }) => displayName.startsWith(name) && /^[^\p{L}\p{N}]/u.test(displayName.slice(name.length))
  )
  return fitting.sort((a, b) => b.display_name.length - a.display_name.length)[0]
}

function emptySelection(listed: readonly ListedName[], where: ProjectName, { display_name: name }: FetchRuns): Fault {
  const near = nearest(name, [...new Set(listed.map(run => run.displayName))])
  const hint = near === null ? '' : `; did you mean ${printable(JSON.stringify(near))}?`
  return new Fault({
    format: 'wandb',
    problem: 'empty selection',
    found: `none of ${listed.length} runs of ${projectPath(where)} has the display name ${printable(JSON.stringify(name))}`,
    expected: `at least one with exactly this name${hint}`
  })
}

/**
 * The fault (exit 1) of each run that was fetched under a selection before, and has another name now or no longer exists.
 *
 * @param earlier entries of such runs
 */
export function goneRuns(
  earlier: readonly RunEntry[],
  listed: readonly ListedName[],
  where: ProjectName
): ReadonlyArray<{ readonly run: RunEntry; readonly fault: Fault }> {
  return earlier.flatMap(run => {
    const now = listed.find(({ id }) => id === run.id)
    if (now?.displayName === run.displayName) return []
    const before = `fetched ${printable(run.fetchedAt ?? 'earlier')}`
    const goOn = 'to go on without it, remove its entry from the list of runs (histories.runs), its history and its certificate'
    if (now !== undefined) return [{ run, fault: renamedRun(run, before, now.displayName, `; ${goOn}`) }]
    const fault = new Fault({
      format: 'wandb',
      problem: 'deleted run',
      found: `${namedBefore(run, before)}, is gone from ${projectPath(where)}`,
      expected: `it there; ${goOn}`,
      exitCode: EXIT.checkFailed
    })
    return [{ run, fault }]
  })
}

/** @param expected text behind `the same name` */
export function renamedRun(run: Pick<RunEntry, 'id' | 'displayName'>, before: string, now: string, expected: string): Fault {
  return new Fault({
    format: 'wandb',
    problem: 'renamed run',
    found: `${namedBefore(run, before)}, is now ${printable(JSON.stringify(now))}`,
    expected: `the same name${expected}`,
    exitCode: EXIT.checkFailed
  })
}

function namedBefore({ id, displayName }: Pick<RunEntry, 'id' | 'displayName'>, before: string): string {
  return `${printableId(id)}, ${before} as ${printable(JSON.stringify(displayName))}`
}
