/**
 * The running sum is set to 0 at masked tokens, so that a turn does not see what follows it. Verl REINFORCE++ before #7300. What
 * stays is nothing, or the discounted value behind the token: the masked token's or the next trainable one's.
 */
import { nextValue, type Rule, rewardAt, trainableValue } from './rule.js'

export const reset: Rule = {
  name: 'reset',
  continuation: (t, c) => {
    const gamma = c.a + c.b
    const values = [nextValue(t, c.shift), trainableValue(t, c.shift)]
    return [0, ...values.map(value => (value === null ? Number.NaN : gamma * value))]
  },
  stored: ({ here, next, closes }, _, c) => {
    // the sum is set to 0 behind a masked token, not at it
    const follows = next === null ? [0] : closes ? [c.a * next.value + c.b * next.ret] : [0, (c.a + c.b) * next.value]
    const reward = rewardAt(here, c.beta)
    // with the masked token's reward, or without; or the value alone, where the sum was set to 0 before it was stored
    return [...follows.flatMap(x => [reward + x, x]), ...(here.value === 0 ? [] : [here.value])]
  }
}
