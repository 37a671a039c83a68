/** Records in canonical order to the audit and the findings; told values are held against the recovered ones. */
import { auditEstimator, type EstimatorAudit } from './estimator/decide.js'
import type { EstimatorRecord } from './estimator/record.js'
import { advantagesFollow, returnsFollow } from './estimator/reproduce.js'
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
  /** null: the dump does not identify it, or shows the told one as well */
  readonly agrees: boolean | null
}

export interface EstimatorDiagnosis {
  readonly audit: EstimatorAudit & { readonly told: readonly ToldValue[] }
  readonly findings: readonly DiagnosticFinding[]
}

/** Further from the recovered one a told value is not shown, however coarse the numbers; an adaptive alpha has two digits. */
const NEAR = 1e-3
const ALPHA_NEAR = 0.05

/** @param follows whether the stored numbers are those of the told value, to their rounding */
function agrees<T extends LambdaAdvantages>(told: T, recovered: LambdaAdvantages | null, follows: (told: T) => boolean): boolean | null {
  if (recovered === null) return null
  if (!follows(told)) return false
  // the numbers are those of both: what they do not tell apart is not refuted
  return isNear(told, recovered) ? true : null
}

function isNear(told: LambdaAdvantages, recovered: LambdaAdvantages): boolean {
  if (typeof told === 'number') return typeof recovered === 'number' && Math.abs(told - recovered) <= NEAR
  if (typeof recovered === 'number') return false
  return Math.abs(told.adaptive_alpha - recovered.adaptive_alpha) <= ALPHA_NEAR * told.adaptive_alpha
}

function compare<T extends LambdaAdvantages>(
  name: ToldValue['name'],
  told: T | null | undefined,
  recovered: LambdaAdvantages | null,
  follows: (told: T) => boolean
): ToldValue[] {
  return told === undefined || told === null ? [] : [{ name, told, recovered, agrees: agrees(told, recovered, follows) }]
}

export function diagnoseEstimator(records: readonly EstimatorRecord[], told: ToldValues = {}): EstimatorDiagnosis {
  const { audit, evidence } = auditEstimator(records)
  const { relation, coefficients, advantages } = evidence
  const returns =
    (name: 'gamma' | 'lambda') =>
    (value: number): boolean =>
      relation !== null && returnsFollow(relation, name, value)
  const ofAdvantages = (value: LambdaAdvantages): boolean =>
    advantages.fit !== null && advantagesFollow(advantages.fit, { gamma: coefficients.gamma ?? 1, beta: relation?.beta ?? 0 }, value)
  const compared = [
    ...compare('gamma', told.gamma, audit.gamma, returns('gamma')),
    ...compare('lambda_returns', told.lambdaReturns, audit.lambda_returns, returns('lambda')),
    ...compare('lambda_advantages', told.lambdaAdvantages, audit.lambda_advantages, ofAdvantages)
  ]
  return {
    audit: { ...audit, told: compared },
    findings: findingsOf({ audit, evidence, logged: told.loggedExplainedVariance ?? null })
  }
}
