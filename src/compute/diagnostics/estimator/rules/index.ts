/** The rules, in the order in which the first that fits is named. */
import { carry } from './carry.js'
import { everyToken } from './every-token.js'
import { reset } from './reset.js'
import type { Rule } from './rule.js'
import { trainableOnly } from './trainable-only.js'
import { zeroedValues } from './zeroed-values.js'

export const RULES: readonly Rule[] = [everyToken, carry, trainableOnly, zeroedValues, reset]
