/** What a fault is to the diagnostics: a kind with its severity and public report, and a look at the audit's evidence. */
import type { EstimatorAudit, Evidence } from '../estimator/decide.js'
import type { RulePlace } from '../estimator/find-rule.js'
import type { FindingKind, FindingSeverity } from '../../../schema/diagnostics.js'

export interface DiagnosticFinding {
  readonly kind: FindingKind
  readonly severity: FindingSeverity
  /** one sentence */
  readonly message: string
  /** canonical index of the sample and response token where it shows most; null where it has no place */
  readonly place: RulePlace | null
  /** the numbers that show it, by name */
  readonly evidence: Readonly<Record<string, number | string>>
  /** a public report of the same fault */
  readonly report: string
}

export interface Case {
  readonly audit: EstimatorAudit
  readonly evidence: Evidence
  /** explained variance that a history logged, by step */
  readonly logged: ReadonlyMap<number, number> | null
}

/** What was seen of a kind; the kind adds the rest. */
export type Sighting = Pick<DiagnosticFinding, 'message' | 'place' | 'evidence'>

export interface FaultKind {
  readonly kind: FindingKind
  readonly severity: FindingSeverity
  readonly report: string
  readonly find: (seen: Case) => Sighting | null
}

/** A number in a message: five significant digits, without an exponent where it needs none. */
export function shown(x: number): string {
  return String(Number(x.toPrecision(5)))
}
