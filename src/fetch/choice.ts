/** Which runs of a project are fetched: by display name as the study states it, and by id as the study or the command line says. */
import { EXIT, Fault, printableId } from '../core/errors.js'
import { OTHER_LABEL, type FetchRuns } from '../schema/fetch.js'
import { nameLike } from '../study/init/words.js'
import { projectPath, type ListedName, type ProjectName } from './answers.js'

/** Runs that a command line names by their ids. */
export interface RunChoice {
  /** null: all that the study selects */
  readonly ids: readonly string[] | null
  readonly notIds: readonly string[]
}

export const EVERY_RUN: RunChoice = { ids: null, notIds: [] }

/** True if the selection, which has the run's display name, takes the run. */
export function takes({ ids, not_ids: notIds }: Pick<FetchRuns, 'ids' | 'not_ids'>, id: string): boolean {
  return (ids?.includes(id) ?? true) && !notIds.includes(id)
}

export function isChosen({ ids, notIds }: RunChoice, id: string): boolean {
  return takes({ ids, not_ids: notIds }, id)
}

/** @throws Fault exit 2: an id of the choice that no selected run has */
export function requireKnown({ ids, notIds }: RunChoice, selected: ReadonlyArray<{ readonly id: string }>): void {
  const known = new Set(selected.map(({ id }) => id))
  const unknown = [...(ids ?? []), ...notIds].find(id => !known.has(id))
  if (unknown === undefined) return
  throw new Fault({
    format: 'usage',
    problem: 'unknown run',
    found: `${printableId(unknown)} is none of ${known.size} selected runs`,
    expected: 'the id of a run that has one of the names, as its address ends',
    exitCode: EXIT.usage
  })
}

/**
 * The selections of a study that is being drafted: one for each name, with the ids of the choice where it names any.
 *
 * @param names display names; none: those of the runs that the choice names
 * @param listed runs of the project; null: they were not asked for, since the choice names none
 */
export function draftedRuns(
  where: ProjectName,
  names: readonly string[],
  choice: RunChoice,
  listed: readonly ListedName[] | null
): readonly FetchRuns[] {
  const chosen = (listed ?? []).filter(run => choice.ids?.includes(run.id) ?? false)
  const wanted = names.length > 0 ? [...new Set(names)] : [...new Set(chosen.map(run => run.displayName))]
  if (listed !== null) {
    // Without names any run may be the one that is left out.
    requireKnown(choice, names.length > 0 ? listed.filter(run => wanted.includes(run.displayName)) : listed)
  }
  const labels = new Set<string>([OTHER_LABEL])
  const runs = wanted.flatMap((displayName): FetchRuns[] => {
    const own = (listed ?? []).filter(run => run.displayName === displayName).map(run => run.id)
    const ids = choice.ids === null ? null : choice.ids.filter(id => own.includes(id))
    // With --run, a name without one of these ids has nothing to fetch.
    if (ids?.length === 0) return []
    const not_ids = choice.notIds.filter(id => own.includes(id))
    return [{ label: nameLike(displayName, 'run', labels), ...where, display_name: displayName, ids, not_ids }]
  })
  if (runs.length > 0) return runs
  throw new Fault({
    format: 'usage',
    problem: 'no run chosen',
    found: `no name and no --run of ${projectPath(where)}`,
    expected: 'a display name or --run ID',
    exitCode: EXIT.usage
  })
}
