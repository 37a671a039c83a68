/** Fields that several outputs of critic traces have. */
import { nullable, oneOf } from '../../core/checker.js'
import { anyText, whole } from './kinds.js'

export const VERIFIED_DOC =
  'true when every trace stands in the page and in an NPZ file, and all of their arrays are equal; ' +
  'false where one source alone holds any trace: page without NPZ file, or NPZ file without page'

export const TIME_OF_SNAPSHOT = { kind: nullable(anyText), doc: 'when the snapshot was taken, verbatim; null where it does not say' }

export const UID = { kind: nullable(anyText), doc: 'identifier of the trajectory, verbatim; null where the snapshot states none' }

export const STEP = { kind: nullable(whole()), doc: 'trainer step; null where the snapshot states none' }

export const OUTCOME = { kind: nullable(oneOf('success', 'failure')), doc: 'null where it is unknown' }
