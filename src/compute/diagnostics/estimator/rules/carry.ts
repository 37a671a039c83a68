/** Next value and running sum pass through masked tokens unchanged; a reward there is dropped. Verl since July 2025 (#2337), NeMo-RL. */
import { fromTrainable, type Rule } from './rule.js'

export const carry: Rule = {
  name: 'carry',
  continuation: (t, c) => {
    const next = fromTrainable(t, c)
    return next === null ? null : [next]
  },
  // the running advantage of the next trainable token, plus the masked token's own value
  stored: ({ here }, { trainable }) => [here.value + (trainable === null ? 0 : trainable.ret - trainable.value)]
}
