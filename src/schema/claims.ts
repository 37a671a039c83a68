/**
 * The claims file as plain data: what a study publishes, and where each value must appear again in the outputs. Values are
 * computed without it; only the audit and the pages read it. Types only.
 */
import type { Reference } from './reference.js'

export type ClaimScalar = number | string | boolean
export type ClaimValue = ClaimScalar | readonly ClaimScalar[]

/**
 * `computed`: follows from the inputs. `config`: set by the study or by a run's configuration. `quoted`: stated by another
 * publication. `source`: a property of the original files. A claim of any kind is compared if it refers to an output.
 */
export type ClaimKind = 'computed' | 'config' | 'quoted' | 'source'

export interface Claim {
  readonly id: string
  /** as published */
  readonly value: ClaimValue
  /** number of decimals published; null: compared for equality */
  readonly decimals: number | null
  /** may be empty */
  readonly unit: string
  /** section of the publication */
  readonly section: string
  readonly kind: ClaimKind
  readonly definition: string
  /** references that must each agree with the whole value; empty: there are none, or `elements` has them */
  readonly from: readonly Reference[]
  /** reference i is that of element i of a list; empty: the list is compared with `from` */
  readonly elements: readonly Reference[]
  /** factor for the values at the references */
  readonly scale: number
}

/** One of the sources of a discrepancy. It states at least one of `value` and `reference`. */
export interface DiscrepancySource {
  /** name for the reader: `workbook, cell L8` */
  readonly label: string
  /** what the source is said to state; null: the value at the reference */
  readonly value: ClaimValue | null
  readonly decimals: number | null
  readonly reference: Reference | null
}

/** A contradiction among sources, its resolution, and what the page must and must not say about it. */
export interface Discrepancy {
  readonly id: string
  readonly section: string
  readonly sources: readonly DiscrepancySource[]
  /** label of the source that the study follows; null: no single one */
  readonly chosen: string | null
  readonly decision: string
  /** text that the page must contain; `{{reference}}` stands for a number or text that agrees with the output */
  readonly disclosure: string
  /** regular expressions that must match nothing on the page, without regard to case */
  readonly forbidden: readonly string[]
  /** the mean of two conflicting numbers must not appear */
  readonly average_forbidden: boolean
}

/** One quantity that several sources state. They must agree, or be a discrepancy. */
export interface SameQuantity {
  readonly id: string
  readonly section: string
  readonly definition: string
  /** number of decimals to which two of them are compared; null: for equality */
  readonly decimals: number | null
  /** two or more; the value at the reference is multiplied by the scale */
  readonly sources: readonly { readonly label: string; readonly reference: Reference; readonly scale: number }[]
}

/** What the page must or must not say, where no sources contradict each other. */
export interface Guard {
  readonly id: string
  readonly section: string
  /** reason for the guard */
  readonly reason: string
  /** as in a discrepancy; null: no text is required */
  readonly disclosure: string | null
  readonly forbidden: readonly string[]
}

export interface Claims {
  readonly claims: readonly Claim[]
  readonly same: readonly SameQuantity[]
  readonly discrepancies: readonly Discrepancy[]
  readonly guards: readonly Guard[]
}
