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
  stored: (t, c) => {
    if (t.next === null || c.shift !== 0) return null
    const reward = rewardAt(t.next, c.beta)
    if (t.second === null) return [reward]
    if (t.masked === 1) return [reward + c.a * t.second.value + c.b * t.second.ret]
    return [reward, reward + (c.a + c.b) * t.second.value]
  }
}
