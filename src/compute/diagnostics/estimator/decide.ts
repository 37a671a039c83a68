/** The audit of a dump, out of the records of its samples in canonical order. */
import { type Coefficients, coefficientsOf } from './coefficients.js'
import { finalRewardPlace, type FinalRewardPlace, type Tail, tailsOf, withoutDropped } from './final-reward.js'
import { type FoundRule, findRule, type RulePlace } from './find-rule.js'
import { refineByAdvantages } from './refine-rule.js'
import type { EstimatorRecord } from './record.js'
import { findRelation, type Relation } from './relation.js'
import type { RuleName } from '../../../schema/diagnostics.js'
import { type AdvantageAudit, auditAdvantages, type LambdaAdvantages, NO_ADVANTAGES } from './whitening.js'
import type { Whitening } from '../../../schema/diagnostics.js'

export const IDENTIFIED = [
  'rule',
  'value_alignment',
  'gamma',
  'lambda_returns',
  'lambda_advantages',
  'kl_coefficient',
  'whitening',
  'final_reward'
] as const
export type IdentifiedName = (typeof IDENTIFIED)[number]

export interface EstimatorAudit {
  /** the first of the known rules that fits; null: none of them */
  readonly rule: RuleName | null
  /** others that fit as well */
  readonly alternatives: readonly RuleName[]
  /** as the returns tell it: null where lambda of the returns is 1 */
  readonly value_alignment: 'pre-action' | 'shifted by one' | null
  readonly gamma: number | null
  readonly lambda_returns: number | null
  readonly lambda_advantages: LambdaAdvantages | null
  readonly kl_coefficient: number | null
  readonly whitening: Whitening | null
  readonly final_reward: FinalRewardPlace | null
  /** largest absolute residual of the returns inside turns, in units of the return, and its place */
  readonly max_residual: number | null
  readonly max_residual_place: RulePlace | null
  /** where no rule fits: the one with the fewest departures; where that or the relation inside turns is left first */
  readonly nearest_rule: RuleName | null
  readonly departs_at: RulePlace | null
  readonly not_identifiable: readonly IdentifiedName[]
}

/** What the faults look at beside the audit. */
export interface Evidence {
  readonly records: readonly EstimatorRecord[]
  readonly relation: Relation | null
  /** true: most samples follow the relation */
  readonly follows: boolean
  readonly coefficients: Coefficients
  readonly found: FoundRule
  readonly tails: readonly Tail[]
  readonly advantages: AdvantageAudit
}

const NO_COEFFICIENTS: Coefficients = { gamma: null, lambda: null, beta: null, valuesMatter: false }
const NO_RULE: FoundRule = { rule: null, form: 0, alternatives: [], nearest: null, departure: null, gaps: 0 }

/** A relation that fewer samples follow is none. Values or rewards that are off by one are so everywhere. */
const MOST = 0.5
const NEARLY_ALL = 0.9

function isFollowed({ name, foreign, share }: Relation): boolean {
  return share >= (name === 'pre-action' || foreign ? MOST : NEARLY_ALL)
}

function evidenceOf(records: readonly EstimatorRecord[]): Evidence {
  const relation = findRelation(records)
  if (relation === null || !isFollowed(relation)) {
    return { records, relation, follows: false, coefficients: NO_COEFFICIENTS, found: NO_RULE, tails: [], advantages: NO_ADVANTAGES }
  }
  const coefficients = coefficientsOf(relation, records)
  // values of another sample follow a gap too: no rule can be held against them
  const advantages = advantagesOf(records, relation, coefficients)
  const fitting = relation.foreign ? NO_RULE : refineByAdvantages(findRule(records, relation), records, relation, coefficients, advantages)
  const tails = relation.foreign ? [] : tailsOf(records, relation, fitting)
  return { records, relation, follows: true, coefficients, found: withoutDropped(fitting, tails), tails, advantages }
}

function advantagesOf(records: readonly EstimatorRecord[], relation: Relation, { gamma, valuesMatter }: Coefficients): AdvantageAudit {
  if (relation.foreign || gamma === null || !records.some(r => r.has.advantages)) return NO_ADVANTAGES
  const known = { gamma, beta: relation.beta }
  const shifted = relation.name === 'values one later' || relation.name === 'values one earlier'
  if (shifted) return auditAdvantages(records, known, relation.name)
  return auditAdvantages(records, known, valuesMatter ? 'pre-action' : null)
}

/** What the returns tell. Where they hold no value, advantages may still show values off by one: a finding says so. */
function alignmentOf({ relation, follows, coefficients }: Evidence): EstimatorAudit['value_alignment'] {
  if (relation === null || !follows || relation.foreign) return null
  if (relation.name === 'values one later' || relation.name === 'values one earlier') return 'shifted by one'
  return coefficients.valuesMatter ? 'pre-action' : null
}

function largestResidual({ relation }: Evidence): { readonly residual: number | null; readonly place: RulePlace | null } {
  let residual: number | null = null
  let place: RulePlace | null = null
  for (const { record, form } of relation?.samples ?? []) {
    if (residual !== null && form.max <= residual) continue
    residual = form.max
    place = { sample: record.index, token: form.at }
  }
  return { residual, place }
}

function firstDeparture({ relation, found }: Evidence): RulePlace | null {
  if (found.departure !== null) return found.departure
  for (const { record, form, fits } of relation?.samples ?? []) {
    const outlier = form === record.returns.trimmed ? record.returns.outlier : null
    if (outlier !== null || !fits) return { sample: record.index, token: outlier ?? form.at }
  }
  return null
}

export function auditEstimator(records: readonly EstimatorRecord[]): { readonly audit: EstimatorAudit; readonly evidence: Evidence } {
  const evidence = evidenceOf(records)
  const { coefficients, found, advantages, tails } = evidence
  const { residual, place } = largestResidual(evidence)
  const values = {
    rule: found.rule?.name ?? null,
    value_alignment: alignmentOf(evidence),
    gamma: coefficients.gamma,
    lambda_returns: coefficients.lambda,
    lambda_advantages: advantages.lambda,
    kl_coefficient: coefficients.beta,
    whitening: advantages.whitening,
    final_reward: finalRewardPlace(tails, found, evidence.relation?.beta ?? 0, coefficients.beta)
  }
  const unknown = IDENTIFIED.filter(name => {
    // a rule that none of the known ones is was told apart from them all
    if (name === 'rule') return found.rule === null ? found.nearest === null : found.alternatives.length > 0
    return values[name] === null
  })
  return {
    audit: {
      ...values,
      alternatives: found.alternatives,
      max_residual: residual,
      max_residual_place: place,
      nearest_rule: found.nearest,
      departs_at: firstDeparture(evidence),
      not_identifiable: unknown
    },
    evidence
  }
}
