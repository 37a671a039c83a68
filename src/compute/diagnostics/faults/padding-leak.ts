/**
 * KL rewards of padding behind the end reach the returns. The padding is still there, as masked tokens with KL; or it was cut,
 * and the last returns of shorter samples hold more than their reward.
 */
import { maxOf } from '../../../core/extremes.js'
import { counted } from '../../../core/counts.js'
import { allowed } from '../estimator/find-rule.js'
import type { Tail } from '../estimator/final-reward.js'
import { type Case, type FaultKind, type Sighting, shown } from './finding.js'
import { joinsNext } from './foreign-bootstrap.js'
import { directionOf, tellingTails } from './rewards-off-by-one.js'

function paysKl({ audit, evidence }: Case): boolean {
  return (audit.kl_coefficient !== null && audit.kl_coefficient !== 0) || evidence.records.some(r => r.has.rewards)
}

function behind({ audit, evidence }: Case): Sighting | null {
  if (audit.final_reward === 'last token' || (audit.rule !== 'every-token' && audit.rule !== 'zeroed-values')) return null
  // under these nothing behind the end counts
  if (audit.alternatives.some(rule => rule === 'carry' || rule === 'trainable-only' || rule === 'reset')) return null
  const leaking = evidence.tails.filter(
    t => t.trailing > 0 && (t.record.ends?.trailingRewards ?? 0) > 0 && Math.abs(t.continuation) > t.allowed
  )
  if (leaking.length === 0) return null
  const worst = leaking.reduce((most, t) => (Math.abs(t.continuation) > Math.abs(most.continuation) ? t : most))
  return seenAt(leaking.length, worst, worst.continuation, worst.trailing)
}

function seenAt(samples: number, tail: Tail, leak: number, tokens: number | null): Sighting {
  return {
    message: `KL behind the end of the response leaks into the returns of ${counted(samples, 'sample')}: the last return holds ${shown(leak)} beside its reward${tokens === null ? '' : `, from ${counted(tokens, 'masked token')} behind it`}`,
    place: { sample: tail.record.index, token: tail.last.here.token },
    evidence: { samples, leak, ...(tokens === null ? {} : { masked_tokens_behind: tokens }) }
  }
}

/** Fewer samples than these do not tell KL from a reward that is another number than the score. */
const FEWEST = 4

/** True where the extra return is a linear function of the score: then the reward is one, and nothing leaks. */
function followsScore(tails: readonly Tail[], leakOf: (t: Tail) => number): boolean {
  if (tails.length < FEWEST) return true
  const mean = (of: (t: Tail) => number): number => tails.reduce((sum, t) => sum + of(t), 0) / tails.length
  const [score, leak] = [mean(t => t.stated ?? 0), mean(leakOf)]
  let [xx, xy, yy] = [0, 0, 0]
  for (const t of tails) {
    const [x, y] = [(t.stated ?? 0) - score, leakOf(t) - leak]
    xx += x * x
    xy += x * y
    yy += y * y
  }
  return (xx > 0 ? yy - (xy * xy) / xx : yy) <= 1e-4 * yy
}

/** Padding that was cut: no leak in the longest sample of a batch, which has none, and some in the others. */
function cut({ evidence }: Case): Sighting | null {
  const bare = evidence.tails.filter(t => t.trailing === 0 && t.stated !== null && t.record.tokens !== null)
  if (bare.length < 2) return null
  const gamma = evidence.coefficients.gamma ?? 1
  const longest = maxOf(bare.map(t => t.record.tokens ?? 0))
  const leakOf = (t: Tail): number => t.used - (t.stated ?? 0)
  const isClean = (t: Tail): boolean => Math.abs(leakOf(t)) <= allowed(evidence.relation?.rounding(t.record) ?? 0, t.record.scale) * 4
  const [long, short] = [bare.filter(t => t.record.tokens === longest), bare.filter(t => t.record.tokens !== longest)]
  const leaking = short.filter(t => !isClean(t))
  if (!long.every(isClean) || leaking.length === 0 || leaking.length < 0.5 * short.length) return null
  if (tellingTails(leaking).some(t => directionOf(t, gamma) !== null)) return null
  if (!bare.some(t => t.record.has.rewards) && followsScore(bare, leakOf)) return null
  const worst = leaking.reduce((most, t) => (Math.abs(leakOf(t)) > Math.abs(leakOf(most)) ? t : most))
  return seenAt(leaking.length, worst, leakOf(worst), null)
}

export const paddingLeak: FaultKind = {
  kind: 'padding-leak',
  severity: 'fault',
  report: 'https://github.com/natolambert/rlhf-book/pull/216',
  find: seen => (paysKl(seen) ? (behind(seen) ?? (joinsNext(seen) === null ? cut(seen) : null)) : null)
}
