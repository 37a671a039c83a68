/**
 * One sample to one record of plain numbers, of a size that does not grow with the sample: all that the audit and the faults
 * need of it. Records are made in workers and reduced in canonical order.
 */
import type { SampleFields } from '../../../schema/samples.js'
import { type AdvantageForms, advantageForms } from './advantages.js'
import { type Ends, endsOf } from './ends.js'
import { insideTransitions, type NeighbourValues, type ReturnForms, returnForms } from './inside.js'
import { largest, type ValueSpreads, valueSpreads } from './spreads.js'
import { type Precision, precisionOf, SINGLE } from './precision.js'
import type { AuditView } from './view.js'

export interface EstimatorRecord {
  readonly index: number
  readonly step: number | null
  readonly rank: number | null
  readonly uid: string | null
  readonly score: number | null
  readonly truncated: boolean | null
  /** tokens with mask 1, and of the whole response (null: a trace does not say) */
  readonly trainable: number
  readonly tokens: number | null
  readonly has: {
    readonly values: boolean
    readonly returns: boolean
    readonly advantages: boolean
    readonly rewards: boolean
    readonly kl: boolean
  }
  /** largest magnitudes: of values, returns and rewards together; of advantages */
  readonly scale: number
  readonly advantageScale: number
  readonly precision: { readonly values: Precision; readonly returns: Precision; readonly advantages: Precision }
  readonly returns: ReturnForms
  readonly advantages: AdvantageForms
  /** sums over transitions inside turns: r[t] (-kl[t]), kl[t]^2, r[t]^2; without KL the first two are 0. null: no rewards */
  readonly rewardOnKl: readonly [number, number, number] | null
  readonly ends: Ends | null
  readonly spreads: ValueSpreads | null
}

function rewardOnKl(view: AuditView): EstimatorRecord['rewardOnKl'] {
  const { rewards, kl } = view
  if (rewards === null) return null
  let [rk, kk, rr] = [0, 0, 0]
  for (const k of insideTransitions(view)) {
    const i = view.at[k]
    rk -= rewards[i] * (kl?.[i] ?? 0)
    kk += (kl?.[i] ?? 0) ** 2
    rr += rewards[i] ** 2
  }
  return [rk, kk, rr].every(Number.isFinite) ? [rk, kk, rr] : null
}

export function estimatorRecord(view: AuditView, neighbours: NeighbourValues): EstimatorRecord {
  const { values, returns, advantages, rewards, kl } = view
  const fields: SampleFields = view.fields
  // the sum of finite numbers may not be one
  const scale = Math.min(largest(view, values) + largest(view, returns) + largest(view, rewards), Number.MAX_VALUE)
  const precision = { values: precisionOf(values), returns: precisionOf(returns), advantages: precisionOf(advantages) }
  const advantageScale = largest(view, advantages)
  return {
    index: view.index,
    step: fields.step,
    rank: fields.rank,
    uid: fields.uid,
    score: fields.score,
    truncated: fields.truncated,
    trainable: view.positions.length,
    tokens: view.whole ? view.length : null,
    has: {
      values: values !== null,
      returns: returns !== null,
      advantages: advantages !== null,
      rewards: rewards !== null,
      kl: kl !== null
    },
    scale,
    advantageScale,
    precision,
    returns: returnForms(view, scale, precision.returns.relative > 2 * SINGLE || precision.returns.absolute > 0, neighbours),
    advantages: advantageForms(view, scale + advantageScale),
    rewardOnKl: rewardOnKl(view),
    ends: endsOf(view),
    spreads: valueSpreads(view)
  }
}
