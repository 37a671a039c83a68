/**
 * Rows that hold the retained tokens alone, with the index of each in its response. The tokens between them are unknown: their
 * mask is 0, and their numbers are NaN.
 */
import type { Sample, SampleArray, SampleNumbers } from '../../schema/samples.js'
import { rowFault, type RowContext } from './fields.js'
import type { NamedNumbers } from './part.js'

/** Longest response. None has so many tokens, and a wrong position would ask for any amount of memory. */
const MAX_TOKENS = 2 ** 24

/** The sample with every token at its position. @param start, end the part of the positions that belongs to the sample's tokens */
export function expand(sample: Sample, { name, data }: NamedNumbers, start: number, end: number, context: RowContext): Sample {
  const stored = data.subarray(start, end)
  const fault = (index: number, expected: string): Error =>
    rowFault(context, 'wrong position', String(stored[index]), expected, { array: name, index: start + index })
  if (stored.length !== sample.mask.length) {
    throw rowFault(context, 'lengths differ', `${data.length}`, 'as many as the arrays have', { array: name })
  }
  let before = -1
  let length = 0
  for (let t = 0; t < stored.length; t++) {
    if (sample.mask[t] === 0) continue
    const position = stored[t]
    if (!Number.isInteger(position) || position >= MAX_TOKENS) throw fault(t, `an integer from 0 to ${MAX_TOKENS - 1}`)
    if (position <= before) throw fault(t, 'positions that increase from 0 on')
    before = position
    length = position + 1
  }
  const mask = new Uint8Array(length)
  for (let t = 0; t < stored.length; t++) if (sample.mask[t] === 1) mask[stored[t]] = 1
  const scatter = <T extends SampleNumbers | Int32Array>(from: T, to: T): T => {
    for (let t = 0; t < stored.length; t++) if (sample.mask[t] === 1) to[stored[t]] = from[t]
    return to
  }
  const arrays = Object.entries(sample.arrays).map(([key, from]) => {
    const to = from instanceof Float32Array ? new Float32Array(length) : new Float64Array(length)
    return [key as SampleArray, scatter<SampleNumbers>(from, to.fill(NaN))] as const
  })
  const tokenIds = sample.tokenIds === null ? null : scatter(sample.tokenIds, new Int32Array(length).fill(-1))
  return { ...sample, mask, arrays: Object.fromEntries(arrays), tokenIds }
}
