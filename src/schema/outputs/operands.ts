/** Numbers that an output takes from another. */
import { finite, list } from '../../core/checker.js'
import { closed, someText } from './kinds.js'

const OPERAND = closed({
  reference: { kind: someText, doc: 'output path, # and JSON pointer' },
  scale: { kind: finite, doc: 'what stands there is multiplied by this' }
})

/** Empty: the study states the number. */
export const operands = list(OPERAND)

export const someOperands = list(OPERAND, 1)
