/** Names and captions that a study gives. */
import { pattern, text } from '../core/checker.js'
import { CHOSEN_FIGURE } from './outputs.js'

/** Most decimals of a number in a label. */
export const MAX_DECIMALS = 10

export const NAME_PATTERN = /^[a-z][a-z0-9_-]{0,63}$/
export const NAME_EXPECTED = 'a name: a lower-case letter, then lower-case letters, digits, "_" and "-", at most 64'

/** Names are keys of outputs. The pattern keeps them readable, and in written order in JSON objects. */
export const studyName = pattern(NAME_EXPECTED, NAME_PATTERN)

/** A title, axis or legend: one line of a picture. */
export const caption = text(200)

export const figureName = pattern(
  'a file name without extension: letters, digits, "_" and "-", at most 100',
  new RegExp(`^${CHOSEN_FIGURE}$`)
)
