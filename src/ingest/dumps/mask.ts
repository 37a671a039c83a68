/** The mask of a response, and where the response ends. */
import type { TensorNumbers } from '../tensors/tensor.js'

/** Reason of a row that is left out: it is counted, and no fault. */
export const NO_TRAINED_TOKEN = 'no token with mask 1'
/** The same for a row without a mask. */
export const ONLY_PADDING = 'every array of the row is 0: padding'

/**
 * Reads a mask of 0 and 1 into bytes.
 * @returns -1, or the index of the first number that is neither
 */
export function readMask(numbers: TensorNumbers, from: number, into: Uint8Array): number {
  for (let t = 0; t < into.length; t++) {
    const m = numbers[from + t]
    if (m !== 0 && m !== 1) return t
    into[t] = m
  }
  return -1
}

/** One more than the last index at which any of the arrays is not 0; 0 where all are. A NaN counts as not 0. */
export function endOfNonZero(arrays: readonly TensorNumbers[], length: number): number {
  let end = 0
  for (const array of arrays) {
    let t = length - 1
    while (t >= end && array[t] === 0) t--
    if (t + 1 > end) end = t + 1
  }
  return end
}
