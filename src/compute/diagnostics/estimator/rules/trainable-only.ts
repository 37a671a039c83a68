/** Masked tokens are left out; nothing is stored at them. Miles since July 2026 (#1827). */
import { fromTrainable, type Rule } from './rule.js'

export const trainableOnly: Rule = {
  name: 'trainable-only',
  continuation: (t, c) => {
    const next = fromTrainable(t, c)
    return next === null ? null : [next]
  },
  stored: () => [0]
}
