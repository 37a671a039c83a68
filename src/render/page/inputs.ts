/**
 * What pages are made of: plain data, no file and no path of the machine. A study without claims has none, and no
 * discrepancies. Pages are made in two steps, because the audit reads what they say: the prose from the audit without pages,
 * the pages from the audit with them.
 */
import type { AuditedClaim, AuditedDiscrepancy, AuditedGuard, AuditedSame, UnclaimedValue } from '../../compute/audit/contract.js'
import type { InputsOf } from '../../compute/audit/provenance.js'
import type { Documents } from '../../compute/documents.js'
import type { HashedFile } from '../../schema/study.js'
import type { Generator, Origin } from '../outputs/output-names.js'
import type { Template } from './references.js'

export type DocumentSource = Pick<Documents, 'resolve' | 'undefinedReason' | 'sha256' | 'enclosing'>

/** A figure as the page embeds it. */
export interface PageFigure {
  /** file name without extension */
  readonly name: string
  readonly title: string
  /** the facts drawn, in words: the alternative text */
  readonly description: string
  readonly png: Uint8Array
  /** output paths: its formats, and the data that it draws */
  readonly files: readonly string[]
  readonly data: readonly string[]
}

/** What the templates need to be filled; the audit of the prose is made from this alone. */
export interface ProseInputs {
  readonly templates: { readonly article: Template; readonly notes: Template }
  /** every JSON document of the run, but for audit.json */
  readonly documents: DocumentSource
  /** inputs of a reference that its document does not state itself */
  readonly inputsOf: InputsOf
  readonly claims: readonly AuditedClaim[]
  readonly discrepancies: readonly AuditedDiscrepancy[]
  readonly figures: readonly PageFigure[]
  /** output paths that a template may link to */
  readonly outputs: readonly string[]
}

export interface PageInputs extends ProseInputs {
  /** quantities that several sources state; none: the claims file lists none */
  readonly same?: readonly AuditedSame[]
  readonly study: { readonly name: string; readonly synthetic: boolean }
  /** what the inputs were verified against; null: against nothing */
  readonly manifest: Origin['manifest']
  readonly generator: Generator
  readonly guards: readonly AuditedGuard[]
  /** cited values that fail the audit because nothing published holds them */
  readonly unclaimed: readonly UnclaimedValue[]
  /** of the code that made the inputs, as the manifest states them */
  readonly revisions: { readonly [name: string]: unknown }
  /** every file that the run read into what it states */
  readonly inputs: readonly HashedFile[]
  /** files that lie in the study and enter no statistic */
  readonly excluded: readonly HashedFile[]
}
