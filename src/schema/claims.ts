/**
 * What a study publishes, and where each value must come out again: the claims file as plain data. Nothing here is known
 * to the part of the pipeline that computes. Types only.
 */
import type { Reference } from './evidence.js'

export type ClaimScalar = number | string | boolean
export type ClaimValue = ClaimScalar | readonly ClaimScalar[]

/**
 * `computed`: follows from the inputs. `config`: set by the study or by a run's configuration. `quoted`: another publication
 * states it. `source`: a property of the original files. Whatever its kind, a claim that refers to an output is compared.
 */
export type ClaimKind = 'computed' | 'config' | 'quoted' | 'source'

export interface Claim {
  readonly id: string
  /** as published */
  readonly value: ClaimValue
  /** decimals published; null: compared for equality */
  readonly decimals: number | null
  /** may be empty */
  readonly unit: string
  /** of the publication */
  readonly section: string
  readonly kind: ClaimKind
  readonly definition: string
  /** the whole value stands at each of these, and each must agree; empty: it stands nowhere, or in `elements` */
  readonly from: readonly Reference[]
  /** element i of a list stands at reference i; empty: `from` has the list */
  readonly elements: readonly Reference[]
  /** what is found is multiplied by this */
  readonly scale: number
}

/** One of the sources that contradict each other. At least one of `value` and `reference` is stated. */
export interface DiscrepancySource {
  /** as a reader would call it: `workbook, cell L8` */
  readonly label: string
  /** what it is said to state; null: whatever stands at the reference */
  readonly value: ClaimValue | null
  readonly decimals: number | null
  readonly reference: Reference | null
}

/** A contradiction among sources, how it is resolved, and what a reader must and must not be told. */
export interface Discrepancy {
  readonly id: string
  readonly section: string
  readonly sources: readonly DiscrepancySource[]
  /** label of the source that the study follows; null: none alone */
  readonly chosen: string | null
  readonly decision: string
  /** must appear on the page; `{{reference}}` stands for a number or text that agrees with what is there */
  readonly disclosure: string
  /** regular expressions that must match nothing on the page, without regard to case */
  readonly forbidden: readonly string[]
  /** the mean of two conflicting numbers must not appear */
  readonly average_forbidden: boolean
}

/** One quantity that several sources state: what they state must agree, or be a discrepancy. */
export interface SameQuantity {
  readonly id: string
  readonly section: string
  readonly definition: string
  /** precision to which two of them are compared; null: equal or not */
  readonly decimals: number | null
  /** two or more; what stands at the reference is multiplied by the scale */
  readonly sources: readonly { readonly label: string; readonly reference: Reference; readonly scale: number }[]
}

/** What a reader must or must not be told, without sources that contradict each other. */
export interface Guard {
  readonly id: string
  readonly section: string
  /** why */
  readonly reason: string
  /** as a discrepancy's; null: nothing must be said */
  readonly disclosure: string | null
  readonly forbidden: readonly string[]
}

export interface Claims {
  readonly claims: readonly Claim[]
  readonly same: readonly SameQuantity[]
  readonly discrepancies: readonly Discrepancy[]
  readonly guards: readonly Guard[]
}
