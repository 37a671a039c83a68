/** The final reward sits on a masked token: it reaches trainable tokens attenuated by (gamma lambda)^gap, or not at all. */
import { counted } from '../../../core/counts.js'
import { endReward, scoreIsReward } from '../estimator/final-reward.js'
import { type FaultKind, shown } from './finding.js'

export const finalRewardMasked: FaultKind = {
  kind: 'final-reward-masked',
  severity: 'fault',
  report: 'https://github.com/radixark/miles/pull/1827',
  find: ({ audit, evidence }) => {
    if (audit.final_reward !== 'last token') return null
    const scored = scoreIsReward(evidence.tails) !== false
    const hit = evidence.tails.flatMap(tail => {
      if (tail.trailing === 0) return []
      const reward =
        scored && !tail.record.has.rewards
          ? tail.record.score
          : endReward(tail.record, audit.rule === 'every-token' || audit.rule === 'zeroed-values', evidence.relation?.beta ?? 0)
      if (reward === null || Math.abs(reward) <= tail.allowed) return []
      const held = tail.used + tail.continuation
      // what is left of the reward there, beside the token's own: a KL reward is none of it
      const missing = Math.abs(reward - held + (tail.record.has.rewards ? (tail.stated ?? 0) : 0))
      return missing > tail.allowed ? [{ tail, reward, held, missing }] : []
    })
    if (hit.length === 0) return null
    const worst = hit.reduce((most, one) => (one.missing > most.missing ? one : most))
    return {
      message: `The final reward sits on a masked token in ${counted(hit.length, 'sample')} that ${hit.length === 1 ? 'ends' : 'end'} in an observation: the return at the last trainable token is ${shown(worst.held)}, the reward ${shown(worst.reward)}, ${counted(worst.tail.trailing, 'masked token')} behind it`,
      place: { sample: worst.tail.record.index, token: worst.tail.last.here.token },
      evidence: {
        samples: hit.length,
        reward: worst.reward,
        return_at_last_trainable: worst.held,
        masked_tokens_behind: worst.tail.trailing
      }
    }
  }
}
