/**
 * The section of a study on the origin of its histories: which runs of which projects, which configuration fields, which
 * further lists. It does not state the server: a study from elsewhere must not be able to send the user's key to a host of
 * its choice.
 */
import { list, nullable, object, text, type Infer } from '../core/checker.js'
import { relativePath } from '../core/path-kinds.js'
import { configKey } from './config-key.js'
import { studyName } from './names.js'

/** Label of a project's runs that no selection takes and whose names do not begin with a selected one. */
export const OTHER_LABEL = 'other'

/** Where a study that states no histories yet gets its list of runs and its histories. */
export const FETCHED_PLACES = { runs: 'wandb/runs.json', folder: 'wandb/history' } as const

/**
 * Integer steps of one request where rows are dense, and samples requested. With fewer samples than rows the server picks rows
 * at random. Where rows are sparse a request covers more steps.
 */
export const STEPS_PER_REQUEST = 100
export const SAMPLES_PER_REQUEST = 1000

const fetchRuns = object({
  label: {
    kind: studyName,
    doc: 'Folder of their histories below `histories.folder`, and their label in the list of runs; another one for each, not `other`; a curve of two display names is two labels.'
  },
  entity: { kind: text(200), doc: 'Owner of the project.' },
  project: { kind: text(200), doc: 'Project.' },
  display_name: { kind: text(), doc: 'Exact display name; every run that has it is fetched, but for what `ids` and `not_ids` say.' },
  ids: { kind: nullable(list(text(200), 1)), doc: 'Ids of the runs of this name that are fetched; null: all.', default: null },
  not_ids: { kind: list(text(200)), doc: 'Ids of runs of this name that are not fetched.', default: [] }
})

const runsView = object({
  path: { kind: relativePath, doc: 'File, relative to the study.' },
  labels: { kind: list(studyName, 1), doc: 'Labels whose entries stand in it.' }
})

export const FETCH = object({
  runs: {
    kind: list(fetchRuns, 1),
    doc: 'Runs to fetch.'
  },
  config: {
    kind: list(configKey),
    doc: 'Configuration fields that are kept, with dots between nested names. No other one leaves the answer; names that look like secrets are refused.',
    default: []
  },
  views: {
    kind: list(runsView),
    doc: 'Further lists of runs, each with the entries of some labels.',
    default: []
  }
})

/** All runs of a project that have exactly this display name, or those of them that are named by their ids. */
export type FetchRuns = Infer<typeof fetchRuns>

/** A further list of runs with the entries of some labels. */
export type RunsView = Infer<typeof runsView>

export type FetchStudy = Infer<typeof FETCH>
