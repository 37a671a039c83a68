/** Masked tokens count like any other: their values bootstrap, each adds a factor gamma lambda. Slime; miles before July 2026. */
import { nextValue, type Rule, type RuleCoefficients, rewardAt } from './rule.js'

function step(value: number | null, ret: number | null, c: RuleCoefficients): readonly number[] | null {
  return value === null || ret === null ? null : [c.a * value + c.b * ret]
}

export const everyToken: Rule = {
  name: 'every-token',
  continuation: (t, c) => (t.masked === 0 && t.trainable === null ? [0] : step(nextValue(t, c.shift), t.next?.ret ?? null, c)),
  stored: (t, c) => {
    if (t.next === null || c.shift !== 0) return null
    if (t.second === null) return [rewardAt(t.next, c.beta)]
    return [rewardAt(t.next, c.beta) + c.a * t.second.value + c.b * t.second.ret]
  }
}
