/** The result of an audit: published values beside computed ones. Plain data; what render may see. Field names are the file's. */
import type { ClaimKind, ClaimValue } from '../../schema/claims.js'

/**
 * `source`: a property of the original files, which no study of generated inputs can have; `quoted`: another publication
 * states it and no output does.
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
  /** of the output's text; null where there is no such output */
  readonly sha256: string | null
  /** what the output says it was computed from; empty where it does not say */
  readonly inputs: readonly InputHash[]
}

export interface AuditedClaim {
  readonly id: string
  readonly published: ClaimValue
  /** scaled, unrounded; null where there is none. Where `from` differs in itself: the value that does not agree */
  readonly computed: ClaimValue | null
  readonly unit: string
  readonly decimals: number | null
  readonly kind: ClaimKind
  readonly section: string
  readonly definition: string
  /** references, those of `elements` where the claim has such */
  readonly from: readonly string[]
  readonly status: ClaimStatus
  /** computed minus published, of the first pair of numbers that does not agree; null without such a pair */
  readonly difference: number | null
  /** null where the claim agrees */
  readonly reason: string | null
  /** that of `from` whose value does not agree or cannot be had, the first of several; null where the claim agrees or has none */
  readonly at: string | null
  readonly provenance: readonly Provenance[]
}

export interface AuditedSource {
  readonly label: string
  /** what the outputs hold, or else what the claims file states */
  readonly value: ClaimValue | null
  readonly stated: ClaimValue | null
  readonly reference: string | null
  /** `stated`: a quotation without a reference */
  readonly status: 'agrees' | 'differs' | 'not_computable' | 'stated' | 'found'
  readonly reason: string | null
}

/** What a page must say, and what none may; `found_in` names pages. */
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
  /** `not_checked`: there is no page yet */
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

/** One that nothing published is compared with. */
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
  /** `not_checked`: there is no page yet */
  readonly status: 'holds' | 'fails' | 'not_checked'
  readonly problems: readonly string[]
}

/** Two sources of one quantity. */
export interface AuditedPair {
  /** their labels */
  readonly of: readonly [string, string]
  readonly status: 'agrees' | 'disclosed' | 'differs' | 'not_computable'
  /** where they differ and it is disclosed: the discrepancy that names both */
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
    /** scaled; null with a reason: there is none */
    readonly value: ClaimValue | null
    readonly reason: string | null
  }[]
  /** every two of them */
  readonly pairs: readonly AuditedPair[]
  readonly status: 'agrees' | 'disclosed' | 'fails'
  readonly problems: readonly string[]
}

export interface AuditReport {
  readonly synthetic: boolean
  /** of claims, by status */
  readonly counts: { readonly [status in ClaimStatus]: number }
  readonly claims: readonly AuditedClaim[]
  readonly same: readonly AuditedSame[]
  readonly discrepancies: readonly AuditedDiscrepancy[]
  readonly guards: readonly AuditedGuard[]
  /** null: there is no page yet */
  readonly unclaimed: readonly UnclaimedValue[] | null
  /** an unclaimed value fails the audit */
  readonly strict: boolean
  /** what a reader should know and no run fails for */
  readonly notes: readonly string[]
}

/** The visible text of a page, or a part of it. */
export interface PageText {
  /** as a reader would call it: `article.md` */
  readonly name: string
  readonly text: string
  /** what it cites from outputs; absent: it is no page of a template */
  readonly cited?: readonly CitedValue[]
}
