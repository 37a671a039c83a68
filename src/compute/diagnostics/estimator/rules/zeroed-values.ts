/** Values of masked tokens are set to 0, then every token counts. ROLL #447. */
import { type Rule, rewardAt, trainableValue } from './rule.js'

export const zeroedValues: Rule = {
  name: 'zeroed-values',
  // the return at a masked token is stored with the value 0 that was used, or with the masked value
  continuation: (t, c) => {
    if (t.masked === 0 && t.trainable === null) return [0]
    return t.next === null ? null : [c.b * t.next.ret, c.b * (t.next.ret - t.next.value)]
  },
  stored: (t, c) => {
    if (t.next === null || c.shift !== 0) return null
    const reward = rewardAt(t.next, c.beta)
    if (t.second === null) return [reward]
    const value = t.masked === 1 ? (trainableValue(t, c.shift) ?? 0) : 0
    return [reward + c.a * value + c.b * t.second.ret]
  }
}
