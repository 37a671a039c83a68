/** What the command line tells `fetch` alone: where runs come from and go to, which of them, how long it may take. */
import { printable } from '../core/errors.js'
import type { OptionValues } from './options.js'
import { folder, usage } from './usage.js'

/** What a fetch into a folder without a study is to get. */
export interface FetchTarget {
  readonly entity: string
  readonly project: string
  /** display names; none: those of the runs that are named by their ids */
  readonly names: readonly string[]
}

export interface FetchTold {
  /** folder of the study, or the folder that is to become one */
  readonly study: string
  /** null: the study says which runs */
  readonly into: FetchTarget | null
  /** ids of the runs to fetch; null: all that are selected */
  readonly ids: readonly string[] | null
  /** ids of runs that are not fetched */
  readonly notIds: readonly string[]
  /** one label of the study's fetch.runs; null: all */
  readonly only: string | null
  /** null: WANDB_BASE_URL, else W&B's own */
  readonly baseUrl: string | null
  readonly deadlineMinutes: number
}

const DEFAULT_DEADLINE_MINUTES = 60
/** A week. */
const MAX_DEADLINE_MINUTES = 10_080

/** Most display names or ids of a command line. */
const MAX_CHOSEN = 1000

export function fetchOptions([path, ...names]: readonly string[], values: OptionValues): FetchTold {
  const [study, dir] = [folder('study', values.study), folder('into', values.into)]
  const { only = null, 'base-url': baseUrl = null, deadline, run: ids = null, 'not-run': notIds = [] } = values
  if (study !== null && dir !== null) throw usage('contradiction', '--study and --into', 'one of them')
  const place = study ?? dir
  if (place === null) throw usage('no study', 'fetch without --study and --into', 'ENTITY/PROJECT NAME… --into DIR, or --study DIR')
  if (study !== null && path !== undefined)
    throw usage('unexpected argument', printable(path), 'no argument with --study, which says what to fetch')
  if (dir !== null && only !== null) throw usage('contradiction', '--into and --only', 'one of them: --only is a label of a study')
  for (const [option, chosen] of [
    ['NAME', names],
    ['--run', ids ?? []],
    ['--not-run', notIds]
  ] as const) {
    if (chosen.includes('')) throw usage(`wrong ${option}`, '""', 'a text')
    if (chosen.length > MAX_CHOSEN) throw usage(`too many ${option}`, String(chosen.length), `at most ${MAX_CHOSEN}`)
  }
  const both = notIds.find(id => ids?.includes(id) ?? false)
  if (both !== undefined) throw usage('contradiction', `--run and --not-run ${printable(both)}`, 'one of them')
  const deadlineMinutes = deadline === undefined ? DEFAULT_DEADLINE_MINUTES : /^\d{1,5}$/.test(deadline) ? Number(deadline) : NaN
  if (deadline !== undefined && !(deadlineMinutes >= 1 && deadlineMinutes <= MAX_DEADLINE_MINUTES)) {
    throw usage('wrong --deadline', printable(deadline), `minutes, an integer from 1 to ${MAX_DEADLINE_MINUTES}`)
  }
  const into = dir === null ? null : fetchTarget(path, names, ids !== null)
  return { study: place, into, ids, notIds, only, baseUrl, deadlineMinutes }
}

function fetchTarget(path: string | undefined, names: readonly string[], namesRuns: boolean): FetchTarget {
  const [entity = '', project = '', ...rest] = (path ?? '').split('/')
  if (entity === '' || project === '' || rest.length > 0 || entity.length > 200 || project.length > 200) {
    throw usage('wrong project', path === undefined ? 'nothing' : printable(path), 'ENTITY/PROJECT, as in the address of its page')
  }
  if (names.length === 0 && !namesRuns) throw usage('no run', 'neither NAME nor --run', 'display names of runs, or --run ID')
  return { entity, project, names }
}
