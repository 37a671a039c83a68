/**
 * Rules that give the same returns may give other advantages: where lambda of the returns is 1 a masked value leaves no trace in
 * them. At each gap `A[t] = slope (r[t] + gamma V' - V[t]) + shared A' + constant` with V', A' of the token that the rule goes on with.
 */
import type { Coefficients } from './coefficients.js'
import type { Transition } from './transition.js'
import { unpackGaps } from './packed-gaps.js'
import { allowed, coefficientsFor, type FoundRule } from './find-rule.js'
import type { EstimatorRecord } from './record.js'
import { type Relation, roundingOf } from './relation.js'
import { RULES } from './rules/index.js'
import { usedReward } from './rules/rule.js'
import type { RuleName } from '../../../schema/diagnostics.js'
import type { AdvantageAudit } from './whitening.js'

/** Value and advantage that a rule goes on with; null: not stored, or not of this form. */
function goesOn(rule: RuleName, { next, trainable }: Transition): readonly [value: number, advantage: number] | null {
  const token = rule === 'carry' || rule === 'trainable-only' ? trainable : next
  if (token === null || token.advantage === null || rule === 'reset') return null
  return [rule === 'zeroed-values' ? 0 : token.value, token.advantage]
}

export function refineByAdvantages(
  found: FoundRule,
  records: readonly EstimatorRecord[],
  relation: Relation,
  { gamma }: Coefficients,
  advantages: AdvantageAudit
): FoundRule {
  if (found.rule === null || found.alternatives.length === 0 || found.gaps === 0 || gamma === null || advantages.relations.size === 0)
    return found
  // where lambda is 0 a sum that is set to 0 is no other
  if ([...advantages.relations.values()].every(own => Math.abs(own.shared) < 1e-6)) return found
  const c = coefficientsFor(relation)
  if (c.shift !== 0 || c.rewardShift !== 0) return found
  const rounding = roundingOf(records, 'advantages')
  const agrees = (rule: RuleName): boolean => {
    let tested = 0
    for (const record of records) {
      const own = advantages.relations.get(record.index)
      if (own === undefined) continue
      const limit = 2 * allowed(rounding(record), record.advantageScale + Math.abs(own.slope) * record.scale)
      for (const gap of record.ends === null ? [] : unpackGaps(record.ends.gaps)) {
        const on = goesOn(rule, gap)
        if (on === null || gap.here.advantage === null) return false
        const made = own.slope * (usedReward(gap, c) + gamma * on[0] - gap.here.value) + own.shared * on[1] + own.constant
        if (Math.abs(made - gap.here.advantage) > limit) return false
        tested += 1
      }
    }
    return tested > 0
  }
  const kept = [found.rule.name, ...found.alternatives].filter(agrees)
  const rule = RULES.find(r => r.name === kept[0])
  return rule === undefined ? found : { ...found, rule, form: rule === found.rule ? found.form : 0, alternatives: kept.slice(1) }
}
