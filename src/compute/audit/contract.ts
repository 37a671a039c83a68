/**
 * The result of an audit: published values beside computed ones. It is plain data that
 * render reads. Field names are those of the output file.
 */
import type { ClaimKind, ClaimValue } from '../../schema/claims.js'

/**
 * `source`: a property of the original files, which a study of generated inputs cannot have. `quoted`: another
 * publication states the value, and no output does.
 */
export type ClaimStatus = 'agrees' | 'differs' | 'not_computable' | 'source' | 'quoted'

export interface InputHash {
  /** relative to the study */
  readonly path: string
  readonly sha256: string
}

export interface Provenance {
  /** output path */
  readonly file: string
  /** JSON pointer into it */
  readonly pointer: string
  /** of the output's text; null where the output does not exist */
  readonly sha256: string | null
  /** inputs that the output states; empty where it states none */
  readonly inputs: readonly InputHash[]
}

export interface AuditedClaim {
  readonly id: string
  readonly published: ClaimValue
  /** scaled, unrounded; null where there is none. Where the places in `from` disagree: the value that does not agree */
  readonly computed: ClaimValue | null
  readonly unit: string
  readonly decimals: number | null
  readonly kind: ClaimKind
  readonly section: string
  readonly definition: string
  /** references; those of `elements` where the claim has elements */
  readonly from: readonly string[]
  readonly status: ClaimStatus
  /** computed minus published, of the first pair of numbers that does not agree; null without such a pair */
  readonly difference: number | null
  /** null where the claim agrees */
  readonly reason: string | null
  /** first reference in `from` whose value does not agree or is missing; null where the claim agrees or has no reference */
  readonly at: string | null
  readonly provenance: readonly Provenance[]
}

export interface AuditedSource {
  readonly label: string
  /** value in the outputs; where there is none, the value that the claims file states */
  readonly value: ClaimValue | null
  readonly stated: ClaimValue | null
  readonly reference: string | null
  /** `stated`: the claims file quotes the value without a reference */
  readonly status: 'agrees' | 'differs' | 'not_computable' | 'stated' | 'found'
  readonly reason: string | null
}

/** What some page must say and what no page may say. `found_in` lists page names. */
export interface Said {
  /** null: nothing must be said */
  readonly disclosure: { readonly text: string; readonly found_in: readonly string[] } | null
  readonly forbidden: readonly {
    /** the pattern */
    readonly text: string
    readonly found_in: readonly string[]
  }[]
}

export interface AuditedGuard extends Said {
  readonly id: string
  readonly section: string
  readonly reason: string
  /** `not_checked`: no page exists yet */
  readonly status: 'holds' | 'fails' | 'not_checked'
  readonly problems: readonly string[]
}

/** A value that a page cites from an output. */
export interface CitedValue {
  /** template, relative to the study */
  readonly file: string
  readonly line: number
  readonly column: number
  readonly reference: string
  /** as the page prints it */
  readonly text: string
}

/** A cited value that no claim covers. */
export type UnclaimedValue = CitedValue

export interface AuditedDiscrepancy {
  readonly id: string
  readonly section: string
  readonly sources: readonly AuditedSource[]
  readonly chosen: string | null
  readonly decision: string
  readonly disclosure: NonNullable<Said['disclosure']>
  readonly forbidden: Said['forbidden']
  /** means of two conflicting numbers */
  readonly averages: readonly {
    readonly of: readonly [string, string]
    readonly value: number
    readonly found_in: readonly string[]
  }[]
  /** `not_checked`: no page exists yet */
  readonly status: 'holds' | 'fails' | 'not_checked'
  readonly problems: readonly string[]
}

/** Two sources of one quantity. */
export interface AuditedPair {
  /** their labels */
  readonly of: readonly [string, string]
  readonly status: 'agrees' | 'disclosed' | 'differs' | 'not_computable'
  /** id of the discrepancy that names both sources, where they differ and it discloses that */
  readonly discrepancy: string | null
}

/** One quantity that several sources state. */
export interface AuditedSame {
  readonly id: string
  readonly section: string
  readonly definition: string
  readonly decimals: number | null
  readonly sources: readonly {
    readonly label: string
    readonly reference: string
    /** scaled; null where there is none, with a reason */
    readonly value: ClaimValue | null
    readonly reason: string | null
  }[]
  /** one entry for every two sources */
  readonly pairs: readonly AuditedPair[]
  readonly status: 'agrees' | 'disclosed' | 'fails'
  readonly problems: readonly string[]
}

export interface AuditReport {
  readonly synthetic: boolean
  /** number of claims by status */
  readonly counts: { readonly [status in ClaimStatus]: number }
  readonly claims: readonly AuditedClaim[]
  readonly same: readonly AuditedSame[]
  readonly discrepancies: readonly AuditedDiscrepancy[]
  readonly guards: readonly AuditedGuard[]
  /** null: no page exists yet */
  readonly unclaimed: readonly UnclaimedValue[] | null
  /** an unclaimed value fails the audit */
  readonly strict: boolean
  /** facts that a reader should know and that fail no run */
  readonly notes: readonly string[]
}

/** The visible text of a page, or a part of it. */
export interface PageText {
  /** name for readers, such as `article.md` */
  readonly name: string
  readonly text: string
  /** values that the page cites from outputs; absent where the page has no template */
  readonly cited?: readonly CitedValue[]
}
