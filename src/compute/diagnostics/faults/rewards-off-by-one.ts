/**
 * Rewards enter one token beside their place. Sighting inside turns where rewards of tokens or KL are stored, and at the end: the
 * reward of the last token stands at the one in front, is discounted once more, or is in no return.
 */
import { maxOf, minOf } from '../../../core/extremes.js'
import { counted } from '../../../core/counts.js'
import type { Tail } from '../estimator/final-reward.js'
import { type Case, type FaultKind, type Sighting, shown } from './finding.js'

type Direction = 'one token earlier' | 'one token later' | 'behind the end'

/** How the end of one sample shows it; null: it does not, or its reward is 0. */
export function directionOf(tail: Tail, gamma: number): Direction | null {
  const { stated, statedBefore, used, usedBefore, allowed } = tail
  if (stated === null || statedBefore === null || usedBefore === null || Math.abs(stated - statedBefore) <= 2 * allowed) return null
  if (Math.abs(used - stated) <= allowed) return null
  if (Math.abs(used) <= allowed && Math.abs(usedBefore - stated) <= allowed) return 'one token earlier'
  if (Math.abs(gamma - 1) > 1e-6 && Math.abs(used - statedBefore - gamma * stated) <= allowed) return 'behind the end'
  return Math.abs(used - statedBefore) <= allowed ? 'one token later' : null
}

/** Tails that can show it: the last token is trainable, its reward is not 0. */
export function tellingTails(tails: readonly Tail[]): Tail[] {
  const ending = tails.filter(t => t.stated !== null && Math.abs(t.stated) > 2 * t.allowed)
  const bare = ending.filter(t => t.trailing === 0)
  return bare.length > 0 ? bare : ending
}

function atTheEnd({ audit, evidence }: Case): Sighting | null {
  const telling = tellingTails(evidence.tails)
  // where every sample ends masked, the place of the final reward explains it
  if (audit.final_reward === 'last token' && telling.every(t => t.trailing > 0)) return null
  // a score of 0 beside a return that holds a reward
  if (
    evidence.tails.some(t => !t.record.has.rewards && t.stated !== null && Math.abs(t.stated) <= t.allowed && Math.abs(t.used) > t.allowed)
  ) {
    return null
  }
  // returns that hold no reward at all do not tell gamma
  const gamma = evidence.coefficients.gamma ?? 1
  const found = telling.map(tail => ({ tail, direction: directionOf(tail, gamma) }))
  const hit = found.filter(f => f.direction !== null)
  if (hit.length === 0 || hit.length < 0.9 * telling.length) return null
  // equal scores may have been centred: then no reward is left to find
  const scores = evidence.tails.map(t => t.record.score ?? 0)
  const vary = telling.some(t => t.record.has.rewards) || maxOf(scores) - minOf(scores) > 2 * telling[0].allowed
  if (!vary && hit.every(f => f.direction === 'one token later')) return null
  // the reward of a truncated sample may have been dropped on purpose
  if (hit.every(f => f.direction === 'one token later' && f.tail.record.truncated === true)) return null
  const { tail, direction } = hit[0]
  const stated = tail.stated ?? 0
  return {
    message: `Rewards are off by one in ${counted(hit.length, 'sample')}: the last token's reward is ${shown(stated)}, its return holds ${shown(tail.used)}${direction === 'one token earlier' ? `, the one in front ${shown(tail.usedBefore ?? 0)}` : ''}`,
    place: { sample: tail.record.index, token: tail.last.here.token },
    evidence: { samples: hit.length, used: direction ?? '', reward: stated, held_at_last: tail.used, held_in_front: tail.usedBefore ?? 0 }
  }
}

export const rewardsOffByOne: FaultKind = {
  kind: 'rewards-off-by-one',
  severity: 'fault',
  report: 'https://github.com/openai/spinningup/issues/50',
  find: seen => {
    const { relation, follows } = seen.evidence
    if (relation === null || !follows || (relation.name !== 'rewards one later' && relation.name !== 'rewards one earlier'))
      return atTheEnd(seen)
    const used = relation.name === 'rewards one later' ? 'one token later' : 'one token earlier'
    const first = relation.samples[0]
    const plain = first.record.returns.plain
    return {
      message: `Rewards are off by one: returns follow rewards that stand ${used} than they are stored; as stored, a residual of ${shown(plain?.max ?? 0)} is left`,
      place: { sample: first.record.index, token: plain?.at ?? 0 },
      evidence: { used, residual_unshifted: plain?.max ?? 0 }
    }
  }
}
