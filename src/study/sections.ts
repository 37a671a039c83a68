/**
 * The sections of a study file: each has its key and the kind that reads it. What a run does with each stands under the same
 * keys in `runs/sections.ts`; `fetch` alone has none, since its own command runs it.
 */
import type { Field } from '../core/checker.js'
import type { Study } from '../schema/study.js'
import { articleSection } from './article.js'
import { criticTraceSection } from './critic-traces.js'
import { evidenceSection } from './evidence.js'
import { fetchSection } from './fetch.js'
import { historySection } from './histories.js'

/** In the order of the study file's documentation. */
export const SECTIONS = {
  critic_traces: criticTraceSection,
  histories: historySection,
  evidence: evidenceSection,
  article: articleSection,
  fetch: fetchSection
} as const satisfies { readonly [K in keyof Study]?: Field<Study[K]> }

export type SectionKey = keyof typeof SECTIONS

/** At least one of these is stated; an article is about them. */
export const SECTIONS_READ = ['critic_traces', 'histories', 'evidence'] as const satisfies readonly SectionKey[]
