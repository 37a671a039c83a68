/** A study as its study file states it, and what was verified of it. */
import type { ArticleStudy, EvidenceStudy } from './evidence.js'
import type { FetchStudy } from './fetch.js'
import type { HistoryStudy } from './histories.js'
import type { CriticTraceStudy } from './traces.js'

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

/** At least one of the first three sections is stated; null: the study has none of that kind. */
export interface Study {
  readonly name: string
  /** true when every input was generated: said in each output */
  readonly synthetic: boolean
  readonly manifest: string
  readonly claims: string | null
  readonly critic_traces: CriticTraceStudy | null
  readonly histories: HistoryStudy | null
  readonly evidence: EvidenceStudy | null
  readonly article: ArticleStudy | null
  /** where the histories come from */
  readonly fetch: FetchStudy | null
}
