/** Records in canonical order to the audit and the findings; told values are held against the recovered ones. */
import { auditEstimator, type EstimatorAudit } from './estimator/decide.js'
import type { EstimatorRecord } from './estimator/record.js'
import type { LambdaAdvantages } from './estimator/whitening.js'
import type { DiagnosticFinding } from './faults/finding.js'
import { findingsOf } from './faults/index.js'

/** What a user or a study says of the run; null or left out: not told. */
export interface ToldValues {
  readonly gamma?: number | null
  readonly lambdaReturns?: number | null
  readonly lambdaAdvantages?: LambdaAdvantages | null
  /** explained variance that a history logged, by step */
  readonly loggedExplainedVariance?: ReadonlyMap<number, number> | null
}

export interface ToldValue {
  readonly name: 'gamma' | 'lambda_returns' | 'lambda_advantages'
  readonly told: LambdaAdvantages
  readonly recovered: LambdaAdvantages | null
  /** null: the dump does not identify it */
  readonly agrees: boolean | null
}

export interface EstimatorDiagnosis {
  readonly audit: EstimatorAudit & { readonly told: readonly ToldValue[] }
  readonly findings: readonly DiagnosticFinding[]
}

/** A recovered number is good to this; an adaptive alpha to two digits. */
const AGREES = 1e-3
const ALPHA_AGREES = 0.05

function agrees(told: LambdaAdvantages, recovered: LambdaAdvantages | null): boolean | null {
  if (recovered === null) return null
  if (typeof told === 'number') return typeof recovered === 'number' && Math.abs(told - recovered) <= AGREES
  if (typeof recovered === 'number') return false
  return Math.abs(told.adaptive_alpha - recovered.adaptive_alpha) <= ALPHA_AGREES * Math.abs(told.adaptive_alpha)
}

export function diagnoseEstimator(records: readonly EstimatorRecord[], told: ToldValues = {}): EstimatorDiagnosis {
  const { audit, evidence } = auditEstimator(records)
  const pairs: readonly (readonly [ToldValue['name'], LambdaAdvantages | null | undefined, LambdaAdvantages | null])[] = [
    ['gamma', told.gamma, audit.gamma],
    ['lambda_returns', told.lambdaReturns, audit.lambda_returns],
    ['lambda_advantages', told.lambdaAdvantages, audit.lambda_advantages]
  ]
  const compared = pairs.flatMap(([name, value, recovered]): ToldValue[] =>
    value === undefined || value === null ? [] : [{ name, told: value, recovered, agrees: agrees(value, recovered) }]
  )
  return {
    audit: { ...audit, told: compared },
    findings: findingsOf({ audit, evidence, logged: told.loggedExplainedVariance ?? null })
  }
}
