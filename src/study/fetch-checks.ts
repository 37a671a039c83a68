/** Checks between the fields of the section on fetching: no label is another's, and further lists name labels that there are. */
import { OTHER_LABEL, type FetchStudy } from '../schema/fetch.js'
import type { CheckContext } from '../core/checker.js'
import { CrossChecks, fold } from './cross-checks.js'
import { canonicalRelative } from '../core/paths.js'

export function checkFetch({ runs, config, views }: FetchStudy, at: string, context: CheckContext): void {
  const checks = new CrossChecks(context)
  const labels = runs.map(r => r.label)
  checks.unique(labels.map((value, i) => ({ at: `${at}.runs[${i}].label`, value })))
  labels.forEach((value, i) => checks.free(`${at}.runs[${i}].label`, value, [OTHER_LABEL], 'runs that are not selected,'))
  runs.forEach(({ entity, project, display_name: name }, i) => {
    const same = runs.findIndex(r => r.entity === entity && r.project === project && r.display_name === name)
    if (same < i) checks.refuse('stated twice', `${at}.runs[${i}] selects the runs of ${at}.runs[${same}]`, 'other runs for each label')
  })
  runs.forEach(({ ids, not_ids: notIds }, i) => {
    checks.unique((ids ?? []).map((value, k) => ({ at: `${at}.runs[${i}].ids[${k}]`, value })))
    const both = notIds.findIndex(id => ids?.includes(id) ?? false)
    if (both >= 0) checks.refuse('contradiction', `${at}.runs[${i}].not_ids[${both}] is one of its ids`, 'each id in one of both')
  })
  checks.unique(config.map((value, i) => ({ at: `${at}.config[${i}]`, value })))
  checks.unique(
    views.map(({ path }, i) => ({ at: `${at}.views[${i}].path`, value: canonicalRelative(path) })),
    fold
  )
  views.forEach((view, i) => checks.references(view.labels, `${at}.views[${i}].labels`, labels, 'a label of fetch.runs'))
}
