/** Masked tokens count like any other: their values bootstrap, each adds a factor gamma lambda. Slime; miles before July 2026. */
import type { Transition } from '../transition.js'
import { nextValue, type Rule, type RuleCoefficients, remade, rewardAt } from './rule.js'

function step(t: Transition, c: RuleCoefficients): readonly number[] | null {
  const value = nextValue(t, c.shift)
  if (value === null || t.next === null) return null
  return t.cleared ? remade(t, c, false) : Array<number>(2).fill(c.a * value + c.b * t.next.ret)
}

export const everyToken: Rule = {
  name: 'every-token',
  continuation: (t, c) => (t.masked === 0 && t.trainable === null ? [0, 0] : step(t, c)),
  // with the masked token's reward, or without
  stored: ({ here, next }, _, c) => {
    const follows = next === null ? 0 : c.a * next.value + c.b * next.ret
    return [rewardAt(here, c.beta) + follows, follows]
  }
}
