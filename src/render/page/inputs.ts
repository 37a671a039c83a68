/**
 * What pages are made of: plain data, no file and no path of the machine. Claims and discrepancies have the layout of
 * audit.json; a study without claims has none of either.
 */
import type { Resolution } from '../../compute/documents.js'
import type { SourceFile } from '../outputs/documents.js'
import type { Generator } from '../outputs/output-names.js'
import type { Template } from './references.js'

/** `src/compute/documents.ts`, as far as pages need it. */
export interface DocumentSource {
  resolve(reference: string): Resolution
  /** why a reference leads to null, as the document says; null where it does not */
  undefinedReason(reference: string): string | null
  /** of the document's text, lower-case hexadecimal; null without such a document */
  sha256(path: string): string | null
  /** the objects on the way to a reference, outermost first, what it leads to among them */
  enclosing(reference: string): readonly { readonly [name: string]: unknown }[]
}

export const STATUSES = ['agrees', 'differs', 'not_computable', 'source', 'quoted'] as const
export type ClaimStatus = (typeof STATUSES)[number]

export interface Provenance {
  /** output path */
  readonly file: string
  /** JSON pointer into it */
  readonly pointer: string
  /** of the output's text; null where there is no such output */
  readonly sha256: string | null
  /** what the output was computed from */
  readonly inputs: readonly { readonly path: string; readonly sha256: string }[]
}

export interface AuditedClaim {
  readonly id: string
  readonly published: unknown
  /** null where it is not computable, or of the source alone */
  readonly computed: unknown
  readonly unit: string
  /** published; null: compared for equality */
  readonly decimals: number | null
  readonly kind: string
  readonly section: string
  readonly definition: string
  readonly status: ClaimStatus
  /** computed - published; null where there is none */
  readonly difference: number | null
  /** why it is not computable */
  readonly reason: string | null
  readonly provenance: readonly Provenance[]
}

/** One of the sources that contradict each other. */
export interface ConflictingSource {
  readonly label: string
  /** what it states; null: what stands at the reference */
  readonly value: unknown
  readonly decimals: number | null
  readonly reference: string | null
}

/** A contradiction as the claims file has it: what templates refer to. */
export interface StatedDiscrepancy {
  readonly id: string
  readonly section: string
  readonly sources: readonly ConflictingSource[]
  readonly decision: string
}

/** The same with what the check of the prose found. */
export interface AuditedDiscrepancy {
  readonly id: string
  /** `ok`, or what is wrong in one line */
  readonly status: string
  /** pages on which the disclosure stands */
  readonly found_in: readonly string[]
}

/** A figure as the page embeds it. */
export interface PageFigure {
  /** file name without extension */
  readonly name: string
  readonly title: string
  /** the facts drawn, in words: the alternative text */
  readonly description: string
  readonly png: Uint8Array
  /** output paths: its other formats, and the data that it draws */
  readonly files: readonly string[]
  readonly data: readonly string[]
}

/** What the templates need to be filled; the audit of the prose is made from this alone. */
export interface ProseInputs {
  readonly templates: { readonly article: Template; readonly notes: Template }
  readonly documents: DocumentSource
  readonly claims: readonly AuditedClaim[]
  readonly discrepancies: readonly StatedDiscrepancy[]
  readonly figures: readonly PageFigure[]
  /** output paths that a template may link to */
  readonly outputs: readonly string[]
}

export interface PageInputs extends ProseInputs {
  readonly study: { readonly name: string; readonly synthetic: boolean }
  readonly generator: Generator
  /** every file that the run read */
  readonly inputs: readonly SourceFile[]
  /** result of the check of the prose, in the order of `discrepancies` */
  readonly audited: readonly AuditedDiscrepancy[]
}
