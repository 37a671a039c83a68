/**
 * The inputs of pages: plain data without files or paths of the machine. A study without claims has no claims here and
 * no discrepancies. Pages are made in two steps, because the audit reads their prose: the prose uses the audit without
 * pages, and the pages use the audit with them.
 */
import type { AuditedClaim, AuditedDiscrepancy, AuditedGuard, AuditedSame, UnclaimedValue } from '../../compute/audit/contract.js'
import type { FigureReadings } from '../../compute/histories/contract.js'
import type { InputsOf } from '../../compute/audit/provenance.js'
import type { Documents } from '../../compute/documents.js'
import type { ArticleStudy } from '../../schema/article.js'
import type { HashedFile } from '../../schema/study.js'
import type { Generator, Origin } from '../outputs/output-names.js'
import type { Template } from './references.js'

export type DocumentSource = Pick<Documents, 'resolve' | 'undefinedReason' | 'sha256' | 'enclosing'>

/** A figure as SVG inside a page: without a size, its ids unlike those of all other figures. */
export interface PagePicture {
  /** as wide as the text */
  readonly wide: string
  /** in one column, for a narrow screen */
  readonly column: string
}

/** A figure that a page embeds. */
export interface PageFigure {
  /** file name without extension */
  readonly name: string
  readonly title: string
  /** the drawn facts in words; the pictures state them too */
  readonly description: string
  readonly picture: PagePicture
  /** output paths of its formats, and of the data that it draws */
  readonly files: readonly string[]
  readonly data: readonly string[]
  /** see `PlannedFigure` */
  readonly readings?: FigureReadings | null
}

/** The inputs that the templates need. The audit of the prose depends on these alone. */
export interface ProseInputs {
  readonly templates: { readonly article: Template; readonly notes: Template }
  /** every JSON document of the run except audit.json */
  readonly documents: DocumentSource
  /** gives the inputs of a reference whose document does not state them */
  readonly inputsOf: InputsOf
  readonly claims: readonly AuditedClaim[]
  readonly discrepancies: readonly AuditedDiscrepancy[]
  readonly figures: readonly PageFigure[]
  /** output paths that a template may link to */
  readonly outputs: readonly string[]
}

/** What stands below the title of the article. */
export type Byline = Pick<ArticleStudy, 'date' | 'cite' | 'compared'>

export interface PageInputs extends ProseInputs {
  readonly byline: Byline
  /** quantities that several sources state; absent where the claims file lists none */
  readonly same?: readonly AuditedSame[]
  readonly study: { readonly name: string; readonly synthetic: boolean }
  /** the manifest that the inputs were verified against; null where there was none */
  readonly manifest: Origin['manifest']
  readonly generator: Generator
  readonly guards: readonly AuditedGuard[]
  /** cited values without a claim that fail the audit */
  readonly unclaimed: readonly UnclaimedValue[]
  /** revisions of the code that made the inputs, as the manifest states them */
  readonly revisions: { readonly [name: string]: unknown }
  /** files that the run read and used for its results */
  readonly inputs: readonly HashedFile[]
  /** files in the study that enter no statistic */
  readonly excluded: readonly HashedFile[]
}
