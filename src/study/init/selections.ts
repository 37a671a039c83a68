/**
 * The selections of a draft: one for each display name. Runs with one display name that are not one curve (another
 * project, the same run exported under two labels) are separated by fields that a study can state. Runs that cannot be
 * selected are left out with a reason.
 */
import { Fault, printable } from '../../core/errors.js'
import { fileChunks } from '../../core/still-file.js'
import { historyText } from '../../ingest/histories/history.js'
import { compareCreation } from '../../ingest/histories/iso-time.js'
import type { ListedRun } from '../../ingest/histories/types.js'
import { compareCodepoints } from '../../core/paths.js'
import { emptySample, sampleRows, type RowSample } from './row-keys.js'
import { reasonOf, type SurveyedRun } from './survey.js'
import { nameLike, titleLike } from './words.js'

/** Suffix of runs that a launcher starts beside the training run. */
export const COMPANION_SUFFIX = '-trainnode'

export const LOOK_CHUNK = 64 * 1024

/** Most selections. A study with more curves is written by hand. */
export const MAX_SELECTIONS = 100

export interface DraftSelection {
  readonly name: string
  readonly title: string
  readonly display_name: string
  readonly entity: string | null
  readonly project: string | null
  readonly label: string | null
  readonly runs: readonly SurveyedRun[]
  readonly sample: RowSample
}

export interface DraftSelections {
  /** ordered by the creation of their first run */
  readonly selections: readonly DraftSelection[]
  /** display names, each once, ordered by code point */
  readonly companions: readonly string[]
  /** one line each: what has no selection, and why */
  readonly leftOut: readonly string[]
}

export interface SelectionOptions {
  readonly signal?: AbortSignal | undefined
  /** called with the number of histories looked at so far */
  readonly onHistory?: ((done: number) => void) | undefined
}

/** Looks at the first rows of every history that a selection takes. */
export async function draftSelections(runs: readonly SurveyedRun[], options: SelectionOptions = {}): Promise<DraftSelections> {
  const displayNames = new Set(runs.map(({ run }) => run.displayName))
  const isCompanion = ({ displayName }: ListedRun): boolean =>
    displayName.endsWith(COMPANION_SUFFIX) && displayNames.has(displayName.slice(0, -COMPANION_SUFFIX.length))
  const companions = new Set(runs.filter(({ run }) => isCompanion(run)).map(({ run }) => run.displayName))
  const leftOut: string[] = []
  const groups = groupBy(
    runs.filter(({ run }) => !isCompanion(run)),
    ({ run }) => run.displayName
  )
  const curves = [...groups.values()]
    .flatMap(group => curvesOf(group, leftOut))
    .sort((a, b) => compareCreation(firstOf(a.runs), firstOf(b.runs)))
  const names = new Set<string>()
  const titles = new Set<string>()
  const selections: DraftSelection[] = []
  let looked = 0
  for (const curve of curves) {
    if (selections.length === MAX_SELECTIONS) {
      leftOut.push(`${shown(curve.display_name)}: more than ${MAX_SELECTIONS} selections`)
      continue
    }
    const sample = emptySample()
    const problem = await lookAt(curve.runs, sample, options, () => options.onHistory?.(++looked))
    if (problem !== null) leftOut.push(`${shown(curve.display_name)}: ${problem}`)
    else {
      selections.push({
        ...curve,
        sample,
        name: nameLike(curve.display_name, 'run', names),
        title: titleLike(curve.display_name, 'run', titles)
      })
    }
  }
  return { selections, companions: [...companions].sort(compareCodepoints), leftOut: [...new Set(leftOut)] }
}

/** Adds the runs' first rows to the sample. Returns why they are no curve; null if they are one. */
async function lookAt(
  runs: readonly SurveyedRun[],
  sample: RowSample,
  { signal }: SelectionOptions,
  onHistory: () => void
): Promise<string | null> {
  for (const { history, problem } of runs) {
    if (history === null) return problem
    signal?.throwIfAborted()
    try {
      const chunks = fileChunks(history.real, { chunkSize: LOOK_CHUNK, ...(signal === undefined ? {} : { signal }) })
      await sampleRows(historyText(history.path, chunks), sample)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return `${printable(history.path, 400)}: ${reasonOf(error)}`
    }
    onHistory()
  }
  return sample.keys.size === 0 ? 'no row with a number' : null
}

function shown(text: string): string {
  return printable(JSON.stringify(text))
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group === undefined) groups.set(key(item), [item])
    else group.push(item)
  }
  return groups
}

/** The run that was created first. @param runs at least one */
function firstOf(runs: readonly SurveyedRun[]): ListedRun {
  return runs.reduce((first, { run }) => (compareCreation(run, first) < 0 ? run : first), runs[0].run)
}

type CurveDraft = Pick<DraftSelection, 'display_name' | 'entity' | 'project' | 'label' | 'runs'>

/** Splits the runs of one display name by entity and project, and by label if a run is listed twice. */
function curvesOf(group: readonly SurveyedRun[], leftOut: string[]): CurveDraft[] {
  const owners = groupBy(group, ({ run }) => JSON.stringify([run.entity, run.project]))
  return [...owners.values()].flatMap((owned): CurveDraft[] => {
    const [
      {
        run: { displayName: display_name, entity, project }
      }
    ] = owned
    const several = owners.size > 1
    // In a study null means any, so such a part would take the others' runs too.
    const taken = [...owners.values()].filter(
      ([{ run }]) => (entity ?? run.entity) === run.entity && (project ?? run.project) === run.project
    )
    if (taken.length > 1) {
      const stated = [entity === null ? 'entity' : '', project === null ? 'project' : ''].filter(part => part !== '').join(' and no ')
      leftOut.push(`${shown(display_name)}: runs that state no ${stated} cannot be told from others of this name`)
      return []
    }
    const owner = several ? { entity, project } : { entity: null, project: null }
    const twice = new Set(owned.map(({ run }) => run.id)).size < owned.length
    if (!twice) return [{ display_name, ...owner, label: null, runs: owned }]
    return [...groupBy(owned, ({ run }) => run.label)].map(([label, runs]): CurveDraft => ({ display_name, ...owner, label, runs }))
  })
}
