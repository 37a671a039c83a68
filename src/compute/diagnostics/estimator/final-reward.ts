/**
 * The last tokens: what the return of the last trainable token, and of the one in front, hold beside what follows by the rule.
 * That is the reward which the trainer used there.
 */
import type { TokenNumbers, Transition } from './transition.js'
import { allowed, attenuated, coefficientsFor, countsEachToken, type FoundRule, scaleOf } from './find-rule.js'
import type { EstimatorRecord } from './record.js'
import type { Relation } from './relation.js'
import { type RuleCoefficients, rewardAt } from './rules/rule.js'

export interface Tail {
  readonly record: EstimatorRecord
  readonly last: Transition
  /** masked tokens behind the last trainable one */
  readonly trailing: number
  /** reward that the returns hold at the last trainable token, and at the one in front; KL taken off where it is not in the rewards */
  readonly used: number
  readonly usedBefore: number | null
  /** reward that the dump states for them: token rewards, or the score at the end; null: unknown */
  readonly stated: number | null
  readonly statedBefore: number | null
  /** what follows the last trainable token by the rule */
  readonly continuation: number
  /** what would be left of the score in `used` if it sat on the last token; null: `used` holds nothing from there */
  readonly fromEnd: number | null
  readonly allowed: number
}

export type FinalRewardPlace = 'last token' | 'last trainable token'

function usedAt(t: Transition, found: FoundRule, c: RuleCoefficients): { readonly used: number; readonly continuation: number } | null {
  const inside = t.masked === 0 && t.trainable !== null
  let continuation: number | undefined
  if (inside && t.trainable !== null) {
    const value = c.shift === 0 ? t.trainable.value : c.shift > 0 ? t.valueBehind : t.here.value
    continuation = c.b * t.trainable.ret + (c.a === 0 || value === null ? 0 : c.a * value)
  } else if (t.masked === 0) continuation = 0
  else continuation = found.rule?.continuation(t, c)?.[found.form]
  if (continuation === undefined || Number.isNaN(continuation)) return null
  // KL that is paid beside the stored rewards
  const kl = t.here.kl === null || c.rewardShift !== 0 ? 0 : -c.beta * t.here.kl
  return { used: t.here.ret - continuation - kl, continuation }
}

export function tailsOf(records: readonly EstimatorRecord[], relation: Relation, found: FoundRule): Tail[] {
  const c = coefficientsFor(relation)
  // a dump whose masked tokens hold returns elsewhere did not clear those behind the end
  const cleared = countsEachToken(found.rule) && records.every(r => (r.ends?.maskedReturns ?? 0) === 0)
  return records.flatMap(record => {
    const last = record.ends?.last ?? null
    if (last === null) return []
    const at = usedAt(last, found, c)
    if (at === null) return []
    const before = record.ends?.beforeLast ?? null
    return [
      {
        record,
        last,
        trailing: last.masked,
        used: at.used,
        usedBefore: before === null ? null : (usedAt(before, found, c)?.used ?? null),
        stated: record.has.rewards ? last.here.reward : record.score,
        statedBefore: record.has.rewards ? (before?.here.reward ?? null) : 0,
        continuation: at.continuation,
        fromEnd: cleared && last.cleared && record.score !== null ? attenuated(record.score, last, c) : null,
        allowed: allowed(relation.rounding(record), scaleOf(record, last) + Math.abs(record.score ?? 0)) * 2
      }
    ]
  })
}

/** True where returns of samples that end in a trainable token hold the score, so the score is the reward; null: no such sample. */
export function scoreIsReward(tails: readonly Tail[]): boolean | null {
  const scored = tails.filter(t => t.record.score !== null && !t.record.has.rewards)
  // a return that holds a reward beside a score of 0
  if (scored.some(t => isNothing(t.record.score, t) && !isNothing(t.used, t))) return false
  const telling = scored.filter(t => t.trailing === 0 && !isNothing(t.record.score, t))
  if (telling.length === 0) return null
  return telling.filter(t => isNothing(t.used - (t.record.score ?? 0), t)).length * 2 >= telling.length
}

function isNothing(x: number | null, tail: Tail): boolean {
  return Math.abs(x ?? 0) <= tail.allowed
}

/** True where the last return holds the final reward that is stored on a masked token behind it. */
function holdsMoved(tail: Tail): boolean {
  const { last, record } = tail
  const end = record.ends?.end ?? null
  if (!record.has.rewards || last.here.reward === null || end?.reward === null || end === null) return false
  const moved = tail.used - last.here.reward
  return !isNothing(moved, tail) && [record.score ?? 0, end.reward].some(reward => isNothing(moved - reward, tail))
}

/** Alternatives without the one that drops rewards of masked tokens, where returns hold such a reward. */
export function withoutDropped(found: FoundRule, tails: readonly Tail[]): FoundRule {
  if (!found.alternatives.includes('carry') || !tails.some(t => t.trailing > 0 && holdsMoved(t))) return found
  return { ...found, alternatives: found.alternatives.filter(rule => rule !== 'carry') }
}

/**
 * Stored rewards say where the final one sits, unless the last return holds it beside its own: then it was moved there.
 * `beta`: of all KL that is paid; null: unknown, and KL beside the score is taken to be small.
 */
function placeByRewards(tail: Tail, beta: number | null): FinalRewardPlace | null {
  const { last, record } = tail
  const end = record.ends?.end ?? null
  if (last.here.reward === null || end?.reward === null || end === null) return null
  const score = record.score ?? 0
  if (holdsMoved(tail)) return 'last trainable token'
  const [atLast, atEnd] = [Math.abs(last.here.reward), Math.abs(end.reward)]
  // a score of 0 tells nothing
  const isScore = ({ reward, kl }: TokenNumbers): boolean => {
    const exact = beta !== null && kl !== null
    const beside = (reward ?? 0) - score
    return exact && Math.abs(beside + beta * kl) <= tail.allowed ? true : Math.abs(beside) < (exact ? tail.allowed : 0.1 * Math.abs(score))
  }
  if (isScore(last.here) !== isScore(end)) return isScore(end) ? 'last token' : 'last trainable token'
  if (record.score !== null && isNothing(score, tail)) return null
  if (atEnd < 0.1 * atLast) return 'last trainable token'
  return atLast < 0.1 * atEnd ? 'last token' : null
}

function placeByReturns(tail: Tail, scored: boolean, every: boolean, beta: number): FinalRewardPlace | null {
  const score = scored ? tail.record.score : null
  if (score !== null) {
    if (Math.abs(score) <= tail.allowed) return null
    const fromEnd = tail.fromEnd ?? 0
    if (Math.abs(fromEnd - score) <= tail.allowed) return null
    if (Math.abs(tail.used - score) <= tail.allowed) return 'last trainable token'
    return Math.abs(tail.used - fromEnd) <= tail.allowed ? 'last token' : null
  }
  if (Math.abs(tail.used) > tail.allowed) return 'last trainable token'
  // a reward that the last return does not hold, and the end does
  return Math.abs(endReward(tail.record, every, beta) ?? 0) > tail.allowed ? 'last token' : null
}

/** Share of the samples that tell a place which have to agree: a score may look like KL now and then. */
const AGREEING = 0.9

/**
 * Where the final reward sits, as the samples say that end in masked tokens; null where none tells or they differ.
 * @param paid coefficient of all KL that is paid, in stored rewards or beside them; null: unknown
 */
export function finalRewardPlace(tails: readonly Tail[], found: FoundRule, beta: number, paid: number | null): FinalRewardPlace | null {
  const scored = scoreIsReward(tails) !== false
  const every = countsEachToken(found.rule)
  const places = { 'last token': 0, 'last trainable token': 0 }
  const trailing = tails.filter(t => t.trailing > 0 && !(t.record.score !== null && isNothing(t.record.score, t)))
  let votes = 0
  for (const tail of trailing) {
    const place = tail.record.has.rewards ? placeByRewards(tail, paid) : placeByReturns(tail, scored, every, beta)
    if (place === null) continue
    votes += 1
    places[place] += 1
  }
  // stored rewards that hold KL may look like a final one now and then
  if (trailing.some(t => t.record.has.rewards) && votes * 2 < trailing.length) return null
  const most = places['last token'] > places['last trainable token'] ? 'last token' : 'last trainable token'
  return votes > 0 && places[most] >= AGREEING * votes ? most : null
}

/** Reward of the last token of a response that ends masked, as stored or, where masked tokens count, as its return shows it. */
export function endReward(record: EstimatorRecord, every: boolean, beta: number): number | null {
  const end = record.ends?.end ?? null
  if (end === null) return null
  if (record.has.rewards) return end.reward
  return !every ? null : end.ret - rewardAt({ reward: null, kl: end.kl }, beta)
}
