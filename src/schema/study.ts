/** A study as its study file states it, and what was verified of it. */
import { flag, nullable, object, oneOf, text, type Infer } from '../core/checker.js'
import { relativePath } from '../core/path-kinds.js'
import { ARTICLE } from './article.js'
import { CRITIC_TRACES } from './critic-traces.js'
import { EVIDENCE } from './evidence.js'
import { FETCH } from './fetch.js'
import { HISTORIES } from './histories.js'

/** The sections of a study file, in the order of its documentation. Null: the study has none of that kind. */
export const SECTIONS = {
  critic_traces: { kind: nullable(CRITIC_TRACES), doc: 'The critic-trace snapshot and what is expected of it.', default: null },
  histories: {
    kind: nullable(HISTORIES),
    doc: 'Training histories: which runs, which metrics, what is computed, drawn and written.',
    default: null
  },
  evidence: {
    kind: nullable(EVIDENCE),
    doc: 'Written evidence: workbook, slides, configurations, datasets, what follows from them, and bar figures.',
    default: null
  },
  article: { kind: nullable(ARTICLE), doc: 'Templates of an article and of the notes on its evidence.', default: null },
  fetch: { kind: nullable(FETCH), doc: 'Where the training histories are fetched from.', default: null }
} as const

export type SectionKey = keyof typeof SECTIONS

/** At least one of these is stated; an article is about them. */
export const SECTIONS_READ = ['critic_traces', 'histories', 'evidence'] as const satisfies readonly SectionKey[]

/** A study may also state `fetch` alone: the first fetch drafts its histories. */
export const SECTIONS_NEEDED = [...SECTIONS_READ, 'fetch'] as const satisfies readonly SectionKey[]

export const STUDY_KIND = object({
  $schema: { kind: nullable(text()), doc: 'For editors; not read.', default: null },
  schema_version: { kind: oneOf(1), doc: 'Version of this format.' },
  name: { kind: text(200), doc: 'Name of the study, as outputs state it.' },
  synthetic: {
    kind: flag,
    doc: 'Every input was generated; each output then says so. `false` while the snapshot says that it is synthetic fails the run.',
    default: false
  },
  manifest: { kind: relativePath, doc: 'Manifest of the files that the study reads.', default: 'source_manifest.json' },
  claims: {
    kind: nullable(relativePath),
    doc: 'Published values to audit: docs/claims.md. `all` and `verify` say where no such file exists.',
    default: null
  },
  ...SECTIONS
})

export type Study = Omit<Infer<typeof STUDY_KIND>, '$schema' | 'schema_version'>

/** A file as it was read. */
export interface HashedFile {
  /** relative to the study; of a snapshot without one, to the snapshot's folder */
  readonly path: string
  readonly sha256: string
  readonly bytes: number
}

/** A manifest that every input was verified against before anything was computed. */
export interface VerifiedManifest {
  /** relative to the study */
  readonly path: string
  readonly sha256: string
  /** files that were verified */
  readonly files: number
}
