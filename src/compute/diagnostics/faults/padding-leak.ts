/**
 * KL rewards of padding behind the end reach the returns. The padding is still there, as masked tokens with KL; or it was cut,
 * and last returns hold more than their reward: those of shorter samples, or all of them where a batch has one fixed width.
 */
import { maxOf } from '../../../core/extremes.js'
import { counted } from '../../../core/counts.js'
import { allowed } from '../estimator/find-rule.js'
import type { Tail } from '../estimator/final-reward.js'
import type { Relation } from '../estimator/relation.js'
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

type NumberOf = (t: Tail) => number

function leakOf(t: Tail): number {
  return t.used - (t.stated ?? 0)
}

/** True where the extra return is a linear function of this number, or of nothing. */
function isLinearIn(tails: readonly Tail[], of: NumberOf): boolean {
  if (tails.length < FEWEST) return true
  const mean = (of: NumberOf): number => tails.reduce((sum, t) => sum + of(t), 0) / tails.length
  const [middle, leak] = [mean(of), mean(leakOf)]
  let [xx, xy, yy] = [0, 0, 0]
  for (const t of tails) {
    const [x, y] = [of(t) - middle, leakOf(t) - leak]
    xx += x * x
    xy += x * y
    yy += y * y
  }
  return (xx > 0 ? yy - (xy * xy) / xx : yy) <= 1e-4 * yy
}

function scoreOf(t: Tail): number {
  return t.stated ?? 0
}

function largestLeak(tails: readonly Tail[]): Tail {
  return tails.reduce((most, t) => (Math.abs(leakOf(t)) > Math.abs(leakOf(most)) ? t : most))
}

/** Share of the samples that leak which say that rewards are off by one: more is no leak. */
const OFF_BY_ONE = 0.5

/** Padding that was cut: no leak in the longest sample of a batch, which has none, and some in the others. */
function cut({ evidence }: Case): Sighting | null {
  const bare = evidence.tails.filter(t => t.trailing === 0 && t.stated !== null && t.record.tokens !== null)
  if (bare.length < 2) return null
  const gamma = evidence.coefficients.gamma ?? 1
  const longest = maxOf(bare.map(t => t.record.tokens ?? 0))
  const isClean = (t: Tail): boolean => Math.abs(leakOf(t)) <= allowed(evidence.relation?.rounding(t.record) ?? 0, t.record.scale) * 4
  const [long, short] = [bare.filter(t => t.record.tokens === longest), bare.filter(t => t.record.tokens !== longest)]
  const leaking = bare.filter(t => !isClean(t))
  // rewards off by one are so in nearly all; now and then KL looks like one
  const telling = tellingTails(leaking)
  if (telling.filter(t => directionOf(t, gamma) !== null).length > OFF_BY_ONE * telling.length) return null
  const leaks = long.every(isClean) ? isOfShorter(bare, short, leaking) : isOfAll(evidence, bare, leaking, longest)
  return leaks ? seenAt(leaking.length, largestLeak(leaking), leakOf(largestLeak(leaking)), null) : null
}

function isOfShorter(bare: readonly Tail[], short: readonly Tail[], leaking: readonly Tail[]): boolean {
  if (leaking.length === 0 || leaking.length < 0.5 * short.length) return false
  // the reward may be a function of the score, and nothing leaks
  return bare.some(t => t.record.has.rewards) || !isLinearIn(bare, scoreOf)
}

/** Share of the samples that leak where padding stands behind each. */
const NEARLY_ALL = 0.9
/** KL of padding against that of the response, and padding against the longest response: more is no KL. */
const LARGER = 10
const WIDER = 4
/** A penalty of KL beside values and rewards. */
const SMALL = 0.1

/** What one token pays for its KL inside turns, as a root mean square: in stored rewards and beside them. */
function paid(relation: Relation): number {
  let [n, rewards, kl] = [0, 0, 0]
  for (const { record, form } of relation.samples) {
    n += form.n
    rewards += record.rewardOnKl?.[2] ?? 0
    // the last of the plain relation's three columns
    kl += record.returns.plain?.h[5] ?? 0
  }
  return Math.sqrt(rewards / n) + Math.abs(relation.beta) * Math.sqrt(kl / n)
}

/** Padding to a fixed width: each last return holds something of the size of KL, which no function of score or length gives. */
function isOfAll({ relation }: Case['evidence'], bare: readonly Tail[], leaking: readonly Tail[], longest: number): boolean {
  const finished = bare.filter(t => t.record.truncated !== true)
  const hit = leaking.filter(t => t.record.truncated !== true)
  if (relation === null || hit.length < FEWEST || hit.length < NEARLY_ALL * finished.length) return false
  const stored = hit.every(t => t.record.has.rewards)
  // the response itself may have no KL
  if (stored && hit.every(t => t.record.has.kl && leakOf(t) < 0 && -leakOf(t) < SMALL * t.record.scale)) return true
  // what follows a token reaches it through the sum of (gamma lambda)^k
  const reach = Math.min(WIDER * longest, 1 / Math.max(1 - relation.b, Number.EPSILON))
  if (hit.some(t => Math.abs(leakOf(t)) > LARGER * paid(relation) * reach)) return false
  if (stored) return true
  const oneSign = hit.every(t => leakOf(t) > 0) || hit.every(t => leakOf(t) < 0)
  return oneSign && !isLinearIn(hit, scoreOf) && !isLinearIn(hit, t => t.record.tokens ?? 0)
}

export const paddingLeak: FaultKind = {
  kind: 'padding-leak',
  severity: 'fault',
  report: 'https://github.com/natolambert/rlhf-book/pull/216',
  find: seen => (paysKl(seen) ? (behind(seen) ?? (joinsNext(seen) === null ? cut(seen) : null)) : null)
}
