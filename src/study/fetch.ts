/**
 * The study file's section on fetching: which runs of which projects, which configuration fields, which further lists.
 * Its type is `FetchStudy` of the shared schema. It does not state the server: a study from elsewhere must not be able to
 * send the user's key to a host of its choice.
 */
import { OTHER_LABEL, type FetchStudy } from '../schema/fetch.js'
import {
  list, nullable, object, pattern, refine, relativePath, text, type CheckContext, type Field, type Kind
} from '../core/checker.js'
import { configKey } from './config-key.js'
import { CrossChecks, fold } from './cross-checks.js'
import { canonicalRelative } from '../core/paths.js'
import { NAME_PATTERN } from './histories.js'

const label = pattern('a name: a lower-case letter, then lower-case letters, digits, "_" and "-", at most 64', NAME_PATTERN)

const section: Kind<FetchStudy> = object({
  runs: {
    kind: list(object({
      label: { kind: label, doc: 'Folder of their histories below `histories.folder`, and their label in the list of runs; another one for each, not `other`; a curve of two display names is two labels.' },
      entity: { kind: text(200), doc: 'Owner of the project.' },
      project: { kind: text(200), doc: 'Project.' },
      display_name: { kind: text(), doc: 'Exact display name; every run that has it is fetched.' }
    }), 1),
    doc: 'Runs to fetch.'
  },
  config: {
    kind: list(configKey),
    doc: 'Configuration fields that are kept, with dots between nested names. No other one leaves the answer; names that look like secrets are refused.',
    default: []
  },
  views: {
    kind: list(object({
      path: { kind: relativePath, doc: 'File, relative to the study.' },
      labels: { kind: list(label, 1), doc: 'Labels whose entries stand in it.' }
    })),
    doc: 'Further lists of runs, each with the entries of some labels.',
    default: []
  }
})

export const fetchSection: Field<FetchStudy | null> = {
  doc: 'Where the training histories are fetched from.',
  kind: nullable<FetchStudy>(refine(section, (study, at, context) => {
    checkFetch(study, at, context)
    return study
  })),
  default: null
}

function checkFetch({ runs, config, views }: FetchStudy, at: string, context: CheckContext): void {
  const checks = new CrossChecks(context)
  const labels = runs.map(r => r.label)
  checks.unique(labels.map((value, i) => ({ at: `${at}.runs[${i}].label`, value })))
  labels.forEach((value, i) => checks.free(`${at}.runs[${i}].label`, value, [OTHER_LABEL], 'runs that are not selected,'))
  runs.forEach(({ entity, project, display_name: name }, i) => {
    const same = runs.findIndex(r => r.entity === entity && r.project === project && r.display_name === name)
    if (same < i) checks.refuse('stated twice', `${at}.runs[${i}] selects the runs of ${at}.runs[${same}]`, 'other runs for each label')
  })
  checks.unique(config.map((value, i) => ({ at: `${at}.config[${i}]`, value })))
  checks.unique(views.map(({ path }, i) => ({ at: `${at}.views[${i}].path`, value: canonicalRelative(path) })), fold)
  views.forEach((view, i) => checks.references(view.labels, `${at}.views[${i}].labels`, labels, 'a label of fetch.runs'))
}
