/** Masked tokens count like any other: their values bootstrap, each adds a factor gamma lambda. Slime; miles before July 2026. */
import { nextValue, type Rule, type RuleCoefficients, rewardAt } from './rule.js'

function step(value: number | null, ret: number | null, c: RuleCoefficients): readonly number[] | null {
  return value === null || ret === null ? null : [c.a * value + c.b * ret]
}

export const everyToken: Rule = {
  name: 'every-token',
  continuation: (t, c) => (t.masked === 0 && t.trainable === null ? [0] : step(nextValue(t, c.shift), t.next?.ret ?? null, c)),
  stored: ({ here, next }, _, c) => [rewardAt(here, c.beta) + (next === null ? 0 : c.a * next.value + c.b * next.ret)]
}
