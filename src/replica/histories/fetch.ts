/** The study section on fetching the synthetic histories: selections, kept settings, and the views that the notes name. */
import type { FetchRuns, FetchStudy } from '../../schema/fetch.js'
import { CONFIG_KEYS } from './config.js'
import { EXPERIMENTS } from './experiments.js'

export const ENTITY = 'synthetic'
export const PROJECT = 'critic-traces-replica'

/** As the study file states it: fields that have their defaults are left out. */
type WrittenFetch = Omit<FetchStudy, 'runs'> & { readonly runs: ReadonlyArray<Omit<FetchRuns, 'ids' | 'not_ids'>> }

export const FETCH_STUDY: WrittenFetch = {
  runs: EXPERIMENTS.map(({ label, displayName }) => ({ label, entity: ENTITY, project: PROJECT, display_name: displayName })),
  config: CONFIG_KEYS,
  views: [
    { path: 'wandb/recipe_comparison_runs.json', labels: ['sao_r6', 'sao_r7'] },
    { path: 'wandb/additional_case_runs.json', labels: ['multilingual_single', 'multilingual_mixed'] }
  ]
}
