/** Values of masked tokens are set to 0, then every token counts. ROLL #447. */
import { type Rule, remade, rewardAt } from './rule.js'

export const zeroedValues: Rule = {
  name: 'zeroed-values',
  // the return at a masked token is stored with the value 0 that was used, or with the masked value
  continuation: (t, c) => {
    if (t.masked === 0 && t.trainable === null) return [0, 0]
    if (t.next === null) return null
    return t.cleared ? remade(t, c, true) : [c.b * t.next.ret, c.b * (t.next.ret - t.next.value)]
  },
  stored: ({ here, next, closes }, _, c) => {
    const follows = next === null ? 0 : c.a * (closes ? next.value : 0) + c.b * next.ret
    return [rewardAt(here, c.beta) + follows, follows]
  }
}
