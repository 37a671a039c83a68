/**
 * A rule for masked tokens: what it adds to the return of a trainable token from what follows it, and what it stores at the
 * masked token behind. A rule answers with one number for each form of it that trainers have, NaN where a form needs what the
 * sample does not hold; null: it holds none of it.
 */
import type { RuleName } from '../../../../schema/diagnostics.js'
import type { MaskedPair, Transition } from '../transition.js'

/** Coefficients of the relation: R[t] = a V[next] + b R[next] + r[t] - beta kl[t], with a = gamma (1 - lambda), b = gamma lambda. */
export interface RuleCoefficients {
  readonly a: number
  readonly b: number
  readonly beta: number
  /** values are stored one token later (+1) or earlier (-1) than they were used */
  readonly shift: -1 | 0 | 1
  /** rewards are used one token later (-1: r[t-1]) or earlier (+1: r[t+1]) than they are stored */
  readonly rewardShift: -1 | 0 | 1
}

export interface Rule {
  readonly name: RuleName
  /** what follows the trainable token, by each form of the rule */
  readonly continuation: (transition: Transition, c: RuleCoefficients) => readonly number[] | null
  /** return stored at a masked token behind it */
  readonly stored: (pair: MaskedPair, transition: Transition, c: RuleCoefficients) => readonly number[]
}

/** Reward of one token: as stored, and -beta kl. */
export function rewardAt(token: { readonly reward: number | null; readonly kl: number | null }, beta: number): number {
  return (token.reward ?? 0) - (token.kl === null || beta === 0 ? 0 : beta * token.kl)
}

/** The value used at the token behind `t`, where stored values may be off by one. */
export function nextValue(t: Transition, shift: RuleCoefficients['shift']): number | null {
  if (shift < 0) return t.here.value
  return (shift > 0 ? t.second?.value : t.next?.value) ?? null
}

export function trainableValue(t: Transition, shift: RuleCoefficients['shift']): number | null {
  if (shift < 0) return t.valueBefore
  return shift > 0 ? t.valueBehind : (t.trainable?.value ?? null)
}

/** a V + b R of the next trainable token; 0 behind the last one. */
export function fromTrainable(t: Transition, c: RuleCoefficients): number | null {
  if (t.trainable === null) return 0
  if (c.a === 0) return c.b * t.trainable.ret
  const value = trainableValue(t, c.shift)
  return value === null ? null : c.a * value + c.b * t.trainable.ret
}

/**
 * What follows a token whose masked ones have no stored returns: those are made again from the next trainable token back, or from
 * the end, without a final reward there that the dump does not store. First with the rewards of masked tokens, then without. NaN
 * where the record does not carry them.
 */
export function remade(t: Transition, c: RuleCoefficients, zeroed: boolean): readonly [number, number] {
  const { chain, trainable } = t
  if (chain === null) return [Number.NaN, Number.NaN]
  // stored values from the token in front on; behind the end there is none
  const stored = [t.here.value, ...chain.values, trainable?.value ?? 0, t.valueBehind ?? 0]
  const used = (m: number): number => stored[m + 1 + c.shift]
  let value = trainable === null ? 0 : used(chain.values.length)
  let paid = trainable?.ret ?? 0
  let bare = paid
  for (let m = chain.values.length - 1; m >= 0; m--) {
    paid = rewardAt({ reward: chain.rewards?.[m] ?? null, kl: chain.kl?.[m] ?? null }, c.beta) + c.a * value + c.b * paid
    bare = c.a * value + c.b * bare
    value = zeroed ? 0 : used(m)
  }
  return [c.a * value + c.b * paid, c.a * value + c.b * bare]
}

/** The reward that went into the return of a transition's first token. */
export function usedReward(t: Transition, c: RuleCoefficients): number {
  const token = c.rewardShift === 0 ? t.here : c.rewardShift > 0 ? t.next : t.previous
  return token === null ? 0 : rewardAt(token, c.beta)
}
